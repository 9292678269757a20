/**
 * Names that become protected by a change somewhere else: a link at the beginning of a protected path, a folder that is moved out of
 * a package, a folder that another command moves at the same moment. `npm test -- races` runs the last ones for a minute each.
 */

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFolders, protectedNames } from '../../../src/files/protected-names.ts'
import { makePlace, type Place, runInside, startInside } from '../../contract/changes/sandbox.ts'
import { eachUser, giveTo } from '../../users.ts'

type Step =
  | readonly [call: 'mkdir' | 'write', path: string]
  | readonly [call: 'symlink' | 'link' | 'rename' | 'exchange', from: string, to: string]

interface Row {
  readonly name: string
  readonly steps: readonly Step[]
  readonly planted: string
}

/** A file below a folder of any name. */
const written = (folder: string, path: string): Step[] => [
  ['mkdir', join(folder, path, '..')],
  ['write', join(folder, path)],
]

/** Every beginning of a protected path as a link, in each way to create one. */
function linkRows(path: string): Row[] {
  const names = path.split('/')
  return names.slice(1).flatMap((_, at): Row[] => {
    const [begin, rest] = [names.slice(0, at + 1).join('/'), names.slice(at + 1).join('/')]
    const target = `${'../'.repeat(at)}x`
    const row = (way: string, ...steps: Step[]): Row => ({
      name: `${path}: ${begin} is a link, ${way}`,
      steps: [...written('x', rest), ['mkdir', join(begin, '..')], ...steps],
      planted: path,
    })
    const moved = `${'../'.repeat(at)}x`
    return [
      row('created', ['symlink', target, begin]),
      row('renamed', ['symlink', moved, 'l'], ['rename', 'l', begin]),
      row('by a second name', ['symlink', moved, 'l'], ['link', 'l', begin]),
      row('exchanged', ['symlink', moved, 'l'], ['mkdir', begin], ['exchange', 'l', begin]),
    ]
  })
}

/** A protected path that may be created inside a package, and is then moved. */
function packageRows(path: string): Row[] {
  const [first, ...rest] = path.split('/')
  return packageFolders.flatMap((folder): Row[] => {
    const inside = `${folder}/y`
    const row = (way: string, planted: string, ...steps: Step[]): Row => ({
      name: `${path}: out of ${folder}, ${way}`,
      steps: [...written(inside, path), ...steps],
      planted,
    })
    return [
      row('its folder', `sub/${path}`, ['rename', inside, 'sub']),
      row(
        'deeper',
        `a/b/${path}`,
        ['mkdir', 'a'],
        ['mkdir', `${folder}/z`],
        ['rename', inside, `${folder}/z/b`],
        ['rename', `${folder}/z`, 'a'],
      ),
      row('the package folder', `nm/y/${path}`, ['rename', folder, 'nm']),
      row('exchanged', `sub/${path}`, ['mkdir', 'sub'], ['exchange', inside, 'sub']),
      ...(rest.length === 0
        ? [row('itself', path, ['rename', `${inside}/${path}`, path])]
        : [
            row('its beginning', path, ['rename', `${inside}/${first}`, first!]),
            row(
              'its rest',
              path,
              ['mkdir', first!],
              ['rename', `${inside}/${first}/${rest[0]}`, `${first}/${rest[0]}`],
            ),
            {
              name: `${path}: out of ${folder}, a link`,
              steps: [
                ...written('x', rest.join('/')),
                ['mkdir', inside],
                ['symlink', '../x', `${inside}/${first}`],
                ['rename', inside, 'sub'],
              ],
              planted: `sub/${path}`,
            } satisfies Row,
          ]),
    ]
  })
}

const paths = protectedNames
  .map(({ path }) => path.replaceAll('*', 'x'))
  .filter((path) => !/^[~/]/.test(path) && path !== '.git')
/** All ways for one path of each length, the first ways for the others. */
const samples = [1, 2, 3].map((length) => paths.filter((path) => path.split('/').length === length).at(-1)!)
const rows = paths.flatMap((path) => {
  const [links, moves] = [linkRows(path), packageRows(path)]
  return samples.includes(path) ? [...links, ...moves] : [...links.slice(0, 1), moves[0]!, moves.at(-1)!]
})

/** Makes the changes of each row in a folder for it; one that fails ends nothing. */
const PROGRAM = `
import ctypes, json, os, sys
libc = ctypes.CDLL(None)
calls = {
  'mkdir': lambda path: os.makedirs(path, exist_ok=True),
  'write': lambda path: open(path, 'w').write('evil'),
  'symlink': os.symlink,
  'link': lambda a, b: os.link(a, b, follow_symlinks=False),
  'rename': os.rename,
  'exchange': lambda a, b: libc.renameat2(-100, os.fsencode(a), -100, os.fsencode(b), 2),
}
top = os.getcwd()
for number, steps in enumerate(json.load(open(sys.argv[1]))):
  os.makedirs(f'{top}/row{number}'); os.chdir(f'{top}/row{number}')
  for name, *words in steps:
    try: calls[name](*words)
    except OSError: pass
`

/** Two commands at once: what `maker` does over and over comes under a protected name by what `mover` does at the same moment. */
interface Race {
  readonly name: string
  /** Folders that are there before. */
  readonly folders: readonly string[]
  readonly maker: string
  readonly mover: string
  readonly planted: string
}

const races: readonly Race[] = [
  {
    name: 'a folder that moves to where a file in it is protected',
    folders: ['d'],
    maker: "create('d/config.toml'); drop('d/config.toml')",
    mover: "move('d', '.cargo'); look(); move('.cargo', 'd')",
    planted: '.cargo/config.toml',
  },
  {
    name: 'a link at the beginning of a protected path',
    folders: ['d'],
    maker: "create('d/tasks.json'); drop('d/tasks.json')",
    mover: "os.symlink('d', 'l'); move('l', '.vscode'); look(); drop('.vscode'); drop('l')",
    planted: '.vscode/tasks.json',
  },
  {
    name: 'a folder that leaves a package',
    folders: ['node_modules/d'],
    maker: "create('node_modules/d/.envrc'); drop('node_modules/d/.envrc')",
    mover: "move('node_modules/d', 'd'); look(); move('d', 'node_modules/d')",
    planted: 'd/.envrc',
  },
]

/** Each step may fail; what was planted stays. The maker keeps its folder open, so that it knows it by its old name. */
const racer = (steps: string, planted: string): string => `
import os, time
mediated = [os.open(top, os.O_PATH) for top, _, _ in os.walk('.')]
def create(path): os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)); look()
def drop(path): os.unlink(path)
def move(a, b): os.rename(a, b)
def look():
  if os.path.exists('${planted}'): print('planted', flush=True); os._exit(0)
print('begun', flush=True)
while not os.path.exists('go'): time.sleep(0.01)
until = time.time() + float(os.environ['SECONDS'])
while time.time() < until:
${steps
  .split('; ')
  .map(
    (step) => `  try: ${step}
  except OSError: pass
`,
  )
  .join('')}`
const SECONDS = process.env.CORDON_RACE_SECONDS ?? '1'

eachUser(describe)('as $name', ({ uid }) => {
  let place: Place
  let steps = ''
  beforeAll(() => {
    place = makePlace(uid)
    steps = join(place.programs, 'steps.json')
    writeFileSync(steps, JSON.stringify(rows.map((row) => row.steps)))
  })
  afterAll(() => place.remove())

  const empty = () => {
    rmSync(place.project, { recursive: true })
    mkdirSync(place.project)
    giveTo(uid, place.project)
  }
  const planted = (mediated: boolean): string[] => {
    empty()
    const { status, errors } = runInside(place, ['/usr/bin/python3', '-c', PROGRAM, steps], { mediated, uid })
    expect({ status, errors }).toEqual({ status: 0, errors: '' })
    return rows.filter((row, at) => existsSync(join(place.project, `row${at}`, row.planted))).map(({ name }) => name)
  }

  it('control: without the broker each of them is there', () => {
    expect(planted(false)).toEqual(rows.map(({ name }) => name))
  })

  it('none of them is there', () => {
    expect(planted(true)).toEqual([])
  })

  it.each(
    races.flatMap((race) => [
      { ...race, mediated: false, how: 'control: without the broker' },
      { ...race, mediated: true, how: 'with it' },
    ]),
  )('two commands at once, $name: $how', async ({ folders, maker, mover, planted, mediated }) => {
    empty()
    for (const folder of folders) mkdirSync(join(place.project, folder), { recursive: true })
    const calls = ['maker', 'mover'].map((what) => place.store.begin({ roots: [place.project], what }).folder)
    giveTo(uid, place.base)
    const start = (steps: string, at: number) =>
      startInside(place, ['/usr/bin/env', `SECONDS=${SECONDS}`, 'python3', '-c', racer(steps, planted)], 'begun', {
        mediated,
        uid,
        folder: calls[at]!,
      })
    // The maker first: it has to find its folder.
    const running = [await start(maker, 0), await start(mover, 1)]
    writeFileSync(join(place.project, 'go'), '')
    const out = await Promise.all(running.map(({ ended }) => ended))
    expect(out.some((text) => text.includes('planted'))).toBe(!mediated)
  })

  it.each([
    ['control: without the broker', false, true],
    ['with it', true, false],
  ] as const)('a command that moves the root of another one, in its own: %s', async (_name, mediated, isPlanted) => {
    empty()
    mkdirSync(join(place.project, 'd'))
    const folders = ['inner', 'outer'].map((what) => place.store.begin({ roots: [place.project], what }).folder)
    giveTo(uid, place.base)
    const inner = `echo begun; until [ -e go ]; do sleep 0.01; done; echo evil > config.toml`
    const options = { mediated, uid, folder: folders[0]!, root: 'd' }
    const { ended } = await startInside(place, ['/bin/sh', '-c', inner], 'begun', options)
    const moved = runInside(place, ['/bin/mv', 'd', '.cargo'], { mediated, uid, folder: folders[1]! })
    expect(moved).toMatchObject({ status: 0, errors: '' })
    writeFileSync(join(place.project, '.cargo/go'), '')
    await ended
    expect(existsSync(join(place.project, '.cargo/config.toml'))).toBe(isPlanted)
  })
})
