/** Runs commands of one session in the sandbox: place, mask, pin, plan, launch, settle. */

import type { Door } from '../../egress/door.ts'
import type { EgressEvent } from '../../egress/event.ts'
import { createEgressLog } from '../../egress/event-log.ts'
import type { EgressRules } from '../../egress/rules.ts'
import { isInside } from '../../files/baseline.ts'
import type { Decision } from '../../policy/decision.ts'
import type { PathRule } from '../../policy/policy.ts'
import {
  type Arrangement,
  type Backend,
  type LaunchIo,
  type LaunchResult,
  type PlanUnderway,
  requireCapable,
} from '../../sandbox/backend.ts'
import { type AppliedBundle, type BundleFurnishing, furnish, selectBundles } from '../../sandbox/bundles/bundle.ts'
import { builtInBundles } from '../../sandbox/bundles/bundles.generated.ts'
import { commandEnvironment } from '../../sandbox/environment.ts'
import { DEFAULT_MEMORY_SHARE, DEFAULT_OPEN_FILES, type Limits } from '../../sandbox/limits.ts'
import { planSandbox, type SandboxPlan, type TerminalSize } from '../../sandbox/plan.ts'
import type { ProtectFacts } from '../../sandbox/protect/protect.ts'
import { worktreeDirectories } from '../../sandbox/protect/protect.ts'
import type { QuarantineFinding } from '../../sandbox/protect/quarantine.ts'
import type { TreeBaseline } from '../../sandbox/protect/quarantine-baseline.ts'
import { type GuardedRun, ProjectGuard } from '../../sandbox/protect/quarantine-run.ts'
import { planRoom, type StandIn, SYSTEM_PATHS } from '../../sandbox/room.ts'
import type { Movable } from '../../sandbox/secrets/masks-moving.ts'
import { type MaskChange, MaskWatch } from '../../sandbox/secrets/masks-watch.ts'
import { readHostFacts } from '../../sandbox/session.ts'
import { Fault, unwritable } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { makeDirectories } from '../../system/state.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { ownPackage } from '../policy/project/own-package.ts'
import { ownCheckout } from '../policy/project/own-places.ts'
import { writablePathFolders } from '../policy/project/path-folders.ts'
import { type CommandChanges, HeldChanges, ownOfRun, pruneKept } from './held-changes.ts'
import { HiddenPaths } from './hidden-paths.ts'
import { DevServerPorts } from './network/dev-server-ports.ts'
import { grantedHosts } from './network/egress-rules.ts'
import { NAME_SETTINGS, NO_WAY_OUT, nameFile } from './network/name-service.ts'
import type { DoorSettings, NetworkOptions, SessionNetwork } from './network/network.ts'
import type { ServedPort } from './network/served-port.ts'
import { namedForWriting, type Placement, placeCarried, placeCommand } from './placement.ts'
import { TEMPORARY } from './temporary.ts'

export interface RunRequest {
  readonly argv: readonly string[]
  /** Canonical. */
  readonly cwd: string
  /** The words of the patterns that grant the command: they decide which bundles come along. */
  readonly patterns: readonly (readonly string[])[]
  /** The patterns that grant the command, as they are written; for the record. */
  readonly grants: readonly string[]
  /** What the grants carry along: shown, and writable. */
  readonly paths: readonly PathRule[]
  /** Names of variables that the grants declare. */
  readonly envVars: readonly string[]
  /** Hosts that the command may reach; without any it has no network. */
  readonly rules: EgressRules
  /** A time limit in place of the built-in one; one that the manifest sets still holds. */
  readonly timeoutMs?: number
  readonly terminal?: TerminalSize
  /** Told of every port on which it listens, and with `asksHosts` asked about every host: somebody is there to answer. */
  readonly tellsPorts?: boolean
  readonly asksHosts?: boolean
  /** What it looks for in vain is told with the result (`cordon learn`). */
  readonly learns?: boolean
  /** Why nobody was asked: nothing is changed that cannot be kept, and with `undo` it does not run where nothing is kept. */
  readonly relies?: Decision['relies']
  /** Whose command it is, for undo. */
  readonly session?: string
}

export interface RunIo extends LaunchIo {
  /** Told at once what a person may want to know while the command runs: where its server is to be found. */
  readonly onNotice?: (line: string) => void
}

/** A command that ran, with everything that was stopped or put right on the way. */
export interface RunOutcome {
  /** The patterns that granted it. */
  readonly grants: readonly string[]
  readonly result: LaunchResult
  readonly plan: SandboxPlan
  readonly findings: readonly QuarantineFinding[]
  readonly maskChanges: readonly MaskChange[]
  /** What it changed, and what it was kept from changing; null where changes do not go through the init. */
  readonly changes: CommandChanges | null
  /** The decisions of the way out, each kind once with a count. */
  readonly egress: readonly EgressEvent[]
  /** The listed ports on which it served. */
  readonly served: readonly ServedPort[]
  /** Registries of its bundles that have changed since they were signed, in words. */
  readonly drift: string | null
}

/** A plan of which the room is known. */
interface Preparing extends Omit<PlanUnderway, 'complete'> {
  complete(): Prepared
}

interface Prepared {
  readonly plan: SandboxPlan
  readonly guard: GuardedRun
  readonly recovered: readonly QuarantineFinding[]
  readonly movable: Movable
  readonly held: HeldChanges | null
}

/** A command that is on its way, with who watches its secrets. */
interface Begun extends Prepared {
  readonly watch: MaskWatch
}

/** Faults of a secret, a protected path or a shown place that is not where it was seen. */
const MOVED: ReadonlySet<string> = new Set(['mask-moved', 'pin-moved', 'place-moved'])

/** The sandbox side of one session. */
export class CommandRunner {
  readonly #loaded: LoadedPolicy
  readonly #machine: Machine
  readonly #files: Files
  readonly #backend: Backend
  readonly #placement: Placement
  readonly #hidden: HiddenPaths
  readonly #guard: ProjectGuard
  readonly #networkOptions: NetworkOptions
  #network: SessionNetwork | null = null
  #expected: { readonly request: RunRequest; readonly preparing: Preparing } | null = null
  /** Whether changes go through the init here. */
  #holdsChanges: boolean
  /** What each of the commands that run now could move of the secrets. */
  readonly #running = new Set<Movable>()

  constructor(
    loaded: LoadedPolicy,
    machine: Machine,
    files: Files,
    backend: Backend,
    network: Partial<NetworkOptions> = {},
  ) {
    this.#loaded = loaded
    this.#machine = machine
    this.#files = files
    this.#backend = backend
    this.#holdsChanges = backend.capabilities.has('held-changes')
    const placed = placeCommand(loaded.policy, files)
    // A linked worktree at the root keeps its objects in the main repository.
    this.#placement = { ...placed, writes: [...placed.writes, ...worktreeDirectories(loaded.root)] }
    try {
      makeDirectories(machine.stateDir)
    } catch (error) {
      throw unwritable(machine.stateDir, error)
    }
    this.#hidden = new HiddenPaths(loaded, machine, files, this.#placement)
    this.#guard = new ProjectGuard(this.#hidden.tree, machine.stateDir, (run) => ownOfRun(machine.stateDir, run))
    this.#networkOptions = {
      machine,
      secrets: loaded.sandbox.secrets.map((secret) => secret.value),
      sandbox: loaded.sandbox,
      ...network,
    }
  }

  /** Whether a command of this request would see a canonical path, secrets aside. */
  sees(request: RunRequest): (path: string) => boolean {
    const { commandFs } = this.#loaded.sandbox
    const { home } = this.#machine
    const furnished = furnish(this.#bundles(request), { home, registries: this.#loaded.registries })
    const carried = placeCarried(this.#loaded.policy, request.paths, this.#files)
    const baseline = { none: [], system: SYSTEM_PATHS, permissive: [...SYSTEM_PATHS, home], all: ['/'] }
    const shown = [
      ...baseline[commandFs.value],
      ...this.#placement.reads,
      ...this.#placement.links,
      ...this.#existing([...furnished.reads, ...furnished.writes]),
      ...carried,
    ]
    return (path) => shown.some((place) => isInside(path, place))
  }

  /** The plan of a command, as `cordon run --plan` shows it. Nothing is begun. */
  async plan(request: RunRequest): Promise<SandboxPlan> {
    const arrangement = await this.#arrange(request)
    try {
      const door = await this.#doorSettings(request, arrangement)
      const { plan, guard, held } = this.#prepare(request, door, arrangement).complete()
      guard.end()
      held?.drop()
      return plan
    } finally {
      arrangement?.dispose()
    }
  }

  /** Runs a command; resolves once it and everything it left behind is settled. */
  async run(request: RunRequest, io: RunIo): Promise<RunOutcome> {
    try {
      return await this.#attempt(request, io)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      // Without Landlock or a listener of seccomp's, what was planted is settled after the run, as on older kernels.
      if (error.code === 'changes-door' && this.#holdsChanges) {
        this.#holdsChanges = false
        if (request.relies === 'undo') throw withoutUndo(error)
      }
      // Something was moved between the look and the mounts: look again, once.
      else if (!MOVED.has(error.code)) throw error
      return this.#attempt(request, io)
    }
  }

  /** A run of this very request is likely to come, once it is decided: its place may be made ready meanwhile. */
  expect(request: RunRequest, io: RunIo): void {
    if (hasWayOut(request) || this.#backend.arrange) return
    this.#expected = { request, preparing: this.#prepare(request, null, null) }
    this.#backend.expect?.(this.#expected.preparing, io)
  }

  async #attempt(request: RunRequest, io: RunIo): Promise<RunOutcome> {
    if (request.relies === 'undo' && !this.#holdsChanges) throw withoutUndo(null)
    const expected = this.#expected?.request === request ? this.#expected.preparing : null
    this.#expected = null
    const arrangement = this.#backend.arrange ? await this.#arrange(request) : null
    try {
      const preparing = expected ?? this.#prepare(request, await this.#doorSettings(request, arrangement), arrangement)
      return await this.#launch(preparing, request, io)
    } finally {
      arrangement?.dispose()
    }
  }

  async #launch(preparing: Preparing, request: RunRequest, io: RunIo): Promise<RunOutcome> {
    const egress = createEgressLog()
    const openDoor = this.#network?.doorFor(request.rules, egress.add)
    const ports = new DevServerPorts(io.onNotice ?? (() => {}))
    const underway: { begun: Begun | null; door: Door | null } = { begun: null, door: null }
    const launchIo: LaunchIo = {
      ...io,
      ...(this.#running.size > 0 && { verify: () => this.#hidden.isAllOf(underway.begun?.plan.masks ?? []) }),
      onListener: (listener, further) => {
        if (further === null) underway.door = openDoor?.(listener) ?? null
        else underway.door?.serve(listener)
      },
      onLocal: (socket, target) => {
        if (underway.door) underway.door.connectLocal(socket, target)
        else socket.destroy()
      },
      onServer: (server) => ports.open(server),
    }
    const complete = (): SandboxPlan => {
      const prepared = preparing.complete()
      underway.begun = { ...prepared, watch: new MaskWatch(prepared.plan.masks) }
      this.#running.add(prepared.movable)
      requireCapable(this.#backend, prepared.plan, launchIo)
      return prepared.plan
    }
    let settled = false
    try {
      const result = await this.#backend.launch({ ...preparing, complete }, launchIo)
      await ports.closed()
      // Connections that were open until now are told of as well.
      if (underway.door) await this.#network?.closeDoor(underway.door)
      underway.door = null
      if (result.asked.length > 0) {
        const { askedEvents } = await import('./network/asked-events.ts')
        for (const event of askedEvents(result.asked, request.rules)) egress.add(event)
      }
      settled = true
      const { plan, guard, recovered, watch, held } = underway.begun!
      const changes = held?.end() ?? null
      const findings = [...recovered, ...guard.end(changes?.isOwn), ...this.#hidden.madeAgainstRules().map(madeFinding)]
      const maskChanges = watch
        .close(this.#hidden.inProject(), result.exitCode !== 0)
        // A project of nothing but secrets is not for anybody to remove.
        .filter(({ what, path }) => what !== 'kept' || !plan.binds.some((bind) => isInside(bind.path, path)))
      return {
        grants: request.grants,
        result: { ...result, violations: [...result.violations, ...(changes?.refused ?? [])] },
        plan,
        findings,
        maskChanges,
        changes,
        egress: egress.events(),
        served: ports.served(),
        drift: await this.#drift(request),
      }
    } finally {
      const { begun, door } = underway
      if (begun) this.#running.delete(begun.movable)
      if (door) await this.#network?.closeDoor(door)
      await ports.closed()
      if (!settled) {
        begun?.watch.close([])
        // What a sandbox that broke down had kept by then is all there is of it.
        const changes = begun?.held?.end()
        begun?.guard.end(changes?.isOwn)
      }
    }
  }

  /** Tells how far a long look for secrets is: how many folders, and null at its end. */
  watchLooks(watch: (folders: number | null) => void): void {
    this.#hidden.tree.watch = watch
  }

  /** Ends the session; the index of secrets is kept for the next one. */
  async close(): Promise<void> {
    await this.#network?.close()
    this.#backend.release()
    this.#hidden.close()
    pruneKept(this.#machine.stateDir)
  }

  /** The way out is only loaded for a command that has one: it costs more than the sandbox itself. */
  async #doorSettings(request: RunRequest, arrangement: Arrangement | null): Promise<DoorSettings | null> {
    if (!hasWayOut(request)) return null
    if (this.#network === null) {
      const { SessionNetwork } = await import('./network/network.ts')
      this.#network = new SessionNetwork(this.#networkOptions)
    }
    return this.#network.settings(request.rules, arrangement?.proxy ?? null)
  }

  /** On a system without namespaces: the folder and the port that the plan has to name. */
  async #arrange(request: RunRequest): Promise<Arrangement | null> {
    return (await this.#backend.arrange?.({ network: hasWayOut(request) })) ?? null
  }

  /** The first part of a plan, with the way to the rest: a look for the secrets and the protected paths. */
  #prepare(request: RunRequest, door: DoorSettings | null, arrangement: Arrangement | null): Preparing {
    const { sandbox, root, standsFor } = this.#loaded
    const applied = this.#bundles(request)
    const furnished = furnish(applied, { home: this.#machine.home, registries: this.#loaded.registries })
    const shown = door ? [...furnished.reads, door.directory] : furnished.reads
    const carried = placeCarried(this.#loaded.policy, request.paths, this.#files)
    const { links } = this.#placement
    const reads = [...this.#placement.reads, ...links, ...this.#existing(shown), ...carried]
    const own = arrangement ? [arrangement.temporary] : []
    const writes = [...this.#placement.writes, ...this.#existing(furnished.writes), ...carried, ...own]
    const shows = this.#backend.capabilities.has('stand-ins')
    const sight = {
      baseline: sandbox.commandFs.value,
      home: this.#machine.home,
      cwd: request.cwd,
      reads,
      writes,
      scratch: shows ? this.#privateOwn() : [],
      aliases: standsFor === undefined ? [] : [{ path: standsFor, target: root }],
      standIns: shows ? [...(door?.standIns ?? []), ...this.#nameSettings()] : [],
      unixSockets: (door?.sockets.length ?? 0) > 0,
    }
    const limits = this.#limits(request.timeoutMs)
    const room = { ...sight, limits, facts: readHostFacts(sight) }
    const complete = (): Prepared => {
      const { recovered, alive } = this.#guard.look()
      const hidden = this.#hidden.look({ reads, writes }, this.#moving(alive))
      const facts = this.#protectFacts(request.rules)
      const guard = this.#guard.begin(facts, hidden, this.#holdsChanges)
      let changes: HeldChanges | null = null
      try {
        changes = this.#holdsChanges
          ? new HeldChanges(
              facts,
              guard.configs,
              this.#machine.stateDir,
              request,
              this.#existing(furnished.writes),
              guard.name,
            )
          : null
        // One that began meanwhile may have moved what was being looked for.
        this.#hidden.requireAll(hidden, this.#moving(guard.alive))
        const { masks, held, identities, faces, replaced } = hidden
        const servers = sandbox.devServerPorts.map((port) => port.value)
        const plan = planSandbox({
          ...room,
          argv: request.argv,
          env: this.#environment(
            request,
            furnished,
            door?.variables ?? NO_WAY_OUT,
            arrangement?.temporary ?? TEMPORARY,
          ),
          uid: process.getuid?.() ?? 0,
          gid: process.getgid?.() ?? 0,
          masks,
          maskIdentities: identities,
          // Where nothing can stand in for a file, a hidden one is refused, whatever was committed.
          ...(shows && { maskFaces: faces, replaced }),
          held,
          pins: [...guard.pins, ...this.#frozen().map((path) => ({ path, mode: 'read-only' as const }))],
          changes: changes?.plan ?? null,
          network: door ? 'listener' : 'none',
          ...(arrangement?.proxy && { port: arrangement.proxy.port }),
          // A port that the command itself may serve is its own; the machine's is then reached through the proxy.
          ...(door && {
            sockets: door.sockets,
            names: door.names,
            doors: door.doors.filter((one) => !servers.includes(one.port)),
          }),
          servers,
          ...(request.tellsPorts && { tellsPorts: true }),
          ...(request.learns && { learns: true }),
          ...(request.terminal && { terminal: request.terminal }),
        })
        return { plan, guard, recovered: [...recovered, ...guard.recovered], movable: hidden.movable, held: changes }
      } catch (error) {
        changes?.drop()
        guard.end()
        throw error
      }
    }
    const sockets = door !== null || sandbox.devServerPorts.length > 0 || asksPorts(request)
    return { room: () => planRoom(room), limits, sockets, complete, ...(arrangement && { arrangement }) }
  }

  /** Cordon's configuration, where the person's skills in it are shown: private, with nothing but those. A mask would hide them as well. */
  #privateOwn(): string[] {
    const own = this.#files.canonical(this.#machine.configDir)
    const { reads, writes } = this.#placement
    return [...reads, ...writes].some((path) => path !== own && isInside(path, own)) ? [own] : []
  }

  /** What commands that run now, here or in other processes, could move of the secrets. */
  #moving(alive: readonly TreeBaseline[]): readonly Movable[] {
    return [...this.#running, ...alive.map((baseline) => baseline.movable ?? {})]
  }

  /** What deny rules freeze, folders on PATH, and Cordon itself where it is installed among the project's packages or was built there. */
  #frozen(): string[] {
    const programs = [ownPackage(this.#files), ownCheckout(this.#loaded.root, this.#files)].filter(
      (one) => one !== null,
    )
    const onPath = writablePathFolders(this.#machine.env.PATH ?? '', this.#placement.writes, this.#files)
    return [...this.#hidden.frozen, ...programs, ...onPath]
  }

  async #drift(request: RunRequest): Promise<string | null> {
    const applied = this.#bundles(request)
    if (!applied.some(({ bundle }) => bundle.registries.length > 0)) return null
    const { driftLine, registryDrift } = await import('../policy/registries/drift.ts')
    const drift = registryDrift(this.#loaded, this.#machine, applied)
    return drift && driftLine(drift)
  }

  #bundles(request: RunRequest): AppliedBundle[] {
    const choices = this.#loaded.sandbox.bundles.map((choice) => choice.value)
    if (choices.length === 0) return []
    const applied = request.patterns.flatMap((words) => selectBundles(choices, words, builtInBundles()))
    return [...new Map(applied.map((bundle) => [bundle.bundle.tool, bundle])).values()]
  }

  #environment(
    request: RunRequest,
    furnished: BundleFurnishing,
    door: Readonly<Record<string, string>>,
    temporary: string,
  ): Readonly<Record<string, string>> {
    const { sandbox } = this.#loaded
    const { variables } = commandEnvironment({
      parent: { ...furnished.defaults, ...this.#machine.env },
      platform: process.platform === 'darwin' ? 'darwin' : 'linux',
      allowlist: sandbox.envAllowlist?.map((name) => name.value) ?? null,
      declared: [...request.envVars, ...furnished.env, ...Object.keys(furnished.defaults)],
      denied: sandbox.envDenied.map((name) => name.value),
      fixed: { ...furnished.variables, ...door },
      temporary,
      writable: this.#placement.writes,
    })
    return variables
  }

  #limits(asked: number | undefined): Limits {
    const { commandTimeout, maxOutputBytes, memory, processes, cpu } = this.#loaded.sandbox.limits
    const written = commandTimeout.source !== 'built-in' || asked === undefined
    const timeoutMs = Math.min(
      written ? commandTimeout.value * 1000 : Number.POSITIVE_INFINITY,
      asked ?? Number.POSITIVE_INFINITY,
    )
    return {
      ...(Number.isFinite(timeoutMs) && { timeoutMs }),
      outputBytes: maxOutputBytes.value,
      processes: processes.value,
      openFiles: DEFAULT_OPEN_FILES,
      ...(memory.value === null ? { memoryShare: DEFAULT_MEMORY_SHARE } : { memoryBytes: memory.value }),
      ...(cpu.value !== null && { cpuSeconds: cpu.value }),
    }
  }

  #protectFacts(rules: EgressRules): ProtectFacts {
    const { policy } = this.#loaded
    const { configDir, stateDir } = this.#machine
    return {
      home: this.#machine.home,
      write: this.#placement.writes,
      named: namedForWriting(policy, this.#files),
      hosts: grantedHosts(policy, rules),
      own: { configDir, stateDir, manifestPath: this.#loaded.manifestPath },
    }
  }

  /** In the place of the machine's resolvers, which nobody inside could reach. */
  #nameSettings(): readonly StandIn[] {
    return [{ path: NAME_SETTINGS, source: nameFile(this.#machine.cacheDir) }]
  }

  #existing(paths: readonly string[]): string[] {
    return paths.filter((path) => this.#files.exists(path)).map(this.#files.canonical)
  }
}

function hasWayOut({ rules, asksHosts }: RunRequest): boolean {
  return rules.allowed === null || rules.allowed.length > 0 || asksHosts === true
}

/** At a terminal somebody can agree to a port, which then has to be handed out. */
function asksPorts({ tellsPorts, terminal }: RunRequest): boolean {
  return tellsPorts === true && terminal !== undefined
}

/** What was allowed because of undo does not run without it. */
function withoutUndo(cause: Fault | null): Fault {
  return new Fault(
    'undo-unavailable',
    'the command was allowed because `cordon undo` would bring back what it destroys, but nothing can be kept on this machine',
    { cause, remedy: 'Call it again: from now on such a command asks. `cordon doctor` says what is missing.' },
  )
}

/** It may as well be the person's own work of this moment, so it stays. */
function madeFinding(path: string): QuarantineFinding {
  const message = `${path} may not be written, by a rule of the manifest, and came up while the command ran: look at it, and remove it if it is not yours.`
  return { path, action: 'failed', message, kept: null }
}
