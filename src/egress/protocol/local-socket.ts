/**
 * Relays a unix socket of the machine: connects a client of its path inside with the socket
 * outside.
 */

import { connect, type Socket } from 'node:net'
import { join } from '../wire/join.ts'
import { type Passage, recordAllowed, recordRefused, startRecord } from './passage.ts'
import { joinSigner } from './signer.ts'

/**
 * Connects a client with the socket at a judged path; closes it if that fails. With a key, the
 * socket only signs with it.
 */
export function relayLocal(passage: Passage, client: Socket, path: string, signs: string | null): void {
  const record = startRecord(passage, { kind: 'unix', host: `unix:${path}` })
  client.allowHalfOpen = true
  const host = connect({ path, allowHalfOpen: true })
  const failed = ({ message }: Error) => {
    recordRefused(passage, record, { code: 'upstream-unreachable', message: `the unix socket ${path}: ${message}` })
    client.destroy()
  }
  const abandon = () => host.destroy()
  host.once('error', failed)
  client.once('close', abandon)
  host.once('connect', () => {
    client.off('close', abandon)
    // An agent, or a database in a long transaction, may be silent for any time.
    const refused = (what: string) =>
      recordRefused(passage, record, { code: 'signature-refused', message: `the agent ${path}: ${what}` })
    const joined = join(client, host, 0, signs === null ? {} : joinSigner(client, signs, refused))
    host.off('error', failed)
    void joined.then((bytes) => recordAllowed(passage, record, bytes))
  })
}
