/** Undo: after random commands the tree is as it was before; after a kill at any moment nothing is lost. */

import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { UNJUDGED } from '../../../src/undo/conflicts.ts'
import { Keeper } from '../../../src/undo/keeper.ts'
import { undoCall } from '../../../src/undo/undo.ts'
import { eachUser, giveTo, NEEDS_ROOT, ORDINARY, own } from '../../users.ts'
import { killOnce } from './kill.ts'
import { compile, furnishProject, makePlace, type Place, runInside } from './sandbox.ts'
import { lookAtTree } from './tree-look.ts'
import { undoOneByOne, undoWithPlants } from './undo-rounds.ts'

let place: Place
let program = ''
beforeAll(() => {
  place = makePlace()
  program = compile(place, join(import.meta.dirname, 'tree-calls.c'), 'tree-calls')
})
afterAll(() => place.remove())

it.each([3, 5, 7, 13, 23, 42])('restores what random calls changed, and redoes it (seed %i)', (seed) => {
  furnishProject(place)
  const before = lookAtTree(place.project, 'times')
  const { id, folder } = place.store.begin({ roots: [place.project], what: 'random' })
  // An ordinary user cannot look into a folder that a command closed, and does not undo that (root does).
  runInside(place, [program, String(seed), '400', ...(own.uid === 0 ? [] : ['open'])], { folder })
  const after = lookAtTree(place.project, 'times')
  const undone = undoCall(place.store, UNJUDGED, id)
  expect(undone).toMatchObject({ conflicts: [], failed: [] })
  expect(lookAtTree(place.project, 'times')).toEqual(before)
  expect(after).not.toEqual(before)
  const redone = undoCall(place.store, UNJUDGED, undone.id!)
  expect(redone).toMatchObject({ conflicts: [], failed: [] })
  expect(lookAtTree(place.project, 'no times')).toEqual(after.map((line) => line.replace(/ \d+$/, '')))
})

// 3: what its owner may not read; 47: a file of two names. More: npm test -- fuzz-undo.
it.each([3, 11, 47])('undoes random calls one after the other, and redoes them all (seed %i)', (seed) => {
  expect(undoOneByOne(place, program, seed, [60, 60, 60, 60])).toEqual([])
})

it.each([1, 3])('plants nothing when calls are undone by force that others changed (seed %i)', (seed) => {
  expect(undoWithPlants(place, program, seed)).toEqual([])
})

it('does not take a file that a call failed to remove or replace for one that was changed', () => {
  const theirs = makePlace(ORDINARY.uid)
  furnishProject(theirs)
  giveTo(ORDINARY.uid, theirs.base)
  const [id] = ['echo one > a/b', 'chmod 555 a; mv -f c/c a/b; rm -f a/b; rm a/b/'].map((what) => {
    const { id, folder } = theirs.store.begin({ roots: [theirs.project], what })
    giveTo(ORDINARY.uid, join(theirs.base, 'state'))
    runInside(theirs, ['/bin/sh', '-c', what], { folder, uid: ORDINARY.uid })
    return id
  })
  const text = readFileSync(join(theirs.project, 'a/b'), 'utf8')
  chmodSync(join(theirs.project, 'a'), 0o755)
  const undone = undoCall(theirs.store, UNJUDGED, id!)
  theirs.remove()
  expect({ text, undone }).toMatchObject({ text: 'one\n', undone: { conflicts: [], failed: [] } })
})

it('does not take what a person wrote between two calls for what the first one left', () => {
  furnishProject(place)
  const ids = ['one', 'two'].map((text) => {
    const { id, folder } = place.store.begin({ roots: [place.project], what: text })
    runInside(place, ['/bin/sh', '-c', `echo ${text} > a/b`], { folder })
    if (text === 'one') writeFileSync(join(place.project, 'a/b'), 'of the person\n')
    return id
  })
  expect(undoCall(place.store, UNJUDGED, ids[1]!)).toMatchObject({ conflicts: [], failed: [] })
  const refused = undoCall(place.store, UNJUDGED, ids[0]!)
  expect(refused).toMatchObject({ id: null, conflicts: [{ what: 'changed since' }] })
  expect(readFileSync(join(place.project, 'a/b'), 'utf8')).toBe('of the person\n')
})

eachUser(it)('restores more files than one folder of kept files contains, whatever the umask, as $name', ({ uid }) => {
  const many = makePlace(uid)
  const make = 'mkdir -p many/deep; for i in $(seq 150); do echo $i > many/$i; ln many/$i many/deep/$i; done'
  runInside(many, ['/bin/sh', '-c', make], { mediated: false, uid })
  const before = lookAtTree(many.project, 'times')
  const { id, folder } = many.store.begin({ roots: [many.project], what: 'rm' })
  giveTo(uid, many.base)
  const { status } = runInside(many, ['/bin/sh', '-c', 'umask 777; rm -rf many'], { folder, uid })
  const after = lookAtTree(many.project, 'times')
  const undone = undoCall(many.store, UNJUDGED, id)
  const restored = lookAtTree(many.project, 'times')
  many.remove()
  expect({ status, undone }).toMatchObject({ status: 0, undone: { conflicts: [], failed: [] } })
  expect(after).not.toEqual(before)
  expect(restored).toEqual(before)
})

/** Attributes and access lists of every entry below the working directory. */
const LOOK = `import os
for top, folders, files in os.walk('.'):
  for name in sorted(['.'] + files):
    path = os.path.join(top, name)
    print(path, oct(os.stat(path).st_mode), sorted((key, os.getxattr(path, key)) for key in os.listxattr(path)))`
const ACL =
  "lambda user: bytes.fromhex('02000000' '01000700ffffffff' '02000600') + user.to_bytes(4, 'little') + bytes.fromhex('04000400ffffffff' '10000600ffffffff' '20000400ffffffff')"
const DRESS = `import os
acl = ${ACL}
os.makedirs('gone')
for name in ['set', 'written', 'gone/file', 'plain', 'moved', 'open']: open(name, 'w').write(name)
for name in ['set', 'written', 'gone/file', 'gone', 'moved', 'open']:
  os.setxattr(name, 'user.one', b'old')
  os.setxattr(name, 'system.posix_acl_access', acl(os.getuid()))
os.setxattr('gone', 'system.posix_acl_default', acl(os.getuid()))`
const CHANGE = `import os, shutil
os.umask(0o777)
os.setxattr('set', 'user.one', b'new'); os.setxattr('set', 'user.two', b'new'); os.removexattr('set', 'system.posix_acl_access')
os.setxattr('plain', 'user.one', b'new')
fd = os.open('moved', os.O_RDONLY); os.removexattr(fd, 'user.one'); os.rename('moved', 'elsewhere')
fd = os.open('open', os.O_RDONLY); os.remove('open'); os.setxattr(fd, 'user.one', b'new'); os.removexattr(fd, 'system.posix_acl_access')
open('written', 'w').write('changed'); os.chmod('written', 0o600)
shutil.rmtree('gone'); os.umask(0o022); os.mkdir('gone'); os.setxattr('gone', 'user.one', b'mine')`

eachUser(it)('restores attributes and access lists, and redoes it, as $name', ({ uid }) => {
  const own = makePlace(uid)
  const python = (script: string, mediated: boolean, folder: string | null = null) =>
    runInside(own, ['/usr/bin/env', 'python3', '-c', script], { mediated, uid, folder })
  const look = () => python(LOOK, false).out
  expect(python(DRESS, false)).toMatchObject({ status: 0 })
  const before = look()
  const { id, folder } = own.store.begin({ roots: [own.project], what: 'attributes' })
  giveTo(uid, own.base)
  const changed = python(CHANGE, true, folder)
  const after = look()
  const undone = undoCall(own.store, UNJUDGED, id)
  // This process is root, and what it makes is root's.
  giveTo(uid, own.project)
  const restored = look()
  const redone = undoCall(own.store, UNJUDGED, undone.id!, { force: true })
  giveTo(uid, own.project)
  const again = look()
  own.remove()
  expect(changed).toMatchObject({ status: 0, errors: '' })
  expect(undone).toMatchObject({ conflicts: [], failed: [] })
  expect(after).not.toBe(before)
  expect(before).toContain('posix_acl_default')
  expect(restored).toBe(before)
  expect(redone).toMatchObject({ failed: [] })
  expect(again).toBe(after)
})

it('refuses to overwrite what changed since, and does it when asked to', () => {
  furnishProject(place)
  const { id, folder } = place.store.begin({ roots: [place.project], what: 'write' })
  runInside(place, ['/bin/sh', '-c', 'echo theirs > a/a; rm b/b'], { folder })
  writeFileSync(join(place.project, 'a/a'), 'mine\n')
  const refused = undoCall(place.store, UNJUDGED, id)
  expect(refused.id).toBeNull()
  expect(refused.conflicts).toEqual([{ path: join(place.project, 'a/a'), what: 'changed since' }])
  expect(undoCall(place.store, UNJUDGED, id, { force: true }).failed).toEqual([])
  expect(lookAtTree(place.project, 'no times').join('\n')).not.toContain('mine')
})

it.each([0, 7, 30, 60, 130, 240])(
  'loses nothing when everything is killed %i ms after its first change',
  async (delay) => {
    furnishProject(place)
    const { before, after, failed, changes } = await killOnce(place, delay)
    expect(changes).toBeGreaterThan(0)
    expect(failed).toEqual([])
    expect(after).toEqual(before)
  },
)

it('restores the group that a command changed', NEEDS_ROOT, () => {
  furnishProject(place)
  const file = join(place.project, 'a/b')
  chownSync(file, own.uid, own.uid)
  const { id, folder } = place.store.begin({ roots: [place.project], what: 'chown' })
  const record = new Keeper(folder)
  record.willSetMode(file)
  chownSync(file, own.uid, 12_345)
  record.close()
  expect(undoCall(place.store, UNJUDGED, id)).toMatchObject({ conflicts: [], failed: [] })
  expect(statSync(file).gid).toBe(own.uid)
})
