/** A host is a file of its own and rows of the tables that go through all of them; no other code knows it by its name. */

import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { HOST_NAMES } from './host.ts'
import { findHost } from './hosts.ts'

/** Where a host has a row: the compiler asks for it. */
const TABLES = [
  'src/surfaces/hook/hosts/host.ts',
  'src/surfaces/hook/install/host-settings.ts',
  'src/surfaces/hook/install/rehearsal.ts',
  'src/surfaces/hook/install/self-test.ts',
]
const SOURCES = globSync('src/**/*.ts').filter((file) => !/\.(test|generated|fixture)\.ts$/.test(file))
const named = (name: string): readonly string[] =>
  SOURCES.filter((file) => new RegExp(`['"]${name}['"]|^ *${name}: `, 'm').test(readFileSync(file, 'utf8')))

it.each(HOST_NAMES)('%s has its protocol, its tables and a guide', (name) => {
  expect(findHost(name)?.name).toBe(name)
  expect(named(name)).toEqual(expect.arrayContaining([`src/surfaces/hook/hosts/${name}.ts`, ...TABLES]))
  expect(globSync(`docs/agents/${name}.md`)).toHaveLength(1)
})

it('the last one is known nowhere else', () => {
  expect(named('cline').toSorted()).toEqual(['src/surfaces/hook/hosts/cline.ts', ...TABLES].toSorted())
})
