/** Every attack from inside: none escapes as root or as an ordinary user, and each works where its protection is missing. */

import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asUser, eachUser, NEEDS_ROOT, ROOT } from '../../users.ts'
import type { Attack } from './attack.ts'
import { CONTROLS, controlArguments } from './control.ts'
import { FILE_ATTACKS } from './file-attacks.ts'
import { type Fixture, makeFixture } from './fixture.ts'
import { KERNEL_ATTACKS } from './kernel-attacks.ts'

const ATTACKS: readonly Attack[] = [...FILE_ATTACKS, ...KERNEL_ATTACKS]
const run = promisify(execFile)
const OPTIONS = { maxBuffer: 64 * 1024 * 1024, timeout: 280_000 }

beforeAll(() => {
  execFileSync(fileURLToPath(new URL('../../../native/build.sh', import.meta.url)))
})

/** The drivers print one line for each attack, by number. */
function parseResults(output: string): Map<Attack, string> {
  const results = new Map<Attack, string>()
  for (const [, number, answer] of output.matchAll(/RESULT\t(\d+)\t(.*)/g))
    results.set(ATTACKS[Number(number)]!, answer!)
  return results
}

test('there are enough attacks, and their names differ', () => {
  expect(new Set(ATTACKS.map((attack) => attack.name)).size).toBe(ATTACKS.length)
  expect(ATTACKS.length).toBeGreaterThanOrEqual(120)
})

eachUser(describe)('as $name', (user) => {
  let fixture: Fixture
  let results: Map<Attack, string>

  beforeAll(async () => {
    fixture = await makeFixture(user, ATTACKS)
    const sandboxes = fileURLToPath(new URL('./sandboxes.ts', import.meta.url))
    const argv = asUser(user, [process.execPath, sandboxes])
    // A descriptor that the caller leaks, as a careless program would.
    const leak = 'ulimit -c unlimited; exec 9<"$1"; shift; exec "$@"'
    const shell = ['-c', leak, 'bash', join(fixture.root, 'outside/secret'), ...argv]
    const done = run('bash', shell, { ...OPTIONS, env: { ...process.env, NODE_OPTIONS: '' } })
    done.child.stdin!.end(JSON.stringify(fixture))
    results = parseResults((await done).stdout)
  })
  afterAll(() => fixture?.close())

  test.each(ATTACKS)('stopped: $name', (attack) => {
    const answer = results.get(attack)
    expect(answer, 'the attack did not run').toBeDefined()
    expect(answer).not.toContain('ESCAPED')
  })

  test('nothing on the host has changed', () => {
    expect(fixture.damage()).toEqual([])
  })
})

/** To leave out a protection takes root. */
describe('controls', NEEDS_ROOT, () => {
  let fixture: Fixture
  let results: Map<Attack, string>

  beforeAll(async () => {
    fixture = await makeFixture(ROOT, ATTACKS)
    results = new Map()
    for (const control of CONTROLS)
      for (const terminal of [false, true]) {
        const chosen = ATTACKS.filter(
          (attack) => attack.control === control && (attack.layout === 'terminal') === terminal,
        )
        if (chosen.length === 0) continue
        const folder = join(fixture.root, 'readonly/controls', control, String(terminal))
        mkdirSync(folder, { recursive: true })
        for (const attack of chosen)
          writeFileSync(join(folder, `${String(ATTACKS.indexOf(attack)).padStart(4, '0')}.sh`), attack.script)
        const args = controlArguments(control, fixture.root)
        // Its own terminal, when the attack is on one.
        if (terminal) args.splice(args.indexOf('--new-session'), 1)
        const argv = ['bwrap', ...args, '--', 'bash', join(fixture.root, 'readonly/driver.sh')]
        const secret = join(fixture.root, 'outside/secret')
        const shell = terminal
          ? ['-c', 'command=$(printf "%q " "$@"); exec script -qec "$command" /dev/null', 'bash', ...argv]
          : ['-c', 'exec 9<"$1"; shift; exec "$@"', 'bash', secret, ...argv]
        const env = { ...fixture.env, A: folder, RESET: 'yes', SHELL: '/bin/bash' }
        const { stdout } = await run('bash', shell, { ...OPTIONS, env })
        for (const [attack, answer] of parseResults(stdout)) results.set(attack, answer)
      }
  })
  afterAll(() => fixture?.close())

  test.each(ATTACKS)('works without protection: $name', (attack) => {
    expect(results.get(attack) ?? 'did not run').toContain('ESCAPED')
  })
})
