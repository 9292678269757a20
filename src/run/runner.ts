/**
 * Runs commands in the sandbox: prepares, launches and settles each before reporting its result.
 */

import { posix } from 'node:path'
import type { Confinement } from '../confine/confinement.ts'
import type { CommandProxy } from '../egress/command-proxy.ts'
import { createEgressLog, type EgressEvent } from '../egress/route/event.ts'
import type { FlowWatch } from '../egress/route/gate.ts'
import type { EgressRules } from '../egress/route/rules.ts'
import type { HostUsage } from '../egress/route/usage.ts'
import { isInside } from '../files/baseline.ts'
import { programTable } from '../policy/programs/table.ts'
import { type Arrangement, type Backend, type LaunchIo, type LaunchResult, requireCapable } from '../sandbox/backend.ts'
import type { SandboxPlan } from '../sandbox/plan.ts'
import type { QuarantineFinding } from '../sandbox/quarantine/quarantine.ts'
import { type MaskChange, MaskWatch } from '../sandbox/secrets/masks-watch.ts'
import { Fault } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import type { Callers } from './callers.ts'
import { type CommandChanges, pruneKept } from './held-changes.ts'
import { DevServerPorts } from './network/dev-server-ports.ts'
import type { NetworkOptions, ProxySettings, SessionNetwork } from './network/network.ts'
import type { ServedPort } from './network/served-port.ts'
import { type Prepared, type Preparing, Site } from './preparation.ts'
import type { AskProgram, ProgramStarts } from './program-starts.ts'
import type { RecordedTree } from './ran-programs.ts'

/** A command that ran, with everything that was stopped or restored. */
export interface RunOutcome {
  /** The patterns that granted it. */
  readonly grants: readonly string[]
  readonly result: LaunchResult
  readonly plan: SandboxPlan
  readonly findings: readonly QuarantineFinding[]
  readonly maskChanges: readonly MaskChange[]
  /** Its changes and refused changes; null if the init does not perform changes. */
  readonly changes: CommandChanges | null
  /** The programs that ran; null if starts are not judged. */
  readonly programs: RecordedTree | null
  /** The proxy's decisions, each kind once with a count. */
  readonly egress: readonly EgressEvent[]
  /** The listed ports on which it served. */
  readonly served: readonly ServedPort[]
  /** Bundle registries that changed since they were signed, in words. */
  readonly drift: string | null
}

/** A running command, with the guard of its secrets. */
interface GuardedCommand extends Prepared {
  readonly watch: MaskWatch
}

/** Faults of a secret, a protected path or a shown place that moved. */
const MOVED: ReadonlySet<string> = new Set(['mask-moved', 'pin-moved', 'place-moved'])

/** The streams of a command, and the listeners for its events. */
export interface RunIo extends LaunchIo {
  /** Receives notices at once, such as the address of the command's server. */
  readonly onNotice?: (line: string) => void
  /** Reports missing paths with the result (`cordon learn`). */
  readonly learns?: boolean
  /** Where data may go that the session has read since the start. */
  readonly flow?: FlowWatch
}

export interface RunnerOptions extends Partial<Pick<NetworkOptions, 'ask' | 'resolver' | 'upstream'>> {
  /** Asks about a program that a running command starts; without it, such starts are refused. */
  readonly askProgram?: AskProgram
  /** The session's traffic to hosts with limits. */
  readonly usage?: HostUsage
  /** A person can be asked about every host, so a command without hosts gets a proxy too. */
  readonly asksAlways?: boolean
  /** Reports the progress of a long scan for secrets: folders, and null at its end. */
  readonly onLook?: (folders: number | null) => void
}

/** Sites and networks kept for the next command; creating a site scans the whole project. */
const MOST_KEPT = 3

/** Runs commands: takes a confinement, the words and the streams, and nothing else. */
export class CommandRunner {
  readonly #machine: Machine
  readonly #files: Files
  readonly #backend: Backend
  readonly #options: RunnerOptions
  #usage: HostUsage | null = null
  readonly #sites = new Map<string, { readonly site: Site; users: number }>()
  readonly #networks = new Map<string, SessionNetwork>()
  #expected: { readonly confinement: Confinement; readonly preparing: Preparing } | null = null
  /** Whether the init performs changes. */
  #holdsChanges: boolean
  /** Whether program starts are judged here. */
  #judgesPrograms: boolean

  constructor(machine: Machine, files: Files, backend: Backend, options: RunnerOptions = {}) {
    this.#machine = machine
    this.#files = files
    this.#backend = backend
    this.#options = options
    this.#holdsChanges = backend.capabilities.has('held-changes')
    this.#judgesPrograms = backend.capabilities.has('judged-programs')
  }

  /** Whether a command would see a canonical path, ignoring secrets. */
  sees(confinement: Confinement): (path: string) => boolean {
    return this.#site(confinement).site.sees(confinement)
  }

  /** The plan of a command, as `cordon run --plan` shows it. Nothing is started. */
  async plan(confinement: Confinement, argv: readonly string[], io: RunIo = {}): Promise<SandboxPlan> {
    const arrangement = await this.#arrange(confinement)
    try {
      const proxy = await this.#proxySettings(confinement, arrangement)
      const { site } = this.#site(confinement)
      const { plan, guard, recorded } = this.#prepare(site, confinement, argv, io, proxy, arrangement).complete()
      guard.end()
      recorded?.drop()
      return plan
    } finally {
      arrangement?.dispose()
    }
  }

  /** Runs a command; resolves once it and all it left behind is settled. */
  async run(confinement: Confinement, argv: readonly string[], io: RunIo): Promise<RunOutcome> {
    const entry = this.#site(confinement)
    entry.users++
    try {
      return await this.#attempt(entry.site, confinement, argv, io)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      // Without Landlock or a seccomp listener, planted files are settled after the run, as on
      // older kernels.
      if (error.code === 'changes-broker' && this.#holdsChanges) {
        this.#holdsChanges = false
        if (confinement.undo.relies === 'undo') throw (await rareFaults()).withoutUndo(error)
        if (confinement.programs.required) throw (await rareFaults()).withoutJudge(confinement.programs, error)
      } else if (error.code === 'programs-judge' && this.#judgesPrograms) {
        this.#judgesPrograms = false
        if (confinement.programs.required) throw (await rareFaults()).withoutJudge(confinement.programs, error)
      }
      // A path moved between the scan and the mounts: scan again, once.
      else if (!MOVED.has(error.code)) throw error
      return await this.#attempt(entry.site, confinement, argv, io)
    } finally {
      entry.users--
      this.#trim()
    }
  }

  /** Prepares a sandbox for a run under this confinement that is about to be decided. */
  expect(confinement: Confinement, argv: readonly string[], io: RunIo): void {
    if (this.#hasProxy(confinement) || this.#backend.arrange) return
    const { site } = this.#site(confinement)
    this.#expected = { confinement, preparing: this.#prepare(site, confinement, argv, io, null, null) }
    this.#backend.expect?.(this.#expected.preparing, io)
  }

  async #attempt(site: Site, confinement: Confinement, argv: readonly string[], io: RunIo): Promise<RunOutcome> {
    if (confinement.undo.relies === 'undo' && !this.#holdsChanges) throw (await rareFaults()).withoutUndo(null)
    if (confinement.programs.required && !this.#judges)
      throw (await rareFaults()).withoutJudge(confinement.programs, null)
    const expected = this.#expected?.confinement === confinement ? this.#expected.preparing : null
    this.#expected = null
    const arrangement = this.#backend.arrange ? await this.#arrange(confinement) : null
    try {
      const proxy = expected ? null : await this.#proxySettings(confinement, arrangement)
      const preparing = expected ?? this.#prepare(site, confinement, argv, io, proxy, arrangement)
      return await this.#launch(site, preparing, confinement, io, proxy?.directory ?? null)
    } finally {
      arrangement?.dispose()
    }
  }

  async #launch(
    site: Site,
    preparing: Preparing,
    confinement: Confinement,
    io: RunIo,
    scripts: string | null,
  ): Promise<RunOutcome> {
    const { hidden, running } = site
    const { rules } = confinement.network
    const egress = createEgressLog()
    const network = this.#networks.get(networkKey(confinement)) ?? null
    const ports = new DevServerPorts(io.onNotice ?? (() => {}))
    const underway: { prepared: GuardedCommand | null; proxy: CommandProxy | null } = { prepared: null, proxy: null }
    const callers = scripts === null ? null : await this.#callersOf(confinement, scripts, () => underway.prepared!.plan)
    const openProxy = network?.proxyFor(this.#withAddresses(confinement), egress.add, callers, io.flow ?? null)
    const programs = await this.#judgeOf(confinement, () => underway.prepared?.plan.env.PATH ?? '')
    const launchIo: LaunchIo = {
      ...io,
      ...(programs && { judge: (start) => programs.judge(start, io.signal), judgeAsks: programs.asks }),
      ...(callers && { onCaller: (caller) => callers.add(caller) }),
      ...(running.size > 0 && { verify: () => hidden.isAllOf(underway.prepared?.plan.masks ?? []) }),
      onListener: (listener, further) => {
        if (further === null) underway.proxy = openProxy?.(listener) ?? null
        else underway.proxy?.serve(listener)
      },
      onLocal: (socket, target) => {
        if (underway.proxy) underway.proxy.connectLocal(socket, target)
        else socket.destroy()
      },
      onServer: (server) => ports.open(server),
    }
    const complete = (): SandboxPlan => {
      const prepared = preparing.complete()
      underway.prepared = { ...prepared, watch: new MaskWatch(prepared.plan.masks, (path) => hidden.identityOf(path)) }
      running.add(prepared.movable)
      network?.broker(prepared.tokens)
      requireCapable(this.#backend, prepared.plan, launchIo)
      return prepared.plan
    }
    let settled = false
    try {
      const result = await this.#backend.launch({ ...preparing, complete }, launchIo)
      await ports.closed()
      // Open connections are reported too.
      if (underway.proxy) await network?.closeProxy(underway.proxy)
      underway.proxy = null
      if (result.asked.length > 0) {
        const { askedEvents } = await import('./network/asked-events.ts')
        for (const event of askedEvents(result.asked, rules)) egress.add(event)
      }
      settled = true
      const { plan, guard, recovered, watch, recorded } = underway.prepared!
      const changes = recorded?.end() ?? null
      const findings = [
        ...recovered,
        ...guard.end(changes?.isOwn),
        ...hidden.createdAgainstRules().map(createdFinding),
        ...apartFindings(changes?.apart ?? [], plan.cwd),
      ]
      const maskChanges = watch
        .close(hidden.inProject(), result.exitCode !== 0)
        // A project that consists of secrets must not be removed.
        .filter(({ what, path }) => what !== 'kept' || !plan.binds.some((bind) => isInside(bind.path, path)))
      return {
        grants: confinement.grants,
        result: {
          ...result,
          violations: [...(programs?.refused() ?? []), ...result.violations, ...(changes?.refused ?? [])],
        },
        programs: programs?.ran(result) ?? null,
        plan,
        findings,
        maskChanges,
        changes,
        egress: egress.events(),
        served: ports.served(),
        drift: await this.#drift(confinement),
      }
    } finally {
      const { prepared, proxy } = underway
      if (prepared) running.delete(prepared.movable)
      if (proxy) await network?.closeProxy(proxy)
      await ports.closed()
      if (!settled) {
        prepared?.watch.close([])
        // All that remains of a failed sandbox are the changes kept by then.
        const changes = prepared?.recorded?.end()
        prepared?.guard.end(changes?.isOwn)
      }
    }
  }

  /** Ends everything; the index of secrets is kept for the next runner. */
  async close(): Promise<void> {
    await Promise.all([...this.#networks.values()].map((network) => network.close()))
    this.#networks.clear()
    this.#backend.release()
    for (const { site } of this.#sites.values()) site.hidden.close()
    this.#sites.clear()
    pruneKept(this.#machine.stateDir)
  }

  #site(confinement: Confinement): { readonly site: Site; users: number } {
    const key = Site.keyOf(confinement)
    const known = this.#sites.get(key)
    if (known) return known
    const site = new Site(confinement, this.#machine, this.#files, this.#backend)
    if (this.#options.onLook) site.hidden.tree.watch = this.#options.onLook
    const entry = { site, users: 0 }
    this.#sites.set(key, entry)
    return entry
  }

  #trim(): void {
    const idle = [...this.#sites].filter(([, entry]) => entry.users === 0)
    for (const [key, { site }] of idle.slice(0, Math.max(0, this.#sites.size - MOST_KEPT))) {
      this.#sites.delete(key)
      site.hidden.close()
    }
  }

  #prepare(
    site: Site,
    confinement: Confinement,
    argv: readonly string[],
    io: RunIo,
    proxy: ProxySettings | null,
    arrangement: Arrangement | null,
  ): Preparing {
    const { terminal } = io
    return site.begin(confinement, argv, {
      proxy,
      arrangement,
      holdsChanges: () => this.#holdsChanges,
      judges: () => this.#judges,
      terminal: terminal ? { rows: terminal.output.rows ?? 24, columns: terminal.output.columns ?? 80 } : null,
      reportsPorts: io.onPort !== undefined,
      learns: io.learns ?? false,
    })
  }

  /** Whether connections are judged by their program. */
  get reportsCallers(): boolean {
    return this.#judges && this.#backend.capabilities.has('reported-callers')
  }

  async #callersOf(confinement: Confinement, scripts: string, plan: () => SandboxPlan): Promise<Callers | null> {
    const { limited } = confinement.network
    if (!this.reportsCallers || (limited === null && programTable(confinement.programs, '').length === 0)) return null
    const { Callers } = await import('./callers.ts')
    return new Callers(this.#withAddresses(confinement), limited, { plan, scripts })
  }

  get #judges(): boolean {
    return this.#holdsChanges && this.#judgesPrograms
  }

  /** Loaded only if a program start can be refused. */
  async #judgeOf({ programs }: Confinement, path: () => string): Promise<ProgramStarts | null> {
    if (!this.#judges || programTable(programs, '').length === 0) return null
    const { ProgramStarts } = await import('./program-starts.ts')
    return new ProgramStarts({ ...programs, home: this.#machine.home, path }, this.#options.askProgram ?? null)
  }

  #hasProxy({ network: { rules } }: Confinement): boolean {
    const { capabilities } = this.#backend
    if (capabilities.has('listener') && !capabilities.has('refusals')) return true
    return rules.allowed === null || rules.allowed.length > 0 || this.#options.asksAlways === true
  }

  #withAddresses({ network: { rules } }: Confinement): EgressRules {
    return { ...rules, ownAddresses: this.#machine.ownAddresses() }
  }

  /** Loaded only for a command with network: it costs more than the sandbox itself. */
  async #proxySettings(confinement: Confinement, arrangement: Arrangement | null): Promise<ProxySettings | null> {
    if (!this.#hasProxy(confinement)) return null
    const { secrets, caFiles, parent } = confinement.network
    const key = networkKey(confinement)
    const known = this.#networks.get(key)
    if (known) return known.settings(this.#withAddresses(confinement), arrangement?.proxy ?? null)
    const { SessionNetwork } = await import('./network/network.ts')
    const { HostUsage } = await import('../egress/route/usage.ts')
    this.#usage ??= new HostUsage()
    const { ask, resolver, upstream, usage = this.#usage } = this.#options
    const created = new SessionNetwork({
      machine: this.#machine,
      secrets,
      usage,
      sandbox: { caFiles, parent },
      ...(ask && { ask }),
      ...(resolver && { resolver }),
      ...(upstream && { upstream }),
    })
    this.#networks.set(key, created)
    return created.settings(this.#withAddresses(confinement), arrangement?.proxy ?? null)
  }

  /** Without namespaces: the folder and the port that the plan must name. */
  async #arrange(confinement: Confinement): Promise<Arrangement | null> {
    return (await this.#backend.arrange?.({ network: this.#hasProxy(confinement) })) ?? null
  }

  /** Bundle registries that changed since they were signed, in words. */
  async #drift({ root, bundles: { applied, signed } }: Confinement): Promise<string | null> {
    if (!applied.some(({ bundle }) => bundle.registries.length > 0)) return null
    const { driftLine, registryDrift } = await import('../project/registries/drift.ts')
    const drift = registryDrift(root, signed, this.#machine, applied)
    return drift && driftLine(drift)
  }
}

/** Runs with the same brokered secrets share a CA and a broker. */
function networkKey({ network: { secrets, caFiles, parent } }: Confinement): string {
  return JSON.stringify([secrets, caFiles, parent])
}

const rareFaults = () => import('./missing-kernel.ts')

/** One line for a run: installed packages and local clones share thousands of files. */
function apartFindings(paths: readonly string[], cwd: string): QuarantineFinding[] {
  const [first] = paths
  if (first === undefined) return []
  const name = posix.relative(cwd, first)
  const [what, has] = paths.length === 1 ? [name, 'has'] : [`${paths.length} files (${name} …)`, 'have']
  const message = `${what} ${has} further names elsewhere, so the command changed a copy; the other names keep the old content.`
  return [{ path: first, action: 'told', message, kept: null }]
}

/** The file stays, because the person may have just created it. */
function createdFinding(path: string): QuarantineFinding {
  const message = `${path} may not be written, by a rule of the manifest, and appeared while the command ran: check it, and remove it if it is not yours.`
  return { path, action: 'failed', message, kept: null }
}
