/** A process of many machines of a fleet, each with its own key, state and connection: it syncs, records, ships and asks. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAuditLog } from '../../src/audit/log.ts'
import { acceptBundle, storedBundle } from '../../src/fleet/bundle-store.ts'
import { machineKey } from '../../src/fleet/identity.ts'
import type { FleetBus } from '../../src/fleet/nats/bus.ts'
import { readFleetSettings } from '../../src/fleet/settings.ts'
import { ship } from '../../src/fleet/ship/record.ts'
import { askFleet } from '../../src/organisation/ask-fleet.ts'
import { openBus } from '../../src/organisation/connection.ts'
import { natsSink, recordQueue } from '../../src/organisation/ship.ts'
import { openKeyStore } from '../../src/system/keys/keychain.ts'
import { keyId } from '../../src/system/keys/signing-key.ts'
import type { Machine } from '../../src/system/machine.ts'
import { thisMachine } from '../../src/system/machine.ts'

process.env.CORDON_KEYCHAIN = 'off'
const [, , base, first, count, seconds, round] = process.argv
const until = Date.now() + Number(seconds) * 1000
const tell = (message: object): void => {
  process.send?.(message)
}

function machineOf(index: number): Machine {
  const home = join(base!, `m${index}`)
  return {
    ...thisMachine(),
    cwd: home,
    home,
    configDir: join(home, 'config/cordon'),
    stateDir: join(home, 'state/cordon'),
    cacheDir: join(home, 'cache/cordon'),
    systemDir: join(home, 'etc'),
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Known once no more are published. */
async function lastVersion(): Promise<string> {
  for (;;) {
    try {
      return readFileSync(join(base!, 'last-version'), 'utf8')
    } catch {
      await pause(200)
    }
  }
}

async function live(index: number): Promise<void> {
  const machine = machineOf(index)
  const settings = readFleetSettings(machine)!
  const id = keyId(machineKey(openKeyStore(machine.stateDir)).key.publicKey)
  let bus: FleetBus | null = null
  while (!bus) bus = await openBus(settings, machine).catch(() => pause(500).then(() => null))
  void bus.connection.closed().then((error) => error && tell({ kind: 'closed', index, why: error.message }))
  const open: FleetBus = { ...bus, close: async () => {} }
  const log = openAuditLog({
    stateDir: machine.stateDir,
    session: `r${round}`,
    now: () => new Date().toISOString(),
    redact: (text) => text,
    sync: 'never',
    shared: true,
  })
  const queue = recordQueue(machine, join(machine.stateDir, 'fleet/cursor-nats.json'))
  let highest = 0
  let written = 0
  while (Date.now() < until) {
    const text = await open.readPolicy().catch(() => null)
    if (text !== null) acceptBundle(machine.stateDir, settings, text, Date.now())
    const version = storedBundle(machine.stateDir, settings)?.bundle.version ?? 0
    if (version < highest) tell({ kind: 'older-policy', index, version, highest })
    if (version > highest) tell({ kind: 'policy', index, version, at: Date.now() })
    highest = version
    for (let line = 0; line < 5; line++, written++) log.record({ type: 'warning', line: written, version })
    await ship(queue, natsSink(open, id), { signal: AbortSignal.timeout(20_000), attempts: 3, firstPauseMs: 200 })
    if (index % 50 === 0 && version > 0) {
      const started = Date.now()
      const request = {
        tool: 'bash',
        subject: `m${index} ${written}`,
        input: { command: `m${index} ${written}` },
        call: `m${index} ${written}`,
        once: '',
        facts: null,
        decision: { reason: { code: 'x', message: 'why' }, rules: [] } as never,
        worst: { bound: 'unbounded', hosts: [], labels: [], text: 'anything' } as const,
        asks: [],
        suggestions: [],
      }
      const signal = AbortSignal.timeout(150_000)
      const outcome = await askFleet(settings, machine, { project: '/p', request, signal }, async () => open).then(
        (answer) => answer.kind,
        (error: Error) => error.message,
      )
      tell({ kind: 'ask', index, outcome, milliseconds: Date.now() - started })
    }
    await pause(500 + ((index * 37) % 1000))
  }
  // The last policy reaches everybody, however long it takes.
  for (const last = Number(await lastVersion()); highest < last; await pause(200)) {
    const text = await open.readPolicy().catch(() => null)
    if (text !== null) acceptBundle(machine.stateDir, settings, text, Date.now())
    highest = storedBundle(machine.stateDir, settings)?.bundle.version ?? 0
    if (highest === last) tell({ kind: 'policy', index, version: last, at: Date.now() })
  }
  // What is left goes out now, so that everything that was recorded can be counted.
  let problem: string | null = null
  for (let tries = 0; tries < 60; tries++) {
    ;({ problem } = await ship(queue, natsSink(open, id), { signal: AbortSignal.timeout(60_000), attempts: 5 }))
    if (problem === null) break
    await pause(500)
  }
  if (problem !== null) tell({ kind: 'left', index, problem, closed: bus.connection.isClosed() })
  log.close()
  await bus.close()
}

const start = Number(first)
await Promise.all(Array.from({ length: Number(count) }, (_, at) => live(start + at)))
process.disconnect?.()
