import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SecretTree } from './tree.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-tree-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

it('reports the progress of the first scan of a large tree, and its end; a scan of a known tree says nothing', () => {
  for (let index = 0; index < 1100; index++) mkdirSync(join(root, String(index)))
  const tree = new SecretTree([root])
  const reported: (number | null)[] = []
  tree.watch = (folders) => reported.push(folders)
  tree.refresh()
  expect(reported).toEqual([500, 1000, null])
  mkdirSync(join(root, 'new'))
  tree.refresh()
  expect(reported).toHaveLength(3)
  tree.close()
})
