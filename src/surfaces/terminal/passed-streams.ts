/**
 * Streams that this process hands to a command, left as they are. Node opens `process.stdout` for any pipe that is joined or
 * socket that is closed, only to compare with it, and a pipe that Node opens is O_NONBLOCK from then on: for everybody who has it open.
 */

import { fstatSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { writeAll } from './terminal.ts'

const STREAMS = ['stdin', 'stdout', 'stderr'] as const

/** From here on Node makes nothing of the pipes and sockets among this process's streams; what is written still arrives, whole. */
export function leaveStreamsAlone(): void {
  for (const [fd, name] of STREAMS.entries()) {
    if (!isShared(fd)) continue
    let stream: Readable | Writable | null = null
    Object.defineProperty(process, name, {
      configurable: true,
      enumerable: true,
      get: () => (stream ??= fd === 0 ? Readable.from([]) : directWriter(fd)),
    })
  }
}

/** A terminal is opened anew by Node, and a file has no such switch. */
function isShared(fd: number): boolean {
  try {
    const facts = fstatSync(fd)
    return facts.isFIFO() || facts.isSocket()
  } catch {
    return false
  }
}

function directWriter(fd: number): Writable {
  return new Writable({
    write(chunk: Buffer, _, done) {
      try {
        writeAll(fd, chunk)
        done()
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)))
      }
    },
  })
}
