/** Runs model code. Its tool calls are guarded calls of the session. */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ToolResult } from '../../call/tool-result.ts'
import { firstProperty } from '../../code/declarations.ts'
import type { CallAnswer, InsideFile, ToolName } from '../../code/frame.ts'
import { type Interpreter, type ProgramLimits, startInterpreter } from '../../code/interpreter.ts'
import { type ModulePolicy, pythonArgv } from '../../code/python/bootstrap.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { openCgroups } from '../../sandbox/limits-cgroup.ts'
import type { EngineSet } from '../../sandbox/oci/engine-set.ts'
import { type CodeSandbox, runCodeSandbox } from '../../sandbox/oci/os-engine.ts'
import { Fault } from '../../system/fault.ts'
import { uniqueName, writeMade } from '../../system/made-file.ts'
import { makeDirectories } from '../../system/state.ts'
import type { CodePort, ContainerRequest, MadeFile, ProgramAnswer, ProgramRequest } from '../../tools/tool.ts'
import { containerLimits, openEngines } from './engines.ts'
import { LANGUAGES, programOf } from './languages.ts'
import type { CodeOptions } from './open-code.ts'

/** Runs programs; `open-code.ts` describes them. */
export interface ProgramPort {
  forCall(within: () => string | null): Pick<CodePort, 'container' | 'python' | 'script'>
  close(): Promise<void>
}

const PYTHON_MEMORY: number = 512 * 1024 ** 2
const SCRIPT_MEMORY: number = 64 * 1024 ** 2
/**
 * The limit of Node and its engines, above each engine's own limit. Without a cgroup it limits
 * writable address space, of which each V8 reserves half a gigabyte for code.
 */
const ENGINE_MEMORY = { group: 1024 ** 3, process: 8 * 1024 ** 3 }
const PROCESSES = 64
const SCRATCH_BYTES: number = 64 * 1024 ** 2
const MAX_CALLS = 1000
/** An idle engine is stopped. */
const IDLE_MS = 60_000

/** Opens programs for one session. */
export function openPrograms(options: CodeOptions): ProgramPort {
  const { machine, backend, spillDirectory } = options
  const closing = new AbortController()
  const running = new Set<Interpreter>()
  let engines: EngineSet | null = null
  let kept: Interpreter | null = null
  /** Programs of the kept interpreter run in order, each under its own recorded call. */
  let turn: Promise<unknown> = Promise.resolve()
  let spare: { readonly interpreter: Interpreter; readonly modules: string; readonly idle: NodeJS.Timeout } | null =
    null
  let script: { readonly interpreter: Interpreter; users: number; idle: NodeJS.Timeout | null } | null = null

  const start = (given: CodeSandbox, timed: boolean) => {
    closing.signal.throwIfAborted()
    const layout = { ...given, limits: { ...given.limits, scratchBytes: SCRATCH_BYTES } }
    const interpreter = startInterpreter((io) => runCodeSandbox(backend, layout, io), { timed })
    running.add(interpreter)
    return interpreter
  }
  const end = async (interpreter: Interpreter) => {
    await interpreter.end()
    running.delete(interpreter)
  }

  const startPython = (modules: ModulePolicy): Interpreter => {
    const python = programOf(LANGUAGES.find(({ name }) => name === 'python')!)
    if (python === null) {
      throw new Fault('no-engine', 'there is no python3 in the folders of the system', { remedy: 'Install python3.' })
    }
    const limits = { memoryBytes: PYTHON_MEMORY, processes: PROCESSES }
    const env = { MPLBACKEND: 'Agg', MPLCONFIGDIR: '/tmp' }
    return start({ argv: pythonArgv(python, modules), reads: [], env, limits }, false)
  }
  /** An unused interpreter with the current modules: left by the last call, or new. */
  const freshPython = (): Interpreter => {
    const { allowedModules, blockedModules } = options.loaded().session.python
    const modules = { allowed: allowedModules, blocked: blockedModules }
    const ready = spare
    dropSpare()
    if (ready?.interpreter.alive && ready.modules === JSON.stringify(modules)) return ready.interpreter
    if (ready) void end(ready.interpreter)
    return startPython(modules)
  }
  const dropSpare = () => {
    if (spare) clearTimeout(spare.idle)
    spare = null
  }
  const leaveSpare = () => {
    if (spare || closing.signal.aborted) return
    const { allowedModules, blockedModules } = options.loaded().session.python
    const modules = { allowed: allowedModules, blocked: blockedModules }
    const interpreter = startPython(modules)
    const idle = setTimeout(() => {
      if (spare?.interpreter === interpreter) dropSpare()
      void end(interpreter)
    }, IDLE_MS)
    idle.unref()
    spare = { interpreter, modules: JSON.stringify(modules), idle }
  }
  const startScript = (): Interpreter => {
    const inside = insideFolder()
    const memoryBytes = openCgroups()?.support.memory ? ENGINE_MEMORY.group : ENGINE_MEMORY.process
    const argv = [
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      '--max-old-space-size=256',
      join(inside, 'main.mjs'),
    ]
    return start({ argv, reads: [process.execPath, inside], limits: { memoryBytes, processes: 256 } }, true)
  }

  const program = async (
    interpreter: Interpreter,
    request: ProgramRequest,
    memoryBytes: number,
    within: string | null,
  ): Promise<ProgramAnswer> => {
    const { maxOutputBytes } = options.loaded().sandbox.limits
    const limits: ProgramLimits = {
      milliseconds: request.timeoutMs,
      memoryBytes,
      outputBytes: maxOutputBytes.value,
      calls: MAX_CALLS,
    }
    const offered = options.tools()
    const tools = offered.map(({ name, input }): ToolName => ({ name, first: firstProperty(input)?.name ?? null }))
    const names = new Set(offered.map(({ name }) => name))
    const { files, ...result } = await interpreter.run({
      code: request.code,
      tools,
      limits,
      signal: request.signal,
      call: async (tool, input, signal) => {
        if (!names.has(tool))
          return { ok: false, text: `there is no tool ${JSON.stringify(tool)} inside`, code: 'unknown-tool' }
        return answerOf(await options.call(tool, input, signal, within))
      },
    })
    return { ...result, files: keepFiles(files, spillDirectory), wall: `the OS sandbox (${backend.name})` }
  }

  return {
    forCall: (within) => ({
      container: async (request) => {
        const loaded = options.loaded()
        const limits = containerLimits(loaded.session.containers, loaded.sandbox.limits.maxOutputBytes.value)
        engines ??= openEngines(loaded.session.containers, limits, machine, backend)
        return runContainer(engines, request, loaded, spillDirectory, closing.signal)
      },
      python: async (request) => {
        if (request.keep) {
          const mine = turn.then(() => {
            if (!kept?.alive) kept = freshPython()
            return program(kept, request, PYTHON_MEMORY, within())
          })
          turn = mine.catch(() => {})
          return mine
        }
        const interpreter = freshPython()
        try {
          return await program(interpreter, request, PYTHON_MEMORY, within())
        } finally {
          // The session's end waits for it.
          void end(interpreter)
          leaveSpare()
        }
      },
      script: async (request) => {
        if (!script?.interpreter.alive) script = { interpreter: startScript(), users: 0, idle: null }
        const mine = script
        mine.users += 1
        if (mine.idle) clearTimeout(mine.idle)
        try {
          return {
            ...(await program(mine.interpreter, request, SCRIPT_MEMORY, within())),
            wall: `QuickJS in WASM, in the OS sandbox (${backend.name})`,
          }
        } finally {
          mine.users -= 1
          if (mine.users === 0) {
            mine.idle = setTimeout(() => {
              if (script === mine) script = null
              void end(mine.interpreter)
            }, IDLE_MS)
            mine.idle.unref()
          }
        }
      },
    }),
    close: async () => {
      closing.abort()
      if (script?.idle) clearTimeout(script.idle)
      dropSpare()
      await Promise.allSettled([...running].map(end))
    },
  }
}

async function runContainer(
  engines: EngineSet,
  request: ContainerRequest,
  loaded: LoadedPolicy,
  spillDirectory: string,
  closing: AbortSignal,
) {
  const { image } = loaded.session.containers
  const language = LANGUAGES.find(({ name }) => name === request.language)!
  const limits = containerLimits(loaded.session.containers, loaded.sandbox.limits.maxOutputBytes.value)
  const program = image === null ? (programOf(language) ?? language.programs[0]!) : language.programs[0]!
  const { outcome, chosen } = await engines.run({
    argv: [program, ...language.words, `{in}/${language.source}`],
    source: { name: language.source, bytes: Buffer.from(request.code) },
    files: request.files,
    stdin: Buffer.from(request.stdin),
    outputs: request.outputs,
    limits: { ...limits, timeoutMs: Math.min(limits.timeoutMs, request.timeoutMs) },
    image,
    signal: AbortSignal.any([request.signal, closing]),
  })
  const { exitCode, stdout, stderr, hit } = outcome
  return {
    exitCode,
    stdout: stdout.bytes.toString('utf8'),
    stderr: stderr.bytes.toString('utf8'),
    truncated: stdout.truncated || stderr.truncated,
    hit,
    files: keepFiles(outcome.files, spillDirectory),
    engine: outcome.engine,
    wall: chosen.support.wall,
    notHeld: chosen.support.limits
      .filter(({ status }) => status !== 'enforced')
      .map(
        ({ limit, status, how }) =>
          `the limit of ${limit} is ${status === 'absent' ? 'not enforced' : 'partly enforced'}: ${how}`,
      ),
  }
}

/** A guarded call's result, for the program inside. */
export function answerOf(result: ToolResult): CallAnswer & { readonly ok: boolean } {
  switch (result.status) {
    case 'done': {
      const { text, data, isError } = result.output
      return {
        ok: true,
        text: [text, ...result.notes.map((note) => `[${note}]`)].join('\n'),
        ...(data !== undefined && { data }),
        ...(isError && { isError }),
      }
    }
    case 'denied':
      return { ok: false, text: result.decision.reason.message, code: 'denied' }
    case 'refused':
      return { ok: false, text: result.refusal.message, code: 'refused' }
    case 'failed':
      return { ok: false, text: result.error.message, code: result.error.code }
  }
}

/** Keeps created files where the agent can read them, one folder per call. */
function keepFiles(files: readonly InsideFile[], spillDirectory: string): MadeFile[] {
  if (files.length === 0) return []
  const folder = join(spillDirectory, `code-${uniqueName()}`)
  makeDirectories(folder)
  return files.map(({ name, bytes }) => {
    const path = join(folder, name)
    writeMade(path, bytes, { flag: 'wx' })
    return { name, path, bytes: bytes.length }
  })
}

/** The folder of code_exec's program: beside the bundle, the library, or in a checkout's build. */
export function insideFolder(): string {
  const places = ['../inside', '../../../inside', '../../../dist/inside']
  const found = places
    .map((place) => join(import.meta.dirname, place))
    .find((path) => existsSync(join(path, 'main.mjs')))
  if (found) return found
  throw new Fault('no-engine', `the engine of code_exec is not built (${dirname(import.meta.dirname)})`, {
    remedy: 'Run npm run build.',
  })
}
