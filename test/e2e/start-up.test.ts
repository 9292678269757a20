/**
 * What a cold start loads: it grows by one import in the wrong place, and no test would be slower for it. A process that needs more raises the
 * number here, in the same change.
 */

import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
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
  /** Kilobytes of program text, all together. */
  readonly most: number
  /** It hashes: the record is a chain, and a sandbox checks its native files. Loading the module takes 2 to 3 ms. */
  readonly hashes?: true
}

const HOOK = ['hook', 'claude-code']
const bash = { tool_name: 'Bash', tool_input: { command: 'git status' } }
const output = { stdout: 'On branch main\nnothing to commit, working tree clean\n', stderr: '' }

const rows: readonly Row[] = [
  {
    note: 'check of a file',
    args: ['check', '--tool', 'read', '--input', '{"path":"src/a.ts"}'],
    chunks: ['start-check'],
    most: 367,
  },
  { note: 'check of a command', args: ['check', '--', 'git status'], chunks: ['start-check', 'part.shell'], most: 864 },
  {
    note: 'a hook for Bash',
    args: HOOK,
    hook: { hook_event_name: 'PreToolUse', ...bash },
    chunks: ['start-hook', 'part.shell'],
    most: 1028,
    hashes: true,
  },
  {
    note: 'a hook for Read, which is recorded',
    args: HOOK,
    hook: { hook_event_name: 'PreToolUse', tool_name: 'Read', tool_input: { file_path: 'src/a.ts' } },
    chunks: ['start-hook'],
    most: 534,
    hashes: true,
  },
  {
    note: 'a hook after a call, which scans its result',
    args: HOOK,
    hook: { hook_event_name: 'PostToolUse', ...bash, tool_response: output },
    chunks: ['start-hook', 'injection'],
    most: 685,
    hashes: true,
  },
  { note: 'a command in its sandbox', args: ['run', '--', 'true'], chunks: ['start-run'], most: 545, hashes: true },
]

it.each(rows)('$note loads what it needs at once, in few files, and few modules of Node', (row) => {
  const list = join(project.home, 'loaded')
  // The first one remembers what the next need not do: the policy, the hashes of the native files.
  for (let start = 0; start < 2; start++) {
    rmSync(list, { force: true })
    const args = row.hook ? [...row.args, '--root', project.directory] : row.args
    const { status, stderr } = spawnSync(process.execPath, ['--require', PRELOADED, CLI, ...args], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home, LOADED_FILES: list },
      input: row.hook ? JSON.stringify({ session_id: row.note, cwd: project.directory, ...row.hook }) : '',
      encoding: 'utf8',
    })
    expect(status, stderr).toBe(0)
  }
  const lines = readFileSync(list, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '))
  const chunks = lines.filter(([kind]) => kind === 'chunk')
  const kilobytes = chunks.reduce((sum, [, , length]) => sum + Number(length), 0) / 1024
  expect(chunks.map(([, name]) => name!.replace(/-[\w-]{8}\.cjs$/, ''))).toEqual(row.chunks)
  expect(kilobytes).toBeLessThanOrEqual(row.most)
  expect(lines.filter(([kind]) => kind === 'module').map(([, name]) => name)).toEqual([
    'vm',
    ...(row.hashes ? ['string_decoder', 'stream/promises', 'stream', 'crypto'] : []),
  ])
})
