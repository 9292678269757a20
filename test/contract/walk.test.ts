/**
 * The way of a call, read off running code: its stages in order, the same on every surface up to its own adapter, as ARCHITECTURE
 * lists them; and every file with a function that was called on the way.
 */

import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { openGatewayJudge } from '../../src/agents/mcp/judge.ts'
import { openRecord } from '../../src/call/record/open.ts'
import { run } from '../../src/surfaces/cli/commands/run/run.ts'
import { commandRow, commands } from '../../src/surfaces/cli/start/commands.ts'
import { answerHook } from '../../src/surfaces/hook/answer-hook.ts'
import { findHost } from '../../src/surfaces/hook/hosts/hosts.ts'
import { GatewayGate } from '../../src/surfaces/mcp/gateway/gate.ts'
import { machineFiles } from '../../src/system/files.ts'
import type { Machine } from '../../src/system/machine.ts'
import { openSessionWorld, type SessionWorld } from './session/session-world.ts'

const traced = vi.hoisted(() => {
  const trace = { files: [] as string[], adapter: '', machine: null as unknown }
  const pass = (file: string): void => void (trace.files.includes(file) || trace.files.push(file))
  /** The module with every function it exports writing down its file. */
  const wrapped = <T extends object>(file: string, module: T): T =>
    Object.fromEntries(
      Object.entries(module).map(([name, value]) => [
        name,
        typeof value !== 'function'
          ? value
          : (...args: unknown[]) => {
              if (name === 'runToolCall') trace.adapter = /\/(src\/[\w/.-]+\.ts)/.exec(callers())?.[1] ?? ''
              pass(file)
              return (value as (...given: unknown[]) => unknown)(...args)
            },
      ]),
    ) as T
  const callers = (): string => new Error().stack!.split('\n').slice(3).join('\n')
  return { trace, pass, wrapped }
})

const { trace } = traced

vi.mock('../../src/project/open.ts', async (original) =>
  traced.wrapped('src/project/open.ts', await original<object>()),
)
vi.mock('../../src/call/run-tool-call.ts', async (original) =>
  traced.wrapped('src/call/run-tool-call.ts', await original<object>()),
)
vi.mock('../../src/call/admission.ts', async (original) => {
  const module = await original<typeof import('../../src/call/admission.ts')>()
  return { ...module, admitCall: traced.wrapped('src/call/admission.ts', { at: module.admitCall }).at }
})
vi.mock('../../src/policy/evaluate/evaluate.ts', async (original) =>
  traced.wrapped('src/policy/evaluate/evaluate.ts', await original<object>()),
)
vi.mock('../../src/call/record/recorder.ts', async (original) => {
  const module = await original<typeof import('../../src/call/record/recorder.ts')>()
  const auditRecorder: typeof module.auditRecorder = (...args) => {
    const recorder = module.auditRecorder(...args)
    const { begin } = traced.wrapped('src/call/record/recorder.ts', { begin: recorder.begin })
    return { ...recorder, begin }
  }
  return { ...module, auditRecorder }
})
vi.mock('../../src/system/machine.ts', async (original) => {
  const module = await original<typeof import('../../src/system/machine.ts')>()
  return { ...module, thisMachine: () => (trace.machine as Machine | null) ?? module.thisMachine() }
})

let world: SessionWorld
beforeAll(async () => {
  world = openSessionWorld()
  world.file('a.txt', 'a\n')
  await world.sign(`schema_version = 1
[permission]
mode = "contained"
[permission.tools]
"mcp__s__echo" = "allow"
[capabilities.deny.commands]
patterns = ["git push:*"]
`)
})
beforeEach(() => {
  Object.assign(trace, { files: [], adapter: '', machine: { ...world.machine, cwd: world.root } })
})
afterAll(async () => {
  trace.machine = null
  await world.close()
})

/** The calls, as ARCHITECTURE names them. */
const calls: Readonly<Record<string, () => Promise<unknown>>> = {
  '`bash` in a session': async () => {
    const cordon = await world.open()
    return (await cordon.openSession().call('bash', { command: 'true' })).status
  },
  '`cordon run`': async () => {
    const terminal = { out: () => {}, err: () => {}, color: false, width: 80 }
    return (await run({ terminal, bare: terminal, argv: ['--', 'true'], row: commandRow('run')!, commands })) === 0
      ? 'done'
      : 'failed'
  },
  'a `Read` hook': async () => {
    const input = { session_id: 's', cwd: world.root, hook_event_name: 'PreToolUse', tool_name: 'Read' }
    const text = JSON.stringify({ ...input, tool_input: { file_path: join(world.root, 'a.txt') } })
    const setting = {
      machine: world.machine,
      files: machineFiles,
      root: world.root,
      cordon: ['cordon'],
      inside: false,
      commandLines: () => [],
    }
    return (await answerHook(findHost('claude-code')!, text, setting)).exitCode === 0 ? 'done' : 'failed'
  },
  'a call through the gateway': async () => {
    const judge = await openGatewayJudge(world.root, world.machine)
    const recorder = openRecord(judge.answered.loaded, world.machine, { by: 'gateway', name: 's' })
    const gate = new GatewayGate({
      judge,
      recorder,
      elsewhere: {
        share: (inner) => inner,
        wait: async () => {},
        fleet: async () => null,
        taken: () => null,
        keep: () => 'no one is there',
      },
    })
    const call = { called: 'mcp__s__echo', input: {}, server: 's', elicit: null }
    const work = async () => ({ json: {}, text: '', isError: false, injection: null })
    const gated = await gate.pass(call, work, new AbortController().signal)
    recorder.close()
    return 'result' in gated ? 'done' : JSON.stringify(gated)
  },
}

const text = readFileSync(join(import.meta.dirname, '../../docs/how-it-works/architecture.md'), 'utf8')
const section = /^## One guarded call$([\s\S]*?)^## /m.exec(text)![1]!
const listed = [...section.matchAll(/^\d\. `([^`]+)`/gm)].map((match) => match[1])
const adapters = Object.fromEntries(
  [...section.matchAll(/^\| (.+?) \| `([^`]+)` \|$/gm)].map((match) => [match[1], match[2]]),
)

it('every surface is listed', () => expect(Object.keys(adapters)).toEqual(Object.keys(calls)))

/** The files of the sources with a function that was called meanwhile; what runs when a module is loaded does not count. */
async function passedFiles(call: () => Promise<unknown>): Promise<readonly string[]> {
  const inspector = new Session()
  inspector.connect()
  const post = (method: string, parameters = {}): unknown => {
    let answer: unknown
    inspector.post(method, parameters, (error, result) => {
      if (error) throw error
      answer = result
    })
    return answer
  }
  post('Profiler.enable')
  post('Profiler.startPreciseCoverage', { callCount: true })
  try {
    await call()
    const { result } = post('Profiler.takePreciseCoverage') as Coverage
    const called = result.filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0),
    )
    return called.flatMap(({ url }) => /\/(src\/[\w/.-]+\.ts)$/.exec(url)?.[1] ?? [])
  } finally {
    post('Profiler.stopPreciseCoverage')
    inspector.disconnect()
  }
}

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly functionName: string
      readonly ranges: readonly { readonly count: number }[]
    }[]
  }[]
}

/** How many files of the runtime a call may pass, the opening of its policy included. It only goes down: each is one to hold in the head. */
const MOST_STOPS: Readonly<Record<string, number>> = {
  '`bash` in a session': 53,
  '`cordon run`': 36,
  'a `Read` hook': 33,
  'a call through the gateway': 20,
}

it.each(Object.keys(calls))('%s passes few files of the runtime, and none of another surface', async (name) => {
  // What is done once, at the first call, is not part of the way.
  await calls[name]!()
  const files = await passedFiles(calls[name]!)
  const surfaces = new Set(files.flatMap((file) => /^src\/surfaces\/(\w+)/.exec(file)?.[1] ?? []))
  const own = /^src\/surfaces\/(\w+)/.exec(adapters[name]!)?.[1]
  expect([...surfaces].filter((surface) => !['cli', 'terminal', own].includes(surface))).toEqual([])
  expect(files).toEqual(expect.arrayContaining(listed))
  const stops = files.filter((file) => CORE.test(file)).toSorted()
  expect(stops.length, stops.join('\n')).toBeLessThanOrEqual(MOST_STOPS[name]!)
})

/** What composes a call; pure folders and effect folders are not its stops. */
const CORE =
  /^src\/(?:project|confine|run|custom|questions|call|one-off|session|agents|learn|report|chat|organisation)\//

it.each(Object.keys(calls))('%s goes the way that is written down', async (name) => {
  expect(await calls[name]!()).toBe('done')
  expect(trace.files).toEqual(listed)
  expect(trace.adapter).toBe(adapters[name])
})
