/** Decides one simple command of a shell text: denials, the grant that covers it, or what its effect deserves. */

import { isInside, isPrivateTmp } from '../../files/baseline.ts'
import type { CommandFact, Hazard } from '../../shell/facts.ts'
import type { PartQuestions } from '../order.ts'
import { isInsideRoots, nearbyRule } from '../path-part.ts'
import { type Policy, ref } from '../policy.ts'
import type { Ruling } from '../stance.ts'
import { isReadable } from './carried-paths.ts'
import { asksAt, hazardDenial, ruleDenial } from './command-denial.ts'
import { ELSEWHERE, grantsOf, kindForms, wrapperGrants } from './command-grant.ts'
import { historyDenial, lostIn } from './git-history.ts'
import { gitReads, isGit, repositoryHazard } from './git-place.ts'
import type { Scene } from './scene.ts'

/** Need no grant while implicit_coordinators is on (S2). */
export const COORDINATORS: ReadonlySet<string> = new Set([
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

/** Builtins that touch nothing but the shell that runs them; what could change later commands is its own hazard. */
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

/** The hazards that a kind covers: the change, its remote place, and its wrapper's options. */
const KIND_ANSWERS: ReadonlySet<string> = new Set(['changes-remote', ELSEWHERE, 'wrapper-option'])

/** The commands around one: its wrappers, nearest first, and those it runs as a wrapper. */
interface CommandsAround {
  readonly wrappers: readonly CommandFact[]
  readonly runs: CommandFact | null
  /** True if it runs on another machine or in a container, with other directories. */
  readonly elsewhere: boolean
}

/** The four questions of P0 about a command. */
export function commandQuestions(scene: Scene, fact: CommandFact, around: CommandsAround): PartQuestions {
  const { wrappers, runs, elsewhere } = around
  const { policy, session, stance } = scene
  const named = runs !== null && wrapperGrants(policy, session, runs, [fact]) !== null
  // A grant of this kind of change has answered the ask about the change.
  const kinds = fact.kind != null && grantsOf(policy, session, fact)?.[0]?.pattern.kind === true
  const open = (candidate: Hazard): boolean =>
    asksAt(policy, candidate) &&
    !(named && candidate.code === ELSEWHERE) &&
    !(kinds && KIND_ANSWERS.has(candidate.code))
  const hazard = fact.hazards.find(open) ?? (kinds ? null : leftover(fact)) ?? repositoryHazard(session, fact)
  const text = wordsOf(fact)
  return {
    subject: {
      kind: 'command',
      text,
      span: fact.span,
      ...(fact.kind != null && { change: kindForms(fact.kind, session.repository)[0] ?? null }),
    },
    denial: () =>
      hazardDenial(policy, fact, text) ??
      ruleDenial(scene, fact, text) ??
      historyDenial(scene, fact, text) ??
      (elsewhere ? null : placeRuling(scene, fact, text)),
    grant: () => (hazard ? null : (harmless(policy, fact, text) ?? grantRuling(scene, fact, wrappers, text))),
    explicit: () =>
      stance.mode.value === 'contained' && stance.explicit === null
        ? contained(scene, fact, elsewhere, text)
        : stance.explicit,
    otherwise: () => (hazard ? hazardRuling(scene, fact, hazard, text) : fallback(scene, fact, text)),
  }
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

function leftover(fact: CommandFact): Hazard | null {
  if (fact.unwrapped !== 'some') return null
  return { code: 'wrapper', message: 'it may run more than can be seen', verdict: 'ask', span: fact.span }
}

function placeRuling(scene: Scene, fact: CommandFact, text: string): Ruling | null {
  const { policy, session, stance, shell } = scene
  if (isTransparent(fact) || isCoordinator(fact) || fact.resolves === 'builtin') return null
  const contained = stance.mode.value === 'contained'
  if (fact.cwd === null && contained) return null
  const cwd = fact.cwd === null ? null : shell.canonical(fact.cwd)
  const temporary = contained && cwd !== null && isPrivateTmp(cwd) && !isInside(cwd, policy.home)
  if (cwd !== null && (temporary || isInsideRoots(policy, session, cwd))) return null
  const looked = cwd !== null && contained ? lookingRuling(scene, fact, cwd, text) : null
  if (looked !== null) return looked
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

/** `cd ../other && rg x`: a command that only runs itself and writes what it names may read. */
function lookingRuling({ session, sends }: Scene, fact: CommandFact, cwd: string, text: string): Ruling | null {
  const reads = fact.effect === 'local' && isReadable(fact) && (!isGit(fact) || gitReads(fact))
  const rule = reads ? nearbyRule(session, cwd, sends) : null
  if (rule === null) return null
  const message = `\`${text}\` looks around in ${cwd}, ordinary source near the project.`
  return { decision: 'allow', reason: { code: 'nearby', message }, rules: [rule] }
}

/** It runs nothing alone: an assignment, or a function or wrapper whose inside is judged. */
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

function harmless(policy: Policy, fact: CommandFact, text: string): Ruling | null {
  const name = nameOf(fact)
  // `command -v x` only reports the meaning of a name.
  const asksName = name === 'command' && /^-[vV]$/.test(fact.argv[1]?.values?.[0] ?? '')
  // `exec 2>&1` only redirects, which is judged separately.
  const bareExec = name === 'exec' && fact.argv.length === 1
  const builtin = fact.resolves === 'builtin' && name !== null
  const quiet = builtin && (QUIET_BUILTINS.has(name) || asksName || bareExec)
  const coordinates = isCoordinator(fact) && policy.flags.implicit_coordinators.value
  if (!isTransparent(fact) && !quiet && !coordinates) return null
  return {
    decision: 'allow',
    reason: { code: 'harmless', message: `\`${text}\` needs no grant.` },
    rules: coordinates ? [ref(policy.flags.implicit_coordinators)] : [],
  }
}

function grantRuling(
  { policy, session }: Scene,
  fact: CommandFact,
  wrappers: readonly CommandFact[],
  text: string,
): Ruling | null {
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

/** `echo / | xargs rm -rf`, `parallel 'rm -rf {}' ::: ~`: a text that only guesses reach, and that names all there is. */
const NAMES_EVERYTHING = /(?:^|[\s'"=])(?:\/|~\/?|\$HOME\/?|\$\{HOME\}\/?)(?=$|[\s'";|&)])/

// P10: what stays in the box runs; what reaches out or cannot be undone asks.
function contained(scene: Scene, fact: CommandFact, elsewhere: boolean, text: string): Ruling {
  const rules = [ref(scene.stance.mode)]
  const lost = lostIn(scene, fact)
  // Losing a whole project asks, even if undo can restore it.
  const everything =
    fact.hazards.some(({ code }) => code === 'deletes-everything') || NAMES_EVERYTHING.test(scene.shell.command)
  // Undo keeps losses here, but not in a container or on another machine.
  if (scene.session.undo === true && !elsewhere && !everything && (lost !== null || fact.effect === 'loss')) {
    const what = lost === null ? fact.effectNote : `moves files to ${lost}, which is gone when the command ends`
    return {
      decision: 'allow',
      reason: { code: 'contained', message: `\`${text}\` ${what}; \`cordon undo\` brings it back.` },
      rules: [...rules, { rule: 'undo', source: 'built-in' }],
      relies: 'undo',
    }
  }
  if (lost !== null) {
    return {
      decision: 'ask',
      reason: {
        code: 'destructive',
        message: `\`${text}\` moves files to ${lost}, which is private to this command and gone when it ends.`,
        remedy: 'Move them to a place in the project, or copy them.',
      },
      rules,
    }
  }
  if (fact.effect === 'remote-write' || fact.effect === 'destructive' || fact.effect === 'loss') {
    const remote = fact.effect === 'remote-write'
    return {
      decision: 'ask',
      reason: {
        code: remote ? 'remote-write' : 'destructive',
        message: `\`${text}\` ${fact.effectNote || (remote ? 'changes something on another machine' : 'cannot be undone')}.`,
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

/** A hazard keeps even a grant from covering the command. */
function hazardRuling({ policy, session }: Scene, fact: CommandFact, hazard: Hazard, text: string): Ruling {
  const grants = grantsOf(policy, session, fact) ?? []
  const would = grants[0]
    ? `"${grants[0].pattern.text}" would cover \`${text}\`, but ${hazard.message}.`
    : `\`${text}\`: ${hazard.message}.`
  return {
    decision: 'ask',
    reason: {
      code: 'not-understood',
      message: would,
      remedy: 'Write it without that, or explain to the user why it is needed.',
    },
    rules: [{ rule: `hazard ${hazard.code}`, source: 'built-in' }, ...grants.map(ref)],
  }
}

function fallback({ policy, stance }: Scene, fact: CommandFact, text: string): Ruling {
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
