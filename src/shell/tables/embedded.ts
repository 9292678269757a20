/**
 * Finds commands in texts that Cordon cannot parse: `core.pager`, `--checkpoint-action=exec=…`,
 * `EDITOR=`, strings that code passes to a shell. A result can only make a decision stricter.
 */

const MAX_COMMANDS = 16
const MAX_LENGTH = 8_000

/** Words that run what follows them, without options that matter here. */
const prefixes = /^(?:command|builtin|exec|env|nohup|time|nice|setsid|sudo|doas|then|do|else|!|\{|xargs|busybox)$/

/** Shells whose `-c` takes a text. */
const shells = /^(?:.*\/)?(?:ba|da|z|k|a|mk)?sh$/

/** The simple commands of a shell text as words, without quotes, with unexpanded expansions. */
export function commandsIn(text: string, depth = 0): readonly (readonly string[])[] {
  if (text.length > MAX_LENGTH || depth > 3) return []
  const found: string[][] = []
  let words: string[] = []
  let word: string | null = null
  const endWord = (): void => {
    if (word !== null) words.push(word)
    word = null
  }
  const endCommand = (): void => {
    endWord()
    if (words.length > 0) found.push(words)
    words = []
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === "'" || character === '"') {
      const end = text.indexOf(character, at + 1)
      word = (word ?? '') + text.slice(at + 1, end < 0 ? undefined : end)
      if (end < 0) break
      at = end
    } else if (character === '\\') {
      at++
      word = (word ?? '') + (text[at] ?? '')
    } else if (/\s/.test(character)) {
      if (character === '\n') endCommand()
      else endWord()
    } else if (/[;&|()`]/.test(character) || (character === '$' && text[at + 1] === '(')) {
      endCommand()
      if (character === '$') at++
    } else if (/[<>]/.test(character)) endWord()
    else word = (word ?? '') + character
  }
  endCommand()
  return found.slice(0, MAX_COMMANDS).flatMap((one) => bare(one, depth))
}

/** A command without what only runs it. */
function bare(words: readonly string[], depth: number): readonly (readonly string[])[] {
  let rest = words
  while (rest[0] !== undefined && (prefixes.test(rest[0]) || /^\w+=/.test(rest[0]))) {
    rest = rest.slice(1)
    while (rest[0]?.startsWith('-')) rest = rest.slice(1)
  }
  if (rest.length === 0) return []
  const text = rest.findIndex((word, index) => index > 0 && /^-\w*c$/.test(word))
  if (shells.test(rest[0] ?? '') && text > 0 && rest[text + 1] !== undefined)
    return commandsIn(rest[text + 1] ?? '', depth + 1)
  if (rest[0] === 'eval') return commandsIn(rest.slice(1).join(' '), depth + 1)
  return [rest]
}

/** What ends a command in a text of any language: quotes, brackets, separators, the mark before a command of an editor. */
const ends = /["'`(){};|&!<>\n]+|\\[nt]/

/**
 * Commands from each program name on: `1e git push`, `runner="git push"`, `-c git push`. For
 * programs that run others by their own syntax.
 */
export function commandsMentioned(text: string, isProgram: (name: string) => boolean): readonly (readonly string[])[] {
  if (text.length > MAX_LENGTH) return []
  const found: (readonly string[])[] = []
  for (const part of text.split(ends)) {
    const words = part.split(/\s+/).map((word) => word.replace(/^[\w.-]+=/, ''))
    words.forEach((word, at) => {
      if (word !== '' && at < words.length - 1 && isProgram(word)) found.push(words.slice(at))
    })
  }
  return found.slice(0, MAX_COMMANDS)
}

/** Calls that hand a text, or words, to the system: os.system('…'), execSync("…"), subprocess.run(['…', '…']). */
const calls =
  /\b(?:system|popen\d?|exec|execSync|execFile|execFileSync|execa|execaSync|execaCommand|spawn|spawnSync|run|call|check_call|check_output|Popen|getoutput|getstatusoutput|shell_exec|passthru|proc_open|sh|cmd|Command)\s*\(?\s*(\[?)\s*[frbu]{0,2}(['"`])((?:\\.|(?!\2)[\s\S])*)\2((?:\s*,\s*\[?\s*['"][^'"]*['"])*)/g

/** Text between backticks or in %x(…) of Perl, Ruby and PHP. */
const quoted = /(?:`([^`\n]+)`|%x\(([^)\n]+)\)|qx\{([^}\n]+)\})/g

/** Commands that program text passes to the system, as far as they are written out. */
export function commandsOfCode(code: string): readonly (readonly string[])[] {
  if (code.length > MAX_LENGTH) return []
  const found: (readonly string[])[] = []
  for (const [, , , first = '', more = ''] of code.matchAll(calls)) {
    const words = [...more.matchAll(/['"]([^'"]*)['"]/g)].map((match) => match[1] ?? '')
    const unescaped = first.replace(/\\(['"`\\])/g, '$1')
    found.push(...(words.length > 0 ? bare([unescaped, ...words], 0) : commandsIn(unescaped)))
  }
  for (const [, ticks, percent, qx] of code.matchAll(quoted)) found.push(...commandsIn(ticks ?? percent ?? qx ?? ''))
  return found.slice(0, MAX_COMMANDS)
}
