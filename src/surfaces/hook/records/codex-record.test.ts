import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { isReadOnlyTurn, startDirectory } from './codex-record.ts'

const folder = mkdtempSync(join(tmpdir(), 'cordon-codex-record-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const path = join(folder, 'rollout.jsonl')
const meta = (more = '') => ({ type: 'session_meta', payload: { cwd: '/work', instructions: more } })
const turn = (id: string, type: string) => ({
  type: 'turn_context',
  payload: { turn_id: id, sandbox_policy: { type } },
})
/** A result of so many bytes, which says in passing what the record's own lines say. */
const result = (bytes: number) => ({
  type: 'response_item',
  payload: { output: `"turn_context" ${'x'.repeat(bytes)}` },
})
const KB = 1024

const ROWS: readonly [note: string, lines: readonly object[], readOnly: boolean, start: string | null][] = [
  ['the turn is in the last piece', [meta(), turn('t', 'danger-full-access'), result(10)], false, '/work'],
  ['the last word about a turn counts', [meta(), turn('t', 'workspace-write'), turn('t', 'read-only')], true, '/work'],
  ['another turn says nothing', [meta(), turn('t', 'workspace-write'), turn('u', 'read-only')], false, '/work'],
  ['no turn is read-only', [meta(), turn('u', 'workspace-write')], true, '/work'],
  [
    'many results came since',
    [meta(), turn('t', 'workspace-write'), ...Array(40).fill(result(9 * KB))],
    false,
    '/work',
  ],
  ['one result is longer than a piece', [meta(), turn('t', 'workspace-write'), result(3000 * KB)], false, '/work'],
  [
    'the turn lies over the edge of pieces',
    [meta(), turn('t', 'workspace-write'), result(64 * KB - 60)],
    false,
    '/work',
  ],
  ['the first line is longer than a piece', [meta('y'.repeat(300 * KB)), turn('t', 'workspace-write')], false, '/work'],
  ['the first line is not a session’s', [turn('t', 'workspace-write')], false, null],
]

it.each(ROWS)('%s', (_, lines, readOnly, start) => {
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const input = { transcript_path: path, turn_id: 't' }
  expect([isReadOnlyTurn(input), startDirectory(input)]).toEqual([readOnly, start])
})
