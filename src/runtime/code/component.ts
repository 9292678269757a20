/** Agents that are WASM components (T6): built with optional tools, loaded only as the signed manifest names them, run in the OS sandbox. */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { AGENT_WIT, componentImports, foreignImports } from '../../code/component/imports.ts'
import type { CallAnswer } from '../../code/frame.ts'
import { type ProgramResult, startInterpreter } from '../../code/interpreter.ts'
import type { ComponentSetting } from '../../manifest/schema/settings.ts'
import { type Backend, requireCapable } from '../../sandbox/backend.ts'
import { planCodeRoom } from '../../sandbox/oci/code-room.ts'
import { machineResolver } from '../../system/dns.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import { isRecord } from '../../system/record.ts'
import { openOwnDirectory, writeOwnJson } from '../../system/state.ts'
import { uniqueName } from '../../system/unique-name.ts'
import { machineUpstream } from '../command/machine-upstream.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import type { Session } from '../session/session.ts'
import { answerOf, insideFolder } from './port.ts'

export { AGENT_WIT } from '../../code/component/imports.ts'

/** The versions that were tried together. */
export const COMPONENT_TOOLS: readonly string[] = [
  '@bytecodealliance/jco@1.35.0',
  '@bytecodealliance/componentize-js@0.23.0',
]

/** Where the optional tools are installed: among Cordon's own state, which no command can write. */
export function toolsFolder(machine: Machine): string {
  return join(machine.stateDir, 'component-tools')
}

/** A module of the tools. Never the project's: its packages are what an agent can write. */
function toolModule(machine: Machine, name: string): Record<string, unknown> {
  try {
    return createRequire(join(toolsFolder(machine), 'package.json'))(name) as Record<string, unknown>
  } catch (error) {
    throw new Fault('no-engine', `the tools for components are not installed (${name})`, {
      cause: error,
      remedy: `Install them (about 380 MB): npm install --prefix ${toolsFolder(machine)} ${COMPONENT_TOOLS.join(' ')}`,
    })
  }
}

/** Makes a component from one file of JavaScript or TypeScript. */
export async function buildComponent(machine: Machine, source: string): Promise<Uint8Array> {
  const tools = toolModule(machine, '@bytecodealliance/componentize-js')
  const componentize = tools.componentize as (source: string, options: object) => Promise<{ component: Uint8Array }>
  const code =
    source.endsWith('.js') || source.endsWith('.mjs')
      ? readFileSync(source, 'utf8')
      : stripTypeScriptTypes(readFileSync(source, 'utf8'))
  const draft = join(openOwnDirectory(machine.stateDir), `wit-${uniqueName()}`)
  mkdirSync(draft, { mode: 0o700 })
  try {
    writeFileSync(join(draft, 'agent.wit'), AGENT_WIT)
    const disableFeatures = ['stdio', 'random', 'clocks', 'http', 'fetch-event']
    const { component } = await componentize(code, {
      witPath: join(draft, 'agent.wit'),
      worldName: 'agent',
      disableFeatures,
    })
    requireOwnImports(component)
    return component
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Throws the fault of bytes that are no component, or one that would reach beyond `cordon:agent`. */
export function requireOwnImports(bytes: Uint8Array): void {
  let foreign: readonly string[]
  try {
    foreign = foreignImports(componentImports(bytes))
  } catch (error) {
    throw new Fault('bad-component', `it does not load: ${messageOf(error)}`, { cause: error })
  }
  if (foreign.length === 0) return
  throw new Fault('bad-component', `it does not load: it imports ${foreign.join(', ')}, which is not of cordon:agent`, {
    remedy:
      'A component may import the interfaces model, tools, storage and console of cordon:agent, and nothing else.',
  })
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The entry of the signed manifest that names these very bytes. */
export function entryOf(entries: readonly ComponentSetting[], bytes: Uint8Array): ComponentSetting {
  const hash = hashOf(bytes)
  const entry = entries.find(({ sha256 }) => sha256 === hash)
  if (entry) return entry
  throw new Fault('unlisted-component', 'the manifest does not name this component', {
    remedy: `Add it, and sign: [components.NAME] sha256 = "${hash}", tools = ["read", "grep"].`,
  })
}

/** The component as files that Node runs, made once for the same bytes. */
async function transpiled(machine: Machine, bytes: Uint8Array): Promise<string> {
  const base = join(openOwnDirectory(machine.stateDir), 'components')
  const folder = join(base, hashOf(bytes))
  if (existsSync(join(folder, 'agent.js'))) return folder
  const { transpile } = toolModule(machine, '@bytecodealliance/jco') as {
    transpile: (bytes: Uint8Array, options: object) => Promise<{ files: Record<string, Uint8Array> }>
  }
  const calls = [
    'tools@0.1.0#call',
    'tools@0.1.0#catalog',
    'model@0.1.0#complete',
    'storage@0.1.0#get',
    'storage@0.1.0#set',
  ]
  const { files } = await transpile(bytes, {
    name: 'agent',
    instantiation: 'async',
    asyncMode: 'jspi',
    asyncImports: calls.map((call) => `cordon:agent/${call}`),
    asyncExports: ['run'],
    nodejsCompat: false,
    wasiShim: false,
    noTypescript: true,
    base64Cutoff: 0,
  })
  const draft = join(base, `draft-${uniqueName()}`)
  for (const [name, content] of Object.entries(files)) {
    const path = join(draft, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, content)
  }
  writeFileSync(join(draft, 'package.json'), '{"type":"module"}\n')
  renameSync(draft, folder)
  return folder
}

/** One answer of the configured model to one conversation. */
export async function openModelFor(machine: Machine, loaded: () => LoadedPolicy): Promise<ComponentRun['complete']> {
  const { openComponentModel } = await import('./component-model.ts')
  return openComponentModel(
    machine,
    () => loaded().policy,
    machineResolver(),
    machineUpstream(machine, loaded().sandbox),
  )
}

export interface ComponentRun {
  readonly bytes: Uint8Array
  readonly entry: ComponentSetting
  readonly task: string
  readonly session: Session
  readonly machine: Machine
  readonly backend: Backend
  readonly milliseconds: number
  /** One turn of a model; null where none is configured, or the manifest gives it none. */
  readonly complete: ((request: string, signal: AbortSignal) => Promise<string>) | null
  readonly signal: AbortSignal
}

/** WASM memory in pages of 64 KiB, as V8 counts it. */
const PAGES_PER_MB = 16
const MAX_CALLS = 10_000
const OUTPUT_BYTES: number = 1024 ** 2

/** Runs a component that was checked; what it imports is served here, outside its sandbox. */
export async function runComponent(run: ComponentRun): Promise<ProgramResult> {
  requireOwnImports(run.bytes)
  const { machine, backend, entry } = run
  const folder = await transpiled(machine, run.bytes)
  const inside = insideFolder()
  const megabytes = Math.ceil(entry.memoryBytes / 1024 ** 2)
  const argv = [
    process.execPath,
    `--wasm-max-mem-pages=${megabytes * PAGES_PER_MB}`,
    '--disable-warning=ExperimentalWarning',
    ...[join(inside, 'component.mjs'), folder],
  ]
  const interpreter = startInterpreter(async (io) => {
    const plan = planCodeRoom({ argv, reads: [process.execPath, inside, folder], limits: { processes: 64 } })
    requireCapable(backend, plan, io)
    const { exitCode } = await backend.launch(plan, io)
    return { exitCode, notes: [] }
  })
  const storage = openStorage(machine, entry)
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

type Served = CallAnswer & { readonly ok: boolean }

const no = (text: string, code: string): Served => ({ ok: false, text, code })

async function serve(
  { session, entry, complete }: ComponentRun,
  storage: ComponentStorage,
  name: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Served> {
  switch (name) {
    case 'tools.catalog': {
      const offered = session.tools().filter((tool) => entry.tools.includes(tool.name))
      return {
        ok: true,
        text: JSON.stringify(offered.map(({ name, description, input }) => ({ name, description, input }))),
      }
    }
    case 'tools.call': {
      const tool = String(input.tool)
      if (!entry.tools.includes(tool)) return no(`${tool} is not among the tools of this component`, 'denied')
      let given: unknown
      try {
        given = JSON.parse(String(input.input))
      } catch {
        return no('the input is no JSON', 'bad-input')
      }
      const { ok, text, data, code } = answerOf(await session.call(tool, given, { signal })) as Served
      return ok
        ? { ok, text: JSON.stringify({ text, ...(data !== undefined && { data }) }) }
        : no(text, code ?? 'failed')
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
        return { ok: true, text: await complete(String(input.request), signal) }
      } catch (error) {
        return no(messageOf(error), 'model')
      }
    default:
      return no(`there is no ${name}`, 'unknown-tool')
  }
}

interface ComponentStorage {
  get(key: string): string | null
  /** False when it would be more than the quota. */
  set(key: string, value: string): boolean
}

/** A file of its own for each component, by its name in the manifest. */
function openStorage(machine: Machine, { name, storageBytes }: ComponentSetting): ComponentStorage {
  const file = join(
    openOwnDirectory(join(machine.stateDir, 'component-storage')),
    `${createHash('sha256').update(name).digest('hex').slice(0, 32)}.json`,
  )
  let entries: Record<string, string> = {}
  try {
    const known: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isRecord(known)) entries = Object.fromEntries(Object.entries(known).map(([key, value]) => [key, String(value)]))
  } catch {
    // Nothing was kept yet.
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
