/** Undo of what is lost in roundabout ways: by descriptors, mappings, other names. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { UNJUDGED } from '../../../src/undo/conflicts.ts'
import { undoCall } from '../../../src/undo/undo.ts'
import { eachUser, giveTo } from '../../users.ts'
import { makePlace, runInside } from './sandbox.ts'
import { lookAtTree } from './tree-look.ts'

/** Ways to write that name no path, or one that points to what is kept: what was there before must not be lost by them. */
const WAYS: readonly { readonly note: string; readonly script: string }[] = [
  { note: 'removed, then written by a descriptor for reading', script: 'exec 3<f; rm f; echo new > /proc/self/fd/3' },
  { note: 'removed, then appended to', script: 'exec 3<f; rm f; echo new >> /proc/self/fd/3' },
  { note: 'removed, then shortened', script: 'exec 3<f; rm f; truncate -s 1 /proc/self/fd/3' },
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
  {
    note: 'opened for writing, removed, and only then written',
    script: 'exec 3<>f; rm f; echo new >&3; echo new > f',
  },
  {
    note: 'opened for writing, replaced, and only then written',
    script: 'exec 3<>f; echo x > x; mv x f; echo new >&3',
  },
  {
    note: 'sent and spliced into',
    script: `echo other > x; python3 -c "import os
o=os.open('f',os.O_WRONLY); os.sendfile(o,os.open('x',0),0,3); r,w=os.pipe(); os.write(w,b'pipe'); os.splice(r,o,4)"`,
  },
  {
    note: 'cloned over, where the file system can, and in part',
    script: `echo other > x; python3 -c "import os,fcntl,struct
f=os.open('f',os.O_RDWR); x=os.open('x',0)
for request, word in (0x40049409, x), (0x4020940d, struct.pack('qQQQ',x,0,0,0)):
  try: fcntl.ioctl(f,request,word)
  except OSError: os.pwrite(f,b'other',0)"`,
  },
  {
    note: 'mode and times of one that is removed and still open',
    script: `python3 -c "import os
f=os.open('f',0); os.unlink('f'); os.fchmod(f,0o777); os.utime(f,(1,1)); os.chown(f,os.getuid(),os.getgid())"`,
  },
  {
    note: 'the same by its name below /proc',
    script: 'exec 3<f; rm f; chmod 777 /proc/self/fd/3; touch -d 2001-01-01 /proc/self/fd/3',
  },
  { note: 'mode, owner and times', script: 'chmod 600 f; chown $(id -u):$(id -g) f; touch -d 2001-01-01 f' },
  {
    note: 'created without a name and linked there',
    script: `python3 -c "import os,ctypes
t=os.open('.',os.O_TMPFILE|os.O_RDWR); os.write(t,b'new'); os.unlink('f'); ctypes.CDLL(None).linkat(-100,b'/proc/self/fd/%d'%t,-100,b'f',0x400)"`,
  },
  {
    note: 'two that change places, and both written',
    script: `echo other > x; python3 -c "import ctypes;ctypes.CDLL(None).renameat2(-100,b'x',-100,b'f',2)"; echo a > x; echo b > f`,
  },
  { note: 'by a second name', script: 'ln f x; rm f; echo new > x; rm x' },
  { note: 'under a name as long as can be', script: 'n=$(printf %0255d 1); mv f $n; echo new > $n; rm $n' },
]

eachUser(it)('keeps what is lost in roundabout ways, as $name', ({ uid }) => {
  const place = makePlace(uid)
  try {
    WAYS.forEach((_, index) => {
      mkdirSync(join(place.project, `row${index}`))
      writeFileSync(join(place.project, `row${index}/f`), 'the old content\n', { mode: 0o640 })
    })
    const { id, folder } = place.store.begin({ roots: [place.project], what: 'ways' })
    giveTo(uid, place.base)
    const before = lookAtTree(place.project, 'times')
    const script = WAYS.map((way, index) => `(cd row${index}; ${way.script})`).join('\n')
    const ran = runInside(place, ['/bin/sh', '-c', script], { uid, folder })
    expect(ran.errors).toBe('')
    expect(lookAtTree(place.project, 'times')).not.toEqual(before)
    const undone = undoCall(place.store, UNJUDGED, id)
    // This process is root, and what it makes is root's.
    giveTo(uid, place.project)
    expect(undone).toMatchObject({ conflicts: [], failed: [] })
    expect(lookAtTree(place.project, 'times')).toEqual(before)
  } finally {
    place.remove()
  }
})
