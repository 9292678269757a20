/**
 * Measures how often contained mode would ask on commands that real agents ran, with the manifest that `cordon init` writes
 * and the project alone as root: out of the box, with the answers of one trajectory remembered, and with those of all of a
 * project's. Then puts the cases of other guards to the same decision. The corpora stay outside the project
 * (`../shared/corpora`). `--all` prints every row, `--undo` judges as where undo covers the project.
 * `--review UP_TO` counts what is left to the person with a reviewer that says yes to everything in its bound: the log went on.
 */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { BatchChecker } from '../src/call/decide/batch.ts'
import { detectProject } from '../src/manifest/init/detect.ts'
import { AGENT_READS, proposeManifest } from '../src/manifest/init/init.ts'
import { loadManifest } from '../src/manifest/load.ts'
import type { Manifest } from '../src/manifest/schema/manifest.ts'
import { plainValue } from '../src/manifest/toml/tree.ts'
import { REVIEW_BOUNDS, type ReviewBound } from '../src/policy/review-bound.ts'
import { bundleNames } from '../src/sandbox/bundles/built-in.ts'
import { machineFiles } from '../src/system/files.ts'
import { thisMachine } from '../src/system/machine.ts'

interface NoiseCase {
  readonly id: string
  readonly trajectory: string
  readonly command: string
  readonly source: string
  readonly roots: readonly string[]
}

interface GuardCase {
  readonly id: string
  readonly source: string
  readonly command: string
  readonly want: 'ask' | 'ask-or-undo' | 'allow'
}

interface Grant {
  readonly kind: 'command' | 'host' | 'directory' | 'read' | 'write' | 'flow'
  readonly value: string
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

const { values, positionals } = parseArgs({
  options: {
    all: { type: 'boolean' },
    undo: { type: 'boolean' },
    guards: { type: 'boolean' },
    review: { type: 'string' },
  },
  allowPositionals: true,
})
const corpora = positionals[0] ?? join(import.meta.dirname, '../../shared/corpora')
const [noiseFile, guardFile] = [join(corpora, 'noise.jsonl'), join(corpora, 'guards.jsonl')]
if (!existsSync(noiseFile) || !existsSync(guardFile)) {
  console.error(`noise: ${corpora} has no noise.jsonl and guards.jsonl; give the path of the corpora`)
  process.exit(2)
}

const facts = detectProject({
  exists: (path) => path in PROJECT,
  readText: (path) => PROJECT[path] ?? null,
  list: () => [],
})
const loaded = loadManifest(
  proposeManifest(facts, { bundles: bundleNames(), agents: [], reads: AGENT_READS }),
  'cordon.toml',
)
if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
const base = objectForm(loaded.manifest)
const checkers = new Map<string, BatchChecker>()
let errors = 0

const sharedRoots = sharedBySource(rows<NoiseCase>(noiseFile))
const rootsByTrajectory = Map.groupBy(
  rows<NoiseCase>(noiseFile).flatMap((row) => placesIn(row).map((root) => ({ trajectory: row.trajectory, root }))),
  ({ trajectory }) => trajectory,
)
const commandsByTrajectory = Map.groupBy(rows<NoiseCase>(noiseFile), ({ trajectory }) => trajectory)
if (!values.guards) await noise(rows<NoiseCase>(noiseFile))
await guards(rows<GuardCase>(guardFile))
process.exitCode = errors > 0 ? 1 : 0

/** The folders that a row says it worked in: the guesses, else those of the repository's own name that its command writes out. */
function placesIn({ source, roots, command }: NoiseCase): readonly string[] {
  if (roots.length > 0) return roots
  const name = (source.split('/').at(-1) ?? '').replaceAll('.', '\\.')
  return command.match(new RegExp(`/(?:home|Users)/[\\w./-]+/${name}(?=[/\\s"'])`, 'g')) ?? []
}

/** What the guessed roots of a source have in common. */
function sharedBySource(cases: readonly NoiseCase[]): ReadonlyMap<string, string> {
  const shared = new Map<string, string>()
  for (const { source, roots } of cases)
    for (const root of roots) {
      const before = shared.get(source)?.split('/') ?? root.split('/')
      const parts = root.split('/')
      const end = before.findIndex((part, index) => part !== parts[index])
      shared.set(source, (end < 0 ? before : before.slice(0, end)).join('/'))
    }
  return shared
}

/** The three numbers, and what still asks across a project. */
async function noise(cases: readonly NoiseCase[]): Promise<void> {
  const answered = await replay(cases, ({ id }) => id)
  const once = await replay(cases, ({ trajectory }) => trajectory)
  const project = await replay(cases, ({ source }) => source)
  const per = (asks: readonly unknown[]) => ((100 * asks.length) / cases.length).toFixed(2)
  console.log(`${cases.length} commands, the project alone as root; asks in 100 (denials):`)
  for (const [name, result, goal] of [
    ['out of the box', answered, 4],
    ['with memory in a trajectory', once, 1.8],
    ["with memory across a project's", project, 1],
  ] as const)
    console.log(`  ${name.padEnd(32)} ${per(result.asks).padStart(5)} (${per(result.denials)}), goal ${goal}`)
  console.log('\nout of the box:')
  table(answered.asks)
  console.log('\nacross a project:')
  table(project.asks)
  console.log('\ndenied:')
  table(answered.denials)
}

interface Asked {
  readonly what: string
  readonly message: string
}

/** Judges the commands in order; an ask is answered with its narrowest suggestion, which applies to the rest of its group. */
async function replay(
  cases: readonly NoiseCase[],
  groupOf: (row: NoiseCase) => string,
): Promise<{ asks: Asked[]; denials: Asked[] }> {
  const granted = new Map<string, Grant[]>()
  /** By session. A project keeps them for a week, and the log has no times. */
  const labels = new Map<string, Record<string, string>>()
  const [asks, denials]: [Asked[], Asked[]] = [[], []]
  for (const row of cases) {
    const group = groupOf(row)
    const grants = granted.get(group) ?? []
    const root = rootOf(row)
    const known = labels.get(row.trajectory) ?? {}
    const line = { id: row.id, command: row.command, root, cwd: startOf(row, root), labels: known }
    const answer = await judge(line, homeOf(row), grants)
    for (const { label, source } of (answer.labels ?? []) as { label: string; source: string }[])
      known[label] ??= source
    labels.set(row.trajectory, known)
    const reason = answer.reason as { code: string; message: string } | undefined
    if (answer.decision === 'allow' || reason === undefined) continue
    const offers = (answer.suggestions ?? []) as { grants: Grant[] }[]
    const saved = offers[0]?.grants ?? []
    const offer = saved.length > 0 ? saved.map((grant) => `${grant.kind} ${grant.value}`).join(', ') : 'NOTHING TO SAVE'
    const message = `${reason.message.slice(0, 220)}  => ${offer.slice(0, 200)}`
    const note = { what: `${reason.code}${saved.length > 0 ? '' : ' (nothing to save)'}`, message }
    if (answer.decision === 'deny') denials.push(note)
    else if (!isReviewed(answer)) {
      asks.push(note)
      granted.set(group, [...grants, ...saved])
    }
  }
  return { asks, denials }
}

/** Whether the reviewer of this measurement may answer. */
function isReviewed({ worst }: Readonly<Record<string, unknown>>): boolean {
  const { reviewer = null } = (worst ?? {}) as { readonly reviewer?: ReviewBound | null }
  return reviewer !== null && REVIEW_BOUNDS.indexOf(reviewer) <= REVIEW_BOUNDS.indexOf(values.review as ReviewBound)
}

/** The repository's own folder: the part of a guessed root up to the repository's name, else what the guesses of its log share. */
function rootOf({ source, trajectory, roots }: NoiseCase): string {
  const name = source.split('/').at(-1) ?? ''
  // One that names no folder works where the rest of its trajectory does.
  const others = (rootsByTrajectory.get(trajectory) ?? []).map(({ root }) => root)
  for (const root of [...roots, ...others]) {
    const parts = root.split('/')
    const at = parts.findIndex((part) => part === name || /^(\.|__|-|_)worktrees$/.test(part.replace(name, '')))
    if (at > 0) return [...parts.slice(0, at), name].join('/')
  }
  const [first] = roots.length > 0 ? roots : others
  if (first === undefined) return '/project'
  const shared = sharedRoots.get(source) ?? ''
  return first.startsWith(`${shared}/`) && shared.split('/').length > 4 ? shared : first
}

/** The folder in the project that the agent was started in: Claude Code names its own folders after it. */
function startOf({ trajectory }: NoiseCase, root: string): string {
  const own = root.replace(/[^A-Za-z0-9]/g, '-')
  const names = (commandsByTrajectory.get(trajectory) ?? []).flatMap(
    ({ command }) => command.match(/(?<=\/(?:\.claude\/projects|claude-\d+)\/)[\w-]+/g) ?? [],
  )
  const below = names.find((name) => name.startsWith(`${own}-`))
  return below === undefined ? root : join(root, below.slice(own.length + 1))
}

/** The account that the trajectory's folders belong to. */
function homeOf({ trajectory }: NoiseCase): string {
  const homes = (rootsByTrajectory.get(trajectory) ?? []).map(({ root }) => /^\/(?:home|Users)\/[^/]+/.exec(root)?.[0])
  return homes.find((home) => home !== undefined) ?? '/home/dev'
}

/** Where other guards' wants and Cordon's answers differ. */
async function guards(cases: readonly GuardCase[]): Promise<void> {
  const wrong = new Map<string, string[]>()
  const totals = new Map<string, number>()
  for (const { id, source, command, want } of cases) {
    totals.set(want, (totals.get(want) ?? 0) + 1)
    const answer = await judge({ id, command, root: '/project' }, '/home/dev', [])
    const allowed = answer.decision === 'allow'
    if (want === 'allow' ? allowed : !allowed || (want === 'ask-or-undo' && values.undo)) continue
    const reason = answer.reason as { message: string }
    const key = `${want}, ${source}`
    wrong.set(key, [
      ...(wrong.get(key) ?? []),
      `${JSON.stringify(command.slice(0, 160))}  ${allowed ? '' : reason.message.slice(0, 120)}`,
    ])
  }
  console.log('\nguards: cases that are decided otherwise than wanted')
  for (const [want, total] of totals) {
    const count = [...wrong]
      .filter(([key]) => key.startsWith(`${want},`))
      .reduce((sum, [, list]) => sum + list.length, 0)
    console.log(`  want ${want}: ${count} of ${total}`)
  }
  for (const [key, list] of [...wrong].sort()) {
    console.log(`\n${key}: ${list.length}`)
    for (const line of values.all ? list : list.slice(0, 12)) console.log(`  ${line}`)
  }
}

/** A command, where its project is, and where it starts. */
interface Line {
  readonly id: string
  readonly command: string
  readonly root: string
  readonly cwd?: string
  readonly labels?: Readonly<Record<string, string>>
}

async function judge({ id, command, ...place }: Line, home: string, grants: readonly Grant[]) {
  const of = (...kinds: readonly Grant['kind'][]) => [
    ...new Set(grants.filter(({ kind }) => kinds.includes(kind)).map(({ value }) => value)),
  ]
  const manifest = structuredClone(base) as { capabilities: { allow: Record<string, any> } }
  const allow = manifest.capabilities.allow
  allow.additional_directories = of('directory')
  allow.commands = {
    ...allow.commands,
    patterns: [...(allow.commands?.patterns ?? []), ...of('command')],
    default_domains: of('host'),
  }
  allow.read = { ...allow.read, paths: [...(allow.read?.paths ?? []), ...of('read', 'write')] }
  Object.assign(manifest, { flows: Object.fromEntries(of('flow').map((flow) => [flow, 'allow'])) })
  if (of('write').length > 0) allow.write = { paths: ['**', ...of('write')] }
  const undo = values.undo === true ? { undo: true } : {}
  const checker = checkers.get(home) ?? new BatchChecker({ ...thisMachine(), home }, machineFiles, { kind: 'project' })
  checkers.set(home, checker)
  const answer = await checker.answer(
    JSON.stringify({ id, tool: 'bash', input: { command }, ...place, manifest, ...undo }),
  )
  if (answer.error !== undefined) {
    errors++
    console.error(`${id}: ${answer.error}`)
  }
  return answer
}

/** The reasons, the most frequent first, with examples. */
function table(asks: readonly Asked[]): void {
  const reasons = new Map<string, string[]>()
  for (const { what, message } of asks) reasons.set(what, [...(reasons.get(what) ?? []), message])
  for (const [what, messages] of [...reasons].sort((a, b) => b[1].length - a[1].length)) {
    console.log(`  ${what}: ${messages.length}`)
    for (const message of values.all ? messages : messages.slice(0, 10)) console.log(`    ${JSON.stringify(message)}`)
  }
}

function rows<T>(file: string): readonly T[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

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
