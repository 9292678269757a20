/** Links instead of granted paths: what one command leaves does not widen what the next one sees. */

import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI } from '../../e2e/cordon.ts'
import { asUser, eachUser } from '../../users.ts'

interface Row {
  readonly name: string
  readonly manifest: string
  /** What the first command does; `$HOME` is the person's home, outside of what is granted. */
  readonly plant: string
  /** What the next one tries. */
  readonly use: string
}

const reads = (...paths: string[]) => `[capabilities.allow.read]\npaths = [${paths.join(', ')}]\n`
const writes = (...paths: string[]) => `[capabilities.allow.write]\npaths = [${paths.join(', ')}]\n`

const ROWS: readonly Row[] = [
  {
    name: 'a file that is named beside the whole project',
    manifest: reads('"**"', '"README.md"'),
    plant: 'rm README.md; ln -s $HOME/diary.txt README.md',
    use: 'cat README.md; echo changed > README.md',
  },
  {
    name: 'a directory that is named beside the whole project',
    manifest: reads('"**"', '"docs/**"'),
    plant: 'rm -r docs; ln -s $HOME docs',
    use: 'cat docs/diary.txt; echo changed > docs/diary.txt',
  },
  {
    name: 'a directory of reads where all may be written',
    manifest: reads('"docs/**"') + writes('"**"'),
    plant: 'rm -r docs; ln -s $HOME docs',
    use: 'cat docs/diary.txt',
  },
  {
    name: 'one of the files that a pattern matches',
    manifest: reads('"**"') + writes('"**"', '"docs/*.md"'),
    plant: 'ln -s $HOME/diary.txt docs/x.md',
    use: 'cat docs/x.md; echo changed > docs/x.md',
  },
  {
    name: 'a directory on the way of a pattern',
    manifest: reads('"**"', '"docs/*/diary.txt"'),
    plant: 'ln -s $HOME docs/out',
    use: 'cat docs/out/diary.txt',
  },
  {
    name: 'a file by its name',
    manifest: reads('"**"', '{ path = "docs", files = ["*.txt"] }'),
    plant: 'ln -s $HOME/diary.txt docs/diary.txt',
    use: 'cat docs/diary.txt',
  },
]

eachUser(describe)('as $name', (user) => {
  let base = ''
  const place = (name: string) => join(base, name)

  beforeAll(() => {
    base = mkdtempSync('/var/tmp/cordon-links-')
    chmodSync(base, 0o755)
    for (const name of ['home', 'project', 'project/docs']) mkdirSync(place(name))
    for (const name of ['home/diary.txt', 'project/README.md', 'project/docs/a.md'])
      writeFileSync(place(name), 'TOPSECRET\n')
    for (const name of [
      '.',
      'home',
      'home/diary.txt',
      'project',
      'project/docs',
      'project/README.md',
      'project/docs/a.md',
    ])
      chownSync(place(name), user.uid, user.gid)
  })
  afterAll(() => rmSync(base, { recursive: true, force: true }))

  const run = (command: string): string => {
    const [program, ...args] = asUser(user, [
      process.execPath,
      CLI,
      'run',
      '--manifest',
      'm.toml',
      '--',
      'bash',
      '-c',
      command.replaceAll('$HOME', place('home')),
    ])
    const env = {
      PATH: process.env.PATH,
      HOME: place('home'),
      XDG_STATE_HOME: place('state'),
      XDG_CACHE_HOME: place('cache'),
    }
    const ran = spawnSync(program!, args, { cwd: place('project'), env, encoding: 'utf8' })
    return ran.stdout + ran.stderr
  }

  const reset = (): void => {
    rmSync(place('project'), { recursive: true, force: true })
    for (const name of ['project', 'project/docs']) {
      mkdirSync(place(name))
      chownSync(place(name), user.uid, user.gid)
    }
    for (const name of ['project/README.md', 'project/docs/a.md']) {
      writeFileSync(place(name), 'plain\n')
      chownSync(place(name), user.uid, user.gid)
    }
  }

  it.each(ROWS)('$name', ({ manifest, plant, use }) => {
    reset()
    writeFileSync(place('project/m.toml'), `schema_version = 1\n${manifest}`)
    expect(run(`${plant}; echo planted`)).toContain('planted')
    expect(run(use)).not.toContain('TOPSECRET')
    expect(readFileSync(place('home/diary.txt'), 'utf8')).toBe('TOPSECRET\n')
  })

  it('control: what is granted by itself is there', () => {
    reset()
    writeFileSync(place('project/m.toml'), `schema_version = 1\n${reads('"**"', `"${place('home')}/**"`)}`)
    run('ln -s $HOME/diary.txt docs/x.md')
    expect(run('cat docs/x.md')).toContain('TOPSECRET')
  })
})
