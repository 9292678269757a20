/** Host and path rules of one file that contradict or shadow each other. */

import { isGlob } from '../../files/glob.ts'
import { containsPattern, literalPrefix, type PathPattern, splitPath } from '../../files/path-pattern.ts'
import { containsHost, coversName, type HostPattern } from '../../hosts/pattern.ts'
import type { FormatContext } from '../schema/format.ts'
import {
  type BundleEntry,
  type CommandEntry,
  type HostEntry,
  type Item,
  itemsOf,
  type Manifest,
  type PathEntry,
  type SecretEntry,
} from '../schema/manifest.ts'
import type { Report } from '../toml/problem.ts'
import { quoteShort } from '../toml/tree.ts'

interface Host {
  readonly item: Item
  readonly pattern: HostPattern
  /** Methods and paths, as a text to compare; empty for none. */
  readonly narrowed: string
}

/** Within one file only: denials of another layer may be broader than a project's grants. */
export function checkHosts(manifest: Manifest, formats: FormatContext, report: Report): void {
  const everywhere = plainHosts(itemsOf<string>(manifest, 'security.deny_domains'), formats)
  const commands = plainHosts(itemsOf<string>(manifest, 'capabilities.deny.commands.domains'), formats)
  const both = new DeniedHosts([...everywhere, ...commands])
  const patterns = itemsOf<CommandEntry>(manifest, 'capabilities.allow.commands.patterns')
  const lists: [readonly Item<HostEntry>[], DeniedHosts][] = [
    [itemsOf<HostEntry>(manifest, 'http.allowed_hosts'), new DeniedHosts(everywhere)],
    [itemsOf<HostEntry>(manifest, 'capabilities.allow.commands.default_domains'), both],
    ...patterns.map((item): [readonly Item<HostEntry>[], DeniedHosts] => [item.value.domains ?? [], both]),
    ...[...manifest.settings.keys()]
      .filter((path) => /^mcp_servers\..*\.domains$/.test(path))
      .map((path): [readonly Item<HostEntry>[], DeniedHosts] => [itemsOf(manifest, path), new DeniedHosts(everywhere)]),
  ]
  for (const [items, denied] of lists) checkHostList(hostEntries(items, formats), denied, report)
  for (const { value } of itemsOf<SecretEntry>(manifest, 'secrets'))
    checkHostList(plainHosts(value.hosts, formats), new DeniedHosts(everywhere), report)
}

function checkHostList(hosts: readonly Host[], denied: DeniedHosts, report: Report): void {
  const seen = new Map<string, Item>()
  const wildcards = hosts.filter((host) => host.pattern.wildcard && host.narrowed === '')
  for (const { item, pattern, narrowed } of hosts) {
    const key = `${hostKey(pattern)} ${narrowed}`
    const first = seen.get(key)
    if (first !== undefined) {
      report.error(item.at, item.rule, {
        code: 'duplicate-rule',
        message: `${quoteShort(pattern.text)} is listed twice`,
        expected: 'each host once',
        found: `${first.rule} at ${first.source}`,
        suggestion: 'delete one of them',
      })
      continue
    }
    seen.set(key, item)
    const stop = denied.covering(pattern)
    if (stop !== null) {
      reportDenied(report, item, pattern.text, stop.item, hostKey(pattern) === hostKey(stop.pattern))
      continue
    }
    const broader = wildcards.find((other) => other.item !== item && containsHost(other.pattern, pattern))
    if (broader !== undefined) {
      report.warn(item.at, item.rule, {
        code: 'shadowed',
        message: `${quoteShort(pattern.text)} adds nothing: ${quoteShort(broader.pattern.text)} covers it`,
        found: `${broader.item.rule} at ${broader.item.source}`,
        suggestion: 'delete one of them',
      })
    }
  }
}

function hostKey(pattern: HostPattern): string {
  return `${pattern.wildcard ? '*.' : ''}${pattern.host}:${pattern.port ?? ''}`
}

function plainHosts(items: readonly Item<string>[], formats: FormatContext): Host[] {
  return items.flatMap((item) => {
    const pattern = formats.hosts.get(item.value)
    return pattern === undefined ? [] : [{ item, pattern, narrowed: '' }]
  })
}

function hostEntries(items: readonly Item<HostEntry>[], formats: FormatContext): Host[] {
  return items.flatMap((item) => {
    const pattern = formats.hosts.get(item.value.host)
    if (pattern === undefined) return []
    const { methods, paths, max_requests, max_upload, signs } = item.value
    const fields = [methods?.map((m) => m.value), paths?.map((p) => p.value), max_requests, max_upload, signs]
    const narrowed = fields.some((field) => field !== undefined) ? JSON.stringify(fields) : ''
    return [{ item, pattern, narrowed }]
  })
}

/** Denied hosts by name, so that a long list costs one look for each label. */
class DeniedHosts {
  readonly #byName = new Map<string, Host[]>()

  constructor(hosts: readonly Host[]) {
    for (const host of hosts) {
      const bucket = this.#byName.get(host.pattern.host)
      if (bucket === undefined) this.#byName.set(host.pattern.host, [host])
      else bucket.push(host)
    }
  }

  covering(inner: HostPattern): Host | null {
    const labels = inner.host.split('.')
    for (const name of [...labels.map((_, at) => labels.slice(at).join('.')), '*']) {
      for (const denied of this.#byName.get(name) ?? []) {
        const { pattern } = denied
        const port = pattern.port === null || pattern.port === inner.port
        const host = pattern.host === inner.host ? pattern.wildcard === inner.wildcard : coversName(pattern, inner.host)
        if (port && host) return denied
      }
    }
    return null
  }
}

/** Shells and wrappers that run anything: a bundle must not come alive inside them. */
const SHELLS: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'fish',
  'ksh',
  'env',
  'eval',
  'exec',
  'xargs',
])

/** Checks what must be there once: secrets and bundles by name; and that wrappers are build tools. */
export function checkNames(manifest: Manifest, report: Report): void {
  const secrets = itemsOf<SecretEntry>(manifest, 'secrets')
  const bundles = itemsOf<BundleEntry>(manifest, 'sandbox.os.command_tools')
  checkUnique(
    secrets.map((item) => ({ item, name: item.value.name })),
    'secret',
    report,
  )
  checkUnique(
    bundles.map((item) => ({ item, name: item.value.tool })),
    'bundle',
    report,
  )
  for (const item of secrets) checkLogin(item, report)
  const wrappers = itemsOf<string>(manifest, 'sandbox.os.wrappers')
  for (const item of [...wrappers, ...bundles.flatMap((bundle) => bundle.value.wrappers ?? [])]) {
    if (!SHELLS.has(item.value.split(/[ :]/)[0]!)) continue
    report.error(item.at, item.rule, {
      code: 'refused-grant',
      message: `${quoteShort(item.value)} runs anything, so no bundle applies to it`,
      expected: 'a build tool such as "make" or "just"',
      found: quoteShort(item.value),
    })
  }
}

/** A login is its own protocol: nothing of HTTP goes with it, and the port says where it is spoken. */
function checkLogin({ value, at, rule }: Item<SecretEntry>, report: Report): void {
  if (value.login === undefined) return
  const { header, query, sign, pass_headers, pass_parameters } = value
  const others = Object.entries({ header, query, sign, pass_headers, pass_parameters }).filter(
    ([, set]) => set !== undefined,
  )
  if (others.length > 0) {
    report.error(at, rule, {
      code: 'refused-grant',
      message: `a login of ${value.login} is not an HTTP request, so ${others[0]![0]} has no meaning beside it`,
      expected: 'login alone, with source, hosts, part, after or as',
      found: others.map(([name]) => name).join(', '),
    })
  }
  for (const host of value.hosts) {
    if (/:\d{1,5}$/.test(host.value)) continue
    report.error(host.at, host.rule, {
      code: 'refused-grant',
      message: `a login of ${value.login} needs the port of its host`,
      expected: `such as "${host.value}:${value.login === 'postgres' ? 5432 : 6379}"`,
      found: quoteShort(host.value),
    })
  }
}

function checkUnique(named: readonly { item: Item; name: string }[], what: string, report: Report): void {
  const seen = new Map<string, Item>()
  for (const { item, name } of named) {
    const first = seen.get(name)
    if (first === undefined) seen.set(name, item)
    else {
      report.error(item.at, item.rule, {
        code: 'duplicate-rule',
        message: `the ${what} ${quoteShort(name)} is defined twice`,
        expected: `each ${what} once`,
        found: `${first.rule} at ${first.source}`,
        suggestion: 'delete one of them, or write both as one',
      })
    }
  }
}

/** A rule with its pattern. */
export interface ParsedEntry<E, P> {
  readonly item: Item<E>
  readonly pattern: P
}

/** Reports a grant that can never take effect, because a denial covers all of it. */
export function reportDenied(report: Report, item: Item, text: string, denial: Item, same: boolean): void {
  const what = quoteShort(text)
  report.error(item.at, item.rule, {
    code: same ? 'contradiction' : 'shadowed',
    message: same
      ? `${what} is both allowed and denied, and deny wins`
      : `${what} is allowed, but a deny covers all of it`,
    expected: 'a grant that can take effect',
    found: `${denial.rule} at ${denial.source}`,
    suggestion: 'delete the grant, or narrow the deny',
  })
}

/** Reports a rule that is there twice. */
export function reportDuplicate(report: Report, item: Item, text: string, first: Item): void {
  report.error(item.at, item.rule, {
    code: 'duplicate-rule',
    message: `${quoteShort(text)} is listed twice`,
    expected: 'each rule once',
    found: `${first.rule} at ${first.source}`,
    suggestion: 'delete one of them',
  })
}

/** Warns of a rule that a broader one makes pointless. */
export function warnShadowed(report: Report, item: Item, text: string, other: Item): void {
  report.warn(item.at, item.rule, {
    code: 'shadowed',
    message: `${quoteShort(text)} adds nothing: a broader rule covers it`,
    found: `${other.rule} at ${other.source}`,
    suggestion: 'delete the narrower rule, or the broader one',
  })
}

/** Checks the path rules of a file, for reading or for writing. */
export function checkPaths(manifest: Manifest, formats: FormatContext, report: Report, verb: 'read' | 'write'): void {
  const allow = withPaths(itemsOf<PathEntry>(manifest, `capabilities.allow.${verb}.paths`), formats)
  const deny = withPaths(itemsOf<PathEntry>(manifest, `capabilities.deny.${verb}.paths`), formats)
  const allowed = new PathIndex(allow, report)
  const denied = new PathIndex(deny, report)
  for (const { item, pattern } of allow) {
    const stop = denied.covering(pattern, null, true)
    if (stop !== null) {
      reportDenied(report, item, item.value.path, stop.item, pathKey(stop.pattern) === pathKey(pattern))
      continue
    }
    // A narrower grant that names files may open a secret or a protected path; a broad one never
    // does.
    if (pattern.files !== null || pattern.segments.at(-1) !== '**') continue
    const broader = allowed.covering(pattern, item, false)
    if (broader !== null && (broader.item.value.prompt ?? false) === (item.value.prompt ?? false)) {
      warnShadowed(report, item, item.value.path, broader.item)
    }
  }
}

function withPaths(items: readonly Item<PathEntry>[], formats: FormatContext): ParsedEntry<PathEntry, PathPattern>[] {
  return items.flatMap((item) => {
    const pattern = formats.paths.get(item.value.path)
    return pattern === undefined ? [] : [{ item, pattern: { ...pattern, files: item.value.files } }]
  })
}

function pathKey(pattern: PathPattern): string {
  return `${pattern.absolute}\0${pattern.files === null ? '' : [...pattern.files].sort().join('\0')}`
}

/** More rules than this below one directory are compared only in part: an overlap is then missed, never a rule. */
const MAX_BUCKET = 200

/** Path rules by the directory they start at, so that a file of thousands of rules stays linear. */
class PathIndex {
  readonly #buckets = new Map<string, ParsedEntry<PathEntry, PathPattern>[]>()

  constructor(rules: readonly ParsedEntry<PathEntry, PathPattern>[], report: Report) {
    const seen = new Map<string, Item>()
    for (const rule of rules) {
      const key = pathKey(rule.pattern)
      const first = seen.get(key)
      if (first !== undefined) {
        reportDuplicate(report, rule.item, rule.item.value.path, first)
        continue
      }
      seen.set(key, rule.item)
      const prefix = literalPrefix(rule.pattern)
      const bucket = this.#buckets.get(prefix)
      if (bucket === undefined) this.#buckets.set(prefix, [rule])
      else if (bucket.length < MAX_BUCKET) bucket.push(rule)
    }
  }

  covering(pattern: PathPattern, self: Item | null, denial: boolean): ParsedEntry<PathEntry, PathPattern> | null {
    let prefix = ''
    for (const segment of ['', ...splitPath(literalPrefix(pattern))]) {
      prefix = segment === '' ? '/' : `${prefix === '/' ? '' : prefix}/${segment}`
      const bucket = this.#buckets.get(prefix)
      if (bucket === undefined) continue
      const found = bucket.find(
        (rule) =>
          rule.item !== self &&
          (self === null || pathKey(rule.pattern) !== pathKey(pattern)) &&
          (containsPattern(rule.pattern, pattern) || (denial && deniesBelow(rule.pattern, pattern))),
      )
      if (found !== undefined) return found
    }
    return null
  }
}

/** A denied directory denies everything below it. */
function deniesBelow(outer: PathPattern, inner: PathPattern): boolean {
  return outer.files === null && !outer.segments.some(isGlob) && inner.absolute.startsWith(`${outer.absolute}/`)
}
