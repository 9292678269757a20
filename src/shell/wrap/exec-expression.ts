/** Expressions of find and fd: the commands that are in them between `-exec` and its end. */

import type { Word } from '../facts.ts'
import { replaceInput, single, textOf } from '../words/known-word.ts'
import { unknownWord } from '../words/pieces.ts'
import type { Unwrapped } from './unwrap.ts'
import type { WrapperRow } from './wrappers.ts'

const EXEC = new Set(['-exec', '-execdir', '-ok', '-okdir'])
const FD_EXEC = new Set(['-x', '--exec', '-X', '--exec-batch'])
/** Tests of find that take one argument which might look like `-exec`. */
const TAKES_ONE =
  /^-(?:name|iname|path|ipath|wholename|iwholename|regex|iregex|lname|ilname|type|xtype|size|mtime|atime|ctime|mmin|amin|cmin|newer\w*|anewer|cnewer|user|group|uid|gid|perm|links|inum|samefile|maxdepth|mindepth|fstype|printf|regextype|used|fprint0?|fls|context)$/

/** `find … -exec cmd {} ;` and `fd … -x cmd`: every command in the expression. */
export function execExpression(row: WrapperRow, argv: readonly Word[]): Unwrapped {
  const fd = row.name === 'fd' || row.name === 'fdfind'
  const commands: Word[][] = []
  const doubts: { message: string; word: Word }[] = []
  const wary: { option: string; word: Word }[] = []
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i] as Word
    const text = textOf(word)
    if (text === null && (word.splits || word.values !== null)) {
      // A pattern that starts with a plain character cannot turn into `-exec`.
      const harmless = word.dynamic.every((reason) => reason === 'glob') && /^[^-(),!]/.test(word.prefix)
      if (!harmless) doubts.push({ message: `\`${word.text}\` may become \`-exec\``, word })
      continue
    }
    if (text === null) {
      // One word can name an action, with the words behind it as its arguments; no action holds a slash.
      const action = /^(?:$|[-(),!])/.test(word.prefix) && !/^"?\$\{?\w+\}?\/[^$`]*"?$/.test(word.text)
      if (action) doubts.push({ message: `\`${word.text}\` may be an action of \`${row.name}\``, word })
      continue
    }
    if (!fd && TAKES_ONE.test(text)) {
      i++
      continue
    }
    if (fd ? !FD_EXEC.has(text) && !/^--exec(?:-batch)?=/.test(text) : !EXEC.has(text)) continue
    const command: Word[] = []
    const glued = /^--exec(?:-batch)?=([\s\S]*)$/.exec(text)?.[1]
    if (glued !== undefined) command.push({ ...word, ...single(glued) })
    for (i++; i < argv.length; i++) {
      const part = argv[i] as Word
      const value = textOf(part)
      if (value === ';') break
      if (!fd && value === '+' && textOf(argv[i - 1]) === '{}') {
        command.push({ ...(command.pop() as Word), splits: true })
        break
      }
      if (value === null && (part.splits || part.values !== null)) {
        doubts.push({ message: `\`${part.text}\` may end the command or start another`, word: part })
      }
      command.push(replaceInput(replaceFdMarks(part, fd), '{}'))
    }
    if (fd && !command.some((part) => part.dynamic.includes('input'))) {
      command.push(unknownWord('{}', 'input', word.span, true))
    }
    if (command.length > 0) commands.push(command)
    if (text === '-execdir' || text === '-okdir') wary.push({ option: text, word })
  }
  return {
    argv: commands[0] ?? [],
    more: commands.slice(1),
    given: [],
    operands: [],
    texts: [],
    joined: false,
    assignments: [],
    chdir: null,
    doubts,
    wary,
    idle: false,
    fromFile: false,
    seen: new Set(wary.map((one) => one.option)),
  }
}

function replaceFdMarks(word: Word, fd: boolean): Word {
  if (!fd) return word
  const text = textOf(word)
  return text !== null && /\{(?:\/\/|\/\.|\/|\.)\}/.test(text)
    ? unknownWord(word.text, 'input', word.span, false)
    : word
}
