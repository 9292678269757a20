import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InputError } from '../tool.ts'
import { applyHunks } from './apply.ts'
import { parsePatch, patchPaths } from './parse.ts'

const envelope = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')

describe('the paths of a patch are those of its changes', () => {
  const rows: readonly [note: string, patch: string, reads: string[], writes: string[]][] = [
    ['an added file is only written', envelope('*** Add File: a', '+x'), [], ['a']],
    ['an updated file is read too', envelope('*** Update File: a', '@@', '-x', '+y'), ['a'], ['a']],
    ['a move writes both ends', envelope('*** Update File: a', '*** Move to: b', '@@', '-x', '+y'), ['a'], ['a', 'b']],
    ['a deletion is a write', envelope('*** Delete File: a'), [], ['a']],
    ['names keep their spaces inside', envelope('*** Delete File: a b'), [], ['a b']],
    [
      'a header inside added text is text',
      envelope('*** Add File: a', '+*** Delete File: b', '+--- c', '++++ c'),
      [],
      ['a'],
    ],
    [
      'lines of a hunk that look like headers are lines',
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/evil\n+++ b/evil\n keep\n',
      ['x'],
      ['x'],
    ],
    ['a new file', '--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n', [], ['new']],
    ['a deleted file', '--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n', ['old'], ['old']],
    ['git renames', 'diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n', [], ['x', 'y']],
    ['git copies', 'diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n', ['x'], ['y']],
    ['a mode alone', 'diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n', [], ['x y']],
    ['an empty new file', 'diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n', [], ['e']],
    [
      'quoted names',
      '--- "a/\\303\\244\\t.txt"\n+++ "b/\\303\\244\\t.txt"\n@@ -1 +1 @@\n-x\n+y\n',
      ['ä\t.txt'],
      ['ä\t.txt'],
    ],
    ['time stamps after a tab', '--- x\t2020-01-01\n+++ x\t2020-01-02\n@@ -1 +1 @@\n-x\n+y\n', ['x'], ['x']],
    ['without a prefix, a directory a stays', '--- a/x\n+++ a/x\n@@ -1 +1 @@\n-x\n+y\n', ['a/x'], ['a/x']],
    ['CRLF throughout', envelope('*** Delete File: a').replaceAll('\n', '\r\n').concat('\r\n'), [], ['a']],
    [
      'text before a diff',
      'From: me\n\nWhy\n---\n x | 2\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n-- \n2.40\n',
      ['x'],
      ['x'],
    ],
  ]
  it.each(rows)('%s', (_note, patch, reads, writes) => {
    expect(patchPaths(patch)).toEqual({ reads, writes })
  })
})

describe('patches that are refused', () => {
  const rows: readonly [note: string, patch: string, message: RegExp][] = [
    ['nothing', '', /names no file/],
    ['prose', 'please change a.txt', /names no file/],
    ['a header without a name', envelope('*** Add File: '), /names no file/],
    ['a line that means nothing', envelope('hello'), /line 2 of the patch is "hello"/],
    ['text after the end', `${envelope('*** Delete File: a')}\nrm -rf /`, /after "\*\*\* End Patch"/],
    ['an update without a hunk', envelope('*** Update File: a'), /has no hunk/],
    ['a hunk that changes nothing', envelope('*** Update File: a', '@@', ' x'), /changes nothing/],
    ['a hunk without a file', '@@ -1 +1 @@\n-x\n+y\n', /without the --- and \+\+\+ lines/],
    ['too few lines', '--- x\n+++ x\n@@ -1,5 +1,5 @@\n-x\n+y\n', /correct the counts/],
    ['too many lines', '--- x\n+++ x\n@@ -1 +1 @@\n-x\n+y\n+z\n', /outside its hunk/],
    ['two names', '--- x.orig\n+++ x\n@@ -1 +1 @@\n-x\n+y\n', /names two files/],
    ['half a rename', 'diff --git a/x b/y\nrename from x\n', /only one of/],
    ['a submodule', 'diff --git a/x b/x\nnew file mode 160000\n', /link or a submodule/],
    ['binary', 'diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\n', /binary/],
    ['a new file with old lines', '--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n', /only add lines/],
  ]
  it.each(rows)('%s', (_note, patch, message) => {
    expect(() => parsePatch(patch)).toThrow(InputError)
    expect(() => parsePatch(patch)).toThrow(message)
  })
})

describe('hunks', () => {
  const apply = (text: string, patch: string) => {
    const [change] = parsePatch(patch)
    if (change?.kind !== 'update') throw new Error('not an update')
    return applyHunks('f', text, change.hunks)
  }
  const update = (...lines: string[]) => envelope('*** Update File: f', ...lines)

  const rows: readonly [note: string, text: string, patch: string, result: string][] = [
    ['replace a line', 'a\nb\nc\n', update('@@', ' a', '-b', '+B'), 'a\nB\nc\n'],
    ['the first hunk needs no @@', 'a\nb\n', update('-b', '+B'), 'a\nB\n'],
    ['after a named line', 'f:\n x\ng:\n x\n', update('@@ g:', '- x', '+ y'), 'f:\n x\ng:\n y\n'],
    ['two hunks in order', 'a\nb\nc\n', update('@@', '-a', '+A', '@@', '-c', '+C'), 'A\nb\nC\n'],
    ['insert at the end', 'a\n', update('@@', '+b'), 'a\nb\n'],
    ['at the end of the file', 'x\ny\nx\n', update('@@', '-x', '+z', '*** End of File'), 'x\ny\nz\n'],
    ['an empty line is context', 'a\n\nb\n', update('@@', ' a', '', '-b', '+c'), 'a\n\nc\n'],
    ['empty lines before the end are not', 'a\n', update('@@', '-a', '+b', '', ''), 'b\n'],
    ['CRLF stays', 'a\r\nb\r\n', update('@@', ' a', '-b', '+c', '+d'), 'a\r\nc\r\nd\r\n'],
    ['no newline at the end stays', 'a\nb', update('@@', '-a', '+A'), 'A\nb'],
    ['a unified hunk at its line', 'x\nx\nx\n', '--- f\n+++ f\n@@ -2 +2 @@\n-x\n+y\n', 'x\ny\nx\n'],
    [
      'a unified hunk that moved, if it fits once',
      'new\na\nb\n',
      '--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n',
      'new\na\nc\n',
    ],
    ['the newline is added', 'a', '--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n', 'a\n'],
    ['the newline is removed', 'a\n', '--- f\n+++ f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n', 'a'],
    ['everything goes', 'a\nb\n', '--- f\n+++ f\n@@ -1,2 +0,0 @@\n-a\n-b\n', ''],
  ]
  it.each(rows)('%s', (_note, text, patch, result) => {
    expect(apply(text, patch)).toBe(result)
  })

  const wrong: readonly [note: string, text: string, patch: string, message: RegExp][] = [
    ['fits twice', 'x\nx\n', update('@@', '-x', '+y'), /matches at line 1 and again at line 2/],
    [
      'fits nowhere',
      'a\n',
      update('@@', '-b', '+c'),
      /hunk 1 of 1 for f \(line 3 of the patch\) does not match: no line is "b"/,
    ],
    ['differs further on', 'a\nb\n', update('@@', ' a', '-c', '+d'), /expected "c" on line 2, found "b"/],
    ['white space counts', 'a  b\n', update('@@', '-a b', '+c'), /does not match/],
    ['runs over the end', 'a\n', update('@@', ' a', '-b', '+c'), /found the end of the file/],
    ['order counts', 'a\nb\n', update('@@', '-b', '+B', '@@', '-a', '+A'), /hunk 2 of 2/],
    ['no such line to look after', 'a\n', update('@@ g:', '-a', '+b'), /no such line/],
    [
      'wrong about the last newline',
      'a\n',
      '--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n',
      /wrong about the end/,
    ],
  ]
  it.each(wrong)('refused: %s', (_note, text, patch, message) => {
    expect(() => apply(text, patch)).toThrow(InputError)
    expect(() => apply(text, patch)).toThrow(message)
  })
})

it('gives up on a place that takes too long to find', () => {
  const text = 'x\n'.repeat(300_000)
  const patch = envelope('*** Update File: f', '@@', ...Array.from({ length: 2000 }, () => ' x'), '-y', '+z')
  const [change] = parsePatch(patch)
  expect(() => applyHunks('f', text, change?.kind === 'update' ? change.hunks : [])).toThrow(/takes too long/)
})

it('patches a file of very many lines', () => {
  const text = `first\n${'x\n'.repeat(300_000)}last\n`
  const [change] = parsePatch(envelope('*** Update File: f', '@@', '-last', '+LAST'))
  expect(applyHunks('f', text, change?.kind === 'update' ? change.hunks : [])).toBe(text.replace('last', 'LAST'))
})

it('applies what git diff writes, to the byte', () => {
  const directory = mkdtempSync(join(tmpdir(), 'cordon-patch-'))
  try {
    const line = fc.constantFrom('a', 'b', '', '-- x', '++ y', ' z', '@@ -1 +1 @@', '\\ No newline', 'ä', 'tab\t')
    const text = fc
      .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
      .map(([lines, end]) => lines.join('\n') + (end ? '\n' : ''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after && before !== '' && after !== '')
        writeFileSync(join(directory, 'f'), before)
        writeFileSync(join(directory, 'g'), after)
        const diff = spawnSync('git', ['diff', '--no-index', '--no-color', 'f', 'g'], {
          cwd: directory,
          encoding: 'utf8',
        }).stdout
        const patch = diff.replace(/^\+\+\+ b\/g/m, '+++ b/f').replace(/^diff --git .*$/m, 'diff --git a/f b/f')
        const [change] = parsePatch(patch)
        expect(change?.kind).toBe('update')
        expect(applyHunks('f', before, change?.kind === 'update' ? change.hunks : [])).toBe(after)
      }),
      { numRuns: 80 },
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
