/** Blocks of the documents: a manifest loads, JSON is JSON, what TypeScript imports is there, and what a shell runs is somewhere run. */

import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { tldtsSuffixes } from '../../src/hosts/suffix.ts'
import { loadManifest } from '../../src/manifest/load.ts'
import { bundleNames } from '../../src/sandbox/bundles/built-in.ts'
import { pinsScript } from '../../src/shell/inspect/interpreters.ts'

interface Block {
  readonly at: string
  readonly language: string
  readonly text: string
}

const BLOCKS: readonly Block[] = globSync(['*.md', 'docs/**/*.md']).flatMap((path) => {
  const text = readFileSync(path, 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((found) => ({
    at: `${path}:${text.slice(0, found.index).split('\n').length}`,
    language: found[1]!,
    text: found[2]!,
  }))
})
const of = (language: string): readonly (readonly [string, string])[] =>
  BLOCKS.filter((block) => block.language === language).map(({ at, text }) => [at, text] as const)

/** The manifest that a block is, or is a part of. */
const asManifest = (text: string): string => (text.includes('schema_version') ? text : `schema_version = 1\n${text}`)

describe('a manifest', () => {
  it.each(of('toml'))('%s', (_, text) => {
    // Pieces of other files are not manifests: they name what they are.
    const result = loadManifest(asManifest(text), 'cordon.toml', {
      suffixes: tldtsSuffixes,
      bundles: bundleNames(),
      pinsScript,
    })
    expect('problems' in result ? result.problems.map(({ message, line }) => `${line}: ${message}`) : []).toEqual([])
  })
})

describe('JSON', () => {
  it.each(of('json'))('%s', (_, text) => {
    expect(() => JSON.parse(text)).not.toThrow()
  })
})

it('what TypeScript takes from the library is there', () => {
  const taken = of('ts').flatMap(([at, text]) =>
    [...text.matchAll(/import \{ ([^}]*) \} from 'cordon(\/[\w-]+)?'/g)].map(
      (found) => [at, found[1]!.split(', '), found[2] ?? '/index'] as const,
    ),
  )
  expect(taken.length).toBeGreaterThan(2)
  for (const [at, names, module] of taken) {
    const source = readFileSync(module === '/ai-sdk' ? 'src/adapters/ai-sdk.ts' : `src${module}.ts`, 'utf8')
    for (const name of names) expect(source, `${at} ${name}`).toMatch(new RegExp(`\\b${name}\\b`))
  }
})

/** What a stranger copies from a block of shell, and the test that runs it. */
const RUN: Readonly<Record<string, string>> = {
  './cordon try': 'test/e2e/look.test.ts',
  './cordon setup': 'test/e2e/terminal/come-and-go.test.ts',
  'cordon init': 'test/e2e/terminal/first-run.test.ts',
  'cordon run -- npm test': 'test/e2e/terminal/first-run.test.ts',
  cordon: 'test/e2e/terminal/first-run.test.ts',
}

it('every line that README gives to a shell is run by a test', () => {
  const lines = of('sh')
    .filter(([at]) => at.startsWith('README.md'))
    .flatMap(([, text]) => text.split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '' && !/^cd /.test(line))
  expect(lines.toSorted()).toEqual(Object.keys(RUN).toSorted())
  for (const [line, path] of Object.entries(RUN)) {
    const words = line.replace(/^(?:\.\/)?cordon ?/, '').split(' ')[0]!
    expect(readFileSync(path, 'utf8'), line).toContain(words)
  }
})
