/**
 * One process that speaks for many machines to three NATS servers, each with its own key and connection:
 * `node test/fleet/load.ts [MACHINES]`. They log in, then each reads the policy and reports its health on a shorter and shorter
 * interval until answers take over a second; then a server is killed. Prints the figures of docs/reference/bench.md.
 */

import { readFileSync } from 'node:fs'
import { connectBus, type FleetBus } from '../../src/fleet/nats/bus.ts'
import { natsToken, permissionsOf } from '../../src/fleet/nats/subjects.ts'
import { openKeyStore } from '../../src/system/keys/keychain.ts'
import type { PublicKey } from '../../src/system/keys/signing-key.ts'
import { makeSigningKey, parseSigningKey } from '../../src/system/keys/signing-key.ts'
import { openNatsFleet } from './nats-fleet.ts'

const machines = Number(process.argv[2] ?? 10_000)
const AT_ONCE = 100
const ROUND_SECONDS = 15
/** What a report of a machine weighs, with its certificate. */
const HEALTH = JSON.stringify({ payload: 'x'.repeat(1500), signature: '', certificate: { payload: 'x'.repeat(1500) } })
const quantile = (values: readonly number[], part: number) =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0)
const say = (facts: object): void => console.log(JSON.stringify(facts))
const megabytes = (pid: number | string) =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)

const fleet = await openNatsFleet(3)
const buses: FleetBus[] = []
try {
  await fleet.publish({ version: 1 })
  const account = parseSigningKey(openKeyStore(fleet.admin.stateDir).read('fleet-nats-account')!.value)!
  const login = (index: number): Promise<FleetBus> => {
    const { key, secret } = makeSigningKey()
    const machine: PublicKey = key.publicKey
    const unlimited = { subs: -1, data: -1, payload: -1 }
    const token = natsToken({
      name: `m${index}`,
      subject: { role: 'user', key: machine },
      issuer: { role: 'account', key: account },
      nats: { ...permissionsOf('acme', machine, 'machine'), ...unlimited },
      issued: Math.floor(Date.now() / 1000),
    })
    const servers = [fleet.servers.urls[index % 3]!, ...fleet.servers.urls]
    return connectBus({ fleet: 'acme', servers, tls: {}, machine, name: `m${index}`, token, secret })
  }
  const began = Date.now()
  let next = 0
  let failedLogins = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let index = next++; index < machines; index = next++)
        await login(index).then(
          (bus) => buses.push(bus),
          () => failedLogins++,
        )
    }),
  )
  const seconds = (Date.now() - began) / 1000
  say({ step: 'log in', machines: buses.length, failedLogins, seconds, perSecond: Math.round(buses.length / seconds) })

  /** Every machine once within so many seconds: it reads the policy and reports. */
  const round = async (within: number) => {
    const times: number[] = []
    const cpu = process.cpuUsage()
    let failed = 0
    let latest = 0
    const start = performance.now()
    await Promise.all(
      buses.map(async (bus, index) => {
        const due = start + (within * 1000 * index) / buses.length
        await new Promise((done) => setTimeout(done, Math.max(0, due - performance.now())))
        const from = performance.now()
        latest = Math.max(latest, from - due)
        try {
          await bus.readPolicy()
          await bus.publishHealth(HEALTH)
          times.push(performance.now() - from)
        } catch {
          failed++
        }
      }),
    )
    const { user, system } = process.cpuUsage(cpu)
    return {
      failed,
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
      // How late this process itself was: beyond that, it is the limit, not the servers.
      late: Math.round(latest),
      perSecond: Math.round((2 * buses.length * 1000) / (performance.now() - start)),
      ownProcessor: Math.round((user + system) / 10_000 / ((performance.now() - start) / 1000)),
    }
  }
  for (let within = ROUND_SECONDS; within >= 1; within /= 2) {
    const found = await round(within)
    say({ step: 'round', within, ...found })
    if (found.p99 > 1000 || found.failed > 0) break
  }
  say({ step: 'memory', own: megabytes('self'), perMachineKb: Math.round((megabytes('self') * 1024) / buses.length) })

  const killed = Date.now()
  await fleet.servers.kill(0)
  await new Promise((done) => setTimeout(done, 500))
  const waits = await Promise.all(
    buses.map(async (bus) => {
      for (;;) {
        const worked = await bus.readPolicy().then(
          () => true,
          () => false,
        )
        if (worked || Date.now() - killed > 90_000) return worked ? Date.now() - killed : null
        await new Promise((done) => setTimeout(done, 250))
      }
    }),
  )
  const back = waits.filter((wait) => wait !== null)
  say({
    step: 'a server killed',
    back: back.length,
    lost: waits.length - back.length,
    p50: quantile(back, 0.5),
    last: quantile(back, 1),
  })
} finally {
  await Promise.all(buses.map((bus) => bus.close().catch(() => {})))
  await fleet.close()
}
process.exit()
