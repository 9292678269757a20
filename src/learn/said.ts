/** Needs that a command's output names: variables, and servers of this machine. */

import { readFileSync } from 'node:fs'
import { PassThrough, type Writable } from 'node:stream'
import { matchSegment } from '../files/glob.ts'
import { namedOwnPorts } from '../run/network/own-ports.ts'
import { defaultAllowlist } from '../sandbox/environment.ts'
import { gradeKey } from '../scan/redact/sensitive-keys.ts'
import type { Machine } from '../system/machine.ts'
import type { Need, WithheldNeed } from './needs.ts'

const KEPT = 64 * 1024

/** A stream that forwards everything and keeps the end, where errors are. */
export interface OutputTap {
  readonly stream: Writable
  /** The kept text, after the stream ends. */
  text(): Promise<string>
}

export function tapOutput(output: Writable): OutputTap {
  const stream = new PassThrough()
  let kept = ''
  stream.on('data', (bytes: Buffer) => {
    kept = (kept + bytes.toString('latin1')).slice(-KEPT)
  })
  stream.pipe(output, { end: false })
  return {
    stream,
    text: () =>
      new Promise((resolve) => {
        stream.once('end', () => resolve(kept))
        stream.end()
      }),
  }
}

/** Variable names in error messages. */
const VARIABLE = /(?<![\w$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w])/g
/** Phrases for a refused connection, with its port. */
const SPOKEN_PORT = /(?:localhost|127\.0\.0\.1|\[?::1\]?)["')]*,?[^\n]{0,20}?\bport (\d{1,5})\b/g

/**
 * Variables and local ports that the words and the output name. The command chooses its words, so
 * each is proposed with its reason, and never a secret.
 */
export function needsInOutput(
  command: readonly string[],
  said: string,
  machine: Pick<Machine, 'env'>,
  allowlist: readonly string[] | null,
  listening: ReadonlySet<number> = listeningPorts(),
): { readonly needs: readonly Need[]; readonly withheld: readonly WithheldNeed[] } {
  const needs: Need[] = []
  const withheld: WithheldNeed[] = []
  const seen = allowlist ?? defaultAllowlist[process.platform === 'darwin' ? 'darwin' : 'linux']
  for (const name of new Set(said.match(VARIABLE) ?? [])) {
    if ((machine.env[name] ?? '') === '' || seen.some((glob) => matchSegment(glob, name))) continue
    if (gradeKey(name, '') !== null)
      withheld.push({ subject: `$${name}`, why: 'its name looks like a secret: cordon secrets, and [[secrets]]' })
    else needs.push({ kind: 'variable', value: name, evidence: `it said ${name}, which you have and it does not see` })
  }
  const spoken = Array.from(said.matchAll(SPOKEN_PORT), ([, port]) => Number(port))
  for (const port of new Set([...namedOwnPorts([...command, said]), ...spoken]))
    if (listening.has(port))
      needs.push({
        kind: 'host',
        value: `127.0.0.1:${port}`,
        evidence: `it named port ${port}, where a server of this machine listens`,
      })
  return { needs, withheld }
}

function listeningPorts(): ReadonlySet<number> {
  const ports = new Set<number>()
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    try {
      for (const row of readFileSync(file, 'latin1').split('\n').slice(1)) {
        const [, local = '', , state] = row.trim().split(/\s+/)
        if (state === '0A') ports.add(Number.parseInt(local.slice(local.indexOf(':') + 1), 16))
      }
    } catch {
      // This system has no such file.
    }
  }
  return ports
}
