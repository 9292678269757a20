/** Takes a command text apart into the parts that are decided: its syntax, commands, redirects, files and hosts. */

import { posix } from 'node:path'
import { isProcessDoor } from '../files/baseline.ts'
import { isGlob, matchSegment } from '../files/glob.ts'
import { protectedOfGlob } from '../files/protected-glob.ts'
import { secretOfGlob } from '../files/secret-glob.ts'
import { classifyAddress } from '../hosts/address.ts'
import { matchesHost } from '../hosts/pattern.ts'
import { parseUrl } from '../hosts/url.ts'
import type { CommandFact, Hazard, HostUse, PathUse, RedirectFact, ShellFacts, SyntaxUse } from '../shell/facts.ts'
import { isInterpreterName } from '../shell/tables/interpreter-names.ts'
import type { SessionFacts, ShellFact } from './call.ts'
import { commandQuestions, grantsOf, mentionedDenial, wordsOf } from './command-part.ts'
import type { PartDecision, PartSubject } from './decision.ts'
import { decidePart, type PartQuestions } from './order.ts'
import { type PathActor, pathQuestions } from './path-part.ts'
import type { Policy, RuleRef } from './policy.ts'
import type { Ruling, Stance } from './stance.ts'

/** Decides every part of a command text. */
export function decideShell(policy: Policy, session: SessionFacts, stance: Stance, shell: ShellFact): PartDecision[] {
  const scene: Scene = { policy, session, stance, shell }
  const questions = 'rejection' in shell.analysis ? rejected(scene) : questionsOf(scene, shell.analysis.facts)
  return questions.map((part) => decidePart(part, stance))
}

interface Scene {
  readonly policy: Policy
  readonly session: SessionFacts
  readonly stance: Stance
  readonly shell: ShellFact
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
  return [
    ...substringQuestions(scene),
    ...facts.syntax.flatMap((use) => syntaxQuestions(scene, use)),
    ...facts.hazards.map((hazard) => hazardQuestions(scene, hazard)),
    ...facts.redirects.flatMap((redirect) => redirectQuestions(scene, redirect)),
    ...facts.commands.flatMap((fact, command) =>
      factQuestions(scene, fact, facts.commands).map((part) => ({ ...part, subject: { ...part.subject, command } })),
    ),
  ]
}

function factQuestions(scene: Scene, fact: CommandFact, all: readonly CommandFact[]): PartQuestions[] {
  const { policy, session, stance, shell } = scene
  return [
    commandQuestions(policy, session, stance, fact, shell.canonical, wrappersOf(fact, all)),
    ...fact.redirects.flatMap((redirect) => redirectQuestions(scene, redirect)),
    ...fact.paths.flatMap((use) => [...pathUseQuestions(scene, use, fact), ...scriptQuestions(scene, use, fact)]),
    ...fact.hosts.flatMap((use) => hostUseQuestions(scene, use, fact)),
  ]
}

/** The wrapper commands around a command, nearest first; a shell or a substitution in between ends them. */
function wrappersOf(fact: CommandFact, all: readonly CommandFact[]): CommandFact[] {
  if (fact.parent === null || fact.via.at(-1)?.kind !== 'wrapper') return []
  const wrapper = all[fact.parent]!
  return [wrapper, ...wrappersOf(wrapper, all)]
}

/** T3: a script that a project's skill brings along runs only when its bytes were approved, whichever way it is started. */
function scriptQuestions({ shell }: Scene, use: PathUse, fact: CommandFact): PartQuestions[] {
  if (use.path === null || !shell.scriptProblem) return []
  const starts = use.access === 'execute' || isInterpreterName(fact.argv[0]?.values?.[0] ?? '') || isSourced(fact)
  const problem = starts ? shell.scriptProblem(shell.canonical(use.path)) : null
  if (problem === null) return []
  return [
    always(
      { kind: 'command', text: wordsOf(fact), span: use.span },
      {
        decision: 'ask',
        firm: true,
        reason: {
          code: 'unapproved-script',
          message: `\`${wordsOf(fact)}\` runs ${use.path}: ${problem}.`,
          remedy: 'Read it, then approve it: cordon skills approve NAME.',
        },
        rules: [{ rule: 'skill scripts', source: 'built-in' }],
      },
    ),
  ]
}

function isSourced(fact: CommandFact): boolean {
  const name = fact.argv[0]?.values?.[0]
  return name === 'source' || name === '.'
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
  background: 'background execution (&)',
  case_terminator: 'case terminators (;;)',
  compound: 'compound commands (&&, ||, ;)',
  parameter_expansion: 'parameter expansion ($x)',
  pipes: 'pipes (|)',
  command_substitution: 'command substitution ($(…), backticks, <(…), >(…))',
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
  const denial = mentionedDenial(scene.policy, subject.text)
  if (denial === null) return unknowable(scene, subject, hazard.message)
  return always(subject, {
    decision: 'ask',
    firm: true,
    reason: {
      code: 'maybe-denied',
      message: `\`${subject.text}\`: ${hazard.message}, and it names "${denial.pattern.text}", which is denied.`,
      remedy: 'Write it without text that bash evaluates a second time.',
    },
    rules: [ref(denial)],
  })
}

function redirectQuestions(scene: Scene, redirect: RedirectFact): PartQuestions[] {
  const { policy, shell } = scene
  const flag = policy.flags.redirects
  const subject: PartSubject = {
    kind: 'redirect',
    text: shell.command.slice(redirect.span.start, redirect.span.end),
    span: redirect.span,
  }
  if (flag.value === 'none' || (flag.value === 'streams' && redirect.kind === 'file')) {
    const what = redirect.kind === 'file' ? 'redirects to and from files' : 'redirects'
    return [
      always(subject, {
        ...deny(
          'shell-syntax-off',
          `[security] redirects is "${flag.value}": ${what} may not be used.`,
          'Use the write tool for files, or let the output come back as the result.',
        ),
        rules: [ref(flag)],
      }),
    ]
  }
  if (redirect.kind === 'stream' || redirect.target === null) return []
  const accesses =
    redirect.access === 'read-write' ? (['read', 'write'] as const) : ([redirect.access ?? 'write'] as const)
  const values = redirect.target.values
  const relative = values?.some((value) => !value.startsWith('/')) ?? false
  if (values === null || (relative && redirect.cwd === null)) {
    return [unknowable(scene, subject, 'the file it opens is only known when it runs')]
  }
  return values.flatMap((value) =>
    accesses.map((access) => {
      const path = posix.resolve(redirect.cwd ?? '/', value)
      return pathPart(scene, access, path, shown(scene, path), subject)
    }),
  )
}

/** Programs that read names and metadata, and contents only by an option that is a hazard of its own. */
const LOOKING: ReadonlySet<string> = new Set(['find', 'du', 'tree'])

/** Programs that never read contents. */
const STATTING: ReadonlySet<string> = new Set(['ls', 'stat', 'test', '[', 'readlink', 'realpath'])

function pathUseQuestions(scene: Scene, use: PathUse, fact: CommandFact): PartQuestions[] {
  const text =
    use.path === null
      ? scene.shell.command.slice(use.span.start, use.span.end) || wordsOf(fact)
      : shown(scene, use.path)
  const access = use.access === 'write' ? 'write' : 'read'
  const subject: PartSubject = { kind: access, text, span: use.span }
  if (use.path === null) return [unknowable(scene, subject, 'the path is only known when it runs')]
  const { policy, session } = scene
  const facts = { root: policy.root, home: policy.home, ...session.own }
  const aimed = !use.glob
    ? null
    : access === 'write'
      ? protectedOfGlob(use.path, facts)
      : secretOfGlob(use.path, policy.home)
  const name = fact.argv[0]?.values?.[0] ?? ''
  const looks = use.access === 'read' && (STATTING.has(name) ? 'metadata' : LOOKING.has(name) && 'names')
  return [
    pathPart(scene, access, aimed ?? literalPart(use), text, subject, { climbs: use.written !== 'absolute', looks }),
  ]
}

function pathPart(
  { policy, session, stance, shell }: Scene,
  access: 'read' | 'write',
  absolute: string,
  given: string,
  subject: PartSubject,
  how: Pick<PathActor, 'climbs' | 'looks'> = {},
): PartQuestions {
  if (isProcessDoor(absolute)) {
    const asks = policy.outsideRoots.value === 'ask'
    const message = `${given} leads through another process to files that the project does not hold`
    const ruling = {
      ...deny('outside-roots', `${message}.`, 'Name the file by its own path.'),
      rules: [ref(policy.outsideRoots)],
    }
    return always({ ...subject, kind: access }, asks ? { ...ruling, decision: 'ask' } : ruling)
  }
  const path = shell.canonical(absolute)
  return pathQuestions(
    policy,
    session,
    stance,
    access,
    { given, path },
    { by: 'command', ...how, subject: { text: subject.text, ...(subject.span && { span: subject.span }) } },
  )
}

// What is named in words: relative where it lies in the project, as bash will see it, not as it was written.
function shown({ policy }: Scene, path: string): string {
  return path.startsWith(`${policy.root}/`) ? path.slice(policy.root.length + 1) : path
}

// A glob stands for names below its literal directory: that directory is what can be judged.
function literalPart(use: PathUse): string {
  const path = use.path!
  if (!use.glob) return path
  const segments = path.split('/')
  const end = segments.findIndex((segment) => isGlob(segment) || /[[\\]/.test(segment))
  if (end < 0) return path
  const literal = segments.slice(0, end).join('/') || '/'
  // `.*` matches `..` in older shells: what lies behind it is above the directory.
  const climbs = segments.slice(end).some((segment, index, rest) => {
    const leads = use.access === 'write' || index < rest.length - 1
    return leads && segment.startsWith('.') && matchSegment(segment.replace(/\[[^\]]*\]/g, '?'), '..')
  })
  return climbs ? posix.dirname(literal) : literal
}

/** P10: a host that a command names is asked about in contained mode; in every mode the proxy holds the wire. */
function hostUseQuestions(scene: Scene, use: HostUse, fact: CommandFact): PartQuestions[] {
  const { policy, session, stance } = scene
  if (stance.mode.value !== 'contained') return []
  // Other schemes (ssh, file) are not the web's: their programs are judged by what they do, and the proxy holds the wire.
  const web = /^[a-z][a-z0-9+.-]*:\/\//i.test(use.url) ? use.url : `https://${use.url}`
  const parsed = parseUrl(web)
  if ('problem' in parsed) return /^https?:/i.test(web) ? [unreadableHost(use, fact, parsed.problem)] : []
  if (isOwnLoopback(parsed.url.host)) return []
  const { host, port } = parsed.url
  const tool = fact.argv[0]?.values?.[0] ?? ''
  const rules = [
    ...(grantsOf(policy, session, fact) ?? []).flatMap((grant) => grant.domains),
    ...policy.commands.defaultDomains,
    ...(policy.commands.toolDomains.get(tool) ?? []),
    ...session.grants.hosts,
  ]
  const rule = rules.find((candidate) => matchesHost(candidate.pattern, host, port))
  const subject: PartSubject = { kind: 'host', text: host, span: use.span }
  if (rule) {
    return [
      always(subject, {
        decision: 'allow',
        reason: { code: 'granted', message: `"${rule.pattern.text}" grants ${host}.` },
        rules: [ref(rule)],
      }),
    ]
  }
  return [
    always(subject, {
      decision: 'ask',
      reason: {
        code: 'host-not-granted',
        message: `\`${wordsOf(fact)}\` reaches for ${host}, which no grant names.`,
        remedy: `Grant it with domains = ["${host}"] at a command pattern, or under default_domains.`,
      },
      rules: [ref(stance.mode)],
    }),
  ]
}

function unreadableHost(use: HostUse, fact: CommandFact, problem: string): PartQuestions {
  return always(
    { kind: 'host', text: use.url, span: use.span },
    {
      decision: 'ask',
      reason: {
        code: 'host-not-granted',
        message: `\`${wordsOf(fact)}\` reaches for a host that cannot be told: ${problem}.`,
        remedy: 'Write the address plainly.',
      },
      rules: [{ rule: 'hazard unknowable', source: 'built-in' }],
    },
  )
}

// Inside the sandbox, loopback is the sandbox's own.
function isOwnLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || classifyAddress(host) === 'loopback'
}

/** What only shows at run time: the kernel holds it, so contained mode and an allow level run it; otherwise a person is asked. */
function unknowable({ stance }: Scene, subject: PartSubject, message: string): PartQuestions {
  const ask: Ruling = {
    decision: 'ask',
    reason: {
      code: 'not-understood',
      message: `\`${subject.text}\`: ${message}.`,
      remedy: 'Write it out with plain words.',
    },
    rules: [{ rule: 'hazard unknowable', source: 'built-in' }],
  }
  const held: Ruling = {
    decision: 'allow',
    reason: { code: 'contained', message: `\`${subject.text}\` is held by the sandbox.` },
    rules: [ref(stance.mode)],
  }
  return {
    subject,
    denial: () => null,
    grant: () => null,
    explicit: () => {
      if (stance.explicit) return stance.explicit.decision === 'allow' ? held : null
      return stance.mode.value === 'contained' ? held : null
    },
    otherwise: () => ask,
  }
}

function always(subject: PartSubject, ruling: Ruling): PartQuestions {
  return { subject, denial: () => ruling, grant: () => null, explicit: () => null, otherwise: () => ruling }
}

function deny(code: Ruling['reason']['code'], message: string, remedy?: string): Ruling {
  return { decision: 'deny', reason: { code, message, ...(remedy && { remedy }) }, rules: [] }
}

function sentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}

function excerpt(command: string, position: number): string {
  return command.slice(Math.max(0, position - 20), position + 20)
}

function ref({ rule, source }: RuleRef): RuleRef {
  return { rule, source }
}
