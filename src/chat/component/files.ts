/** Builds components with optional tools in the sandbox: the input may be hostile. */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AGENT_WIT, componentImports, foreignImports } from '../../code/component/imports.ts'
import type { InsideFile } from '../../code/frame.ts'
import { startInterpreter } from '../../code/interpreter.ts'
import type { Backend } from '../../sandbox/backend.ts'
import { openCgroups } from '../../sandbox/limits-cgroup.ts'
import { runCodeSandbox } from '../../sandbox/oci/os-engine.ts'
import { insideFolder } from '../../session/code/port.ts'
import { errorCode, Fault, messageOf } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import { uniqueName, writeMade } from '../../system/made-file.ts'
import { makeDirectories, openOwnDirectory } from '../../system/state.ts'

export { AGENT_WIT } from '../../code/component/imports.ts'

/** Versions tested together. */
export const COMPONENT_TOOLS: readonly string[] = [
  '@bytecodealliance/jco@1.35.0',
  '@bytecodealliance/componentize-js@0.23.0',
]

const MAKE_MS = 300_000
/** Memory for Node and its children; without a cgroup per process. */
const MAKE_MEMORY = { group: 3 * 1024 ** 3, process: 12 * 1024 ** 3 }
const MAX_COMPONENT: number = 32 * 1024 ** 2
const STALE_MS = 3_600_000

/**
 * The optional tools, in Cordon's state, which no command can write; never the project's packages.
 */
export function toolsFolder(machine: Machine): string {
  return join(machine.stateDir, 'component-tools')
}

function requireTools(machine: Machine): string {
  const folder = toolsFolder(machine)
  if (existsSync(join(folder, 'node_modules', '@bytecodealliance', 'jco', 'package.json')))
    return realpathSync.native(folder)
  throw new Fault('no-engine', 'the tools for components are not installed', {
    remedy: `Install them (about 380 MB): npm install --prefix ${folder} ${COMPONENT_TOOLS.join(' ')}`,
  })
}

/** Builds a component from one JavaScript or TypeScript file. */
export async function buildComponent(machine: Machine, backend: Backend, path: string): Promise<Uint8Array> {
  const order = { make: 'component', source: readFileSync(path, 'utf8'), typed: !/\.m?js$/.test(path), wit: AGENT_WIT }
  const files = await make(machine, backend, JSON.stringify(order))
  const component = files.find(({ name }) => name === 'agent.wasm')?.bytes
  if (!component) throw new Fault('bad-component', `${path} did not compile to a component`)
  requireOwnImports(component)
  return component
}

/** The Node files of a component, built once for the same bytes. */
export async function componentFiles(machine: Machine, backend: Backend, bytes: Uint8Array): Promise<string> {
  if (bytes.length > MAX_COMPONENT)
    throw new Fault('bad-component', `it does not load: it is larger than ${MAX_COMPONENT / 1024 ** 2} MiB`)
  const base = openOwnDirectory(join(machine.stateDir, 'components'))
  // Rebuilt for other versions of the tools.
  const digest = createHash('sha256').update(COMPONENT_TOOLS.join()).update(bytes).digest('hex')
  const folder = join(base, digest)
  if (existsSync(join(folder, 'agent.js'))) return folder
  const order = JSON.stringify({ make: 'files', base64: Buffer.from(bytes).toString('base64') })
  const files = await make(machine, backend, order)
  if (!files.some(({ name }) => name === 'agent.js'))
    throw new Fault('bad-component', 'it does not load: nothing runs it')
  removeDrafts(base)
  const draft = join(base, `draft-${uniqueName()}`)
  makeDirectories(draft)
  try {
    for (const { name, bytes: content } of files) writeMade(join(draft, name), content, { mode: 0o644 })
    writeMade(join(draft, 'package.json'), '{"type":"module"}\n', { mode: 0o644 })
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another run built the same files.
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error
  }
  return folder
}

/** Drafts of killed processes; none takes an hour. */
function removeDrafts(base: string): void {
  for (const name of readdirSync(base).filter((one) => one.startsWith('draft-'))) {
    const path = join(base, name)
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - changed > STALE_MS) rmSync(path, { recursive: true, force: true })
  }
}

/** Runs the tools and returns what they report. */
async function make(machine: Machine, backend: Backend, order: string): Promise<readonly InsideFile[]> {
  const tools = requireTools(machine)
  const inside = insideFolder()
  const flags = ['--experimental-import-meta-resolve', '--disable-warning=ExperimentalWarning']
  const argv = [process.execPath, ...flags, join(inside, 'maker.mjs'), tools]
  const memoryBytes = openCgroups()?.support.memory ? MAKE_MEMORY.group : MAKE_MEMORY.process
  const interpreter = startInterpreter(async (io) => {
    const limits = { memoryBytes, processes: 256, scratchBytes: 512 * 1024 ** 2 }
    return runCodeSandbox(backend, { argv, reads: [process.execPath, inside, tools], limits }, io)
  })
  try {
    const { files, error, limit, stderr } = await interpreter.run({
      code: order,
      tools: [],
      limits: { milliseconds: MAKE_MS, memoryBytes, outputBytes: 1024 ** 2, calls: 0 },
      signal: new AbortController().signal,
      call: () => Promise.resolve({ ok: false, text: 'there are no calls' }),
    })
    if (error === null && limit === null) return files
    const why = limit === null ? (error ?? '') : `its limit of ${limit} was reached`
    throw new Fault('bad-component', `it cannot be compiled: ${why}${stderr === '' ? '' : `\n${stderr.slice(-1000)}`}`)
  } finally {
    await interpreter.end()
  }
}

/** Throws if the bytes are not a component, or import beyond `cordon:agent`. */
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
