/**
 * A worker of the resident: a ready process that serves one `hook` or `run` after another. The addon adopts the
 * caller's directory, umask and streams; this module adopts its variables and arguments, and the program runs as in
 * its own process. These belong to the whole process, so a worker serves one request at a time, and none after one
 * that left traces.
 */

import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { keepLooks } from '../../../run/hidden-paths.ts'
import { keepSpares, prepareSpare, secondsAhead } from '../../../run/spare-sandboxes.ts'
import type { ProcessEnd } from './main.ts'

interface ServeAddon {
  next(idleSeconds: number, stamp: Buffer): Buffer | null | undefined
  done(code: number): void
  caller(): number
}

/** Code and caches grow with each request; a new process is cheap. */
const MAX_REQUESTS = 1000
const LEARNED = 8
const MAX_BYTES = 256 * 1024 * 1024
const TURNS = 5

/**
 * Serves requests until none come. `run` runs the program for `process.argv` and returns how its process ends;
 * `remember` writes the code cache for the next worker.
 */
export async function serve(
  run: () => Promise<ProcessEnd>,
  remember: () => void,
  [idle = '', stamp = '']: readonly string[],
): Promise<void> {
  const program = process.argv.slice(0, 2)
  const addon = loadAddon(dirname(program[1]!))
  // The caller gets the exit code however this process ends.
  process.on('exit', (code) => addon.done(code))
  await Promise.all([
    import('../commands/machine/hook.ts'),
    import('../commands/run/run.ts'),
    import('../open-policy.ts'),
  ])
  keepLooks()
  keepSpares()
  const traces = watchTraces()
  for (let served = 0; served < MAX_REQUESTS; served++) {
    const payload = nextRequest(addon, Number(idle), Buffer.from(stamp, 'hex'))
    if (payload === null) break
    const { args, env } = readPayload(payload)
    takePlace(program, args, env)
    // The caller's parent is not an ancestor of this process.
    Object.defineProperty(process, 'ppid', { value: addon.caller(), configurable: true })
    traces.begin()
    const { known, signal } = await run()
    const code = Number(process.exitCode ?? 0)
    process.exitCode = undefined
    // The caller dies by the signal, not this process.
    addon.done(signal === null ? code : code | (constants.signals[signal] << 8))
    if (!known || (await traces.left()) || process.memoryUsage.rss() > MAX_BYTES) break
    // By now it has served hooks and runs, and nobody waits for this.
    if (served === LEARNED) remember()
    prepareSpare()
  }
  process.exit(0)
}

/** The next request, or null at the end. Discards spare sandboxes before this process exits. */
function nextRequest(addon: ServeAddon, idleSeconds: number, stamp: Buffer): Buffer | null {
  for (;;) {
    const kept = secondsAhead()
    const payload = addon.next(Math.min(kept ?? idleSeconds, idleSeconds), stamp)
    if (payload !== undefined) return payload
    if (kept === null) return null
  }
}

function loadAddon(dist: string): ServeAddon {
  const module = { exports: {} }
  process.dlopen(module, join(dist, 'native', `cordon-serve-${process.arch}`))
  return module.exports as ServeAddon
}

interface Request {
  readonly args: readonly string[]
  readonly env: readonly string[]
}

/** Two counts, then the arguments and variables, each ending in NUL. */
function readPayload(payload: Buffer): Request {
  const [words, variables] = [payload.readUInt32LE(0), payload.readUInt32LE(4)]
  const texts = payload.toString('utf8', 8).split('\0')
  const args = texts.slice(0, words)
  if (texts.length !== words + variables + 1 || (args[0] !== 'hook' && args[0] !== 'run'))
    throw new Error('the request is not one of `cordon hook` or `cordon run`')
  return { args, env: texts.slice(words, words + variables) }
}

function takePlace(program: readonly string[], args: readonly string[], env: readonly string[]): void {
  process.argv = [...program, ...args]
  for (const name of Object.keys(process.env)) delete process.env[name]
  for (const variable of env) {
    const end = variable.indexOf('=')
    const name = variable.slice(0, end)
    // On duplicate names the first wins, as in other programs.
    if (end > 0 && process.env[name] === undefined) process.env[name] = variable.slice(end + 1)
  }
  // Node caches its directory until it changes it itself.
  process.chdir('.')
}

const STREAMS = ['stdin', 'stdout', 'stderr'] as const
const STARTERS = ['spawn', 'fork', 'exec', 'execFile'] as const

/** Detects what a request left in this process: streams, children, timers, listeners. */
function watchTraces(): { begin(): void; left(): Promise<boolean> } {
  let touched = false
  const streams = STREAMS.map((name): [string, PropertyDescriptor] => {
    const own = Object.getOwnPropertyDescriptor(process, name)!
    const get = (): unknown => {
      touched = true
      return own.get!.call(process)
    }
    return [name, { ...own, get }]
  })
  const children = process.getBuiltinModule('node:child_process') as unknown as Record<
    string,
    (...given: unknown[]) => unknown
  >
  for (const name of STARTERS) {
    const own = children[name]!
    children[name] = (...given) => {
      touched = true
      return own(...given)
    }
  }
  const state = (): string =>
    JSON.stringify([
      process.getActiveResourcesInfo(),
      process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
    ])
  const before = state()
  return {
    // A command that keeps its streams has replaced these.
    begin: () => {
      for (const [name, stream] of streams) Object.defineProperty(process, name, stream)
    },
    left: async () => {
      // Pending handles may still be closing.
      for (let turn = 0; turn < TURNS && !touched && state() !== before; turn++)
        await new Promise((resolve) => setImmediate(resolve))
      return touched || state() !== before
    },
  }
}
