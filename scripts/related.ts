/** Which tests are related to changed files, for `npm test -- --changed`: by what they import, name or, in C, drive. */

import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { importsOf } from '../test/layers/imports.ts'

/** The texts of a tree, by path. */
export type Texts = ReadonlyMap<string, string>

export interface RelatedTest {
  readonly path: string
  /** How many files lie between it and a changed one, itself counted; 0 for a changed test. */
  readonly distance: number
}

/** What a file names by a string: a program that it starts, a table that it reads, a document. */
const NAMED = /['"`]((?:\.{0,2}\/)*[\w.@-]+(?:\/[\w.@-]+)*\.(?:tsx?|c|h|py|cjs|jsonl?|toml|sh|md))['"`]/g
const TEST = /\.test\.ts$/
/** What no import points to: the tests of the native files, and those that read the whole tree. */
const DRIVES: readonly (readonly [changed: RegExp, tests: RegExp])[] = [
  [/^native\//, /^test\/(?:contract\/(?:backend|changes)|attacks\/changes)\//],
  [/./, /^test\/layers\//],
]

/** The tests that are related to changed files, nearest first. */
export function relatedTests(texts: Texts, changed: readonly string[]): readonly RelatedTest[] {
  const users = new Map<string, string[]>()
  for (const [file, text] of texts)
    for (const used of usedBy(file, text, texts)) users.set(used, [...(users.get(used) ?? []), file])
  const distances = new Map(changed.map((path) => [path, 0]))
  for (const [path, distance] of distances)
    for (const user of users.get(path) ?? []) if (!distances.has(user)) distances.set(user, distance + 1)
  const driven = [...texts.keys()].filter((path) =>
    DRIVES.some(([from, tests]) => tests.test(path) && changed.some((one) => from.test(one))),
  )
  for (const path of driven) if (!distances.has(path)) distances.set(path, 1)
  return [...distances]
    .filter(([path]) => TEST.test(path) && texts.has(path))
    .map(([path, distance]) => ({ path, distance }))
    .sort((a, b) => a.distance - b.distance || (a.path < b.path ? -1 : 1))
}

function usedBy(file: string, text: string, texts: Texts): ReadonlySet<string> {
  const imported = importsOf(file, text).filter(({ isModule }) => !isModule)
  const named = [...text.matchAll(NAMED)].flatMap(([, name]) => [posix.join(posix.dirname(file), name!), name!])
  return new Set([...imported.map(({ target }) => target), ...named].filter((path) => path !== file && texts.has(path)))
}

/** Whether a test, or what it imports, starts the built program. */
export function needsBuild(texts: Texts, test: string): boolean {
  const reached = new Set([test])
  for (const path of reached) {
    const text = texts.get(path) ?? ''
    if (/['"`/]dist['"`/]/.test(text)) return true
    // What the sources say of dist/ is about a program that is installed.
    for (const { target, isModule } of importsOf(path, text))
      if (!isModule && target.startsWith('test/')) reached.add(target)
  }
  return false
}

/** The files of this checkout that imports and names can lead through. */
export function readTexts(): Texts {
  const paths = globSync('{src,test,scripts,bench,docs}/**/*.{ts,tsx,c,h,py,cjs,jsonl,json,toml,sh,md}')
  return new Map([...paths, ...globSync('*.{md,json,ts}')].map((path) => [path, readFileSync(path, 'utf8')]))
}

/** What changed since a commit, or since this branch left main: committed or not, and new files. */
export function changedFiles(since: string | null): readonly string[] {
  const git = (...words: string[]) => spawnSync('git', words, { encoding: 'utf8' })
  const base = since ?? ['origin/main', 'main'].map((ref) => git('merge-base', 'HEAD', ref).stdout.trim()).find(Boolean)
  const differ = git('diff', '--name-only', base ?? 'HEAD')
  if (differ.status !== 0) throw new Error(differ.stderr.trim())
  const created = git('ls-files', '--others', '--exclude-standard').stdout
  return [...new Set(`${differ.stdout}${created}`.split('\n').filter((path) => path !== '' && existsSync(path)))]
}

/** Of the tests beyond the first stage only those near a change, as far as the time goes. */
export function nearTests(
  related: readonly RelatedTest[],
  seconds: (path: string) => number,
  budget: number,
): readonly string[] {
  let spent = 0
  return related
    .filter(({ distance }) => distance <= NEAR)
    .filter(({ path, distance }) => {
      if (distance > 0 && spent + seconds(path) > budget) return false
      spent += seconds(path)
      return true
    })
    .map(({ path }) => path)
}

const NEAR = 4
