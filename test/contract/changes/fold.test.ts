/** One folding: rules are folded as the broker folds the paths that it compares with them, for every code point. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { foldForBroker, foldName } from '../../../src/files/path-bytes.ts'

it('folds every code point alike in C and in TypeScript', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-fold-'))
  try {
    const program = join(folder, 'fold')
    const source = join(import.meta.dirname, 'fold.c')
    const built = spawnSync(
      'cc',
      ['-O1', '-w', '-static', '-Wl,--unresolved-symbols=ignore-all', '-o', program, source],
      {
        encoding: 'utf8',
      },
    )
    expect(built.stderr).toBe('')
    const lines: string[] = []
    for (let code = 1; code <= 0x10ffff; code++)
      if (code !== 10 && (code < 0xd800 || code > 0xdfff)) lines.push(`A${String.fromCodePoint(code)}z`)
    const { stdout } = spawnSync(program, { input: `${lines.join('\n')}\n`, encoding: 'utf8', maxBuffer: 1 << 28 })
    const folded = stdout.split('\n').slice(0, -1)
    expect(folded).toHaveLength(lines.length)
    expect(lines.filter((line, at) => foldForBroker(line) !== folded[at]).map((line) => JSON.stringify(line))).toEqual(
      [],
    )
    // And none is left that the file tools, or a file system, take for letters of ASCII.
    const isLetters = (text: string) => /^[\w.-]*$/.test(text)
    const missed = lines.filter((line, at) => isLetters(foldName(line)) && !isLetters(folded[at]!))
    expect(missed.map((line) => JSON.stringify(line))).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
