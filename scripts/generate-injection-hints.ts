/** Writes src/scan/injection/hints.json: what hints at each rule of the injection scan, read off its pattern. */

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { INJECTION_RULES } from '../src/scan/injection/injection.ts'
import { mostWords, parsePattern, waysOf } from './injection/pattern-hints.ts'

const generated = fileURLToPath(new URL('../src/scan/injection/hints.json', import.meta.url))

const rows = INJECTION_RULES.map((rule) => {
  const pattern = parsePattern(rule.pattern.source)
  const ways = waysOf(pattern).map(({ words, signs }) => [written(words), written(signs)] as const)
  return [rule.rule, { reach: rule.on === 'words' ? mostWords(pattern) : 0, ways }] as const
})

function written(sets: readonly (readonly string[])[]): string {
  return sets.map((set) => set.join('\t')).join('\n')
}

writeFileSync(generated, JSON.stringify(Object.fromEntries(rows)))
execFileSync('biome', ['check', '--write', generated], { stdio: 'inherit' })
