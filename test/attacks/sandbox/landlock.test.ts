/** The attacks from inside where there are not namespaces; `attacks.test.ts` shows that each works without its protection. */

import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asUser, eachUser } from '../../users.ts'
import type { Attack } from './attack.ts'
import { FILE_ATTACKS } from './file-attacks.ts'
import { type Fixture, makeFixture } from './fixture.ts'
import { KERNEL_ATTACKS } from './kernel-attacks.ts'

const run = promisify(execFile)

/** What only namespaces can do. `docs/guides/containers.md` names each of them. */
const OPEN_BY_DECLARATION: readonly string[] = [
  // That something is there, not what is in it.
  'outside: /sys',
  'outside: /var',
  'outside: /dev/mem',
  'outside: host /dev/shm',
  'outside: host /tmp',
  // The limit is the machine's; the filter and Landlock hold.
  'namespace: nesting limit',
]
/** No user but root may give up a right that they never had; with no_new_privs nothing brings it back. */
const OPEN_TO_USERS: readonly string[] = ['process: capability bound']

/** The `all` baseline is refused. */
const ATTACKS = [...FILE_ATTACKS, ...KERNEL_ATTACKS].filter(({ layout }) => layout !== 'all')

beforeAll(() => {
  execFileSync(fileURLToPath(new URL('../../../native/build.sh', import.meta.url)))
})

eachUser(describe)('as $name', (user) => {
  let fixture: Fixture
  let answers: ReadonlyMap<Attack, string>

  beforeAll(async () => {
    fixture = await makeFixture(user, ATTACKS)
    const argv = asUser(user, [process.execPath, fileURLToPath(new URL('./sandboxes.ts', import.meta.url))])
    const done = run(argv[0]!, argv.slice(1), { maxBuffer: 64 * 1024 * 1024, timeout: 280_000 })
    done.child.stdin!.end(JSON.stringify({ ...fixture, engine: 'landlock', sandboxes: ['usual', 'unix', 'terminal'] }))
    const { stdout } = await done
    answers = new Map(
      [...stdout.matchAll(/RESULT\t(\d+)\t(.*)/g)].map(([, number, answer]) => [ATTACKS[Number(number)]!, answer!]),
    )
  })
  afterAll(() => fixture?.close())

  test('every attack ran', () => {
    expect(ATTACKS.filter((attack) => !answers.has(attack)).map(({ name }) => name)).toEqual([])
  })

  test('exactly those escape that are declared', () => {
    const escaped = ATTACKS.filter((attack) => answers.get(attack)?.includes('ESCAPED'))
    expect(new Set(escaped.map(({ name }) => name))).toEqual(
      new Set(user.uid === 0 ? OPEN_BY_DECLARATION : [...OPEN_BY_DECLARATION, ...OPEN_TO_USERS]),
    )
  })

  test('nothing on the host has changed', () => {
    expect(fixture.damage()).toEqual([])
  })
})
