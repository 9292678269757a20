/** JSON as agents read their settings: with comments, and with a comma too many. */

const STRING = String.raw`"(?:\\.|[^"\\])*"`
const COMMENT = new RegExp(String.raw`(${STRING})|//[^\n]*|/\*[\s\S]*?\*/`, 'g')
const COMMA = new RegExp(String.raw`(${STRING})|,(?=\s*[}\]])`, 'g')

/** Parses settings; throws for what is no JSON even so. */
export function parseSettings(text: string): unknown {
  const keepStrings = (_: string, quoted?: string): string => quoted ?? ' '
  return JSON.parse(
    text
      .replace(/^\ufeff/, '')
      .replace(COMMENT, keepStrings)
      .replace(COMMA, keepStrings),
  )
}
