/** Writes src/sandbox/bundles/bundles.json and docs/reference/bundles.md from the data files of the bundles. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseToml } from '../src/manifest/toml/toml.ts'
import type { Node } from '../src/manifest/toml/tree.ts'
import type { Bundle } from '../src/sandbox/bundles/bundle.ts'
import { parseBundle, renderBundles } from './bundle-file.ts'

const folder = new URL('../src/sandbox/bundles/', import.meta.url)
const generated = new URL('../src/sandbox/bundles/bundles.json', import.meta.url)
const docs = new URL('../docs/reference/', import.meta.url)

/** Reads every data file, in the order of their names. */
export function readBundles(): readonly Bundle[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.toml'))
  return files.sort().map((name) => readBundle(name))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bundles = readBundles()
  mkdirSync(docs, { recursive: true })
  writeFileSync(new URL('bundles.md', docs), renderBundles(bundles))
  writeFileSync(generated, JSON.stringify(Object.fromEntries(bundles.map((bundle) => [bundle.tool, bundle]))))
  execFileSync('biome', ['check', '--write', fileURLToPath(generated)], { stdio: 'inherit' })
}

function readBundle(name: string): Bundle {
  const { root, problems } = parseToml(readFileSync(new URL(name, folder), 'utf8'))
  if (problems.length > 0) throw new Error(`${name}: ${problems.map((problem) => problem.message).join('; ')}`)
  const parsed = parseBundle(plain(root), name)
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  return parsed.bundle
}

function plain(node: Node): unknown {
  if (node.kind === 'array') return node.items.map(plain)
  if (node.kind === 'table')
    return Object.fromEntries([...node.entries].map(([key, entry]) => [key, plain(entry.node)]))
  return node.value
}
