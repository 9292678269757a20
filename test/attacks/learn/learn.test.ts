/** `cordon learn` against a command that knows it is being watched: no hole while it learns, and nothing wide or secret to sign. */

import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseToml as parseTree } from '../../../src/agents/settings/toml-text.ts'
import { CLI } from '../../e2e/cordon.ts'
import { asUser, eachUser } from '../../users.ts'

const TOKEN = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_')

interface LearnResult {
  readonly proof: string
  readonly lines: readonly { readonly kind: string; readonly value: string }[]
  readonly warnings: readonly string[]
  readonly withheld: readonly { readonly subject: string }[]
  readonly runs: number
  readonly text: string | null
}

eachUser(describe)('as $name', (user) => {
  let base: string
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), text)
  }
  beforeEach(() => {
    base = mkdtempSync('/var/tmp/cordon-learn-')
    put('project/readme', 'x')
    put('home/.ssh/id_rsa', 'PRIVATE-MATERIAL')
    put('home/.netrc', 'machine x password PRIVATE-MATERIAL')
    put('home/doc/a.txt', 'a')
    put('home/doc/.env', 'K=PRIVATE-MATERIAL')
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))

  const learn = (
    script: string,
    flags: readonly string[] = ['--try'],
  ): { out: string; err: string; learned: LearnResult } => {
    for (const path of ['', ...readdirSync(base, { recursive: true, encoding: 'utf8' })])
      if (!existsSync(join(base, path))) continue
      else chownSync(join(base, path), user.uid, user.gid)
    const [program, ...args] = asUser(user, [
      process.execPath,
      CLI,
      'learn',
      '--json',
      ...flags,
      '--',
      'bash',
      '-c',
      script,
    ])
    const ran = spawnSync(program!, args, {
      cwd: join(base, 'project'),
      env: { PATH: process.env.PATH, HOME: join(base, 'home') },
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    return { out: ran.stdout, err: ran.stderr, learned: JSON.parse(ran.stdout) }
  }

  it('thousands of paths get a bounded proposal of single files, a warning, and no second run', () => {
    for (let at = 0; at < 3000; at++) put(`home/many/d${at % 7}/f${at}`, '')
    // Beyond what is written down, too: missing names are reported until there are too many.
    const { learned } = learn('for f in ~/many/d{0..6}/f{0..2999}; do [ -e $f ]; done; exit 1')
    expect(learned.warnings.join()).toContain('more than a command needs')
    expect(learned).toMatchObject({ proof: 'untried', runs: 1 })
    expect(learned.lines.length).toBeLessThanOrEqual(16)
    for (const { value } of learned.lines) expect(value).toMatch(/\/many\/d\d\/f\d+$/)
  })

  it('names that do not exist are no needs, however many, and do not push others out of sight', () => {
    const { learned } = learn('for i in {1..5000}; do [ -e ~/none/$i ]; done; [ -e ~/doc/a.txt ]')
    expect(learned.lines.map(({ value }) => value)).toEqual([join(base, 'home/doc/a.txt')])
    expect(learned).toMatchObject({ proof: 'proven', runs: 2 })
  })

  it('hosts by the hundred get a bounded proposal, and one that carries a secret none', () => {
    const { learned, out } = learn(
      `for i in {1..100}; do getent hosts h$i.example.org; done; getent hosts ${TOKEN}.example.org; exit 1`,
    )
    expect(learned).toMatchObject({ proof: 'untried', runs: 1 })
    expect(learned.lines.length).toBeLessThanOrEqual(16)
    expect(JSON.stringify(learned.lines)).not.toContain(TOKEN)
    expect(out).not.toContain(TOKEN)
  })

  it('secrets, the home, the system and Cordon’s own places are never proposed, by whatever way they are named', () => {
    symlinkSync('../home/.ssh', join(base, 'project/link'))
    const { learned, out, err } = learn(
      `cat ~/.ssh/id_rsa link/id_rsa ../home/.ssh/../.ssh/id_rsa ~/.netrc ~/doc/.env; ls ~/.ssh; ls ~/.local/state/cordon ~/.config/cordon /root /home /var /run; cat ../home/doc/a.txt`,
    )
    expect(out + err).not.toContain('PRIVATE-MATERIAL')
    for (const { value } of learned.lines) {
      expect(value).not.toMatch(/\.ssh|\.netrc|\.env|cordon\/|state/)
      expect([join(base, 'home'), base, '/', '/root', '/home', '/var', '/run', '/var/tmp']).not.toContain(value)
    }
  })

  it('names that would be more than names are never proposed, and others are only what they are', () => {
    const hostile = [
      '**',
      'a?c',
      'q"],\n[capabilities.allow.write]\npaths = ["~/**" #',
      '\u202etxt.doc',
      'x\u200by',
      'e\u001b[2Jx',
    ]
    for (const name of hostile) put(`home/odd/${name}`, 'x')
    const plain = 'slash "quoted" # = é.txt'
    put(`home/odd/${plain}`, 'x')
    const quoted = (name: string) => `'${name.replaceAll("'", "'\\''")}'`
    const { learned, out } = learn(
      `for f in ${[...hostile, plain].map(quoted).join(' ')}; do cat ~/odd/"$f"; done; [ -e ~/odd/${quoted(plain)} ]`,
    )
    expect(learned.proof, out).toBe('proven')
    expect(learned.lines.map(({ value }) => value)).toEqual([join(base, 'home/odd', plain)])
    expect(parseTree(learned.text!, 'learned')).toMatchObject({
      schema_version: 1,
      capabilities: { allow: { read: { paths: ['**', `~/odd/${plain}`] } } },
    })
    expect(learned.withheld.length).toBe(hostile.length)
  })

  it('a folder that is drawn together hides its secrets while it is tried', () => {
    for (const name of ['b', 'c']) put(`home/doc/${name}.txt`, name)
    const { learned, out, err } = learn('set -e; cat ~/doc/a.txt ~/doc/b.txt ~/doc/c.txt; cat ~/doc/.env')
    expect(learned.lines.map(({ value }) => value)).toEqual([join(base, 'home/doc')])
    expect(learned.proof).toBe('proven')
    expect(out + err).not.toContain('PRIVATE-MATERIAL')
  })

  it('without a yes nothing that it asked for is ever open', () => {
    const { learned, err } = learn('cat ~/doc/a.txt && echo OPENED >&2; exit 1', [])
    expect(learned).toMatchObject({ proof: 'untried', runs: 1 })
    expect(err).not.toContain('OPENED')
  })

  it('what it changes in a trial is restored before the next, the manifest and its signature too', () => {
    const { learned } = learn(
      'echo x >> readme; echo "schema_version = 1" > cordon.toml; [ $(wc -l < readme) -le 1 ] || exit 9; set -e; cat ~/doc/a.txt; cat ../home/doc/a.txt',
    )
    expect(learned.proof).toBe('proven')
    expect(existsSync(join(base, 'project/cordon.toml'))).toBe(false)
  })

  it('the filter that looks on refuses what it refused before', () => {
    const { err } = learn(
      `unshare -r true && echo HOLE >&2; mount -t tmpfs x /mnt && echo HOLE >&2; echo x > /usr/x && echo HOLE >&2; chmod 4755 readme && echo HOLE >&2; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit && echo HOLE >&2; exit 1`,
      [],
    )
    expect(err).not.toContain('HOLE')
  })
})
