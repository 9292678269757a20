import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { tailAudit } from './read.ts'

let state: string
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'cordon-tail-'))
  mkdirSync(join(state, 'audit'), { mode: 0o700 })
})
afterEach(() => rmSync(state, { recursive: true, force: true }))

const line = (session: string, seq: number, text = '') =>
  `${JSON.stringify({ v: 1, seq, time: '2026', session, type: 'mode', text, prev: 'x' })}\n`
const file = (session: string) => join(state, 'audit', `${session}.0.jsonl`)

async function take(tail: AsyncGenerator<unknown>, count: number): Promise<string[]> {
  const found: string[] = []
  while (found.length < count) {
    const { value } = await tail.next()
    const read = value as { session: string; seq: number } | null
    found.push(read === null ? 'now' : `${read.session}${read.seq}`)
  }
  return found
}

it('gives what is there, then what comes, of old sessions and new ones, whole lines only', async () => {
  writeFileSync(file('a'), `${line('a', 1)}not a line\n${line('a', 2)}{"v":1,"half`)
  const ended = new AbortController()
  const tail = tailAudit(state, { budget: 1 << 20, signal: ended.signal })
  expect(await take(tail, 3)).toEqual(['a1', 'a2', 'now'])
  writeFileSync(file('b'), line('b', 1))
  expect(await take(tail, 1)).toEqual(['b1'])
  appendFileSync(file('a'), `"}\n${line('a', 3)}`)
  expect(await take(tail, 1)).toEqual(['a3'])
  ended.abort()
  expect((await tail.next()).done).toBe(true)
})

it('begins inside of what is too much, with the next whole line', async () => {
  const many = Array.from({ length: 3000 }, (_, at) => line('a', at, 'x'.repeat(100)))
  writeFileSync(file('a'), many.join(''))
  const ended = new AbortController()
  const tail = tailAudit(state, { budget: 2 * many[0]!.length + 20, signal: ended.signal })
  expect(await take(tail, 3)).toEqual(['a2998', 'a2999', 'now'])
  ended.abort()
  await tail.next()
})

it('waits where nothing was ever recorded', async () => {
  rmSync(join(state, 'audit'), { recursive: true })
  const ended = new AbortController()
  const tail = tailAudit(state, { budget: 100, signal: ended.signal })
  expect(await take(tail, 1)).toEqual(['now'])
  ended.abort()
  expect((await tail.next()).done).toBe(true)
})
