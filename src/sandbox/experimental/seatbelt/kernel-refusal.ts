/** PURE. What the kernel of macOS wrote into the unified log when it refused something of one command. */

import { visible } from '../../../scan/visible-text.ts'
import type { Violation } from '../../violation.ts'

/** Words behind every denial of one launch; no other command's refusals end with them. */
export type RefusalMark = `cordon-${string}`

/** Only refusals by Seatbelt that bear the mark; other mechanisms of the system write under the same sender. */
export function refusalPredicate(mark: RefusalMark): string {
  return `sender == "Sandbox" AND eventMessage BEGINSWITH "Sandbox: " AND eventMessage ENDSWITH "${mark}"`
}

const MAX_LINE = 16 * 1024
/** The longest path of macOS. */
const MAX_PATH = 1024
const MAX_REFUSALS = 50

const KEXT = '/System/Library/Extensions/Sandbox.kext/Contents/MacOS/Sandbox'
/** `Sandbox: cat(1234) deny(1) file-read-data /private/etc/x`, and the mark on its own line. A name holds no brackets: it could say the rest. */
const REFUSAL =
  /^Sandbox: [^()\n]{1,64}\(\d{1,10}\) deny\(\d{1,3}\) (?<operation>[a-z][a-z-]{2,40}\*?) (?<subject>.+)$/s

const SAYS: readonly (readonly [operation: RegExp, says: string])[] = [
  [/^file-read-data$/, 'was not read'],
  [/^file-write-/, 'was not changed'],
  [/^process-exec/, 'was not started'],
]

/** Every program of macOS asks for these at its start, and works without them. */
const NOISE = /^\/dev\/|\/\.CFUserTextEncoding$/
const READ_NOISE =
  /^\/(?:System|usr|AppleInternal|Library\/(?:Preferences|Caches|Managed Preferences)|private\/var\/(?:db|folders|run))(?:\/|$)|\/Library\/Preferences(?:\/|$)/

/** Reads lines of `log show --style ndjson`. Whatever is not exactly a refusal of this command is left out. */
export function readRefusals(text: string, mark: RefusalMark): readonly Violation[] {
  const found = new Map<string, Violation>()
  for (const line of text.split('\n')) {
    if (found.size >= MAX_REFUSALS) break
    const violation = line.length > MAX_LINE ? null : refusalOf(messageOf(line), mark)
    if (violation !== null) found.set(violation.message, violation)
  }
  return [...found.values()]
}

/** The message of a line, where the kernel's sandbox wrote it: any program can log such words of its own. */
function messageOf(line: string): string {
  let entry: Readonly<Record<string, unknown>> | null
  try {
    entry = JSON.parse(line)
  } catch {
    return ''
  }
  if (entry?.processID !== 0 || entry.processImagePath !== '/kernel' || entry.senderImagePath !== KEXT) return ''
  return typeof entry.eventMessage === 'string' ? entry.eventMessage : ''
}

function refusalOf(message: string, mark: RefusalMark): Violation | null {
  const end = `\n${mark}`
  if (!message.endsWith(end)) return null
  const { operation, subject } = REFUSAL.exec(message.slice(0, -end.length))?.groups ?? {}
  if (operation === undefined || subject === undefined || subject.length > MAX_PATH) return null
  if (operation === 'network-outbound' && !subject.startsWith('/'))
    return { kind: 'call-refused', certainty: 'observed', message: `a connection to ${visible(subject)} was refused` }
  const says = SAYS.find(([of]) => of.test(operation))?.[1]
  if (says === undefined || !subject.startsWith('/') || NOISE.test(subject)) return null
  if (operation === 'file-read-data' && READ_NOISE.test(subject)) return null
  const path = visible(subject)
  return { kind: 'path-denied', certainty: 'observed', path, message: `${path} ${says}: the sandbox refused it` }
}
