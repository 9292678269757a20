/** The signed checkpoints of a log: whether one vouches for what stands before it. */

import { isSignedBy } from '../system/keys/ed25519.ts'
import { type AuditLine, checkpointMessage } from './event.ts'

/** What is wrong with a checkpoint; null when its signature is good. One without a signature vouches for nothing, and Cordon writes none. */
export function checkpointProblem(
  event: AuditLine,
  keys: readonly string[],
): { kind: 'bad-signature' | 'unknown-key' | 'unsigned'; message: string } | null {
  const { key, signature, session, seq, prev } = event
  if (key === undefined && signature === undefined) return { kind: 'unsigned', message: 'the checkpoint is not signed' }
  if (typeof key !== 'string' || typeof signature !== 'string') {
    return { kind: 'bad-signature', message: 'the checkpoint has half a signature' }
  }
  if (!keys.includes(key))
    return { kind: 'unknown-key', message: `the checkpoint is signed by ${key.slice(0, 24)}…, which is not your key` }
  return isSignedBy(key, checkpointMessage(session, seq, prev), signature)
    ? null
    : {
        kind: 'bad-signature',
        message: 'the signature of the checkpoint does not fit: what it vouches for was changed',
      }
}
