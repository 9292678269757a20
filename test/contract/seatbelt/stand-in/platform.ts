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

/** Those of the probe and of the kernel's log: a test of what hangs does not wait as long as a person would, and no other is hurried. */
const LIMITS_MS = [10_000, 2_000]
const hurried = Number(process.env.CORDON_HURRY)
const { setTimeout: wait } = globalThis
globalThis.setTimeout = ((work: () => void, ms = 0, ...args: []) =>
  wait(work, ms === hurried ? 500 : LIMITS_MS.includes(ms) ? 120_000 : ms, ...args)) as typeof setTimeout
