import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { renderReference } from '../../../scripts/manifest-reference.ts'
import { tldtsSuffixes } from '../../hosts/suffix.ts'
import { loadManifest } from '../load.ts'
import { SECTIONS, schemaKeys } from './manifest.ts'
import { SECRETS_EXAMPLE } from './reach.ts'

test('the committed page is the one the schema makes', () => {
  const committed = readFileSync(new URL('../../../docs/reference/manifest.md', import.meta.url), 'utf8')
  expect(committed, 'run `node scripts/generate-manifest-doc.ts`').toBe(renderReference())
})

describe('every example loads', () => {
  const examples = [...SECTIONS, { path: 'secrets', example: SECRETS_EXAMPLE }]
  test.each(examples)('[$path]', ({ example }) => {
    const matches = (_: unknown, command: string) => command === 'gh pr view 12'
    const result = loadManifest(`schema_version = 1\n${example}`, 'example.toml', { suffixes: tldtsSuffixes, matches })
    expect('problems' in result ? result.problems : result.warnings).toEqual([])
  })
})

test('every key has a sentence and a requirement', () => {
  for (const { path, key } of schemaKeys()) {
    expect(key.doc, path).toMatch(/^[A-Za-z`*:].*\.$/s)
    expect(key.spec, path).toMatch(/^[A-Z][0-9]/)
  }
})

test('what the user sets in [security], [http] and [limits] has a stricter side', () => {
  const bound = schemaKeys().filter(({ path }) => /^(?:security|http|limits)\./.test(path))
  expect(bound.length).toBeGreaterThan(20)
  expect(bound.filter(({ key }) => key.strictness === undefined)).toEqual([])
})
