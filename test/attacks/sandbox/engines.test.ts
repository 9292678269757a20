/** The attacks from inside against the container engines that commands can run in; `attacks.test.ts` shows that each works without its protection. */

import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommandEngine } from '../../../src/sandbox/oci/gvisor-backend.ts'
import { commandEnginesHere } from '../../contract/code/engines-here.ts'
import { asUser, eachUser } from '../../users.ts'
import type { Attack } from './attack.ts'
import { FILE_ATTACKS } from './file-attacks.ts'
import { type Fixture, makeFixture } from './fixture.ts'
import { KERNEL_ATTACKS } from './kernel-attacks.ts'

const run = promisify(execFile)

/**
 * No container shows the whole machine. gVisor has no terminal, and attacks on the kernel meet its own there, whose answers say nothing
 * of the machine's: what counts is what becomes of the machine's files.
 */
const OF_ITS_OWN_KERNEL: ReadonlySet<string> = new Set(['outside: /sys', 'outside: /dev/mem', 'write: /dev'])

const OF_CONTAINERS = [...FILE_ATTACKS, ...KERNEL_ATTACKS].filter(({ layout }) => layout !== 'all')

const ATTACKED: Readonly<Record<CommandEngine, readonly Attack[]>> = {
  runc: OF_CONTAINERS,
  runsc: FILE_ATTACKS.filter(({ name, layout }) => layout === 'usual' && !OF_ITS_OWN_KERNEL.has(name)),
}

test('the engines are attacked by npm test -- engines, wherever they are not named', () => {
  expect(readFileSync('scripts/test-engines.sh', 'utf8')).toMatch(
    /^CORDON_ENGINES=.* test\/attacks\/sandbox\/engines\.test\.ts/m,
  )
})

beforeAll(() => {
  execFileSync(fileURLToPath(new URL('../../../native/build.sh', import.meta.url)))
})

for (const engine of commandEnginesHere())
  eachUser(describe)(`in ${engine} as $name`, (user) => {
    const attacks = ATTACKED[engine]
    const sandboxes = [...new Set(attacks.map(({ layout }) => layout))]
    let fixture: Fixture
    let answers: ReadonlyMap<Attack, string>

    beforeAll(async () => {
      fixture = await makeFixture(user, attacks)
      const argv = asUser(user, [process.execPath, fileURLToPath(new URL('./sandboxes.ts', import.meta.url))])
      const done = run(argv[0]!, argv.slice(1), { maxBuffer: 64 * 1024 * 1024, timeout: 280_000 })
      done.child.stdin!.end(JSON.stringify({ ...fixture, engine, sandboxes }))
      const { stdout } = await done
      answers = new Map(
        [...stdout.matchAll(/RESULT\t(\d+)\t(.*)/g)].map(([, number, answer]) => [attacks[Number(number)]!, answer!]),
      )
    })
    afterAll(() => fixture?.close())

    test('every attack ran, and none escaped', () => {
      expect(attacks.filter((attack) => !answers.has(attack)).map(({ name }) => name)).toEqual([])
      const escaped = attacks.filter((attack) => answers.get(attack)!.includes('ESCAPED'))
      expect(escaped.map((attack) => [attack.name, answers.get(attack)])).toEqual([])
    })

    test('nothing on the host has changed', () => {
      expect(fixture.damage()).toEqual([])
    })
  })
