/**
 * Fifty thousand records through a receiver that faults, by a process that is killed again and again:
 * `node test/fleet/otlp-soak.ts [RECORDS] [SEED]`. Every one of them must be there, once by its place, with a whole chain.
 */

import { spawn } from 'node:child_process'
import { openAuditLog } from '../../src/audit/log.ts'
import { readReceived, verifyReceived } from '../../src/organisation/received.ts'
import { makeSigningKey } from '../../src/system/keys/signing-key.ts'
import { openFaultyReceiver, seeded } from './faulty-receiver.ts'
import { openFleetWorld } from './fleet-world.ts'

const [records = 50_000, seed = 1] = process.argv.slice(2).map(Number)
const world = openFleetWorld()
const receiver = await openFaultyReceiver(seed)
const random = seeded(seed + 1)
const { key } = makeSigningKey()
try {
  const sessions = 20
  for (let session = 0; session < sessions; session++) {
    const log = openAuditLog({
      stateDir: world.machine.stateDir,
      session: `s${session}`,
      now: () => new Date().toISOString(),
      redact: (text) => text,
      signer: () => key,
      sync: 'never',
      maxBytes: 100_000,
    })
    for (let line = 0; line < records / sessions; line++) log.record({ type: 'warning', line })
    log.close()
  }
  world.join({ policy: null, records: { otlp: receiver.url } })
  const started = Date.now()
  let kills = 0
  for (;;) {
    const child = spawn(process.execPath, [new URL('otlp-soak-child.ts', import.meta.url).pathname, world.base], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    const killed = setTimeout(() => child.kill('SIGKILL'), 400 + random() * 1500)
    const code = await ended
    clearTimeout(killed)
    if (code === 0) break
    kills++
  }
  const seconds = (Date.now() - started) / 1000
  const result = verifyReceived(readReceived(receiver.taken.join('\n')), [key.publicKey])
  const warnings = new Set(
    readReceived(receiver.taken.join('\n'))
      .filter(({ text }) => text.includes('"type":"warning"'))
      .map(({ session, part, offset }) => `${session}.${part}.${offset}`),
  )
  console.log(
    JSON.stringify({
      records: `${warnings.size} of ${records}`,
      whole: result.ok,
      repeated: result.repeated,
      kills,
      faults: receiver.faults,
      seconds: Math.round(seconds),
    }),
  )
  if (!result.ok || warnings.size !== records) process.exitCode = 1
} finally {
  await receiver.close()
  world.close()
}
