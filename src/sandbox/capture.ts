/** The streams of a command: what it writes is kept, in memory and beyond a cap in a file; what it reads is fed. */

import { closeSync, constants, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { openMade, uniqueName } from '../system/made-file.ts'
import type { CapturedOutput, LaunchIo } from './backend.ts'

const DEFAULT_OUTPUT_BYTES: number = 1024 * 1024
/** A command must not fill the disk by talking: past this much the rest is only counted. */
const MAX_SPILL_BYTES: number = 256 * 1024 * 1024

/** The first bytes of a stream in memory, and beyond a cap everything in a file, up to its own cap. */
export class Capture {
  readonly #cap: number
  readonly #directory: string | undefined
  readonly #name: string
  readonly #chunks: Buffer[] = []
  #kept = 0
  #total = 0
  #spill: { path: string; fd: number; bytes: number } | null = null
  #spillFailed = false

  constructor(stream: Readable, name: string, cap: number | undefined, directory: string | undefined) {
    this.#cap = cap ?? DEFAULT_OUTPUT_BYTES
    this.#directory = directory
    this.#name = name
    stream.on('data', (chunk: Buffer) => this.#take(chunk))
  }

  #take(chunk: Buffer): void {
    const space = this.#cap - this.#kept
    this.#total += chunk.length
    if (space > 0) {
      const part = chunk.length <= space ? chunk : chunk.subarray(0, space)
      this.#chunks.push(part)
      this.#kept += part.length
    }
    if (this.#total <= this.#cap || this.#directory === undefined || this.#spillFailed) return
    try {
      if (this.#spill === null) {
        const path = join(this.#directory, `${this.#name}-${uniqueName()}.log`)
        const fd = openMade(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW)
        this.#spill = { path, fd, bytes: 0 }
        for (const earlier of this.#chunks) this.#write(earlier)
        this.#write(chunk.subarray(Math.max(0, space)))
      } else this.#write(chunk)
    } catch {
      // A full disk costs the rest of the output, not the command.
      this.#spillFailed = true
    }
  }

  #write(chunk: Buffer): void {
    const spill = this.#spill!
    const part = chunk.subarray(0, Math.max(0, MAX_SPILL_BYTES - spill.bytes))
    let at = 0
    while (at < part.length) at += writeSync(spill.fd, part, at)
    spill.bytes += part.length
  }

  finish(): CapturedOutput {
    if (this.#spill) closeSync(this.#spill.fd)
    return {
      bytes: Buffer.concat(this.#chunks),
      total: this.#total,
      truncated: this.#total > this.#cap,
      spill: this.#spill?.path ?? null,
    }
  }
}

/** Feeds a command's input. A command that does not read it to the end is not a fault. */
export function feed(stdin: Writable, source: LaunchIo['stdin'], cleanups: (() => void)[]): void {
  stdin.on('error', () => {})
  const from = source === 'inherit' ? process.stdin : source
  if (!(from instanceof Readable)) return void stdin.end(from)
  from.pipe(stdin)
  cleanups.push(() => {
    from.unpipe(stdin)
    if (from !== process.stdin) return
    process.stdin.pause()
    process.stdin.unref?.()
  })
}
