/** A unix socket of the machine, by bytes: what came to its path inside is joined with a connection that is made outside. */

import { connect, type Socket } from 'node:net'
import { join } from '../wire/join.ts'
import { type Passage, recordAllowed, recordRefused, startRecord } from './passage.ts'
import { joinSigner } from './signer.ts'

/** Joins a client with the socket at a path that was judged; one that takes no one closes it. With a key it only signs by that. */
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
    // An agent, or a database in a long transaction, is silent for as long as it likes.
    const refused = (what: string) =>
      recordRefused(passage, record, { code: 'signature-refused', message: `the agent ${path}: ${what}` })
    const joined = join(client, host, 0, signs === null ? {} : joinSigner(client, signs, refused))
    host.off('error', failed)
    void joined.then((bytes) => recordAllowed(passage, record, bytes))
  })
}
