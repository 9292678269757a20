/** The public table of hosts through `check --batch`, the way others ask: manifest in, verdict out. */

import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { BatchChecker } from '../../src/call/decide/batch.ts'
import { machineFiles } from '../../src/system/files.ts'
import { thisMachine } from '../../src/system/machine.ts'

interface HostCase {
  readonly id: string
  readonly url: string | null
  readonly why: string
  readonly expect: 'allow' | 'deny'
  readonly config: {
    readonly allow: readonly string[]
    readonly deny: readonly string[]
    readonly allowPrivate: boolean
  }
  readonly stage?: 'config' | 'resolve' | 'redirect' | 'wire'
  readonly resolve?: readonly string[]
  readonly hops?: readonly string[]
}

const cases: readonly HostCase[] = readFileSync(new URL('./hosts.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((entry) => entry?.family === 'IPv4')!.address

/** `["*"]` is a list that leaves public hosts open; an empty one that means closed has lost its entries. */
function allowedHosts({ config, stage }: HostCase): readonly string[] {
  if (stage === 'config') return config.allow
  if (config.allow.length === 0) return ['$' + '{CORDON_TEST_UNSET}']
  return config.allow[0] === '*' ? [] : config.allow
}

describe('corpus of hosts through the batch', () => {
  const checker = new BatchChecker(thisMachine(), machineFiles, { kind: 'project' })

  it.each(cases.filter((row) => row.stage !== 'wire'))('$id: $why', async (row) => {
    const answer = await checker.answer(
      JSON.stringify({
        id: row.id,
        tool: 'http',
        root: '/home/dev/project',
        input: {
          url: row.url ?? 'https://example.com/',
          ...(row.resolve && { resolved: row.resolve.map((ip) => ip.replace('$HOST_INTERFACE_IP', ownAddress)) }),
          ...(row.hops && { hops: row.hops }),
        },
        manifest: {
          schema_version: 1,
          security: { deny_domains: row.config.deny },
          http: { allowed_hosts: allowedHosts(row), allow_private_hosts: row.config.allowPrivate },
        },
      }),
    )
    if (row.stage === 'config') expect(answer.error !== undefined, String(answer.error)).toBe(row.expect === 'deny')
    else expect(answer, JSON.stringify(answer)).toMatchObject({ decision: row.expect })
  })
})
