/** What a person does in the project while a command runs there is theirs: left alone, not blamed on the command, not undone with it. */

import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ProjectUndo } from '../../../src/run/undo.ts'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'
import { until } from '../../until.ts'

const CONTAINED = 'schema_version = 1\n[permission]\nmode = "contained"\n[security]\nredirects = "all"\n'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
})
afterEach(() => world.close())

/** Ways to an exec line that git would run outside: each is settled when the command ends. */
const SEQUENCES: readonly { readonly note: string; readonly before?: string; readonly script: string }[] = [
  { note: 'in place', script: 'mkdir .git/rebase-merge; echo "exec evil" > .git/rebase-merge/git-rebase-todo' },
  {
    note: 'by a second name',
    before: 'pick 1\n',
    script: 'ln .git/rebase-merge/git-rebase-todo x; echo "exec evil" > x',
  },
  { note: 'through a link', script: 'mkdir r; echo "exec evil" > r/git-rebase-todo; ln -s ../r .git/rebase-merge' },
  {
    note: 'in a folder that is moved',
    script: 'mkdir r; echo "exec evil" > r/git-rebase-todo; mv r .git/rebase-merge',
  },
]

it.each(SEQUENCES)('is the command’s own all the same: $note', async ({ before, script }) => {
  execFileSync('git', ['init', '-q'], { cwd: world.root, env: { PATH: process.env.PATH ?? '' } })
  world.file('work.sh', script)
  if (before) world.file('.git/rebase-merge/git-rebase-todo', before)
  await world.sign(CONTAINED)
  const session = (await world.open()).openSession()
  world.answer = () => ({ kind: 'once' })
  expect((await session.call('bash', { command: 'sh work.sh' })).status).toBe('done')
  const todo = join(world.root, '.git/rebase-merge/git-rebase-todo')
  expect(existsSync(todo) ? readFileSync(todo, 'utf8') : '').not.toContain('exec')
})

it('is the command’s own all the same: by a descriptor, where another command has put the file', async () => {
  execFileSync('git', ['init', '-q'], { cwd: world.root, env: { PATH: process.env.PATH ?? '' } })
  world.file('work.sh', 'exec 3>a; while [ ! -e go ]; do sleep 0.05; done; echo "exec evil" >&3')
  world.file('move.sh', 'mkdir .git/rebase-merge; mv a .git/rebase-merge/git-rebase-todo')
  await world.sign(CONTAINED)
  world.answer = () => ({ kind: 'once' })
  const [session, other] = [(await world.open()).openSession(), (await world.open()).openSession()]
  const work = session.call('bash', { command: 'sh work.sh' })
  await until('the file is open', () => existsSync(join(world.root, 'a')))
  expect((await other.call('bash', { command: 'sh move.sh' })).status).toBe('done')
  expect(world.text('.git/rebase-merge/git-rebase-todo')).toBe('')
  world.file('go', '')
  expect((await work).status).toBe('done')
  expect(world.text('.git/rebase-merge/git-rebase-todo')).not.toContain('exec')
  await other.close()
})

it('an editor beside a dev server', async () => {
  const env = { PATH: process.env.PATH ?? '', HOME: world.machine.home, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...words: string[]) => execFileSync('git', words, { cwd: world.root, env, encoding: 'utf8' })
  git('init', '-q')
  world.file('src/a.ts', 'old\n')
  world.file('src/b.ts', 'old\n')
  await world.sign(CONTAINED)
  const session = (await world.open()).openSession()
  const server = session.call('bash', {
    command:
      'mkdir out; echo built > out/a.js; echo changed > src/b.ts; echo > out/ready; while [ ! -e stop ]; do sleep 0.05; done; rm -r out',
  })
  // A command that did not run has ended by then.
  await Promise.race([
    until('it is built', () => existsSync(join(world.root, 'out/ready'))),
    server.then((ended) => expect(ended).toBe('running')),
  ])
  mkdirSync(join(world.root, '.vscode'))
  writeFileSync(join(world.root, '.vscode/tasks.json'), 'mine')
  writeFileSync(join(world.root, '.envrc'), 'mine')
  writeFileSync(join(world.root, 'src/a.ts'), 'mine\n')
  git('config', 'core.hooksPath', 'hooks')
  writeFileSync(join(world.root, 'stop'), '')
  const done = await server
  expect(done.status).toBe('done')
  const theirs = () => ({
    tasks: readFileSync(join(world.root, '.vscode/tasks.json'), 'utf8'),
    envrc: readFileSync(join(world.root, '.envrc'), 'utf8'),
    source: readFileSync(join(world.root, 'src/a.ts'), 'utf8'),
    hooks: git('config', 'core.hooksPath').trim(),
    stop: existsSync(join(world.root, 'stop')),
  })
  const mine = { tasks: 'mine', envrc: 'mine', source: 'mine\n', hooks: 'hooks', stop: true }
  expect(theirs()).toEqual(mine)
  const end = world.auditLines().find((line) => line.type === 'end')
  expect(end?.changes).toMatchObject({ made: 0, changed: 1, removed: 0, names: [expect.stringMatching(/src\/b\.ts$/)] })
  expect(JSON.stringify(end?.changes)).not.toMatch(/tasks|a\.ts|stop/)
  await session.close()
  const undo = new ProjectUndo(world.machine)
  expect(undo.undo(undo.calls()[0]!, false)).toMatchObject({ conflicts: [], failed: [] })
  expect(theirs()).toEqual(mine)
  expect(world.text('src/b.ts')).toBe('old\n')
})

it('after a killed Cordon: the next run undoes what the command planted, and nothing else', async () => {
  const env = { PATH: process.env.PATH ?? '', HOME: world.machine.home, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...words: string[]) => execFileSync('git', words, { cwd: world.root, env, encoding: 'utf8' })
  git('init', '-q')
  world.file(
    'work.sh',
    'mkdir .git/rebase-merge; echo "exec evil" > .git/rebase-merge/git-rebase-todo; echo > ready; exec sleep 10000',
  )
  await world.sign(CONTAINED)
  const worker = [join(import.meta.dirname, 'killed-worker.ts'), JSON.stringify(world.machine), 'sh work.sh']
  const killed = spawn(process.execPath, worker, { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = new Promise((resolve) => killed.once('exit', resolve))
  await until('the command has planted', () => existsSync(join(world.root, 'ready')) || killed.exitCode !== null)
  killed.kill('SIGKILL')
  await ended
  world.file('.vscode/tasks.json', 'mine')
  world.file('.envrc', 'mine')
  world.file('.git/rebase-apply/git-rebase-todo', 'exec mine\n')
  git('config', 'core.hooksPath', 'hooks')
  const session = (await world.open()).openSession()
  const next = await session.call('bash', { command: 'true' })
  expect(next.status).toBe('done')
  expect(world.text('.git/rebase-merge/git-rebase-todo')).not.toContain('exec')
  expect([world.text('.vscode/tasks.json'), world.text('.envrc'), git('config', 'core.hooksPath').trim()]).toEqual([
    'mine',
    'mine',
    'hooks',
  ])
  expect(world.text('.git/rebase-apply/git-rebase-todo')).toContain('exec mine')
  expect(JSON.stringify(next)).toContain('rebase-merge')
  await session.close()
})
