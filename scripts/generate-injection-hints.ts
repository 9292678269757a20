/** Writes src/scan/injection/hints.generated.ts: what hints at each rule of the injection scan, read off its pattern. */

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { INJECTION_RULES } from '../src/scan/injection/injection.ts'
import { mostWords, parsePattern, waysOf } from './injection/pattern-hints.ts'

const generated = fileURLToPath(new URL('../src/scan/injection/hints.generated.ts', import.meta.url))

const rows = INJECTION_RULES.map((rule) => {
  const pattern = parsePattern(rule.pattern.source)
  const ways = waysOf(pattern).map(({ words, signs }) => [written(words), written(signs)] as const)
  return [rule.rule, { reach: rule.on === 'words' ? mostWords(pattern) : 0, ways }] as const
})

function written(sets: readonly (readonly string[])[]): string {
  return sets.map((set) => set.join('\t')).join('\n')
}

writeFileSync(
  generated,
  `/** Generated from injection-rules.ts by scripts/generate-injection-hints.ts; change that file instead. */

/** Of each rule: over how many words it reaches, and its ways to match: hints in words, and signs; a set a line, with tabs. */
export const INJECTION_HINTS: Readonly<
  Record<string, { readonly reach: number; readonly ways: readonly (readonly [words: string, signs: string])[] }>
> = ${JSON.stringify(Object.fromEntries(rows))}
`,
)
execFileSync('biome', ['check', '--write', generated], { stdio: 'inherit' })
