/** Why, as a host and its model read it: one line that hides nothing and is not too long. */

import { visible } from '../../scan/visible-text.ts'
import { redacted } from '../terminal/redacted-terminal.ts'

/** Longer reasons are cut: a host shows them, and a model pays for them. */
const MAX_REASON = 2000

/** Never empty: a denial without a reason is an allow in Codex. */
export function reasonText(...sentences: readonly (string | undefined)[]): string {
  const text = redacted(oneLine(`Cordon: ${sentences.filter(Boolean).join(' ')}`))
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)} …` : text
}

/** What hides or acts in an agent's own text does not reach the host's screen. */
export function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' '))
}
