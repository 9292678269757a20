/** The contract of a session: every tool on one way, exactly one of four results, and nothing left behind. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { resultText, type ToolResult } from '../../../src/call/tool-result.ts'
import type { Cordon } from '../../../src/session/cordon.ts'
import type { Session, SessionEvent } from '../../../src/session/session.ts'
import { builtInTools } from '../../../src/tools/built-in/registry.ts'
import { until } from '../../until.ts'
import { codeTools, furnish, toolRows } from '../tools/tools-rows.ts'
import type { World } from '../tools/tools-world.ts'
import { openSessionWorld, type SessionWorld } from './session-world.ts'

let world: SessionWorld
let server: Server
let port: number

beforeAll(async () => {
  server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<title>T</title><h1>Hello</h1>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(() => {
  world = openSessionWorld()
  furnish(world as unknown as World)
  world.answer = () => ({ kind: 'deny' })
})
afterEach(() => world.close())

const manifest = (more: Record<string, unknown> = {}) => ({
  schema_version: 1,
  permission: { mode: 'auto' },
  http: { allow_private_hosts: true, allowed_hosts: [`127.0.0.1:${port}`] },
  ...more,
})

/** The row's own input, with a host that is there. */
function inputOf(row: (typeof toolRows)[number]): Record<string, unknown> {
  return 'url' in row.input ? { ...row.input, url: `http://127.0.0.1:${port}/` } : row.input
}

async function openSession(object: unknown, options: { prompter?: undefined } = {}): Promise<Session> {
  return (await world.open({ manifest: { object }, ...options })).openSession()
}

/** Nothing of a call stays: no temporary file, no staged script, no process of the sandbox. */
function expectNothingBehind(): void {
  const names = readdirSync(world.root, { recursive: true }).map(String)
  expect(names.filter((name) => /\.cordon-|\.tmp$/.test(name))).toEqual([])
  const staged = join(world.machine.stateDir, 'run')
  expect(existsSync(staged) ? readdirSync(staged) : []).toEqual([])
}

it('has a row for every tool', () => {
  // Those of code have their own layout: test/contract/code.
  const others = builtInTools.map((tool) => tool.name).filter((name) => !codeTools.includes(name))
  expect(toolRows.map((row) => row.tool)).toEqual(others)
})

describe.each(toolRows)('$tool', (row) => {
  it('is done', async () => {
    const session = await openSession(manifest())
    const result = await session.call(row.tool, inputOf(row))
    expect(result, resultText(result)).toMatchObject({ status: 'done' })
    for (const [path, text] of Object.entries(row.leaves ?? {})) {
      if (text === null) expect(Object.keys(world.snapshot())).not.toContain(path)
      else expect(world.text(path)).toBe(text)
    }
    expectNothingBehind()
    await session.close()
    const lines = world.auditLines()
    expect(lines.filter((line) => line.type === 'begin')).toMatchObject([{ tool: row.tool }])
    expect(lines.filter((line) => line.type === 'end')).toMatchObject([{ outcome: 'ok' }])
  })

  it('is denied by its level, and does nothing', async () => {
    const session = await openSession(manifest({ permission: { tools: { [row.tool]: 'deny' } } }))
    const before = world.snapshot()
    expect(await session.call(row.tool, inputOf(row))).toMatchObject({
      status: 'denied',
      decision: { decision: 'deny', reason: { code: 'level-deny' } },
    })
    expect(world.snapshot()).toEqual(before)
    expect(world.asked).toEqual([])
    expectNothingBehind()
  })

  it('is refused by a person who says no, and does nothing', async () => {
    const permission = { mode: 'custom', tools: { [row.tool]: 'ask' } }
    const session = await openSession(manifest({ permission, http: { allow_private_hosts: true } }))
    const before = world.snapshot()
    const result = await session.call(row.tool, row.tool === 'bash' ? { command: 'id' } : inputOf(row))
    expect(result).toMatchObject({ status: 'refused', refusal: { kind: 'declined' } })
    expect(world.snapshot()).toEqual(before)
    expectNothingBehind()
  })

  it.each([...row.fails])('fails: %s', async (_note, input, message) => {
    const session = await openSession(manifest())
    const before = world.snapshot()
    const result = await session.call(row.tool, input)
    expect(['failed', 'denied'], resultText(result)).toContain(result.status)
    if (result.status === 'failed') expect(result.error.message).toMatch(message)
    expect(world.snapshot()).toEqual(before)
    expectNothingBehind()
  })

  it('is cancelled before it starts', async () => {
    const session = await openSession(manifest())
    const before = world.snapshot()
    const result = await session.call(row.tool, inputOf(row), { signal: AbortSignal.abort(new Error('not now')) })
    expect(result).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    expect(world.snapshot()).toEqual(before)
    expectNothingBehind()
  })
})

describe('a call that is ended', () => {
  it('times out with its output, and leaves no process', async () => {
    let stdout = ''
    // On a busy machine its sandbox may take all of the first time.
    for (let seconds = 1; stdout === '' && seconds <= 64; seconds *= 4) {
      const session = await openSession(manifest({ limits: { command_timeout: seconds } }))
      const result = await session.call('bash', { command: 'echo begun; sleep 661.5' })
      expect(result).toMatchObject({ status: 'done', output: { isError: true, data: { timedOut: true } } })
      stdout = result.status === 'done' ? (result.output.data as { stdout: string }).stdout : ''
      await session.close()
      expect(world.auditLines().findLast((line) => line.type === 'end')).toMatchObject({ outcome: 'timeout' })
      expect(processes('sleep 661.5')).toEqual([])
    }
    expect(stdout).toBe('begun\n')
  })

  it('is cancelled while it runs', async () => {
    const session = await openSession(manifest())
    const abort = new AbortController()
    const running = session.call('bash', { command: 'sleep 62.5' }, { signal: abort.signal })
    await untilSome(() => processes('sleep 62.5'))
    abort.abort()
    expect(await running).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    await untilNone(() => processes('sleep 62.5'))
  })

  it('is cancelled while a person thinks', async () => {
    const session = await openSession(manifest({ permission: { mode: 'default' } }))
    const abort = new AbortController()
    world.answer = () => {
      abort.abort()
      return new Promise(() => {})
    }
    const result = await session.call('write', { path: 'x', content: 'y' }, { signal: abort.signal })
    expect(result).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    expect(existsSync(join(world.root, 'x'))).toBe(false)
  })

  it('ends with the session, background commands included', async () => {
    const session = await openSession(manifest())
    await session.call('bash', { command: 'sleep 63.5', background: true })
    const running = session.call('bash', { command: 'sleep 64.5' })
    await untilSome(() => processes('sleep 63.5'))
    await untilSome(() => processes('sleep 64.5'))
    await session.close()
    expect(await running).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    await untilNone(() => processes('sleep 6[34].5'))
    expect((await session.call('read', { path: 'a.txt' })).status).toBe('failed')
  })
})

describe('background commands', () => {
  it('can be read while they run, each output once', async () => {
    const session = await openSession(manifest())
    const go = join(world.root, 'go')
    const command = 'echo first; while [ ! -e go ]; do sleep 0.05; done; echo second; exit 3'
    await session.call('bash', { command, background: true })
    const first = await readUntil(session, 'bg_1', /first/)
    expect(first).toContain('[running]')
    writeFileSync(go, '')
    const second = await readUntil(session, 'bg_1', /exit code 3/)
    expect(second).toContain('second')
    expect(second).not.toContain('first')
  })

  it('keep the newest output and say that older was dropped', async () => {
    const session = await openSession(manifest())
    const command = 'head -c 3000000 /dev/zero | tr "\\0" x; echo END'
    await session.call('bash', { command, background: true })
    await untilSome(async () => {
      const list = await session.call('bash', { action: 'list' })
      return resultText(list).includes('ended') ? ['ended'] : []
    })
    const text = resultText(await session.call('bash', { action: 'read', handle: 'bg_1' }))
    expect(text).toContain('END')
    expect(text).toContain('older output was dropped')
    expect(text.length).toBeLessThan(1_200_000)
  })

  it('end at a time limit that somebody wrote', async () => {
    const session = await openSession(manifest({ limits: { command_timeout: 1 } }))
    await session.call('bash', { command: 'sleep 67.5', background: true })
    expect(await readUntil(session, 'bg_1', /ended/)).toContain('time limit')
  })

  it('are ended by their handle', async () => {
    const session = await openSession(manifest())
    await session.call('bash', { command: 'sleep 65.5', background: true })
    await untilSome(() => processes('sleep 65.5'))
    await session.call('bash', { action: 'kill', handle: 'bg_1' })
    await untilNone(() => processes('sleep 65.5'))
  })
})

describe('asking', () => {
  const asking = () => manifest({ permission: { mode: 'default' } })
  const write = (path: string) => ['write', { path, content: 'new' }] as const

  it('is a refusal when nobody is there', async () => {
    const session = await openSession(asking(), { prompter: undefined })
    expect(await session.call(...write('n.txt'))).toMatchObject({ status: 'refused', refusal: { kind: 'absent' } })
  })

  it('is a refusal when the prompter throws, or says something that is not an answer', async () => {
    const session = await openSession(asking())
    world.answer = () => {
      throw new Error('the window is gone')
    }
    const thrown = await session.call(...write('n.txt'))
    expect(thrown).toMatchObject({ status: 'refused', refusal: { kind: 'absent' } })
    expect(resultText(thrown)).toContain('the window is gone')
    world.answer = () => ({ kind: 'yes' }) as never
    expect((await session.call(...write('n.txt'))).status).toBe('refused')
    expect(existsSync(join(world.root, 'n.txt'))).toBe(false)
  })

  it('is a refusal with runtime_grants = false, and nobody is bothered', async () => {
    const session = await openSession({ ...asking(), security: { runtime_grants: false } })
    expect((await session.call(...write('n.txt'))).status).toBe('refused')
    expect(world.asked).toEqual([])
  })

  it('hands the message of the person to the model', async () => {
    const session = await openSession(asking())
    world.answer = () => ({ kind: 'deny-message', message: 'write it to docs instead' })
    expect(resultText(await session.call(...write('n.txt')))).toContain('write it to docs instead')
  })

  it('merges identical asks, queues others, and leaves out what an answer has covered meanwhile', async () => {
    let asks = 0
    const asker = () => {
      asks++
      return ''
    }
    const cordon = await world.open({ manifest: { object: asking() }, prompter: { ...world.prompter, asker } })
    const session = cordon.openSession()
    let open = 0
    let most = 0
    world.answer = async (request) => {
      most = Math.max(most, ++open)
      await until('all four have asked', () => asks === 4)
      open--
      const broad = request.suggestions.find((grant) => grant.value === 'd/**')
      return broad ? { kind: 'session', grant: broad } : { kind: 'once' }
    }
    const results = await Promise.all([
      session.call(...write('one.txt')),
      session.call(...write('one.txt')),
      session.call(...write('d/a.txt')),
      session.call(...write('d/b.txt')),
    ])
    expect(results.map((result) => result.status)).toEqual(['done', 'done', 'done', 'done'])
    expect(world.asked.map((request) => request.subject)).toEqual(['one.txt', 'd/a.txt'])
    expect(most).toBe(1)
  })

  it('does not merge the same path with other content, nor asks of two sessions', async () => {
    const cordon = await world.open({ manifest: { object: asking() } })
    const [one, two] = [cordon.openSession(), cordon.openSession()]
    world.answer = async () => ({ kind: 'once' })
    await Promise.all([
      one.call('write', { path: 'x', content: 'a' }),
      one.call('write', { path: 'x', content: 'b' }),
      two.call('write', { path: 'x', content: 'a' }),
    ])
    expect(world.asked).toHaveLength(3)
  })

  it('a deny that arrives while a person thinks applies', async () => {
    const session = await openSession(asking())
    world.answer = () => {
      session.setLevel('write', 'deny')
      return { kind: 'once' }
    }
    expect((await session.call(...write('n.txt'))).status).toBe('denied')
  })

  it('a no for always binds at once, and a session grant ends with its session', async () => {
    const cordon = await world.open({ manifest: { object: asking() } })
    const session = cordon.openSession()
    const events: SessionEvent[] = []
    session.subscribe((event) => events.push(event))
    world.answer = ({ suggestions: [grant] }) => ({ kind: 'deny-always', grant: grant! })
    expect((await session.call(...write('n.txt'))).status).toBe('refused')
    expect((await session.call(...write('n.txt'))).status).toBe('denied')
    expect(events.find((event) => event.type === 'grant')).toMatchObject({
      kept: expect.stringContaining('the project has no cordon.toml'),
    })
    world.answer = ({ suggestions: [grant] }) => ({ kind: 'session', grant: grant! })
    expect((await session.call(...write('m.txt'))).status).toBe('done')
    expect((await session.call(...write('m.txt'))).status).toBe('done')
    expect(world.asked).toHaveLength(2)
    await session.close()
    world.answer = () => ({ kind: 'deny' })
    expect((await cordon.openSession().call(...write('m.txt'))).status).toBe('refused')
  })

  it('a grant for a time is there for the next session, counted, and gone when it is over', async () => {
    const cordon = await world.open({ manifest: { object: asking() } })
    world.answer = ({ suggestions: [grant] }) => ({ kind: 'time', grant: grant!, seconds: 3600 })
    expect((await cordon.openSession().call(...write('n.txt'))).status).toBe('done')
    expect((await cordon.openSession().call(...write('n.txt'))).status).toBe('done')
    expect(world.asked).toHaveLength(1)
    const saved = (await import('../../../src/project/answer-counts.ts')).openSavedGrants(world.machine)
    expect(saved.list()).toMatchObject([{ value: 'n.txt', scope: 'time', uses: 1 }])
    expect(saved.revoke(saved.list()[0]!.id)).toBe(true)
    world.answer = () => ({ kind: 'deny' })
    expect((await cordon.openSession().call(...write('n.txt'))).status).toBe('refused')
  })

  it('asks the question of the agent', async () => {
    const session = await openSession(asking())
    expect(resultText(await session.call('question', { question: 'Which?', options: ['red', 'blue'] }))).toContain(
      'blue',
    )
  })
})

describe('the record', () => {
  it('that cannot be written stops the call', async () => {
    const session = await openSession(manifest())
    expect((await session.call('read', { path: 'a.txt' })).status).toBe('done')
    const recorder = await brokenLog(world)
    const result = await recorder.call('write', { path: 'never.txt', content: 'x' })
    expect(result).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('disk is full') } })
    expect(existsSync(join(world.root, 'never.txt'))).toBe(false)
  })

  it('has a line for every denial', async () => {
    const session = await openSession(manifest())
    await session.call('bash', { command: 'sudo id' })
    await session.close()
    expect(world.auditLines().filter((line) => line.type === 'denied')).toMatchObject([
      { tool: 'bash', decision: { verdict: 'deny', reason: 'privilege' } },
    ])
  })
})

describe('closing', () => {
  it('is awaited by a second close', async () => {
    const cordon = await world.open({ manifest: { object: manifest() } })
    const session = cordon.openSession()
    session.setMode('auto')
    await session.call('bash', { command: 'sleep 66.5', background: true })
    const first = session.close()
    await cordon.close()
    expect(world.auditLines().at(-1)).toMatchObject({ type: 'closed' })
    await first
  })
})

describe('two sessions in one process', () => {
  it('never meet: mode, to-do list, background commands and taint are their own', async () => {
    const cordon: Cordon = await world.open({ manifest: { object: manifest() } })
    const [one, two] = [cordon.openSession(), cordon.openSession()]
    one.setMode('plan')
    expect((await one.call('write', { path: 'x', content: '' })).status).toBe('denied')
    expect((await two.call('write', { path: 'x', content: '' })).status).toBe('done')
    await two.call('todowrite', { todos: [{ content: 'mine', status: 'pending' }] })
    expect(resultText(await one.call('todoread', {}))).not.toContain('mine')
    await two.call('bash', { command: 'sleep 66.5', background: true })
    one.setMode('auto')
    expect(resultText(await one.call('bash', { action: 'list' }))).toContain('No command')
    expect((await one.call('bash', { action: 'kill', handle: 'bg_1' })).status).toBe('failed')
    await one.close()
    expect(resultText(await two.call('bash', { action: 'list' }))).toContain('running')
  })
})

describe('input that is wrong', () => {
  const rows: readonly { name: string; tool: string; input: unknown; says: RegExp }[] = [
    { name: 'no such tool', tool: 'telnet', input: {}, says: /The tools are: bash/ },
    { name: 'no object', tool: 'read', input: 'a.txt', says: /takes an object/ },
    { name: 'null', tool: 'read', input: null, says: /takes an object/ },
    { name: 'a field that is not there', tool: 'read', input: { file: 'a.txt' }, says: /needs "path"/ },
    { name: 'one field too many', tool: 'read', input: { path: 'a.txt', mode: 1 }, says: /does not take "mode"/ },
    { name: 'a number for a path', tool: 'read', input: { path: 7 }, says: /must be a string/ },
    { name: 'half of a pair', tool: 'write', input: { path: 'x\ud800', content: '' }, says: /surrogate/ },
    { name: 'a NUL', tool: 'write', input: { path: 'x\0y', content: '' }, says: /NUL/ },
    {
      name: 'a huge text',
      tool: 'write',
      input: { path: 'x', content: 'x'.repeat(17 * 1024 * 1024) },
      says: /at most/,
    },
    { name: 'the prototype', tool: '__proto__', input: {}, says: /no tool/ },
  ]
  it.each(rows)('$name', async ({ tool, input, says }) => {
    const session = await openSession(manifest())
    const before = world.snapshot()
    const result = await session.call(tool, input)
    expect(result.status).toBe('failed')
    expect(resultText(result)).toMatch(says)
    expect(world.snapshot()).toEqual(before)
  })
})

async function brokenLog(layout: SessionWorld): Promise<Session> {
  const { Session } = await import('../../../src/session/session.ts')
  const { loadPolicy } = await import('../../../src/project/load/load.ts')
  const { machineFiles } = await import('../../../src/system/files.ts')
  const { openGuardedFiles } = await import('../../../src/system/guarded/guarded-files.ts')
  const { openSavedGrants } = await import('../../../src/project/answer-counts.ts')
  const outcome = await loadPolicy({
    machine: layout.machine,
    files: machineFiles,
    root: layout.root,
    choice: { kind: 'object', object: manifest() },
  })
  if ('problems' in outcome) throw new Error('does not load')
  const full = () => {
    throw new Error('the disk is full')
  }
  return new Session(
    {
      project: { loaded: outcome.loaded },
      machine: layout.machine,
      files: machineFiles,
      guarded: () => openGuardedFiles(),
      tools: builtInTools,
      customTools: () => [],
      surface: null,
      refresh: async () => {},
      openRunner: () => ({ run: full, close: async () => {} }) as never,
      spillDirectory: join(layout.machine.cacheDir, 'spill'),
      openWeb: () => ({ fetch: full }),
      openCode: () => ({ forCall: full, close: async () => {} }),
      questions: null,
      saved: openSavedGrants(layout.machine),
      recorder: {
        begin: full,
        end: () => {},
        settled: () => {},
        answered: () => {},
        granted: () => {},
        flagged: () => {},
        note: () => {},
        sign: async () => {},
        close: () => {},
      },
      amend: full,
      now: Date.now,
      closed: () => {},
    },
    { id: 'broken', directory: null },
  )
}

async function readUntil(session: Session, handle: string, wanted: RegExp): Promise<string> {
  let text = ''
  await untilSome(async () => {
    const result: ToolResult = await session.call('bash', { action: 'read', handle })
    text += resultText(result)
    return wanted.test(text) ? [text] : []
  })
  return text
}

/** Command lines of processes of this machine that match. */
function processes(pattern: string): string[] {
  const wanted = new RegExp(pattern)
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return wanted.test(line) && !line.includes('vitest') ? [line] : []
    } catch {
      return []
    }
  })
}

async function untilSome(find: () => readonly string[] | Promise<readonly string[]>): Promise<void> {
  await expect.poll(async () => (await find()).length).toBeGreaterThan(0)
}

async function untilNone(find: () => readonly string[]): Promise<void> {
  await expect.poll(find).toEqual([])
}
