/** `[mcp.SERVER]` to rules for the tools of that server. */

import {
  type ArgumentRule,
  type McpRules,
  type McpToolRule,
  readCondition,
  splitUrlPattern,
} from '../policy/mcp-rules.ts'
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
  // As one text: the name, and conditions behind it.
  const [tool = '', ...conditions] = item.value.tool.split(' ')
  const { level = 'allow', args: own = [] } = item.value
  const args = [...own, ...conditions.map((value) => ({ ...item, value }))]
  const rules = args.map((arg) => argumentRule(arg, lookup)).filter((rule) => rule !== null)
  // A condition that could not be read must not be as good as none.
  const closed = rules.length < args.length && level === 'allow'
  return { tool, level: closed ? 'ask' : level, args: closed ? [] : rules, rule: item.rule, source: item.source }
}

function argumentRule(item: Item<string>, lookup: Lookup): ArgumentRule | null {
  const found = readCondition(item.value)
  if (found === null) {
    lookup.error(item, {
      code: 'bad-value',
      message: 'a condition is the name of an argument, "=" and what it must match',
      expected: '"repo=acme/*", "path=./docs/**" or "url=https://api.example.com/v1/**"',
      found: quoteShort(item.value),
    })
    return null
  }
  const { name, kind, pattern } = found
  if (kind === 'text') return { name, kind, glob: pattern }
  if (kind === 'path') {
    const parsed = lookup.path(pattern, null, item)
    return parsed && { name, kind, pattern: parsed }
  }
  const { host: text, path } = splitUrlPattern(pattern)
  const [host] = lookup.hosts([{ ...item, value: text }])
  return host === undefined ? null : { name, kind, host: path === null ? host : { ...host, paths: [path] } }
}
