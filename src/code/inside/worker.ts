/** A worker of code_exec: one program in one QuickJS engine, with four host functions. */

import { stripTypeScriptTypes } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { EvalFlags, type JSValueHandle, QuickJS, type QuickJSOptions } from 'quickjs-wasi'
import type { OutsideFrame, ProgramLimit } from '../frame.ts'
import { PRELUDE } from './prelude.ts'

type RunFrame = Extract<OutsideFrame, { kind: 'run' }>

const { wasm, busy } = workerData as { readonly wasm: QuickJSOptions['wasm']; readonly busy: Int32Array }
const port = parentPort!

/** Deep recursion fails in the engine long before the real stack ends. */
const STACK_BYTES: number = 512 * 1024
const MAX_TIMERS = 1000
/** A program that prints this many times the kept output is ended. */
const FLOOD_TIMES = 64
/** The handler runs for nearly every instruction, so read the clock only sometimes. */
const CLOCK_EVERY = 2048

port.once('message', (frame: RunFrame) => void execute(frame))

async function execute(frame: RunFrame): Promise<void> {
  const { run, limits } = frame
  let used = 0
  let entered = 0
  let ticks = 0
  let ended = false
  let timers = 0
  let printed = 0
  const end = (value: string | null, error: string | null, limit: ProgramLimit | null) => {
    if (ended) return
    ended = true
    port.postMessage({ kind: 'done', run, value, error, limit, files: [] })
  }
  const vm = await QuickJS.create({
    wasm,
    memoryLimit: limits.memoryBytes,
    maxStackSize: STACK_BYTES,
    timezoneOffset: 0,
    interruptHandler: () => {
      if (ended) return true
      ticks += 1
      if (ticks % CLOCK_EVERY !== 0 || used + performance.now() - entered < limits.milliseconds) return false
      end(null, null, 'time')
      return true
    },
  })

  const inside = (work: () => void): void => {
    if (ended) return
    entered = performance.now()
    Atomics.store(busy, 0, 1)
    try {
      work()
      vm.executePendingJobs()
    } catch (error) {
      end(null, describe(error), isOutOfMemory(error) ? 'memory' : null)
    } finally {
      Atomics.store(busy, 0, 0)
      used += performance.now() - entered
    }
  }
  const host = (name: string, fn: (...args: JSValueHandle[]) => void) =>
    vm.newFunction(name, (...args: JSValueHandle[]) => {
      if (!ended) fn(...args)
      return vm.undefined
    })
  const hands: { begin: JSValueHandle; answer: JSValueHandle; fire: JSValueHandle; conclude: JSValueHandle } | null =
    (() => {
      const prelude = vm.evalCode(PRELUDE, '<prelude>')
      const hooks = vm.callFunction(
        prelude,
        vm.undefined,
        host('callHost', (id, tool, input) => {
          const text = input!.toString()
          port.postMessage({ kind: 'call', run, id: id!.toNumber(), tool: tool!.toString(), input: JSON.parse(text) })
        }),
        host('print', (stream, text) => {
          const said = text!.toString()
          printed += said.length
          // Output waiting to be sent counts against the memory of all programs here.
          if (printed > FLOOD_TIMES * limits.outputBytes) end(null, null, 'output')
          else port.postMessage({ kind: 'out', run, stream: stream!.toString(), text: said })
        }),
        host('setTimer', (id, delay) => {
          if (timers >= MAX_TIMERS) throw new RangeError(`more than ${MAX_TIMERS} timers`)
          timers += 1
          const number = id!.toNumber()
          setTimeout(
            () => {
              timers -= 1
              inside(() => vm.callFunction(hands!.fire, vm.undefined, vm.newNumber(number)).dispose())
            },
            Math.min(Math.max(delay!.toNumber(), 1), limits.milliseconds),
          )
        }),
        host('finish', (good, text, memory) => {
          const said = text!.isNull ? null : text!.toString()
          if (good!.toBoolean()) end(said, null, null)
          else end(null, said ?? 'null', memory!.toBoolean() ? 'memory' : null)
        }),
      )
      const of = (name: string) => hooks.getProp(name)
      return { begin: of('begin'), answer: of('answer'), fire: of('fire'), conclude: of('conclude') }
    })()

  port.on('message', (message: OutsideFrame) => {
    if (message.kind !== 'answer') return
    inside(() => {
      const words = [
        vm.newNumber(message.id),
        message.ok ? vm.true : vm.false,
        vm.newString(JSON.stringify(message.value)),
      ]
      vm.callFunction(hands.answer, vm.undefined, ...words).dispose()
    })
  })
  inside(() => {
    vm.callFunction(hands.begin, vm.undefined, vm.newString(JSON.stringify(frame.tools))).dispose()
    const [promise, unwrap] = evaluate(vm, frame.code)
    vm.callFunction(hands.conclude, vm.undefined, promise, unwrap ? vm.true : vm.false).dispose()
  })
}

/**
 * Evaluates a script, or a function body if it returns; strips types if there are any. A text that
 * does not parse has not run, so it can be retried.
 */
function evaluate(vm: QuickJS, code: string): [JSValueHandle, boolean] {
  const ways: readonly (() => [JSValueHandle, boolean])[] = [
    () => [vm.evalCode(code, 'program.js', EvalFlags.ASYNC | EvalFlags.STRICT), true],
    () => [vm.evalCode(`(async () => {${code}\n})()`, 'program.js', EvalFlags.STRICT), false],
    () => [vm.evalCode(stripTypeScriptTypes(code), 'program.js', EvalFlags.ASYNC | EvalFlags.STRICT), true],
    () => [vm.evalCode(stripTypeScriptTypes(`(async () => {${code}\n})()`), 'program.js', EvalFlags.STRICT), false],
  ]
  let first: unknown = null
  for (const way of ways) {
    try {
      return way()
    } catch (error) {
      if (!isSyntaxError(error)) throw error
      first ??= error
    }
  }
  throw first
}

function isSyntaxError(error: unknown): boolean {
  return error instanceof Error && (error.name === 'SyntaxError' || 'code' in error)
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && /out of memory/.test(error.message)
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return `${error.name}: ${error.message}${error.stack && !error.stack.includes('node:') ? `\n${error.stack}` : ''}`
}

port.postMessage({ kind: 'up' })
