/** A link in the project to a start-up file of the home: the person's own tools write through it, so it is refused. */

import { lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place, runInside } from '../../contract/changes/sandbox.ts'
import { eachUser, giveTo, own } from '../../users.ts'

const HOME = '/home/nobody-here'
const EXCHANGE = "python3 -c \"import ctypes;ctypes.CDLL(None).renameat2(-100,b'x',-100,b'l',2)\""

/** Each leaves a link at `l`, or at the path that is named, in a folder of the project. */
const ROWS: readonly (readonly [note: string, script: string, path?: string])[] = [
  ['a start-up file', `ln -s ${HOME}/.bashrc l`],
  ['one that is not there yet', `ln -s ${HOME}/.zshenv l`],
  ['in another case', `ln -s ${HOME}/.BASHRC l`],
  ['below a folder of settings', `ln -s ${HOME}/.config/nvim/init.lua l`],
  ['the home itself', `ln -s ${HOME} l`],
  ['a folder above settings', `ln -s ${HOME}/.config l`],
  ['the folder of the person’s programs', `ln -s ${HOME}/.local/bin l`],
  ['by a path with dots', `ln -s /usr/..${HOME}/./x/../.bashrc l`],
  ['Cordon’s own state', 'ln -s "$TOP/../state/x" l'],
  ['by a relative path', 'ln -s "$UP$HOMEDIR/.bashrc" l'],
  ['through a link to the root that was there', `ln -s up${HOME}/.bashrc l`],
  ['through a link that is relative', 'ln -s ../.. r; ln -s "r/$UP2$HOMEDIR/.bashrc" l'],
  ['above the home', 'ln -s / l'],
  ['above the home, by dots', 'ln -s ../../../../../../../../../.. l'],
  ['the folder of homes', 'ln -s /home l'],
  ['through a folder that becomes a link above the home', `ln -s x${HOME}/.bashrc a; ln -s / x; mv a l`, 'x'],
  ['up from a folder that becomes a link', 'ln -s "x/../$UP$HOMEDIR/.bashrc" l; ln -s . x'],
  ['up from a folder to a name of the home', 'mkdir x; ln -s x/../.bashrc l; rmdir x; ln -s . x'],
  ['up from a folder to settings', 'ln -s x/../nvim/init.lua l'],
  ['up from a folder to a folder of settings', 'ln -s x/./../.config// l'],
  ['up from a folder, and no further', 'ln -s x/.. l'],
  ['the working folder of the process that follows', 'ln -s /proc/self/cwd/.bashrc l'],
  ['the root of the process that follows', `ln -s /proc/thread-self/root${HOME}/.bashrc l`],
  ['the processes', 'ln -s /proc l'],
  ['by a rename', `ln -s ${HOME}/.bashrc x; mv x l`],
  ['by a rename, relative at its new place', 'mkdir -p d/e; ln -s "$UP$HOMEDIR/.bashrc" d/e/x; mv d/e/x l'],
  ['by a second name', `ln -s ${HOME}/.bashrc x; ln -P x l`],
  ['by a second name, relative at its new place', 'mkdir -p d/e; ln -s "$UP$HOMEDIR/.bashrc" d/e/x; ln -P d/e/x l'],
  ['by an exchange', `ln -s ${HOME}/.bashrc x; echo > l; ${EXCHANGE}`],
  ['within a folder that is moved up', 'mkdir -p d/e; ln -s "../$UP$HOMEDIR/.bashrc" d/e/x; mv d/e l', 'l/x'],
  [
    'within a folder that can be listed alone',
    'mkdir -p d/e/f; ln -s "../../$UP$HOMEDIR/.bashrc" d/e/f/x; chmod 444 d/e/f; mv d/e l; chmod 755 l/f d/e/f',
    'l/f/x',
  ],
  [
    'within a folder that is shut',
    'mkdir -p d/e/f; ln -s "../../$UP$HOMEDIR/.bashrc" d/e/f/x; chmod 0 d/e/f; mv d/e l; chmod 755 l/f d/e/f',
    'l/f/x',
  ],
  ['within a folder that is moved down', 'mkdir e d; ln -s "../../$UP$HOMEDIR/.bashrc" e/x; mv e d/l', 'd/l/x'],
]

/** Links that tools and people create. */
const ORDINARY: readonly string[] = [
  `ln -s ${HOME}/.local/bin/python3.12 l`,
  `ln -s ${HOME}/.cache/bazel/x l`,
  'ln -s /usr/bin/python3 l',
  'ln -s /usr/lib/../bin/python3 l',
  'ln -s x/../y/include.h l',
  'ln -s /proc/self/fd/1 l',
  'ln -s /proc/self/mounts l',
  'ln -s .. l',
  'ln -s nowhere l',
  'ln -s ../l l',
]

function left(place: Place, scripts: readonly string[], uid: number, mediated: boolean): readonly string[] {
  const depth = place.project.split('/').length
  for (const at of scripts.keys()) {
    mkdirSync(join(place.project, `row${at}`))
    symlinkSync('/', join(place.project, `row${at}/up`))
  }
  giveTo(uid, place.project)
  const settings = `export TOP=$PWD HOMEDIR=${HOME} UP=${'../'.repeat(depth).slice(0, -1)} UP2=${'../'.repeat(depth).slice(0, -1)}`
  const all = scripts.map((script, at) => `(cd row${at}; ${script}) 2>/dev/null`).join('\n')
  expect(runInside(place, ['/bin/sh', '-c', `${settings}\n${all}\necho all`], { mediated, uid }).out).toMatch(/all\n$/)
  return scripts.filter((script, at) => {
    const path = ROWS.find((row) => row[1] === script)?.[2] ?? 'l'
    return lstatSync(join(place.project, `row${at}`, path), { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  })
}

eachUser(describe)('as $name', ({ uid }) => {
  let place: Place
  beforeEach(() => {
    place = makePlace(uid)
  })
  afterEach(() => place.remove())

  it('refuses each of them', () => {
    const scripts = ROWS.map(([, script]) => script)
    expect(left(place, scripts, uid, true)).toEqual([])
  })

  it('leaves ordinary links', () => {
    expect(left(place, ORDINARY, uid, true)).toEqual(ORDINARY)
  })
})

it('control: without the broker each of them is created', () => {
  const place = makePlace(own.uid)
  const scripts = ROWS.map(([, script]) => script)
  expect(left(place, scripts, own.uid, false)).toEqual(scripts)
  place.remove()
})
