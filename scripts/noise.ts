/**
 * Measures how often contained mode would ask, on commands that real agents ran (`../shared/corpora/noise.jsonl`, which
 * stays outside the project), and prints what it would ask about, as the person who would have to answer reads it.
 */

import { existsSync, readFileSync } from 'node:fs'
import { proposeManifest } from '../src/manifest/init.ts'
import { parseToml } from '../src/manifest/toml.ts'
import { BatchChecker } from '../src/runtime/check-batch.ts'
import { machineFiles } from '../src/system/files.ts'
import { thisMachine } from '../src/system/machine.ts'

void parseToml
void proposeManifest

interface NoiseCase {
  readonly id: string
  readonly command: string
  readonly source: string
  readonly roots: readonly string[]
}

const file = process.argv[2] ?? new URL('../../shared/corpora/noise.jsonl', import.meta.url).pathname
if (!existsSync(file)) {
  console.error(`noise: ${file} is not there; give the path of a noise.jsonl`)
  process.exit(2)
}
const cases: readonly NoiseCase[] = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

const checker = new BatchChecker({ ...thisMachine(), home: '/home/dev' }, machineFiles, { kind: 'project' })
const counts = { allow: 0, ask: 0, deny: 0, error: 0 }
const asked = new Map<string, string[]>()
for (const row of cases) {
  const root = row.roots[0] ?? '/project'
  const manifest = {
    schema_version: 1,
    permission: { mode: 'contained' },
    security: { redirects: 'all', command_substitution: true, outside_roots: 'ask' },
    capabilities: { allow: { additional_directories: [...row.roots.slice(1), '/tmp'] } },
  }
  const answer = await checker.answer(
    JSON.stringify({ id: row.id, tool: 'bash', input: { command: row.command }, root, manifest }),
  )
  const verdict = (answer.decision ?? 'error') as keyof typeof counts
  counts[verdict]++
  if (verdict === 'allow') continue
  const reason = answer.reason as { code: string; message: string } | undefined
  const key = `${verdict} ${reason?.code ?? 'error'}`
  asked.set(key, [...(asked.get(key) ?? []), `${reason?.message ?? answer.error}`.slice(0, 200)])
}

const share = (count: number) => `${((100 * count) / cases.length).toFixed(1)}%`
console.log(
  `${cases.length} commands: allow ${share(counts.allow)}, ask ${share(counts.ask)}, deny ${share(counts.deny)}, error ${counts.error}`,
)
for (const [key, messages] of [...asked].sort((a, b) => b[1].length - a[1].length)) {
  console.log(`\n${key}: ${messages.length} (${share(messages.length)})`)
  const shown = process.argv.includes('--all') ? messages : messages.slice(0, 12)
  for (const message of shown) console.log(`  ${JSON.stringify(message)}`)
}
