/** Reading an effective manifest: a value with its origin, or the schema's default. */

import { posix } from 'node:path'
import { type PathPattern, parsePathPattern } from '../files/path-pattern.ts'
import { namesUnixSocket, parseDeniedPattern, parseHostPattern, parseUnixSocket } from '../hosts/pattern.ts'
import type { SuffixLookup } from '../hosts/suffix.ts'
import type { HostRule, RuleRef, Sourced } from '../policy/policy.ts'
import { expandHost } from './schema/format.ts'
import { type HostEntry, type Item, itemsOf, type Manifest, schemaKeys } from './schema/manifest.ts'
import type { SecretSource } from './schema/settings.ts'
import { type Finding, type Problem, problemAt } from './toml/problem.ts'
import { quoteShort, splitKey } from './toml/tree.ts'

/** What patterns are resolved against; all of it already looked up. */
export interface CompileContext {
  /** Canonical project root. */
  readonly root: string
  readonly home: string
  /** For `${VAR}` in host entries. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The canonical form of a directory, or null if missing; without it paths stay as written. */
  readonly realpath?: (path: string) => string | null
  readonly suffixes?: SuffixLookup | null
  /** The file system takes `Secrets` and `secrets` for one name, as that of a Mac does. */
  readonly foldsNames?: boolean
}

let defaults: ReadonlyMap<string, unknown> | null = null

function defaultOf(path: string): unknown {
  defaults ??= new Map(schemaKeys().map(({ path, key }) => [path, key.default ?? null]))
  return defaults.get(path) ?? null
}

/** One pass over an effective manifest, collecting its problems for this machine and time. */
export class Lookup {
  readonly manifest: Manifest
  readonly context: CompileContext
  readonly problems: Problem[] = []
  readonly warnings: Problem[] = []

  constructor(manifest: Manifest, context: CompileContext) {
    this.manifest = manifest
    this.context = context
  }

  /** A scalar with its origin; `schemaPath` if the path contains a name (`agents.*.mode`). */
  scalar<T>(path: string, schemaPath: string = path): Sourced<T> {
    const setting = this.manifest.settings.get(path)
    if (setting !== undefined) return { value: setting.value as T, rule: path, source: setting.source }
    return { value: defaultOf(schemaPath) as T, rule: path, source: 'built-in' }
  }

  items<T>(path: string): readonly Item<T>[] {
    return itemsOf<T>(this.manifest, path)
  }

  texts(path: string): Sourced<string>[] {
    return this.items<string>(path).map(sourced)
  }

  namesUnder(section: 'agents' | 'flows' | 'tools' | 'mcp' | 'mcp_servers' | 'components'): string[] {
    const names = new Set<string>()
    const add = (path: string): void => {
      if (path.startsWith(`${section}.`)) names.add(splitKey(path)[1]!)
    }
    for (const path of this.manifest.declared) add(path)
    for (const path of this.manifest.settings.keys()) add(path)
    return [...names]
  }

  /** A path of one file, without patterns. */
  absolute(path: string): string {
    const { root, home } = this.context
    if (path === '~' || path.startsWith('~/')) return posix.normalize(home + path.slice(1))
    return posix.resolve(root, path)
  }

  secretSource(text: string): SecretSource {
    const colon = text.indexOf(':')
    const kind = text.slice(0, colon) as SecretSource['kind']
    const written = text.slice(colon + 1)
    return { kind, name: kind === 'file' ? this.absolute(written) : written }
  }

  /** A path entry resolved here; null after a problem was noted. */
  path(text: string, files: readonly string[] | null, at: RuleRef): PathPattern | null {
    const { root, home } = this.context
    const folds = this.context.foldsNames === true && at.rule.includes('deny')
    const parsed = parsePathPattern(text, { root, home, files, folds })
    if ('pattern' in parsed) return parsed.pattern
    this.error(at, { code: 'bad-path', message: parsed.problem, found: quoteShort(text) })
    return null
  }

  /** Host entries with expanded variables; unset ones are dropped with a warning (M6). */
  hosts(items: readonly Item<HostEntry | string>[]): HostRule[] {
    return items.flatMap((item) => {
      const entry: HostEntry = typeof item.value === 'string' ? { host: item.value } : item.value
      const rule = this.#host(entry, item)
      return rule === null ? [] : [rule]
    })
  }

  #host(entry: HostEntry, item: Item): HostRule | null {
    const expanded = expandHost(entry.host, this.context.env)
    if ('unset' in expanded) {
      this.warn(item, {
        code: 'unset-variable',
        message: `\${${expanded.unset}} is not set, so ${quoteShort(entry.host)} is left out`,
        suggestion: `set ${expanded.unset} before Cordon starts`,
      })
      return null
    }
    const misplaced = misplacedEntry({ ...entry, host: expanded.text }, item.rule)
    if (misplaced !== null) {
      this.error(item, { code: 'bad-host', message: misplaced, found: quoteShort(entry.host) })
      return null
    }
    const denies = item.rule.includes('deny')
    const parsed = namesUnixSocket(expanded.text)
      ? parseUnixSocket(expanded.text)
      : (denies ? parseDeniedPattern : parseHostPattern)(expanded.text, this.context.suffixes ?? null)
    if ('problem' in parsed) {
      const found = expanded.text === entry.host ? '' : ` (from ${quoteShort(entry.host)})`
      this.error(item, { code: 'bad-host', message: parsed.problem, found: `${quoteShort(expanded.text)}${found}` })
      return null
    }
    if (entry.ssh !== undefined && parsed.pattern.port === null) {
      const message = 'git over ssh needs the port of the host'
      this.error(item, {
        code: 'bad-host',
        message,
        found: quoteShort(entry.host),
        suggestion: `write "${entry.host}:22"`,
      })
      return null
    }
    return {
      pattern: parsed.pattern,
      rule: item.rule,
      source: item.source,
      ...(entry.methods && { methods: entry.methods.map((method) => method.value) }),
      ...(entry.paths && { paths: entry.paths.map((path) => path.value) }),
      ...(entry.max_requests !== undefined && { maxRequests: entry.max_requests }),
      ...(entry.max_upload !== undefined && { maxUpload: entry.max_upload }),
      ...(entry.tls === 'pass' && { tls: 'pass' as const }),
      ...(entry.ssh !== undefined && { ssh: entry.ssh }),
      ...(entry.signs !== undefined && { signs: entry.signs }),
    }
  }

  error(at: RuleRef, finding: Finding): void {
    this.problems.push(problemAt('error', at, finding))
  }

  warn(at: RuleRef, finding: Finding): void {
    this.warnings.push(problemAt('warning', at, finding))
  }
}

/** An item without its offset. */
export function sourced<T>(item: Item<T>): Sourced<T> {
  return { value: item.value, rule: item.rule, source: item.source }
}

/** Lists for commands and MCP servers, which run in a sandbox: others get no sockets or logins. */
const RUNNING = /^(?:capabilities\.allow\.commands\.|mcp_servers\.)/

/** A part of an entry without meaning in its place; null if all of it has one. */
function misplacedEntry(
  { host, ssh, tls, methods, paths, max_requests, max_upload, signs }: HostEntry,
  rule: string,
): string | null {
  const socket = namesUnixSocket(host)
  if ((max_requests ?? max_upload) !== undefined && (socket || ssh !== undefined || tls === 'pass'))
    return 'max_requests and max_upload count requests that Cordon reads: they do not go with ssh, tls = "pass" or a unix socket'
  if (signs !== undefined && !socket) return '`signs` is for the unix socket of an agent'
  if (socket && !RUNNING.test(rule) && !rule.includes('deny'))
    return 'a unix socket can be given to commands (default_domains, domains of a pattern) and MCP servers alone'
  if (socket && (ssh ?? tls ?? methods ?? paths) !== undefined)
    return 'Cordon only sees the bytes of a unix socket: methods, paths, tls and ssh cannot apply there'
  if (ssh !== undefined && !RUNNING.test(rule) && !rule.startsWith('sandbox.os.command_tools'))
    return '`ssh` is for git in commands: the web tools speak HTTP alone'
  if (tls !== undefined && rule.startsWith('http.'))
    return '`tls` is for commands and servers: what the web tools send is Cordon’s own, and nothing of it is closed to Cordon'
  return null
}
