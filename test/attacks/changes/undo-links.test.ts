/** Links that a command puts instead of folders and files after a call: undo never writes, makes or removes behind one. */

import { existsSync, linkSync, lstatSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

let project: Project
let outside: string
beforeEach(() => {
  project = new Project({
    'cordon.toml': 'schema_version = 1\n[permission]\nmode = "contained"\n',
    'e/pre-commit': '#!/bin/sh\necho taken over\n',
    'd/removed': 'mine\n',
    'd/w': 'old\n',
    w: 'old\n',
  })
  project.cordon(['sign', '--yes'])
  outside = join(project.home, 'outside')
  mkdirSync(outside)
  for (const name of ['fresh', 'w']) writeFileSync(join(outside, name), 'theirs\n')
  for (const name of ['fresh', 'w']) utimesSync(join(outside, name), 1, 1)
})
afterEach(() => project.remove())

const run = (script: string) => expect(project.cordon(['run', '--', 'sh', '-c', script]).code).toBe(0)
/** The call of the last run that changed something. */
const lastCall = (): string => /\d{8}-\d{6}-\S+/.exec(project.cordon(['undo', '--list']).out)![0]
const theirs = (name: string) => readFileSync(join(outside, name), 'utf8')

describe.each([[[]], [['--force']]])('undo %j', (options) => {
  it('makes, changes and removes nothing in a folder outside', () => {
    run('rm d/removed; echo x > d/fresh; echo changed > d/w')
    const call = lastCall()
    run(`mv d d2; ln -s '${outside}' d`)
    const undone = project.cordon(['undo', call, ...options])
    expect(undone.code, undone.out + undone.err).not.toBe(0)
    expect([theirs('fresh'), theirs('w'), existsSync(join(outside, 'removed'))]).toEqual([
      'theirs\n',
      'theirs\n',
      false,
    ])
  })

  it('makes no hook of git', () => {
    mkdirSync(join(project.directory, '.git/hooks'), { recursive: true })
    run('rm e/pre-commit')
    const call = lastCall()
    run('rmdir e; ln -s .git/hooks e')
    expect(project.cordon(['undo', call, ...options]).code).not.toBe(0)
    expect(existsSync(join(project.directory, '.git/hooks/pre-commit'))).toBe(false)
  })

  it('changes no file behind a link that took the place of one', () => {
    run('echo new > w')
    const call = lastCall()
    run(`ln -sf '${outside}/w' w`)
    project.cordon(['undo', call, ...options])
    expect(theirs('w')).toBe('theirs\n')
  })

  it.each(['echo new > w', 'chmod 700 w', 'touch -d 2001-01-01 w'])(
    'changes no file with a second name outside that took the place of one (%s)',
    (change) => {
      run(change)
      const call = lastCall()
      const file = join(outside, 'w')
      const before = lstatSync(file)
      rmSync(join(project.directory, 'w'))
      linkSync(file, join(project.directory, 'w'))
      project.cordon(['undo', call, ...options])
      const { mode, mtimeMs } = lstatSync(file)
      expect([theirs('w'), mode, mtimeMs]).toEqual(['theirs\n', before.mode, before.mtimeMs])
    },
  )

  it('plants nothing in a hook whose second name a command moved', () => {
    mkdirSync(join(project.directory, '.husky'))
    writeFileSync(join(project.directory, '.husky/pre-commit'), 'true\n')
    linkSync(join(project.directory, '.husky/pre-commit'), join(project.directory, 'plain'))
    writeFileSync(join(project.directory, 'w'), 'evil\n')
    run('echo harmless > w')
    const call = lastCall()
    project.cordon(['run', '--', 'mv', 'plain', 'w'])
    project.cordon(['undo', call, ...options])
    expect(readFileSync(join(project.directory, '.husky/pre-commit'), 'utf8')).toBe('true\n')
  })
})

it('links in a circle do not keep a call from being undone', () => {
  run('mkdir a; echo x > a/x; mv a/x a/y')
  const call = lastCall()
  run('rm -r a; ln -s a a')
  const undone = project.cordon(['undo', call, '--force'])
  expect(undone.out + undone.err).not.toContain('too many symbolic links')
})

it('control: a file with a second name that the call gave it is restored', () => {
  run('ln w v; echo new > w; chmod 700 v')
  expect(project.cordon(['undo', lastCall()]).code).toBe(0)
  expect(readFileSync(join(project.directory, 'w'), 'utf8')).toBe('old\n')
})

const MARKS = 'mkdir x/objects x/refs; echo ref: refs/heads/m > x/HEAD'

it.each([
  {
    what: 'hooks',
    before: 'mkdir x/hooks; echo evil > x/hooks/pre-commit',
    call: 'rm x/hooks/pre-commit',
    since: MARKS,
    planted: 'x/hooks/pre-commit',
  },
  { what: 'settings', before: 'echo evil > x/config', call: 'rm x/config', since: MARKS, planted: 'x/config' },
  {
    what: 'settings that were written over',
    before: 'echo evil > x/config',
    call: 'echo > x/config',
    since: MARKS,
    planted: 'x/config',
    text: 'evil',
  },
  {
    what: 'last mark',
    before: 'mkdir x/objects x/refs',
    call: 'mv x/objects x/o',
    since: 'echo evil > x/config; echo ref: refs/heads/m > x/HEAD',
    planted: 'x/objects',
  },
])('a folder that became a repository since gets no $what by undo', ({ before, call, since, planted, text = '' }) => {
  run(`mkdir x; ${before}`)
  run(call)
  const id = lastCall()
  run(since)
  const undone = project.cordon(['undo', id, '--force'])
  expect(undone.code, undone.out + undone.err).not.toBe(0)
  const path = join(project.directory, planted)
  expect(existsSync(path) && (text === '' || readFileSync(path, 'utf8').includes(text))).toBe(false)
})

it('control: a repository that was removed as a whole comes back as a whole', () => {
  run('git init -q --bare x.git; git -C x.git config user.name x')
  run('rm -rf x.git')
  expect(project.cordon(['undo', lastCall()]).code).toBe(0)
  expect(readFileSync(join(project.directory, 'x.git/config'), 'utf8')).toContain('name = x')
})

it('control: with its folder in place the same call is restored', () => {
  run('rm d/removed; echo x > d/fresh; echo changed > d/w')
  expect(project.cordon(['undo', lastCall()]).code).toBe(0)
  const text = (name: string) => readFileSync(join(project.directory, name), 'utf8')
  expect([text('d/removed'), text('d/w'), existsSync(join(project.directory, 'd/fresh'))]).toEqual([
    'mine\n',
    'old\n',
    false,
  ])
  expect(lstatSync(join(project.directory, 'd')).isDirectory()).toBe(true)
})
