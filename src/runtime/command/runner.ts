/** Runs commands of one session in the sandbox: each is prepared, launched, and settled before its result is told. */

import { posix } from 'node:path'
import type { Door } from '../../egress/door.ts'
import type { EgressEvent } from '../../egress/event.ts'
import { createEgressLog } from '../../egress/event-log.ts'
import { isInside } from '../../files/baseline.ts'
import {
  type Arrangement,
  type Backend,
  type LaunchIo,
  type LaunchResult,
  requireCapable,
} from '../../sandbox/backend.ts'
import type { SandboxPlan } from '../../sandbox/plan.ts'
import type { QuarantineFinding } from '../../sandbox/protect/quarantine.ts'
import { type MaskChange, MaskWatch } from '../../sandbox/secrets/masks-watch.ts'
import { Fault } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { type CommandChanges, pruneKept } from './held-changes.ts'
import { DevServerPorts } from './network/dev-server-ports.ts'
import type { DoorSettings, NetworkOptions, SessionNetwork } from './network/network.ts'
import type { ServedPort } from './network/served-port.ts'
import { Preparation, type Prepared, type Preparing } from './preparation.ts'
import { Provision } from './provision.ts'
import { hasWayOut, type RunIo, type RunRequest } from './run-request.ts'

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

/** A command that is on its way, with who watches its secrets. */
interface Begun extends Prepared {
  readonly watch: MaskWatch
}

/** Faults of a secret, a protected path or a shown place that is not where it was seen. */
const MOVED: ReadonlySet<string> = new Set(['mask-moved', 'pin-moved', 'place-moved'])

/** The sandbox side of one session. */
export class CommandRunner {
  readonly #machine: Machine
  readonly #backend: Backend
  readonly #provision: Provision
  readonly #preparation: Preparation
  readonly #networkOptions: NetworkOptions
  #network: SessionNetwork | null = null
  #expected: { readonly request: RunRequest; readonly preparing: Preparing } | null = null
  /** Whether changes go through the init here. */
  #holdsChanges: boolean

  constructor(
    loaded: LoadedPolicy,
    machine: Machine,
    files: Files,
    backend: Backend,
    network: Partial<NetworkOptions> = {},
  ) {
    this.#machine = machine
    this.#backend = backend
    this.#holdsChanges = backend.capabilities.has('held-changes')
    this.#provision = new Provision(loaded, machine)
    this.#preparation = new Preparation(loaded, machine, files, backend, this.#provision)
    this.#networkOptions = {
      machine,
      secrets: loaded.sandbox.secrets.map((secret) => secret.value),
      sandbox: loaded.sandbox,
      ...network,
    }
  }

  /** Whether a command of this request would see a canonical path, secrets aside. */
  sees(request: RunRequest): (path: string) => boolean {
    return this.#preparation.sees(request)
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
    const { hidden, running } = this.#preparation
    const egress = createEgressLog()
    const openDoor = this.#network?.doorFor(request.rules, egress.add)
    const ports = new DevServerPorts(io.onNotice ?? (() => {}))
    const underway: { begun: Begun | null; door: Door | null } = { begun: null, door: null }
    const launchIo: LaunchIo = {
      ...io,
      ...(running.size > 0 && { verify: () => hidden.isAllOf(underway.begun?.plan.masks ?? []) }),
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
      underway.begun = { ...prepared, watch: new MaskWatch(prepared.plan.masks, (path) => hidden.identityOf(path)) }
      running.add(prepared.movable)
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
      const findings = [
        ...recovered,
        ...guard.end(changes?.isOwn),
        ...hidden.madeAgainstRules().map(madeFinding),
        ...apartFindings(changes?.apart ?? [], plan.cwd),
      ]
      const maskChanges = watch
        .close(hidden.inProject(), result.exitCode !== 0)
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
        drift: await this.#provision.drift(request),
      }
    } finally {
      const { begun, door } = underway
      if (begun) running.delete(begun.movable)
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
    this.#preparation.hidden.tree.watch = watch
  }

  /** Ends the session; the index of secrets is kept for the next one. */
  async close(): Promise<void> {
    await this.#network?.close()
    this.#backend.release()
    this.#preparation.hidden.close()
    pruneKept(this.#machine.stateDir)
  }

  #prepare(request: RunRequest, door: DoorSettings | null, arrangement: Arrangement | null): Preparing {
    return this.#preparation.begin(request, { door, arrangement, holdsChanges: () => this.#holdsChanges })
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
}

/** What was allowed because of undo does not run without it. */
function withoutUndo(cause: Fault | null): Fault {
  return new Fault(
    'undo-unavailable',
    'the command was allowed because `cordon undo` would bring back what it destroys, but nothing can be kept on this machine',
    { cause, remedy: 'Call it again: from now on such a command asks. `cordon doctor` says what is missing.' },
  )
}

/** One line for a run: installed packages and local clones share files by the thousand. */
function apartFindings(paths: readonly string[], cwd: string): QuarantineFinding[] {
  const [first] = paths
  if (first === undefined) return []
  const name = posix.relative(cwd, first)
  const [what, has] = paths.length === 1 ? [name, 'has'] : [`${paths.length} files (${name} …)`, 'have']
  const message = `${what} ${has} further names elsewhere, so the command changed a copy; the other names keep the old content.`
  return [{ path: first, action: 'told', message, kept: null }]
}

/** It may as well be the person's own work of this moment, so it stays. */
function madeFinding(path: string): QuarantineFinding {
  const message = `${path} may not be written, by a rule of the manifest, and came up while the command ran: look at it, and remove it if it is not yours.`
  return { path, action: 'failed', message, kept: null }
}
