/** Source near a project, as a session and a typed command see it: what is named is there to be read, and nothing else of it. */

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { programmaticPrompter } from '../../../src/approval/prompter.ts'
import { type Cordon, createCordon } from '../../../src/session/cordon.ts'
import { thisMachine } from '../../../src/system/machine.ts'

process.env.CORDON_KEYCHAIN = 'off'
const home = join(realpathSync(mkdtempSync(join(tmpdir(), 'cordon-nearby-'))), 'home')
const root = join(home, 'work/app')
const FILES: Readonly<Record<string, string>> = {
  'work/app/a.txt': 'app\n',
  'work/app/write.py': 'import sys\nopen(sys.argv[1], "w").write("changed")\n',
  'work/app/look.py': 'import os, sys\nprint(sorted(os.listdir(os.path.dirname(sys.argv[1]) + "/..")))\n',
  'work/other/.git/HEAD': 'ref: refs/heads/main\n',
  'work/other/.git/config': '[remote "origin"]\n\turl = https://example.org/x\n',
  'work/logged/.git/config': '[remote "origin"]\n\turl = https://user:hunter2@example.org/x\n',
  'work/logged/a.ts': 'logged\n',
  'work/other/src/a.ts': 'neighbour\n',
  'work/other/.env': 'TOKEN=hunter2\n',
  'work/third/.git/HEAD': 'ref: refs/heads/main\n',
  'work/third/a.ts': 'third\n',
  'diary.txt': 'diary\n',
}
for (const [path, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}
symlinkSync(join(home, 'work/other/.env'), join(root, 'plain.txt'))
symlinkSync(join(home, 'diary.txt'), join(home, 'work/other/diary.txt'))

const manifest = (nearby: readonly string[]) => ({
  schema_version: 1,
  permission: { mode: 'contained' },
  security: { redirects: 'all', outside_roots: 'ask' },
  capabilities: { allow: { read: { paths: ['**'], nearby } } },
})
const cordons: Cordon[] = []
const machine = {
  ...thisMachine(),
  cwd: root,
  home,
  env: { PATH: process.env.PATH ?? '', HOME: home },
  configDir: join(home, '.config/cordon'),
  stateDir: join(home, '.local/state/cordon'),
  cacheDir: join(home, '.cache/cordon'),
}
const open = async (nearby: readonly string[], yes = false) => {
  const prompter = programmaticPrompter(() => (yes ? { kind: 'once' } : { kind: 'deny' }))
  const cordon = await createCordon({ project: root, machine, manifest: { object: manifest(nearby) }, prompter })
  cordons.push(cordon)
  return cordon.openSession()
}

afterAll(async () => {
  for (const cordon of cordons) await cordon.close()
  rmSync(dirname(home), { recursive: true, force: true })
})

describe('a repository beside the project', async () => {
  const [session, control] = [await open(['repositories']), await open([])]
  const says = async (command: string, of = session): Promise<string> => {
    const result = await of.call('bash', { command })
    return result.status === 'done' ? result.output.text : result.status
  }

  test('is read by who names it, and not without the line in the manifest', async () => {
    expect(await says('cat ../other/src/a.ts')).toContain('neighbour')
    expect(await says('cd ../other && cat src/a.ts')).toContain('neighbour')
    expect(await says('cat ../other/src/a.ts', control)).toBe('refused')
    const read = await session.call('read', { path: join(home, 'work/other/src/a.ts') })
    expect(read.status === 'done' && read.output.text).toContain('neighbour')
  })

  test.each([
    ['grep -r hunter2 ../other', 'hunter2', 'a secret in it'],
    ['grep -r hunter2 ../logged', 'hunter2', 'a login in the address of its remote'],
    ['cat ../logged/a.ts', 'logged', 'anything of a repository that contains one'],
    ['cd ../other && grep -r hunter2 .', 'hunter2', 'the same from inside'],
    ['cat ../other/.env', 'hunter2', 'a secret by its name'],
    ['cat plain.txt', 'hunter2', 'a secret by a link of the project'],
    ['cat ../other/diary.txt', 'diary', 'what a link in it points to'],
    ['grep -r diary ../other', 'diary\n', 'the same without its name'],
    ['cat ../other/src/a.ts; cat ../third*/a.ts', 'third', 'another repository, which is named by no word'],
    ['python3 look.py ../other/src/a.ts', 'third', 'what lies around it'],
  ])('%s does not show %s: %s', async (command, hidden) => {
    expect(await says(command)).not.toContain(hidden)
  })

  test.each(['python3 write.py ../other/src/a.ts', 'python3 write.py ../other/.git/config'])(
    '%s changes nothing',
    async (command) => {
      await says(command)
      expect(readFileSync(join(home, 'work/other/src/a.ts'), 'utf8')).toBe(FILES['work/other/src/a.ts'])
      expect(readFileSync(join(home, 'work/other/.git/config'), 'utf8')).toBe(FILES['work/other/.git/config'])
    },
  )
})

test('a yes to work elsewhere opens the place for that command', async () => {
  const session = await open([], true)
  const created = await session.call('bash', { command: 'cd ../third && python3 ../app/write.py new.txt' })
  expect(created).toMatchObject({ status: 'done', output: { exitCode: 0 } })
  expect(readFileSync(join(home, 'work/third/new.txt'), 'utf8')).toBe('changed')
})
