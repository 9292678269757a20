/**
 * What a cold start loads, compiles and runs: it grows by one import in the wrong place, and no test would be slower for it. A change that
 * needs more raises the number here and says in its commit what `npm run bench -- startup` measured before and after.
 */

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CLI, Project } from './cordon.ts'

const PRELOADED = join(import.meta.dirname, 'loaded-files.cjs')

let project: Project
beforeAll(() => {
  project = new Project({ 'package.json': '{"scripts":{"test":"node --test"}}', 'src/a.ts': '' })
  for (const args of [['init'], ['sign', '--yes']]) expect(project.cordon(args).code).toBe(0)
})
afterAll(() => project.remove())

interface Row {
  readonly note: string
  readonly args: readonly string[]
  /** What the host gives its hook. */
  readonly hook?: object
  /** Chunks without their hashes. */
  readonly chunks: readonly string[]
  /** Kilobytes of code that it compiles: its tables and what it runs. Loading 100 of them takes over half a millisecond. */
  readonly most: number
}

const HOOK = ['hook', 'claude-code']
const bash = { tool_name: 'Bash', tool_input: { command: 'git status' } }
const output = { stdout: 'On branch main\nnothing to commit, working tree clean\n', stderr: '' }

const rows: readonly Row[] = [
  { note: 'the version', args: ['--version'], chunks: ['main'], most: 31 },
  {
    note: 'check of a file',
    args: ['check', '--tool', 'read', '--input', '{"path":"src/a.ts"}'],
    chunks: ['start-check'],
    most: 442,
  },
  { note: 'check of a command', args: ['check', '--', 'git status'], chunks: ['start-check', 'part.shell'], most: 812 },
  {
    note: 'a hook for Bash',
    args: HOOK,
    hook: { hook_event_name: 'PreToolUse', ...bash },
    chunks: ['start-hook', 'part.shell'],
    most: 993,
  },
  {
    note: 'a hook for Read, which is recorded',
    args: HOOK,
    hook: { hook_event_name: 'PreToolUse', tool_name: 'Read', tool_input: { file_path: 'src/a.ts' } },
    chunks: ['start-hook'],
    most: 668,
  },
  {
    note: 'a hook after a call, which scans its result',
    args: HOOK,
    hook: { hook_event_name: 'PostToolUse', ...bash, tool_response: output },
    chunks: ['start-hook', 'injection'],
    most: 692,
  },
  { note: 'a command in its sandbox', args: ['run', '--', 'true'], chunks: ['start-run'], most: 985 },
]

it.each(rows)('$note loads what it needs at once, in few files, and few modules of Node', (row) => {
  const list = join(project.home, 'loaded')
  // The first one remembers what the next need not do: the policy, the hashes of the native files.
  for (let start = 0; start < 2; start++) {
    rmSync(list, { force: true })
    run(row, ['--require', PRELOADED, CLI], { LOADED_FILES: list })
  }
  const lines = readFileSync(list, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '))
  const chunks = lines.filter(([kind]) => kind === 'chunk').map(([, name]) => name!.replace(/-[\w-]{8}\.cjs$/, ''))
  expect(chunks).toEqual(row.chunks)
  expect(lines.filter(([kind]) => kind === 'module').map(([, name]) => name)).toEqual(['vm'])
  expect(compiled(row)).toBeLessThanOrEqual(row.most)
})

/** Kilobytes of code that a start compiles, by the cache of an installation that has none. */
function compiled(row: Row): number {
  const dist = join(project.home, `dist-${rows.indexOf(row)}`)
  mkdirSync(dist)
  copyFileSync(CLI, join(dist, 'cordon.cjs'))
  for (const name of ['chunks', 'native']) symlinkSync(join(dirname(CLI), name), join(dist, name))
  run(row, [join(dist, 'cordon.cjs')])
  const caches = readdirSync(join(dist, '.code-cache'), { recursive: true, encoding: 'utf8' })
  const sizes = caches
    .map((name) => statSync(join(dist, '.code-cache', name)))
    .map((one) => (one.isFile() ? one.size : 0))
  return sizes.reduce((sum, size) => sum + size, 0) / 1024
}

function run(row: Row, program: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const args = row.hook ? [...row.args, '--root', project.directory] : row.args
  const { status, stderr } = spawnSync(process.execPath, [...program, ...args], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.home, ...env },
    input: row.hook ? JSON.stringify({ session_id: row.note, cwd: project.directory, ...row.hook }) : '',
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
}
