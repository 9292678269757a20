/** What a start remembers of a policy: exactly what reading the manifests again would give, and nothing once anything has changed. */

import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { builtInPolicy } from '../../../scripts/built-in-policy.ts'
import { makeSigningKey } from '../../../src/manifest/sign/signature.ts'
import { signaturePath } from '../../../src/manifest/sign/signature-file.ts'
import { type LoadedPolicy, loadPolicy } from '../../../src/project/load/load.ts'
import { recallPolicy, sealPath, verifiedFiles } from '../../../src/project/load/memory.ts'
import { withRegistries } from '../../../src/project/registries/hosts.ts'
import { sealedRegistries, sealVerified } from '../../../src/project/sign/seal.ts'
import { judgeTrust, signProject } from '../../../src/project/sign/trust.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { type Machine, thisMachine } from '../../../src/system/machine.ts'

const START = 'schema_version = 1\n'
const MANIFEST = `${START}[capabilities.deny.commands]\npatterns = ["touch"]\n`

/** One of everything that a policy keeps in its own form. */
const RICH = `${START}
[permission]
mode = "contained"
[permission.tools]
webfetch = "ask"
[agents.reviewer]
mode = "plan"
[agents.reviewer.tools]
bash = "deny"
[http]
allowed_hosts = ["example.com", { host = "api.example.com:8443", methods = ["GET"], paths = ["/v1/**"] }]
[sandbox.os]
command_tools = ["git", "npm"]
[capabilities.allow.read]
paths = ["**", { path = "~/notes", files = ["*.md"], prompt = true }]
[capabilities.allow.commands]
default_domains = ["example.org"]
patterns = ["npm test:*", { command = "make:*", domains = ["example.net"], env_vars = ["CI"] }]
[limits]
command_timeout = "5m"
[[secrets]]
name = "TOKEN"
source = "env:TOKEN"
hosts = ["api.example.com"]
header = "authorization"
[mcp_servers.files]
command = "node server.js"
`

let base: string
let root: string
let machine: Machine

beforeEach(() => {
  vi.stubGlobal('BUILD', 'this build')
  vi.stubGlobal('BUILT_IN_POLICY', builtInPolicy())
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-remembered-')))
  root = join(base, 'project')
  mkdirSync(root)
  machine = machineAt(join(base, 'home'))
})
afterEach(() => {
  vi.unstubAllGlobals()
  rmSync(base, { recursive: true, force: true })
})

function machineAt(home: string): Machine {
  const own = {
    home,
    stateDir: join(base, 'home/state'),
    configDir: join(base, 'home/config'),
    cacheDir: join(base, 'home/cache'),
  }
  mkdirSync(own.configDir, { recursive: true })
  return { ...thisMachine(), ...own, cwd: root }
}

/** Writes the manifest, signs it, and opens the project once. */
async function opened(manifest: string): Promise<LoadedPolicy> {
  writeFileSync(join(root, 'cordon.toml'), manifest)
  const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
  if (!('loaded' in outcome)) throw new Error(JSON.stringify(outcome.problems))
  signProject(outcome.loaded, machine, new Date())
  judgeTrust(outcome.loaded, machine, machineFiles)
  return read()
}

async function read(): Promise<LoadedPolicy> {
  const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
  if ('problems' in outcome) throw new Error('the manifest does not load')
  const sealed = sealedRegistries(outcome.loaded, machine)
  const report = sealed ? null : judgeTrust(outcome.loaded, machine, machineFiles)
  if (report && report.trust.status !== 'signed') throw new Error(`it is ${report.trust.status}`)
  return withRegistries(outcome.loaded, sealed ?? report?.registries ?? {})
}

const recalled = (from = machine, at: string | null = root) => recallPolicy(from, machineFiles, at, [])

describe('a remembered policy', () => {
  it.each([
    ['a short one', MANIFEST],
    ['one of everything', RICH],
    ['one with a secret that no shell may expand', `${MANIFEST}# $HOME\n`],
  ])('is the one that the manifests give: %s', async (_, manifest) => {
    const { policy, sandbox, session, warnings, registries, manifestPath } = await opened(manifest)
    const known = { policy, sandbox, session, warnings, registries, manifestPath, root, ownManifest: true }
    expect(recalled()).toEqual(known)
    expect(recalled({ ...machine, cwd: root }, null)).toEqual(known)
  })

  it.each(['/', '/srv/a b', '/ROOT'])('is the built-in one in %s, where nobody wrote one', async (other) => {
    rmSync(machine.configDir, { recursive: true })
    const there = { ...machine, home: join(base, 'somewhere'), cwd: other }
    const nowhere = { ...machineFiles, isMissing: () => true, exists: () => false, canonical: (path: string) => path }
    const outcome = await loadPolicy({ machine: there, files: nowhere, root: null, choice: { kind: 'project' } })
    if (!('loaded' in outcome)) throw new Error(JSON.stringify(outcome.problems))
    const { manifest: _manifest, project: _project, written: _written, ...known } = outcome.loaded
    expect(recallPolicy(there, nowhere, null, [])).toEqual(known)
  })

  it('is created anew for a manifest in which only a comment has changed', async () => {
    await opened(MANIFEST)
    writeFileSync(join(root, 'cordon.toml'), `${MANIFEST}# a word\n`)
    expect(recalled()).toBeNull()
    await read()
    expect(recalled()).not.toBeNull()
  })

  it.each<[string, () => void]>([
    ['another manifest', () => writeFileSync(join(root, 'cordon.toml'), MANIFEST.replace('touch', 'rm'))],
    ['a manifest of the user', () => writeFileSync(join(machine.configDir, 'cordon.toml'), START)],
    ['another signature', () => writeFileSync(signaturePath(machine.stateDir, root), '{}')],
    ['a revoked signature', () => rmSync(signaturePath(machine.stateDir, root))],
    [
      'another key',
      () => writeFileSync(join(machine.stateDir, 'signing-key.pub'), `${makeSigningKey().key.publicKey}\n`),
    ],
    ['another build', () => vi.stubGlobal('BUILD', 'another build')],
    ['code that was not built', () => vi.unstubAllGlobals()],
    ['a memory that others may write', () => chmodSync(sealPath(machine.stateDir, root), 0o666)],
    ['a memory that was cut short', () => writeFileSync(sealPath(machine.stateDir, root), '{"version":2,')],
    [
      'a memory somewhere else',
      () => {
        renameSync(sealPath(machine.stateDir, root), join(base, 'elsewhere'))
        symlinkSync(join(base, 'elsewhere'), sealPath(machine.stateDir, root))
      },
    ],
  ])('is not believed with %s', async (_, change) => {
    await opened(MANIFEST)
    expect(recalled()).not.toBeNull()
    change()
    expect(recalled()).toBeNull()
  })

  it('is not sealed with a signature that changed while it was verified', async () => {
    await opened(MANIFEST)
    const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
    if (!('loaded' in outcome)) throw new Error(JSON.stringify(outcome.problems))
    const before = verifiedFiles(machine.stateDir, root)
    rmSync(sealPath(machine.stateDir, root))
    appendFileSync(signaturePath(machine.stateDir, root), '\n')
    sealVerified(outcome.loaded, machine, {}, before)
    expect(recalled()).toBeNull()
    sealVerified(outcome.loaded, machine, {}, verifiedFiles(machine.stateDir, root))
    expect(recalled()).not.toBeNull()
  })

  it('is not believed in another place', async () => {
    await opened(MANIFEST)
    expect(recalled({ ...machine, home: join(base, 'other') })).toBeNull()
    const copy = join(base, 'copy')
    mkdirSync(copy)
    writeFileSync(join(copy, 'cordon.toml'), MANIFEST)
    mkdirSync(join(sealPath(machine.stateDir, copy), '..'), { recursive: true })
    writeFileSync(sealPath(machine.stateDir, copy), readFileSync(sealPath(machine.stateDir, root)), { mode: 0o600 })
    expect(recalled(machine, copy)).toBeNull()
  })

  it.each([
    ['a variable', `${START}[security]\ndeny_domains = ["\${BAD_HOST}"]\n`],
    ['a variable in other words', `${START}[security]\ndeny_domains = ["\\u0024{BAD_HOST}"]\n`],
    ['a directory that may come and go', `${START}[capabilities.allow]\nadditional_directories = ["/nowhere"]\n`],
    ['the public suffix list', `${START}[http]\nallowed_hosts = ["*.example.com"]\n`],
  ])('is not remembered where %s is involved', async (_, manifest) => {
    await opened(manifest)
    expect(recalled()).toBeNull()
  })
})
