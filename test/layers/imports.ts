/** Reads the import graph of the sources. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Import } from './layers.ts'

/** Every import of every source file below a folder, types included; tests and fixtures aside. */
export function readImports(root: string): readonly Import[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.(?:test|fixture)\.ts$/.test(name))
    .flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))
}

/** What one file imports: statically, by `import()`, by `require` and by re-export. */
export function importsOf(file: string, text: string): readonly Import[] {
  const named = text.matchAll(
    /^(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\b(?:import|require)\s*\(\s*['"]([^'"]+)['"]|createRequire\([^)]*\)\(\s*['"]([^'"]+)['"]/gm,
  )
  return [...named].map((match) => {
    const name = match.slice(1).find((group) => group !== undefined)!
    const isModule = !name.startsWith('.')
    const isType = /^(?:import|export) type\b/.test(match[0])
    return { file, isModule, isType, target: isModule ? name : posix.join(posix.dirname(file), name) }
  })
}
