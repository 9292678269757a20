/** A yes is for exactly the call that was shown: another one never takes it, on any surface, and a cancelled one leaves nothing. */

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callHash } from '../../../src/approval/approve.ts'
import type { ApprovalRequest } from '../../../src/approval/prompter.ts'
import { signAnswer, verifyAsk } from '../../../src/fleet/ask.ts'
import { signBundle } from '../../../src/fleet/bundle.ts'
import { acceptBundle, fleetDirectory } from '../../../src/fleet/bundle-store.ts'
import { machineKey, signEnrolment, writeCertificate } from '../../../src/fleet/identity.ts'
import type { FleetBus } from '../../../src/fleet/nats/bus.ts'
import { askFleet } from '../../../src/organisation/ask-fleet.ts'
import { worstCaseOf } from '../../../src/policy/worst-case.ts'
import { answerAsk } from '../../../src/questions/answer-ask.ts'
import { openAsks } from '../../../src/questions/asks.ts'
import { openKeyStore } from '../../../src/system/keys/keychain.ts'
import { makeSigningKey } from '../../../src/system/keys/signing-key.ts'
import { claude, effectOf, type HookWorld, openHookWorld } from '../../contract/hooks/world.ts'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'
import { bundle, FLEET, type FleetWorld, NOW, openFleetWorld } from '../../fleet/fleet-world.ts'

describe('in a session', () => {
  let world: SessionWorld
  beforeEach(() => {
    world = openSessionWorld()
  })
  afterEach(() => world.close())

  it('a yes to one content does not answer another that waits beside it', async () => {
    const object = { schema_version: 1, permission: { tools: { write: 'ask' } } }
    const session = (await world.open({ manifest: { object } })).openSession()
    world.answer = ({ input }) => ({ kind: input.content === 'harmless' ? 'once' : 'deny' })
    const write = (content: string) => session.call('write', { path: 'a.txt', content })
    const [evil, fine] = await Promise.all([write('EVIL'), write('harmless')])
    expect([evil.status, fine.status, world.text('a.txt')]).toEqual(['refused', 'done', 'harmless'])
    // The control: the very same call, twice at once, is one question.
    expect(world.asked).toHaveLength(2)
    await Promise.all([write('harmless'), write('harmless')])
    expect(world.asked).toHaveLength(3)
  })
})

describe('in a hook', () => {
  let world: HookWorld
  beforeEach(async () => {
    world = await openHookWorld('schema_version = 1\n[permission.tools]\nwrite = "ask"\nedit = "ask"\nbash = "ask"\n')
  })
  afterEach(() => world.close())

  /** The host asks no one, so that the question is kept. */
  const call = (tool: string, input: object) => ({
    ...claude(tool, input),
    permission_mode: 'bypassPermissions',
  })
  const effect = async (tool: string, input: object) =>
    effectOf('claude-code', await world.ask('claude-code', call(tool, input)))

  const rows: readonly { tool: string; asked: object; other: object; otherTool?: string; note: string }[] = [
    {
      tool: 'Write',
      asked: { file_path: '$P/a.txt', content: 'harmless' },
      other: { file_path: '$P/a.txt', content: 'EVIL' },
      note: 'another content',
    },
    {
      tool: 'Edit',
      asked: { file_path: '$P/src/a.ts', old_string: 'export', new_string: 'export ' },
      other: { file_path: '$P/src/a.ts', old_string: 'export', new_string: 'evil()' },
      note: 'another text in its place',
    },
    {
      tool: 'Bash',
      asked: { command: 'make x', timeout: 5 },
      other: { command: 'make x', timeout: 5, run_in_background: true },
      note: 'the same command, in the background',
    },
    {
      tool: 'mcp__shop__get_order',
      asked: { id: 1 },
      other: { id: 1 },
      otherTool: 'mcp__shop__delete_order',
      note: 'another tool with the same input',
    },
    {
      tool: 'mcp__staging__delete_order',
      asked: { id: 1 },
      other: { id: 1 },
      otherTool: 'mcp__production__delete_order',
      note: 'the same tool of another server',
    },
  ]
  it.each(rows)('a yes to $tool does not answer $note', async ({ tool, asked, other, otherTool = tool }) => {
    expect(await effect(tool, asked)).toBe('deny')
    const [ask] = openAsks(world.machine, Date.now())
    await answerAsk(world.machine, ask!, { kind: 'once' }, Date.now())
    expect(await effect(otherTool, other)).toBe('deny')
    // The control: the very call that was shown takes it, once; what the agent says about it is not a part of it.
    const again = tool === 'Bash' ? { ...asked, description: 'tries again' } : asked
    expect(['pass', 'allow', 'sandboxed']).toContain(await effect(tool, again))
    expect(await effect(tool, asked)).toBe('deny')
  })

  it.each([true, false])('a yes to a read does not cover the later target of its link: %s', async (moves) => {
    const root = world.project
    for (const place of ['one', 'two']) {
      mkdirSync(join(root, place))
      writeFileSync(join(root, place, '.env'), 'A=b')
    }
    symlinkSync(join(root, 'one'), join(root, 'out'))
    const read = { file_path: '$P/out/.env' }
    expect(await effect('Read', read)).toBe('deny')
    const [ask] = openAsks(world.machine, Date.now())
    await answerAsk(world.machine, ask!, { kind: 'once' }, Date.now())
    if (moves) {
      rmSync(join(root, 'out'))
      symlinkSync(join(root, 'two'), join(root, 'out'))
    }
    expect((await effect('Read', read)) === 'deny').toBe(moves)
  })

  it('a no is reported at the next try, and the agent’s own words are shown as such', async () => {
    const reason = async (tool: string, input: object) =>
      JSON.stringify(await world.ask('claude-code', call(tool, input)))
    const input = { command: 'make x', description: 'Builds x.' }
    expect(await reason('Bash', input)).toMatch(/kept: tell the user to run `cordon approvals allow .*next try/)
    const [ask] = openAsks(world.machine, Date.now())
    expect(ask!.view.said).toBe('Builds x.')
    await answerAsk(world.machine, ask!, { kind: 'deny' }, Date.now())
    expect(await reason('Bash', input)).toContain('The user said no.')
    expect(await reason('Bash', input)).toContain('cordon approvals allow')
  })
})

describe('of a fleet', () => {
  let world: FleetWorld
  const ann = makeSigningKey().key
  beforeEach(() => {
    world = openFleetWorld()
    const { stateDir } = world.machine
    const { key } = machineKey(openKeyStore(stateDir))
    const enrolment = { fleet: FLEET, machine: key.publicKey, name: 'm', role: 'machine', groups: ['dev'] } as const
    const certificate = signEnrolment({ ...enrolment, issued: '2026-01-01T00:00:00Z', nats: null }, world.team[0]!)
    writeCertificate(fleetDirectory(stateDir), certificate)
    const approvers = [{ key: ann.publicKey, name: 'Ann', groups: ['*'] }]
    acceptBundle(stateDir, world.settings(), signBundle(bundle({ approvers }), world.team[0]!), NOW)
  })
  afterEach(() => world.close())

  /** Servers in memory: asks by name, and what Ann answered. */
  class Servers {
    readonly asks = new Map<string, string>()
    readonly answers = new Map<string, string>()
    #heard: () => void = () => {}
    readonly open = async (): Promise<FleetBus> =>
      ({
        publishAsk: async (id: string, data: string) => void this.asks.set(id, data),
        withdrawAsk: async (id: string) => void this.asks.set(id, ''),
        readAnswer: async (_: string, id: string) => this.answers.get(id) ?? null,
        onAnswer: (_: string, heard: () => void) => {
          this.#heard = heard
          return () => {}
        },
        close: async () => {},
      }) as unknown as FleetBus
    waiting() {
      return [...this.asks.values()].flatMap((text) => verifyAsk(text, world.settings(), []) ?? [])
    }
    sayYes(): void {
      for (const { signed, ask } of this.waiting()) {
        const answer = { verdict: 'yes', message: null, time: new Date().toISOString() } as const
        this.answers.set(ask.id, JSON.stringify(signAnswer(signed, FLEET, answer, ann)))
      }
      this.#heard()
    }
  }

  const requestOf = (content: string): ApprovalRequest => {
    const input = { path: 'a.txt', content }
    const reason = { code: 'level-ask', message: 'The level of write is "ask".' } as const
    const decision = { decision: 'ask', reason, rules: [], segments: [] } as const
    const call = callHash(world.root, null, 'write', input)
    const worst = worstCaseOf(decision, null)
    return {
      tool: 'write',
      subject: 'a.txt',
      input,
      call,
      once: call,
      facts: null,
      decision,
      worst,
      asks: [],
      suggestions: [],
    }
  }
  const ask = (servers: Servers, content: string, signal: AbortSignal, waitMs = 60_000) => {
    const question = { project: world.root, request: requestOf(content), signal, waitMs }
    return askFleet(world.settings({ asks: 600 }), world.machine, question, servers.open)
  }
  const never = new AbortController().signal

  it('people see all of the input, and a yes to it does not answer another', async () => {
    const servers = new Servers()
    await expect(ask(servers, 'harmless', never, 1)).rejects.toThrow('try the very same call again')
    expect(servers.waiting()[0]!.ask.view).toMatchObject({ fields: [{ name: 'content', text: 'harmless' }] })
    servers.sayYes()
    await expect(ask(servers, 'EVIL', never, 1)).rejects.toThrow('has not answered yet')
    // The control: the very same call takes it, once.
    expect(await ask(servers, 'harmless', never, 1)).toEqual({ kind: 'once', by: 'fleet (Ann)' })
    servers.answers.clear()
    await expect(ask(servers, 'harmless', never, 1)).rejects.toThrow('has not answered yet')
  })

  it('a call that is cancelled withdraws its question, and a later yes to it is nobody’s', async () => {
    const servers = new Servers()
    const cancel = new AbortController()
    const asked = ask(servers, 'harmless', cancel.signal)
    await expect.poll(() => servers.waiting().length).toBe(1)
    const [shown] = servers.waiting()
    cancel.abort(new Error('cancelled'))
    await expect(asked).rejects.toThrow('cancelled')
    expect(servers.waiting()).toEqual([])
    // Somebody had it on the screen, and answers all the same.
    const answer = { verdict: 'yes', message: null, time: new Date().toISOString() } as const
    servers.answers.set(shown!.ask.id, JSON.stringify(signAnswer(shown!.signed, FLEET, answer, ann)))
    await expect(ask(servers, 'harmless', never, 1)).rejects.toThrow('has not answered yet')
    expect(servers.waiting()).toHaveLength(1)
    expect(servers.waiting()[0]!.ask.id).not.toBe(shown!.ask.id)
  })

  it('what is too long to be shown is put to nobody', async () => {
    await expect(ask(new Servers(), 'x'.repeat(70_000), never, 1)).rejects.toThrow('too long to send to the fleet')
  })
})
