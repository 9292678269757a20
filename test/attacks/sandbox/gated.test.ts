/** While a command that starts beside another waits for the last look, what the host changes takes no mask and no pin off unseen. */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asUser, eachUser } from '../../users.ts'
import type { GatedInput } from './launch-gated.ts'

const LAUNCHER = fileURLToPath(new URL('./launch-gated.ts', import.meta.url))
const SCRIPT = 'cat .env; echo no >pinned/file; cat pinned/file; echo RAN'

interface Row {
  readonly name: string
  readonly note: string
  readonly meanwhile: string
  /** The fault; null where the command runs as it would have. */
  readonly fault: string | null
}

const ROWS: readonly Row[] = [
  { name: 'nothing', note: 'the control', meanwhile: 'true', fault: null },
  { name: 'an unrelated file', note: 'a person works on', meanwhile: 'echo a >other; rm other', fault: null },
  {
    name: 'the secret is written again in its place',
    note: 'the mask covers the file, whatever is in it',
    meanwhile: 'echo TOPSECRET again >.env',
    fault: null,
  },
  {
    name: 'the secret is removed and created again',
    note: 'the kernel takes the mask off with the old file, and gives the new one its number again',
    meanwhile: 'rm .env; echo TOPSECRET again >.env',
    fault: 'mask-moved',
  },
  {
    name: 'another file is moved over the secret',
    note: 'as editors save',
    meanwhile: 'echo TOPSECRET again >.new; mv .new .env',
    fault: 'mask-moved',
  },
  {
    name: 'the secret’s own file comes back by another name',
    note: 'the same file at the same path, and no mask on it',
    meanwhile: 'ln .env kept; echo a >.new; mv .new .env; mv kept .env',
    fault: 'mask-moved',
  },
  { name: 'the secret is gone', note: 'nothing is left of its mask', meanwhile: 'rm .env', fault: 'mask-moved' },
  {
    name: 'a protected folder is removed and created again',
    note: 'the new one would be open for writing',
    meanwhile: 'rm -r pinned; mkdir pinned; echo mine >pinned/file',
    fault: 'pin-moved',
  },
  {
    name: 'a protected folder becomes a link',
    note: 'and points elsewhere',
    meanwhile: 'mv pinned away; ln -s away pinned',
    fault: 'pin-moved',
  },
]

eachUser(describe)('meanwhile, as $name', (user) => {
  let root: string
  let said: ReadonlyMap<string, string>

  beforeAll(() => {
    root = realpathSync(mkdtempSync('/var/tmp/cordon-gated-'))
    const inputs = ROWS.map(({ meanwhile }, index): GatedInput => {
      const project = join(root, `${index}`)
      mkdirSync(join(project, 'pinned'), { recursive: true })
      writeFileSync(join(project, '.env'), 'TOPSECRET\n')
      writeFileSync(join(project, 'pinned/file'), 'mine\n')
      return { project, masks: ['.env'], pins: ['pinned'], meanwhile, script: SCRIPT }
    })
    execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, root])
    const [program, ...args] = asUser(user, [process.execPath, LAUNCHER, JSON.stringify(inputs)])
    const { stdout } = spawnSync(program!, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const parts = stdout.split(/^#/m).map((part) => part.split(/\n(.*)/s))
    said = new Map(parts.map(([project = '', rest = '']) => [project, rest]))
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  test.each(ROWS.map((row, index) => ({ ...row, index })))('$name: $note', ({ index, fault }) => {
    expect(said.get(join(root, `${index}`))).toBe(fault === null ? 'mine\nRAN\n' : `[${fault}]\n`)
  })
})
