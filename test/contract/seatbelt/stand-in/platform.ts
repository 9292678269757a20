/**
 * Makes this process take itself for another system: `CORDON_PLATFORM` is its name, and `CORDON_STAND_IN` a folder of programs in
 * the place of that system's. It exists in the tests only; no build knows either name.
 */

import childProcess, { type ChildProcess } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

const folder = process.env.CORDON_STAND_IN!
Object.defineProperty(process, 'platform', { value: process.env.CORDON_PLATFORM })

const PROGRAMS = ['/usr/bin/sandbox-exec', '/usr/bin/script', '/usr/bin/log']
const placed = (word: string): string => (PROGRAMS.includes(word) ? join(folder, word.split('/').at(-1)!) : word)
const { spawn } = childProcess
childProcess.spawn = ((program: string, args: string[], options: object): ChildProcess =>
  spawn(placed(program), args.map(placed), options)) as typeof spawn
syncBuiltinESMExports()

/** A test of what hangs does not wait as long as a person would. */
const PROBE_MS = 10_000
const { setTimeout: wait } = globalThis
globalThis.setTimeout = ((work: () => void, ms?: number, ...args: []) =>
  wait(work, ms === PROBE_MS && process.env.CORDON_HURRY ? 500 : ms, ...args)) as typeof setTimeout
