/** Texts that fooled a shell parser once, or could: each hides, renames or conjures up a command. */

import { readFileSync } from 'node:fs'

/** One JSON string a line; `rm` is what must not be missed. */
export const TRAPS: readonly string[] = readFileSync(new URL('./traps.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as string)
