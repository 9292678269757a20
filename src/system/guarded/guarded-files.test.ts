import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPaths } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NEEDS_ROOT } from '../../../test/users.ts'
import { Fault } from '../fault.ts'
import { type CheckedPath, checkedPath } from './checked-path.ts'
import { openGuardedFiles } from './guarded-files.ts'
import { openTemporaryJournal, reapTemporaries } from './journal.ts'

const files = openGuardedFiles()
const join = (...parts: readonly string[]): CheckedPath => checkedPath(joinPaths(...parts))
let base: string
let root: string
let outside: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-files-')))
  root = join(base, 'root')
  outside = join(base, 'outside')
  mkdirSync(join(root, 'dir'), { recursive: true })
  mkdirSync(outside)
  writeFileSync(join(root, 'dir/file'), 'inside')
  writeFileSync(join(outside, 'file'), 'SECRET')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function faultOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Fault) return error.code
    throw error
  }
  return 'done'
}

describe('a path that changed after it was judged', () => {
  const swaps: readonly [note: string, swap: () => void][] = [
    ['its directory became a link to the outside', () => swap('dir', outside)],
    ['its directory became a relative link', () => swap('dir', '../outside')],
    ['the file became a link', () => swap('dir/file', join(outside, 'file'))],
    ['the file became a link that points nowhere', () => swap('dir/file', join(outside, 'new'))],
    [
      'a directory above the root became a link',
      () => {
        renameSync(root, `${root}.real`)
        symlinkSync(outside, root)
        mkdirSync(join(outside, 'dir'))
        writeFileSync(join(outside, 'dir/file'), 'SECRET')
      },
    ],
  ]
  const acts: Readonly<Record<string, (path: CheckedPath) => unknown>> = {
    stat: (path) => files.stat(path),
    read: (path) => files.read(path),
    readStart: (path) => files.readStart(path, 10),
    write: (path) => files.write(path, Buffer.from('x')),
    exclusive: (path) => files.write(path, Buffer.from('x'), { exclusive: true }),
    remove: (path) => files.remove(path),
    'remove recursive': (path) => files.remove(path, { recursive: true }),
    'copy from': (path) => files.copy(path, join(root, 'copied')),
    'copy to': (path) => files.copy(join(base, 'other'), path),
    'move from': (path) => files.move(path, join(root, 'moved')),
    'move to': (path) => files.move(join(base, 'other'), path),
    changeMode: (path) => files.changeMode(path, 0o777),
    list: (path) => files.list(path),
    'make a directory': (path) => files.makeDirectory(join(path, 'sub')),
  }
  for (const [note, change] of swaps) {
    it.each(Object.entries(acts))(`${note}: %s`, (_name, act) => {
      writeFileSync(join(base, 'other'), 'other')
      change()
      const before = snapshot(outside)
      expect(faultOf(() => act(join(root, 'dir/file')))).toBe('path-changed')
      expect(snapshot(outside)).toEqual(before)
      expect(readFileSync(join(base, 'other'), 'utf8')).toBe('other')
    })
  }

  it('is not taken for one when nothing changed', () => {
    for (const name of ['stat', 'read', 'readStart', 'write', 'changeMode', 'copy from', 'move from']) {
      expect(
        faultOf(() => acts[name]!(join(root, 'dir/file'))),
        name,
      ).toBe('done')
    }
  })
})

describe('what is not a regular file', () => {
  it.each([
    ['a FIFO', (path: string) => void execFileSync('mkfifo', [path])],
    ['a socket or device', (path: string) => symlinkSync('/dev/null', path)],
    ['a directory', (path: string) => mkdirSync(path)],
  ])('%s is neither read nor written', (_note, make) => {
    const path = join(root, 'odd')
    make(path)
    expect(faultOf(() => files.read(path))).not.toBe('done')
    expect(faultOf(() => files.write(path, Buffer.from('x')))).not.toBe('done')
    expect(faultOf(() => files.copy(path, join(root, 'copy')))).not.toBe('done')
  })

  it('a device is not opened by its own path', () => {
    expect(faultOf(() => files.read(join('/dev/null')))).toBe('not-a-file')
    expect(faultOf(() => files.write(join('/dev/null'), Buffer.from('x')))).toBe('not-a-file')
  })
})

describe('paths that are not canonical', () => {
  it.each(['relative', '/a/../b', '/a/./b', '/a//b', '/a/', '/a\0b', '/a\ud800', `/${'a/'.repeat(3000)}b`, ''])(
    '%j',
    (path) => {
      expect(faultOf(() => files.read(checkedPath(path)))).toBe('not-canonical')
      expect(faultOf(() => files.write(checkedPath(path), Buffer.from('x')))).toBe('not-canonical')
    },
  )

  it.each(['/proc/self/environ', '/proc/1/mem', '/sys/kernel/x'])('%s is a file of the kernel', (path) => {
    expect(faultOf(() => files.read(checkedPath(path)))).toBe('kernel-file')
    expect(faultOf(() => files.list(checkedPath(path)))).toBe('kernel-file')
  })

  it('names with newlines, quotes and odd characters are names', () => {
    const path = join(root, 'dir', 'a\nb "c" \u202e$(x)')
    files.write(path, Buffer.from('x'))
    expect(files.read(path).bytes.toString()).toBe('x')
    expect(files.list(join(root, 'dir')).map((entry) => entry.name)).toContain('a\nb "c" \u202e$(x)')
  })
})

describe('writing', () => {
  it('keeps the permission bits and drops setuid', () => {
    const path = join(root, 'dir/file')
    chmodSync(path, 0o4751)
    files.write(path, Buffer.from('new'))
    expect(statSync(path).mode & 0o7777).toBe(0o751)
  })

  it('keeps the owner, where root writes', NEEDS_ROOT, () => {
    const path = join(root, 'dir/file')
    chownSync(path, 12345, 54321)
    files.write(path, Buffer.from('new'))
    expect(statSync(path)).toMatchObject({ uid: 12345, gid: 54321 })
  })

  it.each([
    { change: 'write', by: (path: CheckedPath) => files.write(path, Buffer.from('new')) },
    { change: 'prepare', by: (path: CheckedPath) => files.prepare(path, Buffer.from('new')).commit() },
    { change: 'copy', by: (path: CheckedPath) => files.copy(join(root, 'dir/file'), path) },
    { change: 'changeMode', by: (path: CheckedPath) => files.changeMode(path, 0o777) },
  ])('$change leaves the other names of a file alone', ({ by }) => {
    const [other, path] = [join(outside, 'file'), join(root, 'linked')]
    linkSync(other, path)
    const before = statSync(other)
    by(path)
    expect([readFileSync(other, 'utf8'), statSync(other).mode, statSync(other).mtimeMs]).toEqual([
      'SECRET',
      before.mode,
      before.mtimeMs,
    ])
    expect(statSync(path).ino).not.toBe(before.ino)
  })

  it('changes the mode of a copy that is otherwise the same, and none that is set already', () => {
    const [other, path] = [join(outside, 'file'), join(root, 'linked')]
    linkSync(other, path)
    const { ino, mode, mtimeMs } = statSync(other)
    files.changeMode(path, mode & 0o777)
    expect(statSync(path).ino).toBe(ino)
    files.changeMode(path, 0o751)
    expect(statSync(path)).toMatchObject({ mode: 0o100751, mtimeMs, nlink: 1 })
    expect(readFileSync(path, 'utf8')).toBe('SECRET')
  })

  it('never sets special bits', () => {
    expect(faultOf(() => files.changeMode(join(root, 'dir/file'), 0o4755))).toBe('special-bits')
  })

  it('notices a file that somebody else changed', () => {
    const path = join(root, 'dir/file')
    const { facts } = files.read(path)
    writeFileSync(path, 'theirs')
    expect(faultOf(() => files.write(path, Buffer.from('mine'), { replaces: facts.stamp }))).toBe('file-changed')
    expect(readFileSync(path, 'utf8')).toBe('theirs')
  })

  it('notices a file that was created meanwhile', () => {
    const path = join(root, 'dir/new')
    const prepared = files.prepare(path, Buffer.from('mine'), { exclusive: true })
    writeFileSync(path, 'theirs')
    expect(faultOf(() => prepared.commit())).toBe('exists')
    prepared.abort()
    expect(readFileSync(path, 'utf8')).toBe('theirs')
    expect(readdirSync(join(root, 'dir'))).toEqual(['file', 'new'])
  })

  it('removes directories it created when it fails', () => {
    expect(faultOf(() => files.write(join(root, 'a/b', 'n'.repeat(300)), Buffer.from('x')))).toBe('not-canonical')
    expect(existsSync(join(root, 'a'))).toBe(false)
  })

  it('takes everything back when a prepared write is given up', () => {
    files.prepare(join(root, 'a/b/c'), Buffer.from('x')).abort()
    expect(readdirSync(root)).toEqual(['dir'])
  })
})

describe('removing', () => {
  it('unlinks links below a directory and follows none', () => {
    symlinkSync(outside, join(root, 'dir/out'))
    symlinkSync(join(outside, 'file'), join(root, 'dir/out-file'))
    files.remove(join(root, 'dir'), { recursive: true })
    expect(existsSync(join(root, 'dir'))).toBe(false)
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('SECRET')
  })

  it('removes only empty directories unless asked to do more', () => {
    expect(faultOf(() => files.remove(join(root, 'dir')))).toBe('not-empty')
  })
})

describe('copying', () => {
  it('refuses a file that would take the disk, though it takes none itself', () => {
    const path = join(root, 'sparse')
    writeFileSync(path, '')
    truncateSync(path, 2 ** 40)
    expect(() => files.copy(path, join(root, 'copied'))).toThrow(/at most/)
    expect(readdirSync(root).sort()).toEqual(['dir', 'sparse'])
  })
})

describe('moving', () => {
  it('overwrites nothing', () => {
    writeFileSync(join(root, 'other'), 'other')
    expect(faultOf(() => files.move(join(root, 'dir/file'), join(root, 'other')))).toBe('exists')
    expect(readFileSync(join(root, 'other'), 'utf8')).toBe('other')
  })

  it('does not follow a link at the destination', () => {
    symlinkSync(join(outside, 'new'), join(root, 'link'))
    expect(faultOf(() => files.move(join(root, 'dir/file'), join(root, 'link')))).toBe('path-changed')
    expect(readlinkSync(join(root, 'link'))).toBe(join(outside, 'new'))
  })
})

describe('the journal of temporary files', () => {
  it('lets the next start remove what a killed process left, and nothing else', () => {
    const state = join(base, 'state')
    mkdirSync(state)
    const left = join(root, 'dir/.cordon-0123456789abcdef.tmp')
    writeFileSync(left, 'half')
    const lines = [left, join(root, 'dir/file'), join(outside, 'file'), '/etc/passwd']
    writeFileSync(join(state, '999999999-1-x'), `${lines.map((path) => JSON.stringify(path)).join('\n')}\n"cut off`)
    expect(reapTemporaries(state)).toEqual([left])
    expect(readdirSync(join(root, 'dir'))).toEqual(['file'])
    expect(readdirSync(state)).toEqual([])
  })

  it('leaves the files of a process that runs alone', () => {
    const state = join(base, 'state')
    const journal = openTemporaryJournal(state)
    const prepared = openGuardedFiles(journal).prepare(join(root, 'new'), Buffer.from('x'))
    expect(reapTemporaries(state)).toEqual([])
    prepared.commit()
    expect(readFileSync(join(root, 'new'), 'utf8')).toBe('x')
    journal.close()
    expect(readdirSync(state)).toEqual([])
  })

  it('does not show a temporary file in a listing', () => {
    const prepared = files.prepare(join(root, 'new'), Buffer.from('x'))
    expect(files.list(join(root)).map((entry) => entry.name)).toEqual(['dir'])
    prepared.abort()
  })
})

function swap(name: string, target: string): void {
  renameSync(join(root, name), join(base, 'swapped'))
  symlinkSync(target, join(root, name))
}

function snapshot(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => {
      const facts = statSync(join(directory, name))
      return [name, facts.isFile() ? `${facts.mode} ${readFileSync(join(directory, name), 'utf8')}` : `${facts.mode}`]
    }),
  )
}
