import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Keychain, openKeyStore } from '../../system/keys/keychain.ts'
import { amendManifest } from './amend.ts'
import { resetUserKey, signManifest, userPublicKey, userSigningKey, verifyManifest } from './sign.ts'
import { grantHash, keyId, makeSigningKey, parsePublicKey, printDetached } from './signature.ts'
import { signaturePath } from './signature-file.ts'
import { readTrustedKeys, trustKey, untrustKey } from './trusted-keys.ts'

const SHOP = 'github.com/acme/shop'
const brokenKeychain: Keychain = {
  get: () => {
    throw new Error('no D-Bus')
  },
  set: () => {
    throw new Error('no D-Bus')
  },
  delete: () => {
    throw new Error('no D-Bus')
  },
}

function memoryKeychain(): Keychain & { locked: boolean } {
  const values = new Map<string, string>()
  const chain = {
    locked: false,
    get: (name: string) => {
      if (chain.locked) throw new Error('locked')
      return values.get(name) ?? null
    },
    set: (name: string, value: string) => {
      if (chain.locked) throw new Error('locked')
      values.set(name, value)
    },
    delete: (name: string) => void values.delete(name),
  }
  return chain
}

let base: string
let stateDir: string
const project = '/projects/one'
const now = '2026-01-02T03:04:05.000Z'

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-sign-'))
  stateDir = join(base, 'state')
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const verify = (
  canonical: string,
  detached: string | null = null,
  trustedKeys: Parameters<typeof verifyManifest>[0]['trustedKeys'] = [],
) => verifyManifest({ stateDir, project, canonical, detached, trustedKeys, identity: SHOP })

describe('signing in the state directory', () => {
  it('is unsigned, then signed, then changed', () => {
    const keys = openKeyStore(stateDir, brokenKeychain)
    expect(verify('{"a":1}').status).toBe('unsigned')
    const { warning } = signManifest({ stateDir, keys, project, canonical: '{"a":1}', now })
    expect(warning).toMatch(/^no keychain here; the key is in .*, owner-only$/)
    expect(verify('{"a":1}')).toMatchObject({ status: 'signed', by: 'user', signedAt: now })
    expect(verify('{"a":2}')).toMatchObject({ status: 'changed', signed: { canonical: '{"a":1}' } })
  })

  it('does not count for another project', () => {
    signManifest({ stateDir, keys: openKeyStore(stateDir, brokenKeychain), project, canonical: '{}', now })
    expect(
      verifyManifest({
        stateDir,
        project: '/projects/two',
        canonical: '{}',
        detached: null,
        trustedKeys: [],
        identity: SHOP,
      }).status,
    ).toBe('unsigned')
  })

  it('does not count for another project when its file is moved there, either', () => {
    signManifest({ stateDir, keys: openKeyStore(stateDir, brokenKeychain), project, canonical: '{}', now })
    const file = readFileSync(signaturePath(stateDir, project), 'utf8')
    const other = '/projects/two'
    writeFileSync(signaturePath(stateDir, other), file.replaceAll(project, other), { mode: 0o600 })
    const trust = verifyManifest({
      stateDir,
      project: other,
      canonical: '{}',
      detached: null,
      trustedKeys: [],
      identity: SHOP,
    })
    expect(trust.status).toBe('bad')
  })

  it('faults on a file that is about another project', () => {
    signManifest({ stateDir, keys: openKeyStore(stateDir, brokenKeychain), project, canonical: '{}', now })
    const path = signaturePath(stateDir, project)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(project, '/projects/two'))
    expect(() => verify('{}')).toThrow(/is about \/projects\/two, not about/)
  })

  it('refuses a key that is not the one which signed before', () => {
    const keys = openKeyStore(stateDir, memoryKeychain())
    signManifest({ stateDir, keys, project, canonical: '{}', now })
    keys.write('signing-key', makeSigningKey().secret)
    expect(() => userSigningKey({ stateDir, keys })).toThrow(/is not the one that signed before/)
    keys.write('signing-key', 'garbage')
    expect(() => userSigningKey({ stateDir, keys })).toThrow(/is damaged/)
  })

  it('counts no more once there is a new key, and says where that one is kept', () => {
    const keys = openKeyStore(stateDir, brokenKeychain)
    signManifest({ stateDir, keys, project, canonical: '{}', now })
    expect(resetUserKey({ stateDir, keys }).warning).toMatch(/^no keychain here/)
    expect(verify('{}').status).toBe('bad')
    signManifest({ stateDir, keys, project, canonical: '{}', now })
    expect(verify('{}').status).toBe('signed')
  })

  it('keeps the key in the keychain where there is one, and no file', () => {
    const keys = openKeyStore(stateDir, memoryKeychain())
    const { warning } = signManifest({ stateDir, keys, project, canonical: '{}', now })
    expect(warning).toBeNull()
    expect(readdirSync(stateDir)).not.toContain('keys')
    expect(verify('{}').status).toBe('signed')
  })

  it('does not make a second key while the keychain is locked', () => {
    const chain = memoryKeychain()
    const keys = openKeyStore(stateDir, chain)
    signManifest({ stateDir, keys, project, canonical: '{}', now })
    chain.locked = true
    expect(() => userSigningKey({ stateDir, keys })).toThrow(/cannot be read from the keychain/)
    expect(verify('{}').status).toBe('signed')
  })

  it('makes every file for the owner alone', () => {
    signManifest({ stateDir, keys: openKeyStore(stateDir, brokenKeychain), project, canonical: '{}', now })
    const modes = (directory: string): void => {
      for (const name of readdirSync(directory)) {
        const path = join(directory, name)
        expect(statSync(path).mode & 0o077, path).toBe(0)
        if (statSync(path).isDirectory()) modes(path)
      }
    }
    modes(base)
  })

  it('is bad when the record was forged for another key', () => {
    signManifest({ stateDir, keys: openKeyStore(stateDir, brokenKeychain), project, canonical: '{}', now })
    const file = join(stateDir, 'signatures', readdirSync(join(stateDir, 'signatures'))[0]!)
    const forged = JSON.parse(readFileSync(file, 'utf8')) as { signatures: { grant_hash: string }[] }
    forged.signatures[0]!.grant_hash = grantHash('{"all":true}')
    writeFileSync(file, JSON.stringify(forged))
    expect(verify('{"all":true}').status).toBe('bad')
  })

  it.each([
    ['not JSON', 'garbage'],
    ['the wrong fields', '{"version":1}'],
    ['half a file', '{"version":1,"project":"/proj'],
  ])('faults on a state file with %s', (_, text) => {
    signManifest({ stateDir, keys: openKeyStore(stateDir, brokenKeychain), project, canonical: '{}', now })
    writeFileSync(join(stateDir, 'signatures', readdirSync(join(stateDir, 'signatures'))[0]!), text)
    expect(() => verify('{}')).toThrow(/is damaged/)
  })
})

describe('a state directory that cannot be believed', () => {
  it('is refused when others may write it', () => {
    mkdirSync(stateDir, { mode: 0o777 })
    chmodSync(stateDir, 0o777)
    expect(() => verify('{}')).toThrow(/others may write it/)
  })

  it('is refused below a directory that everybody may write', () => {
    const open = join(base, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    stateDir = join(open, 'state')
    expect(() => verify('{}')).toThrow(/writable by everybody/)
  })

  it('is tightened when others may only read it', () => {
    mkdirSync(stateDir, { mode: 0o755 })
    chmodSync(stateDir, 0o755)
    verify('{}')
    expect(statSync(stateDir).mode & 0o777).toBe(0o700)
  })
})

describe('team keys', () => {
  const team = makeSigningKey().key
  const trusted = [{ id: keyId(team.publicKey), key: team.publicKey, comment: 'the team', source: 'test' }]

  it('accepts a detached signature by a trusted key', () => {
    const detached = printDetached(team, SHOP, grantHash('{}'))
    expect(verify('{}', detached, trusted)).toMatchObject({ status: 'signed', by: 'team', comment: 'the team' })
  })

  const ignored: readonly (readonly [name: string, detached: () => string, problem: string])[] = [
    ['by a key nobody trusts', () => printDetached(makeSigningKey().key, SHOP, grantHash('{}')), 'untrusted-key'],
    ['for other grants', () => printDetached(team, SHOP, grantHash('{"x":1}')), 'other-grants'],
    [
      'with another hash written over it',
      () => printDetached(team, SHOP, grantHash('{"x":1}')).replace(grantHash('{"x":1}'), grantHash('{}')),
      'bad-signature',
    ],
    ['for another project', () => printDetached(team, 'github.com/acme/other', grantHash('{}')), 'other-project'],
    [
      'for another project, with this one written over it',
      () => printDetached(team, 'github.com/acme/other', grantHash('{}')).replace('other', 'shop'),
      'bad-signature',
    ],
    [
      'of the form that named no project',
      () =>
        `cordon-sig-v1 ${team.publicKey} ${grantHash('{}')} ${team.sign(`cordon-team-signature-v1\0${grantHash('{}')}`)}\n`,
      'unreadable',
    ],
    ['that is not a signature', () => 'trust me', 'unreadable'],
  ]
  it.each(ignored)('ignores one %s', (_, detached, problem) => {
    expect(verify('{}', detached(), trusted)).toMatchObject({ status: 'unsigned', detached: problem })
  })

  it('reads, adds and removes keys of the user', () => {
    const configDir = join(base, 'config')
    trustKey(configDir, team.publicKey, 'the team')
    trustKey(configDir, team.publicKey, 'again')
    const places = { configDir, override: undefined, projectRoot: '/p' }
    expect(readTrustedKeys(places).map((key) => key.comment)).toEqual(['the team'])
    expect(untrustKey(configDir, keyId(team.publicKey))).toBe(true)
    expect(readTrustedKeys(places)).toEqual([])
  })

  it('refuses a file of keys that lies in the project, or that others may write', () => {
    const root = join(base, 'project')
    mkdirSync(root)
    const inside = join(root, 'keys')
    writeFileSync(inside, `${team.publicKey}\n`)
    const link = join(base, 'link')
    symlinkSync(inside, link)
    for (const override of [inside, link]) {
      expect(() => readTrustedKeys({ configDir: base, override, projectRoot: root })).toThrow(/lie in the project/)
    }
    const open = join(base, 'open-keys')
    writeFileSync(open, `${team.publicKey}\n`)
    chmodSync(open, 0o666)
    expect(() => readTrustedKeys({ configDir: base, override: open, projectRoot: root })).toThrow(/others may write/)
  })

  it('reads keys in base64 and base64url alike', () => {
    const url = team.publicKey.replaceAll('+', '-').replaceAll('/', '_').replace('=', '')
    expect(parsePublicKey(url)).toBe(team.publicKey)
    expect(parsePublicKey('ed25519:short')).toBeNull()
  })
})

describe('amending a signed manifest', () => {
  const request = (path: string) => {
    const keys = openKeyStore(stateDir, brokenKeychain)
    return {
      stateDir,
      keys,
      project,
      path,
      now,
      edit: (text: string): string => `${text}grant\n`,
      canonical: (text: string): string => JSON.stringify(text.split('\n').sort()),
      trust: (canonical: string): ReturnType<typeof verifyManifest> => verify(canonical),
    }
  }

  it('edits and signs together', () => {
    const path = join(base, 'cordon.toml')
    writeFileSync(path, 'one\n')
    const amend = request(path)
    signManifest({ ...amend, canonical: amend.canonical('one\n') })
    expect(amendManifest(amend)).toMatchObject({ done: true })
    expect(readFileSync(path, 'utf8')).toBe('one\ngrant\n')
    expect(verify(amend.canonical('one\ngrant\n')).status).toBe('signed')
  })

  it('never signs what was changed by hand', () => {
    const path = join(base, 'cordon.toml')
    writeFileSync(path, 'one\n')
    const amend = request(path)
    signManifest({ ...amend, canonical: amend.canonical('one\n') })
    writeFileSync(path, 'one\nall\n')
    expect(amendManifest(amend)).toEqual({ done: false, reason: 'unsigned' })
    expect(readFileSync(path, 'utf8')).toBe('one\nall\n')
  })

  it.each([
    ['in place', (path: string, text: string) => writeFileSync(path, text)],
    [
      'by another file in its place, as most editors do',
      (path: string, text: string) => {
        writeFileSync(`${path}.new`, text)
        renameSync(`${path}.new`, path)
      },
    ],
  ])('does not lose an edit by hand while it works: %s', (_, write) => {
    const path = join(base, 'cordon.toml')
    writeFileSync(path, 'one\n')
    const amend = request(path)
    signManifest({ ...amend, canonical: amend.canonical('one\n') })
    let edits = 0
    const edit = (text: string): string => {
      if (edits++ === 0) write(path, 'one\nby hand\n')
      return `${text}grant\n`
    }
    expect(amendManifest({ ...amend, edit })).toEqual({ done: false, reason: 'unsigned' })
    expect(readFileSync(path, 'utf8')).toBe('one\nby hand\n')
    expect(verify(amend.canonical('one\nby hand\n')).status).toBe('changed')
  })

  it('does not write through a link', () => {
    const target = join(base, 'target')
    writeFileSync(target, 'one\n')
    symlinkSync(target, join(base, 'cordon.toml'))
    expect(() => amendManifest(request(join(base, 'cordon.toml')))).toThrow(/cannot be opened/)
  })

  it('leaves no temporary file', () => {
    const path = join(base, 'cordon.toml')
    writeFileSync(path, 'one\n')
    const amend = request(path)
    signManifest({ ...amend, canonical: amend.canonical('one\n') })
    amendManifest(amend)
    expect(readdirSync(base).filter((name) => name.includes('tmp'))).toEqual([])
    expect(userPublicKey(stateDir)).not.toBeNull()
  })
})
