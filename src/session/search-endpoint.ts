/** Where `websearch` asks: the person's own configuration says it, for every surface. */

import { join } from 'node:path'
import type { Machine } from '../system/machine.ts'
import { recordOf } from '../system/record.ts'
import { readOwnFile } from '../system/state.ts'

/** The endpoint, or null. A configuration that cannot be read has none: who needs the rest of it says what is wrong. */
export function searchEndpoint({ configDir }: Machine): string | null {
  try {
    const bytes = readOwnFile(join(configDir, 'config.json'))
    if (bytes === null) return null
    const { url } = recordOf(recordOf(JSON.parse(new TextDecoder().decode(bytes))).search)
    return typeof url === 'string' && /^https?:\/\//.test(url) ? url : null
  } catch {
    return null
  }
}
