/** Where each "always" and "never" goes in a manifest, and which of them stay out of it. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SavedAnswer } from '../../../src/approval/approve.ts'
import { amendProject } from '../../../src/project/amend.ts'
import { loadPolicy } from '../../../src/project/load/load.ts'
import { openPolicy } from '../../../src/project/open.ts'
import { judgeTrust } from '../../../src/project/sign/trust.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { openSessionWorld, type SessionWorld } from './session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
})
afterEach(() => world.close())

const OPEN = 'schema_version = 1\n'
const DECLARED = `schema_version = 1
[capabilities.allow.read]
paths = ["src/**"] # sources
[http]
allowed_hosts = ["docs.example.org"]
`

interface Row {
  readonly name: string
  readonly manifest: string
  readonly grant: readonly [SavedAnswer['grant']['kind'], string]
  readonly verdict?: SavedAnswer['verdict']
  readonly tool?: string
  /** What the manifest then contains; null if it is unchanged. */
  readonly contains: string | null
}

const rows: readonly Row[] = [
  {
    name: 'a command',
    manifest: OPEN,
    grant: ['command', 'npm test:*'],
    contains: '[capabilities.allow.commands]\npatterns = ["npm test:*"]',
  },
  {
    name: 'no to a command',
    manifest: OPEN,
    grant: ['command', 'npm publish'],
    verdict: 'deny',
    contains: '[capabilities.deny.commands]\npatterns = ["npm publish"]',
  },
  {
    name: 'a read beside others',
    manifest: DECLARED,
    grant: ['read', 'docs/a.md'],
    contains: 'paths = ["src/**", "docs/a.md"] # sources',
  },
  {
    name: 'a first read, beside what is open without it',
    manifest: OPEN,
    grant: ['read', 'docs/a.md'],
    contains: '[capabilities.allow.read]\npaths = ["**", "docs/a.md"]',
  },
  { name: 'a first write', manifest: OPEN, grant: ['write', 'docs/a.md'], contains: null },
  {
    name: 'no to a read',
    manifest: OPEN,
    grant: ['read', 'docs/a.md'],
    verdict: 'deny',
    contains: '[capabilities.deny.read]\npaths = ["docs/a.md"]',
  },
  {
    name: 'a directory outside',
    manifest: OPEN,
    grant: ['directory', '/data/sets'],
    contains: 'additional_directories = ["/data/sets"]',
  },
  {
    name: 'no to a directory',
    manifest: OPEN,
    grant: ['directory', '/data/sets'],
    verdict: 'deny',
    contains: '[capabilities.deny.read]\npaths = ["/data/sets"]',
  },
  {
    name: 'a host for commands',
    manifest: OPEN,
    grant: ['host', 'api.example.com'],
    contains: 'default_domains = ["api.example.com"]',
  },
  {
    name: 'a host for the web tools',
    manifest: DECLARED,
    grant: ['host', 'api.example.com'],
    tool: 'webfetch',
    contains: 'allowed_hosts = ["docs.example.org", "api.example.com"]',
  },
  {
    name: 'a first host for the web tools',
    manifest: OPEN,
    grant: ['host', 'api.example.com'],
    tool: 'http',
    contains: null,
  },
  {
    name: 'no to a host of the web tools',
    manifest: OPEN,
    grant: ['host', 'api.example.com'],
    tool: 'http',
    verdict: 'deny',
    contains: 'deny_domains = ["api.example.com"]',
  },
  { name: 'what the manifest cannot contain', manifest: OPEN, grant: ['command', 'python3:*'], contains: null },
  { name: 'what is not a pattern', manifest: OPEN, grant: ['command', 'a | b'], contains: null },
  {
    name: 'a text that would be more than a value',
    manifest: OPEN,
    grant: ['command', 'x"]\n[permission]\nmode = "auto"\n#'],
    contains: null,
  },
]

describe('an answer for always', () => {
  it('leaves the person’s own skills as they were: read, and never written', async () => {
    mkdirSync(join(world.machine.home, '.agents/skills/a'), { recursive: true })
    await world.sign(OPEN)
    const open = () =>
      openPolicy({
        machine: world.machine,
        files: machineFiles,
        root: world.root,
        choice: { kind: 'project' },
        unsigned: 'refused',
      })
    const opened = await open()
    if (!('loaded' in opened)) throw new Error(JSON.stringify(opened))
    const grant = { kind: 'read', value: 'docs/a.md', admits: '' } as const
    const remembered: SavedAnswer = { tool: 'bash', grant, verdict: 'allow', scope: 'always', seconds: null }
    const amended = await amendProject(opened.loaded, remembered, world.machine, machineFiles)
    if (!('loaded' in amended)) throw new Error(JSON.stringify(amended))
    expect(opened.loaded.policy.writes.deny.map(({ rule }) => rule)).toContain('your skills')
    expect(world.text('cordon.toml')).toContain('paths = ["**", "docs/a.md"]')
    expect(amended.loaded.policy.writes.deny).toEqual(opened.loaded.policy.writes.deny)
    expect(amended.loaded.policy.additionalDirectories).toEqual(opened.loaded.policy.additionalDirectories)
  })

  it.each(rows)('$name', async ({ manifest, grant: [kind, value], verdict = 'allow', tool = 'bash', contains }) => {
    await world.sign(manifest)
    const load = async () => {
      const request = {
        machine: world.machine,
        files: machineFiles,
        root: world.root,
        choice: { kind: 'project' },
      } as const
      const outcome = await loadPolicy(request)
      if ('problems' in outcome) throw new Error(outcome.problems.map((problem) => problem.message).join('\n'))
      return outcome.loaded
    }
    const grant = { kind, value, admits: '' }
    const remembered: SavedAnswer = { tool, grant, verdict, scope: 'always', seconds: null }
    const amended = await amendProject(await load(), remembered, world.machine, machineFiles)
    expect('loaded' in amended, JSON.stringify(amended)).toBe(contains !== null)
    if (contains === null) expect(world.text('cordon.toml')).toBe(manifest)
    else expect(world.text('cordon.toml')).toContain(contains)
    expect(judgeTrust(await load(), world.machine, machineFiles)?.trust.status).toBe('signed')
  })
})
