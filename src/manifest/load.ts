/** Manifest text or object to a manifest, or to all that is wrong with it. */

import type { SuffixLookup } from '../hosts/suffix.ts'
import type { PinsScript } from '../shell/tables/interpreter-names.ts'
import { type CommandMatcher, checkCommands, checkToolLevels, type GrantFlags } from './check/command-conflicts.ts'
import { checkHosts, checkNames, checkPaths } from './check/reach-conflicts.ts'
import type { FormatContext } from './schema/format.ts'
import { type Item, type Manifest, type PathEntry, SCHEMA, SCHEMA_VERSION, type Setting } from './schema/manifest.ts'
import { type Reading, readTable } from './schema/shape.ts'
import { type Problem, Report } from './toml/problem.ts'
import { parseToml } from './toml/toml.ts'
import { describeNode, positions, quoteShort, type TableNode, treeFromObject } from './toml/tree.ts'

export interface LoadOptions {
  /** The public suffix list; null until a wildcard host asks for it (`openManifest` sees to that). */
  readonly suffixes?: SuffixLookup | null
  /** Knows the options of interpreters; null until a grant of one asks for it (`openManifest` sees to that). */
  readonly pinsScript?: PinsScript | null
  /** Names of the bundles there are; without them the names are not checked. */
  readonly bundles?: readonly string[] | null
  /** Checks the examples of rules; without it they are reported as unchecked. */
  readonly matches?: CommandMatcher | null
  /** The user's manifest under a project's one: its flags decide which grants are refused. */
  readonly below?: Manifest | null
  /** The name of an object without a file in messages; default `manifest`. */
  readonly name?: string
}

export type LoadResult =
  | { readonly manifest: Manifest; readonly warnings: readonly Problem[]; readonly suffixes: SuffixLookup | null }
  | {
      readonly problems: readonly Problem[]
      readonly warnings: readonly Problem[]
      /** True when the list was missing, so that loading again with it may give another result. */
      readonly needsSuffixes: boolean
      /** The same for the tables of programs. */
      readonly needsPrograms: boolean
    }

/** A manifest is written by hand; more than this is not one. */
const MAX_BYTES = 1_048_576

/** Loads a manifest from its text, or from the bytes of its file. */
export function loadManifest(input: string | Uint8Array, file: string, options: LoadOptions = {}): LoadResult {
  const decoded = decode(input, file)
  if ('problems' in decoded) return decoded
  const { text } = decoded
  const report = new Report(file, positions(text))
  const document = parseToml(text)
  for (const problem of document.problems) {
    const code = problem.key === '' ? 'syntax' : 'duplicate-key'
    const { message, expected, found } = problem
    report.error(problem.at, problem.key, { code, message, expected, found })
  }
  return finish(document.root, report, options, document.problems.length === 0)
}

/** Loads the object form: the same keys as JSON values. */
export function manifestFromObject(value: unknown, options: LoadOptions = {}): LoadResult {
  const report = new Report(options.name ?? 'manifest', null)
  const tree = treeFromObject(value)
  if ('message' in tree) {
    report.error(-1, tree.key, {
      code: 'wrong-type',
      message: tree.message,
      expected: 'the JSON form of a cordon.toml',
    })
    return { problems: report.problems, warnings: [], needsSuffixes: false, needsPrograms: false }
  }
  if (tree.node.kind !== 'table') {
    const found = describeNode(tree.node)
    report.error(-1, '', { code: 'wrong-type', message: 'the manifest is not an object', expected: 'a table', found })
    return { problems: report.problems, warnings: [], needsSuffixes: false, needsPrograms: false }
  }
  return finish(tree.node, report, options, true)
}

/** Loads either form; the public suffix list and the tables of programs only when a rule needs them: loading costs time. */
export async function openManifest(
  input: { readonly text: string | Uint8Array; readonly file: string } | { readonly object: unknown },
  options: LoadOptions = {},
): Promise<LoadResult> {
  const load = (given: LoadOptions): LoadResult =>
    'object' in input ? manifestFromObject(input.object, given) : loadManifest(input.text, input.file, given)
  const first = load(options)
  if ('manifest' in first || (!first.needsSuffixes && !first.needsPrograms)) return first
  return load({
    ...options,
    ...(first.needsSuffixes && { suffixes: (await import('../hosts/suffix.ts')).tldtsSuffixes }),
    ...(first.needsPrograms && { pinsScript: (await import('../shell/inspect/interpreters.ts')).pinsScript }),
  })
}

function decode(
  input: string | Uint8Array,
  file: string,
): { text: string } | Exclude<LoadResult, { manifest: Manifest }> {
  const refuse = (
    code: Problem['code'],
    message: string,
    expected: string,
    found: string,
    at: number | null = null,
  ) => {
    const report = new Report(file, at === null || typeof input !== 'string' ? null : positions(input))
    report.error(at ?? -1, '', { code, message, expected, found })
    return { problems: report.problems, warnings: [], needsSuffixes: false, needsPrograms: false }
  }
  const size = typeof input === 'string' ? input.length : input.byteLength
  if (size > MAX_BYTES) {
    return refuse('too-large', 'the manifest is too large', `at most ${MAX_BYTES} bytes`, `${size}`)
  }
  let text: string
  if (typeof input === 'string') text = input
  else {
    try {
      text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input)
    } catch {
      return refuse('not-text', 'the manifest is not UTF-8 text', 'UTF-8', 'bytes that are no characters')
    }
  }
  const nul = text.indexOf('\0')
  if (nul >= 0) return refuse('not-text', 'the manifest is a binary file', 'a text', 'a NUL character', nul)
  if (!text.isWellFormed()) {
    return refuse('not-text', 'the manifest is not Unicode text', 'whole characters', 'half of a surrogate pair')
  }
  if (text.replace(/^\ufeff/, '').trim() === '') {
    return refuse('empty', 'the manifest is empty', `schema_version = ${SCHEMA_VERSION} and rules`, 'nothing')
  }
  return { text }
}

function finish(root: TableNode, report: Report, options: LoadOptions, complete: boolean): LoadResult {
  const { suffixes = null, pinsScript = null, bundles = null, matches = null, below = null } = options
  const formats: FormatContext = {
    suffixes,
    bundles,
    customTools: customTools(root, below),
    commands: new Map(),
    paths: new Map(),
    hosts: new Map(),
    pinsScript,
    missesSuffixes: false,
    missesPrograms: false,
  }
  const reading: Reading = { report, formats, settings: new Map(), declared: new Set() }
  checkVersion(root, report, complete)
  readTable(root, SCHEMA, '', reading)
  for (const section of ['allow.read', 'allow.write', 'deny.read', 'deny.write']) resolveFiles(section, reading)
  const manifest: Manifest = { file: report.file, settings: reading.settings, declared: reading.declared }
  checkCommands(manifest, formats, report, grantFlags(manifest, below), matches)
  checkPaths(manifest, formats, report, 'read')
  checkPaths(manifest, formats, report, 'write')
  checkHosts(manifest, formats, report)
  checkNames(manifest, report)
  checkToolLevels(manifest, report)
  const problems = inOrder(report.problems)
  const warnings = inOrder(report.warnings)
  const { missesSuffixes: needsSuffixes, missesPrograms: needsPrograms } = formats
  // A variable may contain a wildcard, so its expansion needs the list as well.
  if (problems.length > 0 || needsSuffixes) return { problems, warnings, needsSuffixes, needsPrograms }
  return { manifest, warnings, suffixes }
}

/** In the order of the file, in which a person works through it. */
function inOrder(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
}

function checkVersion(root: TableNode, report: Report, complete: boolean): void {
  const entry = root.entries.get('schema_version')
  const expected = `schema_version = ${SCHEMA_VERSION} at the top`
  if (entry === undefined) {
    // In a text that did not parse, the line may be there and lost.
    if (!complete) return
    report.error(0, 'schema_version', {
      code: 'schema-version',
      message: 'the manifest does not say which version of the format it is',
      expected,
      found: 'no schema_version',
      suggestion: `add the line: schema_version = ${SCHEMA_VERSION}`,
    })
    return
  }
  if (entry.node.kind === 'integer' && entry.node.value === SCHEMA_VERSION) return
  root.entries.delete('schema_version')
  report.error(entry.node.at, 'schema_version', {
    code: 'schema-version',
    message: 'this version of the format is not known',
    expected,
    found: describeNode(entry.node),
    suggestion: entry.node.kind === 'integer' ? 'use the Cordon that the manifest was written for' : null,
  })
}

function customTools(root: TableNode, below: Manifest | null): Set<string> {
  const names = new Set<string>()
  const node = root.entries.get('tools')?.node
  if (node?.kind === 'table') for (const name of node.entries.keys()) names.add(name)
  for (const path of below?.declared ?? []) if (path.startsWith('tools.')) names.add(path.slice('tools.'.length))
  return names
}

/**
 * Gives each path entry the file names it is about. Per file, because one layer's `default_files` must never change what
 * another layer denies.
 */
function resolveFiles(section: string, reading: Reading): void {
  const path = `capabilities.${section}.paths`
  const defaults = reading.settings.get(`capabilities.${section}.default_files`)
  const files = (defaults?.value as readonly Item<string>[] | undefined)?.map((item) => item.value) ?? null
  const written = reading.settings.get(path)
  if (written === undefined) {
    if (defaults === undefined || !section.startsWith('deny')) return
    // Names denied without a place are denied everywhere: the strict reading of a list that someone cared to write.
    const { at, rule, source } = defaults
    const value: PathEntry = { path: '**', files }
    reading.settings.set(path, { ...defaults, key: pathsKey(section), value: [{ at, rule, source, value }] })
    return
  }
  if (section.startsWith('deny') && files !== null && !files.includes('*')) tellNarrowed(written, files, reading)
  const items = (
    written.value as readonly Item<{ path: string; files?: readonly Item<string>[]; prompt?: boolean }>[]
  ).map((item): Item<PathEntry> => {
    const own = item.value.files?.map((file) => file.value)
    return { ...item, value: { ...item.value, files: own ?? files } }
  })
  reading.settings.set(path, { ...written, value: items })
}

/** Warns that names beside places deny only names in those places (F2), not all of each. */
function tellNarrowed(written: Setting, files: readonly string[], reading: Reading): void {
  const entries = written.value as readonly Item<{ path: string; files?: unknown }>[]
  const entry = entries.find((item) => item.value.files === undefined)
  if (entry === undefined) return
  const names = files.map((name) => JSON.stringify(name)).join(', ')
  const { path } = entry.value
  reading.report.warn(entry.at, entry.rule, {
    code: 'narrow-denial',
    message: `only ${names} in ${quoteShort(path)} is denied, because of default_files: neither its other files nor these names elsewhere are`,
    suggestion: `write { path = ${JSON.stringify(path)}, files = ["*"] } to deny all of it, { path = "**", files = [${names}] } for the names everywhere`,
  })
}

function pathsKey(section: string): Setting['key'] {
  const [verdict, verb] = section.split('.')
  return SCHEMA.tables.get('capabilities')!.tables.get(verdict!)!.tables.get(verb!)!.keys.get('paths')!
}

/** The file can only tighten a flag of the user's layer; an unset one is the file's to set. */
function grantFlags(manifest: Manifest, below: Manifest | null): GrantFlags {
  const flag = (name: string): boolean => {
    const own = manifest.settings.get(`security.${name}`)?.value as boolean | undefined
    const user = below?.settings.get(`security.${name}`)?.value as boolean | undefined
    return user === undefined ? (own ?? false) : user && (own ?? true)
  }
  return { system_python: flag('system_python'), privilege_wrappers: flag('privilege_wrappers') }
}
