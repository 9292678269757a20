/** File names in results: a name cannot pretend to be a line of its own. */

/** The name as it is, or as a JSON string when it holds control, bidi or zero-width characters. */
export function visibleName(name: string): string {
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)
    ? JSON.stringify(name).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)
    : name
}

function escaped(char: string): string {
  return `\\u${char.codePointAt(0)!.toString(16).padStart(4, '0')}`
}
