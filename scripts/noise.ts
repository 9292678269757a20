/**
 * Measures how often contained mode would ask, on commands that real agents ran (`../shared/corpora/noise.jsonl`, which
 * stays outside the project), with the manifest that `cordon init` writes; prints what it would ask about, as the person
 * who would have to answer reads it. `--all` prints every row.
 */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { detectProject } from '../src/manifest/init/detect.ts'
import { proposeManifest } from '../src/manifest/init/init.ts'
import { loadManifest } from '../src/manifest/load.ts'
import type { Manifest } from '../src/manifest/manifest.ts'
import { plainValue } from '../src/manifest/toml/plain.ts'
import { BatchChecker } from '../src/runtime/decide/batch.ts'
import { bundleNames } from '../src/sandbox/bundles/bundles.generated.ts'
import { machineFiles } from '../src/system/files.ts'
import { thisMachine } from '../src/system/machine.ts'

interface NoiseCase {
  readonly id: string
  readonly command: string
  readonly roots: readonly string[]
}

/** A project with a bit of everything, as the logs' projects had. */
const PROJECT: Readonly<Record<string, string>> = {
  '.git': '',
  '.github': '',
  'package.json': JSON.stringify({
    scripts: { test: 'vitest', build: 'tsc', lint: 'biome' },
    packageManager: 'pnpm@9.0.0',
  }),
  'go.mod': 'module example.com/x',
  'Cargo.toml': '[package]\nname = "x"\n',
}

const { values, positionals } = parseArgs({ options: { all: { type: 'boolean' } }, allowPositionals: true })
const file = positionals[0] ?? join(import.meta.dirname, '../../shared/corpora/noise.jsonl')
if (!existsSync(file)) {
  console.error(`noise: ${file} is not there; give the path of a noise.jsonl`)
  process.exit(2)
}

const facts = detectProject({
  exists: (path) => path in PROJECT,
  readText: (path) => PROJECT[path] ?? null,
  list: () => [],
})
const loaded = loadManifest(proposeManifest(facts, bundleNames), 'cordon.toml')
if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
const base = objectForm(loaded.manifest)

const checker = new BatchChecker({ ...thisMachine(), home: '/home/dev' }, machineFiles, { kind: 'project' })
const cases: readonly NoiseCase[] = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const counts = { allow: 0, ask: 0, deny: 0, error: 0 }
const reasons = new Map<string, string[]>()
for (const { id, command, roots } of cases) {
  const [root = '/project', ...others] = roots
  const manifest = structuredClone(base) as { capabilities: { allow: Record<string, unknown> } }
  manifest.capabilities.allow.additional_directories = [...others, '/tmp']
  const answer = await checker.answer(JSON.stringify({ id, tool: 'bash', input: { command }, root, manifest }))
  const verdict = (answer.decision ?? 'error') as keyof typeof counts
  counts[verdict]++
  if (verdict === 'allow') continue
  const reason = answer.reason as { code: string; message: string } | undefined
  const key = `${verdict} ${reason?.code ?? 'error'}`
  const message = (reason?.message ?? String(answer.error)).slice(0, 200)
  reasons.set(key, [...(reasons.get(key) ?? []), message])
}

const share = (count: number) => `${((100 * count) / cases.length).toFixed(1)}%`
console.log(
  `${cases.length} commands: allow ${share(counts.allow)}, ask ${share(counts.ask)} (target 8%), deny ${share(counts.deny)}, error ${counts.error}`,
)
for (const [key, messages] of [...reasons].sort((a, b) => b[1].length - a[1].length)) {
  console.log(`\n${key}: ${messages.length} (${share(messages.length)})`)
  for (const message of values.all ? messages : messages.slice(0, 12)) console.log(`  ${JSON.stringify(message)}`)
}
process.exitCode = counts.error > 0 ? 1 : 0

/** The JSON form of a manifest. */
function objectForm(manifest: Manifest): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [path, { value }] of manifest.settings) {
    const names = path.split('.')
    let table = result
    for (const name of names.slice(0, -1)) {
      table[name] ??= {}
      table = table[name] as Record<string, unknown>
    }
    table[names.at(-1)!] = plainValue(value)
  }
  return result
}
