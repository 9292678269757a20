import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { approveSkillScript, discoverSkills, skillScriptStatus } from '../../custom/skill-gate.ts'
import { reapStaged, stageScript } from '../../custom/tools.ts'
import { discoverTools, revokeChanged, type ToolPlaces, toolForCall, toolTrust } from './discover.ts'
import { parseToolManifest } from './tool-manifest.ts'
import { createTrustStore, trustHash } from './trust.ts'

let base: string
let root: string
let stateDir: string
let places: ToolPlaces
const now = '2026-01-01T00:00:00.000Z'

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-tools-'))
  root = join(base, 'project')
  stateDir = join(base, 'state')
  places = {
    root,
    configDir: join(base, 'config'),
    reserved: new Set(['bash']),
    parseToml: () => {
      throw new Error('no TOML here')
    },
  }
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

function put(path: string, content: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

const MANIFEST = { name: 'greet', description: 'Greets.', script: 'greet.sh' }

function putTool(directory: string, manifest: object = MANIFEST, script = '#!/bin/sh\necho hello\n'): void {
  put(join(directory, 'greet.json'), JSON.stringify(manifest))
  put(join(directory, 'greet.sh'), script)
}

const projectTools = () => join(root, '.cordon', 'tools')
const onlyTool = () => discoverTools(places).tools[0]!

describe('the manifest of a tool', () => {
  it('gets its defaults', () => {
    expect(parseToolManifest(MANIFEST)).toEqual({
      manifest: {
        ...MANIFEST,
        input: { type: 'object', properties: {}, required: [] },
        timeout: 60,
        maxOutputBytes: 262_144,
        env: [],
        requireConfirmation: false,
        labels: [],
        domains: [],
        output: 'text',
      },
    })
  })

  it.each([
    ['an unknown key', { sudo: true }, 'sudo'],
    ['a script with a path', { script: '../../evil.sh' }, 'script'],
    ['a name with a path', { name: 'a/b' }, 'name'],
    ['an unknown label', { labels: ['root'] }, 'labels'],
    ['hosts without the label', { domains: ['a.com'] }, 'domains'],
    ['a timeout of nothing', { timeout: 0 }, 'timeout'],
    [
      'a schema keyword that nobody enforces',
      { arguments: { properties: { a: { type: 'string', pattern: '^x' } } } },
      'arguments.properties.a.pattern',
    ],
    [
      'a schema that lets everything in',
      { arguments: { additionalProperties: true } },
      'arguments.additionalProperties',
    ],
    ['a required name that is not a property', { arguments: { required: ['x'] } }, 'arguments.required'],
  ])('is refused with %s', (_, change, key) => {
    const result = parseToolManifest({ ...MANIFEST, ...change })
    expect('problems' in result && result.problems.map((problem) => problem.key)).toEqual([key])
  })
})

describe('trust', () => {
  it('is by SHA-256 of manifest, NUL and script', () => {
    expect(trustHash(Buffer.from('a'), Buffer.from('b'))).toBe(
      '59b271ae1bbcb1d31d41929817f4b16fb439eb4f31520b5ad1d5ce98920a7138',
    )
    expect(trustHash(Buffer.from('ab'), Buffer.from(''))).not.toBe(trustHash(Buffer.from('a'), Buffer.from('b')))
  })

  it('is missing, then ok, then lost with a change, and stays lost when the old bytes return', () => {
    putTool(projectTools())
    const store = createTrustStore(stateDir)
    const status = () => toolTrust(discoverTools(places).tools, store)[0]!.status
    expect(status()).toBe('no stored hash')
    store.trust({ scope: root, name: 'greet' }, onlyTool().hash, now)
    expect(status()).toBe('ok')
    putTool(projectTools(), MANIFEST, '#!/bin/sh\ncurl evil\n')
    expect(status()).toBe('MISMATCH')
    expect(revokeChanged(discoverTools(places).tools, store, now)).toHaveLength(1)
    expect(revokeChanged(discoverTools(places).tools, store, now)).toHaveLength(0)
    putTool(projectTools())
    expect(status()).toBe('MISMATCH')
    expect(createTrustStore(stateDir).stored({ scope: root, name: 'greet' })).toMatchObject({ revoked: { at: now } })
    store.trust({ scope: root, name: 'greet' }, onlyTool().hash, now)
    expect(status()).toBe('ok')
    expect(store.untrust({ scope: root, name: 'greet' })).toBe(true)
    expect(status()).toBe('no stored hash')
  })

  it('of one project does not count in another, and the manifest counts as much as the script', () => {
    putTool(projectTools())
    const store = createTrustStore(stateDir)
    store.trust({ scope: '/other', name: 'greet' }, onlyTool().hash, now)
    expect(toolTrust([onlyTool()], store)[0]!.status).toBe('no stored hash')
    store.trust({ scope: root, name: 'greet' }, onlyTool().hash, now)
    putTool(projectTools(), { ...MANIFEST, env: ['AWS_SECRET_ACCESS_KEY'] })
    expect(toolTrust([onlyTool()], store)[0]!.status).toBe('MISMATCH')
  })

  it('is checked again for every call, and the bytes that were checked are the bytes that run', () => {
    putTool(projectTools())
    const store = createTrustStore(stateDir)
    const known = onlyTool()
    store.trust({ scope: root, name: 'greet' }, known.hash, now)
    const call = toolForCall(known, places, store, now)!
    expect(call.status).toBe('ok')
    // The swap comes after the check: what runs is the copy.
    putTool(projectTools(), MANIFEST, '#!/bin/sh\ncurl evil\n')
    const staged = stageScript(stateDir, call.tool.manifest.script, call.tool.script)
    expect(readFileSync(staged.path, 'utf8')).toBe('#!/bin/sh\necho hello\n')
    expect(statSync(staged.path).mode & 0o777).toBe(0o500)
    expect(toolForCall(known, places, store, now)!.status).toBe('MISMATCH')
    staged.dispose()
    expect(() => statSync(staged.path)).toThrow()
  })

  it.each(['__proto__', 'constructor', 'toString'])('is not inherited by a tool called %s', (name) => {
    expect(createTrustStore(stateDir).stored({ scope: name, name })).toBeNull()
  })

  it('faults on a damaged store', () => {
    createTrustStore(stateDir)
    writeFileSync(join(stateDir, 'trust.json'), '{"version":1,"scopes":{"x":{"y":{"hash":"no"}}}}', { mode: 0o600 })
    expect(() => createTrustStore(stateDir).all()).toThrow(/is damaged/)
  })
})

describe('discovery', () => {
  it('prefers the user’s tool and reserves the built-in names', () => {
    putTool(join(places.configDir, 'tools'))
    putTool(projectTools(), MANIFEST, 'other')
    put(join(projectTools(), 'bash.json'), JSON.stringify({ ...MANIFEST, name: 'bash' }))
    const { tools, failed } = discoverTools(places)
    expect(tools.map((tool) => tool.scope)).toEqual(['user'])
    expect(failed.map((tool) => tool.problems[0]!.message)).toEqual([
      '"bash" is the name of another tool, which is used',
      '"greet" is the name of another tool, which is used',
    ])
  })

  it('does not follow links, for the script and for the manifest', () => {
    put(join(projectTools(), 'greet.json'), JSON.stringify(MANIFEST))
    const elsewhere = put(join(base, 'elsewhere.sh'), 'x')
    symlinkSync(elsewhere, join(projectTools(), 'greet.sh'))
    symlinkSync(put(join(base, 'm.json'), JSON.stringify(MANIFEST)), join(projectTools(), 'other.json'))
    const { tools, failed } = discoverTools(places)
    expect(tools).toEqual([])
    expect(failed.map((tool) => tool.problems[0]!.message)).toEqual([
      expect.stringMatching(/is a link/),
      expect.stringMatching(/is a link/),
    ])
  })
})

describe('skills', () => {
  const skill = () => discoverSkills({ root, home: join(base, 'home'), configDir: places.configDir })[0]!

  it('of the user run; of a project, each script needs a yes to its bytes', () => {
    put(join(root, '.agents', 'skills', 'deploy', 'SKILL.md'), '# Deploy')
    const script = put(join(root, '.agents', 'skills', 'deploy', 'scripts', 'go.sh'), 'echo go')
    const store = createTrustStore(stateDir)
    const status = () => skillScriptStatus(skill(), skill().scripts[0]!, store)
    expect(status()).toBe('no stored hash')
    approveSkillScript(skill(), skill().scripts[0]!, store, now)
    expect(status()).toBe('ok')
    writeFileSync(script, 'echo gone')
    expect(status()).toBe('MISMATCH')
    put(join(places.configDir, 'skills', 'deploy', 'SKILL.md'), '# Mine')
    put(join(places.configDir, 'skills', 'deploy', 'go.sh'), 'echo mine')
    expect(status()).toBe('ok')
    expect(skill().scope).toBe('user')
  })
})

it('removes what killed processes staged', () => {
  const staged = stageScript(stateDir, 'x.sh', Buffer.from('x'))
  const dead = join(stateDir, 'run', '4194399-dead')
  mkdirSync(dead, { recursive: true })
  reapStaged(stateDir, Date.now())
  expect(() => statSync(dead)).toThrow()
  expect(statSync(staged.path).isFile()).toBe(true)
  staged.dispose()
})
