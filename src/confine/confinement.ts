/**
 * A confinement: everything that applies to one run, as a value. `confine` makes it from the policy, from what was decided, and
 * from a closed list of what a caller may add or take away. PURE.
 */

import type { EgressRules } from '../egress/route/rules.ts'
import { isInside } from '../files/baseline.ts'
import { exactPath, wholeTree } from '../files/path-pattern.ts'
import { protectedPath } from '../files/protected-paths.ts'
import type {
  CommandFs,
  LimitSettings,
  McpServerSetting,
  ParentSetting,
  SecretSetting,
} from '../manifest/schema/settings.ts'
import type { SessionFacts } from '../policy/call.ts'
import type { Decision } from '../policy/decision.ts'
import type { HostRule, PathRule, Policy, RuleRef } from '../policy/policy.ts'
import type { HeldHosts } from '../policy/programs/callers.ts'
import type { StartedFor } from '../policy/programs/names.ts'
import type { TableScene } from '../policy/programs/table.ts'
import { takeStance } from '../policy/stance.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { type AppliedBundle, type BundleFurnishing, furnish, type RegistryFacts } from '../sandbox/bundles/bundle.ts'
import { DEFAULT_MEMORY_SHARE, DEFAULT_OPEN_FILES, type Limits } from '../sandbox/limits.ts'
import type { CommandFact } from '../shell/facts.ts'
import { type Entitlement, entitleServer, entitleWords } from './entitlement.ts'
import { egressRules, grantedHosts, packageRules } from './hosts.ts'
import { appliedBundles, brokeredSecrets, type RunGrants, type Variables } from './run-grants.ts'
import { programWords } from './typed-words.ts'

/** What a sandbox shows, and what may be changed in it. The rules are resolved on the disk when the command starts. */
export interface Places {
  readonly baseline: CommandFs
  /** The project, and the directories that were added to it. */
  readonly roots: readonly string[]
  readonly read: readonly PathRule[]
  readonly write: readonly PathRule[]
  /** What is shown of the roots may be written as well. */
  readonly writesRoots: boolean
  /** What else limits writes; null: nothing. */
  readonly envelope: readonly PathRule[] | null
  /** What stays as it is, whatever else is granted; `all`: nothing is written outside of private folders. */
  readonly readOnly: 'all' | readonly string[]
  /** Paths inside the roots that this run may touch beyond the rules, each by itself. */
  readonly opened: { readonly reads: readonly string[]; readonly writes: readonly string[] }
  /** What the grants of the command carry along: shown, and writable. */
  readonly carried: readonly PathRule[]
  /** What the command's tools need of the home directory. */
  readonly tools: Pick<BundleFurnishing, 'reads' | 'writes'>
  /** Words of the command that may name programs which the person installed below the home directory: those are shown. */
  readonly programs: readonly string[]
  /** Deny rules: what is not shown, and what is not written. */
  readonly hidden: readonly PathRule[]
  readonly fixed: readonly PathRule[]
  /** Which secrets are hidden: those with a secret's shape, those that git has in HEAD as well, and further names. */
  readonly masks: { readonly secrets: boolean; readonly tracked: boolean; readonly names: readonly string[] }
}

/** The variables of a run; their values come from the environment of Cordon itself. */
export interface Environment {
  /** Null: the platform's list. */
  readonly allowlist: readonly string[] | null
  readonly declared: readonly string[]
  readonly denied: readonly string[]
  /** For what that environment leaves open. */
  readonly defaults: Readonly<Record<string, string>>
  readonly fixed: Readonly<Record<string, string>>
}

/** How the network is reached, and what is put in on the way. */
export interface Network {
  /** Without a host there is not a network. */
  readonly rules: EgressRules
  /** Hosts that are for some programs of it alone; null where all are for all. */
  readonly held: HeldHosts | null
  /** Hosts that some command of the policy may reach: a remote of git may name them. */
  readonly remotes: readonly string[]
  /** Ports on which the command may serve this machine. */
  readonly ports: readonly number[]
  /** Secrets that stay outside. */
  readonly secrets: readonly SecretSetting[]
  readonly caFiles: readonly string[]
  readonly parent: ParentSetting
}

/** What program starts of a run are judged by. */
export interface ProgramRules extends TableScene {
  /** Null where there is not an agent whose answers count. */
  readonly session: SessionFacts | null
  /** The commands of the text that was decided. */
  readonly commands: readonly CommandFact[]
  /** It was allowed because of them: without them it may not run. */
  readonly required: boolean
}

/** Everything that applies to one run. */
export interface Confinement {
  readonly root: string
  /** The project whose name the root has as well, for a session with its own directory (F7). */
  readonly standsFor: string | null
  readonly manifestPath: string
  /** Canonical. */
  readonly cwd: string
  /** The patterns that grant it, as they are written; for the record. */
  readonly grants: readonly string[]
  readonly places: Places
  readonly network: Network
  readonly environment: Environment
  readonly limits: Limits
  readonly programs: ProgramRules
  /** What undo has to keep: why no one was asked, and whose run it is. */
  readonly undo: { readonly relies: Decision['relies'] | null; readonly session: string | null }
  /** The bundles that apply, and the registries that were signed for them; null where nothing was signed. */
  readonly bundles: { readonly applied: readonly AppliedBundle[]; readonly signed: RegistryFacts | null }
}

/** What was decided about one run. */
export interface Decided {
  /** The words that a person typed or a manifest holds, or what the grants of a text give it. */
  readonly command: { readonly words: readonly string[] } | Entitlement
  readonly cwd: string
  readonly relies?: Decision['relies']
  /** Whose run it is. */
  readonly session?: string
  /** Who started it; an agent unless told. */
  readonly by?: StartedFor
  readonly judged?: Decision['judged']
  /** Of a text: the session it is decided in, its commands, and what `changingPrograms` lists. */
  readonly text?: {
    readonly session: SessionFacts
    readonly commands: readonly CommandFact[]
    readonly changing: () => readonly string[]
  }
}

/** What one call may reach beyond the manifest: what a person agreed to, and what the manifest opens to who names it. */
export interface CallReach {
  /** Canonical directories or files, to read and write. */
  readonly roots: readonly string[]
  /** The same, to read only. */
  readonly readOnly: readonly string[]
  /** Files that were named by themselves: they are shown although they look like secrets. */
  readonly named: readonly string[]
  readonly hosts: readonly HostRule[]
  /** Paths inside the roots that no grant may show, each by itself; those to write need not exist yet. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

export const NO_REACH: CallReach = { roots: [], readOnly: [], named: [], hosts: [], reads: [], writes: [] }

/** What a custom tool's labels and settings leave of the sandbox (T2). */
export interface ToolLabels {
  /** The folder of its staged script. */
  readonly script: string
  readonly filesystem: boolean
  readonly execute: boolean
  readonly outputBytes: number
}

/** What a caller may add or take away. The list is closed: nothing else changes what applies to a run. */
export type Narrowing =
  /** Answers that were saved, for the session or for longer. */
  | { readonly kind: 'answers'; readonly facts: Pick<SessionFacts, 'grants' | 'roots' | 'own'> }
  /** What a yes to this very call opens. */
  | { readonly kind: 'reach'; readonly reach: CallReach }
  /** What the person typed with the run. */
  | { readonly kind: 'grants'; readonly grants: RunGrants }
  /** Keys of the person that the command's tools send to their own hosts, by the environment that holds them (N7). */
  | { readonly kind: 'keys'; readonly env: Variables }
  /** The section of an MCP server, in place of what commands have. */
  | { readonly kind: 'server'; readonly server: McpServerSetting }
  | { readonly kind: 'labels'; readonly labels: ToolLabels }
  /** Nothing is written there; `all`: nowhere outside of private folders. */
  | { readonly kind: 'read-only'; readonly places: 'all' | 'roots' | readonly string[] }
  /** A server or an agent, which ends with its client: no limit of time applies. */
  | { readonly kind: 'long-lived' }
  /** A limit of time in place of the built-in one; one that the manifest sets still applies. */
  | { readonly kind: 'time'; readonly ms: number }
  /** The memory that the agent's ring allows (P8). */
  | { readonly kind: 'memory'; readonly bytes: number | null }

type Of<Kind extends Narrowing['kind']> = Narrowing & { readonly kind: Kind }

function all<Kind extends Narrowing['kind']>(narrowing: readonly Narrowing[], kind: Kind): readonly Of<Kind>[] {
  return narrowing.filter((one): one is Of<Kind> => one.kind === kind)
}

/** Makes the confinement of one run. */
export function confine(loaded: LoadedPolicy, decided: Decided, narrowing: readonly Narrowing[]): Confinement {
  const { policy, sandbox } = loaded
  const granted = all(narrowing, 'grants').map(({ grants }) => grants)
  const env = all(narrowing, 'keys')[0]?.env ?? null
  const server = all(narrowing, 'server')[0]?.server ?? null
  const { command, cwd, relies = null, session = null } = decided
  const words = 'words' in command ? entitleWords(loaded, command.words, granted, env) : command
  const entitled = server === null ? words : entitleServer(loaded, words, server)
  const bundles = appliedBundles(loaded, entitled.patterns, granted)
  const registries: RegistryFacts = Object.assign({}, loaded.registries, ...granted.map((one) => one.registries))
  const furnished = furnish(bundles, { home: policy.home, registries })
  const labels = all(narrowing, 'labels')[0]?.labels ?? null
  const keys = 'words' in command && env !== null ? { command: command.words, granted, env } : null
  const secrets = brokeredSecrets(loaded, keys, server)
  const packages = packageRules(loaded, entitled, bundles, registries)
  const rules = { ...egressRules(loaded, entitled, secrets), ...(packages && { packages }) }
  return {
    root: labels !== null && !labels.filesystem ? labels.script : loaded.root,
    standsFor: loaded.standsFor ?? null,
    manifestPath: loaded.manifestPath,
    cwd,
    grants: entitled.grants,
    places: {
      ...placesOf(loaded, entitled.paths, { reads: furnished.reads, writes: furnished.writes }, narrowing),
      programs: sandbox.commandFs.value === 'none' || labels !== null ? [] : programWords(entitled.whole ?? ''),
    },
    network: {
      rules,
      held: rules.allowed === null ? null : (entitled.held ?? null),
      remotes: grantedHosts(policy, rules),
      ports: [
        ...new Set([...sandbox.devServerPorts.map(({ value }) => value), ...granted.flatMap(({ ports }) => ports)]),
      ],
      secrets,
      caFiles: sandbox.caFiles,
      parent: sandbox.parent,
    },
    environment: {
      allowlist: sandbox.envAllowlist?.map(({ value }) => value) ?? null,
      declared: [
        ...entitled.envVars,
        ...granted.flatMap((one) => one.env),
        ...furnished.env,
        ...Object.keys(furnished.defaults),
      ],
      denied: sandbox.envDenied.map(({ value }) => value),
      defaults: furnished.defaults,
      fixed: furnished.variables,
    },
    limits: limitsOf(sandbox.limits, narrowing, labels),
    programs: programsOf(policy, rules, decided),
    undo: { relies, session },
    bundles: { applied: bundles, signed: loaded.ownManifest ? registries : null },
  }
}

/** Without a host nothing elsewhere can be changed, so nothing has to be asked. */
function programsOf(policy: Policy, { allowed }: EgressRules, { by = 'agent', judged, text }: Decided): ProgramRules {
  const stance = text && takeStance(policy, text.session, 'bash')
  const contained = stance?.mode.value === 'contained' && !stance.explicit && !stance.answersAsks
  const asks = by === 'agent' && contained === true && (allowed === null || allowed.length > 0)
  const changing = asks ? text!.changing() : []
  const { session = null, commands = [] } = text ?? {}
  // Where a text needs no grant, neither does what it starts.
  const needsGrants =
    stance && !contained && stance.explicit?.decision !== 'allow' && !stance.answersAsks && !stance.observes
  const every = by === 'agent' && needsGrants === true && policy.everyProgram.value
  return { policy, by, changing, session, commands, every, required: judged === true || every }
}

/** The manifest's limits, less what the run's own take away. */
function limitsOf(written: LimitSettings, narrowing: readonly Narrowing[], labels: ToolLabels | null): Limits {
  const { commandTimeout, maxOutputBytes, memory, processes, cpu } = written
  const asked = all(narrowing, 'time').map(({ ms }) => ms)
  const own = commandTimeout.source === 'built-in' && asked.length > 0 ? [] : [commandTimeout.value * 1000]
  const isLasting = all(narrowing, 'long-lived').length > 0
  const timeoutMs = isLasting ? Number.POSITIVE_INFINITY : Math.min(...own, ...asked)
  const bytes = [memory.value, ...all(narrowing, 'memory').map((one) => one.bytes)].filter((one) => one !== null)
  return {
    ...(Number.isFinite(timeoutMs) && { timeoutMs }),
    outputBytes: Math.min(maxOutputBytes.value, labels?.outputBytes ?? Number.POSITIVE_INFINITY),
    processes: labels !== null && !labels.execute ? 1 : processes.value,
    openFiles: DEFAULT_OPEN_FILES,
    ...(bytes.length === 0 ? { memoryShare: DEFAULT_MEMORY_SHARE } : { memoryBytes: Math.min(...bytes) }),
    ...(cpu.value !== null && { cpuSeconds: cpu.value }),
  }
}

const ANSWERED: RuleRef = { rule: 'answered', source: 'session' }
const TYPED: RuleRef = { rule: 'typed with the run', source: 'command line' }

const whole = (path: string, rule: RuleRef): PathRule => ({ pattern: wholeTree(path), prompt: false, ...rule })

/** What commands of a project are shown, whatever they are. */
export function projectPlaces(loaded: Pick<LoadedPolicy, 'policy' | 'sandbox'>): Places {
  return placesOf(loaded, [], { reads: [], writes: [] }, [])
}

function placesOf(
  loaded: Pick<LoadedPolicy, 'policy' | 'sandbox'>,
  carried: readonly PathRule[],
  tools: Places['tools'],
  narrowing: readonly Narrowing[],
): Places {
  const { policy, sandbox } = loaded
  const { reads, writes } = policy
  const answers = all(narrowing, 'answers').map(({ facts }) => facts)
  const reaches = all(narrowing, 'reach').map(({ reach }) => reach)
  const granted = all(narrowing, 'grants').map(({ grants }) => grants)
  const written = [policy.root, ...policy.additionalDirectories.map(({ value }) => value)]
  const added = [...answers.flatMap(({ roots }) => roots), ...reaches.flatMap(({ roots }) => roots)]
  const typed = granted.flatMap((one) => one.writes)
  const roots = [...new Set([...written, ...added, ...typed])]
  // Where grants are declared they alone are shown: a place that was opened beyond them has to be one of them.
  const opened = [
    ...added.filter((path) => !isInside(path, policy.root)).map((path) => whole(path, ANSWERED)),
    ...typed.map((path) => whole(path, TYPED)),
  ]
  const places: Places = {
    baseline: sandbox.commandFs.value,
    roots,
    read: [
      ...(reads.declared ? reads.allow : []),
      ...(reads.declared && policy.promptReads.value ? opened : roots.map((path) => whole(path, ANSWERED))),
      ...answers.flatMap(({ grants }) => grants.reads),
      ...reaches.flatMap(({ readOnly }) => readOnly.map((path) => whole(path, ANSWERED))),
      ...reaches.flatMap(({ named }) => named.map((path) => ({ ...whole(path, ANSWERED), pattern: exactPath(path) }))),
      ...granted.flatMap((one) => one.reads.map((path) => whole(path, TYPED))),
    ],
    write: [
      ...(writes.declared ? [...writes.allow, ...opened] : []),
      // A saved answer never opens a protected path: only the manifest does, by its name.
      ...answers.flatMap(({ grants, own }) =>
        grants.writes.filter(
          ({ pattern }) => protectedPath(pattern.absolute, { root: policy.root, home: policy.home, ...own }) === null,
        ),
      ),
    ],
    writesRoots: !writes.declared,
    envelope: policy.envelope,
    readOnly: readOnlyOf(roots, narrowing, reaches),
    opened: {
      reads: reaches.flatMap((reach) => reach.reads),
      writes: reaches.flatMap((reach) => reach.writes),
    },
    carried,
    tools,
    programs: [],
    hidden: reads.deny,
    fixed: writes.deny,
    masks: {
      secrets: sandbox.maskSecrets.value,
      tracked: sandbox.maskTracked.value,
      names: sandbox.maskedNames.map(({ value }) => value),
    },
  }
  const server = all(narrowing, 'server')[0]?.server.files ?? null
  const labels = all(narrowing, 'labels')[0]?.labels ?? null
  if (server !== null)
    return { ...places, read: [...server.read, ...server.write], write: server.write, writesRoots: false }
  return labels === null ? places : placesOfTool(places, labels)
}

function readOnlyOf(
  roots: readonly string[],
  narrowing: readonly Narrowing[],
  reaches: readonly CallReach[],
): Places['readOnly'] {
  const asked = all(narrowing, 'read-only').map(({ places }) => places)
  if (asked.includes('all')) return 'all'
  const named = asked.flatMap((places) => (places === 'roots' ? roots : places))
  return [...named, ...reaches.flatMap(({ readOnly }) => readOnly)]
}

/**
 * Without `filesystem` the project and every granted directory are not there; the home directory is not one of a tool's business.
 * Without `execute` (`limitsOf`) it is one process that can start no other: a fork or a thread fails. It can still replace
 * itself, which gains it nothing: the sandbox around it stays the same.
 */
function placesOfTool(places: Places, { script, filesystem }: ToolLabels): Places {
  const rule = whole(script, { rule: 'the script of the tool', source: 'tool manifest' })
  const baseline = places.baseline === 'none' ? 'none' : 'system'
  if (filesystem) {
    return { ...places, baseline, read: [...places.read, rule], readOnly: withPlace(places.readOnly, script) }
  }
  const nothing = {
    write: [],
    writesRoots: false,
    envelope: null,
    opened: { reads: [], writes: [] },
    hidden: [],
    fixed: [],
  }
  return { ...places, ...nothing, baseline, roots: [script], read: [rule] }
}

function withPlace(readOnly: Places['readOnly'], place: string): Places['readOnly'] {
  return readOnly === 'all' ? readOnly : [...readOnly, place]
}
