/**
 * What agents offer in their newest versions, beside what was recorded: tools, flags, hook events, files they load. `npm test
 * -- agents --latest` reports what is new, because each new name may be a way around a hook.
 */

import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toolNames } from '../../src/surfaces/hook/host/scripted-model.ts'
import { findHost, installOf } from '../../src/surfaces/hook/hosts/hosts.ts'
import { type Agent, agents } from './agents.ts'
import { cache, findable, install, programOf } from './program.ts'
import { inSession } from './session.ts'

const KINDS = ['tools', 'models', 'flags', 'variables', 'events', 'files'] as const
type Catalogue = Readonly<Record<(typeof KINDS)[number], readonly string[]>> & { readonly version: string }

const RECORDED = join(import.meta.dirname, 'catalogue.json')

/** Compares each agent with its record; returns how many could not be read. */
export async function reportNewest(
  wanted: readonly string[],
  record: boolean,
  say: (line: string) => void,
): Promise<number> {
  const known = readRecord()
  let failed = 0
  for (const agent of agents.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    const missing = install(agent)
    if (missing !== null) {
      say(`${agent.name}: not read, and that is a failure: ${missing}`)
      failed++
      continue
    }
    const found = await readCatalogue(agent)
    if (found.tools.length === 0) {
      say(`${agent.name}: it offered its model no tools, and that is a failure`)
      failed++
    }
    for (const line of differences(agent, known[agent.name], found)) say(line)
    known[agent.name] = found
  }
  if (record) writeRecord(known)
  return failed
}

/** Names of one kind are one line, so that a change of the record can be read. */
function readRecord(): Record<string, Catalogue> {
  const lines = JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, Record<string, string>>
  const names = (line = ''): readonly string[] => line.split(' ').filter((one) => one !== '')
  return Object.fromEntries(
    Object.entries(lines).map(([agent, line]) => [
      agent,
      { version: line.version, ...Object.fromEntries(KINDS.map((kind) => [kind, names(line[kind])])) } as Catalogue,
    ]),
  )
}

function writeRecord(known: Readonly<Record<string, Catalogue>>): void {
  const lines = Object.entries(known).map(([agent, catalogue]) => [
    agent,
    { version: catalogue.version, ...Object.fromEntries(KINDS.map((kind) => [kind, catalogue[kind].join(' ')])) },
  ])
  writeFileSync(RECORDED, `${JSON.stringify(Object.fromEntries(lines), null, 2)}\n`)
}

/** A line for each kind that changed. */
export function differences(
  { name }: Pick<Agent, 'name'>,
  before: Catalogue | undefined,
  now: Catalogue,
): readonly string[] {
  const lines = KINDS.flatMap((kind) => {
    const [old, own] = [before?.[kind] ?? [], now[kind]]
    const added = own.filter((one) => !old.includes(one))
    const gone = old.filter((one) => !own.includes(one))
    return [
      ...(added.length > 0 ? [`  new ${kind}: ${added.map((one) => marked(name, kind, one)).join(', ')}`] : []),
      ...(gone.length > 0 ? [`  no longer there, ${kind}: ${gone.join(', ')}`] : []),
    ]
  })
  const versions = before?.version === now.version ? now.version : `${before?.version ?? 'none'} to ${now.version}`
  return [`${name} ${versions}: ${lines.length === 0 ? 'nothing new' : ''}`.trimEnd(), ...lines]
}

/** A tool that no table has is asked about whenever it is called. */
function marked(name: Agent['name'], kind: string, one: string): string {
  return kind === 'tools' && !Object.hasOwn(findHost(name)!.tools, one) ? `${one} (asks: no row)` : one
}

async function readCatalogue(agent: Agent): Promise<Catalogue> {
  const [, named = agent.package] = /^(@?[^@]+)@/.exec(agent.package) ?? []
  const { version } = JSON.parse(readFileSync(join(cache, 'node_modules', named, 'package.json'), 'utf8')) as {
    version: string
  }
  const { test, withoutHooks } = await installOf(agent.name)
  const event =
    'call' in test ? String((test.call('/', 'true') as { hook_event_name?: unknown }).hook_event_name ?? '') : ''
  const texts = codeOf(agent, named)
  const place = agent.settings.user.split('/')[0]!.replace('.', '\\.')
  const prefix = [agent.program, ...(withoutHooks?.variables ?? [])].map((one) => one.split('_')[0]!.toUpperCase())
  const all = (pattern: RegExp): readonly string[] =>
    sorted(texts.flatMap((text) => Array.from(text.matchAll(pattern), ([whole, one]) => one ?? whole)))
  return {
    version,
    tools: await toolsOf(agent),
    models: sorted(outputOf(agent, ['debug', 'models']).match(/(?<="slug":\s*")[^"]+/g) ?? []),
    flags: sorted(outputOf(agent, ['--help']).match(/(?<![\w-])--[a-z][a-z0-9-]+/g) ?? []),
    // Those that could switch a guard off.
    variables: all(
      new RegExp(
        `\\b(?:${prefix.join('|')})_[A-Z0-9_]*(?:HOOK|SAFE_|SIMPLE|RESTRICT|BARE|SANDBOX|POLICY|TRUST|YOLO|BYPASS)[A-Z0-9_]*\\b`,
        'g',
      ),
    ),
    events: event === '' ? [] : sorted(texts.flatMap((text) => eventsBeside(text, event))),
    files: all(
      new RegExp(`(?<![\\w.])${place}/[a-z][\\w-]*(?:/[\\w-]+)*(?:\\.(?:jsonc?|toml|md|ya?ml|[jt]s))?(?![\\w/])`, 'g'),
    ),
  }
}

/** Strings of the list or the enumeration that a known event is in. */
function eventsBeside(text: string, event: string): readonly string[] {
  const lists = text.matchAll(
    new RegExp(`\\[(?:"[A-Za-z.]{3,40}",?\\s*){0,60}"${event}"(?:,?\\s*"[A-Za-z.]{3,40}"){0,60}`, 'g'),
  )
  const enumerated = text.matchAll(/\b\w+\[?["'](\w{3,40})["']\]\s*=\s*["']\1["']/g)
  const rows = [...enumerated].map(({ 1: one, index }) => ({ one: one!, index }))
  const at = rows.findIndex(({ one }) => one === event)
  const near =
    at === -1 ? [] : rows.filter(({ index }) => Math.abs(index - rows[at]!.index) < 2000).map(({ one }) => one)
  return [...near, ...[...lists].flatMap(([list]) => Array.from(list.matchAll(/"([^"]+)"/g), ([, one]) => one!))]
}

/** The tools that it offers its model in a session. */
async function toolsOf(agent: Agent): Promise<readonly string[]> {
  const plan = { manifest: '', steps: [], limitMs: 120_000 }
  return inSession(agent, plan, false, ({ model }) =>
    sorted(model.bodies.flatMap((body) => toolNames(JSON.parse(body) as Record<string, unknown>))),
  )
}

/** The code of a program: its own package, and the one for this kind of machine. Copilot CLI's is compressed. */
function codeOf({ program }: Pick<Agent, 'program'>, packageName: string): readonly string[] {
  const files = globSync(`node_modules/{${packageName}*,@${program}/cli-*}/**/*`, { cwd: cache, withFileTypes: true })
  return files
    .filter((file) => file.isFile() && /(?:^[^.]+|\.[cm]?js|\.exe)$/.test(file.name))
    .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
}

/** What it prints, on whichever stream. */
function outputOf(agent: Agent, words: readonly string[]): string {
  const home = mkdtempSync(join(tmpdir(), 'cordon-catalogue-'))
  try {
    const env = { PATH: findable, HOME: home, TERM: 'dumb', CI: '1' }
    const { stdout, stderr } = spawnSync(programOf(agent), words, { encoding: 'utf8', env, timeout: 60_000 })
    return stdout + stderr
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()
