/** `[mcp.SERVER]` to rules for the tools of that server. */

import type { ArgumentRule, McpRules, McpToolRule } from '../policy/mcp-rules.ts'
import type { Verdict } from '../policy/verdict.ts'
import { SERVER_NAME } from './compile-servers.ts'
import type { Lookup } from './lookup.ts'
import type { Item, McpToolEntry } from './schema/manifest.ts'
import { joinKey, quoteShort } from './toml/tree.ts'

/** By server; problems are noted in the lookup. */
export function compileMcpRules(lookup: Lookup): ReadonlyMap<string, McpRules> {
  return new Map(lookup.namesUnder('mcp').map((name) => [name, rulesOf(name, lookup)]))
}

function rulesOf(name: string, lookup: Lookup): McpRules {
  const path = joinKey('mcp', name)
  const hints = lookup.scalar<boolean>(`${path}.trust_hints`, 'mcp.*.trust_hints')
  if (!SERVER_NAME.test(name)) {
    lookup.error(hints, {
      code: 'bad-value',
      message: `${quoteShort(name)} cannot be the name of a server`,
      expected: 'small letters, digits and "-"',
      found: quoteShort(name),
    })
  }
  return {
    trustHints: hints.value,
    readOnly: lookup.scalar<Verdict | null>(`${path}.read_only`, 'mcp.*.read_only'),
    destructive: lookup.scalar<Verdict | null>(`${path}.destructive`, 'mcp.*.destructive'),
    tools: lookup.items<McpToolEntry>(`${path}.tools`).map((item) => toolRule(item, lookup)),
  }
}

function toolRule(item: Item<McpToolEntry>, lookup: Lookup): McpToolRule {
  const { tool, level = 'allow', args = [] } = item.value
  const rules = args.map((arg) => argumentRule(arg, lookup)).filter((rule) => rule !== null)
  // A condition that could not be read must not be as good as none.
  const closed = rules.length < args.length && level === 'allow'
  return { tool, level: closed ? 'ask' : level, args: closed ? [] : rules, rule: item.rule, source: item.source }
}

function argumentRule(item: Item<string>, lookup: Lookup): ArgumentRule | null {
  const [, name, pattern] = /^([\w.$-]{1,100})=(.+)$/s.exec(item.value) ?? []
  if (name === undefined || pattern === undefined) {
    lookup.error(item, {
      code: 'bad-value',
      message: 'a condition is the name of an argument, "=" and what it must match',
      expected: '"repo=acme/*", "path=./docs/**" or "url=https://api.example.com/v1/**"',
      found: quoteShort(item.value),
    })
    return null
  }
  if (/^(?:\.?\/|~\/)/.test(pattern)) {
    const parsed = lookup.path(pattern.replace(/^\.\//, ''), null, item)
    return parsed && { name, kind: 'path', pattern: parsed }
  }
  const url = /^https?:\/\/([^/]+)(\/.*)?$/.exec(pattern)
  if (url === null) return { name, kind: 'text', glob: pattern }
  const [host] = lookup.hosts([{ ...item, value: url[1]! }])
  return host === undefined
    ? null
    : { name, kind: 'url', host: url[2] === undefined ? host : { ...host, paths: [url[2]] } }
}
