/** Text from the wire as a terminal may show it: control, format and bidirectional characters written out. PURE. */

export function escapeText(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
