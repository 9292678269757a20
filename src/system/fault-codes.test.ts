/** The table of faults: every code in the sources is in it, and every one in it is thrown somewhere. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { FAULT_EXITS } from './fault.ts'

const SOURCES = fileURLToPath(new URL('..', import.meta.url))

test('no code is left over: each occurs in a source besides the table', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.endsWith('fault-codes.ts'),
  )
  const text = files.map((path) => readFileSync(join(SOURCES, path), 'utf8')).join('\n')
  expect(Object.keys(FAULT_EXITS).filter((code) => !text.includes(`'${code}'`))).toEqual([])
})

test.each([
  { code: 'audit-unwritable', exit: 125, note: 'the record is Cordon’s own' },
  { code: 'sandbox-userns', exit: 125, note: 'no sandbox, no run' },
  { code: 'command-not-executable', exit: 126, note: 'as in a shell' },
  { code: 'command-not-found', exit: 127, note: 'as in a shell' },
  { code: 'unsigned-manifest', exit: 125, note: 'what is not signed is not used' },
] as const)('$code: $exit ($note)', ({ code, exit }) => {
  expect(FAULT_EXITS[code]).toBe(exit)
})
