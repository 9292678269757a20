/** Every mode of every host has a permission in Cordon: what may write, whose yes counts, and who is asked. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { programPath } from '../../../src/agents/hook/wrapped-runs.ts'
import type { HostName } from '../../../src/surfaces/hook/hosts/hosts.ts'
import { codexRules } from '../../../src/surfaces/hook/records/codex-record.ts'
import { MODES } from '../../agents/scenario-modes.ts'
import { CONTRACT } from './host-contract.ts'
import type { HostMode } from './host-modes.ts'
import { effectOf, type HookWorld, openHookWorld } from './world.ts'

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld()
  // Without them Codex's own sandbox is around the command, and confines it.
  put('.codex/rules/cordon.rules', codexRules(programPath(world.machine)))
})
afterAll(() => world.close())
beforeEach(() => world.forget())

function put(name: string, text: string): void {
  const path = join(world.machine.home, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const hosts = Object.keys(CONTRACT) as readonly HostName[]

describe.each(hosts.flatMap((host) => CONTRACT[host].modes.map((row) => ({ host, ...row }))))('$host, $mode', (row) => {
  const { host, says, record, reads, yes, ask }: HostMode & { readonly host: HostName } = row
  const asked = (command: string) => {
    for (const [name, text] of Object.entries(record ?? {})) put(name, text)
    const input = JSON.stringify({ ...CONTRACT[host].shell(command), ...says })
    return world.ask(host, input.replaceAll('$H', world.machine.home))
  }

  it(`a command that is allowed ${reads ? 'only reads' : 'may write'}, and the yes is ${yes === 'ours' ? 'ours' : 'left to the host'}`, async () => {
    const answer = await asked('touch new.txt')
    expect(effectOf(host, answer)).toBe('sandboxed')
    expect(/[0-9a-f]{12}(\+read)?/.exec(answer.stdout)?.[1] === '+read').toBe(reads === true)
    expect(/"permission(?:Decision)?":"allow"/.test(answer.stdout)).toBe(yes === 'ours')
  })

  it(`one that needs a yes is ${ask === 'person' ? 'put to the person' : 'denied'}`, async () => {
    const first = await asked('cat .env')
    // Where the agent learns the form to use, its content is judged when it uses it.
    const reported = /has to say so itself: (\S+ [0-9a-f]{12} 'cat \.env')/.exec(first.stdout)?.[1]
    expect(effectOf(host, reported ? await asked(reported) : first)).toBe(ask === 'person' ? 'ask' : 'deny')
  })

  it('one that is denied stays so', async () => {
    expect(effectOf(host, await asked('git push origin main'))).toBe('deny')
  })
})

it('every mode in which the real programs are driven is listed here, and every one here is driven, except those of tomorrow', () => {
  const driven = (host: string): readonly string[] =>
    MODES.filter(({ agents }) => agents.some((name) => name === host)).map(({ name }) => name.replace(/^[^:]*: /, ''))
  for (const host of hosts)
    expect([host, CONTRACT[host].modes.flatMap((mode) => mode.driven).sort()]).toEqual([host, driven(host).toSorted()])
})
