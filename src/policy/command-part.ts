/** Decides one simple command of a shell text: denials, the grant that covers it, or what its effect deserves. */

import { isPrivateTmp } from '../files/baseline.ts'
import type { CommandFact, Hazard, Word } from '../shell/facts.ts'
import type { SessionFacts } from './call.ts'
import { asksAt, hazardDenial, ruleDenial } from './command-denial.ts'
import { grantMatches, variantsOf } from './command-match.ts'
import { namesPackage } from './open-runner.ts'
import type { PartQuestions } from './order.ts'
import { isInsideRoots } from './path-part.ts'
import type { CommandRule, Policy, RuleRef } from './policy.ts'
import type { Ruling, Stance } from './stance.ts'

/** Need no grant while implicit_coordinators is on (S2). */
const COORDINATORS: ReadonlySet<string> = new Set([
  'echo',
  'printf',
  'true',
  'false',
  ':',
  'exit',
  'cd',
  'pwd',
  'pushd',
  'popd',
])

/** Builtins that touch nothing but the shell that runs them; what could change later commands is a hazard of its own. */
const QUIET_BUILTINS: ReadonlySet<string> = new Set([
  ...['test', '[', 'break', 'continue', 'return', 'shift', 'wait', 'local', 'declare', 'typeset', 'readonly', 'export'],
  ...[
    'unset',
    'read',
    'set',
    'getopts',
    'let',
    'times',
    'type',
    'hash',
    'jobs',
    'dirs',
    'umask',
    'mapfile',
    'readarray',
  ],
  ...['shopt', 'trap', 'eval', 'disown'],
])

const NOTHING_AROUND = { wrappers: [], runs: null, source: '' } as const

/** The hazard of running elsewhere: a grant that names what runs there (`docker exec web npm test:*`) has answered it. */
const ELSEWHERE = 'remote-command'

/** The four questions of P0 about a command; `runs` is what it runs in turn, when it is a wrapper; `source` the whole text. */
export function commandQuestions(
  policy: Policy,
  session: SessionFacts,
  stance: Stance,
  fact: CommandFact,
  canonical: (path: string) => string,
  around: {
    readonly wrappers: readonly CommandFact[]
    readonly runs: CommandFact | null
    readonly source: string
  } = NOTHING_AROUND,
): PartQuestions {
  const { wrappers, runs } = around
  const named = runs !== null && wrapperGrants(policy, session, runs, [fact]) !== null
  const open = (candidate: Hazard): boolean => asksAt(policy, candidate) && !(named && candidate.code === ELSEWHERE)
  const hazard = fact.hazards.find(open) ?? leftover(fact)
  const text = wordsOf(fact)
  return {
    subject: { kind: 'command', text, span: fact.span },
    denial: () =>
      hazardDenial(policy, fact, text) ??
      ruleDenial(policy, fact, text, around.source) ??
      (runsElsewhere(wrappers) ? null : placeRuling(policy, session, stance, fact, canonical, text)),
    grant: () => harmless(policy, fact, hazard, text) ?? grantRuling(policy, session, fact, wrappers, hazard, text),
    explicit: () =>
      stance.mode.value === 'contained' && isFromMode(stance) ? contained(stance, fact, text) : stance.explicit,
    otherwise: () => fallback(policy, session, fact, hazard, stance, text),
  }
}

/** The grants that cover a command: one for each variant of its words, the most literal first; null when one is missing. */
export function grantsOf(policy: Policy, session: SessionFacts, fact: CommandFact): readonly CommandRule[] | null {
  const variants = variantsOf(fact.argv)
  if (variants === null || fact.argv.length === 0) return null
  const rules = [...policy.commands.allow, ...session.grants.commands]
  const found = variants.map((argv) =>
    mostLiteral(rules.filter(({ pattern }) => grantMatches(pattern, argv) && namesPackage(pattern, argv))),
  )
  return found.every((rule) => rule !== null) ? found : null
}

/**
 * A grant may be written with its wrapper: `bundle exec rspec:*`, `timeout 60 npm test:*`. It then covers what the wrapper
 * runs, but only when its own words reach into that command: `timeout:*` covers nothing inside.
 */
function wrapperGrants(
  policy: Policy,
  session: SessionFacts,
  fact: CommandFact,
  wrappers: readonly CommandFact[],
): readonly CommandRule[] | null {
  const name = fact.argv[0]?.values?.[0]
  if (name === undefined) return null
  for (const wrapper of wrappers) {
    if (wrapper.hazards.some((hazard) => hazard.code !== ELSEWHERE)) continue
    // The last word that can be it: a container may be called like the command that runs in it.
    const start = wrapper.argv.findLastIndex(
      (word, index) => index > 0 && isSameWord(word, name) && word.span.start === fact.argv[0]?.span.start,
    )
    const grants = start < 0 ? null : grantsOf(policy, session, wrapper)
    if (grants?.every((rule) => rule.pattern.words.length > start)) return grants
  }
  return null
}

/** `dev:lint` is `lint` in the environment `dev` (hatch). */
function isSameWord(word: Word, name: string): boolean {
  const value = word.values?.[0] ?? ''
  return value === name || value.endsWith(`:${name}`)
}

/** True when a wrapper runs the command on another machine or in a container, whose files and directories are not these. */
export function runsElsewhere(wrappers: readonly CommandFact[]): boolean {
  return wrappers.some((wrapper) => wrapper.hazards.some((hazard) => hazard.code === ELSEWHERE))
}

/** The command as a person reads it. */
export function wordsOf(fact: CommandFact): string {
  const assignments = fact.assignments
    .filter((assignment) => assignment.scope === 'command' || fact.argv.length === 0)
    .map((assignment) => `${assignment.name}=${assignment.value?.text ?? '…'}`)
  return [...assignments, ...fact.argv.map((word) => quoted(word.text))].join(' ')
}

function quoted(text: string): string {
  return text === '' || /[\s'"|&;<>()]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : text
}

function mostLiteral(rules: readonly CommandRule[]): CommandRule | null {
  return rules.reduce<CommandRule | null>((best, rule) => {
    if (best === null) return rule
    const longer = rule.pattern.words.length - best.pattern.words.length
    if (longer !== 0) return longer > 0 ? rule : best
    return best.pattern.open && !rule.pattern.open ? rule : best
  }, null)
}

function leftover(fact: CommandFact): Hazard | null {
  if (fact.unwrapped !== 'some') return null
  return { code: 'wrapper', message: 'it may run more than can be seen', verdict: 'ask', span: fact.span }
}

function placeRuling(
  policy: Policy,
  session: SessionFacts,
  stance: Stance,
  fact: CommandFact,
  canonical: (path: string) => string,
  text: string,
): Ruling | null {
  if (isTransparent(fact) || isCoordinator(fact) || fact.resolves === 'builtin') return null
  const contained = stance.mode.value === 'contained'
  if (fact.cwd === null && contained) return null
  const cwd = fact.cwd === null ? null : canonical(fact.cwd)
  if (cwd !== null && (isInsideRoots(policy, session, cwd) || (contained && isPrivateTmp(cwd)))) return null
  return {
    decision: 'ask',
    reason: {
      code: 'outside-cwd',
      message:
        cwd === null
          ? `\`${text}\` runs in a directory that cannot be known beforehand.`
          : `\`${text}\` runs in ${cwd}, outside the project.`,
      remedy: `Run it inside ${policy.root}, with a directory written out.`,
    },
    rules: [ref(policy.outsideRoots)],
  }
}

/** Nothing runs of its own: an assignment, a function call whose body is judged, a wrapper whose inside is judged. */
function isTransparent(fact: CommandFact): boolean {
  return fact.resolves === 'none' || fact.resolves === 'function' || fact.unwrapped === 'all'
}

function nameOf(fact: CommandFact): string | null {
  const values = fact.argv[0]?.values
  return values?.length === 1 ? values[0]! : null
}

function isCoordinator(fact: CommandFact): boolean {
  const name = nameOf(fact)
  return name !== null && COORDINATORS.has(name) && fact.resolves !== 'function'
}

function harmless(policy: Policy, fact: CommandFact, hazard: Hazard | null, text: string): Ruling | null {
  if (hazard) return null
  const name = nameOf(fact)
  // `command -v x` only says what a name means.
  const asksName = name === 'command' && /^-[vV]$/.test(fact.argv[1]?.values?.[0] ?? '')
  // `exec 2>&1` only redirects, which is judged on its own.
  const bareExec = name === 'exec' && fact.argv.length === 1
  const builtin = fact.resolves === 'builtin' && name !== null
  const quiet = builtin && (QUIET_BUILTINS.has(name) || asksName || bareExec)
  const coordinates = isCoordinator(fact) && policy.flags.implicit_coordinators.value
  if (!isTransparent(fact) && !quiet && !coordinates) return null
  return {
    decision: 'allow',
    reason: { code: 'harmless', message: `\`${text}\` needs no grant of its own.` },
    rules: coordinates ? [ref(policy.flags.implicit_coordinators)] : [],
  }
}

function grantRuling(
  policy: Policy,
  session: SessionFacts,
  fact: CommandFact,
  wrappers: readonly CommandFact[],
  hazard: Hazard | null,
  text: string,
): Ruling | null {
  if (hazard) return null
  const grants = grantsOf(policy, session, fact) ?? wrapperGrants(policy, session, fact, wrappers)
  if (!grants) return null
  const prompting = grants.find((rule) => rule.prompt)
  if (prompting) {
    return {
      decision: 'ask',
      reason: {
        code: 'grant-prompts',
        message: `"${prompting.pattern.text}" covers \`${text}\` and says prompt = true.`,
      },
      rules: [ref(prompting), ...grants.map(ref)],
    }
  }
  return {
    decision: 'allow',
    reason: { code: 'granted', message: `"${grants[0]!.pattern.text}" covers \`${text}\`.` },
    rules: grants.map(ref),
  }
}

function isFromMode(stance: Stance): boolean {
  return stance.explicit === null
}

// P10: what stays in the box runs; what reaches out or cannot be undone asks.
function contained(stance: Stance, fact: CommandFact, text: string): Ruling {
  const rules = [ref(stance.mode)]
  if (fact.effect === 'remote-write' || fact.effect === 'destructive') {
    return {
      decision: 'ask',
      reason: {
        code: fact.effect,
        message: `\`${text}\` ${fact.effectNote || (fact.effect === 'destructive' ? 'cannot be undone' : 'changes something on another machine')}.`,
        remedy: 'Say why it is needed; the user decides.',
      },
      rules,
    }
  }
  const network = fact.effect === 'unknown' ? ', without network' : ''
  return {
    decision: 'allow',
    reason: { code: 'contained', message: `\`${text}\` stays inside the sandbox${network}.` },
    rules,
  }
}

function fallback(
  policy: Policy,
  session: SessionFacts,
  fact: CommandFact,
  hazard: Hazard | null,
  stance: Stance,
  text: string,
): Ruling {
  if (hazard) {
    const grants = grantsOf(policy, session, fact)
    const would = grants
      ? `"${grants[0]!.pattern.text}" would cover \`${text}\`, but ${hazard.message}.`
      : `\`${text}\`: ${hazard.message}.`
    return {
      decision: 'ask',
      reason: {
        code: 'not-understood',
        message: would,
        remedy: 'Write it without that, or explain to the user why it is needed.',
      },
      rules: [{ rule: `hazard ${hazard.code}`, source: 'built-in' }, ...(grants ?? []).map(ref)],
    }
  }
  const declared = policy.commands.declared
  return {
    decision: declared ? 'ask' : stance.builtIn,
    reason: {
      code: declared ? 'not-granted' : 'level-ask',
      message: declared ? `No grant covers \`${text}\`.` : `Commands ask unless the manifest grants them: \`${text}\`.`,
      remedy: `Grant it under [capabilities.allow.commands] patterns${nearest(policy, fact)}.`,
    },
    rules: [
      {
        rule: declared ? 'capabilities.allow.commands' : `level of ${stance.tool}`,
        source: declared ? 'manifest' : 'built-in',
      },
    ],
  }
}

function nearest(policy: Policy, fact: CommandFact): string {
  const name = nameOf(fact)
  const same = policy.commands.allow
    .filter((rule) => rule.pattern.words[0] === name)
    .map((rule) => `"${rule.pattern.text}"`)
  return same.length > 0 ? `; of ${name} only ${same.slice(0, 4).join(', ')} is granted` : ''
}

function ref({ rule, source }: RuleRef): RuleRef {
  return { rule, source }
}
