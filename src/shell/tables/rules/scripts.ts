/** Reads sed and awk scripts far enough to know whether they run commands or open files. */

/** A danger of a script: hazard code and sentence. */
type ScriptDanger = readonly [code: string, message: string]

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

  /** Moves past the next unescaped delimiter; a bracket expression may contain one. */
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

/** Finds everything in an awk program besides printing to standard output. */
export function awkDangers(program: string): readonly ScriptDanger[] {
  const found: ScriptDanger[] = []
  const code = withoutLiterals(program)
  // The raw text is searched too: a slash that is misread as a regular expression must not hide a call.
  if (/\bsystem\s*\(/.test(program)) found.push(['script-runs-program', 'the awk program runs a command (`system`)'])
  if (/(^|[^|])\|\s*(getline|"|\(|[A-Za-z_$])/.test(code) || /\|&|\|\s*getline|print[^|;}]*[^|]\|\s*"/.test(program))
    found.push(['script-runs-program', 'the awk program runs a command (a pipe)'])
  if (/\bgetline\b[^;}\n]*</.test(code)) found.push(['script-reads-file', 'the awk program reads a file (`getline <`)'])
  if (/(^|\n)\s*@|@(load|include|namespace)\b/.test(code))
    found.push(['script-loads-code', 'the awk program loads code (`@load`, `@include`)'])
  if (/@\s*[A-Za-z_]\w*\s*\(/.test(code)) found.push(['script-runs-program', 'the awk program calls functions by name'])
  if (/\bARGV\s*\[[^\]]*\]\s*=\s*(?!=|"")/.test(program))
    found.push(['script-reads-file', 'the awk program chooses the files that it reads (`ARGV`)'])
  if (/\bPROCINFO\b/.test(code)) found.push(['script-unclear', 'the awk program changes how awk works (`PROCINFO`)'])
  if (printsToFile(code)) found.push(['script-writes-file', 'the awk program writes a file (`print >`)'])
  return found
}

/** The program with the contents of strings and regular expressions blanked, so that `"a > b"` is not an operator. */
function withoutLiterals(program: string): string {
  let out = ''
  let previous = ''
  for (let at = 0; at < program.length; at += 1) {
    const char = program[at] ?? ''
    if (char === '#') {
      while (at < program.length && program[at] !== '\n') at += 1
      out += '\n'
    } else if (char === '"') {
      const end = closing(program, at, '"')
      const device = /^\/dev\/std(out|err)$/.test(program.slice(at + 1, end))
      out += device ? program.slice(at, end + 1) : '""'
      at = end
      previous = '"'
    } else if (char === '/' && !/[\w)\]"$.]/.test(previous) && !/(\+\+|--)\s*$/.test(out)) {
      at = closing(program, at, '/')
      out += '//'
      previous = '/'
    } else {
      out += char
      if (!/\s/.test(char)) previous = char
    }
  }
  return out
}

function closing(text: string, start: number, quote: string): number {
  let inClass = false
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at]
    if (char === '\\') at += 1
    else if (quote === '/' && char === '[') inClass = true
    else if (char === ']') inClass = false
    else if (char === quote && !inClass) return at
  }
  return text.length
}

/** `print a > "f"` writes; `if (a > b)` and `print (a > b)` compare. */
function printsToFile(code: string): boolean {
  // A line continues after a comma, an operator or a backslash, and the target of a print may be on
  // the next.
  const joined = code.replace(/\\\n|(?<=[,&|{(?:>])\s*\n|\n\s*(?=>)/g, ' ')
  for (const match of joined.matchAll(/\bprintf?\b([^;\n}]*)/g)) {
    let depth = 0
    const rest = match[1] ?? ''
    for (let at = 0; at < rest.length; at += 1) {
      const char = rest[at]
      if (char === '(') depth += 1
      else if (char === ')') depth -= 1
      else if (
        char === '>' &&
        rest[at - 1] !== '>' &&
        depth <= 0 &&
        !/^>{1,2}\s*"\/dev\/std(out|err)"/.test(rest.slice(at))
      )
        return true
    }
  }
  return false
}
