/** Asks the unified log of macOS what the kernel refused to a command. It tells, and decides nothing: without an answer nothing is told. */

import { spawn } from 'node:child_process'
import type { Violation } from '../violation.ts'
import { type RefusalMark, readRefusals, refusalPredicate } from './kernel-refusal.ts'

/** Absolute: what lies on PATH may be anybody's, and zsh has a `log` of its own. */
const LOG = '/usr/bin/log'
const TIME_MS = 2_000
const MAX_BYTES = 1024 * 1024

/** The refusals of a launch that took so long; none when the log is not readable, slow or odd. */
export async function readKernelLog(mark: RefusalMark, milliseconds: number): Promise<readonly Violation[]> {
  const text = await output([
    'show',
    '--style',
    'ndjson',
    // A length of time rather than a time of day: neither a time zone nor a clock that is put right is in the way.
    '--last',
    `${Math.ceil(milliseconds / 1000) + 2}s`,
    '--predicate',
    refusalPredicate(mark),
  ])
  return text === null ? [] : readRefusals(text, mark)
}

/** What the program printed, up to the cap; null when it failed or was too slow. */
function output(args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(LOG, args, { stdio: ['ignore', 'pipe', 'ignore'], cwd: '/', env: { PATH: '/usr/bin:/bin' } })
    const chunks: Buffer[] = []
    let length = 0
    const end = (text: string | null) => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      child.stdout.destroy()
      resolve(text)
    }
    const whole = () => Buffer.concat(chunks).toString('utf8')
    const timer = setTimeout(() => end(null), TIME_MS)
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      // A command that has much refused cannot hide the first of it.
      if (length >= MAX_BYTES) end(whole())
    })
    child.stdout.on('error', () => end(null))
    child.once('error', () => end(null))
    child.once('close', (code) => end(code === 0 ? whole() : null))
  })
}
