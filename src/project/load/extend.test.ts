/** What is added to a loaded policy, and what comes of it. */

import { expect, test } from 'vitest'
import { HOME, pathRule, ROOT } from '../../../test/cases/policy-fixture.ts'
import { coversPath } from '../../files/path-pattern.ts'
import { machineFiles } from '../../system/files.ts'
import { thisMachine } from '../../system/machine.ts'
import { extendPolicy } from './extend.ts'
import { loadPolicy } from './load.ts'

const machine = { ...thisMachine(), home: HOME, configDir: `${HOME}/.config/cordon`, stateDir: `${HOME}/state` }

async function loaded(manifest: Record<string, unknown> = {}) {
  const object = { schema_version: 1, ...manifest }
  const outcome = await loadPolicy({ machine, files: machineFiles, root: ROOT, choice: { kind: 'object', object } })
  if ('problems' in outcome) throw new Error(outcome.problems[0]?.message)
  return outcome.loaded
}

test('denials join those of the manifest, and the brief is not written', async () => {
  const base = await loaded({ files: { discovery_brief: 'brief.json' } })
  const { policy } = extendPolicy(base, { denials: { writes: [pathRule('private/**')] } })
  const denied = (path: string) => policy.writes.deny.some(({ pattern }) => coversPath(pattern, path))
  expect([`${ROOT}/private/a`, `${ROOT}/brief.json`, `${ROOT}/a`].map(denied)).toEqual([true, true, false])
  expect(policy.reads.deny).toEqual([])
})

test('an envelope of a brief limits writes where the manifest does not', async () => {
  const rules = [pathRule('src/**')]
  const base = await loaded()
  expect(extendPolicy(base, { envelope: { limits: false, rules } }).policy.envelope).toBeNull()
  expect(extendPolicy(base, { envelope: { limits: true, rules } }).policy.envelope).toEqual(rules)
})

test('a session that moved takes its rules along, and leaves those of other places', async () => {
  const base = await loaded({
    capabilities: {
      allow: { read: { paths: ['src/**', '/srv/data/**'] } },
      deny: { write: { paths: ['cordon.lock'] } },
    },
  })
  const moved = extendPolicy(base, { directory: '/moved/here' }).policy
  expect(moved.root).toBe('/moved/here')
  expect(moved.reads.allow.map((rule) => rule.pattern.absolute)).toEqual(['/moved/here/src/**', '/srv/data/**'])
  expect(moved.writes.deny.map((rule) => rule.pattern.absolute)).toEqual(['/moved/here/cordon.lock'])
})
