/** Checks a host tool's result: masks outside secrets, and finds injections (A2, A3). */

import { attempt } from '../../system/fault.ts'
export interface ResultFinding {
  readonly injection: boolean
  readonly score: number
  readonly masked: unknown
}

/** Text beyond this is not scanned: a hook that outlasts its host's patience reports nothing at all. */
const MAX_CHARACTERS = 8_000_000
const MAX_DEPTH = 64
/** Shorter texts contain no instructions, and starting the scan takes time. */
const MIN_CHARACTERS = 20

/** Scans every text in a result. Scanners are loaded only if needed. */
export async function scanResult(value: unknown, mask: boolean, isGuidance = false): Promise<ResultFinding> {
  const texts: string[] = []
  const redactor = mask ? (await import('../../scan/redact/redact.ts')).createRedactor() : null
  let left = MAX_CHARACTERS
  let changed = false
  const look = (part: unknown, depth: number): unknown => {
    if (left <= 0) return part
    if (typeof part === 'string') {
      left -= part.length
      texts.push(part)
      const masked = redactor?.redact(part) ?? part
      changed ||= masked !== part
      return masked
    }
    if (typeof part !== 'object' || part === null) return part
    if (depth > MAX_DEPTH) {
      texts.push(asText(part).slice(0, left))
      return part
    }
    if (Array.isArray(part)) return part.map((item) => look(item, depth + 1))
    return Object.fromEntries(
      Object.entries(part).map(([name, item]) => {
        texts.push(name)
        return [name, isBytes(part, name, item) ? item : look(item, depth + 1)]
      }),
    )
  }
  const masked = look(value, 0)
  const text = texts.join('\n')
  const found = { masked: changed ? masked : null }
  if (text.length < MIN_CHARACTERS) return { ...found, injection: false, score: 0 }
  const { scanText } = await import('../../scan/injection/injection.ts')
  const { injection, score } = scanText(text, isGuidance)
  return { ...found, injection, score }
}

const BYTE_FIELDS: ReadonlySet<string> = new Set(['data', 'blob', 'base64'])

/** A picture or sound is base64, which looks random everywhere. Only parts without other content count. */
function isBytes(part: object, name: string, item: unknown): boolean {
  if (typeof item !== 'string' || !(BYTE_FIELDS.has(name) || (part as { isImage?: unknown }).isImage === true))
    return false
  return /^(?:data:(?:image|audio)\/[\w.+-]+;base64,)?[A-Za-z0-9+/]*={0,2}$/.test(item)
}

function asText(part: object): string {
  return attempt(() => JSON.stringify(part), '')
}
