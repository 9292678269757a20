/** Reads an awk program far enough to know whether it runs commands or opens files. */

import type { ScriptDanger } from './sed-script.ts'

/** Finds what an awk program does besides printing to its output. */
export function awkDangers(program: string): readonly ScriptDanger[] {
  const found: ScriptDanger[] = []
  const code = withoutLiterals(program)
  // The raw text is looked at too: a slash that is misread as a regular expression must not hide a call.
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
  // A line goes on after a comma, an operator or a backslash, and what is printed where may stand on the next.
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
