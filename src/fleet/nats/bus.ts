/** A fleet's NATS servers as Cordon uses them: policy, records, asks and answers, each by its subject. */

import { createHash, createHmac } from 'node:crypto'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { AuthorizationError, connect } from '@nats-io/transport-node'
import { Fault, messageOf } from '../../system/fault.ts'
import { keyId, type PublicKey, parseSigningKey, type SigningKey } from '../../system/keys/signing-key.ts'
import type { FleetTls } from '../settings.ts'
import { type FleetSubjects, fleetSubjects, inboxOf, natsLogin, subjectPart } from './subjects.ts'

export type NatsConnection = Awaited<ReturnType<typeof connect>>

interface BusOptions {
  readonly fleet: string
  readonly servers: readonly string[]
  readonly tls: FleetTls
  readonly machine: PublicKey
  readonly name: string
  readonly token: string
  /** The machine's key, as it is kept. */
  readonly secret: string
}

/** A line of a record, or a piece of one, on its way. */
interface PublishedRecord {
  /** The same one has the same name, however often it is sent. */
  readonly id: string
  readonly session: string
  readonly data: string
}

export interface FleetBus {
  readonly names: FleetSubjects
  /**
   * A secret name: servers keep the first message of a name in a stream, so a machine that knew
   * those of another could suppress its records.
   */
  secretName(text: string): string
  readonly connection: NatsConnection
  /** The newest bundle of the bucket; null if there is none. */
  readPolicy(): Promise<string | null>
  /** Who signed in, as anybody could have written it; null if nobody did. */
  readPeople(): Promise<string | null>
  /** The openings that these keys signed last. */
  readOpenings(approvers: readonly PublicKey[]): Promise<readonly string[]>
  /** Replaces the openings of this machine's key. */
  publishOpenings(text: string): Promise<void>
  /** Replaces the health of this machine. */
  publishHealth(text: string): Promise<void>
  /** Sends lines, and ends when the servers have said that each of them is kept. */
  publishRecords(records: readonly PublishedRecord[]): Promise<void>
  publishAsk(id: string, data: string): Promise<void>
  /** Replaces an ask of this machine with an empty message, so that it is shown no more. */
  withdrawAsk(id: string): Promise<void>
  /** The answer that a key gave to an ask; null as long as it has given none. */
  readAnswer(machine: PublicKey, ask: string, approver: PublicKey): Promise<string | null>
  /** Calls back with every answer to an ask of this machine; the returned function stops it. */
  onAnswer(ask: string, heard: () => void): () => void
  close(): Promise<void>
}

const ACK_MS = 10_000
/** A server under load takes its time for a login. */
const CONNECT_MS = 20_000
const RECONNECT_SPREAD_MS = 2000

/** Connects; rejects if no server is reachable. Afterwards it reconnects. */
export async function connectBus(options: BusOptions): Promise<FleetBus> {
  const names = fleetSubjects(options.fleet)
  const connection = await openConnection(options)
  const js = jetstream(connection, { timeout: ACK_MS })
  const jsm = await jetstreamManager(connection, { checkAPI: false, timeout: ACK_MS })
  const id = keyId(options.machine)
  const nameKey = createHash('sha256')
    .update(ownKey(options).sign(`cordon-fleet-names-v1\0${options.fleet}`))
    .digest()
  const last = async (stream: string, subject: string): Promise<string | null> => {
    const found = await jsm.direct.getMessage(stream, { last_by_subj: subject })
    return found === null ? null : found.string()
  }
  return {
    names,
    connection,
    secretName: (text) => createHmac('sha256', nameKey).update(text).digest('hex').slice(0, 40),
    readPolicy: () => last(names.policyStream, names.policy),
    readPeople: () => last(names.policyStream, names.people),
    async readOpenings(approvers) {
      const texts = await Promise.all(approvers.map((key) => last(names.policyStream, names.openings(keyId(key)))))
      return texts.filter((text) => text !== null)
    },
    async publishOpenings(text) {
      await js.publish(names.openings(id), text)
    },
    async publishHealth(text) {
      await js.publish(names.health(id), text)
    },
    async publishRecords(records) {
      await Promise.all(
        records.map((record) =>
          js.publish(names.records(id, subjectPart(record.session)), record.data, { msgID: record.id }),
        ),
      )
    },
    async publishAsk(ask, data) {
      await js.publish(names.ask(id, ask), data, { msgID: ask })
    },
    async withdrawAsk(ask) {
      await js.publish(names.ask(id, ask), '', { msgID: `${ask}-withdrawn` })
    },
    readAnswer: (machine, ask, approver) =>
      last(names.answerStream, names.answer(keyId(machine), ask, keyId(approver))),
    onAnswer(ask, heard) {
      const subscription = connection.subscribe(names.answer(id, ask, '*'), { callback: () => heard() })
      return () => subscription.unsubscribe()
    },
    close: () => closeConnection(connection),
  }
}

function ownKey({ secret }: Pick<BusOptions, 'secret'>): SigningKey {
  const key = parseSigningKey(secret)
  if (key === null) throw new Fault('bad-key', 'the key of this machine is damaged')
  return key
}

/** A connection that logs in with the machine's own key. */
export async function openConnection(options: BusOptions): Promise<NatsConnection> {
  const key = ownKey(options)
  const { ca, cert, key: keyFile } = options.tls
  const secure = options.servers.some((server) => server.startsWith('tls:'))
  try {
    const connection = await connect({
      servers: [...options.servers],
      name: options.name,
      inboxPrefix: inboxOf(options.machine),
      authenticator: (nonce?: string) => natsLogin(key, options.token, nonce ?? ''),
      maxReconnectAttempts: -1,
      // Where a node ends, all of its machines come at once: each waits its own while.
      reconnectTimeWait: 250,
      reconnectJitter: RECONNECT_SPREAD_MS,
      reconnectJitterTLS: RECONNECT_SPREAD_MS,
      ignoreAuthErrorAbort: true,
      timeout: CONNECT_MS,
      ...(secure && {
        tls: { ...(ca && { caFile: ca }), ...(cert && { certFile: cert }), ...(keyFile && { keyFile }) },
      }),
    })
    void closeWhenRefused(connection)
    return connection
  } catch (error) {
    if (isRefusal(error))
      throw new Fault('fleet-refused', `the fleet’s NATS servers refuse this machine: ${messageOf(error)}`, {
        cause: error,
      })
    throw new Fault('fleet-unreachable', `the fleet’s NATS servers cannot be reached: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/**
 * Ends a connection whose login is refused twice in a row: the key was revoked. The client has the
 * same rule, but it counts "Authentication Timeout", which only means a server under load, over the
 * connection's life.
 */
async function closeWhenRefused(connection: NatsConnection): Promise<void> {
  let refused = 0
  for await (const status of connection.status()) {
    if (status.type === 'reconnect') refused = 0
    if (status.type === 'error' && isRefusal(status.error) && ++refused === 2) await connection.close()
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof AuthorizationError && !/timeout/i.test(error.message)
}

/** Closes without waiting for servers that do not answer. */
async function closeConnection(connection: NatsConnection): Promise<void> {
  if (!connection.isClosed()) await connection.close()
}
