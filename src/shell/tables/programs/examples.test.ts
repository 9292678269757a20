/**
 * Every row has an example, in the file of its family under `examples/`: a command line, `=>`, and what Cordon makes of it. A new row
 * fails here until it has one; an example that is no longer right shows what a change did.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { analyze } from '../../walk/analyze.ts'
import type { ProgramTable } from '../spec.ts'

const here = new URL('.', import.meta.url)
const families = readdirSync(here).filter((name) => /^[a-z-]+\.ts$/.test(name) && name !== 'registry.ts')

async function rowsOf(family: string): Promise<readonly (readonly string[])[]> {
  const module: Readonly<Record<string, () => ProgramTable>> = await import(new URL(family, here).href)
  const make = Object.entries(module).find(([name]) => name.endsWith('Programs'))![1]
  return Object.keys(make()).map((names) => names.split(' '))
}

function examplesOf(family: string): readonly (readonly [line: string, findings: string])[] {
  const text = readFileSync(new URL(`examples/${family.replace(/\.ts$/, '.txt')}`, here), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const at = line.indexOf('  =>  ')
      return [line.slice(0, at), line.slice(at + 6)]
    })
}

/** The effect, then hazards, files, hosts, and what it runs in turn. */
function findingsOf(line: string): string {
  const analysis = analyze(line, { cwd: '/project', home: '/home/u', variables: {} })
  if ('rejection' in analysis) return analysis.rejection.message
  const [fact, ...inner] = analysis.facts.commands
  const shown = (path: string | null): string => path?.replace(/^\/project\/?/, '') ?? '?'
  return [
    ...new Set([
      fact!.effect,
      ...fact!.hazards.map(({ code }) => code),
      ...fact!.paths.map(({ access, path }) => `${access} ${shown(path) || '.'}`),
      ...fact!.hosts.map(({ url }) => `host ${url}`),
      ...inner.map(({ argv }) => `runs \`${argv.map((word) => word.text).join(' ')}\``),
    ]),
  ].join(', ')
}

describe.each(families)('%s', (family) => {
  test('has an example for every row', async () => {
    const named = new Set(examplesOf(family).map(([line]) => line.split(' ')[0]))
    const without = (await rowsOf(family)).filter((names) => names[0] !== '' && !names.some((name) => named.has(name)))
    expect(without.map((names) => names.join(' '))).toEqual([])
  })
  test.each(examplesOf(family))('%s', (line, findings) => {
    expect(findingsOf(line)).toBe(findings)
  })
})
