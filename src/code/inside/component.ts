/** The process of an agent in a WASM component: its imports call Cordon, and it has no others. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { CallAnswer, OutsideFrame } from '../frame.ts'

type Run = (task: string) => Promise<string>
type Instantiate = (core: (path: string) => object, imports: object) => Promise<{ readonly run: Run }>

const folder = process.argv[2]!
const waiting = new Map<number, (answer: { ok: boolean; value: CallAnswer }) => void>()
let serial = 0

const say = (frame: object) => process.stdout.write(`${JSON.stringify(frame)}\n`)

/** Calls Cordon; a failed call is thrown as the text of WIT's result. */
async function ask(run: number, tool: string, input: object): Promise<CallAnswer> {
  const id = serial++
  const answer = new Promise<{ ok: boolean; value: CallAnswer }>((resolve) => waiting.set(id, resolve))
  say({ kind: 'call', run, id, tool, input })
  const { ok, value } = await answer
  if (!ok) throw value.text
  return value
}

/** An object with only these functions: a prototype would offer `to-string`. */
function interfaceOf(functions: object): object {
  return Object.assign(Object.create(null), functions)
}

async function execute({ run, code: task }: Extract<OutsideFrame, { kind: 'run' }>): Promise<void> {
  try {
    const { instantiate } = (await import(pathToFileURL(join(folder, 'agent.js')).href)) as { instantiate: Instantiate }
    const { Module } = (globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } })
      .WebAssembly
    const agent = await instantiate((path) => new Module(readFileSync(join(folder, path))), {
      'cordon:agent/model': interfaceOf({
        complete: async (request: string) => (await ask(run, 'model.complete', { request })).text,
      }),
      'cordon:agent/tools': interfaceOf({
        catalog: async () => (await ask(run, 'tools.catalog', {})).text,
        call: async (tool: string, input: string) => (await ask(run, 'tools.call', { tool, input })).text,
      }),
      'cordon:agent/storage': interfaceOf({
        get: async (key: string) => (await ask(run, 'storage.get', { key })).data ?? undefined,
        set: async (key: string, value: string) => void (await ask(run, 'storage.set', { key, value })),
      }),
      'cordon:agent/console': interfaceOf({
        log: (text: string) => say({ kind: 'out', run, stream: 'stderr', text: `${text}\n` }),
      }),
    })
    say({ kind: 'done', run, value: await agent.run(task), error: null, limit: null, files: [] })
  } catch (error) {
    const payload = typeof error === 'object' && error !== null && 'payload' in error ? error.payload : error
    // An engine without memory traps.
    const memory = error instanceof RangeError || /out of memory|out of bounds|unreachable/.test(String(payload))
    say({ kind: 'done', run, value: null, error: String(payload), limit: memory ? 'memory' : null, files: [] })
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const frame = JSON.parse(line) as OutsideFrame
    if (frame.kind === 'run') void execute(frame)
    else if (frame.kind === 'answer') {
      waiting.get(frame.id)?.(frame)
      waiting.delete(frame.id)
    } else process.exit(0)
  })
  .on('close', () => process.exit(0))
say({ kind: 'ready' })
