/** Makes a command's plan: places it, looks for the secrets and the protected paths, and holds what must stay. */

import type { EgressRules } from '../../egress/rules.ts'
import { isInside, SYSTEM_PATHS } from '../../files/baseline.ts'
import { isGlob } from '../../files/glob.ts'
import type { Arrangement, Backend, PlanUnderway } from '../../sandbox/backend.ts'
import { planSandbox, type SandboxPlan } from '../../sandbox/plan.ts'
import { type ProtectFacts, worktreeDirectories } from '../../sandbox/protect/protect.ts'
import type { QuarantineFinding } from '../../sandbox/protect/quarantine.ts'
import type { TreeBaseline } from '../../sandbox/protect/quarantine-baseline.ts'
import { type GuardedRun, ProjectGuard } from '../../sandbox/protect/quarantine-run.ts'
import { planRoom, type StandIn } from '../../sandbox/room.ts'
import type { Movable } from '../../sandbox/secrets/masks-moving.ts'
import { readHostFacts } from '../../sandbox/session.ts'
import { unwritable } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { makeDirectories } from '../../system/state.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { ownPackage } from '../policy/project/own-package.ts'
import { ownCheckout } from '../policy/project/own-places.ts'
import { writablePathFolders } from '../policy/project/path-folders.ts'
import { HeldChanges, ownOfRun } from './held-changes.ts'
import { HiddenPaths } from './hidden-paths.ts'
import { grantedHosts } from './network/egress-rules.ts'
import { NAME_SETTINGS, NO_WAY_OUT, nameFile } from './network/name-service.ts'
import type { DoorSettings } from './network/network.ts'
import { namedForWriting, type Placement, placeCarried, placeCommand } from './placement.ts'
import type { Provision } from './provision.ts'
import { asksPorts, type RunRequest } from './run-request.ts'
import { TEMPORARY } from './temporary.ts'

/** A plan of which the room is known. */
export interface Preparing extends Omit<PlanUnderway, 'complete'> {
  complete(): Prepared
}

/** The plan, with who looks after what it must not change. */
export interface Prepared {
  readonly plan: SandboxPlan
  readonly guard: GuardedRun
  readonly recovered: readonly QuarantineFinding[]
  readonly movable: Movable
  readonly held: HeldChanges | null
}

/** What there is for this command besides the policy. */
export interface Means {
  /** The way out; null without one. */
  readonly door: DoorSettings | null
  readonly arrangement: Arrangement | null
  /** Whether changes go through the init here, asked when the plan is completed. */
  readonly holdsChanges: () => boolean
}

/** The places of one session's commands. */
export class Preparation {
  readonly hidden: HiddenPaths
  /** What each of the commands that run now could move of the secrets. */
  readonly running: Set<Movable> = new Set()
  readonly #loaded: LoadedPolicy
  readonly #machine: Machine
  readonly #files: Files
  readonly #backend: Backend
  readonly #provision: Provision
  readonly #placement: Placement
  readonly #guard: ProjectGuard

  constructor(loaded: LoadedPolicy, machine: Machine, files: Files, backend: Backend, provision: Provision) {
    this.#loaded = loaded
    this.#machine = machine
    this.#files = files
    this.#backend = backend
    this.#provision = provision
    const placed = placeCommand(loaded.policy, files)
    // A linked worktree at the root keeps its objects in the main repository.
    this.#placement = { ...placed, writes: [...placed.writes, ...worktreeDirectories(loaded.root)] }
    try {
      makeDirectories(machine.stateDir)
    } catch (error) {
      throw unwritable(machine.stateDir, error)
    }
    this.hidden = new HiddenPaths(loaded, machine, files, this.#placement)
    this.#guard = new ProjectGuard(this.hidden.tree, machine.stateDir, (run) => ownOfRun(machine.stateDir, run))
  }

  /** Whether a command of this request would see a canonical path, secrets aside. */
  sees(request: RunRequest): (path: string) => boolean {
    const { commandFs } = this.#loaded.sandbox
    const { home } = this.#machine
    const furnished = this.#provision.furnishing(request)
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

  /** The first part of a plan, with the way to the rest: a look for the secrets and the protected paths. */
  begin(request: RunRequest, { door, arrangement, holdsChanges }: Means): Preparing {
    const { sandbox, root, standsFor } = this.#loaded
    const furnished = this.#provision.furnishing(request)
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
    const limits = this.#provision.limits(request.timeoutMs)
    const room = { ...sight, limits, facts: readHostFacts(sight) }
    const complete = (): Prepared => {
      const { recovered, alive } = this.#guard.look()
      const hidden = this.hidden.look({ reads, writes }, this.#moving(alive))
      const facts = this.#protectFacts(request.rules)
      const guard = this.#guard.begin(facts, hidden, holdsChanges())
      let changes: HeldChanges | null = null
      try {
        changes = holdsChanges()
          ? new HeldChanges(facts, guard, this.#machine.stateDir, request, this.#existing(furnished.writes))
          : null
        // One that began meanwhile may have moved what was being looked for.
        this.hidden.requireAll(hidden, this.#moving(guard.alive))
        const { masks, held, identities, faces, replaced } = hidden
        const servers = sandbox.devServerPorts.map((port) => port.value)
        const plan = planSandbox({
          ...room,
          argv: request.argv,
          env: this.#provision.environment(request, furnished, {
            fixed: door?.variables ?? NO_WAY_OUT,
            temporary: arrangement?.temporary ?? TEMPORARY,
            writable: this.#placement.writes,
          }),
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
    return [...this.running, ...alive.map((baseline) => baseline.movable ?? {})]
  }

  /** What deny rules freeze, folders on PATH, and Cordon itself where it is installed among the project's packages or was built there. */
  #frozen(): string[] {
    const programs = [ownPackage(this.#files), ownCheckout(this.#loaded.root, this.#files)].filter(
      (one) => one !== null,
    )
    const onPath = writablePathFolders(this.#machine.env.PATH ?? '', this.#placement.writes, this.#files)
    return [...this.hidden.frozen, ...programs, ...onPath]
  }

  #protectFacts(rules: EgressRules): ProtectFacts {
    const { policy } = this.#loaded
    const { configDir, stateDir } = this.#machine
    return {
      home: this.#machine.home,
      write: this.#placement.writes,
      named: namedForWriting(policy, this.#files),
      denied: deniedNames(policy),
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

/** What a rule keeps from being written by its name alone, in every folder: the door knows it before it is there. */
function deniedNames({ root, writes }: LoadedPolicy['policy']): string[] {
  return writes.deny
    .map(({ pattern: { absolute, files } }) => (files === null && absolute.startsWith(`${root}/**/`) ? absolute : ''))
    .map((absolute) => absolute.slice(`${root}/**/`.length))
    .filter((name) => name !== '' && !name.includes('/') && !isGlob(name))
}
