/** Highlights code line by line as it streams. */

import { type Paint, safe } from './style.ts'

interface Language {
  readonly comment: readonly string[]
  readonly block?: readonly [open: string, close: string]
  readonly quotes: string
  readonly keywords: ReadonlySet<string>
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const C_LIKE = { comment: ['//'], block: ['/*', '*/'] as const, quotes: '"\'`' }
const JS = words(
  'abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface is keyof let namespace new null of package private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while yield',
)
const C = words(
  'auto bool break case char class const constexpr continue default delete do double else enum explicit extern false float for friend goto if inline int long namespace new nullptr operator private protected public register return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while',
)
const SHELL = words(
  'if then else elif fi for while until do done case esac function in return local export set unset readonly select',
)

const LANGUAGES: Readonly<Record<string, Language>> = {
  js: { ...C_LIKE, keywords: JS },
  c: { ...C_LIKE, keywords: C },
  go: {
    ...C_LIKE,
    keywords: words(
      'break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var',
    ),
  },
  rust: {
    ...C_LIKE,
    quotes: '"',
    keywords: words(
      'as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while',
    ),
  },
  java: {
    ...C_LIKE,
    keywords: words(
      'abstract assert boolean break byte case catch char class const continue default do double else enum extends false final finally float for fun if implements import instanceof int interface long native new null object override package private protected public record return sealed short static super switch this throw throws true try val var void volatile when while yield',
    ),
  },
  python: {
    comment: ['#'],
    quotes: '"\'',
    keywords: words(
      'and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield',
    ),
  },
  shell: { comment: ['#'], quotes: '"\'', keywords: SHELL },
  sql: {
    comment: ['--'],
    block: ['/*', '*/'],
    quotes: '\'"',
    keywords: words(
      'select from where and or not insert into values update set delete create table index view drop alter join left right inner outer on group by order limit offset having union all distinct as case when then else end null primary key foreign references',
    ),
  },
  data: { comment: ['#'], quotes: '"\'', keywords: words('true false null yes no') },
}

const NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    js: 'js jsx ts tsx javascript typescript mjs cjs json json5 jsonc',
    c: 'c h cpp cc cxx hpp c++ csharp cs objc swift php',
    go: 'go golang',
    rust: 'rust rs',
    java: 'java kotlin kt scala groovy',
    python: 'python py python3',
    shell: 'sh bash zsh shell console shell-session fish',
    sql: 'sql sqlite postgresql mysql',
    data: 'toml yaml yml ini conf properties dockerfile makefile make ruby rb',
  }).flatMap(([language, names]) => names.split(' ').map((name) => [name, language])),
)

/** Paints the lines of one code block. */
export class Highlighter {
  readonly #language: Language | null
  readonly #diff: boolean
  readonly #paint: Paint
  #inBlock = false

  constructor(name: string, paint: Paint) {
    const plain = name.toLowerCase()
    this.#diff = plain === 'diff' || plain === 'patch'
    this.#language = LANGUAGES[NAMES[plain] ?? ''] ?? null
    this.#paint = paint
  }

  line(text: string): string {
    if (this.#diff) return diffLine(text, this.#paint)
    if (this.#language === null || text.length > 2000) return safe(text)
    return this.#tokens(text, this.#language)
  }

  #tokens(text: string, { comment, block, quotes, keywords }: Language): string {
    let painted = ''
    let at = 0
    while (at < text.length) {
      if (block && (this.#inBlock || text.startsWith(block[0], at))) {
        const end = text.indexOf(block[1], this.#inBlock ? at : at + block[0].length)
        this.#inBlock = end < 0
        const to = end < 0 ? text.length : end + block[1].length
        painted += this.#paint('dim', safe(text.slice(at, to)))
        at = to
        continue
      }
      if (comment.some((mark) => text.startsWith(mark, at) && (mark !== '#' || at === 0 || text[at - 1] === ' '))) {
        return painted + this.#paint('dim', safe(text.slice(at)))
      }
      const char = text[at]!
      if (quotes.includes(char)) {
        const to = stringEnd(text, at)
        painted += this.#paint('green', safe(text.slice(at, to)))
        at = to
        continue
      }
      const word = /^(?:[A-Za-z_$][\w$]*|\d[\w.]*|[^\w$'"`/#-]+|.)/su.exec(text.slice(at))![0]
      painted += keywords.has(word)
        ? this.#paint('magenta', word)
        : /^\d/.test(word)
          ? this.#paint('yellow', safe(word))
          : safe(word)
      at += word.length
    }
    return painted
  }
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === text[start]) return at + 1
  }
  return text.length
}

/** A diff line, coloured by its sign. */
export function diffLine(text: string, paint: Paint): string {
  const line = safe(text)
  if (/^(?:\+\+\+|---|diff |index )/.test(text)) return paint('bold', line)
  if (text.startsWith('+')) return paint('green', line)
  if (text.startsWith('-')) return paint('red', line)
  return text.startsWith('@@') ? paint('cyan', line) : line
}
