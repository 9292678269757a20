/** File names in results: a name cannot pretend to be its own line, or another name. */

import { hidesSomething, shownCharacters } from '../../scan/visible-text.ts'

/** The name as it is, or as a JSON string with escapes when it holds characters that are not shown as they are. */
export function visibleName(name: string): string {
  if (!hidesSomething(name)) return name
  const written = shownCharacters(name).map(({ source, escaped }) => (escaped ? jsonEscape(source) : jsonPlain(source)))
  return `"${written.join('')}"`
}

function jsonPlain(character: string): string {
  return JSON.stringify(character).slice(1, -1)
}

/** By code units, as JSON has it, so that a reader gets the name back. */
function jsonEscape(character: string): string {
  const short = jsonPlain(character)
  if (short !== character) return short
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
