/** Agents in WASM components (T6), sandboxed and named by the signed manifest. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallAnswer } from '../../code/frame.ts'
import { type ProgramResult, startInterpreter } from '../../code/interpreter.ts'
import type { ComponentSetting } from '../../manifest/schema/settings.ts'
import type { Backend } from '../../sandbox/backend.ts'
import { openCgroups } from '../../sandbox/limits-cgroup.ts'
import { runCodeSandbox } from '../../sandbox/oci/os-engine.ts'
import { answerOf, insideFolder } from '../../session/code/port.ts'
import type { Session } from '../../session/session.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import { isRecord } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, writeOwnJson } from '../../system/state.ts'
import { componentFiles, requireOwnImports } from './files.ts'
import type { ComponentModel } from './model.ts'

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The manifest entry for these bytes. */
export function entryOf(entries: readonly ComponentSetting[], bytes: Uint8Array): ComponentSetting {
  const hash = hashOf(bytes)
  const entry = entries.find(({ sha256 }) => sha256 === hash)
  if (entry) return entry
  throw new Fault('unlisted-component', 'the manifest does not name this component', {
    remedy: `Add it, and sign: [components.NAME] sha256 = "${hash}", tools = ["read", "grep"].`,
  })
}

export interface ComponentRun {
  readonly bytes: Uint8Array
  readonly entry: ComponentSetting
  readonly task: string
  readonly session: Session
  /** The project that its storage belongs to. */
  readonly root: string
  readonly machine: Machine
  readonly backend: Backend
  readonly milliseconds: number
  /** One model turn; null if none is configured or allowed. */
  readonly complete: ComponentModel | null
  readonly signal: AbortSignal
}

/** WASM memory pages of 64 KiB, as V8 counts them. */
const PAGES_PER_MB = 16
const MAX_CALLS = 10_000
const OUTPUT_BYTES: number = 1024 ** 2
/**
 * Node's own memory beside the component's. Without a cgroup this limits writable address space, of
 * which V8 reserves half a gigabyte for code.
 */
const OWN_MEMORY = { group: 512 * 1024 ** 2, process: 4 * 1024 ** 3 }

/** Runs a checked component and serves its imports from outside the sandbox. */
export async function runComponent(run: ComponentRun): Promise<ProgramResult> {
  requireOwnImports(run.bytes)
  requireSuspension()
  const { machine, backend, entry } = run
  const folder = await componentFiles(machine, backend, run.bytes)
  const inside = insideFolder()
  const pages = Math.ceil(entry.memoryBytes / 1024 ** 2) * PAGES_PER_MB
  const flags = [`--wasm-max-mem-pages=${pages}`, '--max-old-space-size=256', '--disable-warning=ExperimentalWarning']
  const argv = [process.execPath, ...flags, join(inside, 'component.mjs'), folder]
  const own = openCgroups()?.support.memory ? OWN_MEMORY.group : OWN_MEMORY.process
  const interpreter = startInterpreter(async (io) => {
    const limits = { processes: 64, memoryBytes: entry.memoryBytes + own, scratchBytes: 1024 ** 2 }
    return runCodeSandbox(backend, { argv, reads: [process.execPath, inside, folder], limits }, io)
  })
  const storage = openStorage(machine, run.root, entry)
  try {
    return await interpreter.run({
      code: run.task,
      tools: [],
      limits: {
        milliseconds: run.milliseconds,
        memoryBytes: entry.memoryBytes,
        outputBytes: OUTPUT_BYTES,
        calls: MAX_CALLS,
      },
      signal: run.signal,
      call: (name, input, signal) => serve(run, storage, name, isRecord(input) ? input : {}, signal),
    })
  } finally {
    await interpreter.end()
  }
}

function requireSuspension(): void {
  const { WebAssembly } = globalThis as unknown as { WebAssembly: object }
  if ('Suspending' in WebAssembly) return
  throw new Fault('no-engine', `Node ${process.versions.node} cannot suspend WASM (JSPI)`, {
    remedy: 'Run Cordon with Node 24.21 or newer.',
  })
}

type ServedCall = CallAnswer & { readonly ok: boolean }

const no = (text: string, code: string): ServedCall => ({ ok: false, text, code })

async function serve(
  { session, entry, complete }: ComponentRun,
  storage: ComponentStorage,
  name: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ServedCall> {
  const offered = () => session.tools().filter((tool) => entry.tools.includes(tool.name))
  switch (name) {
    case 'tools.catalog':
      return {
        ok: true,
        text: JSON.stringify(offered().map(({ name, description, input }) => ({ name, description, input }))),
      }
    case 'tools.call': {
      const tool = String(input.tool)
      if (!entry.tools.includes(tool)) return no(`${tool} is not among the tools of this component`, 'denied')
      let given: unknown
      try {
        given = JSON.parse(String(input.input))
      } catch {
        return no('the input is not JSON', 'bad-input')
      }
      const result = await session.call(tool, given, { signal })
      const { ok, data, isError, code } = answerOf(result)
      // The text a model would read.
      const text = session.textOf(result)
      if (!ok) return no(text, code ?? 'failed')
      return { ok, text: JSON.stringify({ text, ...(data !== undefined && { data }), ...(isError && { isError }) }) }
    }
    case 'storage.get':
      return { ok: true, text: '', data: storage.get(String(input.key)) }
    case 'storage.set':
      return storage.set(String(input.key), String(input.value))
        ? { ok: true, text: '' }
        : no('the storage is full', 'quota')
    case 'model.complete':
      if (!complete) return no('this component has no model', 'no-model')
      try {
        return { ok: true, text: await complete(String(input.request), offered(), signal) }
      } catch (error) {
        return no(messageOf(error), 'model')
      }
    default:
      return no(`there is no ${name}`, 'unknown-tool')
  }
}

interface ComponentStorage {
  get(key: string): string | null
  /** False if it would exceed the quota. */
  set(key: string, value: string): boolean
}

/** Projects share nothing, even with equal names. */
function openStorage(
  machine: Machine,
  root: string,
  { name, storageBytes }: Pick<ComponentSetting, 'name' | 'storageBytes'>,
): ComponentStorage {
  const own = createHash('sha256')
    .update(JSON.stringify([root, name]))
    .digest('hex')
    .slice(0, 32)
  const file = join(openOwnDirectory(join(machine.stateDir, 'component-storage')), `${own}.json`)
  let entries: Record<string, string> = {}
  try {
    const known: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isRecord(known)) entries = Object.fromEntries(Object.entries(known).map(([key, value]) => [key, String(value)]))
  } catch {
    // Nothing is stored yet.
  }
  return {
    get: (key) => (Object.hasOwn(entries, key) ? entries[key]! : null),
    set: (key, value) => {
      const next = { ...entries, [key]: value }
      if (Buffer.byteLength(JSON.stringify(next)) > storageBytes) return false
      entries = next
      writeOwnJson(file, entries)
      return true
    },
  }
}
