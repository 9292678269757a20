import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { applyChanges, changes } from '../../../test/tree-changes.ts'
import { asUser, NEEDS_ROOT, ORDINARY } from '../../../test/users.ts'
import { encodePath } from '../../files/path-bytes.ts'
import { parsePathPattern } from '../../files/path-pattern.ts'
import { SecretTree } from '../protect/tree.ts'
import { MaskIndex } from './masks.ts'
import { readIndexCache, writeIndexCache } from './masks-cache.ts'
import { keptFolders, type MaskChange, MaskWatch } from './masks-watch.ts'
import { maskPlaces } from './secrets.ts'

let base: string
let root: string
let open: MaskIndex[] = []

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-masks-')))
  root = join(base, 'project')
  mkdirSync(root)
})

afterEach(() => {
  for (const index of open) index.close()
  open = []
  execFileSync('chmod', ['-R', 'u+rwx', base])
  // Too deep for rmSync, which names whole paths.
  execFileSync('rm', ['-rf', base])
})

function put(path: string, text = 'x'): string {
  const full = path.startsWith('/') ? path : join(root, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
  return full
}

function newIndex(roots: readonly string[] = [root], deniedShapes: readonly string[] = []): MaskIndex {
  const index = new MaskIndex({ home: join(base, 'home'), roots, deniedShapes })
  open.push(index)
  return index
}

function grant(text: string, files: readonly string[] | null = null) {
  const parsed = parsePathPattern(text, { root, home: join(base, 'home'), files })
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.pattern
}

function masked(index: MaskIndex, grants: ReturnType<typeof grant>[] = [grant('**')]): string[] {
  index.refresh()
  return index
    .masks(grants)
    .files.map((path) => path.replace(`${root}/`, ''))
    .sort()
}

const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n'
const KEY = '-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----\n'

describe('what is masked', () => {
  test('secret shapes at any depth, in every folder', () => {
    const deep = `${'d/'.repeat(60)}.env`
    put('.env')
    put(deep)
    put('node_modules/p/.npmrc')
    put('.git/id_rsa')
    put('src/index.ts')
    expect(masked(newIndex())).toEqual(['.env', '.git/id_rsa', deep, 'node_modules/p/.npmrc'].sort())
  })

  test('extensions that the manifest denies', () => {
    put('a.sqlite')
    expect(masked(newIndex())).toEqual([])
    expect(masked(newIndex([root], ['*.sqlite']))).toEqual(['a.sqlite'])
  })

  test('a grant that names the secret opens it, and counts it', () => {
    put('.env')
    put('sub/.env')
    const index = newIndex()
    expect(masked(index, [grant('.env')])).toEqual(['sub/.env'])
    expect(index.masks([grant('.env')]).skipped.opened).toBe(1)
  })

  test('a folder with a secret name is walked, not masked', () => {
    put('.env/lib/certifi/cacert.pem', CERTIFICATE)
    put('.env/.netrc')
    expect(masked(newIndex())).toEqual(['.env/.netrc'])
  })

  test('certificates are no secrets, until there is a key among them', () => {
    const file = put('ca.pem', CERTIFICATE)
    const index = newIndex()
    expect(masked(index)).toEqual([])
    expect(index.masks([]).skipped.certificates).toBe(1)
    writeFileSync(file, CERTIFICATE + KEY)
    expect(masked(index)).toEqual(['ca.pem'])
  })

  test('a key written over a certificate with the old times and the same size is seen', () => {
    const file = put('ca.pem', CERTIFICATE.padEnd(400, '\n'))
    const old = new Date(2001, 1, 1)
    utimesSync(file, old, old)
    const index = newIndex()
    expect(masked(index)).toEqual([])
    writeFileSync(file, KEY.padEnd(400, '\n'))
    utimesSync(file, old, old)
    expect(masked(index)).toEqual(['ca.pem'])
  })

  test('a certificate too big to judge is a secret', () => {
    put('big.pem', CERTIFICATE + 'A'.repeat(1_048_577))
    expect(masked(newIndex())).toEqual(['big.pem'])
  })

  test('a pipe with a secret name is masked and not waited for', () => {
    execFileSync('mkfifo', [join(root, 'pipe.pem')])
    expect(masked(newIndex())).toEqual(['pipe.pem'])
  })
})

describe('links', () => {
  test('a secret link is masked at its target, outside the project too', () => {
    put('config/app.txt')
    symlinkSync('config/app.txt', join(root, '.env'))
    const outside = put(join(base, 'credentials/prod.txt'))
    symlinkSync(outside, join(root, '.env.prod'))
    expect(masked(newIndex())).toEqual([outside, 'config/app.txt'].sort())
  })

  test('only a grant that names the link’s own path opens it', () => {
    const outside = put(join(base, 'credentials/prod.env'))
    symlinkSync(outside, join(root, '.env'))
    expect(masked(newIndex(), [grant(`${base}/credentials/**`), grant('**')])).toEqual([outside])
    expect(masked(newIndex(), [grant('.env')])).toEqual([])
  })

  test('a link with a plain name points to a masked target', () => {
    const outside = put(join(base, 'elsewhere/.env'))
    symlinkSync(outside, join(root, 'settings.txt'))
    put('.env')
    symlinkSync('.env', join(root, 'plain.txt'))
    expect(masked(newIndex())).toEqual(['.env', outside].sort())
  })

  test('broken links, cycles and folders are skipped and counted', () => {
    symlinkSync('nowhere', join(root, '.env'))
    symlinkSync('.env.b', join(root, '.env.a'))
    symlinkSync('.env.a', join(root, '.env.b'))
    mkdirSync(join(root, 'folder'))
    symlinkSync('folder', join(root, '.env.c'))
    const index = newIndex()
    expect(masked(index)).toEqual([])
    expect(index.masks([]).skipped).toMatchObject({ broken: 1, cycles: 2, directories: 1 })
  })

  test('a link that is turned to another target is followed again, though its folder did not change', () => {
    put('one/a.txt')
    put('two/a.txt')
    symlinkSync('one', join(root, 'current'))
    symlinkSync('../current/a.txt', join(put('s/x'), '../.env'))
    const index = newIndex()
    expect(masked(index)).toEqual(['one/a.txt'])
    rmSync(join(root, 'current'))
    symlinkSync('two', join(root, 'current'))
    expect(masked(index)).toEqual(['two/a.txt'])
  })

  test('folders are not followed through links', () => {
    put(join(base, 'other/.env'))
    symlinkSync(join(base, 'other'), join(root, 'link'))
    symlinkSync('..', join(root, 'up'))
    expect(masked(newIndex())).toEqual([])
  })
})

describe('names and folders that cannot be read', () => {
  test('a folder that its owner could open up is masked as a whole', () => {
    put('closed/.env')
    put('list/.env')
    const script = `
      import { MaskIndex } from ${JSON.stringify(new URL('./masks.ts', import.meta.url).href)}
      const index = new MaskIndex({ home: '/nonexistent', roots: [process.argv[1]], deniedShapes: [] })
      index.refresh()
      console.log(JSON.stringify(index.masks([])))`
    chmodSync(base, 0o755)
    chmodSync(join(root, 'closed'), 0o000)
    chmodSync(join(root, 'list'), 0o444)
    const [command, ...args] = asUser(ORDINARY, [process.execPath, '--input-type=module', '-e', script, root])
    const masks = JSON.parse(execFileSync(command!, args, { encoding: 'utf8' })) as { directories: string[] }
    expect(masks.directories.sort()).toEqual([join(root, 'closed'), join(root, 'list')])
  })

  test('names that are not UTF-8 are masked too', () => {
    const folder = Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])])
    mkdirSync(folder)
    const secret = Buffer.concat([folder, Buffer.from('/.env')])
    writeFileSync(secret, 'x')
    const key = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff]), Buffer.from('.key')])
    writeFileSync(key, 'x')
    put('.env')
    symlinkSync(secret, join(root, '.env.link'))
    const names = masked(newIndex()).map((path) => Buffer.from(encodePath(path)).toString('latin1'))
    expect(names).toEqual(['.env', 'caf\u00e9/.env', '\u00ff.key'])
  })

  test('a folder too deep for a path is masked as a whole', () => {
    // The way an attacker would: step by step, then something with a secret is moved in.
    const script =
      'for i in $(seq 40); do d=$(printf "%0200d" $i); mkdir "$d" && cd "$d" || exit 1; done; echo x > .env'
    execFileSync('bash', ['-c', script], { cwd: root })
    const index = newIndex()
    index.refresh()
    const { directories, files } = index.masks([])
    expect(files).toEqual([])
    expect(directories).toHaveLength(1)
    expect(directories[0]!.length).toBeGreaterThan(3_800)
    expect(directories[0]!.length).toBeLessThan(4_096)
    expect(statSync(directories[0]!).isDirectory()).toBe(true)
  })

  test('newlines and other odd names are names', () => {
    put('a\nb/.env')
    put('-rf/.env')
    expect(masked(newIndex())).toEqual(['-rf/.env', 'a\nb/.env'])
  })
})

describe('the index stays true', () => {
  test('a change is seen even when the folder’s times are set back', () => {
    put('sub/a.txt')
    const old = new Date(2001, 1, 1)
    const index = newIndex()
    utimesSync(join(root, 'sub'), old, old)
    expect(masked(index)).toEqual([])
    put('sub/.env')
    utimesSync(join(root, 'sub'), old, old)
    expect(masked(index)).toEqual(['sub/.env'])
  })

  test('a folder moved in place of another is read anew', () => {
    put('a/x/file')
    put('b/x/.env')
    const index = newIndex()
    expect(masked(index)).toEqual(['b/x/.env'])
    renameSync(join(root, 'a'), join(root, 'c'))
    renameSync(join(root, 'b'), join(root, 'a'))
    expect(masked(index)).toEqual(['a/x/.env'])
    rmSync(join(root, 'a'), { recursive: true })
    expect(masked(index)).toEqual([])
  })

  test('after any series of changes it equals a new index', () => {
    fc.assert(
      fc.property(changes, (steps) => {
        rmSync(root, { recursive: true, force: true })
        mkdirSync(root)
        const index = newIndex()
        applyChanges(root, steps, () => index.refresh())
        expect(masked(index)).toEqual(masked(newIndex()))
      }),
      { numRuns: 60 },
    )
  })

  test('in a big tree that is watched the answers are the same', async () => {
    for (let folder = 0; folder < 2_600; folder++)
      mkdirSync(join(root, `f${folder % 50}`, `g${folder}`), { recursive: true })
    const index = newIndex()
    index.refresh()
    for (let round = 0; round < 4; round++) {
      put(`f1/g${1 + 50 * round}/.env`)
      put(`f2/g${2 + 50 * round}/new/er/.env`)
      expect(masked(index)).toHaveLength(2 * (round + 1))
      await new Promise((resolve) => setTimeout(resolve, 120))
    }
    const before = index.refresh()
    expect(before).toBeLessThan(50)
    rmSync(join(root, 'f1'), { recursive: true })
    expect(masked(index)).toEqual(masked(newIndex()))
  })

  test('overlapping roots are covered once', () => {
    expect(new SecretTree([join(root, 'a'), root, root, `${root}-b`]).roots).toEqual([root, `${root}-b`])
  })
})

describe('the index of an earlier process', () => {
  function bigTree(): void {
    for (let folder = 0; folder < 520; folder++) mkdirSync(join(root, `f${folder}`))
    put('f7/.env')
  }
  const facts = () => ({ home: join(base, 'home'), roots: [root], deniedShapes: [] })

  test('is taken over and verified', async () => {
    bigTree()
    const state = join(base, 'state')
    const first = newIndex()
    first.refresh()
    await new Promise((resolve) => setTimeout(resolve, 150))
    first.refresh()
    expect(writeIndexCache(state, facts(), first.tree)).toBe(true)
    put('f9/.env')
    const second = newIndex()
    expect(readIndexCache(state, facts(), second.tree)).toBe(true)
    expect(second.refresh()).toBeLessThan(20)
    expect(masked(second)).toEqual(['f7/.env', 'f9/.env'])
  })

  test('keeps folders that had only just changed', async () => {
    bigTree()
    const state = join(base, 'state')
    const first = newIndex()
    first.refresh()
    await new Promise((resolve) => setTimeout(resolve, 150))
    put('f7/new')
    first.refresh()
    writeIndexCache(state, facts(), first.tree)
    await new Promise((resolve) => setTimeout(resolve, 150))
    const second = newIndex()
    expect(readIndexCache(state, facts(), second.tree)).toBe(true)
    expect(masked(second)).toEqual(['f7/.env'])
  })

  test('is not believed when others could have written it, or when other shapes are asked for', () => {
    bigTree()
    const state = join(base, 'state')
    const first = newIndex()
    first.refresh()
    writeIndexCache(state, facts(), first.tree)
    const [name] = readdirSync(join(state, 'index'))
    const file = join(state, 'index', name!)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readIndexCache(state, { ...facts(), deniedShapes: ['*.x'] }, newIndex().tree)).toBe(false)
    chmodSync(file, 0o620)
    expect(readIndexCache(state, facts(), newIndex().tree)).toBe(false)
    chmodSync(file, 0o600)
    writeFileSync(file, 'not json')
    expect(readIndexCache(state, facts(), newIndex().tree)).toBe(false)
  })
})

describe('secret places', () => {
  test('exist, can be seen, and are not named by a grant', () => {
    const home = join(base, 'home')
    put(join(home, '.ssh/id_rsa'))
    put(join(home, '.ssh/known_hosts'))
    put(join(home, '.aws/credentials'))
    put(join(home, 'notes.txt'))
    const ask = (visible: string[], grants: ReturnType<typeof grant>[] = []) => maskPlaces({ home, visible, grants })
    expect(ask([home])).toMatchObject({ files: [join(home, '.aws/credentials')], directories: [join(home, '.ssh')] })
    expect(ask([join(base, 'project')])).toMatchObject({ files: [], directories: [] })
    expect(ask([home], [grant('~/**')]).directories).toEqual([join(home, '.ssh')])
    const named = ask([home], [grant('~/.ssh/known_hosts')])
    expect(named.directories).toEqual([])
    expect([...named.files].sort()).toEqual([join(home, '.aws/credentials'), join(home, '.ssh/id_rsa')])
  })

  test('a place that is a link is masked at its target', () => {
    const home = join(base, 'home')
    put(join(base, 'vault/keys/id'))
    mkdirSync(home)
    symlinkSync(join(base, 'vault/keys'), join(home, '.ssh'))
    expect(maskPlaces({ home, visible: [base], grants: [] }).directories).toEqual([join(base, 'vault/keys')])
  })

  test(
    'behind a folder that is closed: of another user they are closed to commands, of one’s own nothing runs',
    NEEDS_ROOT,
    () => {
      const home = join(base, 'home')
      put(join(home, '.config/op/key'))
      const script = `
      import { maskPlaces } from ${JSON.stringify(new URL('./secrets.ts', import.meta.url).href)}
      const [home] = process.argv.slice(1)
      console.log(maskPlaces({ home, visible: [home], grants: [] }).directories.length)`
      const [program, ...args] = asUser(ORDINARY, [process.execPath, '--input-type=module', '-e', script, home])
      const ask = () => spawnSync(program!, args, { encoding: 'utf8' })
      for (const folder of [base, home]) chmodSync(folder, 0o755)
      expect(ask()).toMatchObject({ stdout: '1\n', status: 0 })
      chmodSync(join(home, '.config'), 0o700)
      expect(ask()).toMatchObject({ stdout: '0\n', status: 0 })
      chownSync(join(home, '.config'), ORDINARY.uid, ORDINARY.gid)
      chmodSync(join(home, '.config'), 0o000)
      expect(ask()).toMatchObject({ stdout: '', stderr: expect.stringContaining('EACCES'), status: 1 })
    },
  )
})

describe('the watch', () => {
  test('reports what was replaced, removed and created', () => {
    const replaced = put('a/.env')
    const removed = put('b/.env')
    const kept = put('c/.env')
    const watch = new MaskWatch([replaced, removed, kept])
    writeFileSync(kept, 'changed in place: the mask stays')
    put('a/new', 'y')
    renameSync(join(root, 'a/new'), replaced)
    rmSync(removed)
    const created = put('d/.env')
    const index = newIndex()
    index.refresh()
    const changes = watch.close(index.masks([]).files)
    expect(changes.map((change) => [change.what, change.path]).sort()).toEqual([
      ['made', created],
      ['removed', removed],
      ['replaced', replaced],
    ])
  })

  test('says nothing of a secret that was there before and is not watched', async () => {
    const hidden = put('a/.env')
    await new Promise((resolve) => setTimeout(resolve, 60))
    const watch = new MaskWatch([])
    const created = put('b/.env')
    expect(watch.close([hidden, created]).map((change) => change.path)).toEqual([created])
  })

  test('says nothing of a secret whose folder was moved, because the mask went along', () => {
    const secret = put('a/b/.env')
    const watch = new MaskWatch([secret])
    renameSync(join(root, 'a'), join(root, 'c'))
    expect(watch.close([join(root, 'c/b/.env')])).toEqual([])
  })

  test('reports what stayed of a folder that a failed command emptied', () => {
    const keys = ['a/test/one.pem', 'a/test/two.pem', 'b/.npmrc'].map((path) => put(`it's/node_modules/${path}`))
    const besides = put("it's/node_modules/a/index.js")
    const masks = [...keys, put('app/.env')]
    put('app/main.js')
    const watch = new MaskWatch(masks)
    rmSync(besides)
    expect(new MaskWatch(masks).close(masks)).toEqual([])
    const changes = watch.close(masks, true)
    expect(changes.map((change) => [change.what, change.path])).toEqual([['kept', join(root, "it's")]])
    expect(changes[0]!.message).toContain(`rm -r '${root}/it'\\''s'`)
    expect(keptFolders(new Set(masks), Date.now() + 60_000)).toEqual([])
    expect(keptFolders(new Set(keys.slice(1)), 0)).toEqual([
      { folder: join(root, "it's/node_modules/b"), files: [keys[2]] },
    ])
  })

  test('sees a file renamed away and back, which has lost its mask', async () => {
    const secret = put('a/.env')
    const heard: MaskChange[] = []
    const watch = new MaskWatch([secret], undefined, (change) => heard.push(change), 0)
    await new Promise((resolve) => setTimeout(resolve, 50))
    renameSync(secret, `${secret}.moved`)
    renameSync(`${secret}.moved`, secret)
    while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(watch.close([secret]).map((change) => change.what)).toEqual(['replaced'])
  })
})
