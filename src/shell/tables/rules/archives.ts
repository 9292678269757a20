/** tar, zip and 7z: which side is read and which is written depends on the letters. */

import { has, mayHave, type Rule, usesOf } from '../use.ts'

const tar: Rule = (use) => {
  const extracts = has(use, '-x', '--extract', '--get')
  const lists = has(use, '-t', '--list', '-d', '--diff', '--compare')
  if (mayHave(use, '--remove-files', '--recursive-unlink')) use.setEffect('loss', 'deletes the files that it packs')
  for (const option of usesOf(use, '-f')) {
    const text = option.value?.text
    if (text != null && /^[^/]+:/.test(text) && !has(use, '--force-local'))
      use.found.hazard('option-runs-program', '`tar -f host:file` starts a program on another machine', option.span)
    else if (option.value !== null) use.found.path(option.value, extracts || lists ? 'read' : 'write')
  }
  for (const option of usesOf(use, '-C', '--one-top-level'))
    if (option.value !== null) use.found.path(option.value, extracts ? 'write' : 'read', true)
  if (extracts || lists) return
  // Operands are resolved at the last -C; without one, here.
  if (!has(use, '-C')) for (const arg of use.operands) use.found.path(arg, 'read', true)
  else for (const arg of use.operands) use.found.loose(arg)
}

const sevenZip: Rule = (use) => {
  if (use.args.some(({ text }) => text === '-sdel')) use.setEffect('loss', 'deletes the files that it packs')
  for (const option of use.options) {
    const glued = /^-o(.+)$/.exec(option.name)?.[1]
    if (glued !== undefined) use.found.file(glued, 'write', option.span, { recursive: true })
    if (/^-[ix]r?[0-]?@/.test(option.name) || /^-sfx/.test(option.name))
      use.found.hazard('option-reads-list', '`7z` takes file names or a module from a file', option.span)
  }
  const command = use.operands[0]?.text ?? ''
  const archive = use.operands[1]
  if (archive !== undefined) use.found.path(archive, /^[xetl]$/.test(command) ? 'read' : 'write')
  for (const arg of use.operands.slice(2))
    if (arg.text?.startsWith('@')) {
      use.found.hazard('option-reads-list', '`7z @file` takes file names from a file', arg.word.span)
      use.found.file(arg.text.slice(1), 'read', arg.word.span)
    }
}

/** `ar rcs lib.a x.o`: the letters say whether the archive is written. */
const ar: Rule = (use) => {
  const archive = use.operands[0]
  if (archive !== undefined && has(use, '-r', '-q', '-d', '-m', '-s')) use.found.path(archive, 'write')
}

/** `zip -TmTT cmd`: two letters in a cluster are one option that runs a command. */
const zip: Rule = (use) => {
  if (mayHave(use, '-m', '--move', '-d', '--delete')) use.setEffect('loss', 'deletes files')
  for (const arg of use.args)
    if (/^-[A-Za-z0-9]*TT/.test(arg.text ?? ''))
      use.found.hazard('option-runs-program', '`zip -TT` runs a command on the archive', arg.word.span)
}

export const archiveRules: Readonly<Record<string, Rule>> = {
  ar,
  zip,
  'tar, bsdtar': tar,
  '7z, 7za, 7zr, 7zz': sevenZip,
}
