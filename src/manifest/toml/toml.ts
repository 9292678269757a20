/** TOML 1.0 to a tree with positions: one pass, linear, and after an error it goes on at the next statement. */

import {
  APOSTROPHE,
  type Cursor,
  fail,
  foundAt,
  NEWLINE,
  QUOTE,
  RETURN,
  readBareValue,
  readString,
  TAB,
  TomlError,
} from './scalar.ts'
import { type ArrayNode, type Entry, MAX_DEPTH, type Node, type TableNode, table } from './tree.ts'

/** Text that is not TOML, or contradicts earlier text. */
interface TomlProblem {
  readonly at: number
  readonly message: string
  readonly expected: string
  readonly found: string
  /** The dotted key, where the problem is about one. */
  readonly key: string
}

interface TomlDocument {
  readonly root: TableNode
  readonly problems: readonly TomlProblem[]
}

/** After this many problems a reader has enough to do, and a hostile text has cost enough. */
const MAX_PROBLEMS = 50

interface KeyPart {
  readonly name: string
  readonly at: number
}

/**
 * Parses a whole document; the tree contains everything understood, even with problems. `ends`
 * collects where values end, for edits of the text.
 */
export function parseToml(text: string, ends: Map<Node, number> | null = null): TomlDocument {
  const root = table(0, 'header')
  const problems: TomlProblem[] = []
  const state: State = { text, at: text.charCodeAt(0) === 0xfeff ? 1 : 0, root, current: root, problems, ends }
  while (problems.length < MAX_PROBLEMS && state.at < text.length) readStatement(state)
  return { root, problems }
}

interface State extends Cursor {
  readonly root: TableNode
  current: TableNode
  readonly problems: TomlProblem[]
  readonly ends: Map<Node, number> | null
}

function readStatement(state: State): void {
  const { text } = state
  let start = state.at
  try {
    skipBlank(state)
    start = state.at
    if (start >= text.length) return
    if (text.charCodeAt(start) === 0x5b) readHeader(state)
    else readKeyValue(state, state.current, 0)
    endOfStatement(state)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const { at, message, expected, found } = error
    state.problems.push({ at, message, expected, found, key: '' })
    // Keys below a broken header would land in the wrong table and cause a rain of false problems.
    if (text.charCodeAt(start) === 0x5b) state.current = table(start, 'header')
    state.at = nextStatement(text, Math.max(at, start))
  }
}

const STATEMENT_START = /[ \t]*(?:\[|[A-Za-z0-9_-]+[ \t]*(?:\.[^=\n]*)?=)/y

function nextStatement(text: string, from: number): number {
  for (let line = text.indexOf('\n', from); line >= 0; line = text.indexOf('\n', line + 1)) {
    STATEMENT_START.lastIndex = line + 1
    if (STATEMENT_START.test(text)) return line + 1
  }
  return text.length
}

const SPACES = /[ \t]*/y

function skipSpaces(cursor: Cursor): void {
  const code = cursor.text.charCodeAt(cursor.at)
  if (code !== 0x20 && code !== TAB) return
  SPACES.lastIndex = cursor.at
  SPACES.test(cursor.text)
  cursor.at = SPACES.lastIndex
}

const BLANK = /(?:[ \t\n]|\r\n)*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what ends a comment.
const COMMENT = /[^\u0000-\u0008\u000a-\u001f\u007f]*/y

/** Skips spaces, line ends and comments. */
function skipBlank(cursor: Cursor): void {
  const { text } = cursor
  for (;;) {
    BLANK.lastIndex = cursor.at
    BLANK.test(text)
    cursor.at = BLANK.lastIndex
    if (text.charCodeAt(cursor.at) !== 0x23) return
    skipComment(cursor)
  }
}

function skipComment(cursor: Cursor): void {
  const { text } = cursor
  COMMENT.lastIndex = cursor.at
  COMMENT.test(text)
  cursor.at = COMMENT.lastIndex
  const code = text.charCodeAt(cursor.at)
  if (cursor.at >= text.length || code === NEWLINE || (code === RETURN && text.charCodeAt(cursor.at + 1) === NEWLINE))
    return
  fail(cursor, 'a comment contains a control character', 'printable text')
}

function endOfStatement(cursor: Cursor): void {
  skipSpaces(cursor)
  if (cursor.text.charCodeAt(cursor.at) === 0x23) skipComment(cursor)
  const code = cursor.text.charCodeAt(cursor.at)
  if (cursor.at >= cursor.text.length || code === NEWLINE) return
  if (code === RETURN && cursor.text.charCodeAt(cursor.at + 1) === NEWLINE) return
  fail(cursor, 'something follows on the same line', 'the end of the line or a comment')
}

const BARE_KEY = /[A-Za-z0-9_-]+/y

function readKey(cursor: Cursor): KeyPart[] {
  const parts: KeyPart[] = []
  for (;;) {
    skipSpaces(cursor)
    const { at } = cursor
    const code = cursor.text.charCodeAt(at)
    if (code === QUOTE || code === APOSTROPHE) parts.push({ name: readString(cursor, false), at })
    else {
      BARE_KEY.lastIndex = at
      const name = BARE_KEY.exec(cursor.text)?.[0]
      if (name === undefined) fail(cursor, 'a key is missing', 'a name of letters, digits, _ and -, or one in quotes')
      parts.push({ name, at })
      cursor.at += name.length
    }
    if (parts.length > MAX_DEPTH) fail(cursor, `the key has more than ${MAX_DEPTH} parts`, 'a shorter key', at)
    skipSpaces(cursor)
    if (cursor.text.charCodeAt(cursor.at) !== 0x2e) return parts
    cursor.at++
  }
}

function dotted(parts: readonly KeyPart[], length: number): string {
  return parts
    .slice(0, length)
    .map((part) => part.name)
    .join('.')
}

function readHeader(state: State): void {
  const start = state.at
  const tables = state.text.charCodeAt(start + 1) === 0x5b
  state.at += tables ? 2 : 1
  const parts = readKey(state)
  const close = tables ? ']]' : ']'
  if (!state.text.startsWith(close, state.at)) fail(state, 'the table header is not closed', `"${close}"`)
  state.at += close.length
  state.current = openTable(state, parts, tables, start)
}

/** The table that a header names; after a contradiction a detached one, so that its keys do no harm. */
function openTable(state: State, parts: readonly KeyPart[], tables: boolean, start: number): TableNode {
  let here = state.root
  for (let i = 0; i < parts.length - 1; i++) {
    const { name, at } = parts[i]!
    const entry = here.entries.get(name)
    const next = entry === undefined ? addTable(here, parts[i]!, 'implicit') : tableBelow(entry.node)
    if (next === null) {
      contradiction(state, at, dotted(parts, i + 1), 'is not a table that can be extended', 'a separate table')
      return table(start, 'header')
    }
    here = next
  }
  const last = parts[parts.length - 1]!
  const key = dotted(parts, parts.length)
  const entry = here.entries.get(last.name)
  if (tables) return openArrayTable(state, here, last, key, entry, start)
  if (entry === undefined) {
    const created = addTable(here, last, 'header')
    created.at = start
    return created
  }
  if (entry.node.kind === 'table' && entry.node.form === 'implicit') {
    entry.node.form = 'header'
    entry.node.at = start
    return entry.node
  }
  contradiction(state, last.at, key, 'is defined twice', 'each table once')
  return table(start, 'header')
}

function openArrayTable(
  state: State,
  here: TableNode,
  last: KeyPart,
  key: string,
  entry: Entry | undefined,
  start: number,
): TableNode {
  const element = table(start, 'header')
  if (entry === undefined) {
    const node: ArrayNode = { kind: 'array', items: [element], at: start, form: 'tables' }
    here.entries.set(last.name, { key: last.name, at: last.at, node })
  } else if (entry.node.kind === 'array' && entry.node.form === 'tables') entry.node.items.push(element)
  else
    contradiction(state, last.at, key, 'is already something else than an array of tables', `only [[${key}]] headers`)
  return element
}

function addTable(here: TableNode, part: KeyPart, form: TableNode['form']): TableNode {
  const node = table(part.at, form)
  here.entries.set(part.name, { key: part.name, at: part.at, node })
  return node
}

/** The table that a header path goes on into: a table that is not inline, or the last of an array of tables. */
function tableBelow(node: Node): TableNode | null {
  if (node.kind === 'table') return node.form === 'inline' ? null : node
  if (node.kind !== 'array' || node.form !== 'tables') return null
  const last = node.items[node.items.length - 1]
  return last?.kind === 'table' ? last : null
}

function contradiction(state: State, at: number, key: string, what: string, expected: string): void {
  const found = foundAt(state.text, at)
  state.problems.push({ at, message: `${key} ${what}`, expected, found, key })
}

function readKeyValue(state: State, target: TableNode, depth: number): void {
  const parts = readKey(state)
  if (state.text.charCodeAt(state.at) !== 0x3d) fail(state, 'the key has no value', '"="')
  state.at++
  skipSpaces(state)
  const node = readValue(state, depth)
  let here = target
  for (let i = 0; i < parts.length - 1; i++) {
    const entry = here.entries.get(parts[i]!.name)
    // Only a table created by a dotted key in this same place may grow; headers and inline tables
    // are complete.
    if (entry === undefined) here = addTable(here, parts[i]!, 'dotted')
    else if (entry.node.kind === 'table' && entry.node.form === 'dotted') here = entry.node
    else {
      contradiction(state, parts[i]!.at, dotted(parts, i + 1), 'is already defined and cannot be extended', 'a new key')
      return
    }
  }
  const last = parts[parts.length - 1]!
  if (here.entries.has(last.name)) {
    contradiction(state, last.at, dotted(parts, parts.length), 'is set twice', 'each key once')
    return
  }
  here.entries.set(last.name, { key: last.name, at: last.at, node })
}

function readValue(state: State, depth: number): Node {
  const node = readAnyValue(state, depth)
  state.ends?.set(node, state.at)
  return node
}

function readAnyValue(state: State, depth: number): Node {
  const code = state.text.charCodeAt(state.at)
  if (code === QUOTE || code === APOSTROPHE) {
    const { at } = state
    return { kind: 'string', value: readString(state, true), at }
  }
  if (code !== 0x5b && code !== 0x7b) return readBareValue(state)
  if (depth >= MAX_DEPTH) fail(state, `nested deeper than ${MAX_DEPTH} levels`, 'a flatter value')
  return code === 0x5b ? readArray(state, depth + 1) : readInlineTable(state, depth + 1)
}

function readArray(state: State, depth: number): ArrayNode {
  const { at } = state
  const items: Node[] = []
  state.at++
  for (;;) {
    skipBlank(state)
    if (state.text.charCodeAt(state.at) === 0x5d) break
    items.push(readValue(state, depth))
    skipBlank(state)
    const code = state.text.charCodeAt(state.at)
    if (code === 0x5d) break
    if (code !== 0x2c) fail(state, 'the array goes on without a comma', '"," or "]"')
    state.at++
  }
  state.at++
  return { kind: 'array', items, at, form: 'value' }
}

function readInlineTable(state: State, depth: number): TableNode {
  const node = table(state.at, 'inline')
  state.at++
  skipSpaces(state)
  if (state.text.charCodeAt(state.at) === 0x7d) {
    state.at++
    return node
  }
  for (;;) {
    readKeyValue(state, node, depth)
    skipSpaces(state)
    const code = state.text.charCodeAt(state.at)
    if (code === 0x7d) break
    if (code !== 0x2c) fail(state, 'the inline table goes on without a comma', '"," or "}" on the same line')
    state.at++
    skipSpaces(state)
    if (state.text.charCodeAt(state.at) === 0x7d) fail(state, 'a comma ends the inline table', 'a key after the comma')
  }
  state.at++
  return node
}
