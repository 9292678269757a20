/** Undo of what is lost in roundabout ways: by descriptors, mappings, other names. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { undoCall } from '../../../src/undo/undo.ts'
import { makePlace, runInside } from './room.ts'
import { lookAtTree } from './tree-look.ts'

/** Ways to write that name no path, or one that leads to what is kept: what was there before must not be lost by them. */
const WAYS: readonly { readonly note: string; readonly script: string }[] = [
  { note: 'removed, then written by a descriptor for reading', script: 'exec 3<f; rm f; echo new > /proc/self/fd/3' },
  { note: 'removed, then appended to', script: 'exec 3<f; rm f; echo new >> /proc/self/fd/3' },
  { note: 'removed, then made shorter', script: 'exec 3<f; rm f; truncate -s 1 /proc/self/fd/3' },
  { note: 'replaced, then written', script: 'exec 3<f; echo other > x; mv x f; echo new > /proc/self/fd/3' },
  { note: 'emptied by an open for reading', script: 'python3 -c "import os;os.open(\'f\',os.O_RDONLY|os.O_TRUNC)"' },
  {
    note: 'through a mapping',
    script: "python3 -c \"import os,mmap;m=mmap.mmap(os.open('f',os.O_RDWR),0);m[0:3]=b'XXX';m.flush()\"",
  },
  {
    note: 'a hole',
    script:
      'python3 -c "import os,ctypes;ctypes.CDLL(None).fallocate(os.open(\'f\',os.O_RDWR),3,ctypes.c_long(0),ctypes.c_long(2))"',
  },
  {
    note: 'copied over by the kernel',
    script:
      "echo other > x; python3 -c \"import os;os.copy_file_range(os.open('x',os.O_RDONLY),os.open('f',os.O_WRONLY),5)\"",
  },
  { note: 'by a second name', script: 'ln f x; rm f; echo new > x; rm x' },
  { note: 'under a name as long as can be', script: 'n=$(printf %0255d 1); mv f $n; echo new > $n; rm $n' },
]

it.each([0, 65534])('keeps what is lost in roundabout ways (uid %i)', (uid) => {
  const place = makePlace(uid)
  try {
    WAYS.forEach((_, index) => {
      mkdirSync(join(place.project, `row${index}`))
      writeFileSync(join(place.project, `row${index}/f`), 'the old content\n', { mode: 0o640 })
    })
    const { id, folder } = place.store.begin({ roots: [place.project], what: 'ways' })
    if (uid !== 0) execFileSync('chown', ['-R', `${uid}:${uid}`, place.base])
    const before = lookAtTree(place.project, 'times')
    const script = WAYS.map((way, index) => `(cd row${index}; ${way.script})`).join('\n')
    const ran = runInside(place, ['/bin/sh', '-c', script], { uid, folder })
    expect(ran.errors).toBe('')
    expect(lookAtTree(place.project, 'times')).not.toEqual(before)
    const undone = undoCall(place.store, id)
    // This process is root, and what it makes is root's.
    if (uid !== 0) execFileSync('chown', ['-R', `${uid}:${uid}`, place.project])
    expect(undone).toMatchObject({ conflicts: [], failed: [] })
    expect(lookAtTree(place.project, 'times')).toEqual(before)
  } finally {
    place.remove()
  }
})
