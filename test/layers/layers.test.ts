/** Proves that the lint catches each kind of layer breach: each row is written into a throw-away tree and linted. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

interface Breach {
  readonly note: string
  readonly file: string
  readonly code: string
  readonly rule: string
}

const IMPORTS = 'lint/style/noRestrictedImports'
const GLOBALS = 'lint/style/noRestrictedGlobals'

const breaches: readonly Breach[] = [
  {
    note: 'static import of an effect',
    file: 'src/policy/a.ts',
    code: "import { x } from '../system/files.ts'\nexport const y = x",
    rule: IMPORTS,
  },
  {
    note: 'dynamic import of an effect',
    file: 'src/shell/b.ts',
    code: "export const y = () => import('../egress/proxy.ts')",
    rule: IMPORTS,
  },
  {
    note: 're-export of an effect',
    file: 'src/files/c.ts',
    code: "export { x } from '../sandbox/launch.ts'",
    rule: IMPORTS,
  },
  { note: 're-export of everything', file: 'src/files/d.ts', code: "export * from 'node:fs'", rule: IMPORTS },
  {
    note: 'sub-path of a builtin',
    file: 'src/hosts/e.ts',
    code: "import { readFile } from 'node:fs/promises'\nexport const y = readFile",
    rule: IMPORTS,
  },
  { note: 'bare fs', file: 'src/policy/f.ts', code: "import fs from 'fs'\nexport const y = fs", rule: IMPORTS },
  {
    note: 'child_process',
    file: 'src/shell/g.ts',
    code: "import { spawn } from 'node:child_process'\nexport const y = spawn",
    rule: IMPORTS,
  },
  {
    note: 'a package that is not the folder’s parser',
    file: 'src/policy/h.ts',
    code: "import { parse } from 'unbash'\nexport const y = parse",
    rule: IMPORTS,
  },
  { note: 'process in pure code', file: 'src/policy/i.ts', code: 'export const y = process.cwd()', rule: GLOBALS },
  { note: 'Date in pure code', file: 'src/hosts/j.ts', code: 'export const y = Date.now()', rule: GLOBALS },
  {
    note: 'globalThis as a way round',
    file: 'src/files/k.ts',
    code: 'export const y = globalThis.process',
    rule: GLOBALS,
  },
  {
    note: 'a pure file of the sandbox',
    file: 'src/sandbox/plan.ts',
    code: "import { x } from './launch.ts'\nimport fs from 'node:fs'\nexport const y = [x, fs]",
    rule: IMPORTS,
  },
  {
    note: 'effect folder into effect folder',
    file: 'src/sandbox/l.ts',
    code: "import { x } from '../egress/door.ts'\nexport const y = x",
    rule: IMPORTS,
  },
  {
    note: 'effect folder into effect folder, from below',
    file: 'src/sandbox/bwrap/m.ts',
    code: "import { x } from '../../audit/chain.ts'\nexport const y = x",
    rule: IMPORTS,
  },
  {
    note: 'effect folder into runtime',
    file: 'src/tools/n.ts',
    code: "import { x } from '../runtime/session.ts'\nexport const y = x",
    rule: IMPORTS,
  },
  {
    note: 'system into Cordon',
    file: 'src/system/o.ts',
    code: "import { x } from '../policy/evaluate.ts'\nexport const y = x",
    rule: IMPORTS,
  },
  {
    note: 'runtime into a surface',
    file: 'src/runtime/p.ts',
    code: "import { x } from '../surfaces/cli/main.ts'\nexport const y = x",
    rule: IMPORTS,
  },
  {
    note: 'surface past the runtime',
    file: 'src/surfaces/cli/q.ts',
    code: "import { x } from '../../sandbox/launch.ts'\nexport const y = x",
    rule: IMPORTS,
  },
  {
    note: 'a cycle',
    file: 'src/policy/r.ts',
    code: "import { z } from './s.ts'\nexport const y = () => z",
    rule: 'lint/suspicious/noImportCycles',
  },
]

const clean: readonly { readonly note: string; readonly file: string; readonly code: string }[] = [
  {
    note: 'pure folder into pure folder',
    file: 'src/policy/t.ts',
    code: "import { x } from '../files/u.ts'\nexport const y = x",
  },
  {
    note: 'node:path in pure code',
    file: 'src/files/u.ts',
    code: "import { posix } from 'node:path'\nexport const x = posix.sep",
  },
  {
    note: 'the shell’s parser',
    file: 'src/shell/v.ts',
    code: "import { parse } from 'unbash'\nexport const y = parse",
  },
  {
    note: 'runtime composes',
    file: 'src/runtime/w.ts',
    code: "import { x } from '../egress/x.ts'\nexport const y = x",
  },
  {
    note: 'other half of the cycle row',
    file: 'src/policy/s.ts',
    code: "import { y } from './r.ts'\nexport const z = () => y",
  },
]

describe('the layer lint', () => {
  let tree = ''
  let found: { readonly path: string; readonly rule: string }[] = []

  beforeAll(() => {
    tree = mkdtempSync(join(tmpdir(), 'cordon-layers-'))
    const { $schema: _schema, vcs: _vcs, ...config } = JSON.parse(readFileSync('biome.json', 'utf8'))
    writeFileSync(join(tree, 'biome.json'), JSON.stringify(config))
    for (const { file, code } of [...breaches, ...clean]) {
      mkdirSync(dirname(join(tree, file)), { recursive: true })
      writeFileSync(join(tree, file), `${code}\n`)
    }
    const biome = join(process.cwd(), 'node_modules/.bin/biome')
    const run = spawnSync(biome, ['lint', '--reporter=github', '--max-diagnostics=none', '.'], {
      cwd: tree,
      encoding: 'utf8',
    })
    found = [...`${run.stdout}${run.stderr}`.matchAll(/title=(lint\/[\w/]+),file=([^,]+),/g)].map((match) => ({
      rule: match[1]!,
      path: match[2]!,
    }))
  })

  afterAll(() => rmSync(tree, { recursive: true, force: true }))

  it.each(breaches)('catches: $note ($file)', ({ file, rule }) => {
    expect(found.filter(({ path }) => path.endsWith(file)).map((diagnostic) => diagnostic.rule)).toContain(rule)
  })

  it.each(clean.slice(0, -1))('lets pass: $note ($file)', ({ file }) => {
    const layers = found.filter(({ path, rule }) => path.endsWith(file) && (rule === IMPORTS || rule === GLOBALS))
    expect(layers).toEqual([])
  })
})
