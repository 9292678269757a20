import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type SavedGrant, SavedGrants } from './saved-grants.ts'

let stateDir: string
let now: number
let grants: SavedGrants

beforeEach(() => {
  stateDir = join(mkdtempSync(join(tmpdir(), 'cordon-grants-')), 'state')
  now = 1_000_000
  grants = new SavedGrants(stateDir, () => now)
})

afterEach(() => rmSync(join(stateDir, '..'), { recursive: true, force: true }))

function add(value: string, changes: Partial<SavedGrant> = {}): SavedGrant {
  return grants.add({
    project: '/one',
    session: 's1',
    kind: 'command',
    value,
    verdict: 'allow',
    scope: 'session',
    expires: null,
    ...changes,
  })
}

const project = (root: string, runtimeGrants = true) => ({
  root,
  policy: { runtimeGrants: { value: runtimeGrants, rule: 'security.runtime_grants', source: 'test' } },
})

const values = (list: readonly SavedGrant[]) => list.map((grant) => grant.value)

it('a value without a meaning is not saved, and one in the file counts for nothing', () => {
  const wrong = { command: 'a | b', write: '[', read: '' }
  for (const [kind, value] of Object.entries(wrong))
    expect(() => add(value, { kind: kind as 'command' }), value).toThrow(/cannot be saved/)
  const saved = add('here')
  const bad = Object.entries(wrong).map(([kind, value], at) => ({ ...saved, id: `bad${at}`, kind, value }))
  writeFileSync(join(stateDir, 'grants.json'), JSON.stringify({ version: 1, grants: [...bad, saved] }))
  expect([values(grants.list()), grants.damage()]).toEqual([['here'], expect.stringMatching(/^3 of the saved/)])
})

it('a denial is never dropped', () => {
  add('denied', { verdict: 'deny', scope: 'project' })
  const one = add('x')
  const saved = Array.from({ length: 1000 }, (_, at) => ({ ...one, id: `g${at}` }))
  const [denied] = grants.list().filter(({ verdict }) => verdict === 'deny')
  writeFileSync(join(stateDir, 'grants.json'), JSON.stringify({ version: 1, grants: [denied, ...saved] }))
  add('last')
  const kept = grants.list()
  expect([kept.length, kept[0]?.value, kept[1]?.id, kept.at(-1)?.value]).toEqual([1001, 'denied', 'g1', 'last'])
})

it('a grant applies in its project alone', () => {
  add('here', { scope: 'time', expires: now + 1000 })
  expect(values(grants.forSession(project('/one'), 's2'))).toEqual(['here'])
  expect(values(grants.forSession(project('/two'), 's2'))).toEqual([])
  expect(values(grants.forSession(project('/two'), 's1'))).toEqual([])
})

it('a grant of a session applies in that session alone, and ends with it', () => {
  add('mine')
  add('timed', { scope: 'time', expires: now + 1000 })
  expect(values(grants.forSession(project('/one'), 's1'))).toEqual(['mine', 'timed'])
  expect(values(grants.forSession(project('/one'), 's2'))).toEqual(['timed'])
  grants.endSession('s2')
  expect(values(grants.forSession(project('/one'), 's1'))).toEqual(['mine', 'timed'])
  grants.endSession('s1')
  expect(values(grants.list())).toEqual(['timed'])
})

it('a grant for a time ends when the time is over', () => {
  add('short', { scope: 'time', expires: now + 1000 })
  now += 999
  expect(values(grants.list())).toEqual(['short'])
  now += 1
  expect(values(grants.list())).toEqual([])
  expect(values(grants.forSession(project('/one'), 's1'))).toEqual([])
  // The next change forgets it for good.
  add('other')
  now -= 500
  expect(values(grants.list())).toEqual(['other'])
})

it('uses are counted, and a grant is revoked by its id', () => {
  const { id } = add('one')
  add('two')
  grants.countUse(id)
  grants.countUse(id)
  expect(grants.list().map((grant) => grant.uses)).toEqual([2, 0])
  expect([grants.revoke('nobody'), grants.revoke(id), grants.revoke(id)]).toEqual([false, true, false])
  expect(values(grants.list())).toEqual(['two'])
})

it('another process sees a change at once', () => {
  const other = new SavedGrants(stateDir, () => now)
  expect(other.list()).toEqual([])
  const { id } = add('new')
  expect(values(other.list())).toEqual(['new'])
  other.revoke(id)
  expect(grants.list()).toEqual([])
})

it.each([
  ['no JSON', 'garbage'],
  ['another version', '{"version":2,"grants":[]}'],
])('%s is a fault, not an empty list', (_, text) => {
  add('one')
  writeFileSync(join(stateDir, 'grants.json'), text)
  expect(() => grants.list()).toThrow(/is damaged/)
})

it('an entry that is not a grant counts for nothing, stays in the file, and is reported', () => {
  const file = join(stateDir, 'grants.json')
  add('bad')
  expect(grants.damage()).toBeNull()
  writeFileSync(file, readFileSync(file, 'utf8').replace('"command"', '"everything"'))
  add('good')
  expect(values(grants.list())).toEqual(['good'])
  expect(grants.damage()).toContain('1 of the saved grants')
  expect(readFileSync(file, 'utf8')).toContain('"everything"')
})

it.each([
  ['a kind that is not one', { kind: 'everything' }],
  ['a value that is not text', { value: 5 }],
  ['a time that is not a number', { scope: 'time', expires: 'soon' }],
])('%s is not saved', (_, wrong) => {
  expect(() => add('one', wrong as never)).toThrow(/cannot be saved/)
  expect(grants.list()).toEqual([])
})

it('a locked project keeps its denials and no grant', () => {
  add('yes', { scope: 'project' })
  add('no', { scope: 'project', verdict: 'deny' })
  expect(values(grants.forSession(project('/one', false), 's1'))).toEqual(['no'])
  expect(values(grants.forSession(project('/one'), 's1'))).toEqual(['yes', 'no'])
})

it('a file that others may write is not believed', () => {
  add('one')
  chmodSync(join(stateDir, 'grants.json'), 0o666)
  expect(() => new SavedGrants(stateDir, () => now).list()).toThrow(/others may write it/)
})
