/** Whether a grant covers a program start, where every program needs one (`[security] every_program`, S8). PURE. */

import { posix } from 'node:path'
import type { CommandFact, Word } from '../../shell/facts.ts'
import { familyOf } from '../../shell/tables/interpreter-names.ts'
import { grantMatches } from '../evaluate/command-match.ts'
import { COORDINATORS } from '../evaluate/command-part.ts'
import { type CommandRule, ref } from '../policy.ts'
import type { Ruling } from '../stance.ts'
import { ONLY_RUNS } from './names.ts'
import type { StartFact, StartScene } from './start.ts'
import { PROGRAM_FOLDERS } from './table.ts'

/** A way to read a start. */
interface Reading {
  readonly place: string
  /** Only the PATH makes a plain name of a place: the agent may have made `./npm`. */
  readonly name: string | null
  readonly words: readonly string[]
}

/** Null where the text named the start, a grant covers it, or it only runs what is judged by itself. */
export function undeclared(scene: StartScene, start: StartFact, text: string): Ruling | null {
  const { policy, session, commands } = scene
  const readings = start.cut ? [] : readingsOf(scene, start)
  if (readings.some((one) => commands.some((fact) => isWritten(fact, one, start.cwd)))) return null
  const grants = [...policy.commands.allow, ...session.grants.commands]
  const covering = grants.filter((grant) => readings.some((one) => isCovered(grant, one, policy.root)))
  if (covering.some(({ prompt }) => !prompt)) return null
  const [prompting] = covering
  if (prompting !== undefined)
    return asks('grant-prompts', `"${prompting.pattern.text}" covers \`${text}\` and says prompt = true.`, prompting)
  if (readings.some((one) => onlyRuns(scene, one))) return null
  const message = `No grant covers \`${text}\`, and every program needs one (${policy.everyProgram.source}).`
  return asks('not-granted', message, policy.everyProgram)
}

function asks(
  code: 'grant-prompts' | 'not-granted',
  message: string,
  rule: Pick<CommandRule, 'rule' | 'source'>,
): Ruling {
  const remedy = 'Grant it under [capabilities.allow.commands] patterns.'
  return { decision: 'ask', reason: { code, message, ...(code === 'not-granted' && { remedy }) }, rules: [ref(rule)] }
}

function readingsOf(scene: StartScene, { path, argv, cwd }: StartFact): readonly Reading[] {
  const folders = [...scene.path().split(':'), ...PROGRAM_FOLDERS]
  const reading = (named: string, words: readonly string[]): Reading => {
    const place = posix.resolve(cwd, named)
    return { place, name: folders.includes(posix.dirname(place)) ? posix.basename(place) : null, words }
  }
  const [, script, ...rest] = argv
  const own = reading(path, argv.slice(1))
  const git = own.name?.startsWith('git-') ? [{ ...own, name: 'git', words: [own.name.slice(4), ...own.words] }] : []
  // `node /usr/bin/npm test` is how `npm test` goes on.
  const isRun = script && !script.startsWith('-') && own.name !== null && familyOf.has(own.name)
  return [own, ...git, ...(isRun ? [reading(script, rest)] : [])]
}

function isProgram(word: string, { place, name }: Reading, cwd: string): boolean {
  return word.includes('/') ? posix.resolve(cwd, word) === place : word === name
}

function isCovered({ pattern }: CommandRule, reading: Reading, root: string): boolean {
  const [program] = pattern.words
  if (program === undefined || !isProgram(program, reading, root)) return false
  return grantMatches(pattern, [program, ...reading.words].map(known))
}

/** Whether these are the words of a command of the text; of one that no one could know, all that may follow. */
function isWritten(fact: CommandFact, reading: Reading, cwd: string): boolean {
  const [program, ...words] = fact.argv
  if (!program?.values?.some((value) => isProgram(value, reading, fact.cwd ?? cwd))) return false
  const unknown = words.findIndex(({ values, splits }) => values === null || splits)
  const length = unknown < 0 ? words.length : unknown
  if (unknown < 0 && reading.words.length !== length) return false
  return words.slice(0, length).every(({ values }, at) => values?.includes(reading.words[at] ?? '\0') === true)
}

/** `env x`, `sh -c x`: whatever program it starts is judged when that starts. */
function onlyRuns({ policy }: StartScene, { name, words }: Reading): boolean {
  if (name === null) return false
  if (/^(?:ba|da)?sh$/.test(name)) return /^-[a-z]*c$/.test(words[0] ?? '')
  return ONLY_RUNS.has(name) || (policy.flags.implicit_coordinators.value && COORDINATORS.has(name))
}

function known(text: string): Word {
  const span = { start: 0, end: 0 }
  return { text, values: [text], dynamic: [], prefix: text, pattern: null, splits: false, span }
}
