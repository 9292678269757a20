/** The pure parts of the chat's terminal: keys, drafts, the prompt, Markdown, and what strangers' text may do to it. */

import { describe, expect, it } from 'vitest'
import { chatCompleter } from './input/completion.ts'
import { Composer } from './input/composer.ts'
import { draftOf, edit, insert, moveLine } from './input/line-editor.ts'
import { type Key, KeyReader } from './screen/keys.ts'
import { LiveScreen } from './screen/live-screen.ts'
import { MarkdownView } from './view/markdown.ts'
import { painter } from './view/style.ts'
import { hangingRows } from './view/tool-view.ts'

const ESC = '\u001b'
const plain = painter(false)

describe('keys', () => {
  const bytes = Buffer.from(`aé${ESC}[A${ESC}[200~one\r\ntwo${ESC}[31m${ESC}[201~\r${ESC}[1;5D${ESC}\r${ESC}[99;99zb`)
  const whole: Key[] = [
    { kind: 'text', text: 'aé' },
    { kind: 'key', name: 'up' },
    { kind: 'paste', text: `one\ntwo${ESC}[31m` },
    { kind: 'key', name: 'enter' },
    { kind: 'key', name: 'word-left' },
    { kind: 'key', name: 'newline' },
    { kind: 'text', text: 'b' },
  ]
  const joined = (keys: readonly Key[]) =>
    keys.reduce<Key[]>((all, key) => {
      const last = all.at(-1)
      if (key.kind === 'text' && last?.kind === 'text')
        return [...all.slice(0, -1), { kind: 'text', text: last.text + key.text }]
      return [...all, key]
    }, [])

  it('are the same however their bytes are cut', () => {
    for (let at = 0; at <= bytes.length; at++) {
      const reader = new KeyReader()
      expect(joined([...reader.take(bytes.subarray(0, at)), ...reader.take(bytes.subarray(at))])).toEqual(whole)
    }
  })

  it('an escape that nothing follows is the key', () => {
    const reader = new KeyReader()
    expect(reader.take(Buffer.from(ESC))).toEqual([])
    expect(reader.isWaiting).toBe(true)
    expect(reader.settle()).toEqual([{ kind: 'key', name: 'escape' }])
  })
})

describe('drafts', () => {
  it.each<[note: string, before: string, key: Parameters<typeof edit>[1], after: string]>([
    ['a character as a person sees it goes at once', 'a👩‍👩‍👧', 'backspace', 'a'],
    ['a word goes with the blanks after it', 'one two  ', 'kill-word', 'one '],
    ['a line goes up to its start', 'one\ntwo', 'kill-line', 'one\n'],
    ['another line', 'one', 'newline', 'one\n'],
  ])('%s', (_, before, key, after) => {
    expect(edit(draftOf(before), key)!.text).toBe(after)
  })

  it('what a terminal would act on is left out of what is pasted', () => {
    expect(insert(draftOf(''), `a${ESC}[2Jb\u0007\tc\nd\ud800`).text).toBe('a[2Jb  c\nd\ufffd')
  })

  it('the cursor moves by lines, and history gets the key at the ends', () => {
    expect(moveLine({ text: 'one\ntwo', cursor: 6 }, -1)).toEqual({ text: 'one\ntwo', cursor: 2 })
    expect(moveLine({ text: 'one', cursor: 1 }, -1)).toBe(null)
    expect(moveLine({ text: 'one\ntwo', cursor: 2 }, 1)).toEqual({ text: 'one\ntwo', cursor: 6 })
  })
})

describe('the prompt', () => {
  const key = (name: Extract<Key, { kind: 'key' }>['name']): Key => ({ kind: 'key', name })
  const typed = (composer: Composer, text: string) => composer.take({ kind: 'text', text })

  it('sends, remembers, and goes back to what was being written', () => {
    const composer = new Composer(['older'])
    typed(composer, 'first')
    expect(composer.take(key('enter'))).toEqual({ type: 'submit', text: 'first' })
    typed(composer, 'draft')
    composer.take(key('up'))
    composer.take(key('up'))
    expect(composer.text).toBe('older')
    composer.take(key('down'))
    composer.take(key('down'))
    expect(composer.text).toBe('draft')
    typed(composer, '\\')
    expect(composer.take(key('enter'))).toEqual({ type: 'changed' })
    expect(composer.text).toBe('draft\n')
  })

  it('Tab switches at an empty prompt, and completes commands and their words', () => {
    const composer = new Composer()
    composer.completeWith(
      chatCompleter('/nowhere', [{ name: 'mode', words: () => ['plan', 'auto'] }, { name: 'model' }]),
    )
    expect(composer.take(key('tab'))).toEqual({ type: 'switch-agent' })
    typed(composer, '/mo')
    composer.take(key('tab'))
    expect(composer.text).toBe('/mode')
    composer.take(key('tab'))
    expect(composer.text).toBe('/model')
    composer.clear()
    typed(composer, '/mode p')
    composer.take(key('tab'))
    expect(composer.text).toBe('/mode plan')
    composer.clear()
    typed(composer, '@../../etc/pass')
    composer.take(key('tab'))
    expect(composer.text).toBe('@../../etc/pass')
  })

  it('is drawn in rows that fit, with the cursor where it is', () => {
    const composer = new Composer()
    typed(composer, 'x'.repeat(25))
    const { rows, cursor } = composer.view(20, 5, plain, 'status')
    expect(rows.map(({ plain: row }) => row)).toEqual([`› ${'x'.repeat(17)}`, `  ${'x'.repeat(8)}`, 'status'])
    expect(cursor).toEqual({ row: 1, column: 10 })
  })

  it('nothing of a stranger acts in the lines below it: neither a tool’s name in the status nor a file’s among the choices', () => {
    const composer = new Composer()
    composer.completeWith(() => ({ start: 0, choices: [`a${ESC}[2J`, 'b\u202ec'] }))
    typed(composer, 'x')
    composer.take(key('tab'))
    const { rows } = composer.view(80, 5, plain, `preparing ${ESC}]52;c;eA==\u0007 \u202eevil`)
    const shown = rows.map(({ text }) => text).join('\n')
    expect(shown).toContain(String.raw`preparing \e]52;c;eA==\u{7} \u{202e}evil`)
    expect(shown).toContain(String.raw`a\e[2J  b\u{202e}c`)
    expect(shown).not.toContain(ESC)
  })

  it('says when there is more to choose from', () => {
    const composer = new Composer()
    composer.completeWith(() => ({ start: 0, choices: [...'abcdefghi'] }))
    typed(composer, '/')
    expect(composer.view(80, 5, plain, 'status').rows.map(({ plain }) => plain)).toContain(
      '  a  b  c  d  e  f  g  h  …',
    )
  })

  it('Ctrl-R finds what was sent before as it is typed, and the one before that', () => {
    const composer = new Composer(['run tests', 'other', 'run build'])
    const found = (...keys: readonly (Key | string)[]) => {
      for (const one of keys) composer.take(typeof one === 'string' ? { kind: 'text', text: one } : one)
      return composer.text
    }
    expect(found('run', key('search'))).toBe('run build')
    expect(found(key('search'))).toBe('run tests')
    expect(found(key('search'))).toBe('run tests')
    expect(found(key('escape'))).toBe('run')
    // Letters narrow it, and a deleted one widens it again.
    composer.clear()
    expect(found(key('search'), 'r')).toBe('run build')
    expect(found('un t')).toBe('run tests')
    expect(found(key('backspace'))).toBe('run build')
    expect(composer.view(80, 5, plain, 'status').rows.at(-1)!.plain).toContain('search: run ')
    // Enter takes it, and does not send it yet.
    expect(composer.take(key('enter'))).toEqual({ type: 'changed' })
    expect(composer.take(key('enter'))).toEqual({ type: 'submit', text: 'run build' })
  })

  it('shows what Tab would choose from while a command or a file is typed', () => {
    const composer = new Composer()
    composer.completeWith(chatCompleter(import.meta.dirname, [{ name: 'mode' }, { name: 'model' }]))
    const below = () => composer.view(80, 5, plain, 'status').rows.map(({ plain: row }) => row.trim())
    typed(composer, '/mo')
    expect(below()).toEqual(['› /mo', '/mode  /model', 'status'])
    composer.clear()
    // A part of a name anywhere in the project.
    typed(composer, 'see @highli')
    expect(below()).toEqual(['› see @highli', 'view/highlight.ts', 'status'])
    composer.take(key('tab'))
    expect(composer.text).toBe('see @view/highlight.ts')
    composer.clear()
    typed(composer, 'plain')
    expect(below()).toEqual(['› plain', 'status'])
  })
})

describe('what flows', () => {
  it('Markdown is rendered line by line, and never with the escapes of a stranger', () => {
    const view = new MarkdownView(plain, () => 40)
    const lines = view.take(
      `# Head\n- **bold** and \`code\`\n\`\`\`ts\nconst a = '${ESC}[31m'\n\`\`\`\nlong ${'word '.repeat(12)}\nhalf${ESC}]0;x\u0007`,
    )
    expect(lines.slice(0, 4)).toEqual(['Head', '• bold and code', '  ts', String.raw`  const a = '\e[31m'`])
    expect(lines.slice(4).every((line) => line.length <= 40)).toBe(true)
    expect(view.end()).toEqual([String.raw`half\e]0;x\u{7}`])
  })

  it('every line of it keeps its text when it is painted', () => {
    const painted = new MarkdownView(painter(true), () => 60)
    const text = '```python\ndef f(x):  # note\n    return "a" + str(1)\n```\n> quote\n| a | b |\n'
    // biome-ignore lint/suspicious/noControlCharactersInRegex: styles are what is taken away.
    const bare = painted.take(text).map((line) => line.replace(/\u001b\[\d+m/g, ''))
    expect(bare).toEqual(['  python', '  def f(x):  # note', '      return "a" + str(1)', '│ quote'])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: styles are what is taken away.
    expect(painted.end().map((line) => line.replace(/\u001b\[\d+m/g, ''))).toEqual(['a │ b'])
  })

  it.each<[note: string, columns: number, text: string, rows: readonly string[]]>([
    [
      'columns as wide as their cells',
      40,
      '| a | **b** |\n|---|:-:|\n| long | `x` |',
      ['a    │ b', '─────┼──', 'long │ x'],
    ],
    ['numbers to the right', 40, '| a | count |\n|---|--:|\n| x | 7 |', ['a │ count', '──┼──────', 'x │     7']],
    ['wide letters', 40, '| 漢字 | b |\n| a | c |', ['漢字 │ b', 'a    │ c']],
    ['a bar in a cell, a short row', 40, '| a \\| b | c |\n| d |', ['a | b │ c', 'd     │ ']],
    ['too wide for the terminal', 12, '| aaaaaa | bbbbbb |', ['| aaaaaa | bbbbbb |']],
    ['escapes', 40, `| ${ESC}[31m | b |`, [String.raw`\e[31m │ b`]],
  ])('a table: %s', (_, columns, text, rows) => {
    const view = new MarkdownView(plain, () => columns)
    expect(view.take(`${text}\nafter\n`)).toEqual([...rows, 'after'])
  })

  it.each([
    [
      '/undo [CALL]       Undo the changes of a call.',
      ['/undo [CALL]       Undo the changes of a', '                   call.'],
    ],
    ['Enter sends; Alt-Enter starts a new line.', ['Enter sends; Alt-Enter starts a new', 'line.']],
  ])('what a command says ends its rows at words: %s', (text, rows) => {
    expect(hangingRows(text, 40)).toEqual(rows)
  })

  it.each<[note: string, line: string]>([
    ['links that never close', '['.repeat(200_000)],
    ['a table of them', `|${'['.repeat(200_000)}`],
    ['a heading of blanks', `# ${' '.repeat(200_000)}x`],
    ['emphasis that never closes', '**a _b '.repeat(30_000)],
    ['words of one letter', 'a '.repeat(100_000)],
  ])('a line of any length is broken into rows, and takes no time to speak of: %s', (_, line) => {
    const view = new MarkdownView(plain, () => 80)
    for (const piece of line.match(/[\s\S]{1,24}/g)!) expect(view.take(piece)).toEqual([])
    expect(view.half(3)).toHaveLength(3)
    const rows = view.take('\n')
    expect(rows.every((row) => row.length <= 80)).toBe(true)
    expect(rows.join('').replaceAll(' ', '')).toBe(line.replaceAll(' ', ''))
  })

  it('half a line is shown in rows that fit, wide letters too', () => {
    const view = new MarkdownView(plain, () => 21)
    view.take('漢字'.repeat(30))
    expect(view.half(2)).toEqual(['漢字'.repeat(5), '漢字'.repeat(5)])
    const words = new MarkdownView(plain, () => 21)
    words.take('one two three four five six')
    expect(words.half(2)).toEqual(['one two three four', 'five six'])
  })

  it('what comes while another prompt has the terminal waits until it is back', () => {
    let written = ''
    const screen = new LiveScreen(
      (text) => {
        written += text
      },
      () => ({ columns: 80, rows: 24 }),
    )
    const view = { rows: [], cursor: null }
    screen.leave()
    screen.print(['Allow it? y'], view)
    expect(written).not.toContain('Allow it? y')
    screen.redraw(view)
    expect(written).toContain('Allow it? y')
  })

  it('live rows are erased by as many rows as they take in the current width', () => {
    let columns = 80
    let written = ''
    const screen = new LiveScreen(
      (text) => {
        written = text
      },
      () => ({ columns, rows: 24 }),
    )
    const row = { text: 'x'.repeat(60), plain: 'x'.repeat(60) }
    screen.print([], { rows: [row, row], cursor: { row: 1, column: 3 } })
    screen.print(['line'], { rows: [row], cursor: null })
    expect(written).toContain(`\r${ESC}[1A${ESC}[J`)
    columns = 30
    written = ''
    screen.print([], { rows: [], cursor: null })
    expect(written).toContain(`\r${ESC}[1A${ESC}[J`)
  })
})
