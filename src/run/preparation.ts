/** Completes a command's plan: places it, scans for secrets and protected paths, and pins them. */

import type { Confinement } from '../confine/confinement.ts'
import { isInside, SYSTEM_PATHS } from '../files/baseline.ts'
import { isGlob } from '../files/glob.ts'
import type { PathRule } from '../policy/policy.ts'
import { callerLines, programTable } from '../policy/programs/table.ts'
import { installedPlaces } from '../project/place/installers.ts'
import { homeLinks, ownCheckout, ownPackage, writablePathFolders } from '../project/place/own-places.ts'
import type { Arrangement, Backend, PlanUnderway } from '../sandbox/backend.ts'
import { commandEnvironment } from '../sandbox/environment.ts'
import { planLayout, type StandIn } from '../sandbox/layout.ts'
import { planSandbox, type SandboxPlan, type TerminalSize } from '../sandbox/plan.ts'
import { type ProtectFacts, worktreeDirectories } from '../sandbox/protect/protect.ts'
import type { TreeBaseline } from '../sandbox/quarantine/baseline.ts'
import type { QuarantineFinding } from '../sandbox/quarantine/quarantine.ts'
import { type GuardedRun, ProjectGuard } from '../sandbox/quarantine/run.ts'
import type { GitToken } from '../sandbox/secrets/git-tokens.ts'
import type { Movable } from '../sandbox/secrets/masks-watch.ts'
import { readHostFacts } from '../sandbox/session.ts'
import { unwritable } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { listeningPorts } from '../system/processes.ts'
import { makeDirectories } from '../system/state.ts'
import { HeldChanges, ownOfRun } from './held-changes.ts'
import { HiddenPaths } from './hidden-paths.ts'
import { NAME_SETTINGS, NO_NETWORK, nameFile } from './network/name-service.ts'
import type { ProxySettings } from './network/network.ts'
import { isReadOnly, namedForWriting, type Placement, placeCarried, placeCommand } from './placement.ts'
import { TEMPORARY } from './temporary.ts'

/** A plan whose placement is known. */
export interface Preparing extends Omit<PlanUnderway, 'complete'> {
  complete(): Prepared
}

/** The plan, with the guard of its protected paths. */
export interface Prepared {
  readonly plan: SandboxPlan
  readonly guard: GuardedRun
  readonly recovered: readonly QuarantineFinding[]
  readonly movable: Movable
  readonly recorded: HeldChanges | null
  /** Credentials that the command sees as placeholders. */
  readonly tokens: readonly GitToken[]
}

/** The facilities of this command, beside its confinement. */
export interface Means {
  /** The proxy; null without network. */
  readonly proxy: ProxySettings | null
  readonly arrangement: Arrangement | null
  /** Whether the init performs changes; read when the plan is completed. */
  readonly holdsChanges: () => boolean
  /** Whether program starts are judged; read at the same time. */
  readonly judges: () => boolean
  readonly terminal: TerminalSize | null
  /** Reports every port on which it listens: a person can answer. */
  readonly reportsPorts: boolean
  /** Reports missing paths with the result (`cordon learn`). */
  readonly learns: boolean
}

/**
 * The view of the machine for one confinement, whatever the command: scanned once, and kept for the
 * next.
 */
export class Site {
  readonly hidden: HiddenPaths
  /** The secrets that each running command could move. */
  readonly running: Set<Movable> = new Set()
  readonly #machine: Machine
  readonly #files: Files
  readonly #backend: Backend
  readonly #placement: Placement
  readonly #guard: ProjectGuard

  constructor({ root, places }: Confinement, machine: Machine, files: Files, backend: Backend) {
    this.#machine = machine
    this.#files = files
    this.#backend = backend
    this.#placement = withWorktree(placeCommand(places, files), root)
    try {
      makeDirectories(machine.stateDir)
    } catch (error) {
      throw unwritable(machine.stateDir, error)
    }
    this.hidden = new HiddenPaths(places, machine, files, this.#placement)
    this.#guard = new ProjectGuard(this.hidden.tree, machine.stateDir, (run) => ownOfRun(machine.stateDir, run))
  }

  /** Everything that a site depends on, without what differs between commands. */
  static keyOf({ root, places }: Confinement): string {
    const { baseline, roots, writesRoots, readOnly, opened, masks } = places
    const rules = [places.read, places.write, places.envelope, places.hidden, places.fixed].map(
      (list) =>
        list?.map(({ pattern: { absolute, files } }) => (files === null ? absolute : [absolute, files])) ?? null,
    )
    return JSON.stringify([root, baseline, roots, writesRoots, readOnly, opened, masks, rules])
  }

  /** Whether a command would see a canonical path, ignoring secrets. */
  sees({ places }: Confinement): (path: string) => boolean {
    const { home } = this.#machine
    const baseline = { none: [], system: SYSTEM_PATHS, permissive: [...SYSTEM_PATHS, home], all: ['/'] }
    const { reads, writes } = this.#shown({ places })
    const shown = [...baseline[places.baseline], ...reads, ...writes]
    return (path) => shown.some((place) => isInside(path, place))
  }

  /** Starts a plan with a scan for the secrets and the protected paths; the result completes it. */
  begin(confinement: Confinement, argv: readonly string[], means: Means): Preparing {
    const { root, standsFor, cwd, places, network, environment, limits, undo } = confinement
    const { proxy, arrangement, holdsChanges, judges, terminal, reportsPorts, learns } = means
    const { reads, writes, free } = this.#shown({ places }, proxy?.directory, arrangement?.temporary)
    const shows = this.#backend.capabilities.has('stand-ins')
    const sight = {
      baseline: places.baseline,
      home: this.#machine.home,
      cwd,
      reads,
      writes,
      scratch: shows ? this.#privateOwn() : [],
      aliases: standsFor === null ? [] : [{ path: standsFor, target: root }],
      standIns: shows ? [...(proxy?.standIns ?? []), ...this.#nameSettings()] : [],
      unixSockets: (proxy?.sockets.length ?? 0) > 0,
    }
    const layout = { ...sight, limits, facts: readHostFacts(sight) }
    const complete = (): Prepared => {
      const { recovered, alive } = this.#guard.look()
      const hidden = this.hidden.look({ reads, writes }, this.#moving(alive))
      const facts = this.#protectFacts(confinement)
      const guard = this.#guard.begin(facts, hidden, holdsChanges())
      let changes: HeldChanges | null = null
      try {
        const kept = { argv, ...(undo.session !== null && { session: undo.session }), relies: undo.relies ?? undefined }
        const { stateDir } = this.#machine
        changes = holdsChanges() ? new HeldChanges(facts, guard, stateDir, kept, free) : null
        // A command that started meanwhile may have moved a secret.
        this.hidden.requireAll(hidden, this.#moving(guard.alive))
        const { masks, pinned, identities, faces, replaced } = hidden
        const seen = this.#variables(environment, {
          fixed: proxy?.variables ?? NO_NETWORK,
          temporary: arrangement?.temporary ?? TEMPORARY,
        })
        const own = arrangement?.home
        const env =
          own !== undefined && planLayout(layout).scratch.includes(seen.HOME ?? '') ? { ...seen, HOME: own } : seen
        // A port that may be served and reached belongs to the command, unless a server already has
        // it, for example in the background.
        const both = network.ports.filter((port) => proxy?.proxyPorts.some((one) => one.port === port))
        const listening = both.length === 0 ? new Set<number>() : listeningPorts()
        const isServed = (port: number) => both.includes(port) && listening.has(port)
        const lines = judges() ? this.#programLines(confinement, env.PATH ?? '', proxy !== null) : []
        const plan = planSandbox({
          ...layout,
          argv,
          env,
          uid: process.getuid?.() ?? 0,
          gid: process.getgid?.() ?? 0,
          masks,
          maskIdentities: identities,
          // Without file replacement a hidden file is refused, even if committed.
          ...(shows && { maskFaces: faces, replaced }),
          pinned,
          pins: [...guard.pins, ...this.#frozen(root).map((path) => ({ path, mode: 'read-only' as const }))],
          changes: changes?.plan ?? null,
          programs: lines.length > 0 ? { lines } : null,
          network: proxy ? 'listener' : 'none',
          ...(arrangement?.proxy && { port: arrangement.proxy.port }),
          ...(proxy && {
            sockets: proxy.sockets,
            names: proxy.names,
            proxyPorts: proxy.proxyPorts.filter(({ port }) => !network.ports.includes(port) || isServed(port)),
          }),
          servers: network.ports.filter((port) => !isServed(port)),
          reportsPorts,
          learns,
          ...(terminal && { terminal }),
        })
        const { movable, tokens } = hidden
        return { plan, guard, recovered: [...recovered, ...guard.recovered], movable, recorded: changes, tokens }
      } catch (error) {
        changes?.drop()
        guard.end()
        throw error
      }
    }
    // At a terminal a person can agree to a port, which needs the sockets.
    const sockets = proxy !== null || network.ports.length > 0 || (reportsPorts && terminal !== null)
    return { layout: () => planLayout(layout), limits, sockets, complete, ...(arrangement && { arrangement }) }
  }

  /** The program starts and connections to judge. */
  #programLines({ programs, network }: Confinement, path: string, hasProxy: boolean): readonly string[] {
    const lines = programTable(programs, path)
    const reportsCallers = hasProxy && this.#backend.capabilities.has('reported-callers')
    // Starts are not inspected for names alone.
    return reportsCallers && (network.limited !== null || lines.length > 0)
      ? [...lines, ...callerLines(network.limited, path)]
      : lines
  }

  /** Places that are at least partly writable. */
  get #writes(): readonly string[] {
    const { writes, partly } = this.#placement
    return [...writes, ...partly.map(({ folder }) => folder)]
  }

  /** The places of one command; `free`: its tools keep private state there. */
  #shown(
    { places }: Pick<Confinement, 'places'>,
    trust?: string,
    temporary?: string,
  ): { readonly reads: readonly string[]; readonly writes: readonly string[]; readonly free: readonly string[] } {
    const { reads, links } = this.#placement
    const { tools } = places
    const carried = placeCarried(places, this.#files)
    const isOpen = (path: string): boolean => !isReadOnly(places, path)
    const free = this.#existing(tools.writes).filter(isOpen)
    const { home, env, configDir, stateDir } = this.#machine
    const own = [configDir, stateDir]
    const programs = installedPlaces(places.programs, { home, env, own }, this.#files)
    const shown = [...tools.reads, ...tools.writes, ...programs.places, ...(trust === undefined ? [] : [trust])]
    const scratch = temporary === undefined ? [] : [temporary]
    return {
      reads: [
        ...reads,
        ...links,
        ...programs.links,
        ...this.#existing(shown).filter((path) => !free.includes(path)),
        ...carried,
      ],
      writes: [...this.#writes, ...free, ...carried.filter(isOpen), ...scratch],
      free,
    }
  }

  /** The variables of the command; `fixed` are those of the proxy. */
  #variables(
    { allowlist, declared, denied, defaults, fixed }: Confinement['environment'],
    place: { readonly fixed: Readonly<Record<string, string>>; readonly temporary: string },
  ): Readonly<Record<string, string>> {
    return commandEnvironment({
      parent: { ...defaults, ...this.#machine.env },
      platform: process.platform === 'darwin' ? 'darwin' : 'linux',
      allowlist,
      declared,
      denied,
      fixed: { ...fixed, ...place.fixed },
      temporary: place.temporary,
      writable: this.#writes,
    })
  }

  /**
   * A private directory over Cordon's configuration, with only the person's skills. A mask would
   * hide them too.
   */
  #privateOwn(): string[] {
    const own = this.#files.canonical(this.#machine.configDir)
    const { reads, writes } = this.#placement
    return [...reads, ...writes].some((path) => path !== own && isInside(path, own)) ? [own] : []
  }

  /** Secrets that running commands could move, in any process. */
  #moving(alive: readonly TreeBaseline[]): readonly Movable[] {
    return [...this.running, ...alive.map((baseline) => baseline.movable ?? {})]
  }

  /**
   * Paths frozen by deny rules, folders on PATH, and Cordon itself if installed or built in the
   * project.
   */
  #frozen(root: string): string[] {
    const programs = [ownPackage(this.#files), ownCheckout(root, this.#files)].filter((one) => one !== null)
    const { frozen } = this.#placement
    const onPath = writablePathFolders(this.#machine.env.PATH ?? '', this.#writes, this.#files)
    return [...frozen, ...this.hidden.frozen, ...programs, ...onPath]
  }

  #protectFacts({ manifestPath, root, places, network }: Confinement): ProtectFacts {
    const { configDir, stateDir, home } = this.#machine
    return {
      home,
      write: this.#writes,
      partly: this.#placement.partly,
      named: namedForWriting(places.write, this.#files),
      denied: deniedNames(root, places.fixed),
      hosts: network.remotes,
      // A folder that contains the project cannot be closed.
      homeLinks: homeLinks(home, configDir).filter(({ path }) => !isInside(root, path)),
      own: { configDir, stateDir, manifestPath },
    }
  }

  /** Replaces the machine's resolvers, which are unreachable inside. */
  #nameSettings(): readonly StandIn[] {
    return [{ path: NAME_SETTINGS, source: nameFile(this.#machine.cacheDir) }]
  }

  #existing(paths: readonly string[]): string[] {
    return paths.filter((path) => this.#files.exists(path)).map(this.#files.canonical)
  }
}

/**
 * A linked worktree keeps its objects in the main repository: writable if part of the root is, else
 * readable.
 */
function withWorktree(placed: Placement, root: string): Placement {
  const objects = worktreeDirectories(root)
  if (objects.length === 0) return placed
  const isWritten = placed.writes.some((path) => isInside(path, root) || isInside(root, path))
  return isWritten
    ? { ...placed, writes: [...placed.writes, ...objects] }
    : { ...placed, reads: [...placed.reads, ...objects] }
}

/** Names that a rule makes read-only in every folder: the broker knows them before they exist. */
function deniedNames(root: string, rules: readonly PathRule[]): string[] {
  return rules
    .map(({ pattern: { absolute, files } }) => (files === null && absolute.startsWith(`${root}/**/`) ? absolute : ''))
    .map((absolute) => absolute.slice(`${root}/**/`.length))
    .filter((name) => name !== '' && !name.includes('/') && !isGlob(name))
}
