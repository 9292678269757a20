/** Denials of a command: hazards that nothing answers, and deny rules that match or could. */

import type { CommandFact, Hazard } from '../../shell/facts.ts'
import { unprivilegedWay } from '../../shell/tables/unprivileged.ts'
import { BUILTINS } from '../../shell/walk/builtin-names.ts'
import { type CommandDenial, type CommandRule, type Policy, ref } from '../policy.ts'
import type { Ruling } from '../stance.ts'
import { type DenyMatch, denyMatches, isExempt } from './command-match.ts'
import { hiddenDenial } from './hidden-denial.ts'
import type { Scene } from './scene.ts'

// With privilege_wrappers the user opted in: sudo is then an ordinary command that still gains nothing in the sandbox. The
// same goes for interpreters with system_python: running code is what they were granted for.
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

/** What a runner runs (`npx wrangler deploy`, `python -m pip`) is denied like the program itself. */
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
