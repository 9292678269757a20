/** Forged signatures in the state directory, and what a start remembers of a good one: nothing runs on a manifest that was not signed. */

import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHookJudge } from '../../../src/agents/hook/judge.ts'
import { runHookCommand } from '../../../src/agents/hook/run.ts'
import { canonicalManifest } from '../../../src/manifest/sign/canonical.ts'
import { grantHash, makeSigningKey, projectMessage } from '../../../src/manifest/sign/signature.ts'
import { signaturePath } from '../../../src/manifest/sign/signature-file.ts'
import { loadPolicy } from '../../../src/project/load/load.ts'
import { sealedRegistries, signedText } from '../../../src/project/sign/seal.ts'
import { signProject } from '../../../src/project/sign/trust.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { thisMachine } from '../../../src/system/machine.ts'

const MANIFEST = 'schema_version = 1\n[capabilities.allow.commands]\npatterns = ["touch"]\n'

let base: string
let root: string
let place: Parameters<typeof openHookJudge>[0]

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-forged-')))
  root = join(base, 'project')
  mkdirSync(root)
  writeFileSync(join(root, 'cordon.toml'), MANIFEST)
  const home = join(base, 'home')
  const own = { home, stateDir: join(home, 'state'), configDir: join(home, 'config'), cacheDir: join(home, 'cache') }
  const machine = { ...thisMachine(), ...own, cwd: root }
  const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
  if (!('loaded' in outcome)) throw new Error(JSON.stringify(outcome.problems))
  const attacker = makeSigningKey().key
  const canonical = signedText(canonicalManifest(outcome.loaded.project!), {})
  const hash = grantHash(canonical)
  const signature = attacker.sign(projectMessage(root, hash))
  const record = { grant_hash: hash, signed_at: '', key: attacker.publicKey, signature, canonical }
  const file = signaturePath(own.stateDir, root)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, JSON.stringify({ version: 1, project: root, signatures: [record] }), { mode: 0o600 })
  place = { machine, files: machineFiles, root, exact: true, cwd: root, host: 'claude-code', session: 's', shell: true }
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function touched(): ReturnType<typeof runHookCommand> {
  const { machine, files, host, session } = place
  const io = { stdin: 'none', stdout: 'discard', stderr: 'discard' } as const
  return runHookCommand({ machine, files, host, session, root, command: 'touch new', io })
}

describe('a forged record', () => {
  it('opens nothing for a tool that runs outside the sandbox', async () => {
    expect(await openHookJudge(place)).toMatchObject({ closed: expect.stringContaining('does not take effect') })
  })

  it('opens nothing for a command either', async () => {
    expect(await touched()).toMatchObject({ denied: expect.stringContaining('does not take effect') })
    expect(machineFiles.exists(join(root, 'new'))).toBe(false)
  })

  it('control: with the signature of the user, it runs', async () => {
    const { machine } = place
    const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
    if ('loaded' in outcome) signProject(outcome.loaded, machine, new Date())
    expect(await touched()).toMatchObject({ exitCode: 0 })
    expect(machineFiles.exists(join(root, 'new'))).toBe(true)
  })
})

describe('a signature that was verified once', () => {
  let forged: string

  beforeEach(async () => {
    const { machine } = place
    forged = readFileSync(signaturePath(machine.stateDir, root), 'utf8')
    const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
    if ('loaded' in outcome) signProject(outcome.loaded, machine, new Date())
    expect(await openHookJudge(place)).toHaveProperty('judge')
  })

  const sealed = async () => {
    const { machine } = place
    const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
    return 'loaded' in outcome && sealedRegistries(outcome.loaded, machine) !== null
  }

  it('control: need not be verified again', async () => {
    expect(await sealed()).toBe(true)
    expect(await openHookJudge(place)).toHaveProperty('judge')
  })

  it.each([
    ['a changed manifest', () => writeFileSync(join(root, 'cordon.toml'), MANIFEST.replace('touch', 'rm'))],
    [
      'other signatures of the same length at the same place, with the old times',
      () => {
        const path = signaturePath(place.machine.stateDir, root)
        const { atime, mtime } = statSync(path)
        const text = readFileSync(path, 'utf8')
        writeFileSync(
          path,
          text.replace(/"signature": ?"./, (found) => `${found.slice(0, -1)}_`),
        )
        utimesSync(path, atime, mtime)
      },
    ],
    ['a forged record put in its place', () => writeFileSync(signaturePath(place.machine.stateDir, root), forged)],
    [
      'another public key',
      () => writeFileSync(join(place.machine.stateDir, 'signing-key.pub'), `${makeSigningKey().key.publicKey}\n`),
    ],
  ])('is not believed for %s', async (_, change) => {
    change()
    expect(await sealed()).toBe(false)
    expect(await openHookJudge(place)).toHaveProperty('closed')
    expect(await touched()).toHaveProperty('denied')
  })
})
