/** The texts that the classifier is trained and measured with: a corpus when one is at hand, generated ones, and files of the machine. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readSentences } from '../../src/scan/injection/features.ts'
import { type Chance, injectionText, letterText, promptText, structuredText } from './phrases.ts'

/** A sentence of a text, and the places of its features among the weights. */
export interface Sentence {
  readonly start: number
  readonly end: number
  readonly features: Int32Array
}

function sentencesOf(text: string): readonly Sentence[] {
  const found: Sentence[] = []
  readSentences(text, (start, end, features, count) => found.push({ start, end, features: features.slice(0, count) }))
  return found
}

export interface Sample {
  readonly text: string
  readonly injection: boolean
  /** Where it comes from; measured by leaving a source out. */
  readonly source: string
  /** Those of its sentences that can be the injection: which one it is, training finds out. */
  readonly sentences: readonly Sentence[]
}

interface Row {
  readonly text: string
  readonly label: 'injection' | 'benign'
  readonly source: string
}

/** The rows of a corpus. A sentence of its harmless texts is no sign of an injection. */
export function corpusSamples(file: string): readonly Sample[] {
  const rows: Row[] = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const harmless = new Set(
    rows.filter(({ label }) => label === 'benign').flatMap(({ text }) => said(text.toLowerCase())),
  )
  return rows.map((row) => {
    const text = row.text.toLowerCase()
    const all = sentencesOf(text)
    const own = all.filter(({ start, end }) => !harmless.has(text.slice(start, end).trim()))
    const injection = row.label === 'injection'
    const family = row.source.split(/[ :_(]/)[0]!
    return { text: row.text, injection, source: family, sentences: injection && own.length > 0 ? own : all }
  })
}

function said(text: string): readonly string[] {
  return sentencesOf(text).map(({ start, end }) => text.slice(start, end).trim())
}

export function sampleOf(text: string, injection: boolean, source: string): Sample {
  return { text, injection, source, sentences: sentencesOf(text.toLowerCase()) }
}

/** Injections inside other texts, and those texts by themselves. */
export function generatedSamples(chance: Chance, count: number, files: readonly string[]): readonly Sample[] {
  return Array.from({ length: count }, () => {
    const place = chance(10)
    const around = place < 4 ? structuredText(chance) : place < 7 ? letterText(chance) : files[chance(files.length)]!
    if (chance(2) === 0) return sampleOf(chance(6) === 0 ? promptText(chance) : around, false, 'generated')
    const order = injectionText(chance)
    const kind = sentencesOf(order.toLowerCase())
    const lines = around.split('\n')
    const at = [0, lines.length, chance(lines.length + 1)][chance(3)]!
    const text = chance(8) === 0 ? order : [...lines.slice(0, at), order, ...lines.slice(at)].join('\n')
    const wanted = new Set(kind.map(({ start, end }) => order.toLowerCase().slice(start, end).trim()))
    const lower = text.toLowerCase()
    const own = sentencesOf(lower).filter(({ start, end }) => wanted.has(lower.slice(start, end).trim()))
    return { text, injection: true, source: 'generated', sentences: own }
  })
}

/** Pieces of documentation and source files of this machine, which contain no injections. */
export function filePieces(
  folders: readonly string[],
  pattern: RegExp,
  most: number,
  chance: Chance,
): readonly string[] {
  const names = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => pattern.test(name))
        .map((name) => join(folder, name)),
    )
  const pieces: string[] = []
  for (let tries = 0; tries < most * 3 && pieces.length < most && names.length > 0; tries++) {
    const text = readText(names[chance(names.length)]!)
    const start = chance(Math.max(1, text.length - 1500))
    if (text.length > 200) pieces.push(text.slice(start, start + 300 + chance(2500)))
  }
  return pieces
}

function readText(file: string): string {
  try {
    const bytes = readFileSync(file)
    const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
    return text.includes('\0') ? '' : text
  } catch {
    return ''
  }
}
