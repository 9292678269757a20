/** Package names in committed lock files; uncommitted ones do not count. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Ecosystem } from '../../egress/packages/release.ts'
import { committedPackages } from './network.ts'

const FILES: Readonly<Record<string, string>> = {
  'package-lock.json': '{"packages":{"":{},"node_modules/left":{},"node_modules/a/node_modules/@acme/deep":{}}}',
  'pnpm-lock.yaml': "packages:\n\n  '@acme/pn@1.0.0':\n    resolution: {}\n\n  pright@2.0.0:\n    resolution: {}\n",
  'yarn.lock': 'ylow@^1.0.0, ylow@^1.1.0:\n  version "1.1.0"\n\n"@acme/y@npm:^1.0.0":\n  version: 1.0.0\n',
  'bun.lock': '{\n  "packages": {\n    "bunny": ["bunny@1.0.0", "", {}, "sha512-x"],\n  }\n}\n',
  'uv.lock': '[[package]]\nname = "typing-extensions"\n',
  'requirements.txt': 'Foo.Bar[extra] == 1.0\nunpinned>=2\n',
  'Cargo.lock': '[[package]]\nname = "serde_json"\n',
}

let root: string
const git = (...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], { cwd: root, stdio: 'pipe' })

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'cordon-locks-'))
  git('init')
  for (const [file, text] of Object.entries(FILES)) writeFileSync(join(root, file), text)
  git('add', '.')
  git('commit', '-m', 'Lock')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const sorted = (ecosystem: Ecosystem) => [...(committedPackages(root, ecosystem) ?? [])].sort()

it.each([
  ['npm', ['@acme/deep', '@acme/pn', '@acme/y', 'bunny', 'left', 'pright', 'ylow']],
  ['pypi', ['foo-bar', 'typing-extensions']],
  ['crates', ['serde_json']],
] as const)('%s', (ecosystem, names) => {
  expect(sorted(ecosystem)).toEqual(names)
})

it('attack: a name that was written into a lock file a moment ago is new', () => {
  writeFileSync(join(root, 'Cargo.lock'), '[[package]]\nname = "evil"\n')
  expect(sorted('crates')).toEqual(['serde_json'])
})
