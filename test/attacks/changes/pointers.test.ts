/** A `.git` that points into the cache of a tool, where writes are not judged, is refused when it is created. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makePlace, runInside } from '../../contract/changes/sandbox.ts'
import { eachUser, giveTo, own } from '../../users.ts'

const ROWS: readonly { readonly note: string; readonly script: string }[] = [
  { note: 'a file', script: 'echo "gitdir: $CACHE/evil" > .git' },
  { note: 'another case', script: 'echo "gitdir: $CACHE/evil" > .GIT; test -e .git || mv .GIT .git' },
  { note: 'by a rename', script: 'echo "gitdir: $CACHE/evil" > x; mv x .git' },
  { note: 'by a hard link', script: 'echo "gitdir: $CACHE/evil" > x; ln x .git' },
  { note: 'a link', script: 'ln -s "$CACHE/evil" .git' },
  { note: 'a link by a rename', script: 'ln -s "$CACHE/evil" x; mv -T x .git' },
  { note: 'instead of a folder', script: 'mkdir .git; rmdir .git; echo "gitdir: $CACHE/evil" > .git' },
  {
    note: 'in exchange for a folder',
    script:
      'mkdir .git; echo "gitdir: $CACHE/evil" > x; python3 -c "import ctypes;ctypes.CDLL(None).renameat2(-100,b\'x\',-100,b\'.git\',2)"',
  },
  {
    note: 'within a folder that is moved',
    script: 'mkdir a b; echo "gitdir: $CACHE/evil" > a/.git; mv a b/c; ln -s b/c/.git .git',
  },
  {
    note: 'by a descriptor without a name',
    script: `python3 -c "
import os,ctypes
fd=os.open('.',os.O_TMPFILE|os.O_RDWR,0o644)
os.write(fd,('gitdir: '+os.environ['CACHE']+'/evil').encode())
ctypes.CDLL(None).linkat(-100,b'/proc/self/fd/%d'%fd,-100,b'.git',0x400)"`,
  },
  {
    note: 'through an existing file',
    script: 'echo "gitdir: $CACHE/evil" > standing/.git; test -e .git || cp standing/.git .git',
  },
]

const EVIL =
  "mkdir -p $CACHE/evil/objects $CACHE/evil/refs; echo 'ref: refs/heads/main' > $CACHE/evil/HEAD; printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = ./evil\\n' > $CACHE/evil/config"
const HOST = { PATH: process.env.PATH ?? '', HOME: '/nowhere', GIT_CONFIG_NOSYSTEM: '1' }

function standing(mediated: boolean, uid: number): readonly string[] {
  const place = makePlace(uid)
  try {
    const cache = join(place.base, 'cache')
    mkdirSync(cache)
    ROWS.forEach((_, index) => {
      mkdirSync(join(place.project, `row${index}/standing`), { recursive: true })
      writeFileSync(join(place.project, `row${index}/standing/.git`), 'gitdir: ../nowhere\n')
    })
    giveTo(uid, place.project, cache)
    const scripts = ROWS.map(({ script }, index) => `(cd row${index}; ${script}) 2>/dev/null`)
    const all = `export CACHE=${cache}; ${EVIL}\n${scripts.join('\n')}\n echo all`
    expect(runInside(place, ['/bin/sh', '-c', all], { mediated, uid, caches: [cache] }).out).toMatch(/all\n$/)
    return ROWS.filter((_, index) => {
      const words = ['-c', 'safe.directory=*', '-C', join(place.project, `row${index}`), 'config', 'core.fsmonitor']
      const env = { ...HOST, GIT_CEILING_DIRECTORIES: place.project }
      return spawnSync('git', words, { env, encoding: 'utf8' }).stdout !== ''
    }).map(({ note }) => note)
  } finally {
    place.remove()
  }
}

it('control: without the broker each of them points there', () => {
  expect(standing(false, own.uid)).toEqual(ROWS.map(({ note }) => note))
})

eachUser(it)('as $name none does', ({ uid }) => {
  expect(standing(true, uid)).toEqual([])
})

it('with a cache git does its ordinary work, and an existing pointer can be removed', () => {
  const place = makePlace()
  const cache = join(place.base, 'cache')
  mkdirSync(cache)
  mkdirSync(join(place.project, 'old'))
  writeFileSync(join(place.project, 'old/.git'), 'gitdir: ../nowhere\n')
  const script = `set -e; export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.com GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.com
    git init -q r; cd r; git config user.name x; echo a > f; git add f; git commit -qm 1; cd ..; git clone -q r c; git -C c log --oneline | wc -l
    git clone -q --bare r ${cache}/b.git; rm -rf old r/.git c; ls`
  const { out, status, errors } = runInside(place, ['/bin/sh', '-c', script], { caches: [cache] })
  place.remove()
  expect({ out, status, errors }).toEqual({ out: '1\nr\n', status: 0, errors: '' })
})
