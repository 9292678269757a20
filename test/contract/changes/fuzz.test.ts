/** Random system calls, plain and through the init: the same results, the same errors, the same tree. The long form is `npm test -- fuzz-changes`. */

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eachUser } from '../../users.ts'
import { fuzzOnce, stormOnce } from './fuzz.ts'
import { compile, makePlace, type Place, runInside } from './sandbox.ts'

/** Each pair is renamed and linked in turn, and the error is reported: what the fuzzer found first, and its neighbours. */
const PAIRS = `
import errno, os
os.mkdir('dir'); os.symlink('dir', 'to-dir'); open('file', 'w').close(); open('there', 'w').close()
for source in ['missing', '/dev/shm/missing', 'file', 'file/', 'dir', 'dir/', 'dir/.', 'to-dir', 'to-dir/', '.', '..', 'missing/']:
  for target in ['new', 'new/', 'there', 'dir/new', '/dev/shm/new', '/dev/shm/.', '/tmp/new', 'nowhere/new', '/usr/new']:
    for name, call in [('link', lambda: os.link(source, target, follow_symlinks=False)), ('rename', lambda: os.rename(source, target))]:
      if name == 'rename' and source in ('file', 'dir', 'dir/', 'to-dir') and target[0] not in '/': continue
      try: call(); os.unlink(target); said = 'done'
      except OSError as error: said = errno.errorcode[error.errno]
      print(name, source, target, said)
os.symlink('nowhere', 'dangling')
for path in ['dangling/', 'missing/', 'file/', 'dir/', 'to-dir/', 'dir/./', 'dir/../', 'nowhere/x/']:
  for flags in [os.O_CREAT, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, os.O_CREAT | os.O_EXCL | os.O_RDWR, os.O_WRONLY]:
    try: os.close(os.open(path, flags)); said = 'done'
    except OSError as error: said = errno.errorcode[error.errno]
    print('open', path, flags, said)
print(sorted(os.listdir('.')), os.listdir('dir'))
`

eachUser(describe)('as $name', ({ uid }) => {
  let place: Place
  let program: string
  beforeAll(() => {
    place = makePlace(uid)
    program = compile(place, join(import.meta.dirname, 'tree-calls.c'), 'tree-calls')
  })
  afterAll(() => place.remove())

  it.each([1, 2, 3])('answers as the kernel would (seed %i)', (seed) => {
    const { plain, mediated } = fuzzOnce(place, program, seed, 2500, uid)
    expect(mediated.calls).toEqual(plain.calls)
    expect(mediated.tree).toEqual(plain.tree)
    expect(plain.calls.length).toBeGreaterThan(2000)
  })

  it('says what the kernel would of names that are missing, folders, links and other mounts', () => {
    const said = [false, true].map((mediated) => {
      const fresh = makePlace(uid)
      const { out, errors } = runInside(fresh, ['/usr/bin/python3', '-c', PAIRS], { mediated, uid })
      fresh.remove()
      return [...out.split('\n'), errors]
    })
    expect(said[1]).toEqual(said[0])
    for (const line of ['rename missing /dev/shm/new EXDEV', 'link to-dir/ new EPERM', 'open dangling/ 64 EISDIR'])
      expect(said[1]).toContain(line)
    expect(said[1]!.length).toBeGreaterThan(150)
  })

  it('protects names in a storm of threads', () => {
    expect(stormOnce(place, program, 7, 4000, uid)).toEqual([])
  })

  it('says what the kernel would where threads make and remove the same names', () => {
    const fresh = makePlace(uid)
    const storm = compile(fresh, join(import.meta.dirname, 'storm.c'), 'storm')
    expect(runInside(fresh, [storm], { uid })).toEqual({ status: 0, out: 'over\n', errors: '' })
    fresh.remove()
  })
})
