/** Packages of a test's own making, in the form that pip and go fetch them in. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const ZIP = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as archive:
    for name in sys.argv[2:]:
        archive.write(name)
`

/** A zip archive of these files. */
function zip(files: Readonly<Record<string, string>>): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-zip-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const created = spawnSync('python3', ['-c', ZIP, 'new.zip', ...Object.keys(files)], {
      cwd: folder,
      encoding: 'utf8',
    })
    if (created.status !== 0) throw new Error(created.stderr)
    return readFileSync(join(folder, 'new.zip'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A wheel with one module. */
export function wheel(name: string, code: string): { readonly name: string; readonly bytes: Buffer } {
  const info = `${name}-1.0.dist-info`
  const bytes = zip({
    [`${name}.py`]: code,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: `${name}.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
  })
  return { name: `${name}-1.0-py3-none-any.whl`, bytes }
}

/** What an index says of one wheel, with the time that `minimum_age` needs. */
export function simpleIndex(name: string, wheelName: string, bytes: Buffer): string {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const file = { filename: wheelName, url: `/${wheelName}`, hashes: { sha256 }, 'upload-time': '2026-01-01T00:00:00Z' }
  return JSON.stringify({ meta: { 'api-version': '1.1' }, name, versions: ['1.0'], files: [file] })
}

/** What a module proxy has of one module, by path. */
export function goModule(module: string, code: string): ReadonlyMap<string, Buffer | string> {
  const version = 'v1.0.0'
  const mod = `module ${module}\n\ngo 1.19\n`
  const at = `/${module}/@v`
  return new Map<string, Buffer | string>([
    [`${at}/list`, `${version}\n`],
    [`${at}/${version}.info`, JSON.stringify({ Version: version, Time: '2026-01-01T00:00:00Z' })],
    [`${at}/${version}.mod`, mod],
    [`${at}/${version}.zip`, zip({ [`${module}@${version}/go.mod`]: mod, [`${module}@${version}/tiny.go`]: code })],
  ])
}
