/** Denials of commands: by their words, or possibly out of sight in text that is run again. */

import type { CommandFact, Hazard, Word } from '../../shell/facts.ts'
import { unprivilegedWay } from '../../shell/tables/unprivileged.ts'
import { BUILTINS } from '../../shell/walk/builtin-names.ts'
import { type CommandDenial, type CommandRule, type Policy, ref } from '../policy.ts'
import type { Ruling } from '../stance.ts'
import { startedPlaces } from './carried-script.ts'
import { type DenyMatch, denyMatches, isExempt } from './command-match.ts'
import type { Scene } from './scene.ts'

/** Hazards that run text from elsewhere: a here-document, the other side of a pipe, a variable. */
const RUNS_OTHER_TEXT: ReadonlySet<string> = new Set([
  'alias',
  'arithmetic-eval',
  'command-lookup',
  'deferred',
  'dynamic-assignment',
  'eval',
  'hook',
  'interpreter-code',
  'nameref',
  'option-loads-code',
  'option-reads-config',
  'option-runs-program',
  'script-from-input',
  'script-runs-program',
  'source',
  'transform',
])

/** Evaluations of data that run a command only if the data contains one, `a[$(…)]`. */
const EVALUATES_DATA: ReadonlySet<string> = new Set(['arithmetic-eval', 'dynamic-assignment', 'nameref', 'transform'])
const SUBSCRIPT_THAT_RUNS = /\[[^\]\n]*(?:\$\(|`)/
/** Builtins that take data from outside the text. */
const TAKES_DATA = /\b(?:read|mapfile|readarray)\b/

/** `system("date")`, `"date" | getline`, `1e date`: the whole command is in the script. */
const LITERAL_RUN = /\bsystem\s*\(\s*"[^"$]*"\s*\)|"[^"$]*"\s*\|&?\s*getline|(?:^|[;{\n])\s*[\d,$]*e\s+\w[^\n]*/g
/** Any other way by which awk or sed runs something. */
const OPEN_RUN = /\bsystem\b|[|@]|(?:^|[;{\n])\s*[\d,$/]*e\s*(?:$|[;}\n])|[^\w\s]\w*e\w*\s*$/

/** A file that an assignment names by its descriptor: `BASH_ENV=/dev/stdin`. */
const DESCRIPTOR = /^\/(?:dev|proc)\//

/** Programs that put a file under another name. */
const COPIES: ReadonlySet<string> = new Set(['cat', 'cp', 'dd', 'install', 'link', 'ln', 'mv', 'rsync', 'tee'])
const WRITES = />|\b(?:tee|cp|mv|install|ln|dd|sed|base64|xxd|printf)\b/
const PROGRAM_FILE = /^(?:if=)?\/(?:\S*\/)?s?bin\/([^/]+)$/

/** The denial that could match an unseen command; `source` is the whole text around it. */
function hiddenDenial(policy: Policy, fact: CommandFact, source: string): CommandDenial | null {
  const [first] = policy.commands.deny
  if (first === undefined) return null
  // A sourced file is a script like any other; the output of a substitution is not.
  const sourced = fact.hazards.some((hazard) => hazard.code === 'source')
  const script = sourced && fact.paths.some((use) => use.path !== null && !DESCRIPTOR.test(use.path))
  if (fact.unwrapped === 'some' && !script) return first
  const renamed = copiedDenial(policy, fact) ?? wrappedDenial(policy, fact) ?? writtenDenial(policy, fact, source)
  if (renamed !== null || fact.hazards.length === 0) return renamed
  if (composesProgram(fact)) return first
  const values = fact.assignments.flatMap((assignment) => assignment.value ?? [])
  if (fact.hazards.some((hazard) => RUNS_OTHER_TEXT.has(hazard.code)) || values.some(namesDescriptor)) {
    return hazardDenialIn(policy, fact.hazards, source)
  }
  return mentionedDenial(policy, [...fact.argv, ...values].map((word) => word.text).join(' '))
}

/** The denial that evaluating data of this text could run into. */
export function hazardDenialIn(
  policy: Policy,
  hazards: readonly { readonly code: string }[],
  source: string,
): CommandDenial | null {
  const evaluates = hazards.some((hazard) => EVALUATES_DATA.has(hazard.code))
  if (evaluates && (SUBSCRIPT_THAT_RUNS.test(source) || TAKES_DATA.test(source))) return policy.commands.deny[0] ?? null
  return mentionedDenial(policy, source)
}

/** True where a program is given the name of another in pieces: `awk '{system($0)}'`, `sed e`, `--checkpoint-action=exec="$(…)"`. */
function composesProgram({ hazards, argv }: CommandFact): boolean {
  const codes = new Set(hazards.map(({ code }) => code))
  if (codes.has('option-runs-program'))
    return argv.slice(1).some(({ dynamic }) => dynamic.includes('substitution') || dynamic.includes('variable'))
  if (!codes.has('script-runs-program')) return false
  return argv.slice(1).some(({ values, text }) => OPEN_RUN.test((values?.[0] ?? text).replace(LITERAL_RUN, '')))
}

/** `echo 'rm x' > e.sh; bash e.sh`: a script that the text itself writes, and a denied command that it names. */
function writtenDenial(policy: Policy, fact: CommandFact, source: string): CommandDenial | null {
  const names = startedPlaces(fact).map(basename)
  const isWritten = (name: string): boolean => name !== '' && source.split(name).length > 2 && WRITES.test(source)
  return names.some(isWritten) ? mentionedDenial(policy, source) : null
}

/** The denial whose words a text contains in order, with or without quotes and backslashes. */
function mentionedDenial(policy: Policy, text: string): CommandDenial | null {
  const plain = text.replace(/["'\\]/g, '')
  const readings = [text, plain].map(tokensOf)
  return (
    policy.commands.deny.find(({ pattern }) => readings.some((tokens) => namesInOrder(tokens, pattern.words))) ?? null
  )
}

function tokensOf(text: string): readonly string[] {
  return text.match(/[\w.+-]+/g) ?? []
}

function namesInOrder(tokens: readonly string[], words: readonly string[]): boolean {
  let rest = tokens
  for (const word of words) {
    const at = rest.indexOf(basename(word))
    if (at < 0) return false
    rest = rest.slice(at + 1)
  }
  return true
}

/** `ln -s /bin/rm x`, `cp "$(which rm)" x`: no rule would recognise the program's new name. */
function copiedDenial(policy: Policy, fact: CommandFact): CommandDenial | null {
  if (!COPIES.has(basename(fact.argv[0]?.values?.[0] ?? ''))) return null
  return (
    policy.commands.deny.find(({ pattern }) => {
      const name = basename(pattern.words[0] ?? '')
      return fact.argv.slice(1).some((word) => namesProgramFile(word, name))
    }) ?? null
  )
}

function namesProgramFile(word: Word, name: string): boolean {
  if (word.values !== null) return word.values.some((value) => PROGRAM_FILE.exec(value)?.[1] === name)
  return word.dynamic.includes('substitution') && tokensOf(word.text.replace(/["'\\]/g, '')).includes(name)
}

/** `watcher rm x`, `terminal -e 'rm x'`: a program that no table lists may run the words that it is given. */
function wrappedDenial(policy: Policy, fact: CommandFact): CommandDenial | null {
  if (fact.resolves !== 'program' || fact.unwrapped !== 'none') return null
  const named = byName(fact)
  if (fact.effect !== 'unknown' && named === null) return null
  const tails =
    fact.effect === 'unknown'
      ? fact.argv.slice(1).map((word, index) => [...wordsIn(word), ...fact.argv.slice(index + 2)])
      : [named!]
  return policy.commands.deny.find(({ pattern }) => tails.some((argv) => denyMatches(pattern, argv) === 'yes')) ?? null
}

/** Their own words among those that programs have, too. */
const OWN_WORDS: ReadonlySet<string> = new Set('env exec info install link ln node patch rm test unlink'.split(' '))

/** `bun run x`, `yarn x`, `pnpm x`: a script, a tool of the project, and else the program of that name. */
function byName({ argv }: CommandFact): readonly Word[] | null {
  const [program = '', ...words] = argv.map((word) => word.values?.[0] ?? '')
  if (!/^(?:bun|pnpm|yarn)$/.test(basename(program))) return null
  const at = words.findIndex((word) => word !== 'run' && !word.startsWith('-'))
  const isOwn = at < 0 || (!words.slice(0, at).includes('run') && OWN_WORDS.has(words[at]!))
  return isOwn ? null : argv.slice(at + 1)
}

/** The words of a text that a program is given as one word. */
function wordsIn(word: Word): readonly Word[] {
  const text = word.values?.length === 1 ? (word.values[0] ?? '') : ''
  if (!/\s/.test(text)) return [word]
  return text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => ({ ...word, text: part, values: [part], prefix: part }))
}

function namesDescriptor(word: Word): boolean {
  return word.values?.some((value) => DESCRIPTOR.test(value)) ?? false
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Denials of a command: hazards that nothing answers, and deny rules that match or could. */
// With privilege_wrappers the user opted in: sudo is then an ordinary command that gains nothing in
// the sandbox. The same applies to interpreters with system_python: they were granted to run code.
/** Whether a hazard counts under the flags of this policy. */
export function asksAt(policy: Policy, hazard: Hazard): boolean {
  if (hazard.code === 'privilege') return !policy.flags.privilege_wrappers.value
  return !(hazard.code.startsWith('interpreter-') && policy.flags.system_python.value)
}

/** A hazard that is denied whatever was granted. */
export function hazardDenial(policy: Policy, fact: CommandFact, text: string): Ruling | null {
  const hazard = fact.hazards.find((candidate) => candidate.verdict === 'deny' && asksAt(policy, candidate))
  if (!hazard) return null
  const privilege = hazard.code === 'privilege'
  return {
    decision: 'deny',
    reason: {
      code: privilege ? 'privilege' : 'dangerous-shell',
      message: `\`${text}\`: ${hazard.message}.`,
      remedy: privilege
        ? `Do it without privileges: ${unprivilegedWay(fact)}; or hand this exact command to the user to run.`
        : 'Write the command out plainly, without text that bash evaluates a second time.',
    },
    rules: [{ rule: privilege ? policy.flags.privilege_wrappers.rule : `hazard ${hazard.code}`, source: 'built-in' }],
  }
}

/** Whether a rule applies when the program starts: builtins of a shell are not started. */
function isJudgedAtStart({ session, stance }: Scene, { pattern }: CommandDenial): boolean {
  const [program = ''] = pattern.words
  return session.judged === true && stance.mode.value === 'contained' && program !== '' && !BUILTINS.has(program)
}

/** The policy with the denials alone that have to be looked for in the text. */
export function guessedDenials(scene: Scene): Policy {
  const { policy } = scene
  const deny = policy.commands.deny.filter((rule) => !isJudgedAtStart(scene, rule))
  return deny.length === policy.commands.deny.length ? policy : { ...policy, commands: { ...policy.commands, deny } }
}

/** The command of a runner (`npx wrangler deploy`, `python -m pip`) is denied like the program. */
function strongestMatch(pattern: CommandRule['pattern'], { argv, delegates = [] }: CommandFact): DenyMatch {
  const matches = [argv, ...delegates].map((words) => denyMatches(pattern, words))
  return matches.find((match) => match === 'yes') ?? matches.find((match) => match === 'maybe') ?? 'no'
}

/** A deny rule that matches, or could. */
export function ruleDenial(scene: Scene, fact: CommandFact, text: string): Ruling | null {
  const { policy } = scene
  let asks: CommandDenial | null = null
  let maybe: CommandDenial | null = null
  for (const rule of policy.commands.deny) {
    const match = strongestMatch(rule.pattern, fact)
    if (match === 'no' || rule.except?.some((weaker) => isExempt(weaker, fact.argv))) continue
    if (match === 'yes' && !rule.asks) {
      return {
        decision: 'deny',
        reason: {
          code: 'denied-by-rule',
          message: `\`${text}\` is denied by "${rule.pattern.text}".`,
          remedy: `Find a way without it; the rule is at ${rule.source}.`,
        },
        rules: [ref(rule)],
      }
    }
    if (match === 'yes') asks ??= rule
    else if (!isJudgedAtStart(scene, rule)) maybe ??= rule
  }
  if (asks !== null) {
    const message = `\`${text}\` asks because of "${asks.pattern.text}", at ${asks.source}.`
    return { decision: 'ask', firm: true, reason: { code: 'rule-asks', message }, rules: [ref(asks)] }
  }
  maybe ??= hiddenDenial(guessedDenials(scene), fact, scene.shell.command)
  if (!maybe) return null
  return {
    decision: 'ask',
    firm: true,
    reason: {
      code: 'maybe-denied',
      message: `\`${text}\` could turn out to be "${maybe.pattern.text}", which ${maybe.asks ? 'asks' : 'is denied'}: its words are only known when it runs.`,
      remedy: 'Write the words out instead of using variables or substitutions.',
    },
    rules: [ref(maybe)],
  }
}
