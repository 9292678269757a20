import { expect, test } from 'vitest'
import { protectedPath } from '../../files/protected-paths.ts'
import { ownCheckout, ownPlaces } from './own-places.ts'

const there = new Set(['/p/bin', '/home/u/tools', '/', '/p/node_modules/.bin'])
const files = { exists: (path: string) => there.has(path), canonical: (path: string) => path }

test.each([
  ['/p/bin/git', 'path', 'a program in a folder on PATH'],
  ['/p/bin', 'path', 'the folder itself'],
  ['/home/u/tools/x', 'path', 'one outside the project'],
  ['/p/binary', undefined, 'a name that only begins like it'],
  ['/p/node_modules/.bin/x', undefined, 'where packages put their programs'],
  ['/p/src/a.ts', undefined, 'the root of all is on PATH, and does not close the project'],
])('%s is %s (%s)', (path, kind, _note) => {
  const machine = {
    configDir: '/c',
    stateDir: '/s',
    home: '/nobody',
    env: { PATH: '/usr/bin:/p/bin:/home/u/tools:/:/p/node_modules/.bin' },
  }
  const own = ownPlaces({ root: '/p', manifestPath: '/p/cordon.toml' }, machine, files)
  expect(protectedPath(path, { root: '/p', home: '/home/u', ...own })?.kind).toBe(kind)
})

test.each([
  ['/p/dist/chunks', '/p/dist', 'built in the project'],
  ['/p/tools/cordon/dist', '/p/tools/cordon/dist', 'somewhere below it'],
  ['/p/src/runtime/policy', null, 'its sources, which are being worked on'],
  ['/usr/lib/cordon/dist/chunks', null, 'elsewhere'],
  ['/p/node_modules/cordon/dist/chunks', null, 'installed: that is the package’s folder'],
])('Cordon at %s closes %s (%s)', (program, closed, _note) => {
  expect(ownCheckout('/p', files, program)).toBe(closed)
})
