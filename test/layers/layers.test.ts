/** Compares the import graph of the sources with the table of layers, and shows that each kind of breach is caught. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importsOf, readImports } from './imports.ts'
import {
  breaches,
  checkers,
  foldersInCycles,
  impurities,
  isPure,
  layers,
  MOST_FILES,
  manifestReaders,
  pureFiles,
} from './layers.ts'

describe('the sources', () => {
  const imports = readImports('src')

  it('keep to the layers', () => {
    expect(imports.length).toBeGreaterThan(1000)
    expect(breaches(imports)).toEqual([])
  })

  it('lie in folders of which no two import each other', () => {
    expect(foldersInCycles(imports)).toEqual([])
    const rows = layers.flatMap(({ folder, may }) => may.map((other) => ({ folder, other })))
    // Pure folders are one row of the diagram: they share their types.
    const between = rows.filter(({ folder, other }) => other !== '*' && !(isPure(`${folder}/`) && isPure(`${other}/`)))
    const asImports = between.map(({ folder, other }) => ({
      file: `${folder}/x.ts`,
      target: `${other}/x.ts`,
      isModule: false,
      isType: false,
    }))
    expect(foldersInCycles(asImports)).toEqual([])
  })

  it('lie in folders that can be read at a glance', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.tsx?$/.test(name) && !/\.(?:test|fixture|generated)\.ts$/.test(name),
    )
    const counts = Map.groupBy(sources, dirname)
    const full = [...counts].filter(([, names]) => names.length > MOST_FILES).map(([folder]) => folder)
    expect(full).toEqual([])
  })

  it('make a checked path only where it is judged', () => {
    const makes = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'system/guarded/checked-path.ts')
      .filter((name) => /\bcheckedPath\b|\bas CheckedPath\b/.test(readFileSync(`src/${name}`, 'utf8')))
    expect(makes.toSorted()).toEqual(checkers)
  })

  it('open a policy in one place, or say why they read manifests themselves', () => {
    const readers = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'project/load/load.ts')
      .filter((name) => /\bloadPolicy\b/.test(readFileSync(`src/${name}`, 'utf8')))
    expect(readers.toSorted()).toEqual(Object.keys(manifestReaders))
  })

  it('load nothing of fleets where there is none: only its own commands, and servers that ask, import it at once', () => {
    const importers = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter(
        (name) =>
          name.endsWith('.ts') && !/^(?:fleet|organisation)\/|^project\/load\/organisation|\.test\.ts$/.test(name),
      )
      .filter((name) =>
        /^(?:import|export) (?!type)[^'"]*from '[^']*\/(?:fleet|organisation)\//m.test(
          readFileSync(`src/${name}`, 'utf8'),
        ),
      )
    expect(importers.toSorted()).toEqual([
      'surfaces/cli/commands/agents/fleet-asks.ts',
      'surfaces/cli/commands/agents/fleet-people.ts',
      'surfaces/cli/commands/agents/fleet-team.ts',
      'surfaces/cli/commands/agents/fleet.ts',
      'surfaces/cli/commands/agents/mcp.ts',
      'surfaces/cli/commands/run/audit.ts',
      'surfaces/mcp/gateway/gateway.ts',
    ])
  })

  it('keep pure files pure', () => {
    expect(pureFiles.filter((file) => !existsSync(`src/${file}`))).toEqual([])
    expect(impurities(imports)).toEqual([])
    const claims = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .filter((name) => /^\/\*\*[^/]*\bPURE\b/.test(readFileSync(`src/${name}`, 'utf8')))
    expect(claims.filter((name) => !isPure(name))).toEqual([])
  })
})

describe('the table catches', () => {
  it.each([
    ['static import of an effect', 'policy/a.ts', "import { x } from '../system/files.ts'"],
    ['import over several lines', 'policy/a.ts', "import {\n  x,\n  y,\n} from '../system/files.ts'"],
    ['dynamic import of an effect', 'shell/b.ts', "export const y = () => import('../egress/proxy.ts')"],
    ['re-export of an effect', 'files/c.ts', "export { x } from '../sandbox/plan.ts'"],
    ['re-export of everything', 'files/d.ts', "export * from 'node:fs'"],
    ['import for its effect', 'files/d.ts', "import 'node:fs'"],
    ['sub-path of a builtin', 'hosts/e.ts', "import { readFile } from 'node:fs/promises'"],
    ['bare fs', 'policy/f.ts', "import fs from 'fs'"],
    ['a package that is not the folder’s parser', 'policy/h.ts', "import { parse } from 'unbash'"],
    ['require', 'policy/h.ts', "const fs = require('node:fs')"],
    ['effect folder into effect folder', 'sandbox/l.ts', "import { x } from '../egress/command-proxy.ts'"],
    ['the same from below', 'sandbox/bwrap/m.ts', "import { x } from '../../audit/chain.ts'"],
    ['effect folder into the core', 'tools/n.ts', "import { x } from '../session/session.ts'"],
    ['system into Cordon', 'system/keys/o.ts', "import { x } from '../../policy/evaluate/evaluate.ts'"],
    ['core into a surface', 'session/p.ts', "import { x } from '../surfaces/cli/start/main.ts'"],
    ['core into a product', 'session/p.ts', "import type { x } from '../chat/agent.ts'"],
    ['core into a later part', 'project/p.ts', "import type { x } from '../session/session.ts'"],
    ['product into product', 'learn/p.ts', "import { x } from '../chat/agent.ts'"],
    ['surface into surface', 'surfaces/hook/q.ts', "import { x } from '../cli/main.ts'"],
    ['the same from below', 'surfaces/mcp/gateway/q.ts', "import { x } from '../../hook/answer-hook.ts'"],
    ['what is shared into a surface', 'surfaces/terminal/q.ts', "import { x } from '../cli/main.ts'"],
    ['a surface without a row', 'surfaces/new/q.ts', "import { x } from '../../session/cordon.ts'"],
    ['surface past the runtime', 'surfaces/cli/q.ts', "import type { x } from '../../sandbox/plan.ts'"],
  ])('%s', (_note, file, code) => {
    expect(breaches(importsOf(file, code))).toHaveLength(1)
  })

  it.each([
    ['pure folder into pure folder', 'policy/t.ts', "import { x } from '../files/u.ts'"],
    ['node:path in pure code', 'files/u.ts', "import { posix } from 'node:path'"],
    ['the shell’s parser', 'shell/read/v.ts', "import { parse } from 'unbash'"],
    ['the core composes', 'run/w.ts', "import { x } from '../egress/route/x.ts'"],
  ])('nothing in: %s', (_note, file, code) => {
    expect(breaches(importsOf(file, code))).toEqual([])
  })

  it('folders that import each other, over a third too', () => {
    const from = (file: string, other: string) => importsOf(file, `import type { x } from '${other}'`)
    const two = [...from('a/x.ts', '../b/y.ts'), ...from('b/z.ts', '../a/w.ts')]
    expect(foldersInCycles(two)).toEqual(['a', 'b'])
    const three = [...from('a/x.ts', '../b/y.ts'), ...from('b/z.ts', '../c/w.ts'), ...from('c/z.ts', '../a/w.ts')]
    expect(foldersInCycles(three)).toEqual(['a', 'b', 'c'])
    expect(foldersInCycles([...from('a/x.ts', '../b/y.ts'), ...from('b/z.ts', '../c/w.ts')])).toEqual([])
  })

  it('a pure file that reaches for an effect', () => {
    expect(impurities(importsOf('sandbox/plan.ts', "import { x } from './bwrap/launch.ts'"))).toHaveLength(1)
    expect(impurities(importsOf('sandbox/plan.ts', "import fs from 'node:fs'"))).toHaveLength(1)
  })
})

describe('the lint catches', () => {
  const GLOBALS = 'lint/style/noRestrictedGlobals'
  const rows = [
    { note: 'process in pure code', file: 'src/policy/i.ts', code: 'export const y = process.cwd()', rule: GLOBALS },
    { note: 'Date in pure code', file: 'src/hosts/j.ts', code: 'export const y = Date.now()', rule: GLOBALS },
    { note: 'globalThis', file: 'src/files/k.ts', code: 'export const y = globalThis.process', rule: GLOBALS },
    ...pureFiles.map((file) => ({
      note: 'a pure file of an effect folder',
      file: `src/${file}`,
      code: 'export const y = process.cwd()',
      rule: GLOBALS,
    })),
    {
      note: 'a cycle',
      file: 'src/policy/r.ts',
      code: "import { z } from './s.ts'\nexport const y = () => z",
      rule: 'lint/suspicious/noImportCycles',
    },
  ]
  const otherHalf = { file: 'src/policy/s.ts', code: "import { y } from './r.ts'\nexport const z = () => y" }
  let tree = ''
  let found: readonly (readonly [rule: string, path: string])[] = []

  beforeAll(() => {
    tree = mkdtempSync(join(tmpdir(), 'cordon-layers-'))
    const { $schema: _schema, vcs: _vcs, ...config } = JSON.parse(readFileSync('biome.json', 'utf8'))
    writeFileSync(join(tree, 'biome.json'), JSON.stringify(config))
    for (const { file, code } of [...rows, otherHalf]) {
      mkdirSync(dirname(join(tree, file)), { recursive: true })
      writeFileSync(join(tree, file), `${code}\n`)
    }
    const biome = join(process.cwd(), 'node_modules/.bin/biome')
    const args = ['lint', '--reporter=github', '--max-diagnostics=none', '.']
    const run = spawnSync(biome, args, { cwd: tree, encoding: 'utf8' })
    const lines = `${run.stdout}${run.stderr}`.matchAll(/title=(lint\/[\w/]+),file=([^,]+),/g)
    found = [...lines].map((match) => [match[1]!, match[2]!] as const)
  })

  afterAll(() => rmSync(tree, { recursive: true, force: true }))

  it.each(rows)('$note ($file)', ({ file, rule }) => {
    expect(found.filter(([, path]) => path.endsWith(file)).map(([name]) => name)).toContain(rule)
  })
})
