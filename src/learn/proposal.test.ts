/** What is proposed for what was lacked, as a table. */

import { expect, it } from 'vitest'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { Need } from './needs.ts'
import { type ProposalPlaces, propose } from './proposal.ts'

const read = (value: string): Need => ({ kind: 'read', value, evidence: `it looked for ${value}` })
const write = (value: string): Need => ({ kind: 'write', value, evidence: `it tried to change ${value}` })
const host = (value: string): Need => ({ kind: 'host', value, evidence: `it asked for ${value}` })

const proposed = (command: string, needs: readonly Need[], programs: readonly string[] = [], leftOut = 0) => {
  const places: ProposalPlaces = {
    command: command.split(' '),
    loaded: { sandbox: { bundles: [] } } as unknown as LoadedPolicy,
    home: '/home/u',
    isGrantable: (folder) => folder !== '/home/u' && folder !== '/srv',
    registryHosts: (tool) => (tool === 'npm' ? ['packages.example.org'] : []),
  }
  return propose({ needs, programs: new Set(programs) }, leftOut, places)
}

const many = (count: number, at: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => read(at(index)))

const CASES: readonly [
  note: string,
  command: string,
  needs: readonly Need[],
  programs: readonly string[],
  lines: readonly string[],
][] = [
  ['two files stay files', 'x', [read('/d/a'), read('/d/b')], [], ['read /d/a', 'read /d/b']],
  ['three are a folder', 'x', [read('/d/a'), read('/d/b'), read('/d/c')], [], ['read /d']],
  [
    'but never the home',
    'x',
    many(3, (at) => `/home/u/f${at}`),
    [],
    ['read /home/u/f0', 'read /home/u/f1', 'read /home/u/f2'],
  ],
  ['of a folder and a file in it, the file', 'x', [read('/d'), read('/d/e/f')], [], ['read /d/e/f']],
  [
    'a folder named by a hash is another next time',
    'x',
    [read(`/c/t/${'3f9a8b7c'.repeat(4)}/blob`)],
    [],
    ['read /c/t'],
  ],
  ['a word of the same letters is a name', 'x', [read('/c/deadbeefdeadbeef/x')], [], ['read /c/deadbeefdeadbeef/x']],
  ['what is written need not be read', 'x', [read('/o/a'), write('/o')], [], ['write /o']],
  ['a registry is the bundle', 'npm ci', [host('packages.example.org')], ['npm', 'node'], ['tool npm']],
  ['another host is itself', 'npm ci', [host('other.example.org')], ['npm'], ['host other.example.org']],
  [
    'behind another program, by its name',
    'make all',
    [host('packages.example.org')],
    ['make', 'sh', 'npm'],
    ['tool npm through make'],
  ],
  [
    'behind a shell the host alone: the bundle would be for everything',
    'sh build.sh',
    [host('packages.example.org')],
    ['sh', 'npm'],
    ['host packages.example.org'],
  ],
  [
    'behind an interpreter as well',
    'node build.js',
    [host('packages.example.org')],
    ['node', 'npm'],
    ['host packages.example.org'],
  ],
]

it.each(CASES)('%s', (_, command, needs, programs, lines) => {
  const { lines: found, flooded } = proposed(command, needs, programs)
  const text = found.map(({ kind, value, wrapper }) => `${kind} ${value}${wrapper ? ` through ${wrapper}` : ''}`)
  expect([flooded, text]).toEqual([false, lines])
})

it('a flood is bounded, not drawn together, and said', () => {
  const { lines, flooded, warnings } = proposed(
    'x',
    many(500, (at) => `/d/f${at}`),
  )
  expect([flooded, warnings.length, lines.length]).toEqual([true, 1, 16])
  for (const { value } of lines) expect(value).toMatch(/^\/d\/f\d+$/)
  expect(proposed('x', [read('/d/a')], [], 1).flooded).toBe(true)
})
