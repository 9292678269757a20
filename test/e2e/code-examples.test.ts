/** The examples of docs/guides/code.md run as they are. */

import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { resultText } from '../../src/call/tool-result.ts'
import { openSessionWorld, type SessionWorld } from '../contract/session/session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
  world.file('README.md', 'one two three\nfour\n')
  world.file('docs/A.md', 'a b c d e f\n')
})
afterEach(() => world.close())

const rows = [
  { file: 'many-reads.js', tool: 'code_exec', input: {}, says: /docs\/A\.md/ },
  { file: 'table.py', tool: 'python_exec', input: {}, says: /^13\n\[created lengths\.csv/ },
  {
    file: 'primes.sh',
    tool: 'sandbox_run',
    input: { language: 'bash', outputs: ['primes.txt'] },
    says: /11 is prime\n\[created primes\.txt/,
  },
]

it.each(rows)('$file', async ({ file, tool, input, says }) => {
  const code = readFileSync(`examples/code/${file}`, 'utf8')
  expect(readFileSync('docs/guides/code.md', 'utf8')).toContain(`examples/code/${file}`)
  const tools = { code_exec: 'allow', python_exec: 'allow', sandbox_run: 'allow' }
  const object = { schema_version: 1, permission: { tools }, sandbox: { run: { engines: ['os'] } } }
  const session = (await world.open({ manifest: { object } })).openSession()
  const result = await session.call(tool, { code, ...input })
  expect(resultText(result)).toMatch(says)
})
