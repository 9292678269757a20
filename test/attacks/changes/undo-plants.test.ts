/** Undo and redo make nothing that a command could not: what others put into a folder meanwhile does not come to a protected name. */

import { spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CLI, Project } from '../../e2e/cordon.ts'
import { until } from '../../until.ts'

let project: Project
beforeEach(() => {
  project = new Project({ 'cordon.toml': 'schema_version = 1\n[permission]\nmode = "contained"\n', 'a.txt': 'a\n' })
  project.cordon(['sign', '--yes'])
})
afterEach(() => project.remove())

const at = (path: string) => join(project.directory, path)
const run = (script: string) => project.cordon(['run', '--', 'sh', '-c', script])
const done = (script: string) => expect(run(script)).toMatchObject({ code: 0 })
const calls = (): string[] =>
  [...project.cordon(['undo', '--list']).out.matchAll(/^\d{8}-\d{6}-\S+/gm)].map(([id]) => id)

interface Plant {
  readonly note: string
  /** Of the person, before anything. */
  readonly mine?: Readonly<Record<string, string>>
  readonly link?: readonly [path: string, target: string]
  /** The call that is undone. */
  readonly call: string
  /** A later call. */
  readonly since: string
  readonly planted: string
}

const EVIL = 'printf "[build]\\nrustc-wrapper = \\"./evil\\"\\n"'

const plants: readonly Plant[] = [
  {
    note: 'a folder is moved back under a name that protects what is in it',
    mine: { '.cargo/audit.toml': 'x' },
    call: 'mv .cargo z',
    since: `${EVIL} > z/config.toml`,
    planted: '.cargo/config.toml',
  },
  {
    note: 'deeper in such a folder',
    mine: { 'a/.vscode/notes': 'x' },
    call: 'mv a/.vscode b; rmdir a',
    since: 'echo evil > b/tasks.json',
    planted: 'a/.vscode/tasks.json',
  },
  {
    note: 'by two moves',
    mine: { '.cargo/audit.toml': 'x' },
    call: 'mv .cargo y; mv y z',
    since: `${EVIL} > z/config.toml`,
    planted: '.cargo/config.toml',
  },
  {
    note: 'by an exchange',
    mine: { '.cargo/audit.toml': 'x', 'z/plain': 'x' },
    call: "mv --exchange .cargo z 2>/dev/null || python3 -c \"import ctypes; exit(ctypes.CDLL(None).renameat2(-100, b'.cargo', -100, b'z', 2))\"",
    since: `${EVIL} > z/config.toml`,
    planted: '.cargo/config.toml',
  },
  {
    note: 'out of a folder of packages',
    mine: { 'lib/plain': 'x' },
    call: 'mkdir node_modules; mv lib node_modules/lib',
    since: 'echo evil > node_modules/lib/.envrc',
    planted: 'lib/.envrc',
  },
  {
    note: 'a link comes back, behind which something was put',
    mine: { 'x/plain': 'x' },
    link: ['.vscode', 'x'],
    call: 'rm .vscode',
    since: 'echo evil > x/tasks.json',
    planted: '.vscode/tasks.json',
  },
  {
    note: 'a stopped rebase',
    mine: {
      '.git/HEAD': 'ref: refs/heads/m\n',
      '.git/objects/x': '',
      '.git/refs/x': '',
      '.git/rebase-merge/onto': 'x',
    },
    call: 'mv .git/rebase-merge z',
    since: 'echo "exec evil" > z/git-rebase-todo',
    planted: '.git/rebase-merge/git-rebase-todo',
  },
  {
    note: 'a link in a git directory',
    mine: { '.git/HEAD': 'ref: refs/heads/m\n', '.git/objects/x': '', '.git/refs/x': '', '.git/logs/x': 'x' },
    call: 'mv .git/logs z',
    since: 'ln -s ../../elsewhere z/HEAD',
    planted: '.git/logs/HEAD',
  },
  {
    note: 'a link that resolves to the home from its earlier place',
    mine: { 'a/b/d/x': 'x' },
    call: 'mv a/b/d d',
    since: `ln -s "$(python3 -c 'import os; print(os.path.relpath(os.environ["HOME"], "a/b/d"))')/.bashrc" d/l`,
    planted: 'a/b/d/l',
  },
]

describe.each([[[]], [['--force']]])('undo %j', (options) => {
  it.each(plants)('$note', ({ mine = {}, link, call, since, planted }) => {
    for (const [path, text] of Object.entries(mine)) {
      mkdirSync(dirname(at(path)), { recursive: true })
      writeFileSync(at(path), text)
    }
    if (link) symlinkSync(link[1], at(link[0]))
    done(call)
    const [id] = calls()
    done(since)
    const undone = project.cordon(['undo', id!, ...options])
    expect(undone.code, undone.out + undone.err).not.toBe(0)
    expect(lstatSync(at(planted), { throwIfNoEntry: false })).toBeUndefined()
    expect(undone.err).toContain(planted.split('/')[0]!)
  })
})

it.each(plants)('control: without the later call it is restored: $note', ({ mine = {}, link, call }) => {
  for (const [path, text] of Object.entries(mine)) {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
  }
  if (link) symlinkSync(link[1], at(link[0]))
  done(call)
  const undone = project.cordon(['undo', '--last'])
  expect(undone.code, undone.out + undone.err).toBe(0)
  if (link) expect(readlinkSync(at(link[0]))).toBe(link[1])
  for (const path of Object.keys(mine)) expect(lstatSync(at(path)).isFile()).toBe(true)
})

it('redo plants nothing either', () => {
  done('mkdir z; echo x > z/audit.toml')
  done('mv z .cargo')
  expect(project.cordon(['undo', '--last']).code).toBe(0)
  done(`${EVIL} > z/config.toml`)
  const redone = project.cordon(['undo', '--redo', '--force'])
  expect(redone.code, redone.out + redone.err).not.toBe(0)
  expect(existsSync(at('.cargo/config.toml'))).toBe(false)
})

it('nothing is moved under such a name while another command of the project runs', async () => {
  mkdirSync(at('.cargo'))
  writeFileSync(at('.cargo/audit.toml'), 'x')
  const server = spawn(process.execPath, [CLI, 'run', '--', 'sh', '-c', 'echo > ready; exec sleep 10000'], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.home },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  try {
    await until('the other command runs', () => existsSync(at('ready')))
    done('mv .cargo z')
    const [id] = calls()
    const undone = project.cordon(['undo', id!])
    expect(undone.code, undone.out + undone.err).not.toBe(0)
    expect(existsSync(at('.cargo'))).toBe(false)
  } finally {
    server.kill()
    await ended
  }
})

it('a configuration of git that the person changed since is not replaced, even when asked to', () => {
  for (const folder of ['.git/objects', '.git/refs']) mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('.git/HEAD'), 'ref: refs/heads/m\n')
  writeFileSync(at('.git/config'), '[core]\n\tbare = false\n\tfsmonitor = ./x\n')
  done('git config user.name x')
  writeFileSync(at('.git/config'), '[core]\n\tbare = false\n')
  expect(project.cordon(['undo', '--last', '--force']).code).not.toBe(0)
  expect(readFileSync(at('.git/config'), 'utf8')).not.toContain('fsmonitor')
})
