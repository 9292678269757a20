/**
 * A three-node cluster and a thousand machines under random kills: `node test/fleet/cluster.ts [MACHINES] [SECONDS] [SEED]`.
 * Afterwards every record must be there once by its chain, every ask have one answer, and no machine have gone back to an
 * older policy. Prints the figures of docs/guides/fleet.md.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditSessions, sessionParts } from '../../src/audit/head.ts'
import { machineKey } from '../../src/fleet/identity.ts'
import { answerAsk, waitingAsks } from '../../src/organisation/answer.ts'
import { fleetRecords, verifyReceived } from '../../src/organisation/received.ts'
import { syncPolicy } from '../../src/organisation/sync.ts'
import { openKeyStore } from '../../src/system/keys/keychain.ts'
import { keyId } from '../../src/system/keys/signing-key.ts'
import type { Machine } from '../../src/system/machine.ts'
import { seeded } from './faulty-receiver.ts'
import { openNatsFleet } from './nats-fleet.ts'

const [machines = 1000, seconds = 120, seed = 1] = process.argv.slice(2).map(Number)
const NODES = 3
const EACH = 50
const random = seeded(seed)
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const say = (text: string): void => void process.stderr.write(`${text}\n`)
const quantile = (values: number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0

const fleet = await openNatsFleet(NODES, 120)
try {
  const started = Date.now()
  const joined: Machine[] = []
  for (let index = 0; index < machines; index++) joined.push(await fleet.machine(`m${index}`))
  say(`${machines} machines joined in ${((Date.now() - started) / 1000).toFixed(1)} s`)
  const approvers = [await fleet.machine('ann', 'approver'), await fleet.machine('bob', 'approver')]
  const keyOf = (machine: Machine) => machineKey(openKeyStore(machine.stateDir)).key.publicKey
  const policy = (version: number) =>
    fleet.publish({
      version,
      approvers: approvers.map((one, at) => ({ key: keyOf(one), name: `p${at}`, groups: ['*'] })),
    })
  await policy(1)
  for (const one of approvers) await syncPolicy(fleet.settings, one)

  const asks: number[] = []
  const outcomes: Record<string, number> = {}
  const faults: string[] = []
  const reached = new Map<number, Map<number, number>>()
  const until = Date.now() + seconds * 1000
  let round = 0
  const groups = Math.ceil(machines / EACH)
  const run = (group: number): ChildProcess => {
    const count = Math.min(EACH, machines - group * EACH)
    const left = Math.max(5, Math.round((until - Date.now()) / 1000))
    const child = fork(
      new URL('cluster-clients.ts', import.meta.url),
      [fleet.base, group * EACH, count, left, round++].map(String),
      { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
    )
    child.on('message', (message: Record<string, number | string>) => {
      if (message.kind === 'ask') {
        outcomes[message.outcome as string] = (outcomes[message.outcome as string] ?? 0) + 1
        if (message.outcome === 'once') asks.push(message.milliseconds as number)
      } else if (message.kind === 'policy') {
        const version = message.version as number
        const by = reached.get(version) ?? new Map()
        reached.set(version, by)
        if (!by.has(message.index)) by.set(message.index, message.at)
      } else if (message.kind === 'closed') say(JSON.stringify(message))
      else faults.push(JSON.stringify(message))
    })
    return child
  }
  const clients = Array.from({ length: groups }, (_, group) => run(group))

  let answered = 0
  let refusedTwice = 0
  let answering = true
  const answers = Promise.all(
    approvers.map(async (by) => {
      const bus = await fleet.bus(by)
      while (answering) {
        const waiting = await waitingAsks(fleet.settings, by, bus).catch(() => [])
        for (const one of waiting) {
          await answerAsk(fleet.settings, by, bus, one, 'yes').then(
            () => answered++,
            () => refusedTwice++,
          )
        }
        await pause(100)
      }
      await bus.close()
    }),
  )

  let killedNodes = 0
  let killedClients = 0
  const recoveries: number[] = []
  let version = 1
  while (Date.now() < until - 15_000) {
    await pause(2000 + random() * 4000)
    if (random() < 0.6) {
      const node = Math.floor(random() * NODES)
      const downAt = Date.now()
      await fleet.servers.kill(node)
      killedNodes++
      // Until the cluster takes a write again, with a node less.
      for (;;) {
        const worked = await policy(++version).then(
          () => true,
          () => false,
        )
        if (worked) break
        await pause(50)
      }
      recoveries.push(Date.now() - downAt)
      await pause(random() * 2000)
      await fleet.servers.start(node)
    } else {
      const group = Math.floor(random() * groups)
      const child = clients[group]!
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('exit', resolve))
      killedClients += EACH
      clients[group] = run(group)
    }
  }
  say('no more kills; waiting for the machines to end')
  const published = () =>
    policy(++version).then(
      () => true,
      () => false,
    )
  while (!(await published())) await pause(200)
  const last = version
  writeFileSync(join(fleet.base, 'last-version'), String(last))
  await Promise.all(
    clients.map((child) => (child.exitCode === null ? new Promise((resolve) => child.once('exit', resolve)) : null)),
  )
  answering = false
  await answers

  const received = await fleetRecords(fleet.admin)
  const verdict = verifyReceived(received, [])
  let written = 0
  for (const machine of joined)
    for (const session of auditSessions(machine.stateDir))
      for (const part of sessionParts(machine.stateDir, session))
        written +=
          readFileSync(join(machine.stateDir, 'audit', `${session}.${part}.jsonl`), 'utf8').split('\n').length - 1
  const span = (Date.now() - (until - seconds * 1000)) / 1000
  const reachedLast = reached.get(last)?.size ?? 0
  const report = {
    machines,
    nodes: NODES,
    seconds: Math.round(span),
    killed: { nodes: killedNodes, clients: killedClients },
    records: {
      written,
      received: received.length,
      unique: verdict.records,
      whole: verdict.ok,
      perSecond: Math.round(received.length / span),
      perSecondAndNode: Math.round(received.length / span / NODES),
    },
    asks: {
      outcomes,
      answered,
      refusedTwice,
      p50: quantile(asks, 0.5),
      p95: quantile(asks, 0.95),
      p99: quantile(asks, 0.99),
    },
    policy: { versions: version, reachedLast, wentBack: faults.length },
    recovery: { p50: quantile(recoveries, 0.5), max: quantile(recoveries, 1) },
    machinesSeen: new Set(received.map((record) => record.machine)).size,
  }
  console.log(JSON.stringify(report, null, 1))
  const settled = (outcomes.once ?? 0) + (outcomes['no one in the fleet answered in time'] ?? 0)
  const unsettled = Object.values(outcomes).reduce((sum, count) => sum + count, 0) - settled
  const ok =
    unsettled === 0 && verdict.ok && verdict.records === written && faults.length === 0 && reachedLast === machines
  if (!ok) {
    const damage = verdict.sessions.flatMap((session) =>
      session.damage.map((one) => ({ machine: session.machine, ...one })),
    )
    say(
      `FAILED: ${JSON.stringify({ damage: damage.slice(0, 5), faults: faults.slice(0, 5), ids: joined.slice(0, 2).map((one) => keyId(keyOf(one))) })}`,
    )
    process.exitCode = 1
  }
} finally {
  await fleet.close()
}
process.exit()
