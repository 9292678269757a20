/** Undo in a session: every tool that changes files is restored and redone, and what undo covers is not asked about. */

import { existsSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProjectUndo } from '../../../src/run/undo.ts'
import { UndoCover } from '../../../src/run/undo-cover.ts'
import { SandboxFault } from '../../../src/sandbox/backend.ts'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'
import { tarGz } from '../tools/tools-archives.ts'
import { lookAtTree } from './tree-look.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
  world.file('.git/HEAD', 'ref: refs/heads/main\n')
  world.file('a.txt', 'one\ntwo\nthree\n', 0o640)
  world.file('dir/b.ts', 'b\n')
  world.file('dir/deep/c.md', '# C\n')
  writeFileSync(join(world.root, 'good.tgz'), tarGz([{ name: 'x/z.txt', content: 'zed' }]))
  symlinkSync('deep', join(world.root, 'dir/link'))
})
afterEach(() => world.close())

const MANIFEST = { schema_version: 1, permission: { mode: 'contained' }, security: { redirects: 'all' } }

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')

describe('file tools', () => {
  it.each([
    {
      tool: 'write',
      input: { path: 'new/deep/file.txt', content: 'hi' },
      changes: { made: 3, changed: 0, removed: 0 },
    },
    { tool: 'write', input: { path: 'a.txt', content: 'other' }, changes: { made: 0, changed: 1, removed: 0 } },
    { tool: 'edit', input: { path: 'a.txt', old_string: 'two', new_string: '2' }, changes: { changed: 1 } },
    {
      tool: 'apply_patch',
      input: {
        patch: patch(
          '*** Add File: n.txt',
          '+new',
          '*** Update File: a.txt',
          '@@',
          '-two',
          '+2',
          '*** Delete File: dir/b.ts',
        ),
      },
      changes: { made: 1, changed: 1, removed: 1 },
    },
    { tool: 'delete', input: { path: 'dir', recursive: true }, changes: { made: 0, removed: 5 } },
    { tool: 'move', input: { source: 'dir', destination: 'moved/dir' }, changes: {} },
    { tool: 'copy', input: { source: 'a.txt', destination: 'dir/b.ts' }, changes: {} },
    { tool: 'mkdir', input: { path: 'x/y/z' }, changes: { made: 3 } },
    { tool: 'chmod', input: { path: 'a.txt', mode: '600' }, changes: { changed: 1 } },
    { tool: 'extract', input: { path: 'good.tgz', destination: 'out' }, changes: { made: 3 } },
  ])('$tool $input is undone and redone', async ({ tool, input, changes }) => {
    const session = await (await world.open({ manifest: { object: MANIFEST } })).openSession()
    world.answer = () => ({ kind: 'once' })
    const before = lookAtTree(world.root, 'times')
    const done = await session.call(tool, input)
    if (done.status !== 'done') return expect(done).toMatchObject({ status: 'done' })
    const after = lookAtTree(world.root, 'no times')
    await session.close()
    const undo = new ProjectUndo(world.machine)
    const [call] = undo.calls()
    expect(call?.about.what).toMatch(new RegExp(`^${tool} `))
    expect(call?.about.session).toBe(session.id)
    const end = world.auditLines().find((line) => line.type === 'end')
    expect(end?.changes).toMatchObject({ undo: call!.id, lost: 0, ...changes })
    const undone = undo.undo(call!, false)
    expect(undone).toMatchObject({ conflicts: [], failed: [] })
    expect(lookAtTree(world.root, 'times')).toEqual(before)
    const redo = undo.calls().find(({ id }) => id === undone.id)!
    expect(undo.undo(redo, false)).toMatchObject({ conflicts: [], failed: [] })
    expect(lookAtTree(world.root, 'no times')).toEqual(after)
  })

  it('a comparison shows what this call did, whatever later calls, an undo and a person did', async () => {
    const session = await (await world.open({ manifest: { object: MANIFEST } })).openSession()
    world.answer = () => ({ kind: 'once' })
    for (const content of ['1\n', '2\n', '3\n']) await session.call('write', { path: 'a.txt', content })
    await session.call('write', { path: 'new.txt', content: 'new\n' })
    await session.call('delete', { path: 'new.txt' })
    await session.close()
    const undo = new ProjectUndo(world.machine)
    const sides = (at: number) =>
      undo.compare(undo.calls().at(-1 - at)!).map(({ before, after, mixed }) => [before, after, mixed])
    const original = 'one\ntwo\nthree\n'
    const firstTwo = () => [sides(0), sides(1)]
    const expected = [[[original, '1\n', false]], [['1\n', '2\n', false]]]
    expect([...firstTwo(), sides(2)]).toEqual([...expected, [['2\n', '3\n', false]]])
    expect([sides(3), sides(4)]).toEqual([[[null, 'new\n', false]], [['new\n', null, false]]])
    expect(undo.undo(undo.calls().at(-3)!, false).id).not.toBeNull()
    expect(firstTwo()).toEqual(expected)
    writeFileSync(join(world.root, 'a.txt'), 'mine\n')
    expect(firstTwo()).toEqual([expected[0], [['1\n', 'mine\n', true]]])
  })

  it('a call that changed nothing leaves nothing behind', async () => {
    const session = await (await world.open({ manifest: { object: MANIFEST } })).openSession()
    expect(await session.call('edit', { path: 'a.txt', old_string: 'nine', new_string: '9' })).toMatchObject({
      status: 'failed',
    })
    expect(await session.call('read', { path: 'a.txt' })).toMatchObject({ status: 'done' })
    await session.close()
    expect(existsSync(join(world.machine.stateDir, 'undo'))).toBe(false)
  })
})

describe('in contained mode', () => {
  it('what undo would bring back asks in a project that has used its share of the store', async () => {
    const session = await (await world.open({ manifest: { object: MANIFEST } })).openSession()
    new UndoCover(world.machine.stateDir).noteFull(world.root)
    world.answer = () => ({ kind: 'deny' })
    expect(await session.call('bash', { command: 'rm -rf dir' })).toMatchObject({ status: 'refused' })
    expect(world.asked).toHaveLength(1)
    await session.close()
  })

  it.each([
    'rm -rf dir',
    'find . -name "*.md" -delete',
    'python3 -c "import shutil; shutil.rmtree(\'dir\')"; rm -r dir/deep',
    'mv dir /tmp/elsewhere',
    'truncate -s 0 *.txt',
  ])('%s is not asked about, and is undone', async (command) => {
    const session = await (await world.open({ manifest: { object: MANIFEST } })).openSession()
    const before = lookAtTree(world.root, 'times')
    const done = await session.call('bash', { command })
    expect(done).toMatchObject({ status: 'done', decision: { decision: 'allow', relies: 'undo' } })
    expect(world.asked).toEqual([])
    expect(lookAtTree(world.root, 'times')).not.toEqual(before)
    await session.close()
    const undo = new ProjectUndo(world.machine)
    expect(undo.undo(undo.calls()[0]!, false)).toMatchObject({ conflicts: [], failed: [] })
    expect(lookAtTree(world.root, 'times')).toEqual(before)
    const rules = world.auditLines().find((line) => line.type === 'begin')?.decision as { rules: string[] }
    expect(rules.rules).toContain('undo (built-in)')
  })

  it.each([
    ['rm -rf .', 'the whole project'],
    ['rm -rf *', 'all of its contents'],
    ['rm -rf "$PWD"', 'the whole project by a variable'],
    ['rm -rf .git', 'the repository'],
    ['rm -rf .git/refs', 'its history'],
    ['rm -rf /home/nobody/documents', 'another place'],
    ['rm -rf /var/lib/x', 'another place of the machine'],
    ['echo / | xargs rm -rf', 'everything, named to another program'],
    ["parallel 'rm -rf {}' ::: ~", 'the same'],
    ['git push --force origin main', 'another machine'],
    ['rm -rf dir; git push origin main', 'another machine, after something that undo covers'],
  ])('%s asks: %s', async (command) => {
    const session = await (await world.open({ manifest: { object: MANIFEST } })).openSession()
    const before = lookAtTree(world.root, 'times')
    expect((await session.call('bash', { command })).status).not.toBe('done')
    expect(lookAtTree(world.root, 'times')).toEqual(before)
    await session.close()
  })

  it.each([
    ['truncate -s 0 *.db', 'undo'],
    [': > big.db', 'keeping'],
    ['echo x > big.db', 'keeping'],
    ['dd if=/dev/zero of=big.db bs=4096 count=1 conv=notrunc', 'keeping'],
    ["python3 -c \"open('big.db', 'w')\"", 'keeping'],
    ["python3 -c \"open('big.db', 'r+').write('other')\"", 'keeping'],
    ['python3 -c "import os; os.truncate(\'big.db\', 9)"', 'keeping'],
    ["python3 -c \"open('big.db', 'a'); open('big.db', 'w')\"", 'keeping'],
  ])('what cannot be kept is left as it is, and the same command asks from then on: %s', async (command, relies) => {
    writeFileSync(join(world.root, 'big.db'), 'start')
    truncateSync(join(world.root, 'big.db'), 80 * 1024 * 1024)
    const session = await (await world.open({ manifest: { object: MANIFEST } })).openSession()
    const before = lookAtTree(world.root, 'times')
    const first = await session.call('bash', { command })
    expect(first).toMatchObject({ status: 'done', output: { isError: true }, decision: { relies } })
    expect(JSON.stringify(first)).toContain('too large to be kept')
    expect(lookAtTree(world.root, 'times')).toEqual(before)
    expect(world.asked).toEqual([])
    world.answer = () => ({ kind: 'once' })
    expect(await session.call('bash', { command })).toMatchObject({ status: 'done', output: { exitCode: 0 } })
    expect(world.asked.length).toBe(1)
    expect(lookAtTree(world.root, 'times')).not.toEqual(before)
    await session.close()
  })

  it('a large file is removed with a second name kept, and what is appended to it is reported as not kept', async () => {
    writeFileSync(join(world.root, 'big.log'), 'start')
    truncateSync(join(world.root, 'big.log'), 80 * 1024 * 1024)
    const session = await (await world.open({ manifest: { object: MANIFEST } })).openSession()
    const appended = await session.call('bash', { command: 'echo more >> big.log' })
    expect(appended).toMatchObject({ output: { exitCode: 0 } })
    expect(world.auditLines().find((line) => line.type === 'end')?.changes).toMatchObject({ lost: 1 })
    expect(await session.call('bash', { command: 'rm -rf big.log dir' })).toMatchObject({ output: { exitCode: 0 } })
    expect(world.asked).toEqual([])
    await session.close()
    const undo = new ProjectUndo(world.machine)
    expect(undo.undo(undo.calls()[0]!, false)).toMatchObject({ conflicts: [], failed: [] })
    expect(statSync(join(world.root, 'big.log')).size).toBe(80 * 1024 * 1024 + 5)
  })

  it('what was kept stays when the sandbox breaks down', async () => {
    const backend = createBwrapBackend()
    const breaking: typeof backend = {
      ...backend,
      capabilities: backend.capabilities,
      launch: async (underway, io) => {
        await backend.launch(underway, io)
        throw new SandboxFault('sandbox-failed', 'the init is gone')
      },
    }
    const session = await (await world.open({ manifest: { object: MANIFEST }, backend: breaking })).openSession()
    const before = lookAtTree(world.root, 'times')
    expect(await session.call('bash', { command: 'rm -rf dir' })).toMatchObject({ status: 'failed' })
    expect(existsSync(join(world.root, 'dir'))).toBe(false)
    await session.close()
    const undo = new ProjectUndo(world.machine)
    expect(undo.undo(undo.calls()[0]!, false)).toMatchObject({ conflicts: [], failed: [] })
    expect(lookAtTree(world.root, 'times')).toEqual(before)
  })

  it('nothing runs if changes turn out not to be mediated, and the next one asks', async () => {
    const backend = createBwrapBackend()
    const refusing: typeof backend = {
      ...backend,
      capabilities: backend.capabilities,
      launch: async (underway, io) => {
        const plan = 'complete' in underway ? underway.complete() : underway
        if (plan.changes !== null) throw new SandboxFault('changes-broker', 'no Landlock')
        return backend.launch(plan, io)
      },
    }
    const session = await (await world.open({ manifest: { object: MANIFEST }, backend: refusing })).openSession()
    const before = lookAtTree(world.root, 'times')
    const failed = await session.call('bash', { command: 'rm -rf dir' })
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'undo-unavailable' } })
    expect(lookAtTree(world.root, 'times')).toEqual(before)
    expect(await session.call('bash', { command: 'rm -rf dir' })).toMatchObject({ status: 'refused' })
    expect(world.asked.length).toBe(1)
    expect(lookAtTree(world.root, 'times')).toEqual(before)
    world.answer = () => ({ kind: 'once' })
    expect(await session.call('bash', { command: 'rm -rf dir' })).toMatchObject({ status: 'done' })
    expect(existsSync(join(world.root, 'dir'))).toBe(false)
    await session.close()
  })
})
