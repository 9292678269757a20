/** A small terminal: what a person would see of a stream of bytes, scrollback included. */

const ESC = '\\u001b'
const SEQUENCE = new RegExp(
  `^(?:${ESC}\\[([?<>=]?)([\\d;]*)([A-Za-z~])|${ESC}[()][AB0]|${ESC}[=>78]|${ESC}\\][^\\u0007]*\\u0007|[^${ESC}])`,
  'u',
)

/** Interprets what Cordon writes; anything it does not know is kept in `unknown`. */
export class TestScreen {
  readonly columns: number
  readonly rows: number
  /** Every line since the start, the visible ones last. */
  #lines: string[][] = [[]]
  #row = 0
  #column = 0
  #alternate: { lines: string[][]; row: number; column: number } | null = null
  readonly unknown: string[] = []
  #rest = ''

  constructor(columns = 80, rows = 24) {
    this.columns = columns
    this.rows = rows
  }

  /** Everything that was ever shown and not erased, in order. */
  get text(): string {
    return (this.#alternate?.lines ?? this.#lines).map((line) => line.join('').trimEnd()).join('\n')
  }

  /** What is on the screen now. */
  get visible(): string {
    return this.#lines
      .slice(-this.rows)
      .map((line) => line.join('').trimEnd())
      .join('\n')
  }

  get isAlternate(): boolean {
    return this.#alternate !== null
  }

  write(text: string): void {
    this.#rest += text
    for (;;) {
      const found = SEQUENCE.exec(this.#rest)
      if (!found) return
      this.#rest = this.#rest.slice(found[0].length)
      if (found[3] !== undefined) this.#control(found[1]!, found[2]!, found[3])
      else if (found[0].length <= 2 && !found[0].startsWith('\u001b')) this.#put(found[0])
    }
  }

  #put(char: string): void {
    if (char === '\r') this.#column = 0
    else if (char === '\n') this.#down()
    else if (char === '\b') this.#column = Math.max(0, this.#column - 1)
    else if (char === '\u0007') return
    else if (char < ' ') this.unknown.push(JSON.stringify(char))
    else {
      if (this.#column >= this.columns) {
        this.#column = 0
        this.#down()
      }
      const line = this.#lines[this.#row]!
      while (line.length < this.#column) line.push(' ')
      line[this.#column++] = char
    }
  }

  #down(): void {
    this.#row++
    if (this.#row === this.#lines.length) this.#lines.push([])
  }

  #control(lead: string, numbers: string, end: string): void {
    const count = Number(numbers.split(';')[0] || 1)
    if (lead === '?') {
      if (numbers === '1049') this.#swap(end === 'h')
      return
    }
    const top = Math.max(0, this.#lines.length - this.rows)
    switch (end) {
      case 'A':
        this.#row = Math.max(top, this.#row - count)
        break
      case 'C':
        this.#column = Math.min(this.columns - 1, this.#column + count)
        break
      case 'H':
        this.#row = top
        this.#column = 0
        break
      case 'J':
        if (numbers === '2') this.#lines = this.#lines.slice(0, top).concat([[]])
        else {
          this.#lines.length = this.#row + 1
          this.#lines[this.#row]!.length = Math.min(this.#lines[this.#row]!.length, this.#column)
        }
        this.#row = Math.min(this.#row, this.#lines.length - 1)
        break
      case 'm':
        break
      default:
        this.unknown.push(`CSI ${numbers}${end}`)
    }
  }

  #swap(on: boolean): void {
    if (on && !this.#alternate) {
      this.#alternate = { lines: this.#lines, row: this.#row, column: this.#column }
      this.#lines = [[]]
      this.#row = 0
      this.#column = 0
    } else if (!on && this.#alternate) {
      this.#lines = this.#alternate.lines
      this.#row = this.#alternate.row
      this.#column = this.#alternate.column
      this.#alternate = null
    }
  }
}
