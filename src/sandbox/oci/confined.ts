/**
 * Runs an engine's program so that all of it ends with this process, under limits, and captures
 * output.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { Writable } from 'node:stream'
import type { CapturedOutput } from '../backend.ts'
import type { Cgroup } from '../limits-cgroup.ts'
import type { ContainerLimits } from './engine.ts'

interface EngineRun {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Whom root becomes; null: as this process is. */
  readonly user: number | null
  readonly cgroup: Cgroup | null
  readonly limits: Pick<ContainerLimits, 'timeoutMs' | 'outputBytes'>
  readonly signal: AbortSignal
}

export interface EngineResult {
  readonly exitCode: number
  readonly stdout: CapturedOutput
  readonly stderr: CapturedOutput
  /** What ended it from here. */
  readonly stopped: 'time' | 'output' | 'cancelled' | null
  readonly milliseconds: number
}

/** Where an engine keeps its state: in memory, private to the call. */
export const ENGINE_STATE = '/dev/shm'

/** Joins the control groups, then becomes the rest of its words. */
const JOIN = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'

/** Joins control groups, and goes on with the words that follow. */
export function joinWords(procs: readonly string[]): [string, ...string[]] {
  return ['/bin/sh', '-c', JOIN, 'join', ...procs, '--']
}

/**
 * A pid namespace whose first process dies with `unshare`, so the kernel ends all of it. It has its
 * own mounts and the engine's state, too.
 */
export function namespaceWords(unshare: string): [string, ...string[]] {
  const enter = `PATH=/usr/bin:/bin:/usr/sbin:/sbin; mount -t tmpfs tmpfs ${ENGINE_STATE} && exec "$@"`
  return [
    unshare,
    ...['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child=KILL', '--mount-proc'],
    ...['--', '/bin/sh', '-c', enter, 'engine'],
  ]
}

/** The same, and it dies with this process. */
export function confinedArgv({
  argv,
  user,
  cgroup,
}: Pick<EngineRun, 'argv' | 'user' | 'cgroup'>): [string, ...string[]] {
  const become = user === null ? [] : [`--reuid=${user}`, `--regid=${user}`, '--clear-groups']
  const confined = ['setpriv', ...become, '--pdeathsig=KILL', ...namespaceWords('unshare'), ...argv] as const
  return cgroup ? [...joinWords(cgroup.procs), ...confined] : [...confined]
}

/** Runs it to its end, or ends it. */
export async function runEngine(run: EngineRun): Promise<EngineResult> {
  return endOnTime(confinedArgv(run), run.env, run.limits, run.signal)
}

/** Runs a program, and ends it at its time limit, when it talks without end, or when it is cancelled. */
export async function endOnTime(
  [program, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  limits: EngineRun['limits'],
  signal: AbortSignal,
): Promise<EngineResult> {
  signal.throwIfAborted()
  const started = performance.now()
  const child = spawn(program!, args, { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
  let stopped: EngineResult['stopped'] = null
  const stop = (why: NonNullable<EngineResult['stopped']>) => {
    stopped ??= why
    child.kill('SIGKILL')
  }
  const timer = setTimeout(() => stop('time'), limits.timeoutMs)
  const abort = () => stop('cancelled')
  signal.addEventListener('abort', abort, { once: true })
  const flood = new AbortController()
  flood.signal.addEventListener('abort', () => stop('output'), { once: true })
  const [out, err] = [new KeptOutput(limits.outputBytes, flood), new KeptOutput(limits.outputBytes, flood)]
  child.stdout!.pipe(out)
  child.stderr!.pipe(err)
  try {
    const exitCode = await endOf(child)
    const milliseconds = performance.now() - started
    return { exitCode, stdout: out.captured(), stderr: err.captured(), stopped, milliseconds }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, name) => resolve(code ?? 128 + (name ? constants.signals[name] : 0)))
  })
}

/** A program may talk more than is kept, but not without end: so many times as much, as in an interpreter. */
const FLOOD_TIMES = 64

export class KeptOutput extends Writable {
  readonly #cap: number
  readonly #flood: AbortController
  readonly #chunks: Buffer[] = []
  #kept = 0
  #total = 0

  /** `flood` is aborted when there is not an end to it. */
  constructor(cap: number, flood: AbortController) {
    super()
    this.#cap = cap
    this.#flood = flood
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    const part = chunk.subarray(0, this.#cap - this.#kept)
    this.#total += chunk.length
    if (part.length > 0) {
      this.#chunks.push(part)
      this.#kept += part.length
    }
    if (this.#total > FLOOD_TIMES * this.#cap) this.#flood.abort()
    done()
  }

  captured(): CapturedOutput {
    const bytes = Buffer.concat(this.#chunks)
    return { bytes, total: this.#total, truncated: this.#total > bytes.length, spill: null }
  }
}
