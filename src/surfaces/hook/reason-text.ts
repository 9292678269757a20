/** Reasons for a host and its model: one line, nothing hidden, not too long. */

import { visible } from '../../scan/visible-text.ts'
import { redacted } from '../terminal/redacted-terminal.ts'

/** Longer reasons are cut: hosts show them, and models pay for them. */
const MAX_REASON = 2000

/** Never empty: a denial without a reason is an allow in Codex. */
export function reasonText(...sentences: readonly (string | undefined)[]): string {
  const text = redacted(oneLine(`Cordon: ${sentences.filter(Boolean).join(' ')}`))
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)} …` : text
}

/** Escapes hidden and control characters of an agent's text. */
export function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' '))
}
