/** The profile of each bundle: its tool has what it needs, and nothing that it must not have. */

import { expect, it } from 'vitest'
import { isInside } from '../../../src/files/baseline.ts'
import { builtInBundles } from '../../../src/sandbox/bundles/built-in.ts'
import { type BundleFurnishing, furnish } from '../../../src/sandbox/bundles/bundle.ts'
import { compileProfile } from '../../../src/sandbox/experimental/seatbelt/profile.ts'
import type { PathFact } from '../../../src/sandbox/layout.ts'
import { planSandbox } from '../../../src/sandbox/plan.ts'
import { readProfile } from './evaluator.ts'
import { HOME } from './world.ts'

const PROJECT = `${HOME}/project`
const PORT = 41234
const SECRETS = [
  `${HOME}/.ssh`,
  `${HOME}/.aws/credentials`,
  `${HOME}/Library/Keychains`,
  '/private/etc/sudoers',
  '/private/etc/ssh/ssh_host_rsa_key',
]

function profileWith({ reads, writes, hosts }: BundleFurnishing) {
  const folders = [HOME, PROJECT, '/usr', '/bin', ...reads, ...writes]
  const facts = new Map<string, PathFact>(folders.map((real) => [real, { kind: 'directory', real }]))
  const plan = planSandbox({
    argv: ['tool'],
    cwd: PROJECT,
    env: {},
    baseline: 'system',
    home: HOME,
    uid: 501,
    gid: 20,
    reads,
    writes: [PROJECT, ...writes],
    masks: SECRETS,
    pins: [],
    network: hosts.length > 0 ? 'listener' : 'none',
    port: PORT,
    unixSockets: false,
    limits: {},
    facts: { paths: facts, sockets: [], kernelMounts: [] },
  })
  const profile = readProfile(compileProfile(plan))
  const answer = (question: Parameters<typeof profile.decide>[0]) => {
    const [last, specific] = (['last', 'specific'] as const).map((reading) => profile.decide(question, reading))
    expect(last, JSON.stringify(question)).toBe(specific)
    return last
  }
  return answer
}

it.each(Object.values(builtInBundles()).map((bundle) => ({ tool: bundle.tool, bundle })))('$tool', ({ bundle }) => {
  const applied = { bundle, by: bundle.tool, fetch: true, install: true, defaultDomains: true }
  const furnished = furnish([applied], { home: HOME, registries: {} })
  const answer = profileWith(furnished)
  for (const path of furnished.writes)
    expect(answer({ operation: 'file-write-create', path: `${path}/new` }), path).toBe('allow')
  for (const path of furnished.reads) {
    expect(answer({ operation: 'file-read-data', path: `${path}/one` }), path).toBe('allow')
    if (!furnished.writes.some((write) => isInside(path, write)))
      expect(answer({ operation: 'file-write-create', path: `${path}/one` }), path).toBe('deny')
  }
  for (const path of [...SECRETS, `${HOME}/Documents/letter`, `${HOME}/.zshrc`, '/private/tmp/x'])
    for (const operation of ['file-read-data', 'file-write-create', 'process-exec'])
      expect(answer({ operation, path }), `${operation} ${path}`).toBe('deny')
  expect(answer({ operation: 'network-outbound', remote: `localhost:${PORT}` })).toBe(
    furnished.hosts.length > 0 ? 'allow' : 'deny',
  )
  for (const remote of ['localhost:53', 'localhost:22', 'localhost:5432'])
    expect(answer({ operation: 'network-outbound', remote })).toBe('deny')
  expect(answer({ operation: 'mach-lookup', service: 'com.apple.securityd' })).toBe('deny')
})
