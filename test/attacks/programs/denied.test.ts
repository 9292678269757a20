/** A denied program does not run, whatever starts it (S8): each way with a control that shows that it works without the denial. */

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSessionWorld } from '../../contract/session/session-world.ts'
import { asUser, eachUser, giveTo, removeTree, type User } from '../../users.ts'
import { neededBy, WAYS, type Way } from './ways.ts'

const CORDON = join(import.meta.dirname, '../../../cordon')
const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-programs-')))
const helper = join(base, 'starts')

const manifest = (denied: string) =>
  `schema_version = 1\n[permission]\nmode = "contained"\n[security]\nredirects = "all"\n${denied}`
const DENIED = manifest('[capabilities.deny.commands]\npatterns = ["touch"]\n')

/** A script that goes every way, each in its own folder so that none finds what another left. */
function writeScripts(root: string): void {
  for (const [index, { line }] of WAYS.entries()) {
    const text = `mkdir w${index}; cd w${index}; cp ../starts .; ${line(`m${index}`)}\n`
    writeFileSync(join(root, `way${index}.sh`), text)
  }
  writeFileSync(join(root, 'all.sh'), 'for way in way*.sh; do bash $way </dev/null >/dev/null 2>&1; done\n')
}

const worked = (root: string): ReadonlySet<number> =>
  new Set(WAYS.flatMap((_, index) => (existsSync(join(root, `w${index}`, `m${index}`)) ? [index] : [])))

beforeAll(() => {
  chmodSync(base, 0o755)
  execFileSync('cc', ['-O1', '-pthread', '-w', '-o', helper, join(import.meta.dirname, 'starts.c')])
})
afterAll(() => removeTree(base))

function runAs(user: User, name: string, denied: string): ReadonlySet<number> {
  const [root, home] = [join(base, name, 'project'), join(base, name, 'home')]
  mkdirSync(root, { recursive: true })
  mkdirSync(home)
  writeFileSync(join(root, 'cordon.toml'), manifest(denied))
  writeScripts(root)
  execFileSync('cp', [helper, root])
  giveTo(user.uid, join(base, name))
  const [program, ...words] = asUser(user, [CORDON, 'run', '--manifest', 'cordon.toml', '--', 'bash', 'all.sh'])
  const env = { PATH: process.env.PATH ?? '', HOME: home, CORDON_RESIDENT: 'off', CORDON_KEYCHAIN: 'off' }
  const ran = spawnSync(program!, words, { cwd: root, env, encoding: 'utf8' })
  expect(ran.stderr).not.toMatch(/\[(?:sandbox|changes)-/)
  return worked(root)
}

eachUser(describe)('as $name', (user) => {
  it('a denied program runs in none of the ways in which it otherwise does', () => {
    const control = runAs(user, `control-${user.uid}`, '')
    // Every way works here, but for those of programs that this machine does not have.
    const missing = WAYS.filter((_, index) => !control.has(index))
    const isThere = (way: Way): boolean => spawnSync('which', [neededBy(way)]).status === 0
    const absent = [...new Set(missing.map(neededBy))].join(', ')
    console.info(`${control.size} of ${WAYS.length} ways; not installed: ${absent || 'nothing'}`)
    expect(missing.filter(isThere).map(({ note }) => note)).toEqual([])
    const kept = runAs(user, `denied-${user.uid}`, '[capabilities.deny.commands]\npatterns = ["touch"]\n')
    expect([...kept].map((index) => WAYS[index]!.note)).toEqual([])
  })
})

it('answers for the very first program, which the parent is asked about', () => {
  const [root, home] = [join(base, 'first', 'project'), join(base, 'first', 'home')]
  mkdirSync(root, { recursive: true })
  mkdirSync(home)
  writeFileSync(join(root, 'cordon.toml'), manifest('[capabilities.deny.commands]\npatterns = ["touch mark"]\n'))
  const args = ['run', '--manifest', 'cordon.toml', '--', 'env', 'touch', 'other', 'mark']
  const env = { PATH: process.env.PATH ?? '', HOME: home, CORDON_RESIDENT: 'off', CORDON_KEYCHAIN: 'off' }
  const ran = spawnSync(CORDON, args, { cwd: root, env, encoding: 'utf8', timeout: 60_000 })
  expect(ran).toMatchObject({ status: 0, stderr: '' })
})

it('says in a session what was refused, and by what it was started', async () => {
  const world = openSessionWorld()
  try {
    world.file('scripts/release.sh', 't=tou\n${t}ch mark\nls scripts\n')
    world.file('cordon.toml', '')
    await world.sign(DENIED)
    const result = await (await world.open())
      .openSession()
      .call('bash', { command: 'timeout 20 sh scripts/release.sh' })
    expect(result).toMatchObject({ status: 'done', output: { text: expect.stringContaining('release.sh') } })
    expect('output' in result && result.output.text).toMatch(
      /`touch mark`, started by timeout 20 sh → scripts\/release\.sh, was refused: .*"touch" \(cordon\.toml:7:13\)/,
    )
    const end = world.auditLines().find((line) => line.type === 'end')
    expect(end?.violations).toMatchObject([{ kind: 'program', subject: 'touch' }])
    expect(end?.programs).toMatchObject([
      { name: 'bash' },
      { name: 'timeout', by: 0 },
      { name: 'release.sh', by: 1 },
      { name: 'ls', by: 2 },
    ])
  } finally {
    await world.close()
  }
})
