/** A manifest in a few lines: its widest grants first, so that they are seen (M3). */

import { posix } from 'node:path'
import { secretShape } from '../../files/secret-shapes.ts'
import { namesUnixSocket, socketMeaning } from '../../hosts/pattern.ts'
import type { Plain } from '../toml/tree.ts'
import type { ReachChange } from './reach-diff.ts'
import { type Entry, headerKey, NEARBY_WORDS, texts } from './reach-diff-words.ts'
import { SETTING_WORDS } from './setting-words.ts'

export interface ReachSummary {
  /** What makes a sandbox a formality: each on its own line, none ever left out. */
  readonly alarms: readonly string[]
  readonly lines: readonly SummaryLine[]
}

export interface SummaryLine {
  readonly label: string
  /** The widest first. */
  readonly items: readonly string[]
}

/** Values of settings that a person must not overlook. */
const ALARMING: Readonly<Record<string, readonly string[]>> = {
  'permission.mode': ['auto'],
  'permission.auto_accept': ['true'],
  'security.privilege_wrappers': ['true'],
  'security.system_python': ['true'],
  'http.allow_private_hosts': ['true'],
  'sandbox.os.command_fs': ['permissive', 'all'],
  'sandbox.os.command_mask_secrets': ['false'],
  'debug.dump_provider_payloads': ['true'],
}

/** What the manifest of this canonical text opens; `registries` are signed with it. */
export function reachSummary(canonical: string, registries: readonly string[]): ReachSummary {
  const { settings, declared } = JSON.parse(canonical) as {
    readonly settings: Readonly<Record<string, Plain>>
    readonly declared: readonly string[]
  }
  const read = new Settings(settings)
  const lines = [
    line('runs unasked', [...modeItems(read), ...byWidth(unasked(read), commandWidth)]),
    line('reaches', [...byWidth(hosts(read), hostWidth), ...bundles(read, registries)]),
    line('writes', byWidth(writes(read, declared), pathWidth)),
    line('reads outside', [...readsNearby(read), ...byWidth(readsOutside(read), pathWidth)]),
    line('opens secrets', secrets(read)),
    line('serves ports', texts(settings['sandbox.os.dev_server_ports'])),
    line('starts servers', read.names('mcp_servers')),
    line('calls unasked', serverTools(read)),
  ]
  return { alarms: alarms(read), lines: lines.filter(({ items }) => items.length > 0) }
}

function line(label: string, items: readonly string[]): SummaryLine {
  return { label, items: [...new Set(items)] }
}

class Settings {
  readonly #settings: Readonly<Record<string, Plain>>

  constructor(settings: Readonly<Record<string, Plain>>) {
    this.#settings = settings
  }

  value(path: string): Plain | undefined {
    return this.#settings[path]
  }

  /** The entries of a list; a bare text is its first field. */
  entries(path: string, field: string): readonly Entry[] {
    const value = this.#settings[path]
    if (!Array.isArray(value)) return []
    return (value as readonly Plain[]).map((item) =>
      typeof item === 'object' && item !== null && !Array.isArray(item) ? (item as Entry) : { [field]: item },
    )
  }

  /** The names under a section of named tables. */
  names(section: string): string[] {
    const own = Object.keys(this.#settings).filter((path) => path.startsWith(`${section}.`))
    return [...new Set(own.map((path) => path.split('.')[1]!))]
  }

  paths(): readonly string[] {
    return Object.keys(this.#settings)
  }
}

function alarms(read: Settings): string[] {
  const settings = Object.entries(ALARMING).flatMap(([path, values]) => {
    const value = String(read.value(path))
    const words = SETTING_WORDS[path]
    return values.includes(value) && typeof words === 'object' ? [words[value]!] : []
  })
  const agents = read
    .names('agents')
    .filter((name) => read.value(`agents.${name}.mode`) === 'auto')
    .map((name) => `For the agent ${JSON.stringify(name)}: EVERYTHING that no rule denies runs without asking.`)
  const tools = read
    .paths()
    .filter((path) => /^(?:agents\.[^.]+|permission)\.tools\.bash$/.test(path) && read.value(path) === 'allow')
    .map(() => 'EVERY command runs without asking (the tool "bash" is allowed).')
  const authorities = texts(read.value('sandbox.os.ca_files')).map(
    (file) => `Certificates by the authorities in ${JSON.stringify(file)} are trusted for every host.`,
  )
  const wide = writes(read, ['capabilities.allow.write'])
    .filter(isWide)
    .map((path) => `${JSON.stringify(path)} may be written: that is more than any project.`)
  const sockets = hosts(read)
    .filter((entry) => namesUnixSocket(entry) && !entry.endsWith(SIGNS))
    .map((entry) => `Commands may use the socket ${JSON.stringify(entry.slice(5))}: ${socketMeaning(entry)}.`)
  const servers = read
    .names('mcp')
    .filter((name) => serverTools(read).some((item) => item === `${name}: *` || item.startsWith(`${name}: what may`)))
    .map((name) => `EVERY tool of the MCP server ${JSON.stringify(name)} runs without asking.`)
  return [...new Set([...settings, ...agents, ...tools, ...servers, ...authorities, ...sockets, ...wide])]
}

function modeItems(read: Settings): string[] {
  const mode = read.value('permission.mode')
  return mode === 'contained' ? ['what stays inside the sandbox'] : mode === 'auto' ? ['EVERYTHING'] : []
}

const patterns = (read: Settings): readonly Entry[] => read.entries('capabilities.allow.commands.patterns', 'command')

function unasked(read: Settings): string[] {
  return patterns(read)
    .filter(({ prompt }) => prompt !== true)
    .map(({ command }) => String(command))
}

const SIGNS = ' (signs by one key)'

/** Tools of MCP servers that need no question, by their names or by what the server says of them. */
function serverTools(read: Settings): string[] {
  return read.names('mcp').flatMap((name) => {
    const named = read
      .entries(`mcp.${name}.tools`, 'tool')
      .filter(({ level = 'allow' }) => level === 'allow')
      .map(({ tool, args }) => [`${name}: ${String(tool)}`, ...texts(args)].join(' '))
    return [...named, ...hinted(read, name)]
  })
}

function hinted(read: Settings, name: string): string[] {
  if (read.value(`mcp.${name}.trust_hints`) !== true) return []
  const groups = { read_only: 'what only reads', destructive: 'what may destroy' }
  return Object.entries(groups).flatMap(([key, what]) =>
    read.value(`mcp.${name}.${key}`) === 'allow' ? [`${name}: ${what}, by the server's own word`] : [],
  )
}

function hosts(read: Settings): string[] {
  const lists = [
    read.entries('capabilities.allow.commands.default_domains', 'host'),
    ...patterns(read).map(({ domains }) => hostEntries(domains)),
    read.entries('http.allowed_hosts', 'host'),
    ...read.names('mcp_servers').map((name) => read.entries(`mcp_servers.${name}.domains`, 'host')),
    ...read.names('mcp_servers').map((name) => addressHost(read.value(`mcp_servers.${name}.url`))),
  ]
  return lists
    .flat()
    .map(({ host, ssh, signs }) =>
      signs === undefined
        ? `${String(host)}${ssh === 'push' ? ' (pushes with your ssh keys)' : ''}`
        : `${String(host)}${SIGNS}`,
    )
}

/** The host of a server elsewhere. */
function addressHost(url: Plain | undefined): Entry[] {
  return typeof url === 'string' && URL.canParse(url) ? [{ host: new URL(url).host }] : []
}

function hostEntries(value: Plain | undefined): Entry[] {
  if (!Array.isArray(value)) return []
  return (value as readonly Plain[]).map((item) =>
    typeof item === 'object' && item !== null ? (item as Entry) : { host: item },
  )
}

function bundles(read: Settings, registries: readonly string[]): string[] {
  const tools = read.entries('sandbox.os.command_tools', 'tool').map(({ tool }) => String(tool))
  // One line each, so that a long list is counted and not cut.
  return [...registries, ...tools.map((tool, index) => (index === 0 ? `the package hosts of ${tool}` : tool))]
}

function writes(read: Settings, declared: readonly string[]): string[] {
  const granted = read
    .entries('capabilities.allow.write.paths', 'path')
    .filter(({ prompt }) => prompt !== true)
    .map(({ path }) => String(path))
  return [
    ...(declared.includes('capabilities.allow.write') ? granted : ['the project']),
    ...texts(read.value('capabilities.allow.additional_directories')),
    ...patterns(read).flatMap(({ paths }) => texts(paths)),
    ...read.names('mcp_servers').flatMap((name) => texts(read.value(`mcp_servers.${name}.write`))),
  ]
}

function readsOutside(read: Settings): string[] {
  return [
    ...read.entries('capabilities.allow.read.paths', 'path').map(({ path }) => String(path)),
    ...read.names('mcp_servers').flatMap((name) => texts(read.value(`mcp_servers.${name}.read`))),
  ].filter(isOutside)
}

function readsNearby(read: Settings): string[] {
  return texts(read.value('capabilities.allow.read.nearby')).map((kind) =>
    NEARBY_WORDS[kind]!.replace(/^./, (first) => first.toLowerCase()),
  )
}

function secrets(read: Settings): string[] {
  const files = read
    .entries('capabilities.allow.read.paths', 'path')
    .map(({ path }) => String(path))
    .filter((path) => secretShape(path) !== null)
  const brokered = read.entries('secrets', 'name').map(
    ({ name, hosts: to }) =>
      `${String(name)} to ${hostEntries(to)
        .map(({ host }) => String(host))
        .join(', ')}`,
  )
  const headers = read.names('mcp_servers').flatMap((name) => {
    const [{ host } = { host: name }] = addressHost(read.value(`mcp_servers.${name}.url`))
    return texts(read.value(`mcp_servers.${name}.headers`)).map((text) => `${headerKey(text)} to ${String(host)}`)
  })
  const variables = [
    ...texts(read.value('capabilities.allow.commands.default_env_vars')),
    ...texts(read.value('sandbox.os.env_allowlist')),
    ...patterns(read).flatMap(({ env_vars }) => texts(env_vars)),
    ...read.names('mcp_servers').flatMap((name) => texts(read.value(`mcp_servers.${name}.env_vars`))),
  ]
  return [...files, ...brokered, ...headers, ...[...new Set(variables)].sort().map((name) => `$${name}`)]
}

/** Changes with what opens most first: a person may not read on. */
export function widestFirst(changes: readonly ReachChange[]): ReachChange[] {
  return changes.toSorted((one, other) => changeWidth(one) - changeWidth(other))
}

function changeWidth({ kind, subject, verdict }: ReachChange): number {
  const asks = verdict === 'ask' ? 500 : 0
  switch (kind) {
    case 'setting':
      return Object.hasOwn(ALARMING, subject) || /^agents\..*\.mode$/.test(subject) ? 0 : 90_000
    case 'secret':
      return 10_000
    case 'write':
    case 'directory':
      return 20_000 + pathWidth(subject) + asks
    case 'host':
      return 30_000 + hostWidth(subject)
    case 'command':
      return 40_000 + commandWidth(subject) + asks
    case 'read':
      return 50_000 + pathWidth(subject) + asks
    case 'variable':
      return 60_000
    case 'tool':
      return subject === 'permission.tools.bash' ? 1 : 70_000
  }
}

function byWidth(items: readonly string[], width: (item: string) => number): string[] {
  return items.toSorted((one, other) => width(one) - width(other) || (one < other ? -1 : 1))
}

/** Whether a path of a manifest points outside the project. */
export function isOutside(path: string): boolean {
  return /^(?:[~/]|\.\.(?:\/|$))/.test(posix.normalize(path))
}

const namesOf = (path: string): string[] =>
  posix
    .normalize(path)
    .split('/')
    .filter((name) => name !== '' && name !== '.' && name !== '~' && !/^\*+$/.test(name))

/** A home directory, a directory of the system as a whole, or more than that. */
function isWide(path: string): boolean {
  if (!isOutside(path)) return false
  const [first, ...more] = namesOf(path)
  if (path.startsWith('~')) return first === undefined
  return more.length === 0 || (more.length === 1 && (first === 'home' || first === 'Users'))
}

/** Lower is wider: outside the project before inside, few names before many. */
function pathWidth(path: string): number {
  return (isOutside(path) ? 0 : 1000) + namesOf(path).length
}

/** A wildcard before a name, and few labels before many. */
function hostWidth(host: string): number {
  return (host.includes('*') ? 0 : 1000) + host.split('.').length
}

/** Open patterns before exact ones, and few words before many. */
function commandWidth(command: string): number {
  return (command.endsWith(':*') ? 0 : 1000) + command.split(' ').length
}
