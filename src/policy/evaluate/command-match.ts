/**
 * Matches command patterns against resolved words: grants only if certain, denials through
 * everything.
 */

import { matchSegment, segmentsMeet } from '../../files/glob.ts'
import type { Word } from '../../shell/facts.ts'
import type { CommandPattern, TextPattern } from '../command-pattern.ts'

/** `maybe`: a word that cannot be known could make the command match. */
export type DenyMatch = 'yes' | 'maybe' | 'no'

const MAX_VARIANTS = 64

/** A command with every finite choice of words taken (`for x in a b; do git $x`); null when there are too many. */
export function variantsOf(argv: readonly Word[]): readonly (readonly Word[])[] | null {
  if (argv.every((word) => word.values === null || word.values.length <= 1)) return [argv]
  let variants: Word[][] = [[]]
  for (const word of argv) {
    const choices = word.values && word.values.length > 1 ? word.values.map((value) => exactly(word, value)) : [word]
    if (variants.length * choices.length > MAX_VARIANTS) return null
    variants = variants.flatMap((variant) => choices.map((choice) => [...variant, choice]))
  }
  return variants
}

/** True when the words certainly start with the pattern's words, and for a closed pattern end there. */
export function grantMatches(pattern: CommandPattern, argv: readonly Word[]): boolean {
  if (pattern.kind) return false
  if (argv.length < pattern.words.length || (!pattern.open && argv.length !== pattern.words.length)) return false
  return pattern.words.every((word, index) => {
    const values = argv[index]!.values
    return values !== null && values.length === 1 && values[0] === word && !argv[index]!.splits
  })
}

/** Options of git with the next word as their value; all others before the subcommand take none. */
const GIT_VALUED: ReadonlySet<string> = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
  '--attr-source',
])

/**
 * Matches a denial. The program counts by its basename, options between the words are skipped with and without a value,
 * and a denial is always open: `rm` denies every rm.
 */
export function denyMatches(pattern: CommandPattern, argv: readonly Word[]): DenyMatch {
  const name = argv[0]
  if (name === undefined) return 'no'
  if (pattern.matches) return textMatches(pattern.matches, argv)
  const byName = nameMatches(pattern.words[0]!, name)
  if (byName === 'no') return 'no'
  return weakest(byName, restMatches(pattern.words, 1, argv, 1))
}

/** Matches the unquoted text of a command, also with the basename of its program. */
function textMatches(pattern: TextPattern, argv: readonly Word[]): DenyMatch {
  const variants = variantsOf(argv)
  if (variants === null) return 'maybe'
  const matches = variants.map((words): DenyMatch => {
    const known = words.findIndex((word) => word.values === null)
    const begins = (known < 0 ? words : words.slice(0, known)).map((word) => word.values?.[0] ?? '')
    const spellings = [begins, [basename(begins[0] ?? ''), ...begins.slice(1)]]
    if (known < 0) return spellings.some((each) => isText(pattern, each.join(' '))) ? 'yes' : 'no'
    if ('regex' in pattern) return 'maybe'
    return spellings.some((each) => segmentsMeet(pattern.glob, `${[...each, ''].join(' ').trimStart()}*`))
      ? 'maybe'
      : 'no'
  })
  return combined(matches)
}

function isText(pattern: TextPattern, text: string): boolean {
  if ('glob' in pattern) return matchSegment(pattern.glob, text)
  return [text, `"command":${JSON.stringify(text)}`].some((one) => pattern.regex.test(one))
}

/** Whether a weaker rule takes this command out of a denial: only where its words are known, and written as that rule has them. */
export function isExempt(pattern: CommandPattern, argv: readonly Word[]): boolean {
  if (!pattern.matches) return grantMatches(pattern, argv)
  const words = argv.map((word) => (word.values?.length === 1 && !word.splits ? word.values[0]! : null))
  return !words.includes(null) && isText(pattern.matches, words.join(' '))
}

/** A denial of a path means the program that lies there: by another name it may be the same one. */
function nameMatches(wanted: string, name: Word): DenyMatch {
  const program = basename(wanted)
  if (name.values === null) {
    if (name.pattern !== null)
      return matchSegment(basename(name.pattern).replace(/\[[^\]]*\]/g, '?'), program) ? 'maybe' : 'no'
    const literal = basename(name.prefix)
    return program.startsWith(literal) ? 'maybe' : 'no'
  }
  return ofEach(name.values, (value) => {
    if (value === wanted) return 'yes'
    if (basename(value) !== program) return 'no'
    return wanted === program ? 'yes' : 'maybe'
  })
}

function restMatches(words: readonly string[], next: number, argv: readonly Word[], at: number): DenyMatch {
  if (next >= words.length) return 'yes'
  const word = argv[at]
  if (word === undefined) return 'no'
  if (word.values === null) return 'maybe'
  return ofEach(word.values, (value) => {
    if (value === words[next]) return restMatches(words, next + 1, argv, at + 1)
    if (!/^[-+]|^\w+=/.test(value)) return 'no'
    const alone = restMatches(words, next, argv, at + 1)
    if (alone === 'yes' || !value.startsWith('-') || value.includes('=')) return alone
    const mayTakeValue = words[0] === 'git' ? GIT_VALUED.has(value) : true
    return mayTakeValue ? strongest(alone, restMatches(words, next, argv, at + 2)) : alone
  })
}

/** A word that may be one of several matches for certain only when every choice does. */
function ofEach(values: readonly string[], match: (value: string) => DenyMatch): DenyMatch {
  return combined(values.map(match))
}

function combined(matches: readonly DenyMatch[]): DenyMatch {
  if (matches.every((each) => each === 'no')) return 'no'
  return matches.every((each) => each === 'yes') ? 'yes' : 'maybe'
}

function exactly(word: Word, value: string): Word {
  return { ...word, text: value, values: [value], dynamic: [], prefix: value }
}

function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

const STRENGTH: Record<DenyMatch, number> = { no: 0, maybe: 1, yes: 2 }

function weakest(a: DenyMatch, b: DenyMatch): DenyMatch {
  return STRENGTH[a] <= STRENGTH[b] ? a : b
}

function strongest(a: DenyMatch, b: DenyMatch): DenyMatch {
  return STRENGTH[a] >= STRENGTH[b] ? a : b
}
