/** One row a tool: a call that is done, calls that fail, and what is said about them. */

import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { tarGz, zip } from './tools-archives.ts'
import type { World } from './tools-world.ts'

export interface ToolRow {
  readonly tool: string
  readonly input: Record<string, unknown>
  /** Part of the text of a call that is done. */
  readonly says: RegExp
  /** Files that then hold this text; null for those that are gone. */
  readonly leaves?: Readonly<Record<string, string | null>>
  readonly fails: readonly (readonly [note: string, input: Record<string, unknown>, message: RegExp])[]
}

const bomb = zip([{ name: 'bomb', content: Buffer.alloc(80 * 1024 * 1024) }])

/** The project every row starts from. */
export function furnish(world: World): void {
  world.file('a.txt', 'one\ntwo\nthree\n')
  world.file('dir/b.ts', 'export function b() {\n  return 1\n}\n')
  world.file('dir/c.md', '# C\n')
  world.file('bytes.bin', Buffer.from([0, 1, 2, 3, 255]))
  world.file('good.zip', zip([{ name: 'x/y.txt', content: 'why' }]))
  world.file('good.tgz', tarGz([{ name: 'x/z.txt', content: 'zed' }]))
  world.file('escape.zip', zip([{ name: '../evil.txt', content: 'no' }]))
  world.file('bomb.zip', bomb)
  world.file('settings.tgz', tarGz([{ name: '.vscode', type: '2', link: 'dir' }]))
  symlinkSync(join(world.root, 'dir'), join(world.root, 'link'))
  world.web = {
    response: {
      status: 200,
      statusText: 'OK',
      headers: { 'content-type': 'text/html' },
      body: Buffer.from('<title>T</title><h1>Hello</h1>'),
      truncated: false,
      finalUrl: 'https://example.org/',
      hops: [],
    },
  }
  world.command = { ...world.command, stdout: 'ran\n' }
  world.answer = 'blue'
}

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')
const missing = ['a path that is not there', { path: 'nope' }, /does not exist/] as const

/** Tools that run programs of a model: they have no row here. */
export const codeTools: readonly string[] = ['python_exec', 'code_exec', 'sandbox_run']

export const toolRows: readonly ToolRow[] = [
  {
    tool: 'bash',
    input: { command: 'echo ran' },
    says: /^ran$/,
    fails: [
      ['no command', {}, /needs "command"/],
      ['a handle without an action', { command: 'true', handle: 'bg_1' }, /"handle"/],
      ['an unknown handle', { action: 'read', handle: 'bg_9' }, /no background command "bg_9"/],
      ['kill of an unknown handle', { action: 'kill', handle: 'bg_9' }, /no background command/],
      ['an action without its handle', { action: 'kill' }, /needs "handle"/],
    ],
  },
  {
    tool: 'read',
    input: { path: 'a.txt' },
    says: /^one\ntwo\nthree\n$/,
    fails: [
      missing,
      ['a directory', { path: 'dir' }, /is a directory/],
      ['a line beyond the end', { path: 'a.txt', offset: 9 }, /has 3 lines/],
      ['an offset of 0', { path: 'a.txt', offset: 0 }, /at least 1/],
    ],
  },
  { tool: 'summary', input: { path: 'dir/b.ts' }, says: /3 lines.*TypeScript\n1: export function b/, fails: [missing] },
  {
    tool: 'write',
    input: { path: 'new/deep/file.txt', content: 'hi' },
    says: /Created/,
    leaves: { 'new/deep/file.txt': 'hi' },
    fails: [
      ['onto a directory', { path: 'dir', content: '' }, /is a directory/],
      ['below a file', { path: 'a.txt/x', content: '' }, /not a directory/],
      ['a name that is too long', { path: `${'n'.repeat(300)}/x`, content: '' }, /too long/],
    ],
  },
  {
    tool: 'edit',
    input: { path: 'a.txt', old_string: 'two', new_string: 'zwei' },
    says: /line 2/,
    leaves: { 'a.txt': 'one\nzwei\nthree\n' },
    fails: [
      ['no match', { path: 'a.txt', old_string: 'four', new_string: 'x' }, /does not occur/],
      [
        'many matches',
        { path: 'a.txt', old_string: 'e', new_string: 'x' },
        /occurs 3 times in a\.txt \(lines 1, 3, 3\)/,
      ],
      ['nothing to replace', { path: 'a.txt', old_string: '', new_string: 'x' }, /empty/],
      ['no change', { path: 'a.txt', old_string: 'one', new_string: 'one' }, /the same/],
      ['bytes', { path: 'bytes.bin', old_string: 'a', new_string: 'b' }, /not a text file/],
      ['a file that is not there', { path: 'nope', old_string: 'a', new_string: 'b' }, /does not exist/],
    ],
  },
  {
    tool: 'apply_patch',
    input: {
      patch: patch(
        '*** Update File: a.txt',
        '@@',
        ' one',
        '-two',
        '+zwei',
        '*** Add File: n.txt',
        '+new',
        '*** Delete File: dir/c.md',
      ),
    },
    says: /M a\.txt\nA n\.txt\nD dir\/c\.md/,
    leaves: { 'a.txt': 'one\nzwei\nthree\n', 'n.txt': 'new\n', 'dir/c.md': null },
    fails: [
      [
        'a hunk that does not apply, after one that does',
        { patch: patch('*** Add File: n/n.txt', '+new', '*** Update File: a.txt', '@@', '-four', '+x') },
        /hunk 1 of 1 for a\.txt \(line 5 of the patch\) does not match: no line is "four"/,
      ],
      ['an added file that exists', { patch: patch('*** Add File: a.txt', '+x') }, /already exists/],
      ['a deleted file that does not', { patch: patch('*** Delete File: nope') }, /does not exist/],
      ['no file', { patch: 'hello' }, /names no file/],
      ['an envelope cut off', { patch: '*** Begin Patch\n*** Add File: x\n+y\n' }, /no "\*\*\* End Patch"/],
      ['counts that are wrong', { patch: '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n' }, /correct the counts/],
      [
        'a link',
        { patch: 'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n' },
        /link/,
      ],
    ],
  },
  {
    tool: 'extract',
    input: { path: 'good.zip', destination: 'out' },
    says: /Unpacked 1 files/,
    leaves: { 'out/x/y.txt': 'why' },
    fails: [
      ['a link for protected settings', { path: 'settings.tgz', destination: '.' }, /protected settings/],
      ['a name that climbs', { path: 'escape.zip', destination: 'out' }, /"\.\."/],
      ['a bomb', { path: 'bomb.zip', destination: 'out' }, /times its size/],
      ['no archive', { path: 'a.txt', destination: 'out' }, /not a zip, tar/],
      ['an archive that is not there', { path: 'nope.zip', destination: 'out' }, /does not exist/],
    ],
  },
  {
    tool: 'list',
    input: { path: 'dir' },
    says: /^b\.ts\nc\.md$/,
    fails: [missing, ['a file', { path: 'a.txt' }, /not a directory/]],
  },
  { tool: 'stat', input: { path: 'a.txt' }, says: /file, 14 bytes, mode/, fails: [] },
  {
    tool: 'glob',
    input: { pattern: '**/*.{ts,md}' },
    says: /^dir\/b\.ts\ndir\/c\.md$/,
    fails: [
      ['an absolute pattern', { pattern: '/etc/*' }, /is absolute/],
      ['a pattern that climbs', { pattern: '../*' }, /climb/],
      ['a directory that is not there', { pattern: '*', path: 'nope' }, /does not exist/],
    ],
  },
  {
    tool: 'grep',
    input: { pattern: 'return \\d+' },
    says: /^dir\/b\.ts:2: {2}return 1$/,
    fails: [
      ['no regular expression', { pattern: '(' }, /not a regular expression/],
      ['an empty one', { pattern: '' }, /is empty/],
      ['a directory that is not there', { pattern: 'x', path: 'nope' }, /does not exist/],
    ],
  },
  {
    tool: 'delete',
    input: { path: 'dir', recursive: true },
    says: /Deleted dir and everything/,
    leaves: { 'dir/b.ts': null },
    fails: [
      missing,
      ['a directory that is not empty', { path: 'dir' }, /"recursive": true/],
      ['a link', { path: 'link', recursive: true }, /is a link to/],
      ['the root', { path: '.', recursive: true }, /root of this session/],
    ],
  },
  {
    tool: 'copy',
    input: { source: 'a.txt', destination: 'copies/a.txt' },
    says: /Copied/,
    leaves: { 'copies/a.txt': 'one\ntwo\nthree\n', 'a.txt': 'one\ntwo\nthree\n' },
    fails: [
      ['a source that is not there', { source: 'nope', destination: 'x/y' }, /does not exist/],
      ['a directory', { source: 'dir', destination: 'x/y' }, /is a directory/],
      ['onto itself', { source: 'a.txt', destination: './a.txt' }, /same file/],
      ['onto a directory', { source: 'a.txt', destination: 'dir' }, /is a directory/],
    ],
  },
  {
    tool: 'move',
    input: { source: 'dir', destination: 'moved/dir' },
    says: /Moved/,
    leaves: { 'moved/dir/c.md': '# C\n', 'dir/c.md': null },
    fails: [
      ['a source that is not there', { source: 'nope', destination: 'x/y' }, /does not exist/],
      ['onto a file', { source: 'a.txt', destination: 'dir/c.md' }, /already exists/],
      ['into itself', { source: 'dir', destination: 'dir/in/side' }, /into itself/],
      ['a link', { source: 'link', destination: 'x' }, /is a link to/],
    ],
  },
  {
    tool: 'mkdir',
    input: { path: 'm/n' },
    says: /Created/,
    fails: [['below a file', { path: 'a.txt/x' }, /not a directory/]],
  },
  {
    tool: 'chmod',
    input: { path: 'a.txt', mode: '600' },
    says: /to 600/,
    fails: [
      ['setuid', { path: 'a.txt', mode: '4755' }, /setuid/],
      ['letters', { path: 'a.txt', mode: 'u+s' }, /three octal digits/],
      ['a path that is not there', { path: 'nope', mode: '644' }, /does not exist/],
    ],
  },
  {
    tool: 'webfetch',
    input: { url: 'https://example.org/' },
    says: /^# T\n<https:\/\/example\.org\/>\n\n# Hello/,
    fails: [],
  },
  {
    tool: 'http',
    input: { url: 'https://example.org/', method: 'post', body: 'x' },
    says: /^HTTP 200 OK/,
    fails: [
      ['an invalid method', { url: 'https://example.org/', method: 'GET /x' }, /"method"/],
      ['a body with GET', { url: 'https://example.org/', body: 'x' }, /no body/],
      ['a header with a line break', { url: 'https://example.org/', headers: { a: 'b\r\nc: d' } }, /line breaks/],
      ['a header that is not text', { url: 'https://example.org/', headers: { a: 1 } }, /must be a text/],
      ['an invalid header name', { url: 'https://example.org/', headers: { 'a b': 'c' } }, /not a header name/],
    ],
  },
  {
    tool: 'todowrite',
    input: { todos: [{ content: 'first', status: 'in_progress' }] },
    says: /^\[~\] first$/,
    fails: [
      ['an item without content', { todos: [{}] }, /needs "content"/],
      ['an unknown status', { todos: [{ content: 'x', status: 'later' }] }, /"status" of item 1/],
      ['items that are no objects', { todos: ['x'] }, /array of objects/],
    ],
  },
  { tool: 'todoread', input: {}, says: /empty/, fails: [] },
  {
    tool: 'question',
    input: { question: 'Which colour?', options: ['red', 'blue'] },
    says: /^blue$/,
    fails: [['an empty question', { question: ' ' }, /"question"/]],
  },
]
