/** Races words and paths of program starts against their judge, for as long as wanted: `npm test -- fuzz-programs [SECONDS]`. */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asUser, giveTo, removeTree, USERS } from '../test/users.ts'

const seconds = Number(process.argv[2] ?? 600)
const here = join(import.meta.dirname, '..')
const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-races-')))
const RACES = ['race-path', 'race-words', 'race-link', 'thread', 'clone-vm', 'shared-words', 'vfork', 'memfd']
const STARTS = 200

/** One round: every race, so often; true when the denied program ran. */
function round(place: string, user: (typeof USERS)[number], denied: boolean): boolean {
  const [root, home] = [join(place, 'project'), join(place, 'home')]
  mkdirSync(root, { recursive: true })
  mkdirSync(home, { recursive: true })
  const denial = denied ? '[capabilities.deny.commands]\npatterns = ["touch"]\n' : ''
  writeFileSync(join(root, 'cordon.toml'), `schema_version = 1\n${denial}`)
  const lines = RACES.map((race) => `./starts ${race} ${STARTS} /usr/bin/touch mark`)
  writeFileSync(join(root, 'all.sh'), `${lines.join('\n')}\n`)
  execFileSync('cp', [join(base, 'starts'), root])
  giveTo(user.uid, place)
  const words = asUser(user, [join(here, 'cordon'), 'run', '--manifest', 'cordon.toml', '--', 'sh', 'all.sh'])
  const env = { PATH: process.env.PATH ?? '', HOME: home, CORDON_RESIDENT: 'off', CORDON_KEYCHAIN: 'off' }
  spawnSync(words[0]!, words.slice(1), { cwd: root, env, stdio: 'ignore' })
  const ran = existsSync(join(root, 'mark'))
  removeTree(place)
  return ran
}

execFileSync('chmod', ['755', base])
const helper = join(here, 'test/attacks/programs/starts.c')
execFileSync('cc', ['-O1', '-pthread', '-w', '-o', join(base, 'starts'), helper])
const users = USERS.filter(({ uid }) => uid === process.getuid?.() || process.getuid?.() === 0)
const end = Date.now() + seconds * 1000
let rounds = 0
let bad = users.filter((user) => !round(join(base, 'control'), user, false)).length
if (bad > 0) console.log('the control did not run: nothing is shown')
while (Date.now() < end && bad === 0) {
  for (const user of users) if (round(join(base, `round-${rounds}`), user, true)) bad++
  rounds++
}
console.log(`${rounds} rounds of ${RACES.length * STARTS} starts as ${users.length} users, ${bad} ran what was denied`)
removeTree(base)
process.exitCode = bad === 0 ? 0 : 1
