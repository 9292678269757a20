import { expect, test } from 'vitest'
import { HOME, pathRule, ROOT, sessionOf } from '../../../test/cases/policy-fixture.ts'
import { coversPath } from '../../files/path-pattern.ts'
import { machineFiles } from '../../system/files.ts'
import { thisMachine } from '../../system/machine.ts'
import { loadPolicy } from '../policy/load.ts'
import { decidingPolicy, movedPolicy, NO_REACH, placingPolicy, type SavedDenials } from './policy.ts'

const machine = { ...thisMachine(), home: HOME, configDir: `${HOME}/.config/cordon`, stateDir: `${HOME}/state` }
const nothing: SavedDenials = { reads: [], writes: [], commands: [], hosts: [] }
const open = { limits: false, rules: [] }

async function loaded(manifest: Record<string, unknown> = {}) {
  const object = { schema_version: 1, ...manifest }
  const outcome = await loadPolicy({ machine, files: machineFiles, root: ROOT, choice: { kind: 'object', object } })
  if ('problems' in outcome) throw new Error(outcome.problems[0]?.message)
  return outcome.loaded
}

const declared = { capabilities: { allow: { read: { paths: ['src/**'] }, write: { paths: ['src/**'] } } } }

test('a saved answer never names a protected path open', async () => {
  const grants = { ...sessionOf().grants, writes: [pathRule('.envrc'), pathRule('docs/a.md')] }
  const { policy } = placingPolicy(await loaded(declared), sessionOf({ grants }), NO_REACH, null)
  expect(policy.writes.allow.map((rule) => rule.pattern.text)).toEqual(['src/**', 'docs/a.md'])
})

test('what was answered for reading can be read and not written', async () => {
  const reach = { ...NO_REACH, readOnly: ['/srv/data'], roots: ['/srv/work'] }
  for (const manifest of [{}, declared]) {
    const { policy } = placingPolicy(await loaded(manifest), sessionOf(), reach, null)
    expect(policy.additionalDirectories.map(({ value }) => value)).toEqual(['/srv/work', '/srv/data'])
    const denied = (path: string) => policy.writes.deny.some(({ pattern }) => coversPath(pattern, path))
    expect([denied('/srv/data/x'), denied('/srv/work/x')]).toEqual([true, false])
  }
})

test('the stricter memory limit holds', async () => {
  const memory = async (written: string | null, ring: number | null) => {
    const base = await loaded(written === null ? {} : { limits: { memory: written } })
    return placingPolicy(base, sessionOf(), NO_REACH, ring).sandbox.limits.memory.value
  }
  expect(await memory(null, null)).toBe((await loaded()).sandbox.limits.memory.value)
  expect(await memory('1 GiB', 1024)).toBe(1024)
  expect(await memory('512', 1024)).toBe(512)
})

test('what may not be read is not written either, nor is the brief', async () => {
  const base = await loaded({ files: { discovery_brief: 'brief.json' } })
  const denials = { ...nothing, reads: [pathRule('private/**')] }
  const { policy } = decidingPolicy(base, denials, open)
  const denied = (path: string) => policy.writes.deny.some(({ pattern }) => coversPath(pattern, path))
  expect([`${ROOT}/private/a`, `${ROOT}/brief.json`, `${ROOT}/a`].map(denied)).toEqual([true, true, false])
  expect(policy.reads.deny.map((rule) => rule.pattern.text)).toEqual(['private/**'])
})

test('an envelope of a brief limits writes where the manifest does not', async () => {
  const rules = [pathRule('src/**')]
  const base = await loaded()
  expect(decidingPolicy(base, nothing, { limits: false, rules }).policy.envelope).toBeNull()
  expect(decidingPolicy(base, nothing, { limits: true, rules }).policy.envelope).toEqual(rules)
})

test('a session that moved takes its rules along, and leaves those of other places', async () => {
  const moved = movedPolicy(
    await loaded({
      capabilities: {
        allow: { read: { paths: ['src/**', '/srv/data/**'] } },
        deny: { write: { paths: ['cordon.lock'] } },
      },
    }),
    '/moved/here',
  ).policy
  expect(moved.root).toBe('/moved/here')
  expect(moved.reads.allow.map((rule) => rule.pattern.absolute)).toEqual(['/moved/here/src/**', '/srv/data/**'])
  expect(moved.writes.deny.map((rule) => rule.pattern.absolute)).toEqual(['/moved/here/cordon.lock'])
})
