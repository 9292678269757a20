/** The examples run as they stand, and say what they should. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aiSdkTools } from '../../../src/adapters/ai-sdk.ts'
import { COMPILED } from '../../compiled.ts'
import { openSessionWorld } from './session-world.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-examples-'))
  mkdirSync(join(base, 'project'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const rows: readonly { example: string; says: readonly string[]; note: string }[] = [
  {
    example: 'llm-loop.ts',
    says: [
      '-> done\nbash {"command":"cat haiku.txt && wc -l < haiku.txt"} -> done',
      'bash {"command":"git push --force origin main"} -> refused',
      'read {"path":"/etc/shadow"} -> denied',
      'model: I read: Denied:',
    ],
    note: 'work inside runs, what reaches out needs a person, what is outside is denied',
  },
  {
    example: 'approve.ts',
    says: ['asked: ls', 'event: grant', 'asked: rm -rf build', 'Only listings, please.'],
    note: 'the second listing is not asked again',
  },
  {
    example: 'ai-sdk.ts',
    says: ['bash read write edit glob grep', 'hello', 'Denied:'],
    note: 'a denial is text for the model',
  },
]

it.each(rows)('$example: $note', ({ example, says }) => {
  const run = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '../../../examples', example), join(base, 'project')],
    {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        HOME: base,
        XDG_STATE_HOME: join(base, 'state'),
        XDG_CONFIG_HOME: join(base, 'config'),
        XDG_CACHE_HOME: join(base, 'cache'),
        CORDON_KEYCHAIN: 'off',
        ...COMPILED,
      },
    },
  )
  expect(run.stderr).toBe('')
  expect(run.status).toBe(0)
  for (const part of says) expect(run.stdout).toContain(part)
  if (example === 'approve.ts') expect(run.stdout.match(/asked: ls/g)).toHaveLength(1)
})

it('the 30-line loop has 30 lines', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../examples/llm-loop.ts'), 'utf8')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(30)
})

it('gives the AI SDK what it knows as a schema, and hands its signal on', async () => {
  const world = openSessionWorld()
  try {
    const cordon = await world.open({ manifest: { object: { schema_version: 1 } } })
    const heard: string[] = []
    const tools = aiSdkTools(cordon.openSession(), {
      onResult: (tool, result) => heard.push(`${tool} ${result.status}`),
    })
    const schema = tools.read!.inputSchema
    expect((schema as unknown as Record<symbol, unknown>)[Symbol.for('vercel.ai.schema')]).toBe(true)
    expect(schema.jsonSchema).toMatchObject({ type: 'object', required: ['path'], additionalProperties: false })
    expect(schema.validate({ path: 'x' })).toEqual({ success: true, value: { path: 'x' } })
    expect(await tools.read!.execute({ path: 'x' }, { abortSignal: AbortSignal.abort() })).toContain('cancelled')
    expect(await tools.read!.execute({ wrong: 1 })).toContain('needs "path"')
    expect(heard).toEqual(['read failed', 'read failed'])
  } finally {
    await world.close()
  }
})
