/** The table of host cases, row by row, against the pure host functions; rows of stage `wire` belong to the proxy's tests. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type HostJudgeRules, judgeHops } from '../../src/hosts/judge.ts'
import { type HostPattern, parseHostPattern } from '../../src/hosts/pattern.ts'
import { tldtsSuffixes } from '../../src/hosts/suffix.ts'
import { parseUrl } from '../../src/hosts/url.ts'

interface Row {
  readonly id: string
  readonly url: string | null
  readonly why: string
  readonly expect: 'allow' | 'deny'
  readonly config: { readonly allow: string[]; readonly deny: string[]; readonly allowPrivate: boolean }
  readonly stage?: 'config' | 'resolve' | 'redirect' | 'wire'
  readonly resolve?: string[]
  readonly hops?: string[]
}

/** Plays an address of this machine; public on purpose, so that only `ownAddresses` can refuse it. */
const OWN_ADDRESS = '151.101.1.1'

const rows = readFileSync(new URL('./hosts.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Row)

function parsePatterns(entries: readonly string[]): { pattern: HostPattern }[] {
  return entries.map((entry) => {
    const parsed = parseHostPattern(entry, tldtsSuffixes)
    if ('problem' in parsed) throw new Error(parsed.problem)
    return parsed
  })
}

function loads(row: Row): 'allow' | 'deny' {
  const entries = [...row.config.allow, ...row.config.deny]
  return entries.every((entry) => 'pattern' in parseHostPattern(entry, tldtsSuffixes)) ? 'allow' : 'deny'
}

function judge(row: Row): 'allow' | 'deny' {
  const open = row.config.allow.length === 1 && row.config.allow[0] === '*'
  const rules: HostJudgeRules<{ pattern: HostPattern }> = {
    allowed: open ? null : parsePatterns(row.config.allow),
    denied: parsePatterns(row.config.deny),
    allowPrivate: row.config.allowPrivate,
    ownAddresses: [OWN_ADDRESS],
    suffixes: tldtsSuffixes,
  }
  const parsed = parseUrl(row.url ?? '')
  if ('problem' in parsed) return 'deny'
  const resolved = row.resolve?.map((address) => (address === '$HOST_INTERFACE_IP' ? OWN_ADDRESS : address))
  const request = resolved === undefined ? { url: parsed.url } : { url: parsed.url, resolved }
  return judgeHops(request, row.hops ?? [], rules).verdict
}

describe('host cases', () => {
  test.each(rows.filter((row) => row.stage === 'config'))('$id: $why', (row) => {
    expect(loads(row)).toBe(row.expect)
  })

  test.each(rows.filter((row) => row.stage !== 'config' && row.stage !== 'wire'))('$id: $why', (row) => {
    expect(judge(row)).toBe(row.expect)
  })
})
