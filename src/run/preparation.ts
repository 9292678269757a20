/** Makes a command's plan: places it, looks for the secrets and the protected paths, and holds what must stay. */

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
import { NAME_SETTINGS, NO_WAY_OUT, nameFile } from './network/name-service.ts'
import type { ProxySettings } from './network/network.ts'
import { isReadOnly, namedForWriting, type Placement, placeCarried, placeCommand } from './placement.ts'
import { TEMPORARY } from './temporary.ts'

/** A plan of which the layout is known. */
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
  /** Credentials for which the command sees placeholders. */
  readonly tokens: readonly GitToken[]
}

/** What there is for this command besides its confinement. */
export interface Means {
  /** The way out; null without one. */
  readonly proxy: ProxySettings | null
  readonly arrangement: Arrangement | null
  /** Whether changes go through the init here, asked when the plan is completed. */
  readonly holdsChanges: () => boolean
  /** Whether program starts are judged here, asked at the same time. */
  readonly judges: () => boolean
  readonly terminal: TerminalSize | null
  /** Told of every port on which it listens: somebody is there to answer. */
  readonly reportsPorts: boolean
  /** What it looks for in vain is told with the result (`cordon learn`). */
  readonly learns: boolean
}

/** What a confinement shows of the machine, whatever command runs in it: looked through once, and kept for the next one. */
export class Site {
  readonly hidden: HiddenPaths
  /** What each of the commands that run now could move of the secrets. */
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

  /** All that a site depends on: what differs from one command to the next is not part of it. */
  static keyOf({ root, places }: Confinement): string {
    const { baseline, roots, writesRoots, readOnly, opened, masks } = places
    const rules = [places.read, places.write, places.envelope, places.hidden, places.fixed].map(
      (list) =>
        list?.map(({ pattern: { absolute, files } }) => (files === null ? absolute : [absolute, files])) ?? null,
    )
    return JSON.stringify([root, baseline, roots, writesRoots, readOnly, opened, masks, rules])
  }

  /** Whether a command would see a canonical path, secrets aside. */
  sees({ places }: Confinement): (path: string) => boolean {
    const { home } = this.#machine
    const baseline = { none: [], system: SYSTEM_PATHS, permissive: [...SYSTEM_PATHS, home], all: ['/'] }
    const { reads, writes } = this.#shown({ places })
    const shown = [...baseline[places.baseline], ...reads, ...writes]
    return (path) => shown.some((place) => isInside(path, place))
  }

  /** The first part of a plan, with the way to the rest: a look for the secrets and the protected paths. */
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
        // One that began meanwhile may have moved what was being looked for.
        this.hidden.requireAll(hidden, this.#moving(guard.alive))
        const { masks, held, identities, faces, replaced } = hidden
        const seen = this.#variables(environment, {
          fixed: proxy?.variables ?? NO_WAY_OUT,
          temporary: arrangement?.temporary ?? TEMPORARY,
        })
        const own = arrangement?.home
        const env =
          own !== undefined && planLayout(layout).scratch.includes(seen.HOME ?? '') ? { ...seen, HOME: own } : seen
        // A port that may be served and reached is the command's own, unless a server has it already,
        // such as one in the background.
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
          // Where nothing can stand in for a file, a hidden one is refused, whatever was committed.
          ...(shows && { maskFaces: faces, replaced }),
          held,
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
        return { plan, guard, recovered: [...recovered, ...guard.recovered], movable, held: changes, tokens }
      } catch (error) {
        changes?.drop()
        guard.end()
        throw error
      }
    }
    // At a terminal somebody can agree to a port, which then has to be handed out.
    const sockets = proxy !== null || network.ports.length > 0 || (reportsPorts && terminal !== null)
    return { layout: () => planLayout(layout), limits, sockets, complete, ...(arrangement && { arrangement }) }
  }

  /** Which program starts matter, and which connections. */
  #programLines({ programs, network }: Confinement, path: string, hasWayOut: boolean): readonly string[] {
    const lines = programTable(programs, path)
    const tells = hasWayOut && this.#backend.capabilities.has('told-callers')
    // Starts that nothing is judged by are not looked at for the sake of names alone.
    return tells && (network.held !== null || lines.length > 0) ? [...lines, ...callerLines(network.held, path)] : lines
  }

  /** What may be written, at least in part. */
  get #writes(): readonly string[] {
    const { writes, partly } = this.#placement
    return [...writes, ...partly.map(({ folder }) => folder)]
  }

  /** What is shown to one command; `free`: where its changes are its tools' own business. */
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
    const programs = installedPlaces(places.programs, { home, path: env.PATH ?? '', own }, this.#files)
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

  /** The variables that the command sees; `fixed` are those of the way out. */
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
    }).variables
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
      // A folder that holds the project itself cannot be closed.
      homeLinks: homeLinks(home, configDir).filter(({ path }) => !isInside(root, path)),
      own: { configDir, stateDir, manifestPath },
    }
  }

  /** In the place of the machine's resolvers, which no one inside could reach. */
  #nameSettings(): readonly StandIn[] {
    return [{ path: NAME_SETTINGS, source: nameFile(this.#machine.cacheDir) }]
  }

  #existing(paths: readonly string[]): string[] {
    return paths.filter((path) => this.#files.exists(path)).map(this.#files.canonical)
  }
}

/** A linked worktree at the root keeps its objects in the main repository: written where something of the root is, else read. */
function withWorktree(placed: Placement, root: string): Placement {
  const objects = worktreeDirectories(root)
  if (objects.length === 0) return placed
  const isWritten = placed.writes.some((path) => isInside(path, root) || isInside(root, path))
  return isWritten
    ? { ...placed, writes: [...placed.writes, ...objects] }
    : { ...placed, reads: [...placed.reads, ...objects] }
}

/** What a rule keeps from being written by its name alone, in every folder: the proxy knows it before it is there. */
function deniedNames(root: string, rules: readonly PathRule[]): string[] {
  return rules
    .map(({ pattern: { absolute, files } }) => (files === null && absolute.startsWith(`${root}/**/`) ? absolute : ''))
    .map((absolute) => absolute.slice(`${root}/**/`.length))
    .filter((name) => name !== '' && !name.includes('/') && !isGlob(name))
}
