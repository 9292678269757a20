/** Decides a program start by its real words (S8): the denials of a text, and grants for each. */

import { posix } from 'node:path'
import type { CommandFact, Word } from '../../shell/facts.ts'
import { inspect } from '../../shell/inspect/inspect.ts'
import { familyOf, isInterpreterName } from '../../shell/tables/interpreter-names.ts'
import { unprivilegedWay } from '../../shell/tables/unprivileged.ts'
import { unknownWord } from '../../shell/words/pieces.ts'
import type { SessionFacts } from '../call.ts'
import { startedPlaces } from '../evaluate/carried-script.ts'
import { grantsOf, kindForms } from '../evaluate/command-grant.ts'
import { denyMatches, grantMatches, isExempt } from '../evaluate/command-match.ts'
import { COORDINATORS } from '../evaluate/command-part.ts'
import { type CommandDenial, type CommandRule, type Policy, ref } from '../policy.ts'
import type { Ruling } from '../stance.ts'
import { ONLY_RUNS, PRIVILEGED, PROGRAM_FOLDERS, RUNS_INSIDE, type StartedFor, type TableScene } from './table.ts'

/** A file that runs with words. */
interface ImageFact {
  readonly argv: readonly string[]
  /** Names of programs that the file is a link to or a copy of. */
  readonly aliases: readonly string[]
  /** Canonical. */
  readonly file: string
}

/** A program that a process is about to run. */
export interface StartFact extends ImageFact {
  /** How the process names it. */
  readonly path: string
  /** The interpreter that the file names in its first line. */
  readonly interpreter: ImageFact | null
  readonly cwd: string
  /** True when there are more words than these. */
  readonly cut: boolean
}

const SPAN = { start: 0, end: 0 }

/** As many words as an interpreter or a loader may have before the file that it runs. */
const MOST_BEFORE = 32

/** Everything needed to judge a start. */
export interface StartScene extends TableScene {
  readonly session: SessionFacts
  /** The commands of the text that was decided before it ran. */
  readonly commands: readonly CommandFact[]
  /** The changes elsewhere that they were then, as a grant names them. */
  readonly changes: ReadonlyMap<CommandFact, readonly string[] | null>
  readonly home: string
  /** The PATH of the command. */
  readonly path: () => string
}

/** Decides a start; null lets it run. A start that the text names was decided with the text. */
export function decideStart(scene: StartScene, start: StartFact): Ruling | null {
  const denial = startDenial(scene.policy, start, scene.by)
  if (denial?.decision === 'deny' || scene.by === 'person') return denial?.decision === 'deny' ? denial : null
  const script = unapprovedScript(scene, start)
  if (script !== null) return script
  const isNamed = scene.commands.some((fact) => names(fact, start) && isSameChange(scene, fact, start))
  const asks = isNamed ? null : (denial ?? (scene.changing.length > 0 ? changeElsewhere(scene, start) : null))
  return asks ?? (scene.every ? undeclared(scene, start, startText(start)) : null)
}

/** Whether a command of the text is this start: the same program, and the words that are known, in their order. */
function names({ argv }: CommandFact, start: StartFact): boolean {
  const [program, ...words] = argv
  const own = [start.path, start.file, start.argv[0] ?? ''].map((name) => posix.basename(name))
  if (!program?.values?.some((value) => own.includes(posix.basename(value)))) return false
  const isKnown = words.every((word) => word.values?.length === 1 && !word.splits)
  if (isKnown && words.length !== start.argv.length - 1) return false
  let at = 1
  for (const { values } of words) {
    if (values === null) continue
    const found = start.argv.findIndex((word, index) => index >= at && values.includes(word))
    if (found < 0) return false
    at = found + 1
  }
  return true
}

/** Another address than when the text was decided is another change. */
function isSameChange({ changes, session, home, policy }: StartScene, fact: CommandFact, start: StartFact): boolean {
  const decided = changes.get(fact)
  if (decided == null) return true
  const { kind } = factOf(start.argv.map(known), start, home, policy)
  return kind != null && String(kindForms(kind, session.repository)[0]) === String(decided)
}

/** P10: a program that changes something elsewhere asks, unless a grant covers it. */
function changeElsewhere({ policy, session, home }: StartScene, start: StartFact): Ruling | null {
  const fact = factOf(
    [posix.basename(start.path || start.file), ...start.argv.slice(1)].map(known),
    start,
    home,
    policy,
  )
  if (fact.effect !== 'remote-write' && fact.effect !== 'destructive') return null
  const grants = grantsOf(policy, session, fact)
  if (grants?.every(({ prompt }) => !prompt)) return null
  const code = fact.effect === 'remote-write' ? 'remote-write' : 'destructive'
  return {
    decision: 'ask',
    reason: { code, message: `\`${startText(start)}\` ${fact.effectNote || 'changes something elsewhere'}.` },
    rules: [ref(policy.mode)],
  }
}

function factOf(argv: readonly Word[], { cwd }: StartFact, home: string, { root }: Policy): CommandFact {
  const place = { cwd, home, roots: [root], assignments: [], span: SPAN, stdin: 'unknown' } as const
  return {
    ...inspect({ argv, ...place }),
    argv,
    resolves: 'program',
    assignments: [],
    redirects: [],
    cwd,
    via: [],
    parent: null,
    unwrapped: 'none',
    background: false,
    span: SPAN,
  }
}

/** T3: a script of a skill, as the program itself or as what an interpreter reads, unless the text named it and was decided so. */
function unapprovedScript({ scripts, commands, policy, home }: StartScene, start: StartFact): Ruling | null {
  if (!scripts) return null
  const facts = readingsOf(start).map((words) => factOf(words, start, home, policy))
  const read = facts.flatMap(startedPlaces)
  const agreed = new Set(commands.flatMap(startedPlaces))
  const isAgreed = (path: string): boolean =>
    agreed.has(path) || (path === start.file && agreed.has(posix.resolve(start.cwd, start.path)))
  for (const path of new Set([start.file, ...read])) {
    const problem = isAgreed(path) ? null : scripts.problem(path)
    if (problem === null) continue
    return unapproved(`\`${startText(start)}\` runs ${path}: ${problem}.`)
  }
  const isHidden = start.cut && facts.some(({ argv }) => isInterpreterName(argv[0]?.values?.[0] ?? ''))
  return isHidden ? unapproved(`\`${startText(start)}\` has too many words to find a skill's script among them.`) : null
}

function unapproved(message: string): Ruling {
  const rules = [{ rule: 'skill scripts', source: 'built-in' }]
  return { decision: 'ask', firm: true, reason: { code: 'unapproved-script', message }, rules }
}

/** The denial of a start; null when nothing denies it. */
export function startDenial(policy: Policy, start: StartFact, by: StartedFor): Ruling | null {
  const readings = readingsOf(start)
  return (
    (by === 'agent' ? privilegeDenial(policy, start) : null) ??
    ruleDenial(policy, start, readings) ??
    textDenial(policy, start)
  )
}

/** The words as a person reads them. */
export function startText({ argv, path, file }: StartFact): string {
  const text = [posix.basename(path) || posix.basename(file), ...argv.slice(1)].join(' ')
  return text.length > 120 ? `${text.slice(0, 120)} …` : text
}

/** Every reading of the words: by each name of the program, and as the command it runs inside. */
function readingsOf(start: StartFact): readonly (readonly Word[])[] {
  const readings = [...readingsOfImage(start, [start.path])]
  if (start.interpreter !== null) readings.push(...readingsOfImage(start.interpreter, []))
  const more = start.cut ? [unknownWord('…', 'input', SPAN, true)] : []
  return readings.map((words) => [...words.map(known), ...more])
}

function readingsOfImage({ argv, aliases, file }: ImageFact, names: readonly string[]): readonly (readonly string[])[] {
  const rest = argv.slice(1)
  const own = [...names, ...aliases, file, (argv[0] ?? '').replace(/^-/, '')].map((name) => posix.basename(name))
  const readings: (readonly string[])[] = []
  for (const name of new Set(own.filter((one) => one !== ''))) {
    readings.push([name, ...rest])
    if (name.startsWith('git-')) readings.push(['git', name.slice('git-'.length), ...rest])
    if (!RUNS_INSIDE.has(name) && !isInterpreterName(name)) continue
    for (const [at, word] of rest.slice(0, MOST_BEFORE).entries())
      if (word !== '' && !word.startsWith('-')) readings.push([posix.basename(word), ...rest.slice(at + 1)])
  }
  return readings
}

function known(text: string): Word {
  return { text, values: [text], dynamic: [], prefix: text, pattern: null, splits: false, span: SPAN }
}

function ruleDenial(policy: Policy, start: StartFact, readings: readonly (readonly Word[])[]): Ruling | null {
  const matching = policy.commands.deny.filter((rule) => matches(policy, rule, start, readings))
  const rule = matching.find(({ asks }) => !asks) ?? matching[0]
  if (rule === undefined) return null
  const text = startText(start)
  if (rule.asks) {
    const message = `\`${text}\` asks because of "${rule.pattern.text}", at ${rule.source}.`
    return { decision: 'ask', firm: true, reason: { code: 'rule-asks', message }, rules: [ref(rule)] }
  }
  return {
    decision: 'deny',
    reason: { code: 'denied-by-rule', message: `\`${text}\` is denied by "${rule.pattern.text}" (${rule.source}).` },
    rules: [ref(rule)],
  }
}

function matches(
  { root }: Policy,
  rule: CommandDenial,
  start: StartFact,
  readings: readonly (readonly Word[])[],
): boolean {
  const { pattern, except = [] } = rule
  return readings.some((words) => {
    const match = denyMatches(pattern, words)
    if (match === 'no' || except.some((weaker) => isExempt(weaker, words))) return false
    if (match === 'yes' || start.cut) return true
    // A denial of a path is one of that very file.
    const meant = posix.resolve(root, pattern.words[0] ?? '')
    return [start.file, ...start.argv.map((word) => posix.resolve(start.cwd, word))].includes(meant)
  })
}

/** S7: the words contain a text of `[shell_policy] deny`. */
function textDenial({ shellPolicy }: Policy, { argv }: StartFact): Ruling | null {
  const text = argv.join(' ').toLowerCase()
  const rule = shellPolicy.deny.find(({ value }) => text.includes(value.toLowerCase()))
  if (!rule) return null
  return {
    decision: 'deny',
    reason: { code: 'shell-policy', message: `The shell policy denies commands that contain "${rule.value}".` },
    rules: [ref(rule)],
  }
}

function privilegeDenial({ flags }: Policy, start: StartFact): Ruling | null {
  if (flags.privilege_wrappers.value) return null
  const { path, file, aliases, interpreter } = start
  const name = [path, file, ...aliases, interpreter?.file ?? '']
    .map((one) => posix.basename(one))
    .find((one) => PRIVILEGED.has(one))
  if (name === undefined) return null
  const way = unprivilegedWay({ argv: start.argv.map(known) })
  return {
    decision: 'deny',
    reason: {
      code: 'privilege',
      message: `\`${name}\` asks for other rights than this session has.`,
      remedy: `Do it without privileges: ${way}; or hand this exact command to the user to run.`,
    },
    rules: [{ rule: flags.privilege_wrappers.rule, source: 'built-in' }],
  }
}

/** A way to read a start. */
interface Reading {
  readonly place: string
  /** Only a PATH folder gives a plain name: the agent may have created `./npm`. */
  readonly name: string | null
  readonly words: readonly string[]
}

/** Null if the text named the start, a grant covers it, or it only runs other judged starts. */
export function undeclared(scene: StartScene, start: StartFact, text: string): Ruling | null {
  const { policy, session, commands } = scene
  const readings = start.cut ? [] : placesOf(scene, start)
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

function placesOf(scene: StartScene, { path, argv, cwd }: StartFact): readonly Reading[] {
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
  return grantMatches(pattern, [program, ...reading.words].map(wordOf))
}

/** Whether these are the words of a command of the text; an unknown word matches any rest. */
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

function wordOf(text: string): Word {
  const span = { start: 0, end: 0 }
  return { text, values: [text], dynamic: [], prefix: text, pattern: null, splits: false, span }
}
