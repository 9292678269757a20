/** A fleet's NATS servers as its admin uses them: the streams, the policy, the asks that wait, and the records. */

import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { nuid } from '@nats-io/transport-node'
import { Fault } from '../../system/fault.ts'
import { mayBeOpen } from '../ask.ts'
import type { FleetBus, NatsConnection } from './bus.ts'

const HOUR = 3600 * 1e9

/**
 * Makes the bucket and the streams, or leaves them as they are. `replicas`: on how many servers each
 * message is kept; null: on three, or on the one server that there is.
 */
export async function makeStreams(bus: FleetBus, wanted: number | null): Promise<void> {
  const { names, connection } = bus
  const jsm = await jetstreamManager(connection)
  const replicas = wanted ?? (connection.info?.cluster === undefined ? 1 : 3)
  await new Kvm(connection).create(names.bucket, { history: 16, replicas, allow_direct: true })
  const shared = { num_replicas: replicas, storage: StorageType.File, allow_direct: true }
  await jsm.streams.add({
    ...shared,
    name: names.recordStream,
    subjects: [names.records('*', '*')],
    retention: RetentionPolicy.Limits,
    duplicate_window: HOUR / 6,
    deny_delete: true,
    deny_purge: true,
  })
  await jsm.streams.add({
    ...shared,
    name: names.healthStream,
    subjects: [names.health('*')],
    max_age: 24 * 30 * HOUR,
    max_msgs_per_subject: 1,
  })
  await jsm.streams.add({
    ...shared,
    name: names.askStream,
    subjects: [names.ask('*', '*')],
    max_age: 2 * HOUR,
    max_msgs_per_subject: 1,
  })
  await jsm.streams.add({
    ...shared,
    name: names.answerStream,
    subjects: [names.answer('*', '*', '*')],
    max_age: 2 * HOUR,
    // The first answer of a key counts: the servers refuse a second one.
    max_msgs_per_subject: 1,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
  })
}

/** Puts a bundle into the bucket; rejects when somebody else does at the same moment. */
export async function putPolicy(bus: FleetBus, text: string): Promise<void> {
  const bucket = await new Kvm(bus.connection).open(bus.names.bucket)
  const before = await bucket.get('policy')
  // Compare and set: of two concurrent publishers, one gets an error.
  if (before === null) await bucket.create('policy', text)
  else await bucket.update('policy', text, before.revision)
}

/** The asks that may be open, as they were sent. */
export async function readAsks(bus: FleetBus, now: number): Promise<readonly string[]> {
  const jsm = await jetstreamManager(bus.connection, { checkAPI: false })
  const { names } = bus
  const { state } = await jsm.streams.info(names.askStream, { subjects_filter: names.ask('*', '*') })
  const found = await Promise.all(
    Object.keys(state.subjects ?? {})
      .filter((subject) => mayBeOpen(subject.slice(subject.lastIndexOf('.') + 1), now))
      .map((subject) => jsm.direct.getMessage(names.askStream, { last_by_subj: subject })),
  )
  return found.flatMap((message) => (message === null ? [] : [message.string()]))
}

/** Hands an answer in; the servers refuse all but the first of a key. */
export async function publishAnswer(
  bus: FleetBus,
  machine: string,
  ask: string,
  approver: string,
  data: string,
): Promise<void> {
  await jetstream(bus.connection).publish(bus.names.answer(machine, ask, approver), data, {
    expect: { lastSubjectSequence: 0 },
  })
}

/** Publishes the fleet's current account to every server: revoked keys are cut off at once. */
export async function pushAccount(connection: NatsConnection, token: string): Promise<void> {
  const answer = await connection.request('$SYS.REQ.CLAIMS.UPDATE', token, { timeout: 5000 })
  const { error } = answer.json<{ error?: { description?: string } }>()
  if (error) throw new Fault('fleet-unreachable', `the NATS servers did not take it: ${error.description ?? 'unknown'}`)
}

/** The newest health of each machine, as it was sent. */
export async function readHealths(bus: FleetBus): Promise<readonly string[]> {
  return readStream(bus, bus.names.healthStream, bus.names.health('*'))
}

/** Adds what `change` makes of the people; of two who do so at once, one gets an error. */
export async function changePeople(bus: FleetBus, change: (text: string | null) => string): Promise<void> {
  const bucket = await new Kvm(bus.connection).open(bus.names.bucket)
  const before = await bucket.get('people')
  const text = change(before?.string() || null)
  if (before === null) await bucket.create('people', text)
  else await bucket.update('people', text, before.revision)
}

/** Every record on the servers, in order of arrival: of all machines, or, without an admin's rights, of this one. */
export async function readRecords(
  bus: FleetBus,
  own: string | null,
): Promise<readonly { readonly subject: string; readonly data: string }[]> {
  const { names } = bus
  const found: { subject: string; data: string }[] = []
  const add = (data: string, subject: string) => found.push({ subject, data })
  await eachMessage(bus, names.recordStream, names.records(own ?? '*', '*'), own, add)
  return found
}

async function readStream(bus: FleetBus, stream: string, filter: string): Promise<readonly string[]> {
  const texts: string[] = []
  await eachMessage(bus, stream, filter, null, (text) => texts.push(text))
  return texts
}

/** `name`: of the consumer, where the rights are for one name alone. */
async function eachMessage(
  { connection }: FleetBus,
  stream: string,
  filter: string,
  name: string | null,
  take: (data: string, subject: string) => void,
): Promise<void> {
  const jsm = await jetstreamManager(connection, { checkAPI: false })
  const config = {
    name: name ?? nuid.next(),
    filter_subject: filter,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.None,
    inactive_threshold: HOUR / 60,
    mem_storage: true,
    num_replicas: 1,
  }
  const { name: created, num_pending: pending } = await jsm.consumers.add(stream, config)
  try {
    if (pending === 0) return
    const consumer = await jetstream(connection).consumers.get(stream, created)
    let left = pending
    for await (const message of await consumer.consume({ max_messages: 1000 })) {
      take(message.string(), message.subject)
      if (--left === 0) break
    }
  } finally {
    await jsm.consumers.delete(stream, created).catch(() => {})
  }
}
