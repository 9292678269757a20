/** Compiles `[mcp_servers.NAME]` to what the gateway runs. */

import { SERVER_NAME } from '../policy/mcp-names.ts'
import {
  type ArgumentRule,
  type McpRules,
  type McpToolRule,
  readCondition,
  splitUrlPattern,
} from '../policy/mcp-rules.ts'
import type { Verdict } from '../policy/order.ts'
import type { PathRule } from '../policy/policy.ts'
import type { Lookup } from './lookup.ts'
import { readHeader } from './schema/format.ts'
import type { HostEntry, Item, McpToolEntry, SecretEntry } from './schema/manifest.ts'
import type { HeaderSetting, McpServerSetting, ServerRequest } from './schema/settings.ts'
import { joinKey, quoteShort } from './toml/tree.ts'

/** The servers of the manifest; problems are noted in the lookup. */
export function compileServers(lookup: Lookup): readonly McpServerSetting[] {
  return lookup.namesUnder('mcp_servers').flatMap((name) => server(name, lookup) ?? [])
}

function server(name: string, lookup: Lookup): McpServerSetting | null {
  const path = joinKey('mcp_servers', name)
  const command = lookup.scalar<string | null>(`${path}.command`, 'mcp_servers.*.command')
  if (!SERVER_NAME.test(name)) {
    lookup.error(command, {
      code: 'bad-value',
      message: `${quoteShort(name)} cannot be the name of a server`,
      expected: 'small letters, digits and "-"',
      found: quoteShort(name),
    })
    return null
  }
  const url = lookup.scalar<string | null>(`${path}.url`, 'mcp_servers.*.url')
  if (url.value !== null && command.value !== null) {
    lookup.error(url, {
      code: 'bad-value',
      message: `the server ${name} has a command and an address`,
      expected: '`command` for a server that runs here, or `url` for one elsewhere',
      found: quoteShort(url.value),
    })
    return null
  }
  const argv = url.value !== null ? [] : command.value === null ? null : splitWords(command.value)
  if (argv === null || (argv.length === 0 && url.value === null)) {
    lookup.error(command, {
      code: 'bad-value',
      message: `the server ${name} has no command that can be run`,
      expected:
        'a program and its words, such as "npx -y some-server"; pipes, variables and other shell syntax are not taken',
      found: command.value === null ? 'nothing' : quoteShort(command.value),
    })
    return null
  }
  const headers = headersOf(path, lookup)
  if (headers.length > 0 && url.value === null) {
    lookup.error(command, {
      code: 'bad-value',
      message: `the server ${name} has headers and no address`,
      expected: '`url` for a server elsewhere; one that runs here gets `secrets` or `env_vars`',
      found: headers[0]!.name,
    })
    return null
  }
  const rules = (verb: 'read' | 'write'): PathRule[] =>
    lookup.items<string>(`${path}.${verb}`).flatMap((item) => {
      const pattern = lookup.path(item.value, null, item)
      return pattern === null ? [] : [{ pattern, prompt: false, rule: item.rule, source: item.source }]
    })
  const { settings } = lookup.manifest
  const ownFiles = settings.has(`${path}.read`) || settings.has(`${path}.write`)
  return {
    name,
    argv,
    url: url.value,
    headers,
    files: ownFiles ? { read: rules('read'), write: rules('write') } : null,
    domains: lookup.hosts(lookup.items<HostEntry>(`${path}.domains`)),
    envVars: lookup.texts(`${path}.env_vars`).map((variable) => variable.value),
    secrets: secrets(path, lookup),
    requests: settings.has(`${path}.requests`)
      ? lookup.items<ServerRequest>(`${path}.requests`).map((item) => item.value)
      : ['elicitation'],
  }
}

function headersOf(path: string, lookup: Lookup): HeaderSetting[] {
  return lookup.texts(`${path}.headers`).flatMap(({ value, source }) => {
    const header = readHeader(value)
    return header === null ? [] : [{ ...header, from: lookup.secretSource(header.source), source }]
  })
}

function secrets(path: string, lookup: Lookup): string[] {
  const known = new Set(lookup.items<SecretEntry>('secrets').map((item) => item.value.name))
  return lookup.items<string>(`${path}.secrets`).map((item) => {
    if (!known.has(item.value)) {
      lookup.error(item, {
        code: 'bad-value',
        message: `there is no secret ${quoteShort(item.value)}`,
        expected: 'the name of an entry of [[secrets]]',
        found: quoteShort(item.value),
      })
    }
    return item.value
  })
}

/** The words of a command line; null when it is written for a shell. */
export function splitWords(text: string): string[] | null {
  const words: string[] = []
  let rest = text.trim()
  while (rest !== '') {
    const word = /^(?:[^\s'"\\$`|&;<>()]|'[^']*'|"[^"\\$`]*")+/.exec(rest)?.[0]
    if (word === undefined) return null
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''))
    const after = rest.slice(word.length)
    if (after !== '' && !/^\s/.test(after)) return null
    rest = after.trimStart()
  }
  return words
}

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
  const { scheme, host: text, path } = splitUrlPattern(pattern)
  const [host] = lookup.hosts([{ ...item, value: text }])
  return host === undefined ? null : { name, kind, scheme, host: path === null ? host : { ...host, paths: [path] } }
}
