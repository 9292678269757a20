/** Parses terminal bytes into keys; a paste is one key. No I/O. */

export type Key =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'key'; readonly name: KeyName }

export type KeyName =
  | 'enter'
  | 'newline'
  | 'tab'
  | 'back-tab'
  | 'backspace'
  | 'delete'
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'home'
  | 'end'
  | 'word-left'
  | 'word-right'
  | 'kill-word'
  | 'kill-line'
  | 'kill-rest'
  | 'interrupt'
  | 'leave'
  | 'redraw'
  | 'escape'
  | 'search'
  | 'diff'
  | 'undo'

const PASTE_START = '\u001b[200~'
const PASTE_END = '\u001b[201~'
const MAX_PASTE = 4 * 1024 * 1024

/** Sequences after the escape character. */
const SEQUENCES: Readonly<Record<string, KeyName>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  '[H': 'home',
  '[F': 'end',
  OH: 'home',
  OF: 'end',
  '[1~': 'home',
  '[4~': 'end',
  '[7~': 'home',
  '[8~': 'end',
  '[3~': 'delete',
  '[Z': 'back-tab',
  '[1;5C': 'word-right',
  '[1;5D': 'word-left',
  '[1;3C': 'word-right',
  '[1;3D': 'word-left',
  '[13;2u': 'newline',
  '[27;2;13~': 'newline',
  '\r': 'newline',
  '\n': 'newline',
  b: 'word-left',
  f: 'word-right',
  d: 'diff',
  u: 'undo',
  '\u007f': 'kill-word',
}

const CONTROLS: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'newline',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0001': 'home',
  '\u0002': 'left',
  '\u0003': 'interrupt',
  '\u0004': 'leave',
  '\u0005': 'end',
  '\u0006': 'right',
  '\u000b': 'kill-rest',
  '\u000c': 'redraw',
  '\u000e': 'down',
  '\u0010': 'up',
  '\u0012': 'search',
  '\u0015': 'kill-line',
  '\u0017': 'kill-word',
}

export class KeyReader {
  readonly #decoder = new TextDecoder('utf-8')
  #rest = ''
  #paste: string | null = null

  /** True while half a sequence is pending; a lone escape looks the same. */
  get isWaiting(): boolean {
    return this.#paste === null && this.#rest !== ''
  }

  take(bytes: Uint8Array): Key[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true })
    const keys: Key[] = []
    for (;;) {
      const key = this.#next()
      if (key === null) return keys
      if (key !== undefined) keys.push(key)
    }
  }

  /** Time passed, so the pending escape was the key. */
  settle(): Key[] {
    if (!this.isWaiting) return []
    this.#rest = ''
    return [{ kind: 'key', name: 'escape' }]
  }

  /** The next key; undefined if ignored, null if incomplete. */
  #next(): Key | undefined | null {
    if (this.#paste !== null) return this.#pasted()
    if (this.#rest === '') return null
    const first = this.#rest[0]!
    if (first === '\u001b') return this.#sequence()
    const control = CONTROLS[first]
    if (control !== undefined) {
      this.#rest = this.#rest.slice(1)
      return { kind: 'key', name: control }
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters end a run of text.
    const text = /^[^\u0000-\u001f\u007f]+/.exec(this.#rest)?.[0]
    this.#rest = this.#rest.slice(text?.length ?? 1)
    return text === undefined ? undefined : { kind: 'text', text }
  }

  #sequence(): Key | undefined | null {
    if (this.#rest.startsWith(PASTE_START)) {
      this.#rest = this.#rest.slice(PASTE_START.length)
      this.#paste = ''
      return undefined
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins what is looked for.
    const found = /^\u001b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|O[A-Za-z]|[^[O])/.exec(this.#rest)?.[0]
    if (found === undefined) {
      if (this.#rest.length < 32) return null
      this.#rest = this.#rest.slice(1)
      return undefined
    }
    this.#rest = this.#rest.slice(found.length)
    const name = SEQUENCES[found.slice(1)]
    if (name !== undefined) return { kind: 'key', name }
    return found === '\u001b\u001b' ? { kind: 'key', name: 'escape' } : undefined
  }

  #pasted(): Key | null {
    const whole = this.#paste + this.#rest
    const end = whole.indexOf(PASTE_END)
    if (end < 0) {
      this.#paste = whole.slice(0, MAX_PASTE)
      this.#rest = ''
      return null
    }
    this.#rest = whole.slice(end + PASTE_END.length)
    this.#paste = null
    return { kind: 'paste', text: whole.slice(0, end).replace(/\r\n?/g, '\n') }
  }
}
