/**
 * A confinement is everything that applies to one run, as a value. `confine` builds it from the
 * policy, a decision and a closed list of adjustments. PURE.
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
  RingSettings,
  SecretSetting,
} from '../manifest/schema/settings.ts'
import type { SessionFacts } from '../policy/call.ts'
import type { Decision } from '../policy/decision.ts'
import type { HostRule, PathRule, Policy, RuleRef } from '../policy/policy.ts'
import type { HeldHosts } from '../policy/programs/callers.ts'
import type { RefusedStarts, StartedFor, TableScene, UnapprovedScripts } from '../policy/programs/table.ts'
import { takeStance } from '../policy/stance.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { type AppliedBundle, type BundleFurnishing, furnish, type RegistryFacts } from '../sandbox/bundles/bundle.ts'
import { DEFAULT_MEMORY_SHARE, DEFAULT_OPEN_FILES, type Limits } from '../sandbox/limits.ts'
import type { CommandFact } from '../shell/facts.ts'
import {
  type Entitlement,
  egressRules,
  entitleServer,
  entitleWords,
  grantedHosts,
  packageRules,
  programWords,
} from './entitlement.ts'
import { appliedBundles, brokeredSecrets, type RunGrants, type Variables } from './run-grants.ts'

/** What a sandbox shows and lets change. Rules are resolved when the command starts. */
export interface Places {
  readonly baseline: CommandFs
  /** The project and its additional directories. */
  readonly roots: readonly string[]
  readonly read: readonly PathRule[]
  readonly write: readonly PathRule[]
  /** Whether visible parts of the roots are writable. */
  readonly writesRoots: boolean
  /** A further limit on writes, if any. */
  readonly envelope: readonly PathRule[] | null
  /** Paths that stay read-only whatever is granted; `all`: everything except private folders. */
  readonly readOnly: 'all' | readonly string[]
  /** Single paths inside the roots that this run may touch beyond the rules. */
  readonly opened: { readonly reads: readonly string[]; readonly writes: readonly string[] }
  /** Paths that the command's grants bring: visible and writable. */
  readonly carried: readonly PathRule[]
  /** Parts of the home directory that the command's tools need. */
  readonly tools: Pick<BundleFurnishing, 'reads' | 'writes'>
  /** Words that may name programs installed below the home directory; those programs are shown. */
  readonly programs: readonly string[]
  /** Deny rules: hidden paths and read-only paths. */
  readonly hidden: readonly PathRule[]
  readonly fixed: readonly PathRule[]
  /** Which secrets are masked: by shape, also those tracked by git, and further names. */
  readonly masks: { readonly secrets: boolean; readonly tracked: boolean; readonly names: readonly string[] }
}

/** The variables of a run, with values from Cordon's environment. */
export interface Environment {
  /** Null: the platform's list. */
  readonly allowlist: readonly string[] | null
  readonly declared: readonly string[]
  readonly denied: readonly string[]
  /** Used for variables that are not set. */
  readonly defaults: Readonly<Record<string, string>>
  readonly fixed: Readonly<Record<string, string>>
}

/** How the network is reached, and which credentials the proxy adds. */
export interface Network {
  /** Without an allowed host there is no network. */
  readonly rules: EgressRules
  /** Hosts that are for some of its programs alone; null if all are for all. */
  readonly limited: HeldHosts | null
  /** Hosts that any command of the policy may reach; a git remote may name them. */
  readonly remotes: readonly string[]
  /** Ports that the command may serve to this machine. */
  readonly ports: readonly number[]
  /** Secrets that stay outside the sandbox. */
  readonly secrets: readonly SecretSetting[]
  readonly caFiles: readonly string[]
  readonly parent: ParentSetting
}

/** Rules for the programs that a run starts. */
export interface ProgramRules extends TableScene {
  /** Null without an agent. */
  readonly session: SessionFacts | null
  /** Commands of the decided text. */
  readonly commands: readonly CommandFact[]
  /** The run was allowed because of these rules and must not start without them. */
  readonly required: boolean
}

export interface Confinement {
  readonly root: string
  /** The project that a session's own directory replaces (F7). */
  readonly standsFor: string | null
  readonly manifestPath: string
  /** Canonical. */
  readonly cwd: string
  /** Patterns that grant the run, for the record. */
  readonly grants: readonly string[]
  readonly places: Places
  readonly network: Network
  readonly environment: Environment
  readonly limits: Limits
  readonly programs: ProgramRules
  /** What undo keeps, and for which session. */
  readonly undo: { readonly relies: Decision['relies'] | null; readonly session: string | null }
  /** Bundles that apply, and their signed registries; null if nothing was signed. */
  readonly bundles: { readonly applied: readonly AppliedBundle[]; readonly signed: RegistryFacts | null }
}

/** The decision about one run. */
export interface Decided {
  /** Words that a person typed or a manifest contains, or the entitlement of a text. */
  readonly command: { readonly words: readonly string[] } | Entitlement
  readonly cwd: string
  readonly relies?: Decision['relies']
  /** The session of the run. */
  readonly session?: string
  /** Who started it; an agent by default. */
  readonly by?: StartedFor
  readonly judged?: Decision['judged']
  /** For a text: its session, its commands, and the programs that `changingPrograms` lists. */
  readonly text?: {
    readonly session: SessionFacts
    readonly commands: readonly CommandFact[]
    readonly changing: () => readonly string[]
    readonly scripts: UnapprovedScripts | null
  }
}

/** What one call may reach beyond the manifest. */
export interface CallReach {
  /** Canonical paths to read and write. */
  readonly roots: readonly string[]
  /** Canonical paths to read. */
  readonly readOnly: readonly string[]
  /** Files named one by one, shown although they look like secrets. */
  readonly named: readonly string[]
  readonly hosts: readonly HostRule[]
  /** Single paths inside the roots that no grant shows; paths to write need not exist. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

export const NO_REACH: CallReach = { roots: [], readOnly: [], named: [], hosts: [], reads: [], writes: [] }

/** What a custom tool's labels leave of the sandbox (T2). */
export interface ToolLabels {
  /** The folder of its staged script. */
  readonly script: string
  readonly filesystem: boolean
  readonly execute: boolean
  readonly outputBytes: number
}

/** The adjustments that a caller may make. The list is closed: nothing else changes a run. */
export type Narrowing =
  /** Saved answers. */
  | { readonly kind: 'answers'; readonly facts: Pick<SessionFacts, 'grants' | 'roots' | 'own'> }
  /** What an approval of this call opens. */
  | { readonly kind: 'reach'; readonly reach: CallReach }
  /** What the person granted with the run. */
  | { readonly kind: 'grants'; readonly grants: RunGrants }
  /** The person's keys that the command's tools send to their own hosts (N7). */
  | { readonly kind: 'keys'; readonly env: Variables }
  /** An MCP server's section, instead of the rules for commands. */
  | { readonly kind: 'server'; readonly server: McpServerSetting }
  | { readonly kind: 'labels'; readonly labels: ToolLabels }
  /** No writes in these places; `all`: none outside private folders. */
  | { readonly kind: 'read-only'; readonly places: 'all' | 'roots' | readonly string[] }
  /** A server or agent that ends with its client: no time limit. */
  | { readonly kind: 'long-lived' }
  /** Replaces the built-in time limit; a limit in the manifest still applies. */
  | { readonly kind: 'time'; readonly ms: number; readonly by: string }
  | { readonly kind: 'starts'; readonly refused: RefusedStarts }
  /** The limits of the agent's ring (P8). */
  | { readonly kind: 'ring'; readonly limits: Pick<RingSettings, 'seconds' | 'memory'> }

type Of<Kind extends Narrowing['kind']> = Narrowing & { readonly kind: Kind }

function all<Kind extends Narrowing['kind']>(narrowing: readonly Narrowing[], kind: Kind): readonly Of<Kind>[] {
  return narrowing.filter((one): one is Of<Kind> => one.kind === kind)
}

/** Builds the confinement of one run. */
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
      programs:
        sandbox.commandFs.value === 'none' || labels !== null
          ? []
          : programWords(entitled.whole ?? '', { root: loaded.root, cwd }),
    },
    network: {
      rules,
      limited: rules.allowed === null ? null : (entitled.limited ?? null),
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
    programs: { ...programsOf(policy, rules, decided), refused: all(narrowing, 'starts')[0]?.refused ?? null },
    undo: { relies, session },
    bundles: { applied: bundles, signed: loaded.ownManifest ? registries : null },
  }
}

/** Without an allowed host nothing remote can change, so nothing has to be asked. */
function programsOf(policy: Policy, { allowed }: EgressRules, { by = 'agent', judged, text }: Decided): ProgramRules {
  const stance = text && takeStance(policy, text.session, 'bash')
  const contained = stance?.mode.value === 'contained' && !stance.explicit && !stance.answersAsks
  const asks = by === 'agent' && contained === true && (allowed === null || allowed.length > 0)
  const changing = asks ? text!.changing() : []
  const { session = null, commands = [] } = text ?? {}
  // Programs that a text starts need a grant only if the text itself does.
  const needsGrants =
    stance && !contained && stance.explicit?.decision !== 'allow' && !stance.answersAsks && !stance.observes
  const every = by === 'agent' && needsGrants === true && policy.everyProgram.value
  const scripts = text?.scripts ?? null
  return { policy, by, changing, session, commands, every, scripts, required: judged === true || every }
}

/** The manifest's limits, reduced by those of the run. */
function limitsOf(written: LimitSettings, narrowing: readonly Narrowing[], labels: ToolLabels | null): Limits {
  const { commandTimeout, maxOutputBytes, memory, processes, cpu } = written
  const asked = all(narrowing, 'time')
  const rings = all(narrowing, 'ring').map(({ limits }) => limits)
  const manifest = { ms: commandTimeout.value * 1000, by: 'command_timeout under [limits]' }
  const ofRings = rings.map(({ seconds }) => ({
    ms: (seconds ?? Number.POSITIVE_INFINITY) * 1000,
    by: 'seconds of the ring',
  }))
  const own = commandTimeout.source === 'built-in' && asked.length > 0 ? [] : [manifest]
  const isLasting = all(narrowing, 'long-lived').length > 0
  const timeoutMs = isLasting
    ? Number.POSITIVE_INFINITY
    : Math.min(...[...own, ...ofRings, ...asked].map(({ ms }) => ms))
  // A tool asks for the least that it knows.
  const timeoutBy = [manifest, ...ofRings, ...asked].find(({ ms }) => ms === timeoutMs)?.by
  const bytes = [memory.value, ...rings.map((one) => one.memory)].filter((one) => one !== null)
  return {
    ...(Number.isFinite(timeoutMs) && { timeoutMs, timeoutBy }),
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

/** Places that any command of a project sees. */
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
  // If the manifest declares grants, an opened place must be one of them.
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
      // A saved answer never opens a protected path; only the manifest does, by name.
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
 * Without `filesystem` a tool sees neither the project nor granted directories. Without `execute`
 * it is a single process: a fork or thread fails. It can still exec, but stays in the same sandbox.
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
