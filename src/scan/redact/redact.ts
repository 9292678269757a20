/** The one redactor: finds secrets in text by format, by the key before them and by value, and masks them. */

import { characterClass, createByteReader, startsCharacter, type TextBytes } from '../text-bytes.ts'
import { readAssignment } from './assignment.ts'
import { endOfKeyBlock, publicBlocks } from './blocks.ts'
import { maskSpans, mergeSpans, type SecretSpan } from './mask.ts'
import { commandSecrets, SECRET_PROGRAMS } from './option-secrets.ts'
import { type RedactionStream, redactionStream } from './redaction-stream.ts'
import { ALPHABETS, type Alphabet, PATTERN_KINDS, PREFIX_KINDS } from './secret-kinds.ts'
import { findRuns, readSourceName, readUserInfo, secretForms } from './secret-runs.ts'
import { gradeKey } from './sensitive-keys.ts'

export { MASK, type SecretSpan } from './mask.ts'
export type { RedactionStream } from './redaction-stream.ts'

export interface Redactor {
  /** The text without its secrets. A key block that does not end in it is masked as far as it reaches. */
  redact(text: string): string
  /** Where the secrets are, in order and apart from each other. */
  find(text: string): readonly SecretSpan[]
  /** A redactor of a text that arrives in pieces: whole lines come out, blocks carry over. */
  stream(): RedactionStream
}

/** Finds one kind of secret at a position, or those of a command whose program is named there. */
type Probe = (text: string, at: number) => SecretSpan | readonly SecretSpan[] | null

/** A literal that every find of a probe starts with; null where case does not matter. */
interface Anchor {
  readonly literal: string | null
  /** The literal's bytes, encoded on first use: one recorded line needs few of them. */
  bytes: Uint8Array | null
  readonly probe: Probe
}

let plain: Redactor | null = null

/** A redactor; `known` are the exact values that must never appear, in any usual encoding. Without any it is one for all. */
export function createRedactor(known: Iterable<string> = []): Redactor {
  const secrets = [...known]
  if (secrets.length > 0) return makeRedactor(secrets)
  plain ??= makeRedactor([])
  return plain
}

function makeRedactor(known: readonly string[]): Redactor {
  const all = new AnchorIndex()
  let values: AnchorIndex | null = null
  for (const secret of known) {
    for (const form of secretForms(secret)) {
      const probe = literalProbe(form)
      values ??= new AnchorIndex()
      values.add(form, probe, true)
      all.add(form, probe, true)
    }
  }
  addKinds(all, gradeMemo())
  const readBytes = createByteReader()
  const find = (text: string, inPublicBlock = false): SecretSpan[] => {
    const spans: SecretSpan[] = []
    const read = readBytes(text)
    const lags = findSecrets(text, read, all, spans)
    // A finding skips the text it covers: a known value that begins inside it and reaches further
    // is searched for again.
    if (values !== null) for (const { start, end } of [...spans]) findWithin(text, start, end, values, spans)
    findRuns(text, read, lags, publicBlocks(text, inPublicBlock), spans)
    return spans
  }
  return {
    find: (text) => mergeSpans(find(text)),
    redact: (text) => maskSpans(text, mergeSpans(find(text))),
    stream: () => redactionStream((text, inPublicBlock) => maskSpans(text, mergeSpans(find(text, inPublicBlock)))),
  }
}

/** Letters without case, digits as one, and the marks of prefixes: 5 bits a character. */
const CODES: Uint8Array = (() => {
  const codes = new Uint8Array(256).fill(31)
  for (let code = 0; code < 26; code++) codes[97 + code] = codes[65 + code] = code
  for (let code = 48; code < 58; code++) codes[code] = 26
  for (const [mark, code] of [
    ['-', 27],
    ['_', 28],
    [':', 29],
    ['/', 30],
  ] as const)
    codes[mark.charCodeAt(0)] = code
  return codes
})()

function codeAt(text: string, at: number): number {
  return CODES[text.charCodeAt(at)] ?? 31
}

const ENCODER = new TextEncoder()

/** Probes by the three characters their anchor starts with, so that one pass over a text finds every candidate. */
class AnchorIndex {
  /** One bit for every three codes that start an anchor: small enough to stay in the nearest cache. */
  readonly filter: Int32Array = new Int32Array(1024)
  readonly slots: Uint16Array = new Uint16Array(32768)
  readonly anchors: Anchor[][] = []
  /** For each slot, one bit for every code that may come fourth. */
  readonly fourth: Int32Array = new Int32Array(32768)

  /** `exact` promises that the probe's finding starts with the anchor as written. */
  add(anchor: string, probe: Probe, exact: boolean): void {
    const slot = (codeAt(anchor, 0) << 10) | (codeAt(anchor, 1) << 5) | codeAt(anchor, 2)
    const bit = 1 << (slot & 31)
    if ((this.filter[slot >> 5]! & bit) === 0) {
      this.filter[slot >> 5]! |= bit
      this.slots[slot] = this.anchors.push([]) - 1
    }
    const list = this.anchors[this.slots[slot]!]!
    this.fourth[slot]! |= anchor.length > 3 ? 1 << codeAt(anchor, 3) : -1
    if (exact) list.push({ literal: anchor, bytes: null, probe })
    else if (!list.some((known) => known.probe === probe)) list.push({ literal: null, bytes: null, probe })
  }
}

/** Where keys of assignments are recognised: inside `password`, `secret`, `token`, `apiKey`, `authorization`, `credential` … */
const KEY_ANCHORS: readonly string[] = [
  'pas',
  'pwd',
  'ecr',
  'tok',
  'key',
  'uth',
  'ede',
  'jwt',
  'otp',
  'mne',
  'pw=',
  'pw:',
  'sess',
  'sid=',
]

/** Logs repeat their keys: each is graded once. */
function gradeMemo(): typeof gradeKey {
  const grades = new Map<string, ReturnType<typeof gradeKey>>()
  return (key, before) => {
    const name = `${before} ${key}`
    let grade = grades.get(name)
    if (grade === undefined) {
      if (grades.size >= 1000) grades.clear()
      grade = gradeKey(key, before)
      grades.set(name, grade)
    }
    return grade
  }
}

function addKinds(index: AnchorIndex, grade: typeof gradeKey): void {
  for (const [kind, prefixes, alphabet, least] of PREFIX_KINDS) {
    for (const prefix of prefixes.split(' ')) index.add(prefix, prefixProbe(kind, prefix, alphabet, least), true)
  }
  for (const [kind, anchors, pattern] of PATTERN_KINDS) {
    const probe = patternProbe(kind, pattern)
    for (const anchor of kind === 'openvpn-static' ? ['OpenVPN Static key'] : anchors.split(' ')) {
      index.add(anchor, probe, !pattern.ignoreCase)
    }
  }
  index.add('BEGIN', keyBlockProbe, true)
  index.add('://', readUserInfo, true)
  index.add('@tcp(', readSourceName, true)
  index.add('@unix(', readSourceName, true)
  const assignmentProbe: Probe = (text, at) => {
    const secret = readAssignment(text, at, grade)
    return secret === null ? null : { ...secret, kind: 'assignment' }
  }
  for (const anchor of KEY_ANCHORS) index.add(anchor, assignmentProbe, false)
  const isSecretKey = (key: string): boolean => ['password', 'token'].includes(grade(key, '') ?? '')
  const commandProbe: Probe = (text, at) =>
    startsToken(text, at) ? commandSecrets(text, at, isSecretKey).map((span) => ({ ...span, kind: 'option' })) : null
  for (const name of SECRET_PROGRAMS) index.add(`${name} `, commandProbe, false)
}

function literalProbe(form: string): Probe {
  return (text, at) => (text.startsWith(form, at) ? { start: at, end: at + form.length, kind: 'known' } : null)
}

const CLASSES: Readonly<Record<Alphabet, Uint8Array>> = Object.fromEntries(
  Object.entries(ALPHABETS).map(([name, ranges]) => [name, characterClass(ranges)]),
) as Record<Alphabet, Uint8Array>

function prefixProbe(kind: string, prefix: string, alphabet: Alphabet, least: number): Probe {
  const members = CLASSES[alphabet]
  return (text, at) => {
    if (!text.startsWith(prefix, at) || !startsToken(text, at)) return null
    const from = at + prefix.length
    let end = from
    while (end < text.length && members[text.charCodeAt(end)] === 1) end++
    // A short run is not checked again: what follows it cannot be part of this kind.
    if (end - from < least || isExample(text, end)) return null
    return { start: at, end, kind }
  }
}

/** Documentation writes its keys so that they end in this word. */
function isExample(text: string, end: number): boolean {
  return text.startsWith('EXAMPLE', end - 7)
}

function patternProbe(kind: string, pattern: RegExp): Probe {
  // Compiled when a text first contains the anchor: most contain none.
  let sticky: RegExp | null = null
  return (text, at) => {
    if (!startsToken(text, at)) return null
    sticky ??= new RegExp(pattern.source, `${pattern.flags}y`)
    sticky.lastIndex = at
    const match = sticky.exec(text)
    if (match === null) return null
    const end = at + match[0].length
    return { start: match[1] === undefined ? at : end - match[1].length, end, kind }
  }
}

const keyBlockProbe: Probe = (text, at) => {
  const end = endOfKeyBlock(text, at)
  return end === null ? null : { ...end, kind: 'private-key' }
}

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]{0,12}m$`)

/** A token starts where no letter or digit precedes it, unless that one belongs to an escape: `\n`, `%3D`, a colour. */
function startsToken(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  if (at === 0 || before >= 128 || CLASSES.word[before] !== 1) return true
  if (text[at - 2] === '\\' || text[at - 3] === '%') return true
  return text[at - 1] === 'm' && COLOUR.test(text.slice(Math.max(0, at - 16), at))
}

/** The state of a pass over the bytes of a text. */
interface Pass {
  at: number
  /** The codes of the last three characters. */
  window: number
  /** The places of the bytes that start no character: so far is a byte's place ahead of its character's. */
  readonly lags: number[]
}

/** Goes on to the next three characters that an anchor may start with. Nothing else is in this loop, so that it is compiled well. */
function nextCandidate(pass: Pass, { bytes, size }: TextBytes, { filter, fourth }: AnchorIndex): boolean {
  let { window } = pass
  for (let at = pass.at + 1; at < size; at++) {
    const byte = bytes[at]!
    if (byte >= 0x80 && !startsCharacter(bytes, at)) {
      pass.lags.push(at)
      continue
    }
    window = ((window << 5) | CODES[byte]!) & 0x7fff
    if ((filter[window >> 5]! & (1 << (window & 31))) === 0) continue
    // Behind a character of several bytes the next byte may be its own.
    if (byte < 0x80 && at + 1 < size && (fourth[window]! & (1 << CODES[bytes[at + 1]!]!)) === 0) continue
    pass.at = at
    pass.window = window
    return true
  }
  return false
}

/** One pass over the bytes; gives back the places of those that start no character. */
function findSecrets(text: string, read: TextBytes, index: AnchorIndex, spans: SecretSpan[]): readonly number[] {
  const { bytes, size } = read
  const pass: Pass = { at: -1, window: 0x7fff, lags: [] }
  while (nextCandidate(pass, read, index)) {
    const start = pass.at - pass.lags.length - 2
    if (start < 0) continue
    const isAscii = (bytes[pass.at]! | bytes[pass.at - 1]! | bytes[pass.at - 2]!) < 0x80
    for (const anchor of index.anchors[index.slots[pass.window]!]!) {
      if (anchor.literal !== null && isAscii) {
        anchor.bytes ??= ENCODER.encode(anchor.literal)
        if (!standsAt(anchor.bytes, bytes, pass.at - 2)) continue
      }
      const span = anchor.probe(text, start)
      if (span === null) continue
      if (isList(span)) {
        // Other kinds are between the words of a command.
        spans.push(...span)
        continue
      }
      spans.push(span)
      // INVARIANT: the place grows, so every character is passed once.
      if (span.end > start + 2) {
        for (; pass.at + 1 < size; pass.at++) {
          const starts = bytes[pass.at + 1]! < 0x80 || startsCharacter(bytes, pass.at + 1)
          if (starts && pass.at + 1 - pass.lags.length >= span.end) break
          if (!starts) pass.lags.push(pass.at + 1)
        }
        pass.window = 0x7fff
      }
      break
    }
  }
  return pass.lags
}

function isList(found: SecretSpan | readonly SecretSpan[]): found is readonly SecretSpan[] {
  return Array.isArray(found)
}

/** What lies behind the text in the bytes' memory may be of another one: then the probe says no. */
function standsAt(anchor: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < anchor.length; i++) if (bytes[at + i] !== anchor[i]) return false
  return true
}

/** The same within a part of a text. */
function findWithin(text: string, from: number, to: number, index: AnchorIndex, spans: SecretSpan[]): void {
  let window = 0x7fff
  for (let at = from; at < to; at++) {
    window = ((window << 5) | codeAt(text, at)) & 0x7fff
    if ((index.filter[window >> 5]! & (1 << (window & 31))) === 0 || at < from + 2) continue
    for (const { probe } of index.anchors[index.slots[window]!]!) {
      const span = probe(text, at - 2)
      if (span === null || isList(span)) continue
      spans.push(span)
      if (span.end > at) {
        at = span.end - 1
        window = 0x7fff
      }
      break
    }
  }
}

/** The text with a dot for every character of a secret. */
export function coverSecrets(text: string): string {
  let shown = text
  for (const { start, end } of createRedactor().find(text)) {
    shown = `${shown.slice(0, start)}${'•'.repeat(end - start)}${shown.slice(end)}`
  }
  return shown
}
