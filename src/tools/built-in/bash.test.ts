import { expect, test } from 'vitest'
import type { CommandOptions, ToolContext, ToolInput } from '../tool.ts'
import { bash } from './registry.ts'

/** How long a command is given. */
async function given(input: ToolInput, limits: { timeoutMs: number; backgroundMs?: number }): Promise<number> {
  const seen: CommandOptions[] = []
  const done = { exitCode: 0, stdout: '', stderr: '', timedOut: false, truncated: false, spill: null, notes: [] }
  const commands = {
    run: async (_: string, options: CommandOptions) => {
      seen.push(options)
      return done
    },
    start: async (_: string, options: CommandOptions) => {
      seen.push(options)
      return 'bg_1'
    },
  }
  const context = { cwd: '/', limits, commands, signal: new AbortController().signal } as unknown as ToolContext
  await bash.run({ command: 'true', ...input }, context)
  return seen[0]!.timeoutMs
}

test.each([
  { name: 'the limit', input: {}, limits: { timeoutMs: 120_000, backgroundMs: Number.POSITIVE_INFINITY }, ms: 120_000 },
  { name: 'less when asked', input: { timeout: 5 }, limits: { timeoutMs: 120_000 }, ms: 5_000 },
  { name: 'never more', input: { timeout: 500 }, limits: { timeoutMs: 120_000 }, ms: 120_000 },
  {
    name: 'as long as it likes in the background',
    input: { background: true },
    limits: { timeoutMs: 120_000, backgroundMs: Number.POSITIVE_INFINITY },
    ms: Number.POSITIVE_INFINITY,
  },
  {
    name: 'less in the background when asked',
    input: { background: true, timeout: 5 },
    limits: { timeoutMs: 120_000, backgroundMs: Number.POSITIVE_INFINITY },
    ms: 5_000,
  },
  {
    name: 'a written limit in the background too',
    input: { background: true },
    limits: { timeoutMs: 60_000, backgroundMs: 60_000 },
    ms: 60_000,
  },
])('a command is given $name', async ({ input, limits, ms }) => {
  expect(await given(input, limits)).toBe(ms)
})
