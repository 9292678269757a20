/** A yes inside the project that no grant covers opens exactly that, for that one run (P6), and what is decided as allowed is there. */

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Answer } from '../../../src/approval/prompter.ts'
import { openSessionWorld, type SessionWorld } from './session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
  for (const path of ['src/a', 'oth/b', 'oth/c', 'oth/deep/d', 'oth/.env', 'top']) world.file(path, `${path}\n`)
})
afterEach(() => world.close())

const grants = { read: { paths: ['src/**'] }, write: { paths: ['src/**'] } }
const commands = {
  patterns: [
    'cat:*',
    'touch:*',
    'echo:*',
    'rm:*',
    'mv:*',
    'cp:*',
    'mkdir:*',
    'sh src/x.sh:*',
    'ls:*',
    'sed:*',
    'tee:*',
  ],
}
const narrow = {
  schema_version: 1,
  security: { redirects: 'all' },
  capabilities: { allow: { ...grants, commands } },
}

async function run(command: string, answer: Answer, object: object = narrow): Promise<string> {
  world.answer = () => answer
  const cordon = await world.open({ manifest: { object } })
  const result = await cordon.openSession().call('bash', { command })
  await cordon.close()
  return result.status === 'done' ? result.output.text : result.status
}

const ONCE: Answer = { kind: 'once' }
const shown = (path: string): string => (existsSync(join(world.root, path)) ? world.text(path) : 'none')

describe('once', () => {
  it.each([
    { command: 'cat oth/b', says: 'oth/b', note: 'a read' },
    { command: 'cat oth/b oth/c', says: 'oth/c', note: 'two reads' },
    { command: 'cat oth/*', says: 'oth/b', note: 'a pattern' },
    { command: 'ls oth', says: 'deep', note: 'a listing' },
    { command: 'cp oth/b src/b; cat src/b', says: 'oth/b', note: 'a read and a granted write' },
  ])('$command ($note)', async ({ command, says }) => {
    expect(await run(command, ONCE)).toContain(says)
    expect(world.asked).toHaveLength(1)
  })

  it.each([
    { command: 'touch oth/n', path: 'oth/n', text: '', note: 'a new file' },
    { command: 'echo x > oth/n', path: 'oth/n', text: 'x\n', note: 'a redirect' },
    { command: 'echo x >> oth/b', path: 'oth/b', text: 'oth/b\nx\n', note: 'appending' },
    { command: 'rm oth/b', path: 'oth/b', text: 'none', note: 'removing' },
    { command: 'mv oth/b oth/z', path: 'oth/z', text: 'oth/b\n', note: 'moving' },
    { command: 'cp src/a oth/a', path: 'oth/a', text: 'src/a\n', note: 'copying' },
    { command: 'mkdir -p oth/x/y && touch oth/x/y/z', path: 'oth/x/y/z', text: '', note: 'folders that are not there' },
    { command: 'touch fresh', path: 'fresh', text: '', note: 'at the top' },
    { command: 'sed -i s/b/B/ oth/b', path: 'oth/b', text: 'oth/B\n', note: 'in place' },
    { command: 'rm -rf oth/deep', path: 'oth/deep/d', text: 'none', note: 'a folder' },
  ])('$command ($note)', async ({ command, path, text }) => {
    await run(command, ONCE)
    expect(shown(path)).toBe(text)
  })

  it('is for that run alone', async () => {
    expect(await run('touch oth/n', ONCE)).not.toBe('refused')
    expect(await run('touch oth/m', { kind: 'deny' })).toBe('refused')
    expect(shown('oth/m')).toBe('none')
  })
})

describe('nothing else is opened', () => {
  const beside = (code: string): string => `touch oth/n; sh src/x.sh; true`.replace('CODE', code)
  it.each([
    { code: 'cat oth/c', note: 'what lies beside it is not read' },
    { code: 'cat oth/deep/d', note: 'nor what lies below' },
    { code: 'cat top', note: 'nor what lies above' },
    { code: 'echo evil > oth/c', note: 'nor written' },
    { code: 'echo evil > oth/m', note: 'nor created' },
    { code: 'mkdir oth/m', note: 'nor created as a folder' },
    { code: 'rm -f oth/c', note: 'nor removed' },
    { code: 'mv oth/c oth/m', note: 'nor moved' },
    { code: 'chmod 777 oth/c', note: 'nor given other rights' },
    { code: 'mv oth elsewhere', note: 'nor the folder moved' },
    { code: 'ln -s ../src/a oth/m', note: 'nor linked' },
  ])('$code ($note)', async ({ code }) => {
    world.file('src/x.sh', `${code} 2>/dev/null\n`)
    const before = world.snapshot()
    const text = await run(beside(code), ONCE)
    const { 'oth/n': created, ...after } = world.snapshot()
    expect(created).toBeDefined()
    expect(after).toEqual(before)
    expect(text).not.toMatch(/oth\/(?:c|deep\/d)\n|top\n/)
  })

  it('the control: with a grant of the folder all of it is changed', async () => {
    world.file('src/x.sh', 'rm -f oth/c; echo evil > oth/m\n')
    const wide = { ...grants, write: { paths: ['src/**', 'oth/**'] } }
    await run('touch oth/n; sh src/x.sh', ONCE, { ...narrow, capabilities: { allow: { ...wide, commands } } })
    expect([shown('oth/c'), shown('oth/m')]).toEqual(['none', 'evil\n'])
  })

  it('a secret beside it stays hidden, and one that is named asks by itself', async () => {
    expect(await run('cat oth/.env oth/b', ONCE)).toContain('oth/.env')
    world.file('src/x.sh', 'cat oth/.env\n')
    expect(await run('cat oth/b; sh src/x.sh', ONCE)).not.toContain('oth/.env\n')
  })

  it('a denied path stays closed', async () => {
    const object = { ...narrow, capabilities: { allow: { ...grants, commands }, deny: { read: { paths: ['oth/b'] } } } }
    expect(await run('cat oth/b', ONCE, object)).toBe('denied')
    expect(await run('cat oth', ONCE, object)).not.toContain('oth/b\n')
  })

  it('a link that takes the place of what was agreed to points nowhere', async () => {
    world.answer = async () => {
      const { renameSync, symlinkSync } = await import('node:fs')
      renameSync(join(world.root, 'oth/b'), join(world.root, 'oth/was'))
      symlinkSync('../top', join(world.root, 'oth/b'))
      return ONCE
    }
    const cordon = await world.open({ manifest: { object: narrow } })
    const result = await cordon.openSession().call('bash', { command: 'cat oth/b' })
    await cordon.close()
    expect(result.status === 'done' ? result.output.text : '').not.toContain('top\n')
  })
})

describe('for a session, with the narrowest suggestion', () => {
  it.each([
    { command: 'touch oth/n', again: 'echo x > oth/n', path: 'oth/n', text: 'x\n' },
    { command: 'echo x > oth/b', again: 'echo y > oth/b', path: 'oth/b', text: 'y\n' },
  ])('$command', async ({ command, again, path, text }) => {
    world.answer = (request) => ({ kind: 'session', grant: request.suggestions[0]! }) as Answer
    const cordon = await world.open({ manifest: { object: narrow } })
    const session = cordon.openSession()
    await session.call('bash', { command })
    const asked = world.asked.length
    await session.call('bash', { command: again })
    await cordon.close()
    expect([world.asked.length - asked, shown(path)]).toEqual([0, text])
  })
})

describe('what is decided as allowed is there', () => {
  const contained = { ...narrow, permission: { mode: 'contained' } }
  it.each([
    { object: { ...narrow, security: { ...narrow.security, prompt_reads: false } }, note: 'prompt_reads = false' },
    { object: contained, note: 'contained mode' },
    { object: { ...narrow, permission: { mode: 'auto' } }, note: 'auto mode' },
  ])('$note', async ({ object }) => {
    expect(await run('cat oth/b', ONCE, object)).toContain('oth/b')
    expect(world.asked).toEqual([])
  })

  it('a new file that a pattern grants', async () => {
    mkdirSync(join(world.root, 'gen'))
    const write = { paths: ['gen/*.ts'] }
    const object = { ...narrow, capabilities: { allow: { ...grants, write, commands } } }
    await run('touch gen/new.ts', ONCE, object)
    expect([shown('gen/new.ts'), world.asked.length]).toEqual(['', 0])
  })
})
