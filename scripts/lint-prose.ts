/**
 * Checks the prose of the documents and the words of sources: sentence length, line width, paragraph length, and the words that docs/glossary.md
 * retires. `node scripts/lint-prose.ts [FILE…]` prints problems, `--wrap` fills lines, `--figures` prints figures of each
 * document: sentences, median, 90th percentile, longest sentence, longest line, retired words.
 */

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const LIMITS = { median: 16, p90: 28, sentence: 30, line: 100, paragraph: 6 }

/** A run of prose without markup: a paragraph, a list item, a heading or a table cell. */
export interface Block {
  readonly line: number
  readonly lines: number
  readonly text: string
}

export interface Problem {
  readonly line: number
  readonly message: string
}

export interface RetiredWord {
  readonly word: string
  readonly pattern: RegExp
  readonly instead: string
}

/** Ordinary English that contains a retired word: "there is no timer", "the answer is no", "under way in a process". */
function retiredPattern(word: string): RegExp {
  const words = word.replaceAll(' ', '\\s+')
  if (word === 'is none') return /(?<!\bthere )\b[Ii]s\s+none\b/
  if (word === 'is no') return /(?<!\bthere )\bis\s+no\s+(?!longer\b|use\b)\w/i
  if (word === 'way in') return /\b(?:a|the|no)\s+way\s+in\b(?!\s+which)/i
  return new RegExp(`(?<![\\w-])${words}(?![\\w-])`, 'i')
}

/** The words of the table below "Retired words", each with what to write instead. */
export function retiredWords(glossary: string): readonly RetiredWord[] {
  const section = glossary.split(/^## Retired words$/m)[1] ?? ''
  return [...section.matchAll(/^\| (`.+?) \| (.+?) \|$/gm)].flatMap(([, words, instead]) =>
    [...words!.matchAll(/`([^`]+)`/g)].map(([, word]) => ({
      word: word!,
      pattern: retiredPattern(word!),
      instead: instead!,
    })),
  )
}

const FENCE = /^\s*(?:```|~~~)/
const ITEM = /^\s*(?:[-*]|\d+\.)\s+/
const BREAK = /^\s*(?:$|\||#|>|<|!\[|---)/

/** The prose of a document, without code, comments and markup. */
export function proseOf(markdown: string): readonly Block[] {
  const text = markdown
    .replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/^---\n[\s\S]*?\n---\n/, (matter) => matter.replace(/[^\n]/g, ''))
  const blocks: Block[] = []
  let open: { line: number; parts: string[] } | null = null
  let fenced = false
  const close = (): void => {
    if (open) blocks.push({ line: open.line, lines: open.parts.length, text: plainText(open.parts.join(' ')) })
    open = null
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (FENCE.test(line)) {
      close()
      fenced = !fenced
      continue
    }
    // A block that is indented by four columns after an empty line is code.
    if (fenced || (open === null && /^ {4}\S/.test(line) && !ITEM.test(line))) continue
    const one = (content: string): number => blocks.push({ line: index + 1, lines: 1, text: plainText(content) })
    if (/^\s*\|/.test(line)) {
      close()
      if (!/^[\s|:-]+$/.test(line)) for (const cell of line.split(/(?<!\\)\|/).slice(1, -1)) one(cell)
    } else if (/^#+ /.test(line)) {
      close()
      one(line.replace(/^#+ /, ''))
    } else if (ITEM.test(line)) {
      close()
      open = { line: index + 1, parts: [line.replace(ITEM, '')] }
    } else if (BREAK.test(line)) {
      close()
    } else if (open) {
      open.parts.push(line.trim())
    } else {
      open = { line: index + 1, parts: [line.trim()] }
    }
  }
  close()
  return blocks.filter((block) => block.text !== '')
}

/** Code becomes one word, links their text, emphasis nothing. */
function plainText(text: string): string {
  return text
    .replace(/`+[^`]*`+/g, 'CODE')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/CODE(?:[\s,;·]+CODE)+/g, 'CODE')
    .replace(/[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}/g, '')
    .replace(/\\\|/g, '|')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The sentences of a block. An abbreviation, a number and a file's name do not end one. */
export function sentences(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?]["”’)]?)(?<!\b(?:e\.g|i\.e|etc|vs|no)\.)\s+(?=["“‘(]?[\p{L}\p{N}…])/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
}

export function wordCount(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

/** Lines of a document that a writer can wrap: not tables, not code, not one long link. */
function wrappable(markdown: string): readonly (readonly [number, string])[] {
  let fenced = false
  return markdown.split('\n').flatMap((line, index) => {
    if (FENCE.test(line)) fenced = !fenced
    const whole =
      /^\s*(?:\||!\[|<|#)/.test(line) ||
      !line
        .trim()
        .replace(ITEM, '')
        .replace(/\[[^\]]*\]/g, '')
        .includes(' ')
    return fenced || whole ? [] : [[index + 1, line] as const]
  })
}

/** What a reviewer would strike in a document. */
export function problemsOf(markdown: string, retired: readonly RetiredWord[]): readonly Problem[] {
  const found: Problem[] = []
  for (const [line, text] of wrappable(markdown)) {
    if (text.length > LIMITS.line) found.push({ line, message: `${text.length} columns, at most ${LIMITS.line}` })
  }
  for (const block of proseOf(markdown)) {
    // Names alone are a table of contents.
    if (block.lines > LIMITS.paragraph && block.text !== 'CODE') {
      found.push({ line: block.line, message: `a paragraph of ${block.lines} lines, at most ${LIMITS.paragraph}` })
    }
    for (const sentence of sentences(block.text)) {
      const words = wordCount(sentence)
      if (words > LIMITS.sentence) {
        found.push({
          line: block.line,
          message: `${words} words, at most ${LIMITS.sentence}: ${sentence.slice(0, 60)}…`,
        })
      }
      for (const { pattern, instead } of retired) {
        const word = pattern.exec(sentence)
        if (word) found.push({ line: block.line, message: `"${word[0]}": write ${instead}` })
      }
    }
  }
  const { sentences: count, median, p90 } = figuresOf(markdown)
  // A page of a few sentences has no distribution to speak of.
  if (count < 20) return found.toSorted((a, b) => a.line - b.line)
  if (median > LIMITS.median)
    found.push({ line: 1, message: `median sentence ${median} words, at most ${LIMITS.median}` })
  if (p90 > LIMITS.p90) found.push({ line: 1, message: `90th percentile ${p90} words, at most ${LIMITS.p90}` })
  return found.toSorted((a, b) => a.line - b.line)
}

export interface Figures {
  readonly sentences: number
  readonly median: number
  readonly p90: number
  readonly longest: number
  readonly line: number
}

/** Figures of the sentences in paragraphs and lists. Headings and short cells would only flatter them. */
export function figuresOf(markdown: string): Figures {
  const all = proseOf(markdown).flatMap((block) => sentences(block.text).map(wordCount))
  const counts = all.filter((count) => count > 3).toSorted((a, b) => a - b)
  const at = (share: number): number => counts[Math.min(counts.length - 1, Math.floor(counts.length * share))] ?? 0
  const longest = Math.max(0, ...wrappable(markdown).map(([, line]) => line.length))
  return { sentences: counts.length, median: at(0.5), p90: at(0.9), longest: counts.at(-1) ?? 0, line: longest }
}

/** Fills paragraphs and list items to the width. Code, tables and headings stay, and code in a line is not broken. */
export function wrapped(markdown: string): string {
  const out: string[] = []
  let open: { first: string; indent: string; words: string[] } | null = null
  let fenced = false
  const close = (): void => {
    if (open) out.push(...filled(open.first, open.indent, open.words))
    open = null
  }
  const split = (text: string): string[] => text.trim().match(/(?:`[^`]*`|\S)+/g) ?? []
  for (const line of markdown.split('\n')) {
    if (FENCE.test(line)) fenced = !fenced
    const item = /^(\s*)((?:[-*]|\d+\.)\s+)/.exec(line)
    const code = open === null && /^ {4}\S/.test(line)
    if (fenced || FENCE.test(line) || (code && !item) || BREAK.test(line)) {
      close()
      out.push(line)
    } else if (item) {
      close()
      const indent = item[1]! + ' '.repeat(item[2]!.length)
      open = { first: item[0], indent, words: split(line.slice(item[0].length)) }
    } else if (open) {
      open.words.push(...split(line))
    } else {
      const indent = /^\s*/.exec(line)![0]
      open = { first: indent, indent, words: split(line) }
    }
  }
  close()
  return out.join('\n')
}

function filled(first: string, indent: string, words: readonly string[]): readonly string[] {
  const lines: string[] = []
  let line = first
  let empty = true
  for (const word of words) {
    // A word that would start a list or a heading stays on its line.
    const starts = /^(?:[-+*]|#+|>|\|.*|\d+\.)$/.test(word)
    if (!empty && !starts && line.length + 1 + word.length > LIMITS.line) {
      lines.push(line)
      line = indent + word
    } else {
      line += empty ? word : ` ${word}`
    }
    empty = false
  }
  return [...lines, line]
}

/** Sources whose comments, texts and names are checked for the retired words. */
const SOURCES = ['src', 'native', 'test', 'scripts', 'bench'].map((folder) => `${folder}/**/*.{ts,tsx,c,h,sh,py}`)

/** Sources that quote texts of others: attacks, subcommands, and the words of this check itself. */
const QUOTING =
  /^(?:src\/scan\/injection|scripts\/injection|test\/attacks\/injection|test\/layers\/prose|scripts\/lint-prose|src\/shell\/tables\/programs\/system)/

/** A comment, a text or a regular expression: each hides what looks like the others in it. */
const TOKEN =
  /(?<comment>\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$)|(?<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`)|(?<=(?:[(,=:[!&|?{};]|return|=>)\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/gm

/** A source's comments and texts of several words, each with its line; and its code without them. */
function partsOf(source: string): { readonly texts: readonly Block[]; readonly code: string } {
  const texts: Block[] = []
  const code = source.replace(TOKEN, (token, comment?: string, text?: string, at = 0) => {
    const words = comment
      ? comment.replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)|\*\/$/gm, '').replace(/\s+/g, ' ')
      : (text ?? '').slice(1, -1).replace(/\$\{[^}]*\}/g, 'CODE')
    if (words.includes(' ')) texts.push({ line: lineAt(source, at), lines: 1, text: plainText(words) })
    return token.replace(/[^\n]/g, ' ')
  })
  return { texts, code }
}

/** Comments of a shell or Python script. */
function scriptComments(source: string): readonly Block[] {
  return source.split('\n').flatMap((line, index) => {
    const comment = /^\s*# (.*)/.exec(line)
    return comment ? [{ line: index + 1, lines: 1, text: plainText(comment[1]!) }] : []
  })
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length

/** The retired words in a source: its comments, its texts and, in TypeScript, names that it declares. */
export function sourceProblems(path: string, given: string, retired: readonly RetiredWord[]): readonly Problem[] {
  // An escaped line end separates words as well.
  const source = given.replace(/\\[nrt]/g, '  ')
  if (!retired.some(({ pattern }) => pattern.test(source))) return []
  const script = /\.(?:sh|py)$/.test(path)
  const { texts, code } = script ? { texts: scriptComments(source), code: '' } : partsOf(source)
  const found = texts.flatMap(({ line, text }) =>
    retired.flatMap(({ pattern, instead }) => {
      const word = pattern.exec(text)
      return word === null ? [] : [{ line, message: `"${word[0]}": write ${instead}` }]
    }),
  )
  if (!/\.tsx?$/.test(path)) return found
  for (const { word, instead } of retired) {
    // A key keeps its word: the record, JSON output and stored files have it.
    if (!/^\w+$/.test(word)) continue
    for (const { index } of code.matchAll(new RegExp(`(?<![\\w.#$-])${word}\\b(?!\\s*\\??:|-)`, 'g'))) {
      found.push({ line: lineAt(source, index), message: `a name "${word}": write ${instead}` })
    }
  }
  return found
}

/** Pages generated from texts of the program; they change there. */
const ELSEWHERE = ['docs/reference/cli.md', 'docs/reference/messages.md']

/** Documents in the order in which a reader meets them. */
export function documents(): readonly string[] {
  return globSync(['*.md', 'docs/**/*.md']).toSorted()
}

function main(words: readonly string[]): void {
  const files = words.filter((word) => !word.startsWith('--'))
  const retired = retiredWords(readFileSync('docs/glossary.md', 'utf8'))
  const texts = (files.length > 0 ? files : documents()).map((path) => [path, readFileSync(path, 'utf8')] as const)
  if (words.includes('--wrap')) for (const [path, text] of texts) writeFileSync(path, wrapped(text))
  if (words.includes('--wrap')) return
  if (words.includes('--figures')) {
    for (const [path, text] of texts) {
      const { sentences: count, median, p90, longest, line } = figuresOf(text)
      const struck = problemsOf(text, retired).filter(({ message }) => message.includes('": write ')).length
      console.log([path.padEnd(46), count, median, p90, longest, line, struck].join('\t'))
    }
    return
  }
  const problems = texts.flatMap(([path, text]) =>
    problemsOf(text, path === 'docs/glossary.md' || ELSEWHERE.includes(path) ? [] : retired).map(
      ({ line, message }) => `${path}:${line}: ${message}`,
    ),
  )
  const sources = files.length > 0 ? [] : globSync(SOURCES).filter((path) => !QUOTING.test(path))
  for (const path of sources) {
    const found = sourceProblems(path, readFileSync(path, 'utf8'), retired)
    problems.push(...found.map(({ line, message }) => `${path}:${line}: ${message}`))
  }
  if (problems.length === 0) return
  console.error(
    `${problems.join('\n')}\n${problems.length} problems. docs/glossary.md has the words; keep a sentence to one idea.`,
  )
  process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
