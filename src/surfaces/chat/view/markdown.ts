/** Renders Markdown line by line as it streams. */

import { pieces, widthOf } from '../../../scan/display-text.ts'
import { Highlighter } from './highlight.ts'
import { type Paint, safe } from './style.ts'

/** Longer lines are not searched for marks. */
const MAX_MARKED = 2000

/** Longer tables are shown as several. */
const MAX_ROWS = 200

/** Cells between bars; `\|` is a bar in one. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** A cell as wide as it is shown: without marks. */
function bare(cell: string): string {
  return inline(cell, (_, text) => text)
}

/** Renders whole lines and keeps a half line. */
export class MarkdownView {
  readonly #paint: Paint
  readonly #width: () => number
  /** Pieces of an unfinished line, joined once. */
  #half: string[] = []
  #fence: { readonly mark: string; readonly code: Highlighter } | null = null
  /** Lines of a table so far: its columns are as wide as its widest cells. */
  #table: string[] = []

  constructor(paint: Paint, width: () => number) {
    this.#paint = paint
    this.#width = width
  }

  /** The lines completed by a text. */
  take(text: string): string[] {
    if (!text.includes('\n')) {
      this.#half.push(text)
      return []
    }
    const lines = [...this.#half.splice(0), text].join('').split('\n')
    this.#half.push(lines.pop()!)
    return lines.flatMap((line) => this.#line(line))
  }

  /** The last rows of the unfinished line. */
  half(rows: number): readonly string[] {
    const columns = Math.max(20, this.#width() - 1)
    let text = ''
    for (let at = this.#half.length - 1; at >= 0 && text.length <= rows * columns; at--) text = this.#half[at]! + text
    if (text === '') return this.#table.slice(-rows).map((line) => safe(line).slice(0, columns))
    const tail = safe(text.slice(-rows * columns).toWellFormed())
    return rowsOf(tail, columns).slice(-rows)
  }

  /** Finishes the half line. */
  end(): string[] {
    const rest = this.#half.splice(0).join('')
    const lines = rest === '' ? [] : this.#line(rest)
    this.#fence = null
    return [...lines, ...this.#tableRows()]
  }

  #line(line: string): string[] {
    const isRow = !this.#fence && line.length <= MAX_MARKED && /^\s*\|/.test(line)
    if (isRow && this.#table.length < MAX_ROWS) {
      this.#table.push(line)
      return []
    }
    return [...this.#tableRows(), ...this.#other(line)]
  }

  /** The table that ends here: aligned if it fits, and as it was written if not. */
  #tableRows(): string[] {
    const lines = this.#table.splice(0)
    if (lines.length === 0) return []
    const isRule = (line: string) => /^[\s|:-]+$/.test(line)
    const second = lines[1] ?? ''
    const right = isRule(second) ? cellsOf(second).map((cell) => /^-+:$/.test(cell)) : []
    const rows = lines.map((line) => (isRule(line) ? null : cellsOf(line)))
    const count = Math.max(...rows.map((row) => row?.length ?? 0))
    const widths = Array.from({ length: count }, (_, at) =>
      Math.max(1, ...rows.map((row) => widthOf(bare(row?.[at] ?? '')))),
    )
    const wide = widths.reduce((sum, width) => sum + width + 3, -3)
    if (wide > this.#width() - 1)
      return lines.map((line) => (isRule(line) ? this.#paint('dim', safe(line)) : inline(line, this.#paint)))
    return rows.map((row, at) => {
      if (row === null) return this.#paint('dim', widths.map((width) => '─'.repeat(width)).join('─┼─'))
      const isHead = at === 0 && rows[1] === null
      const cells = widths.map((width, column) => {
        const cell = row[column] ?? ''
        const pad = ' '.repeat(width - widthOf(bare(cell)))
        const painted = isHead ? this.#paint('bold', bare(cell)) : inline(cell, this.#paint)
        if (right[column]) return pad + painted
        return painted + (column < count - 1 ? pad : '')
      })
      return cells.join(this.#paint('dim', ' │ '))
    })
  }

  #other(line: string): string[] {
    const paint = this.#paint
    // Not prose: break it into rows without searching for marks.
    if (line.length > MAX_MARKED) {
      const indent = this.#fence ? '  ' : ''
      const columns = Math.max(20, this.#width() - 1 - indent.length)
      return rowsOf(safe(line), columns).map((row) => indent + row)
    }
    const fence = /^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(line)
    if (this.#fence) {
      if (fence && fence[2] === '' && fence[1]!.startsWith(this.#fence.mark)) {
        this.#fence = null
        return []
      }
      return [`  ${this.#fence.code.line(line)}`]
    }
    if (fence) {
      this.#fence = { mark: fence[1]!, code: new Highlighter(fence[2]!, paint) }
      return fence[2] === '' ? [] : [paint('dim', `  ${safe(fence[2]!)}`)]
    }
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line)
    if (heading) return [paint('bold', paint('cyan', safe(heading[2]!)))]
    if (/^\s*([-*_])(?:\s*\1){2,}\s*$/.test(line)) return [paint('dim', '─'.repeat(Math.min(40, this.#width())))]
    const quote = /^\s{0,3}>\s?(.*)$/.exec(line)
    if (quote) return this.#wrapped(quote[1]!, paint('dim', '│ '), paint('dim', '│ '), 2)
    const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line)
    if (item) {
      const indent = item[1]!.replace(/\t/g, '  ')
      const mark = /^\d/.test(item[2]!) ? item[2]! : '•'
      const width = indent.length + mark.length + 1
      return this.#wrapped(item[3]!, `${indent}${paint('cyan', mark)} `, ' '.repeat(width), width)
    }
    return this.#wrapped(line, '', '', 0)
  }

  /** Wraps prose. */
  #wrapped(text: string, first: string, other: string, indent: number): string[] {
    const columns = Math.max(20, this.#width() - 1 - indent)
    return rowsOf(text, columns).map((row, index) => (index === 0 ? first : other) + inline(row, this.#paint))
  }
}

/** A line with its marks painted. */
function inline(text: string, paint: Paint): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (/^`[^`]+`$/.test(part) ? paint('cyan', safe(part.slice(1, -1))) : marks(part, paint)))
    .join('')
}

function marks(text: string, paint: Paint): string {
  return safe(text)
    .replace(/\*\*([^*\s](?:[^*]*[^*\s])?)\*\*/g, (_, inner: string) => paint('bold', inner))
    .replace(/(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])/g, (_, inner: string) => paint('italic', inner))
    .replace(/(?<!\w)_([^_\s](?:[^_]*[^_\s])?)_(?!\w)/g, (_, inner: string) => paint('italic', inner))
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, label: string, url: string) => `${paint('underline', label)} (${url})`)
}

/** Wraps source text without splitting Markdown marks from their words. */
function rowsOf(text: string, columns: number): string[] {
  if (text.length <= columns && /^[\x20-\x7e]*$/.test(text)) return [text]
  const rows: string[] = []
  let row: string | null = null
  let used = 0
  for (const word of text.split(' ')) {
    const width = widthOf(word)
    if (row !== null && used + 1 + width <= columns) {
      row += ` ${word}`
      used += 1 + width
      continue
    }
    if (row !== null) rows.push(row)
    const parts: string[] = width > columns ? split(word, columns) : [word]
    rows.push(...parts.slice(0, -1))
    row = parts.at(-1)!
    used = widthOf(row)
  }
  return [...rows, row ?? '']
}

function split(word: string, columns: number): string[] {
  const parts: string[] = ['']
  let used = 0
  for (const piece of pieces(word)) {
    if (used + piece.width > columns) {
      parts.push('')
      used = 0
    }
    const end = piece.at + (word.codePointAt(piece.at)! > 0xffff ? 2 : 1)
    parts[parts.length - 1] += word.slice(piece.at, end)
    used += piece.width
  }
  return parts
}
