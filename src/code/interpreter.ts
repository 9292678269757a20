/** The host side of an interpreter: runs programs, answers calls, enforces limits. */

import { PassThrough, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { Fault, messageOf } from '../system/fault.ts'
import { processorTime } from '../system/processes.ts'
import {
  type CallAnswer,
  type InsideFile,
  type InsideFrame,
  type OutsideFrame,
  type ProgramLimit,
  parseFrame,
  type ToolName,
} from './frame.ts'

/** Between two checks of a waiting program; irregular, so that nothing can hide between them. */
const LOOK_MS = 60
const MORE_MS = 80

class ProgramClock {
  readonly #used: () => string | null
  readonly #rung: () => void
  #left: number
  #calls = 0
  #since = performance.now()
  /** What was used at that moment; null without a call. */
  #before: string | null = null
  #timer: NodeJS.Timeout | null

  /**
   * `used` is the processor time of everything inside, as a text: two equal ones mean that nothing
   * ran. Null means unknown, which counts as running.
   */
  constructor(milliseconds: number, used: () => string | null, rung: () => void) {
    this.#left = milliseconds
    this.#used = used
    this.#rung = rung
    this.#timer = setTimeout(() => this.#look(), milliseconds)
  }

  callBegins(): void {
    this.#calls += 1
    if (this.#calls === 1) this.#look()
  }

  callEnds(): void {
    this.#calls -= 1
    if (this.#calls === 0) this.#look()
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** Counts the time since the last look, unless the program waited. */
  #look(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    const now = performance.now()
    const used = this.#calls > 0 || this.#before !== null ? this.#used() : null
    if (used === null || used !== this.#before) this.#left -= now - this.#since
    this.#since = now
    this.#before = this.#calls > 0 ? used : null
    if (this.#left <= 0) {
      this.#timer = null
      this.#rung()
      return
    }
    const wait = this.#calls > 0 ? LOOK_MS + Math.random() * MORE_MS : this.#left
    this.#timer = setTimeout(() => this.#look(), wait)
  }
}

/** Runs the interpreter; resolves when it and its children are gone. */
export type LaunchInside = (io: InsideIo) => Promise<InsideEnd>

export interface InsideIo {
  readonly stdin: PassThrough
  readonly stdout: Writable
  readonly stderr: Writable
  readonly signal: AbortSignal
  /** Called with the process whose descendants are everything inside. */
  readonly onStarted?: (pid: number) => void
}

export interface InsideEnd {
  readonly exitCode: number
  /** Notes of the sandbox: violations and limits. */
  readonly notes: readonly string[]
}

export interface ProgramLimits {
  /** Time of the program without its calls. */
  readonly milliseconds: number
  readonly memoryBytes: number
  /** Limit of its output and its value together. */
  readonly outputBytes: number
  /** Guarded calls of one program. */
  readonly calls: number
}

export interface Program {
  readonly code: string
  readonly tools: readonly ToolName[]
  readonly limits: ProgramLimits
  /** A guarded call of the session. Never throws. */
  readonly call: (tool: string, input: unknown, signal: AbortSignal) => Promise<CallAnswer & { readonly ok: boolean }>
  readonly signal: AbortSignal
}

export interface ProgramResult {
  readonly value: string | null
  readonly error: string | null
  readonly limit: ProgramLimit | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly files: readonly InsideFile[]
  readonly calls: number
  readonly notes: readonly string[]
}

export interface Interpreter {
  /** Runs a program; several at once if the interpreter can. */
  run(program: Program): Promise<ProgramResult>
  /** False once ended. */
  readonly alive: boolean
  /** Ends it; resolves when nothing is left. */
  end(): Promise<void>
}

/** A line from inside contains at most a result with its files. */
const MAX_LINE: number = 48 * 1024 * 1024
/** Further calls wait. */
const CALLS_AT_ONCE = 16
/** Lets an interpreter end a program before the whole process is ended. */
const GRACE_MS = 700
const MAX_STRAY = 64 * 1024

/**
 * `timed` if programs inside count their own time; otherwise what they use during a guarded call
 * is watched from outside.
 */
export function startInterpreter(
  launch: LaunchInside,
  { timed = false }: { readonly timed?: boolean } = {},
): Interpreter {
  const ending = new AbortController()
  let started: number | null = null
  const used = () => (timed ? 'not watched' : started === null ? null : processorTime(started))
  const stdin = new PassThrough()
  const runs = new Map<number, Run>()
  let stray = ''
  let serial = 0
  let alive = true
  const queued: Extract<InsideFrame, { kind: 'call' }>[] = []
  let waiting = 0
  let resume: (() => void) | null = null

  const send = (frame: OutsideFrame) => void (alive && stdin.write(`${JSON.stringify(frame)}\n`))
  const take = (frame: InsideFrame) => {
    if (frame.kind === 'ready') return
    const run = runs.get(frame.run)
    if (!run) return
    if (frame.kind === 'out') return run.print(frame.stream, frame.text)
    if (frame.kind === 'done') return run.finish(frame)
    queued.push(frame)
    pass()
  }
  /** A few calls run at a time; the rest stays in the pipe. */
  const pass = () => {
    while (waiting < CALLS_AT_ONCE && queued.length > 0) {
      const { run: number, id, tool, input } = queued.shift()!
      const run = runs.get(number)
      if (!run) continue
      waiting += 1
      void run.answer(tool, input).then((answer) => {
        waiting -= 1
        if (answer) send({ kind: 'answer', run: number, id, ...answer })
        pass()
      })
    }
    if (queued.length > 0 || waiting >= CALLS_AT_ONCE) return
    resume?.()
    resume = null
  }
  const stdout = lineSink(
    take,
    () => ending.abort(),
    (done) => {
      if (queued.length === 0 && waiting < CALLS_AT_ONCE) done()
      else resume = done
    },
  )
  const stderr = new Writable({
    write: (chunk: Buffer, _, done) => {
      // Output past the interpreter belongs to the running program.
      const text = chunk.toString('utf8')
      if (runs.size === 1) for (const run of runs.values()) run.print('stderr', text)
      else if (stray.length < MAX_STRAY) stray += text
      done()
    },
  })
  const onStarted = (pid: number) => {
    started = pid
  }
  const ended = launch({ stdin, stdout, stderr, signal: ending.signal, onStarted })
    .then(
      (end) => ({ end, error: null }),
      (error: unknown) => ({ end: null, error }),
    )
    .then((outcome) => {
      alive = false
      stdin.destroy()
      for (const run of runs.values()) run.lost(outcome)
      runs.clear()
    })

  return {
    get alive() {
      return alive && !ending.signal.aborted
    },
    run: async (program) => {
      program.signal.throwIfAborted()
      if (!alive)
        throw new Fault('code-failed', `the interpreter has ended${stray === '' ? '' : `: ${stray.slice(0, 400)}`}`)
      const number = serial++
      const { milliseconds, memoryBytes, outputBytes } = program.limits
      const run = new Run(program, {
        stop: () => send({ kind: 'stop', run: number }),
        kill: () => ending.abort(),
        used,
      })
      runs.set(number, run)
      send({
        kind: 'run',
        run: number,
        code: program.code,
        tools: program.tools,
        limits: { milliseconds, memoryBytes, outputBytes },
      })
      try {
        return await run.result
      } finally {
        runs.delete(number)
        run.close()
      }
    },
    end: async () => {
      ending.abort()
      await ended
    },
  }
}

/** Splits a stream into lines of limited length; reading waits for `pace`. */
function lineSink(take: (frame: InsideFrame) => void, tooLong: () => void, pace: (done: () => void) => void): Writable {
  const decoder = new StringDecoder('utf8')
  let rest: string[] = []
  let length = 0
  return new Writable({
    write: (chunk: Buffer, _, done) => {
      const pieces = decoder.write(chunk).split('\n')
      for (const [index, piece] of pieces.entries()) {
        rest.push(piece)
        length += piece.length
        if (length > MAX_LINE) {
          tooLong()
          break
        }
        if (index === pieces.length - 1) break
        const frame = parseFrame(rest.join(''))
        rest = []
        length = 0
        if (frame) take(frame)
      }
      pace(done)
    },
  })
}

interface Handles {
  readonly stop: () => void
  readonly kill: () => void
  /** See `ProgramClock`. */
  readonly used: () => string | null
}

class Run {
  readonly result: Promise<ProgramResult>
  readonly #program: Program
  readonly #handles: Handles
  readonly #clock: ProgramClock
  readonly #calls = new AbortController()
  readonly #texts = { stdout: '', stderr: '' }
  #settle!: (result: ProgramResult) => void
  #fail!: (error: unknown) => void
  #printed = 0
  #count = 0
  #limit: ProgramLimit | null = null
  #grace: NodeJS.Timeout | null = null

  constructor(program: Program, handles: Handles) {
    this.#program = program
    this.#handles = handles
    this.result = new Promise((resolve, reject) => {
      this.#settle = resolve
      this.#fail = reject
    })
    this.#clock = new ProgramClock(program.limits.milliseconds, handles.used, () => this.#exceed('time'))
    program.signal.addEventListener('abort', this.#cancel, { once: true })
  }

  readonly #cancel = (): void => {
    this.#handles.kill()
    this.#fail(this.#program.signal.reason)
  }

  print(stream: 'stdout' | 'stderr', text: string): void {
    const space = this.#program.limits.outputBytes - this.#printed
    this.#printed += text.length
    if (space > 0) this.#texts[stream] += text.slice(0, space)
    if (this.#printed > 64 * this.#program.limits.outputBytes) this.#exceed('output')
  }

  /** Waiting for it does not count, since a person may be asked. */
  async answer(tool: string, input: unknown): Promise<{ ok: boolean; value: CallAnswer } | null> {
    this.#count += 1
    if (this.#count > this.#program.limits.calls) {
      this.#exceed('calls')
      return null
    }
    this.#clock.callBegins()
    try {
      const { ok, ...value } = await this.#program.call(tool, input, this.#calls.signal)
      return { ok, value }
    } catch (error) {
      // A failure here is Cordon's own and must not end Cordon.
      return { ok: false, value: { text: messageOf(error), code: 'failed' } }
    } finally {
      this.#clock.callEnds()
    }
  }

  finish(frame: Extract<InsideFrame, { kind: 'done' }>): void {
    const over = (frame.value?.length ?? 0) > this.#program.limits.outputBytes
    this.#settle({
      value: over ? null : frame.value,
      error: frame.error?.slice(0, this.#program.limits.outputBytes) ?? null,
      limit: this.#limit ?? frame.limit ?? (over ? 'output' : null),
      ...this.#printedSoFar(),
      files: frame.files,
      notes: [],
    })
  }

  lost({ end, error }: { readonly end: InsideEnd | null; readonly error: unknown }): void {
    if (end === null) {
      this.#fail(error)
      return
    }
    const killed = end.exitCode === 137 || (end.exitCode === 134 && /out of memory/i.test(this.#texts.stderr))
    this.#settle({
      value: null,
      error: this.#limit === null ? `the interpreter ended with exit code ${end.exitCode}` : null,
      limit: this.#limit ?? (killed ? 'memory' : null),
      ...this.#printedSoFar(),
      files: [],
      notes: end.notes,
    })
  }

  close(): void {
    this.#clock.stop()
    this.#calls.abort()
    if (this.#grace) clearTimeout(this.#grace)
    this.#program.signal.removeEventListener('abort', this.#cancel)
  }

  #printedSoFar() {
    return { ...this.#texts, truncated: this.#printed > this.#program.limits.outputBytes, calls: this.#count }
  }

  #exceed(limit: ProgramLimit): void {
    if (this.#limit !== null) return
    this.#limit = limit
    this.#calls.abort()
    this.#handles.stop()
    this.#grace = setTimeout(this.#handles.kill, GRACE_MS)
  }
}
