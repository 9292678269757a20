/** code_exec's process in the sandbox: a worker with its own engine per program. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import type { OutsideFrame } from '../frame.ts'

/** A worker waiting for its program. */
interface Spare {
  readonly worker: Worker
  readonly busy: Int32Array
}

/** For an engine that does not check its clock: some built-ins outrun it. */
const LOOK_MS = 100
const GRACE_MS = 300

const { Module } = (globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } }).WebAssembly
const wasm = new Module(readFileSync(join(import.meta.dirname, 'quickjs.wasm')))
const running = new Map<number, { readonly worker: Worker; stop(): void }>()
let spare: Spare | null = prepare()

function prepare(): Spare {
  const busy = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(join(import.meta.dirname, 'worker.mjs'), {
    workerData: { wasm, busy },
    env: {},
    stdin: true,
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
  })
  worker.unref()
  return { worker, busy }
}

function say(frame: unknown): void {
  process.stdout.write(`${JSON.stringify(frame)}\n`)
}

function start(frame: Extract<OutsideFrame, { kind: 'run' }>): void {
  const { worker, busy } = spare ?? prepare()
  spare = null
  const { run, limits } = frame
  let over = false
  let busyFor = 0
  const finish = (limit: string | null, error: string | null) => {
    if (over) return
    over = true
    clearInterval(look)
    running.delete(run)
    void worker.terminate()
    if (limit !== null || error !== null) say({ kind: 'done', run, value: null, error, limit, files: [] })
    spare ??= prepare()
  }
  const look = setInterval(() => {
    busyFor = Atomics.load(busy, 0) === 1 ? busyFor + LOOK_MS : 0
    if (busyFor > limits.milliseconds + GRACE_MS) finish('time', null)
  }, LOOK_MS)
  running.set(run, { worker, stop: () => finish('time', null) })
  worker.ref()
  worker.on('message', (message: { kind: string }) => {
    if (over || message.kind === 'up') return
    say(message)
    if (message.kind === 'done') finish(null, null)
  })
  worker.on('error', (error: Error) => {
    const memory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    finish(memory ? 'memory' : null, memory ? null : error.message)
  })
  worker.on('exit', () => finish(null, 'the engine ended'))
  worker.postMessage(frame)
}

createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  .on('line', (line) => {
    const frame = JSON.parse(line) as OutsideFrame
    if (frame.kind === 'run') start(frame)
    else if (frame.kind === 'answer') running.get(frame.run)?.worker.postMessage(frame)
    else running.get(frame.run)?.stop()
  })
  .on('close', () => process.exit(0))
say({ kind: 'ready' })
