import { expect, test } from 'vitest'
import { writablePathFolders } from './own-places.ts'

const there = new Set(['/p/bin', '/p/node_modules/.bin', '/p/.venv/bin', '/p/.venv/pyvenv.cfg', '/usr/bin', '/p'])
const files = { exists: (path: string) => there.has(path), canonical: (path: string) => path }

test.each([
  ['/usr/bin:/p/bin', ['/p/bin'], 'a folder of the project'],
  ['/p/node_modules/.bin:/p/.venv/bin', [], 'where packages put their programs'],
  ['bin:.::/p', [], 'words that are no folder, and the root itself'],
  ['/p/gone', [], 'nothing is there'],
])('%s contains %j (%s)', (path, folders) => {
  expect(writablePathFolders(path, ['/p'], files)).toEqual(folders)
})
