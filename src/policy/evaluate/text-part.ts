/** Takes a command text apart into the parts that are decided: its syntax, commands, redirects, files and hosts. */

import type { CommandFact, Hazard, PathUse, ShellFacts, SyntaxUse } from '../../shell/facts.ts'
import { detaches } from '../../shell/tables/detaching.ts'
import type { SessionFacts, ShellFact } from '../call.ts'
import type { PartDecision, PartSubject } from '../decision.ts'
import { decidePart, type PartQuestions } from '../order.ts'
import { type Policy, ref } from '../policy.ts'
import type { Ruling, Stance } from '../stance.ts'
import { carriedPaths, grantedKey, keyOfLogin } from './carried-paths.ts'
import { carriedScript, startedPlaces } from './carried-script.ts'
import { guessedDenials, hazardDenialIn } from './command-denial.ts'
import { runsElsewhere } from './command-grant.ts'
import { commandQuestions, wordsOf } from './command-part.ts'
import { withMadeCheckouts } from './git-history.ts'
import { hostUseQuestions, mayReachOut } from './named-hosts.ts'
import { pathUseQuestions, redirectQuestions } from './named-paths.ts'
import { always, deny, type Scene, unknowable } from './scene.ts'

/** Decides every part of a command text. */
export function decideShell(policy: Policy, known: SessionFacts, stance: Stance, shell: ShellFact): PartDecision[] {
  const { analysis } = shell
  const session = 'facts' in analysis ? withMadeCheckouts(known, policy.root, analysis.facts) : known
  const sends = (): boolean => 'facts' in analysis && mayReachOut(policy, session, analysis.facts)
  const scene: Scene = { policy, session, stance, shell, carried: carriedPaths(policy, session, shell), sends }
  const questions = 'rejection' in shell.analysis ? rejected(scene) : questionsOf(scene, shell.analysis.facts)
  return questions.map((part) => decidePart(part, stance))
}

function rejected({ shell }: Scene): PartQuestions[] {
  if (!('rejection' in shell.analysis)) return []
  const { message, position } = shell.analysis.rejection
  return [
    always(
      { kind: 'syntax', text: excerpt(shell.command, position), span: { start: position, end: position + 1 } },
      deny(
        'unparseable',
        `The command cannot be understood with certainty: ${message} (at character ${position}).`,
        'Write it as plain bash: close what is open, and leave out control and invisible characters.',
      ),
    ),
  ]
}

function questionsOf(scene: Scene, facts: ShellFacts): PartQuestions[] {
  const { shell } = scene
  if (shell.syntaxError !== null) {
    const subject: PartSubject = { kind: 'syntax', text: excerpt(shell.command, 0) }
    return [
      always(subject, deny('unparseable', `bash refuses the command: ${shell.syntaxError}.`, 'Correct the syntax.')),
    ]
  }
  const questions = [
    ...substringQuestions(scene),
    ...[...facts.syntax, ...ownBackground(scene), ...detached(facts)].flatMap((use) => syntaxQuestions(scene, use)),
    ...facts.hazards.map((hazard) => hazardQuestions(scene, hazard)),
    ...facts.redirects.flatMap((redirect) => redirectQuestions(scene, redirect)),
    ...carriedQuestions(scene, facts),
    ...facts.commands.flatMap((fact, command) =>
      factQuestions(scene, fact, command, facts.commands).map((part) => ({
        ...part,
        subject: { ...part.subject, command },
      })),
    ),
  ]
  return questions.length > 0 ? questions : [nothingRuns(scene)]
}

/** `[[ -f x ]]`, a comment, arithmetic: bash checks it and runs no program. */
function nothingRuns({ policy, shell }: Scene): PartQuestions {
  const ruling: Ruling = {
    decision: 'allow',
    reason: { code: 'harmless', message: 'No program runs.' },
    rules: [ref(policy.flags.implicit_coordinators)],
  }
  const none = (): null => null
  return {
    subject: { kind: 'command', text: shell.command },
    denial: none,
    grant: () => (policy.flags.implicit_coordinators.value ? ruling : null),
    explicit: none,
    otherwise: () => ({ ...ruling, decision: 'ask' }),
  }
}

function factQuestions(scene: Scene, fact: CommandFact, at: number, all: readonly CommandFact[]): PartQuestions[] {
  const runs = fact.unwrapped === 'none' ? null : (all.find((other) => other.parent === at) ?? null)
  const wrappers = wrappersOf(fact, all)
  const elsewhere = runsElsewhere(ancestorsOf(fact, all))
  const command = commandQuestions(scene, fact, { wrappers, runs, elsewhere })
  if (elsewhere) return [command]
  const key = grantedKey(scene.policy, scene.session, fact, all)
  const login = keyOfLogin(fact, all)
  // Named again, it is what is copied.
  const own = fact.paths.filter(({ path }) => path === login).length === 1 ? login : null
  return [
    command,
    ...fact.redirects.flatMap((redirect) => redirectQuestions(scene, redirect)),
    ...fact.paths.flatMap((use) => [
      ...pathUseQuestions(scene, use, fact, key).map((part) =>
        own !== null && use.path === own ? unlabelled(part) : part,
      ),
      ...scriptQuestions(scene, use, fact),
    ]),
    ...fact.hosts.flatMap((use) => hostUseQuestions(scene, use, fact)),
  ]
}

/** ssh shows its key to no one. */
function unlabelled(part: PartQuestions): PartQuestions {
  const { label, ...subject } = part.subject
  return { ...part, subject }
}

/** The wrapper commands around a command, nearest first; a shell or a substitution in between ends them. */
function wrappersOf(fact: CommandFact, all: readonly CommandFact[]): CommandFact[] {
  if (fact.parent === null || fact.via.at(-1)?.kind !== 'wrapper') return []
  const wrapper = all[fact.parent]!
  return [wrapper, ...wrappersOf(wrapper, all)]
}

/** Everything that a command runs inside of; what another machine runs touches none of these files, in a text of its shell either. */
function ancestorsOf(fact: CommandFact, all: readonly CommandFact[]): CommandFact[] {
  const outer = fact.parent === null ? undefined : all[fact.parent]
  return outer === undefined ? [] : [outer, ...ancestorsOf(outer, all)]
}

/** T3: a script that a project's skill brings along runs only when its bytes were approved, whichever way it is started. */
function scriptQuestions({ shell }: Scene, use: PathUse, fact: CommandFact): PartQuestions[] {
  const subject: PartSubject = { kind: 'command', text: wordsOf(fact), span: use.span }
  if (use.path === null) {
    // No program starts then.
    const reads = ['.', 'source'].includes(fact.argv[0]?.values?.[0] ?? '')
    const any = reads ? shell.scriptBelow?.('/') : null
    return any
      ? [
          unapproved(
            subject,
            `reads a file whose name is only known when it runs, and there is one that may not: ${any}`,
          ),
        ]
      : []
  }
  if (!shell.scriptProblem || !startedPlaces(fact).includes(use.path)) return []
  const problem = shell.scriptProblem(shell.canonical(use.path))
  return problem === null ? [] : [unapproved(subject, `runs ${use.path}: ${problem}`)]
}

/** The same of one that the text carries away before it runs it. */
function carriedQuestions({ shell }: Scene, facts: ShellFacts): PartQuestions[] {
  const found = carriedScript(shell, facts)
  if (found === null) return []
  const subject: PartSubject = { kind: 'command', text: wordsOf(found.runs), span: found.runs.span }
  return [unapproved(subject, `may run what this command takes along: ${found.problem}`)]
}

function unapproved(subject: PartSubject, what: string): PartQuestions {
  return always(subject, {
    decision: 'ask',
    firm: true,
    reason: {
      code: 'unapproved-script',
      message: `\`${subject.text}\` ${what}.`,
      remedy: 'Read it before you approve it.',
    },
    rules: [{ rule: 'skill scripts', source: 'built-in' }],
  })
}

/** S7: substrings of the text. They close, they never open. */
function substringQuestions({ policy, shell }: Scene): PartQuestions[] {
  const text = shell.command.toLowerCase()
  const subject: PartSubject = { kind: 'syntax', text: shell.command }
  const denied = policy.shellPolicy.deny.find((entry) => text.includes(entry.value.toLowerCase()))
  if (denied) {
    return [
      always(subject, {
        ...deny('shell-policy', `The command contains "${denied.value}", which the shell policy denies.`),
        rules: [ref(denied)],
      }),
    ]
  }
  const allowed = policy.shellPolicy.allow
  if (allowed.length === 0 || allowed.some((entry) => text.includes(entry.value.toLowerCase()))) return []
  const list = allowed.map((entry) => `"${entry.value}"`).join(', ')
  return [
    always(subject, {
      ...deny('shell-policy', `The shell policy only lets commands through that contain one of: ${list}.`),
      rules: allowed.map(ref),
    }),
  ]
}

const SYNTAX_NAMES: Record<SyntaxUse['kind'], string> = {
  background: 'background execution (&, or a program that detaches)',
  case_terminator: 'case terminators (;;)',
  compound: 'compound commands (&&, ||, ;)',
  parameter_expansion: 'parameter expansion ($x)',
  pipes: 'pipes (|)',
  command_substitution: 'command substitution ($(…), backticks, <(…), >(…))',
}

/** A command that its tool runs in the background, as `&` at its end would. */
function ownBackground({ shell }: Scene): SyntaxUse[] {
  return shell.background ? [{ kind: 'background', span: { start: 0, end: shell.command.length } }] : []
}

/** Commands that outlive themselves: `setsid -f x`, `screen -dm x`. */
function detached({ commands }: ShellFacts): SyntaxUse[] {
  return commands.filter(detaches).map(({ span }) => ({ kind: 'background', span }))
}

function syntaxQuestions({ policy, shell }: Scene, use: SyntaxUse): PartQuestions[] {
  const flag = policy.flags[use.kind]
  if (flag.value) return []
  const subject: PartSubject = {
    kind: 'syntax',
    text: shell.command.slice(use.span.start, use.span.end),
    span: use.span,
  }
  return [
    always(subject, {
      ...deny(
        'shell-syntax-off',
        `[security] ${use.kind} is false: ${SYNTAX_NAMES[use.kind]} may not be used.`,
        'Run the steps as separate, plain commands.',
      ),
      rules: [ref(flag)],
    }),
  ]
}

function hazardQuestions(scene: Scene, hazard: Hazard): PartQuestions {
  const subject: PartSubject = {
    kind: 'command',
    text: scene.shell.command.slice(hazard.span.start, hazard.span.end),
    span: hazard.span,
  }
  if (hazard.verdict === 'deny') return always(subject, deny('dangerous-shell', `${sentence(hazard.message)}.`))
  const denial = hazardDenialIn(guessedDenials(scene), [hazard], scene.shell.command)
  if (denial === null) return unknowable(scene, subject, hazard.message)
  return always(subject, {
    decision: 'ask',
    firm: true,
    reason: {
      code: 'maybe-denied',
      message: `\`${subject.text}\`: ${hazard.message}, and the command names "${denial.pattern.text}", which is denied.`,
      remedy: 'Write it without text that bash evaluates a second time.',
    },
    rules: [ref(denial)],
  })
}

function sentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}

function excerpt(command: string, position: number): string {
  return command.slice(Math.max(0, position - 20), position + 20)
}
