/** The one redactor: finds secrets in text by format, by the key before them and by value, and masks them. */

import { readAssignment } from './assignment.ts'
import { endOfKeyBlock } from './key-block.ts'
import { secretForms } from './known-secrets.ts'
import { maskSpans, mergeSpans, type SecretSpan } from './mask.ts'
import { type RedactionStream, redactionStream } from './redaction-stream.ts'
import { ALPHABETS, type Alphabet, PATTERN_KINDS, PREFIX_KINDS } from './secret-kinds.ts'
import { findRuns } from './secret-runs.ts'
import { gradeKey } from './sensitive-keys.ts'
import { readUserInfo } from './url-secrets.ts'

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

/** Looks for one kind of secret that starts at a place. */
type Probe = (text: string, at: number) => SecretSpan | null

/** Makes a redactor; `known` are the exact values that must never appear, in any usual encoding. */
export function createRedactor(known: Iterable<string> = []): Redactor {
  const all = new AnchorIndex()
  const values = new AnchorIndex()
  for (const secret of known) {
    for (const form of secretForms(secret)) {
      const probe = literalProbe(form)
      values.add(form, probe)
      all.add(form, probe)
    }
  }
  addKinds(all, gradeMemo())
  const find = (text: string): SecretSpan[] => {
    const spans: SecretSpan[] = []
    findSecrets(text, 0, text.length, all, spans)
    // A find steps over what it covers: a known value that begins inside it and reaches further is looked for again.
    if (values.probes.length > 0) for (const { start, end } of [...spans]) findSecrets(text, start, end, values, spans)
    findRuns(text, spans)
    return spans
  }
  return {
    find: (text) => mergeSpans(find(text)),
    redact: (text) => maskSpans(text, mergeSpans(find(text))),
    stream: () => redactionStream((text) => maskSpans(text, mergeSpans(find(text)))),
  }
}

/** Letters without case, digits as one, and the marks that prefixes are made of: 5 bits a character. */
const CODES: Uint8Array = (() => {
  const codes = new Uint8Array(65536).fill(31)
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

/** Probes by the three characters their anchor starts with, so that one pass over a text finds every candidate. */
class AnchorIndex {
  /** One bit for every three codes that start an anchor: small enough to stay in the nearest cache. */
  readonly filter: Int32Array = new Int32Array(1024)
  readonly slots: Uint16Array = new Uint16Array(32768)
  readonly probes: Probe[][] = []

  add(anchor: string, probe: Probe): void {
    const code = (at: number) => CODES[anchor.charCodeAt(at)]!
    const slot = (code(0) << 10) | (code(1) << 5) | code(2)
    const bit = 1 << (slot & 31)
    if ((this.filter[slot >> 5]! & bit) === 0) {
      this.filter[slot >> 5]! |= bit
      this.slots[slot] = this.probes.push([]) - 1
    }
    const list = this.probes[this.slots[slot]!]!
    if (!list.includes(probe)) list.push(probe)
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
    for (const prefix of prefixes.split(' ')) index.add(prefix, prefixProbe(kind, prefix, alphabet, least))
  }
  for (const [kind, anchors, pattern] of PATTERN_KINDS) {
    const sticky = new RegExp(pattern.source, `${pattern.flags}y`)
    for (const anchor of kind === 'openvpn-static' ? ['OpenVPN Static key'] : anchors.split(' ')) {
      index.add(anchor, patternProbe(kind, sticky))
    }
  }
  index.add('BEGIN', keyBlockProbe)
  index.add('://', readUserInfo)
  const assignmentProbe: Probe = (text, at) => {
    const secret = readAssignment(text, at, grade)
    return secret === null ? null : { ...secret, kind: 'assignment' }
  }
  for (const anchor of KEY_ANCHORS) index.add(anchor, assignmentProbe)
}

function literalProbe(form: string): Probe {
  return (text, at) => (text.startsWith(form, at) ? { start: at, end: at + form.length, kind: 'known' } : null)
}

const CLASSES: Readonly<Record<Alphabet, Uint8Array>> = Object.fromEntries(
  Object.entries(ALPHABETS).map(([name, pattern]) => [
    name,
    Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0)),
  ]),
) as Record<Alphabet, Uint8Array>

function prefixProbe(kind: string, prefix: string, alphabet: Alphabet, least: number): Probe {
  const members = CLASSES[alphabet]
  return (text, at) => {
    if (!text.startsWith(prefix, at) || !startsToken(text, at)) return null
    const from = at + prefix.length
    let end = from
    while (end < text.length && members[text.charCodeAt(end)] === 1) end++
    // A short run is not looked at again: what follows it cannot be part of this kind.
    return end - from >= least ? { start: at, end, kind } : null
  }
}

function patternProbe(kind: string, sticky: RegExp): Probe {
  return (text, at) => {
    if (!startsToken(text, at)) return null
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

function findSecrets(text: string, from: number, to: number, index: AnchorIndex, spans: SecretSpan[]): void {
  const { filter, slots, probes } = index
  let window = 0x7fff
  for (let i = from; i < to; i++) {
    window = ((window << 5) | CODES[text.charCodeAt(i)]!) & 0x7fff
    if ((filter[window >> 5]! & (1 << (window & 31))) === 0 || i < from + 2) continue
    for (const probe of probes[slots[window]!]!) {
      const span = probe(text, i - 2)
      if (span === null) continue
      spans.push(span)
      // INVARIANT: i grows, so every character is passed once.
      if (span.end > i) {
        i = span.end - 1
        window = 0x7fff
      }
      break
    }
  }
}
