/**
 * What a saved yes to a command rests on beside its words: the script that they name, and the
 * places that packages come from. It ends when one of them is new.
 */

import { hash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { parseCommandPattern } from '../policy/command-pattern.ts'
import { isRecord } from '../system/json.ts'
import { readPlainFile } from '../system/plain-file.ts'
import type { Suggestion } from './suggestion.ts'

/** Lock files, and the lines of them that name where a package comes from. */
const LOCKS: readonly (readonly [file: string, programs: RegExp, line: RegExp])[] = [
  ['package-lock.json', /^(?:npm|npx)$/, /"resolved": "([^"]+)"/g],
  ['npm-shrinkwrap.json', /^(?:npm|npx)$/, /"resolved": "([^"]+)"/g],
  ['yarn.lock', /^yarn$/, /^ {2}resol(?:ved|ution):? "(?:.*@)?([^"]+:\/\/[^"]+)"/gm],
  ['pnpm-lock.yaml', /^(?:pnpm|pnpx)$/, /\b(?:tarball|repo): ([^\s,}]+)/g],
  ['bun.lock', /^bunx?$/, /"(https?:\/\/[^"]+|git[^"]+:\/\/[^"]+)"/g],
  ['Cargo.lock', /^cargo$/, /^source = "([^"]+)"/gm],
  ['poetry.lock', /^poetry$/, /^url = "([^"]+)"/gm],
  ['uv.lock', /^uvx?$/, /\b(?:registry|git|url) = "([^"]+:\/\/[^"]+)"/g],
  ['Gemfile.lock', /^bundle$/, /^ {2}remote: (\S+)/gm],
  ['composer.lock', /^composer$/, /"(?:dist|source)": \{[^}]*"url": "([^"]+)"/g],
]

/** A larger file is one that cannot be read. */
const MOST_BYTES = 64 * 1024 * 1024

const RUNNERS = /^(?:npm|pnpm|yarn|bun)$/

/** The facts now; none for what rests on its words alone. */
export function answerBasis({ kind, value }: Pick<Suggestion, 'kind' | 'value'>, root: string): readonly string[] {
  const parsed = kind === 'command' ? parseCommandPattern(value) : null
  if (parsed === null || !('pattern' in parsed)) return []
  const [program = '', first = '', second = ''] = parsed.pattern.words
  const named = /^(?:run|run-script|rum|urn)$/.test(first) ? second : first
  const name = program === 'npm' && /^(?:t|tst)$/.test(named) ? 'test' : named
  const locks = LOCKS.filter(([, programs]) => programs.test(program))
  return [
    ...(RUNNERS.test(program) && name !== '' ? scriptsOf(root, name) : []),
    ...locks.flatMap(([file, , line]) => sourcesOf(join(root, file), line)),
  ]
}

/** True if nothing is new since the answer. */
export function stillRests(basis: readonly string[], grant: Pick<Suggestion, 'kind' | 'value'>, root: string): boolean {
  return answerBasis(grant, root).every((fact) => basis.includes(fact))
}

/** The script of a name, and those that run before and after it. */
function scriptsOf(root: string, name: string): readonly string[] {
  return cached(join(root, 'package.json'), (text) => {
    const parsed: unknown = JSON.parse(text)
    const scripts = isRecord(parsed) && isRecord(parsed.scripts) ? parsed.scripts : {}
    return Object.entries(scripts).map(([key, script]) => `script ${key} ${hash('sha256', String(script))}`)
  }).filter((fact) => !fact.startsWith('script ') || [name, `pre${name}`, `post${name}`].includes(fact.split(' ')[1]!))
}

function sourcesOf(file: string, line: RegExp): readonly string[] {
  return cached(file, (text) => {
    const hosts = [...text.matchAll(line)].map(
      ([, address = '']) => /:\/\/(?:[^@/]*@)?([^/]+)/.exec(address)?.[1] ?? address,
    )
    return [...new Set(hosts)].map((host) => `source ${host}`)
  })
}

const known = new Map<string, { readonly version: string; readonly facts: readonly string[] }>()

/** What a file says. One that cannot be read is a fact too: it is not what was answered about. */
function cached(file: string, read: (text: string) => readonly string[]): readonly string[] {
  const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false })
  if (stat === undefined) return []
  const version = `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
  const before = known.get(file)
  if (before?.version === version) return before.facts
  let facts: readonly string[]
  try {
    const bytes = readPlainFile(file, MOST_BYTES)
    facts = bytes === null ? [`unreadable ${version}`] : read(bytes.toString('utf8'))
  } catch {
    facts = [`unreadable ${version}`]
  }
  known.set(file, { version, facts })
  return facts
}
