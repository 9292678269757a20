/** `edit`: replaces exact text in a file, once or everywhere. */

import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'
import { type DecodedText, decodeText, encodeText, lineEndOf, withLineEnds } from './text-encoding.ts'

const SHOWN = 10

export interface EditInput {
  readonly path: string
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean | undefined
}

export async function edit(input: EditInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const target = context.checked(given)
  const { bytes, facts } = context.files.read(target)
  const decoded = decodeText(bytes)
  if ('media' in decoded) throw new InputError(`${given} is not a text file (${decoded.media}); edit changes text only`)
  const wanted = parse(input.old_string, input.new_string, decoded)
  const places = occurrences(decoded.text, wanted.from)
  if (places.length === 0) throw new InputError(notFound(given, decoded.text, wanted.from))
  if (places.length > 1 && input.replace_all !== true) {
    const lines = lineNumbers(decoded.text, places.slice(0, SHOWN)).join(', ')
    const more = places.length > SHOWN ? ` and ${places.length - SHOWN} more` : ''
    throw new InputError(
      `"old_string" occurs ${places.length} times in ${given} (lines ${lines}${more}); give more of the text around it so that it occurs once, or set "replace_all": true`,
    )
  }
  const changed = replaceAt(decoded.text, places, wanted.from.length, wanted.to)
  const encoded = encodeText(changed, decoded.encoding)
  if (!encoded) {
    throw new InputError(
      `${given} is encoded as ${decoded.encoding}, which cannot hold every character of "new_string"`,
    )
  }
  context.files.write(target, encoded, { replaces: facts.stamp })
  const lines = lineNumbers(changed, [places[0]!])
  const count = places.length === 1 ? `line ${lines[0]}` : `${places.length} places, the first on line ${lines[0]}`
  return {
    text: `Edited ${given}: ${count}.`,
    data: { path: target, replacements: places.length, lines: lineNumbers(decoded.text, places.slice(0, 1000)) },
    files: { read: [target], written: [target] },
  }
}

// Models write LF. Match files with CRLF too, and do not mix line ends.
function parse(from: string, to: string, decoded: DecodedText): { readonly from: string; readonly to: string } {
  if (from === '') throw new InputError('"old_string" of edit is empty; to create or replace a whole file use write')
  if (from === to) throw new InputError('"old_string" and "new_string" of edit are the same')
  const lineEnd = lineEndOf(decoded.text)
  return { from: withLineEnds(from, lineEnd), to: withLineEnds(to, lineEnd) }
}

function occurrences(text: string, wanted: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at)
  return places
}

function replaceAt(text: string, places: readonly number[], length: number, replacement: string): string {
  const parts: string[] = []
  let from = 0
  for (const place of places) {
    parts.push(text.slice(from, place), replacement)
    from = place + length
  }
  parts.push(text.slice(from))
  return parts.join('')
}

/** Line numbers of ascending offsets, in one pass. */
function lineNumbers(text: string, places: readonly number[]): number[] {
  let line = 1
  let at = 0
  return places.map((place) => {
    for (let next = text.indexOf('\n', at); next >= 0 && next < place; next = text.indexOf('\n', at)) {
      line++
      at = next + 1
    }
    return line
  })
}

function notFound(given: string, text: string, wanted: string): string {
  const squeezed = (value: string) => value.replace(/[ \t]+/g, ' ').trim()
  const first = squeezed(wanted.split('\n').find((line) => line.trim() !== '') ?? '')
  const near =
    first === '' ? [] : text.split('\n').flatMap((line, index) => (squeezed(line) === first ? [index + 1] : []))
  const hint =
    near.length > 0
      ? `; its first line is on line ${near.slice(0, 3).join(', ')} with other white space or other lines after it`
      : ''
  return `"old_string" does not occur in ${given}${hint}. Read the file again and copy the text exactly, white space included`
}
