/** What a command plants for others to run is refused at the moment, as root and as a user; without the door it stands. */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place, runInside } from '../../contract/changes/room.ts'

interface Attack {
  readonly name: string
  readonly script: string
  /** What must not be there. */
  readonly planted: string
  /** What the file must not hold, where it may exist. */
  readonly text?: string
}

const REPOSITORY = 'git init -q r && cd r &&'

const attacks: readonly Attack[] = [
  { name: 'direnv', script: 'echo evil > .envrc', planted: '.envrc' },
  { name: 'another case', script: 'echo evil > .ENVRC', planted: '.ENVRC' },
  { name: 'a code point that HFS+ ignores', script: "echo evil > '\u200c.envrc'", planted: '\u200c.envrc' },
  { name: 'by a rename', script: 'echo evil > x; mv x .envrc', planted: '.envrc' },
  { name: 'by a hard link', script: 'echo evil > x; ln x .envrc', planted: '.envrc' },
  { name: 'by a symbolic link', script: 'echo evil > x; ln -s x .envrc', planted: '.envrc' },
  { name: 'through a link to its folder', script: 'mkdir d; ln -s d l; echo evil > l/.envrc', planted: 'd/.envrc' },
  { name: 'an editor task', script: 'mkdir -p .vscode; echo evil > .vscode/tasks.json', planted: '.vscode/tasks.json' },
  {
    name: 'a folder that becomes one',
    script: 'mkdir plain; echo evil > plain/tasks.json; mv plain .vscode',
    planted: '.vscode/tasks.json',
  },
  {
    name: 'exchanged folders',
    script:
      "mkdir -p .vscode p; echo e > p/tasks.json; mv --exchange p .vscode || python3 -c \"import ctypes;ctypes.CDLL(None).renameat2(-100,b'p',-100,b'.vscode',2)\"",
    planted: '.vscode/tasks.json',
  },
  { name: 'a git hook', script: `${REPOSITORY} echo evil > .git/hooks/pre-commit`, planted: 'r/.git/hooks/pre-commit' },
  {
    name: 'a sample that becomes a hook',
    script: `${REPOSITORY} mv .git/hooks/pre-commit.sample .git/hooks/pre-commit`,
    planted: 'r/.git/hooks/pre-commit',
  },
  {
    name: 'a folder of hooks',
    script: 'mkdir -p p/hooks; echo evil > p/hooks/pre-commit; mv p .git',
    planted: '.git/hooks/pre-commit',
  },
  {
    name: 'core.fsmonitor',
    script: `${REPOSITORY} git config core.fsmonitor ./evil`,
    planted: 'r/.git/config',
    text: 'fsmonitor',
  },
  {
    name: 'a key appended by hand',
    script: `${REPOSITORY} printf '[core]\\nfsmonitor=./evil\\n' >> .git/config`,
    planted: 'r/.git/config',
    text: 'fsmonitor',
  },
  {
    name: 'a configuration that is still held open',
    script: `${REPOSITORY} cp .git/config .git/config.lock; exec 3>>.git/config.lock; mv .git/config.lock .git/config; printf '[core]\\nfsmonitor=./evil\\n' >&3`,
    planted: 'r/.git/config',
    text: 'fsmonitor',
  },
  {
    name: 'a proxy for credentials',
    script: `${REPOSITORY} git config http.proxy http://evil.example`,
    planted: 'r/.git/config',
    text: 'evil',
  },
  {
    name: 'another address',
    script: `${REPOSITORY} git config url.https://evil.example/.insteadOf https://example.com/`,
    planted: 'r/.git/config',
    text: 'evil',
  },
  { name: 'a pointer of git', script: `${REPOSITORY} echo '../evil ' > .git/commondir`, planted: 'r/.git/commondir' },
  { name: 'yarn', script: 'echo yarnPath: ./evil.cjs > .yarnrc.yml', planted: '.yarnrc.yml' },
  { name: 'cargo', script: 'mkdir -p .cargo; echo x > .cargo/config.toml', planted: '.cargo/config.toml' },
  { name: 'the manifest', script: 'echo evil > cordon.toml', planted: 'cordon.toml' },
  {
    name: 'a whiteout in its place',
    script: "echo evil > x; python3 -c \"import ctypes;ctypes.CDLL(None).renameat2(-100,b'x',-100,b'.envrc',4)\"",
    planted: '.envrc',
  },
]

function isPlanted(place: Place, { planted, text }: Attack): boolean {
  const path = join(place.project, planted)
  return existsSync(path) && (text === undefined || readFileSync(path, 'utf8').includes(text))
}

describe('controls', () => {
  it.each(attacks)('works without the door: $name', (attack) => {
    const place = makePlace()
    runInside(place, ['/bin/sh', '-c', attack.script], { held: false })
    const planted = isPlanted(place, attack)
    place.remove()
    expect(planted).toBe(true)
  })
})

describe.each([
  ['root', 0],
  ['a user', 65534],
] as const)('as %s', (_, uid) => {
  let place: Place
  beforeEach(() => {
    place = makePlace(uid)
  })
  afterEach(() => place.remove())

  it.each(attacks)('holds: $name', (attack) => {
    runInside(place, ['/bin/sh', '-c', attack.script], { uid })
    expect(isPlanted(place, attack)).toBe(false)
  })

  it('does not remove by the host’s mount what the sandbox shows read-only', () => {
    const script = 'mkdir -p keep/deep; echo x > keep/f; echo x > keep/deep/f; echo x > other'
    runInside(place, ['/bin/sh', '-c', script], { uid, held: false })
    const { folder } = place.store.begin({ roots: [place.project], what: 'read-only' })
    if (uid !== 0) execFileSync('chown', ['-R', `${uid}:${uid}`, place.base])
    const remove = 'rm -f other; rm -f keep/f keep/deep/f; cd keep && rm -f f; cd deep && rm -f f'
    runInside(place, ['/bin/sh', '-c', remove], { uid, folder, readOnly: [join(place.project, 'keep')] })
    const left = ['other', 'keep/f', 'keep/deep/f'].filter((path) => existsSync(join(place.project, path)))
    expect(left).toEqual(['keep/f', 'keep/deep/f'])
  })

  it('still writes to a file that has lost its name', () => {
    runInside(place, ['/bin/sh', '-c', 'echo old > f'], { uid, held: false })
    const { folder } = place.store.begin({ roots: [place.project], what: 'nameless' })
    if (uid !== 0) execFileSync('chown', ['-R', `${uid}:${uid}`, place.base])
    const script = 'exec 3<>f; rm f; echo new > /proc/self/fd/3; cat <&3; test ! -e f'
    expect(runInside(place, ['/bin/sh', '-c', script], { uid, folder })).toMatchObject({ out: 'new\n', status: 0 })
  })

  it('lets git do its ordinary work', () => {
    const script = `set -e; git init -q r; cd r; git config user.name x; git config user.email x@example.com; echo a > f; git add f; git commit -qm 1
      git checkout -qb other; echo b > f; git commit -qam 2; git checkout -q -; git merge -q other; echo c > f; git stash -q; git stash pop -q; git commit -qam 3
      git remote add origin https://example.com/x.git; git worktree add -q ../w other; git gc -q; cd ..; git clone -q r c; git -C c log --oneline | wc -l; rm -rf c w`
    const { out, status } = runInside(place, ['/bin/sh', '-c', script], { uid })
    expect({ out: out.trim(), status }).toEqual({ out: '3', status: 0 })
    expect(
      execFileSync('git', ['-c', 'safe.directory=*', '-C', join(place.project, 'r'), 'status', '--short'], {
        encoding: 'utf8',
      }),
    ).toBe('')
  })
})
