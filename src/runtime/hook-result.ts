/** Looks at what a host's tool gave: secrets from outside are masked, and text that gives orders is flagged, recorded and remembered (A2, A3). */

import { scanText } from '../scan/injection.ts'
import { createRedactor } from '../scan/redact.ts'
import { type HookPlace, openHookJudge, sessionKey } from './hook-judge.ts'
import { hookRecorder } from './hook-record.ts'
import { noteTaint } from './hook-session.ts'

export interface ResultFinding {
  /** It holds text that reads like orders to the agent. */
  readonly injection: boolean
  readonly score: number
  /** The result without its secrets, in the same shape; null when there are none. */
  readonly masked: unknown
}

/** Beyond this much text the rest is left unread: a hook that takes longer than its host waits says nothing at all. */
const MAX_CHARACTERS = 8_000_000
const MAX_DEPTH = 64

/** Reads every text in a result. */
export function scanResult(value: unknown, mask: boolean): ResultFinding {
  const texts: string[] = []
  const redactor = createRedactor()
  let left = MAX_CHARACTERS
  let changed = false
  const look = (part: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH || left <= 0) return part
    if (typeof part === 'string') {
      left -= part.length
      texts.push(part)
      const masked = mask ? redactor.redact(part) : part
      changed ||= masked !== part
      return masked
    }
    if (Array.isArray(part)) return part.map((item) => look(item, depth + 1))
    if (typeof part !== 'object' || part === null || isBinary(part)) return part
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, look(item, depth + 1)]))
  }
  const masked = look(value, 0)
  const { injection, score } = scanText(texts.join('\n'))
  return { injection, score, masked: changed ? masked : null }
}

/** A picture or a sound is base64, in which every run looks like chance. */
function isBinary(part: object): boolean {
  const { type, blob, isImage } = part as { type?: unknown; blob?: unknown; isImage?: unknown }
  return type === 'image' || type === 'audio' || type === 'base64' || isImage === true || typeof blob === 'string'
}

/** Writes down what was found; from now on the session counts as tainted, where the manifest says that this matters. */
export async function rememberFinding(
  place: HookPlace,
  tool: string,
  finding: ResultFinding,
  now: number,
): Promise<void> {
  const opened = await openHookJudge(place)
  if ('closed' in opened) return
  const { loaded } = opened.judge
  if (finding.injection) noteTaint(sessionKey(place, loaded), now)
  const recorder = hookRecorder(loaded, place.machine, place.host, place.session)
  try {
    if (finding.injection) recorder.tainted(tool, finding.score)
    if (finding.masked !== null) recorder.note({ type: 'warning', tool, message: 'secrets in the result were masked' })
  } finally {
    recorder.close()
  }
}
