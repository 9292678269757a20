/** sed, awk, less, date and others whose operands are programs or settings. */

import { environmentHazard } from '../environment.ts'
import type { Arg } from '../options.ts'
import { isRooted } from '../places.ts'
import { has, type Rule, type Use, usesOf } from '../use.ts'
import { awkDangers, sedDangers } from './scripts.ts'

/** The words that contain the script: option values, or the first operand. */
function scriptArgs(use: Use, options: readonly string[], fileOptions: readonly string[]): readonly Arg[] {
  const given = usesOf(use, ...options).flatMap((option) => (option.value === null ? [] : [option.value]))
  if (given.length > 0 || has(use, ...fileOptions)) return given
  return use.operands.slice(0, 1)
}

/** `"$((n+1)),$((n+9))p"`: numbers cannot change the script, so any number represents them. */
function withNumbers(arg: Arg): string | null {
  if (!arg.word.dynamic.every((kind) => kind === 'arithmetic')) return null
  const text = arg.word.text.replace(/\$\(\([^()]*\)\)/g, '1').replace(/["']/g, '')
  return /[$`\\]/.test(text) ? null : text
}

function reportScript(
  use: Use,
  args: readonly Arg[],
  dangers: (text: string) => readonly (readonly [string, string])[],
): void {
  for (const arg of args) {
    const text = arg.text ?? withNumbers(arg)
    if (text === null) {
      use.found.hazard('dynamic-argument', `the ${use.program} script is not known beforehand`, arg.word.span)
      continue
    }
    for (const [code, message] of dangers(text)) use.found.hazard(code, message, arg.word.span)
  }
}

/** A backup suffix of sed: a word that would be one command as a script. */
const SUFFIX = /^\.?[A-Za-z~_-]{1,12}$/

const sed: Rule = (use) => {
  const inPlace = has(use, '-i')
  const first = use.operands[0]
  // BSD sed takes the backup suffix as a separate word: `sed -i '' s/a/b/ f`. Both readings are
  // judged.
  const separateSuffix = inPlace && first?.text === '' && !has(use, '-e', '-f')
  const scripts = separateSuffix ? use.operands.slice(1, 2) : scriptArgs(use, ['-e'], ['-f'])
  // `sed -i bak s/a/b/ f` is a label and two files to one, a suffix, a script and a file to the other.
  const maybeSuffix = inPlace && !has(use, '-e', '-f') && use.operands.length > 2 && SUFFIX.test(first?.text ?? '')
  const judged = maybeSuffix ? [...scripts, ...use.operands.slice(1, 2)] : scripts
  reportScript(use, judged, sedDangers)
  for (const arg of judged)
    if (sedDangers(arg.text ?? '').length > 0)
      for (const [access, file] of sedFiles(arg.text ?? '')) use.found.file(file, access, arg.word.span)
  if (!inPlace) return
  const files = use.operands.slice(has(use, '-e', '-f') ? 0 : separateSuffix ? 2 : 1)
  for (const arg of files) use.found.path(arg, 'write')
}

/** Files that `w` and `r` commands name, as far as a plain look finds them. */
function sedFiles(script: string): readonly (readonly ['read' | 'write', string])[] {
  const files: (readonly ['read' | 'write', string])[] = []
  for (const match of script.matchAll(/(?:^|[;\s\d$/}])([wWrR])\s+([^\s;}]+)/g))
    files.push([(match[1] ?? '').toLowerCase() === 'w' ? 'write' : 'read', match[2] ?? ''])
  return files
}

const awk: Rule = (use) => {
  const scripts = scriptArgs(use, ['-e'], ['-f', '-E'])
  reportScript(use, scripts, awkDangers)
  for (const arg of scripts)
    for (const match of (arg.text ?? '').matchAll(/(>>?|<)\s*"([^"]+)"/g)) {
      const file = match[2] ?? ''
      if (!file.startsWith('-')) use.found.file(file, match[1] === '<' ? 'read' : 'write', arg.word.span)
    }
}

/** `load("/x")` of yq opens a file; a name that is not written out can be any. */
const yq: Rule = (use) => {
  for (const arg of use.operands.slice(0, 2))
    for (const match of (arg.text ?? '').matchAll(/\bload(?:_str|_xml|_props|_base64)?\s*\(\s*("([^"]*)")?/g))
      if (match[2] !== undefined) use.found.file(match[2], 'read', arg.word.span)
      else use.found.hazard('script-reads-file', 'the expression opens a file that is not written out', arg.word.span)
}

const pager: Rule = (use) => {
  for (const option of usesOf(use, '+')) {
    const text = option.value?.text
    if (text == null || !/^(\d*|G|F|g|p?\d+%?|[/?][^!|]*)$/.test(text))
      use.found.hazard(
        'option-runs-program',
        `\`${use.program} +…\` runs a command of the pager, which can start programs`,
        option.span,
      )
  }
}

/** `--include=.env`, `-g '*.key'`: a search that is aimed at secrets reads them. */
const searchedNames: Rule = (use) => {
  for (const option of usesOf(use, '--include', '-g', '--iglob')) {
    const text = option.value?.text ?? '!'
    if (!text.startsWith('!'))
      use.found.file(text.slice(text.lastIndexOf('/') + 1), 'read', option.span, { glob: true })
  }
}

const grep: Rule = (use) => {
  searchedNames(use)
  if (!has(use, '-r', '-R', '--recursive', '--dereference-recursive')) return
  const files = has(use, '-e', '-f') ? use.operands : use.operands.slice(1)
  for (const arg of files) use.found.path(arg, 'read', true)
}

const date: Rule = (use) => {
  for (const arg of use.operands)
    if (!has(use, '-j') && (arg.text === null || /^\d{8}/.test(arg.text)))
      use.found.hazard('changes-system', '`date` with a number sets the clock', arg.word.span)
}

const hostname: Rule = (use) => {
  const arg = use.operands[0]
  if (arg !== undefined) use.found.hazard('changes-system', '`hostname` with a name renames the machine', arg.word.span)
}

const printf: Rule = (use) => {
  const index = use.args.findIndex((arg) => arg.text === '-v' || /^-v./.test(arg.text ?? ''))
  if (index !== 0) return
  const glued = use.args[0]?.text?.slice(2) ?? ''
  const name = glued === '' ? (use.args[1]?.text ?? null) : glued
  if (name === null || name.includes('[') || environmentHazard(name) !== null)
    use.found.hazard('assigns-variable', '`printf -v` sets a variable that changes what programs do', use.span)
}

/** Verbs of mlr that take a program in its language, and what of it runs commands or writes files. */
const millerRuns = /\b(?:system|exec|os)\s*\(|\|\s*(?:"|\$|@)|\b(?:tee|emit\w*|print\w*|dump)\b[^;}]*>/

const miller: Rule = (use) => {
  for (const arg of use.args)
    if (arg.text === null ? arg.prefix === '' && arg.word.splits : millerRuns.test(arg.text))
      use.found.hazard('interpreter-code', '`mlr` is given a program that runs commands or writes files', arg.word.span)
  if (has(use, '-I'))
    for (const arg of use.operands) if (arg.text !== null && isRooted(arg.text)) use.found.path(arg, 'write')
}

/** `uniq a b` writes b: names that a pattern or a variable makes may be two. */
const secondIsOutput: Rule = (use) => {
  for (const arg of use.operands)
    if (arg.text === null && (arg.word.splits || arg.pattern !== null))
      use.found.hazard('option-writes-file', '`uniq` writes the second file that it is given', arg.word.span)
}

export const textRules: Readonly<Record<string, Rule>> = {
  mlr: miller,
  sed,
  'awk, gawk, mawk, nawk, original-awk': awk,
  yq,
  'less, more, most, pg, zless, zmore': pager,
  'grep, egrep, fgrep, zgrep': grep,
  'rg, ag': searchedNames,
  date,
  hostname,
  uniq: secondIsOutput,
  printf,
}
