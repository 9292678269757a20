import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { programmaticPrompter } from '../../../src/approval/prompter.ts'
import { openChecker } from '../../../src/call/decide/check-call.ts'
import { acceptBundle } from '../../../src/fleet/bundle-store.ts'
import { loadPolicy } from '../../../src/project/load/load.ts'
import { createCordon } from '../../../src/session/cordon.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { bundle, type FleetWorld, layer, openFleetWorld, signedBy } from '../../fleet/fleet-world.ts'
import { until } from '../../until.ts'

/** What the organisation denies, and what a project then tries. */
const DENIALS = `
[security]
command_substitution = false
outside_roots = "deny"
privilege_wrappers = false
deny_domains = ["evil.example.com", "*.pastebin.com"]
[permission.tools]
webfetch = "deny"
[capabilities.deny.commands]
patterns = ["git push", "curl"]
[capabilities.deny.read]
paths = ["private/**"]
[shell_policy]
deny = ["drop table"]
[limits]
memory = "1 GiB"
[sandbox.os]
command_fs = "system"
command_mask_secrets = true
`

let world: FleetWorld
beforeEach(() => {
  world = openFleetWorld()
  world.join()
  publish(1, DENIALS)
})
afterEach(() => world.close())

function publish(version: number, ...manifests: readonly string[]): void {
  const text = signedBy(bundle({ version, layers: manifests.map((text) => layer(text)) }), world.team[0]!)
  acceptBundle(world.machine.stateDir, world.settings(), text, Date.now())
}

async function load(project: string, user = '') {
  writeFileSync(join(world.machine.configDir, 'cordon.toml'), `schema_version = 1\n${user}`)
  writeFileSync(join(world.root, 'cordon.toml'), `schema_version = 1\n${project}`)
  const outcome = await loadPolicy({
    machine: world.machine,
    files: machineFiles,
    root: world.root,
    choice: { kind: 'project' },
  })
  if ('problems' in outcome) return outcome.problems.map((problem) => problem.message).join('\n')
  return outcome.loaded
}

/** The decision on a command, or why nothing was decided. */
async function decide(project: string, tool: string, input: object, user = ''): Promise<string> {
  const loaded = await load(project, user)
  if (typeof loaded === 'string') return `does not load: ${loaded}`
  const checker = await openChecker(loaded, world.machine, machineFiles)
  return checker.check({ tool, input, cwd: world.root }).decision.decision
}

const OPEN = '[permission]\nmode = "auto"\n'
const allow = (...patterns: readonly string[]) =>
  `[capabilities.allow.commands]\npatterns = ${JSON.stringify(patterns)}\n`

describe('a denial of the organisation, whatever a project writes', () => {
  const rows: readonly [string, string, string, object, string][] = [
    ['the control: another command is the project’s own affair', allow('make:*'), 'bash', { command: 'make' }, 'allow'],
    ['the very command granted', allow('git push'), 'bash', { command: 'git push' }, 'deny'],
    [
      'with more words',
      allow('git push:*', 'git push origin main'),
      'bash',
      { command: 'git push origin main' },
      'deny',
    ],
    ['auto mode', OPEN, 'bash', { command: 'git push' }, 'deny'],
    [
      'its own agent',
      '[permission]\nagent = "x"\n[agents.x]\nmode = "auto"\ntrust_score = 1.0\n[agents.x.tools]\nbash = "allow"\nwebfetch = "allow"\n',
      'bash',
      { command: 'git push' },
      'deny',
    ],
    [
      'a level of that agent',
      '[permission]\nagent = "x"\n[agents.x]\nmode = "auto"\n[agents.x.tools]\nwebfetch = "allow"\n',
      'webfetch',
      { url: 'https://example.com' },
      'deny',
    ],
    ['a level', '[permission.tools]\nwebfetch = "allow"\n', 'webfetch', { url: 'https://example.com' }, 'deny'],
    ['another way to write it', OPEN, 'bash', { command: '/usr/bin/git -C . push' }, 'deny'],
    ['through a wrapper', OPEN, 'bash', { command: 'env X=1 timeout 5 git push' }, 'deny'],
    ['through a shell', OPEN, 'bash', { command: 'sh -c "git push"' }, 'deny'],
    [
      'a host granted',
      `${OPEN}[http]\nallowed_hosts = ["evil.example.com"]\n`,
      'http',
      { url: 'https://evil.example.com/', resolved: ['93.184.216.34'] },
      'deny',
    ],
    [
      'a path granted',
      `${OPEN}[capabilities.allow.read]\npaths = ["private/**", "**"]\n`,
      'read',
      { path: 'private/key' },
      'deny',
    ],
    [
      'a path as a further root',
      `${OPEN}[capabilities.allow]\nadditional_directories = ["private"]\n`,
      'read',
      { path: 'private/key' },
      'deny',
    ],
    [
      'a text granted',
      `[shell_policy]\nallow = ["drop table"]\n${OPEN}`,
      'bash',
      { command: 'psql -c "DROP TABLE x"' },
      'deny',
    ],
    [
      'substitutions switched on',
      `${OPEN}[security]\ncommand_substitution = true\n`,
      'bash',
      { command: 'echo $(date)' },
      'deny',
    ],
    [
      'sudo permitted',
      `[security]\nprivilege_wrappers = true\n${allow('sudo:*')}`,
      'bash',
      { command: 'sudo id' },
      'does not load',
    ],
  ]
  test.each(rows)('%s', async (_, project, tool, input, expected) => {
    expect(await decide(project, tool, input)).toMatch(new RegExp(`^${expected}`))
  })
  test.each(rows.slice(1))('%s, by the user', async (_, text, tool, input, expected) => {
    expect(await decide('', tool, input, text)).toMatch(new RegExp(`^${expected}`))
  })
})

it('no layer loosens values of the organisation, but it may tighten them', async () => {
  const looser = `[limits]\nmemory = "8 GiB"\n[sandbox.os]\ncommand_fs = "all"\ncommand_mask_secrets = false\n[security]\noutside_roots = "ask"\n`
  const loaded = await load(looser, looser)
  if (typeof loaded === 'string') throw new Error(loaded)
  expect(loaded.sandbox.limits.memory).toMatchObject({
    value: 1024 ** 3,
    source: expect.stringContaining('organisation acme v1'),
  })
  expect(loaded.sandbox.commandFs.value).toBe('system')
  expect(loaded.sandbox.maskSecrets.value).toBe(true)
  expect(loaded.warnings.filter(({ code }) => code === 'layer-ignored').length).toBeGreaterThanOrEqual(8)
  const stricter = await load('[limits]\nmemory = "512 MiB"\n[sandbox.os]\ncommand_fs = "none"\n')
  if (typeof stricter === 'string') throw new Error(stricter)
  expect(stricter.sandbox.limits.memory.value).toBe(512 * 1024 ** 2)
  expect(stricter.sandbox.commandFs.value).toBe('none')
})

it('a tool that the organisation has taken away or asks about stays so', async () => {
  publish(2, '[tools.deploy]\nenabled = false\n[tools.release]\nrequire_confirmation = true\n')
  const looser = '[tools.deploy]\nenabled = true\n[tools.release]\nrequire_confirmation = false\n'
  const loaded = await load(looser, looser)
  if (typeof loaded === 'string') throw new Error(loaded)
  const written = (path: string) => loaded.manifest.settings.get(path)?.value
  expect([written('tools.deploy.enabled'), written('tools.release.require_confirmation')]).toEqual([false, true])
})

it('of two layers for one machine the stricter value applies, in either order', async () => {
  for (const [version, texts] of [
    [2, ['[security]\npipes = true\n', '[security]\npipes = false\n']],
    [3, ['[security]\npipes = false\n', '[security]\npipes = true\n']],
  ] as const) {
    publish(version, ...texts)
    expect(await decide(OPEN, 'bash', { command: 'ls | cat' })).toBe('deny')
  }
})

it('a manifest that is named or given as an object is a later layer like any other', async () => {
  const file = join(world.base, 'named.toml')
  writeFileSync(file, `schema_version = 1\n${OPEN}`)
  for (const choice of [
    { kind: 'file', file } as const,
    { kind: 'object', object: { schema_version: 1, permission: { mode: 'auto' } } } as const,
  ]) {
    const outcome = await loadPolicy({ machine: world.machine, files: machineFiles, root: world.root, choice })
    if ('problems' in outcome) throw new Error('does not load')
    const checker = await openChecker(outcome.loaded, world.machine, machineFiles)
    expect(checker.check({ tool: 'bash', input: { command: 'git push' }, cwd: world.root }).decision.decision).toBe(
      'deny',
    )
  }
})

it('a denial that arrives while somebody is asked overrides their yes', async () => {
  const cordon = await createCordon({
    project: world.root,
    machine: world.machine,
    manifest: { object: { schema_version: 1, permission: { tools: { list: 'ask' } } } },
    prompter: programmaticPrompter(() => {
      publish(2, '[permission.tools]\nlist = "deny"\n')
      return { kind: 'once' }
    }),
  })
  try {
    expect((await cordon.openSession().call('list', { path: '.' })).status).toBe('denied')
  } finally {
    await cordon.close()
  }
})

it('a policy that comes while a session runs applies from its next call on, and so does an expired one', async () => {
  const cordon = await createCordon({
    project: world.root,
    machine: world.machine,
    manifest: { object: { schema_version: 1, permission: { mode: 'auto' } } },
  })
  try {
    const session = cordon.openSession()
    const list = () => session.call('list', { path: '.' })
    expect((await list()).status).toBe('done')
    publish(2, '[permission.tools]\nlist = "deny"\n')
    expect((await list()).status).toBe('denied')
    const now = Date.now()
    const closed = bundle({ version: 3, expires: new Date(now + 1).toISOString(), closes: 'everything' })
    acceptBundle(world.machine.stateDir, world.settings(), signedBy(closed, world.team[0]!), now)
    await until('it expires', () => Date.now() > now + 1)
    expect(await list()).toMatchObject({ status: 'failed', error: { code: 'fleet-policy' } })
  } finally {
    await cordon.close()
  }
})
