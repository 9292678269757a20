/** Why a question is asked: everything in the call that asks, the worst first, on every surface (P6). */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { askText, askView } from '../../../src/approval/ask-view.ts'
import { openAsks } from '../../../src/questions/asks.ts'
import { claude, type HookWorld, openHookWorld } from '../../contract/hooks/world.ts'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'

const ECHOES = Array.from({ length: 60 }, (_, index) => `echo step ${index}`).join('; ')
const DECOY = `cat .env | head; ${ECHOES}; cat ~/.ssh/id_ed25519`
const MANIFEST =
  'schema_version = 1\n[permission]\nmode = "contained"\n[security]\noutside_roots = "ask"\nredirects = "all"\n'

function plantKey(home: string): void {
  mkdirSync(join(home, '.ssh'), { recursive: true })
  writeFileSync(join(home, '.ssh/id_ed25519'), 'KEY\n')
}

describe('in a session', () => {
  let world: SessionWorld
  beforeEach(() => {
    world = openSessionWorld()
    plantKey(world.machine.home)
  })
  afterEach(() => world.close())

  const whys = async (command: string): Promise<string[]> => {
    const object = {
      schema_version: 1,
      permission: { mode: 'contained' },
      security: { outside_roots: 'ask', redirects: 'all' },
    }
    await (await world.open({ manifest: { object } })).openSession().call('bash', { command })
    return askText(askView(world.asked[0]!))
      .split('\n')
      .filter((line) => line.startsWith('why '))
  }

  it('a private key comes before another secret, which comes before a place outside', async () => {
    world.file('.env', 'TOKEN=1\n')
    writeFileSync(join(world.machine.home, 'notes.txt'), 'x')
    const [first, second, third, ...more] = await whys(`cat ~/notes.txt; ${DECOY}`)
    expect(first).toMatch(/id_ed25519 looks like a private key .* is outside the project/)
    expect(second).toContain('.env looks like a secret')
    expect(third).toContain('notes.txt')
    expect(more).toEqual([])
  })

  it('a secret that does not exist is not a decoy', async () => {
    const [first, ...more] = await whys(DECOY)
    expect(first).toMatch(/id_ed25519 looks like a private key/)
    expect(more).toEqual([])
  })

  it('nor is one below another folder, which is there: the control', async () => {
    world.file('sub/.env', 'TOKEN=1\n')
    const [first, second] = await whys(`cd sub && ${DECOY}`)
    expect(first).toMatch(/id_ed25519 looks like a private key/)
    expect(second).toContain('.env looks like a secret')
  })

  it('is read with a yes, and not without: the place outside is opened for it alone', async () => {
    const object = { schema_version: 1, permission: { mode: 'contained' }, security: { outside_roots: 'ask' } }
    const session = (await world.open({ manifest: { object } })).openSession()
    const read = () => session.call('bash', { command: `cat ${world.machine.home}/.ssh/id_ed25519` })
    expect((await read()).status).toBe('refused')
    world.answer = () => ({ kind: 'once' })
    expect(await read()).toMatchObject({ status: 'done', output: { data: { stdout: 'KEY\n' } } })
  })

  it('is not answered by a mode that answers questions', async () => {
    const object = { schema_version: 1, permission: { mode: 'auto' }, security: { outside_roots: 'ask' } }
    const session = (await world.open({ manifest: { object } })).openSession()
    await session.call('bash', { command: 'cat ~/.ssh/id_ed25519' })
    expect(world.asked).toHaveLength(1)
    // The control: a place outside that is not a secret is.
    writeFileSync(join(world.machine.home, 'notes.txt'), 'x')
    await session.call('bash', { command: 'cat ~/notes.txt' })
    expect(world.asked).toHaveLength(1)
  })
})

describe('in a host’s own dialog', () => {
  let world: HookWorld
  beforeEach(async () => {
    world = await openHookWorld(MANIFEST)
    plantKey(world.machine.home)
  })
  afterEach(() => world.close())

  const reasonOf = async (input: object): Promise<string> => {
    const { stdout } = await world.ask('claude-code', input)
    return JSON.parse(stdout).hookSpecificOutput.permissionDecisionReason as string
  }

  it('everything that asks is listed, the worst first', async () => {
    const reason = await reasonOf(claude('Bash', { command: DECOY }))
    expect(reason).toMatch(/2 things ask: 1\. \S+id_ed25519 looks like a private key .* 2\. \.env looks like a secret/)
  })

  it('and where no one can be asked, in what the agent reads and what is kept', async () => {
    const input = { ...claude('Bash', { command: DECOY }), permission_mode: 'bypassPermissions' }
    expect(await reasonOf(input)).toMatch(/1\. \S+id_ed25519 looks like a private key/)
    const [ask] = openAsks(world.machine, Date.now())
    expect(ask!.view.reasons[0]!.messages[0]!.text).toContain('private key')
    expect(askText(ask!.view)).toContain('step 59')
  })
})
