import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

// From within a turn that takes its time, with nothing to come: the child's input stays open and says nothing.
const PROGRAM = `
  import { onNextTurn } from ${JSON.stringify(new URL('./timing.ts', import.meta.url).href)}
  setImmediate(() => {
    onNextTurn(() => { console.log('ran'); process.exit() })
    for (const end = Date.now() + 5; Date.now() < end;);
  })
  process.stdin.resume()`

test('the next turn comes in a loop that sleeps', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM])
  expect(stdout).toBe('ran\n')
})
