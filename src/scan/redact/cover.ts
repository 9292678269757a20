/** Secrets covered character by character, so that every other character of a text stays where it was (A2). */

import { createRedactor } from './redact.ts'

/** The text with a dot for every character of a secret. */
export function coverSecrets(text: string): string {
  let shown = text
  for (const { start, end } of createRedactor().find(text)) {
    shown = `${shown.slice(0, start)}${'•'.repeat(end - start)}${shown.slice(end)}`
  }
  return shown
}
