/** A hook runs outside the sandbox, so nothing that runs it may be the agent's to change; and a hook that stops working is noticed. */

import { describe, expect, it } from 'vitest'
import type { InstallPlace } from '../host/install-place.ts'
import { type HostName, installOf } from '../hosts/hosts.ts'
import { checkAgent, programInside } from './check.ts'
import { planSecondFile, planSettings } from './host-settings.ts'

const OWN = '/w/p/node_modules/cordon'

it.each([
  ['elsewhere', ['/usr/bin/node', '/opt/cordon/dist/cordon.cjs'], OWN, null],
  ['the protected package', ['/usr/bin/node', `${OWN}/dist/cordon.cjs`], OWN, null],
  [
    'a package beside it',
    ['/w/p/node_modules/node/bin/node', `${OWN}/dist/cordon.cjs`],
    OWN,
    '/w/p/node_modules/node/bin/node',
  ],
  ['a name that begins like it', ['/usr/bin/node', `${OWN}-x/cordon.cjs`], OWN, `${OWN}-x/cordon.cjs`],
  ['a checkout in the project', ['/usr/bin/node', '/w/p/cordon/dist/cordon.cjs'], null, '/w/p/cordon/dist/cordon.cjs'],
  ['a project beside', ['/usr/bin/node', '/w/pp/cordon.cjs'], null, null],
])('%s', (_, cordon, own, expected) => {
  expect(programInside({ root: '/w/p', cordon }, own)).toBe(expected)
})

describe('a hook that was installed', () => {
  const place: InstallPlace = {
    scope: 'user',
    root: '/w/p',
    home: '/h',
    env: {},
    cordon: ['/opt/none/node', '/opt/none/cordon.cjs'],
    wrapper: '/s/bin/cordon-run',
  }
  type Settings = Record<string, unknown> & { hooks: Record<string, unknown[]> }
  const THEIRS = { matcher: '*', hooks: [{ type: 'command', command: 'theirs' }] }
  const EVENTS: Partial<Record<HostName, string>> = {
    'claude-code': 'PreToolUse',
    codex: 'PreToolUse',
    gemini: 'BeforeTool',
  }

  /** The installed files, of which the settings were changed. */
  const check = async (agent: HostName, change: (settings: Settings) => unknown, spaces = 2, second = true) => {
    const host = await installOf(agent)
    const settings = planSettings(host, place, () => null, false)
    const more = planSecondFile(host, place, () => null, false)
    const changed = change(JSON.parse(settings.after!) as Settings)
    const files = new Map([
      [settings.path, changed === null ? null : JSON.stringify(changed, null, spaces)],
      ...(more && second ? [[more.path, more.after] as const] : []),
    ])
    return checkAgent(agent, place, (path) => files.get(path) ?? null, true, false)
  }

  it.each(['claude-code', 'codex', 'gemini'] as const)('%s', async (agent) => {
    const event = EVENTS[agent]!
    const row = (settings: Settings) => settings.hooks[event]!
    // What it would run is not here, so that a hook that is in place is one that does not answer.
    const inPlace = { status: 'silent', detail: expect.not.stringContaining('drops') }
    expect(await check(agent, (all) => all)).toMatchObject(inPlace)
    expect(await check(agent, (all) => all, 7)).toMatchObject(inPlace)
    const before = (all: Settings) => ({ ...all, hooks: { ...all.hooks, [event]: [THEIRS, ...row(all)] } })
    expect(await check(agent, before)).toMatchObject(inPlace)
    expect(await check(agent, () => null)).toMatchObject({ status: 'removed' })
    expect(await check(agent, ({ hooks: _, ...rest }) => ({ ...rest, hooks: {} }))).toMatchObject({ status: 'removed' })
    const behind = (all: Settings) => ({ ...all, hooks: { ...all.hooks, [event]: [...row(all), THEIRS] } })
    expect(await check(agent, behind)).toMatchObject({
      status: 'stale',
      detail: expect.stringContaining('another hook runs after'),
    })
    const other = (all: Settings) => JSON.parse(JSON.stringify(all).replaceAll('/opt/none/cordon.cjs', '/opt/old.cjs'))
    expect(await check(agent, other)).toMatchObject({ status: 'stale', detail: expect.stringContaining('this Cordon') })
    const half = (all: Settings) => ({ ...all, hooks: { [event]: row(all) } })
    expect(await check(agent, half)).toMatchObject({ status: 'stale' })
  })

  it.each([
    ['claude-code', 'a model that is a number', { model: 5 }],
    ['claude-code', 'hooks that are switched off', { disableAllHooks: true }],
    ['claude-code', 'a line of status that is a text', { statusLine: 'x' }],
    ['gemini', 'hooks that are switched off', { hooksConfig: { enabled: false } }],
  ] as const)('of %s does not work beside %s', async (agent, _, more) => {
    const { status, detail } = await check(agent, (all) => ({ ...all, ...more }))
    expect([status, detail]).toEqual(['silent', expect.stringContaining(Object.keys(more)[0]!)])
  })

  it('of Codex is not whole without its rule', async () => {
    expect(await check('codex', (all) => all, 2, false)).toMatchObject({
      status: 'stale',
      detail: expect.stringContaining('cordon.rules'),
    })
  })
})
