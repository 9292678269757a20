/** The network of a session: the hosts of a command, and its proxy. */

import { AsyncResource } from 'node:async_hooks'
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { join, posix } from 'node:path'
import { type ClientFile, clientSettings } from '../../egress/clients/clients.ts'
import { knownHostsFor, sshPatterns } from '../../egress/clients/known-hosts.ts'
import { type CommandProxy, openProxy, type PackageSupport, type ProxyOptions } from '../../egress/command-proxy.ts'
import {
  type AbsentSecret,
  type Broker,
  type BrokeredSecret,
  createBroker,
  unfitValue,
} from '../../egress/credentials/broker.ts'
import { canonicalName, type Ecosystem, PackageMemory } from '../../egress/packages/release.ts'
import type { PackageRules } from '../../egress/packages/rules.ts'
import { type Aliases, aliasesOf, proxiedLoopback } from '../../egress/route/aliases.ts'
import type { EgressEvent } from '../../egress/route/event.ts'
import type { AskHost } from '../../egress/route/gate.ts'
import type { EgressRules } from '../../egress/route/rules.ts'
import type { Upstream } from '../../egress/route/upstream.ts'
import type { HostUsage } from '../../egress/route/usage.ts'
import { createSessionCa, type SessionCa } from '../../egress/tls/certificate.ts'
import { matchesDenied, parseHostPattern } from '../../hosts/pattern.ts'
import type { SandboxSettings, SecretSetting } from '../../manifest/schema/settings.ts'
import type { GrantedSocket } from '../../sandbox/plan.ts'
import { GitHead } from '../../sandbox/secrets/git-head.ts'
import type { GitToken } from '../../sandbox/secrets/git-tokens.ts'
import { machineResolver, type Resolver } from '../../system/dns.ts'
import { attempt, Fault, unwritable } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import { writeMade } from '../../system/made-file.ts'
import { isAlive } from '../../system/processes.ts'
import { makeDirectories } from '../../system/state.ts'
import { readSecret } from './brokered-secret.ts'
import { machineUpstream } from './machine-upstream.ts'

/** Lock files by ecosystem, with the pattern for names in group 1. */
const LOCK_FILES: Readonly<Record<Ecosystem, readonly (readonly [file: string, name: RegExp])[]>> = {
  npm: [
    ['package-lock.json', /"(?:[^"\n]*\/)?node_modules\/((?:@[^"/]+\/)?[^"/]+)"\s*:/g],
    ['npm-shrinkwrap.json', /"(?:[^"\n]*\/)?node_modules\/((?:@[^"/]+\/)?[^"/]+)"\s*:/g],
    ['pnpm-lock.yaml', /^ {2}['"]?\/?((?:@[^\s/@'"]+\/)?[^\s/@'"]+)@[^\n]*:\s*$/gm],
    ['yarn.lock', /^"?((?:@[^\s/@"]+\/)?[^\s/@",]+)@[^\n]*:\s*$/gm],
    ['bun.lock', /^\s*"((?:@[^\s/@"]+\/)?[^\s/@"]+)": \[/gm],
  ],
  pypi: [
    ['uv.lock', /^name = "([^"]+)"/gm],
    ['poetry.lock', /^name = "([^"]+)"/gm],
    ['requirements.txt', /^([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*==/gm],
  ],
  crates: [['Cargo.lock', /^name = "([^"]+)"/gm]],
}

/** Null if HEAD has no readable lock file. */
export function committedPackages(root: string, ecosystem: Ecosystem): ReadonlySet<string> | null {
  const head = GitHead.of(root, [root])
  if (head === null) return null
  try {
    const found = LOCK_FILES[ecosystem].flatMap(([file, name]) => {
      const committed = head.at(join(root, file))
      if (typeof committed === 'string') return []
      return [[...committed.bytes.toString('utf8').matchAll(name)].map((match) => match[1]!)]
    })
    return found.length === 0 ? null : new Set(found.flat().map((name) => spelled(ecosystem, name)))
  } finally {
    head.close()
  }
}

/** Crates compare equal in both spellings. */
function spelled(ecosystem: Ecosystem, name: string): string {
  return ecosystem === 'pypi' ? canonicalName('pypi', name) : name
}

interface LocalSockets {
  readonly sockets: readonly GrantedSocket[]
  readonly variables: Readonly<Record<string, string>>
  /** The agent at each real path that may use only one key, with that key. */
  readonly signers: ReadonlyMap<string, string>
}

/** The granted sockets that exist now. Inside, the path and its real path both work. */
function localSockets(
  { allowed, denied }: Pick<EgressRules, 'allowed' | 'denied'>,
  { home, env }: Pick<Machine, 'home' | 'env'>,
): LocalSockets {
  const granted = (allowed ?? []).filter(({ pattern }) => pattern.kind === 'unix')
  const sockets: GrantedSocket[] = []
  const variables: Record<string, string> = {}
  const signers = new Map<string, string>()
  for (const { pattern, signs } of granted) {
    if (denied.some((rule) => matchesDenied(rule.pattern, pattern.host, 0))) continue
    const path = pattern.host.startsWith('~') ? home + pattern.host.slice(1) : pattern.host
    const found = socketAt(path)
    if (found === null) continue
    sockets.push({ paths: [...new Set([path, found.target])], ...found })
    if (signs !== undefined) signers.set(found.target, signs)
    // SSH_AUTH_SOCK, DOCKER_HOST, PGHOST: programs find the socket as they do outside.
    const names = [path, `unix://${path}`, posix.dirname(path)]
    for (const [name, value] of Object.entries(env))
      if (value !== undefined && FINDING.has(name) && names.includes(value)) variables[name] = value
  }
  return { sockets, variables, signers }
}

/** Variables that contain only the path of a socket. */
const FINDING: ReadonlySet<string> = new Set(['SSH_AUTH_SOCK', 'DOCKER_HOST', 'CONTAINER_HOST', 'PGHOST'])

const MAX_LINKS = 40

/** The real path of the socket at a path, with the links to it; null without one. */
function socketAt(path: string): Pick<GrantedSocket, 'links' | 'target'> | null {
  const links: string[] = []
  let target = '/'
  const rest = path.split('/')
  try {
    while (rest.length > 0) {
      const at = posix.join(target, rest.shift()!)
      if (!lstatSync(at).isSymbolicLink()) target = at
      else {
        if (links.push(at) > MAX_LINKS) return null
        const text = readlinkSync(at)
        if (text.startsWith('/')) target = '/'
        rest.unshift(...text.split('/'))
      }
    }
    return lstatSync(target).isSocket() ? { links, target } : null
  } catch {
    return null
  }
}

/** Faults of one entry of `[[secrets]]`. */
const SECRET_FAULTS: ReadonlySet<string> = new Set(['secret-missing', 'secret-unfit'])

/** The address of a command's proxy, inside its network namespace. */
const PROXY = { proxyHost: '127.0.0.1', proxyPort: 3128 } as const

/** Its address on a system without namespaces, and the token that only the command has. */
export interface SharedProxy {
  readonly port: number
  readonly token: string
}

/** The settings by which a command finds its proxy: variables, and a directory of trust files. */
export interface ProxySettings {
  readonly variables: Readonly<Record<string, string>>
  readonly directory: string
  /** Files of the machine that the command sees replaced by one of the directory. */
  readonly standIns: readonly { readonly path: string; readonly source: string }[]
  readonly names: Aliases['names']
  readonly proxyPorts: Aliases['proxyPorts']
  readonly sockets: LocalSockets['sockets']
}

type SharedSettings = Omit<ProxySettings, 'names' | 'proxyPorts' | 'sockets'>

export interface NetworkOptions {
  readonly machine: Machine
  readonly secrets: readonly SecretSetting[]
  readonly usage: HostUsage
  readonly ask?: AskHost
  readonly resolver?: Resolver
  readonly upstream?: Upstream
  /** Further authorities and the parent proxy, if no upstream is given. */
  readonly sandbox: Pick<SandboxSettings, 'caFiles' | 'parent'>
}

/**
 * The CA, trust files and open proxies of one session. Created when a command first needs the
 * network.
 */
export class SessionNetwork {
  readonly #options: NetworkOptions
  readonly #resolver: Resolver
  readonly #upstream: Upstream
  readonly #proxies = new Set<CommandProxy>()
  #ca: SessionCa | null = null
  #broker: Broker | null = null
  #packages: PackageMemory | null = null
  readonly #settings = new Map<string, SharedSettings>()

  constructor(options: NetworkOptions) {
    this.#options = options
    this.#resolver = options.resolver ?? machineResolver()
    this.#upstream = options.upstream ?? machineUpstream(options.machine, options.sandbox)
  }

  /**
   * The variables and files of a command; commands with the same ssh hosts and host loopback share
   * a set.
   */
  settings(rules: EgressRules, shared: SharedProxy | null = null): ProxySettings {
    const loopback = proxiedLoopback(rules, shared !== null)
    const knownHosts = this.#knownHosts(rules)
    const passthrough = rules.allowed?.some(({ tls }) => tls === 'pass') ?? false
    const gitHosts = (rules.allowed ?? []).flatMap(({ ssh, pattern: { wildcard, host, port } }) =>
      ssh === undefined ? [] : [`${wildcard ? '*.' : ''}${host}:${port}`],
    )
    const key = `${loopback} ${passthrough} ${gitHosts} ${shared?.port} ${knownHosts}`
    // Addresses for host names need a private loopback.
    const { names, proxyPorts } = shared ? { names: [], proxyPorts: [] } : aliasesOf(rules)
    const known = this.#settings.get(key) ?? this.#makeSettings(loopback, passthrough, knownHosts, gitHosts, shared)
    this.#settings.set(key, known)
    const { sockets, variables } = localSockets(rules, this.#options.machine)
    return { ...known, variables: { ...known.variables, ...variables }, names, proxyPorts, sockets }
  }

  /** Opens the proxy of one command, once its listener exists. */
  proxyFor(
    rules: EgressRules,
    onEvent: (event: EgressEvent) => void,
    callers: ProxyOptions['callers'] | null,
    flow: ProxyOptions['flow'] | null,
  ): (listener: Server) => CommandProxy {
    // Connections belong to no call: questions go to the person behind the call that starts
    // the command.
    const ask = this.#options.ask && AsyncResource.bind(this.#options.ask)
    return (listener) => {
      const proxy = openProxy({
        listener,
        rules,
        ...(callers && { callers }),
        aliases: aliasesOf(rules),
        ca: this.#authority(),
        upstream: this.#upstream,
        resolver: this.#resolver,
        broker: this.#secrets(),
        ssh: this.#options.machine,
        usage: this.#options.usage,
        signers: localSockets(rules, this.#options.machine).signers,
        onEvent,
        ...(rules.packages && { packages: this.#packageSupport(rules.packages) }),
        ...(ask && { ask }),
        ...(flow && { flow }),
      })
      this.#proxies.add(proxy)
      return proxy
    }
  }

  /**
   * The package facts, for every command of the session. Lock files are read again each time: a
   * command may have committed one.
   */
  #packageSupport({ root }: PackageRules): PackageSupport {
    this.#packages ??= new PackageMemory()
    const known = new Map<Ecosystem, ReadonlySet<string> | null>()
    const committed = (ecosystem: Ecosystem) => {
      if (!known.has(ecosystem)) known.set(ecosystem, committedPackages(root, ecosystem))
      return known.get(ecosystem) ?? null
    }
    return { memory: this.#packages, committed }
  }

  /** Replaces placeholders in requests by these credentials from here on. */
  broker(tokens: readonly GitToken[]): void {
    for (const { placeholder, value, host } of tokens) {
      const parsed = host === null ? null : parseHostPattern(host, null)
      const secret = { name: 'GIT_REMOTE', value, placeholder, lenient: true }
      if (parsed === null || !('pattern' in parsed) || unfitValue(secret) !== null) continue
      this.#secrets().add({ ...secret, hosts: [parsed.pattern] })
    }
  }

  async closeProxy(proxy: CommandProxy): Promise<void> {
    this.#proxies.delete(proxy)
    await proxy.close()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#proxies].map((proxy) => proxy.close()))
    this.#proxies.clear()
    for (const { directory } of this.#settings.values()) rmSync(directory, { recursive: true, force: true })
    this.#settings.clear()
  }

  #authority(): SessionCa {
    this.#ca ??= createSessionCa()
    return this.#ca
  }

  #secrets(): Broker {
    this.#broker ??= this.#readSecrets()
    return this.#broker
  }

  /** A secret without a usable value closes only its hosts. */
  #readSecrets(): Broker {
    const found: BrokeredSecret[] = []
    const absent: AbsentSecret[] = []
    for (const secret of this.#options.secrets) {
      try {
        found.push(readSecret(secret, this.#options.machine))
      } catch (error) {
        if (!(error instanceof Fault) || !SECRET_FAULTS.has(error.code)) throw error
        absent.push({ name: secret.name, hosts: secret.hosts.map((rule) => rule.pattern), problem: error.message })
      }
    }
    return createBroker(found, absent)
  }

  /** The placeholders for the command: in variables, or in files that variables name. */
  #brokeredVariables(directory: string): { variables: Record<string, string>; files: ClientFile[] } {
    const variables: Record<string, string> = { ...this.#secrets().environment }
    const files: ClientFile[] = []
    for (const { name } of this.#options.secrets.filter((secret) => secret.asFile)) {
      const path = join(directory, `secret-${name}`)
      files.push({ path, content: variables[name]!, mode: 0o444 })
      variables[name] = path
    }
    return { variables, files }
  }

  /** ~/.ssh is hidden inside; the host keys of granted hosts are not secret. */
  #knownHosts({ allowed }: EgressRules): string {
    const patterns = sshPatterns(allowed?.map((rule) => rule.pattern) ?? [])
    if (patterns.length === 0) return ''
    return attempt(
      () => knownHostsFor(readFileSync(join(this.#options.machine.home, '.ssh', 'known_hosts'), 'utf8'), patterns),
      '',
    )
  }

  #makeSettings(
    loopback: readonly string[],
    passthrough: boolean,
    knownHosts: string,
    gitHosts: readonly string[],
    shared: SharedProxy | null,
  ): SharedSettings {
    const runs = join(this.#options.machine.cacheDir, 'run')
    reap(runs)
    const directory = join(runs, `${process.pid}-${Math.random().toString(36).slice(2)}`)
    const brokered = this.#brokeredVariables(directory)
    const { environment, files, standIns } = clientSettings({
      ...PROXY,
      ...(shared && { proxyPort: shared.port, proxyToken: shared.token }),
      directory,
      caPem: this.#authority().pem,
      roots: this.#upstream.roots,
      proxiedLoopback: loopback,
      passthrough,
      home: this.#options.machine.home,
      knownHosts,
      gitHosts,
    })
    try {
      makeDirectories(directory, 0o755)
      for (const { path, content, mode } of [...files, ...brokered.files])
        writeMade(path, content, { mode, flag: 'wx' })
    } catch (error) {
      rmSync(directory, { recursive: true, force: true })
      throw unwritable(directory, error)
    }
    return { variables: { ...environment, ...brokered.variables }, directory, standIns }
  }
}

/** Removes directories of killed sessions: their names contain the pid of a dead process. */
function reap(runs: string): void {
  let names: string[]
  try {
    names = readdirSync(runs)
  } catch {
    return
  }
  for (const name of names) {
    const pid = Number(name.split('-')[0])
    if (!Number.isInteger(pid) || isAlive(pid)) continue
    rmSync(join(runs, name), { recursive: true, force: true })
  }
}
