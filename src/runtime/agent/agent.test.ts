/** The pure parts of the loop: which calls run at once, what stays when a talk is shortened, and how a broken one is mended. */

import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CallPart, Message } from '../../providers/conversation.ts'
import { expandHeaders, parseConfig } from '../../providers/profile.ts'
import { thisMachine } from '../../system/machine.ts'
import { footprintOf, groupCalls } from './call-groups.ts'
import { keptOf } from './compaction.ts'
import { listTranscripts, mended, NOTHING_SPENT, openTranscript } from './transcript.ts'

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  wire: 'anthropic',
  parts: ids.map((id) => ({ type: 'call', id, name: 'read', input: {} })),
})

describe('calls at once', () => {
  const touched: Record<string, Parameters<typeof footprintOf>[0]> = {
    readA: { reads: ['src/a.ts'] },
    readAll: { lists: ['src'] },
    writeA: { writes: ['src/a.ts'] },
    writeB: { writes: ['b.ts'] },
    run: { command: 'make' },
    unknown: null,
  }
  it.each<[note: string, names: string[], groups: string[][]]>([
    ['reads', ['readA', 'readAll', 'readA'], [['readA', 'readAll', 'readA']]],
    ['writes of different files', ['writeA', 'writeB'], [['writeA', 'writeB']]],
    ['a write below what is listed', ['readAll', 'writeA'], [['readAll'], ['writeA']]],
    ['a command runs alone', ['readA', 'run', 'readA'], [['readA'], ['run'], ['readA']]],
    ['what nobody can tell runs alone', ['unknown', 'unknown'], [['unknown'], ['unknown']]],
  ])('%s', (_, names, groups) => {
    const parts = names.map((name): CallPart => ({ type: 'call', id: name, name, input: {} }))
    const found = groupCalls(parts, ({ name }) => footprintOf(touched[name]!, '/project'))
    expect(found.map((group) => group.map(({ name }) => name))).toEqual(groups)
  })
})

describe('conversations', () => {
  it('what is kept begins with words of the person', () => {
    const messages = [user('old'), calls('a'), { role: 'results', results: [] } as Message, user('new'), calls('b')]
    expect(keptOf(messages, 10_000)).toBe(2)
    expect(keptOf([user('x'.repeat(10_000)), user('y'.repeat(10_000))], 100)).toBe(0)
  })

  it('a call without a result gets one that says so', () => {
    expect(mended([user('go'), calls('a', 'b')]).at(-1)).toMatchObject({
      role: 'results',
      results: [{ id: 'a' }, { id: 'b' }],
    })
  })
})

describe('on disk', () => {
  let base: string
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'cordon-transcript-'))
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))

  it('a conversation that was cut at any byte is whole up to its last line', () => {
    const machine = { ...thisMachine(), stateDir: join(base, 'state') }
    const first = openTranscript(machine, 'one', '/p')
    first.add(user('héllo'))
    first.add(calls('a'), { ...NOTHING_SPENT, turns: 1 })
    first.compacted('short', 1, { ...NOTHING_SPENT, turns: 2 })
    first.add(user('again'))
    first.set({ mode: 'plan' })
    first.close()
    const path = join(machine.stateDir, 'chat/one.jsonl')
    const bytes = readFileSync(path)
    const lines: number[] = []
    for (let size = bytes.length; size > bytes.indexOf(10); size -= 3) {
      writeFileSync(path, bytes)
      truncateSync(path, size)
      const again = openTranscript(machine, 'one', '/p')
      lines.push(again.restored.messages.length)
      again.close()
      expect(readFileSync(path).at(-1)).toBe(10)
    }
    expect(lines[0]).toBe(4)
    writeFileSync(path, bytes)
    expect(listTranscripts(machine, '/p')).toMatchObject([{ id: 'one', title: 'héllo' }])
    expect(listTranscripts(machine, '/q')).toEqual([])
    const open = openTranscript(machine, 'one', '/p')
    expect(open.restored).toMatchObject({ settings: { mode: 'plan' }, spent: { turns: 2 } })
    expect(() => openTranscript(machine, 'one', '/p')).toThrow()
    open.close()
    expect(() => openTranscript(machine, 'one', '/q')).toThrow(/belongs to/)
  })
})

describe('profiles', () => {
  it('a key goes where it was stored for, and nowhere else', () => {
    const { profiles } = parseConfig(
      { provider: 'anthropic', profiles: { proxy: { provider: 'anthropic', base_url: 'https://proxy.example' } } },
      'x',
    )
    expect(profiles.get('anthropic')!.keyNames).toContain('api-key')
    expect(profiles.get('proxy')!.keyNames).toEqual(['api-key.profiles.proxy', 'api-key.proxy'])
    expect(profiles.get('proxy')!.keyVariable).toBe(null)
  })

  it.each<[note: string, config: unknown, message: RegExp]>([
    ['a key in it', { provider: 'anthropic', key: 'x' }, /no setting "key"/],
    ['another profile than there is', { profile: 'x' }, /no profile "x"/],
    ['a URL that is none', { profiles: { a: { base_url: 'file:///x' } } }, /http/],
    ['a header with a line end', { profiles: { a: { base_url: 'https://x', headers: { a: 'b\r\nc' } } } }, /headers/],
  ])('%s is an error', (_, config, message) => {
    expect(() => parseConfig(config, 'x')).toThrow(message)
  })

  it('headers expand their variables, and one that is not set is an error', () => {
    const profile = parseConfig(
      { profiles: { a: { base_url: 'https://x', headers: { 'X-A': 'b ${C}' } } } },
      'x',
    ).profiles.get('a')!
    expect(expandHeaders(profile, { C: 'd' })).toEqual({ 'x-a': 'b d' })
    expect(() => expandHeaders(profile, {})).toThrow(/variable C/)
  })
})
