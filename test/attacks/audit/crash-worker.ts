/** Does one kind of work over and over until it is killed, and prints a line after each that was acknowledged. */

import { writeSync } from 'node:fs'
import { openAuditLog } from '../../../src/audit/log.ts'
import { signManifest } from '../../../src/manifest/sign/sign.ts'
import { openKeyStore } from '../../../src/system/keys/keychain.ts'
import { createTrustStore } from '../../../src/tools/custom/trust.ts'

const [stateDir, work, id] = process.argv.slice(2) as [string, 'sign' | 'trust' | 'audit', string]
const off = () => {
  throw new Error('off')
}
const keys = openKeyStore(stateDir, { get: off, set: off, delete: off })
const now = () => new Date().toISOString()
const acknowledge = (what: string) => writeSync(1, `${what}\n`)

if (work === 'sign') {
  for (let i = 0; ; i++) {
    const canonical = JSON.stringify({ id, i })
    signManifest({ stateDir, keys, project: '/shared', canonical, now: now() })
    acknowledge(canonical)
  }
}
if (work === 'trust') {
  const store = createTrustStore(stateDir)
  for (let i = 0; ; i++) {
    const name = `tool-${id}-${i % 5}`
    const hash = `${id}${i}`.padEnd(64, '0').replace(/[^0-9a-f]/g, 'a')
    store.trust({ scope: '/shared', name }, hash, now())
    acknowledge(`${name} ${hash}`)
  }
}
const log = openAuditLog({
  stateDir,
  session: 'shared',
  now,
  redact: (text) => text,
  shared: true,
  sync: 'never',
  maxBytes: 20_000,
})
for (let i = 0; ; i++) {
  log.record({ type: 'warning', writer: id, i })
  acknowledge(`${id} ${i}`)
}
