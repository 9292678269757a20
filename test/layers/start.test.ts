/** What a command that starts often has to load before it can do anything, by the static imports of its sources. */

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The imports that are loaded with a file: neither types nor `import()`, nor data, which the build puts where it is used. */
function loadedWith(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  const named = text.matchAll(/^(?:import|export)\b(?!\s+type\b)([^'"`;]*?)from\s*['"](\.[^'"]+\.ts)['"]/gm)
  return [...named]
    .filter(([, names = '']) => {
      const each = names
        .replace(/[{}]/g, '')
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean)
      return !names.includes('{') || !each.every((name) => name.startsWith('type '))
    })
    .map(([, , target = '']) => posix.join(posix.dirname(file), target))
}

function start(file: string): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>()
  const load = (name: string): void => {
    if (sizes.has(name)) return
    sizes.set(name, readFileSync(name, 'utf8').length)
    loadedWith(name).forEach(load)
  }
  load(file)
  return sizes
}

/** What none of these needs at once: other backends, the network, models, interpreters, fleets, undo of earlier calls, the page. */
const LATE =
  /^src\/(?:sandbox\/(?:oci|experimental\/seatbelt)\/(?!place)|egress\/(?:protocol|tls|credentials|proxy|broker)|providers|code|fleet|organisation|learn|chat|report|session\/code|agents\/(?:mcp|import)\/|surfaces\/(?:page|chat|acp|mcp)|scan\/injection|audit\/verify|shell\/walk\/analyze)/

// Thousands of characters of source. A change that raises one says in its commit what starts took before and after.
describe.each([
  // The library: opening a project loads the rest.
  { file: 'src/index.ts', most: 213 },
  { file: 'src/surfaces/cli/start/main.ts', most: 33 },
  { file: 'src/surfaces/terminal/redacted-terminal.ts', most: 89 },
  { file: 'src/surfaces/cli/commands/policy/check.ts', most: 564 },
  { file: 'src/surfaces/cli/commands/machine/hook.ts', most: 850 },
  { file: 'src/surfaces/cli/commands/run/run.ts', most: 1041 },
])('$file', ({ file, most }) => {
  const loaded = start(file)
  it('loads late what it rarely needs', () => {
    expect(loaded.size).toBeGreaterThan(5)
    expect([...loaded.keys()].filter((name) => LATE.test(name))).toEqual([])
  })
  it(`loads less than ${most} thousand characters`, () => {
    const total = [...loaded.values()].reduce((sum, size) => sum + size, 0)
    expect(total / 1000).toBeLessThan(most)
  })
})
