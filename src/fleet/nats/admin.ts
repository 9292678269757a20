/** A fleet's NATS servers as its admin uses them: the streams, the policy, the asks that wait, and the records. */

import {
  DeliverPolicy,
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { Fault } from '../../system/fault.ts'
import { mayBeOpen } from '../ask.ts'
import type { FleetBus, NatsConnection } from './bus.ts'

const HOUR = 3600 * 1e9

/** Makes the bucket and the streams, or leaves them as they are. `replicas`: on how many servers each message is kept. */
export async function makeStreams(bus: FleetBus, replicas: number): Promise<void> {
  const { names, connection } = bus
  const jsm = await jetstreamManager(connection)
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

/** Every record on the servers, in order of arrival; `machine` selects one. */
export async function* readRecords(
  bus: FleetBus,
  machine = '*',
): AsyncGenerator<{ readonly subject: string; readonly data: string }> {
  const { names, connection } = bus
  const jsm = await jetstreamManager(connection)
  const { state } = await jsm.streams.info(names.recordStream)
  if (state.messages === 0) return
  const consumer = await jetstream(connection).consumers.get(names.recordStream, {
    filter_subjects: names.records(machine, '*'),
    deliver_policy: DeliverPolicy.All,
  })
  const info = await consumer.info()
  let left = info.num_pending
  if (left === 0) return
  const messages = await consumer.consume({ max_messages: 1000 })
  for await (const message of messages) {
    yield { subject: message.subject, data: message.string() }
    if (--left === 0) break
  }
}
