/** Parses a patch: the "*** Begin Patch" envelope, or a unified diff. */

import { InputError } from '../tool.ts'
import type { FileChange, Hunk, HunkLine } from './apply.ts'

interface Section {
  gitNames: string | null
  oldName: string | null | undefined
  newName: string | null | undefined
  renameFrom: string | null
  renameTo: string | null
  copies: boolean
  isNew: boolean
  isDeleted: boolean
  executable: boolean | null
  readonly hunks: Hunk[]
  readonly line: number
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Skips text before the first file, such as a commit message. */
function parseUnified(lines: readonly string[]): FileChange[] {
  const changes: FileChange[] = []
  let section: Section | null = null
  const finish = () => {
    if (section) changes.push(changeOf(section))
    section = null
  }
  let at = 0
  while (at < lines.length) {
    const line = lines[at]!
    if (line.startsWith('diff --git ')) {
      finish()
      section = newSection(at + 1, line.slice('diff --git '.length))
      at++
    } else if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) {
      if (!section || section.oldName !== undefined) {
        finish()
        section = newSection(at + 1, null)
      }
      section.oldName = nameOf(line.slice(4))
      section.newName = nameOf(lines[at + 1]!.slice(4))
      at += 2
    } else if (line.startsWith('@@ ')) {
      if (!section || section.oldName === undefined) {
        throw new InputError(`line ${at + 1} of the patch is a hunk without the --- and +++ lines that name its file`)
      }
      at = readHunk(lines, at, section)
    } else {
      if (section) readHeader(line, at + 1, section)
      at++
    }
  }
  finish()
  return changes
}

function newSection(line: number, gitNames: string | null): Section {
  return {
    gitNames,
    oldName: undefined,
    newName: undefined,
    renameFrom: null,
    renameTo: null,
    copies: false,
    isNew: false,
    isDeleted: false,
    executable: null,
    hunks: [],
    line,
  }
}

function readHeader(line: string, number: number, section: Section): void {
  if (section.hunks.length > 0) {
    // `-- ` starts the signature of a mailed patch.
    if (/^[ +-]/.test(line) && line !== '-- ') {
      throw new InputError(`line ${number} of the patch lies outside its hunk; the counts in the @@ line do not match`)
    }
    return
  }
  const move = /^(rename|copy) (from|to) (.+)$/.exec(line)
  if (move) {
    const name = unquote(move[3]!)
    if (move[2] === 'from') section.renameFrom = name
    else section.renameTo = name
    section.copies = move[1] === 'copy'
  }
  const mode = /^(old mode|new mode|new file mode|deleted file mode) (\d{6})$/.exec(line)
  if (mode) {
    if (!/^100[0-7]{3}$/.test(mode[2]!)) {
      throw new InputError(`line ${number} of the patch is about a link or a submodule; only regular files are patched`)
    }
    if (mode[1] === 'new file mode') section.isNew = true
    if (mode[1] === 'deleted file mode') section.isDeleted = true
    if (mode[1]!.startsWith('new')) section.executable = (Number.parseInt(mode[2]!, 8) & 0o111) !== 0
  }
  if (/^(GIT binary patch|Binary files .* differ)$/.test(line)) {
    throw new InputError(`line ${number} of the patch is about a binary file; only text is patched`)
  }
}

function readHunk(lines: readonly string[], begin: number, section: Section): number {
  const header = HUNK.exec(lines[begin]!)
  if (!header) throw new InputError(`line ${begin + 1} of the patch is not a hunk header such as "@@ -1,3 +1,4 @@"`)
  const [oldStart, oldCount, , newCount] = header.slice(1).map((text) => (text === undefined ? 1 : Number(text)))
  let oldLeft = oldCount!
  let newLeft = newCount!
  const hunkLines: HunkLine[] = []
  let finalNewline: { old: boolean; new: boolean } | null = null
  let at = begin + 1
  for (; at < lines.length; at++) {
    const line = lines[at]!
    const last = hunkLines.at(-1)
    if (line.startsWith('\\ ') && last) {
      finalNewline ??= { old: true, new: true }
      if (last.kind !== 'insert') finalNewline.old = false
      if (last.kind !== 'remove') finalNewline.new = false
      continue
    }
    if (oldLeft === 0 && newLeft === 0) break
    const kind = line === '' || line.startsWith(' ') ? 'keep' : line.startsWith('-') ? 'remove' : 'insert'
    if (kind === 'insert' && !line.startsWith('+')) break
    if (line === '' && at === lines.length - 1) break
    if (kind !== 'insert') oldLeft--
    if (kind !== 'remove') newLeft--
    if (oldLeft < 0 || newLeft < 0) break
    hunkLines.push({ kind, text: line.slice(1) })
  }
  if (oldLeft !== 0 || newLeft !== 0) {
    throw new InputError(
      `the hunk at line ${begin + 1} of the patch says ${oldCount} old and ${newCount} new lines, but contains ${oldCount! - oldLeft} and ${newCount! - newLeft}; correct the counts`,
    )
  }
  section.hunks.push({
    line: begin + 1,
    oldStart: oldStart!,
    after: null,
    lines: hunkLines,
    atEnd: finalNewline?.old === false,
    finalNewline,
  })
  return at
}

function changeOf(section: Section): FileChange {
  const [oldPath, newPath] = pathsOf(section)
  const { hunks, executable, copies } = section
  if (oldPath === null && newPath === null) throw new InputError(`line ${section.line} of the patch names no file`)
  if (oldPath === null || section.isNew) {
    return { kind: 'add', path: (newPath ?? oldPath)!, content: addedText(section), executable }
  }
  if (newPath === null || section.isDeleted) return { kind: 'delete', path: oldPath, hunks }
  const moved = section.renameTo !== null
  if (!moved && oldPath !== newPath) {
    throw new InputError(
      `line ${section.line} of the patch names two files, ${oldPath} and ${newPath}, without saying "rename from"; write the same name twice`,
    )
  }
  if (hunks.length === 0 && !moved && executable === null) {
    throw new InputError(`the section of ${newPath} at line ${section.line} of the patch changes nothing`)
  }
  return { kind: 'update', path: oldPath, moveTo: moved ? newPath : null, copies, hunks, executable }
}

function pathsOf(section: Section): readonly [string | null, string | null] {
  if (section.renameFrom !== null || section.renameTo !== null) {
    if (section.renameFrom === null || section.renameTo === null) {
      throw new InputError(`line ${section.line} of the patch has only one of "rename from" and "rename to"`)
    }
    return [section.renameFrom, section.renameTo]
  }
  if (section.oldName !== undefined) return stripPrefixes(section.oldName, section.newName!)
  // Without --- and +++ both names are equal, which finds the middle even with spaces.
  const names = section.gitNames!
  const quoted = /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")$/.exec(names)
  const middle = (names.length - 1) / 2
  const pair = quoted
    ? ([unquote(quoted[1]!), unquote(quoted[2]!)] as const)
    : ([names.slice(0, middle), names.slice(middle + 1)] as const)
  const [oldPath, newPath] = stripPrefixes(pair[0], pair[1])
  if (oldPath !== newPath) throw new InputError(`line ${section.line} of the patch does not name one file: ${names}`)
  return [oldPath, newPath]
}

// `a/` and `b/` are prefixes only if both names have them.
function stripPrefixes(oldName: string | null, newName: string | null): readonly [string | null, string | null] {
  const git = (oldName?.startsWith('a/') ?? true) && (newName?.startsWith('b/') ?? true)
  if (!git) return [oldName, newName]
  return [oldName?.slice(2) ?? null, newName?.slice(2) ?? null]
}

function nameOf(text: string): string | null {
  const name = text.startsWith('"') ? unquote(text) : text.replace(/\t.*$/, '')
  return name === '/dev/null' ? null : name
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 }

/** Git quotes odd names as C strings. */
function unquote(name: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(name)
  if (!quoted) return name
  const bytes: Buffer[] = []
  for (const [part] of quoted[1]!.matchAll(/\\[0-7]{3}|\\.|[^\\]+/gs)) {
    if (!part.startsWith('\\')) bytes.push(Buffer.from(part))
    else if (part.length === 4) bytes.push(Buffer.from([Number.parseInt(part.slice(1), 8) & 0xff]))
    else bytes.push(Buffer.from([escapes[part[1]!] ?? part.charCodeAt(1)]))
  }
  return Buffer.concat(bytes).toString('utf8')
}

function addedText(section: Section): string {
  const lines = section.hunks.flatMap((hunk) => hunk.lines)
  if (section.hunks.length > 1 || lines.some((line) => line.kind !== 'insert')) {
    throw new InputError(`the patch creates a new file at line ${section.line}, so it can only add lines to it`)
  }
  const text = lines.map((line) => `${line.text}\n`).join('')
  return section.hunks[0]?.finalNewline?.new === false ? text.slice(0, -1) : text
}

const HEADER = /^\*\*\* (Add File|Update File|Delete File|Move to): ?(.*)$/

interface Cursor {
  readonly lines: readonly string[]
  at: number
}

/** Parses the envelope that begins at this line. */
function parseEnvelope(lines: readonly string[], begin: number): FileChange[] {
  const cursor: Cursor = { lines, at: begin + 1 }
  const changes: FileChange[] = []
  for (;;) {
    const line = lines[cursor.at]
    if (line === undefined) throw new InputError('the patch has no "*** End Patch" line; it may have been cut off')
    if (line.trim() === '*** End Patch') break
    if (line.trim() === '') cursor.at++
    else changes.push(parseFile(cursor))
  }
  const rest = lines.slice(cursor.at + 1).findIndex((line) => line.trim() !== '')
  if (rest >= 0) throw new InputError(`line ${cursor.at + 2 + rest} of the patch comes after "*** End Patch"`)
  return changes
}

function parseFile(cursor: Cursor): FileChange {
  const line = cursor.lines[cursor.at]!
  const header = HEADER.exec(line)
  if (!header || header[1] === 'Move to') {
    throw new InputError(
      `line ${cursor.at + 1} of the patch is ${quote(line)}; expected "*** Add File: path", "*** Update File: path", "*** Delete File: path" or "*** End Patch"`,
    )
  }
  const path = pathOf(header)
  cursor.at++
  if (header[1] === 'Delete File') return { kind: 'delete', path, hunks: [] }
  return header[1] === 'Add File' ? parseAdd(cursor, path) : parseUpdate(cursor, path)
}

function parseAdd(cursor: Cursor, path: string): FileChange {
  const added: string[] = []
  for (let line = cursor.lines[cursor.at]; line?.startsWith('+'); line = cursor.lines[++cursor.at]) {
    added.push(`${line.slice(1)}\n`)
  }
  return { kind: 'add', path, content: added.join(''), executable: null }
}

function parseUpdate(cursor: Cursor, path: string): FileChange {
  const move = HEADER.exec(cursor.lines[cursor.at] ?? '')
  const moveTo = move?.[1] === 'Move to' ? pathOf(move) : null
  if (moveTo !== null) cursor.at++
  const hunks: Hunk[] = []
  for (let line = cursor.lines[cursor.at]; line !== undefined && isHunkLine(line); line = cursor.lines[cursor.at]) {
    hunks.push(parseHunk(cursor, path, hunks.length === 0))
  }
  if (hunks.length === 0 && moveTo === null) throw new InputError(`"*** Update File: ${path}" has no hunk`)
  return { kind: 'update', path, moveTo, copies: false, hunks, executable: null }
}

function parseHunk(cursor: Cursor, path: string, first: boolean): Hunk {
  const begin = cursor.at
  const head = cursor.lines[begin]!
  let after: string | null = null
  if (head.startsWith('@@')) {
    after = head.slice(2).trim() === '' ? null : head.slice(head.startsWith('@@ ') ? 3 : 2)
    cursor.at++
  } else if (!first) {
    throw new InputError(`line ${begin + 1} of the patch: a further hunk of ${path} begins with "@@"`)
  }
  const lines: HunkLine[] = []
  for (let line = cursor.lines[cursor.at]; line !== undefined; line = cursor.lines[++cursor.at]) {
    if (line.startsWith('+')) lines.push({ kind: 'insert', text: line.slice(1) })
    else if (line.startsWith('-')) lines.push({ kind: 'remove', text: line.slice(1) })
    else if (line.startsWith(' ')) lines.push({ kind: 'keep', text: line.slice(1) })
    else if (line === '') lines.push({ kind: 'keep', text: '' })
    else break
  }
  // Empty lines before the next header are separators.
  for (let back = cursor.at - 1; back > begin && cursor.lines[back] === ''; back--) lines.pop()
  const atEnd = cursor.lines[cursor.at]?.trim() === '*** End of File'
  if (atEnd) cursor.at++
  if (lines.every((line) => line.kind === 'keep')) {
    throw new InputError(`the hunk of ${path} at line ${begin + 1} of the patch changes nothing`)
  }
  return { line: begin + 1, oldStart: null, after, lines, atEnd, finalNewline: null }
}

function isHunkLine(line: string): boolean {
  return /^(@@|[ +-])/.test(line)
}

function pathOf(header: RegExpExecArray): string {
  const path = header[2]!.trim()
  if (path === '') throw new InputError(`"*** ${header[1]}:" names no file`)
  return path
}

function quote(line: string): string {
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}…` : line)
}

/** Throws an `InputError` for a patch without files or with an invalid line. */
export function parsePatch(patch: string): readonly FileChange[] {
  const lines = patch.split('\n')
  // A patch with CRLF throughout means its lines.
  const crlf = lines.slice(0, -1).every((line) => line.endsWith('\r'))
  const plain = crlf && lines.length > 1 ? lines.map((line) => line.replace(/\r$/, '')) : lines
  const begin = plain.findIndex((line) => line.trim() !== '')
  const changes = plain[begin]?.trim() === '*** Begin Patch' ? parseEnvelope(plain, begin) : parseUnified(plain)
  if (changes.length === 0) {
    throw new InputError(
      'the patch names no file; give "*** Begin Patch" … "*** End Patch" with "*** Update File: path", or a unified diff with --- and +++ lines',
    )
  }
  return changes
}

interface PatchPaths {
  /** Files whose content decides whether the patch applies. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

/** The files of a patch; throws if it names none. */
export function patchPaths(patch: string): PatchPaths {
  const reads = new Set<string>()
  const writes = new Set<string>()
  for (const change of parsePatch(patch)) {
    if (change.kind !== 'add' && change.hunks.length > 0) reads.add(change.path)
    if (change.kind === 'update' && change.copies) reads.add(change.path)
    else writes.add(change.path)
    if (change.kind === 'update' && change.moveTo !== null) writes.add(change.moveTo)
  }
  return { reads: [...reads], writes: [...writes] }
}
