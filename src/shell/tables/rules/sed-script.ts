/** Reads a sed script far enough to know whether it runs commands or opens files. */

/** What is dangerous about a script: hazard code and sentence. */
export type ScriptDanger = readonly [code: string, message: string]

const runs: ScriptDanger = ['script-runs-program', 'the sed script runs a command (`e`)']
const writes: ScriptDanger = ['script-writes-file', 'the sed script writes a file (`w`)']
const reads: ScriptDanger = ['script-reads-file', 'the sed script reads a file (`r`)']
const unread: ScriptDanger = ['script-unclear', 'the sed script could not be read']

/** Finds the commands of a sed script that do more than edit the text that passes through. */
export function sedDangers(script: string): readonly ScriptDanger[] {
  const found = new Set<ScriptDanger>()
  const reader = new Reader(script)
  while (!reader.done) {
    if (!reader.command(found)) {
      found.add(unread)
      break
    }
  }
  return [...found]
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get done(): boolean {
    this.#skip(/[\s;{}]/)
    return this.#at >= this.#text.length
  }

  #skip(pattern: RegExp): void {
    while (this.#at < this.#text.length && pattern.test(this.#text[this.#at] ?? '')) this.#at += 1
  }

  #restOfLine(): string {
    const end = this.#text.indexOf('\n', this.#at)
    const stop = end < 0 ? this.#text.length : end
    const rest = this.#text.slice(this.#at, stop)
    this.#at = stop
    return rest
  }

  /** Moves behind the next unescaped delimiter; a bracket expression may hold one. */
  #delimited(delimiter: string, regex: boolean): boolean {
    let inClass = false
    for (; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at]
      if (char === '\\') this.#at += 1
      else if (regex && char === '[' && !inClass) {
        inClass = true
        if (this.#text[this.#at + 1] === '^') this.#at += 1
        if (this.#text[this.#at + 1] === ']') this.#at += 1
      } else if (inClass && char === ']') inClass = false
      else if (char === delimiter && !inClass) {
        this.#at += 1
        return true
      }
    }
    return false
  }

  #address(): boolean {
    const char = this.#text[this.#at] ?? ''
    if (/[0-9$]/.test(char)) this.#skip(/[0-9$~]/)
    else if (char === '+' || char === '~') {
      this.#at += 1
      this.#skip(/[0-9]/)
    } else if (char === '/' || char === '\\') {
      this.#at += char === '\\' ? 2 : 1
      const delimiter = this.#text[this.#at - 1] ?? '/'
      if (!this.#delimited(delimiter, true)) return false
      this.#skip(/[IM]/)
    }
    return true
  }

  /** Reads one command; false when it cannot be read. */
  command(found: Set<ScriptDanger>): boolean {
    if (!this.#address()) return false
    this.#skip(/\s/)
    if (this.#text[this.#at] === ',') {
      this.#at += 1
      this.#skip(/\s/)
      if (!this.#address()) return false
      this.#skip(/\s/)
    }
    this.#skip(/[!\s]/)
    const name = this.#text[this.#at] ?? ''
    this.#at += 1
    if (name === '' || name === '{' || name === '}') return name !== '' || this.#at > this.#text.length
    if (name === '#') this.#restOfLine()
    else if (name === 's') return this.#substitute(found)
    else if (name === 'y') {
      const delimiter = this.#text[this.#at] ?? ''
      this.#at += 1
      return this.#delimited(delimiter, false) && this.#delimited(delimiter, false)
    } else if (name === 'e') {
      found.add(runs)
      this.#restOfLine()
    } else if (name === 'w' || name === 'W') {
      if (!isDevice(this.#restOfLine())) found.add(writes)
    } else if (name === 'r' || name === 'R') {
      if (!isDevice(this.#restOfLine())) found.add(reads)
    } else if ('aic'.includes(name)) this.#restOfText()
    else if (':btTv'.includes(name)) this.#skip(/[^;\n}]/)
    else if ('qQlL'.includes(name)) this.#skip(/[\s0-9]/)
    else if (!'=dDgGhHnNpPxzF'.includes(name)) return false
    return true
  }

  /** The text of `a`, `i` and `c` goes on over escaped line ends. */
  #restOfText(): void {
    let line = this.#restOfLine()
    while (line.endsWith('\\') && this.#at < this.#text.length) {
      this.#at += 1
      line = this.#restOfLine()
    }
  }

  #substitute(found: Set<ScriptDanger>): boolean {
    const delimiter = this.#text[this.#at] ?? ''
    this.#at += 1
    if (!this.#delimited(delimiter, true) || !this.#delimited(delimiter, false)) return false
    for (; this.#at < this.#text.length; this.#at += 1) {
      const flag = this.#text[this.#at] ?? ''
      if (flag === 'w') {
        this.#at += 1
        if (!isDevice(this.#restOfLine())) found.add(writes)
        return true
      }
      if (flag === 'e') found.add(runs)
      else if (!/[gpiImM0-9]/.test(flag)) break
    }
    return /^[\s;}]?$/.test(this.#text[this.#at] ?? '')
  }
}

function isDevice(file: string): boolean {
  return /^\s*\/dev\/(stdout|stderr|stdin)\s*$/.test(file)
}
