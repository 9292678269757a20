/** Secrets covered character by character, so that every other character of a text stays where it was (A2). */

import { createRedactor, type Redactor } from './redact.ts'

let made: Redactor | null = null

/** The text with a dot for every character of a secret. */
export function coverSecrets(text: string): string {
  made ??= createRedactor()
  let shown = text
  for (const { start, end } of made.find(text)) {
    shown = `${shown.slice(0, start)}${'•'.repeat(end - start)}${shown.slice(end)}`
  }
  return shown
}
