import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isInside } from '../files/baseline.ts'
import { machineFiles } from '../system/files.ts'
import { hiddenProgram } from './hidden-program.ts'

let home: string
beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-hidden-')))
  const file = (path: string, text = '') => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  const link = (path: string, target: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    symlinkSync(target, join(home, path))
  }
  file('py/3.12/bin/python3')
  link('py/current', '3.12')
  file('p/.venv/pyvenv.cfg')
  link('p/.venv/bin/python', `${home}/py/current/bin/python3`)
  file('p/.venv/bin/pytest', `#!${home}/p/.venv/bin/python\n`)
  file('p/by-env', '#!/usr/bin/env -S mine -x\n')
  file('p/direct', `#!${home}/tools/mine\n`)
  file('p/plain')
  file('tools/mine')
  file('alone')
  link('p/top', `${home}/alone`)
  link('p/round', 'round')
})
afterAll(() => rmSync(home, { recursive: true }))

it.each<[program: string, place: string | null, why: string | null, note: string]>([
  [
    '.venv/bin/python',
    'py/current',
    'It is a link to ~/py/current/bin/python3, which',
    'the link itself, not its target',
  ],
  [
    '.venv/bin/pytest',
    'py/current',
    'The first line of ~/p/.venv/bin/pytest names ~/p/.venv/bin/python, a link to ~/py/',
    'a script of it',
  ],
  ['direct', 'tools', 'The first line of ~/p/direct names ~/tools/mine, which', 'by its path'],
  ['by-env', 'tools', 'The first line of ~/p/by-env names ~/tools/mine, which', 'found by PATH'],
  ['mine', 'tools', 'It is in ~/tools, which', 'found by PATH'],
  ['top', 'alone', 'It is a link to ~/alone', 'never the whole home'],
  ['plain', null, null, 'nothing is hidden'],
  ['round', null, null, 'a link to itself'],
  ['missing', null, null, 'not there'],
])('%s', (program, place, why) => {
  const found = hiddenProgram(program.includes('/') || program === 'mine' ? program : `./${program}`, {
    cwd: `${home}/p`,
    home,
    path: `/usr/bin:${home}/tools`,
    files: machineFiles,
    isShown: (path) => isInside(path, `${home}/p`),
  })
  expect(found && found.place.slice(home.length + 1)).toBe(place)
  if (why !== null) expect(found?.why).toContain(why)
})
