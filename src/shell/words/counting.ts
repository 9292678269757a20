/** Substitutions that print a number or nothing, so that arithmetic may read what they leave: `$(grep x f | wc -l)`. */

import type { Command, ParsedScript, Redirection } from 'unbash'
import type { Scope } from './scope.ts'

/** What the arguments must be for the output to be one number. */
const COUNTS: Readonly<Record<string, RegExp>> = {
  wc: /^(?:-[lcwmL]|--lines|--words|--chars|--bytes)$/,
  grep: /^-[iEFvwxh]*c[iEFvwxh]* [^-\s][^\n]*$/,
  date: /^(?:-u )?\+%[sYmdHMSNj]+$/,
  nproc: /^(?:--all)?$/,
  id: /^-[ug]$/,
  stat: /^(?:-c ?|--format=)%[sYXZ] [^-\s]\S*$/,
  pgrep: /^-[fx]*c[fx]* [^-\s]\S*$/,
}

/** True when the script certainly prints a number or nothing; what its commands run is judged on its own. */
export function printsNumber(script: ParsedScript | undefined, scope: Scope): boolean {
  const [statement, more] = script?.commands ?? []
  if (statement === undefined || more !== undefined || statement.background === true) return false
  const command = statement.command
  if (command.type !== 'Pipeline') return command.type === 'Command' && isCount(command, scope)
  const last = command.commands.at(-1)
  const plain = command.prefixes.length === 0 && !command.operators.includes('|&')
  return plain && last?.type === 'Command' && isCount(last, scope)
}

/** True for `mktemp` as it is: what it prints lies in the sandbox's own temporary directory. */
export function printsTemporary(script: ParsedScript | undefined, scope: Scope): boolean {
  const [statement, more] = script?.commands ?? []
  const node = statement?.command
  if (node?.type !== 'Command' || more !== undefined || node.name?.text !== 'mktemp') return false
  if (scope.functions.has('mktemp') || node.prefix.length > 0 || !node.redirects.every(keepsOutput)) return false
  if (scope.get('TMPDIR').values?.join() !== '/tmp') return false
  const words = node.args.map((word) => (/[$`{*?[\\]/.test(word.text) ? '?' : plainText(word.text)))
  return (
    words.every(
      (word) => /^(?:-[dqu]+|--directory|--quiet|-t|\/tmp\/[\w.-]+)$/.test(word) || /^[\w-]+\.?X{3,}$/.test(word),
    ) && words.every((word, index) => /^[-/]/.test(word) || words[index - 1] === '-t')
  )
}

function isCount(node: Command, scope: Scope): boolean {
  const name = node.name?.text ?? ''
  const pattern = Object.hasOwn(COUNTS, name) ? COUNTS[name] : undefined
  if (pattern === undefined || scope.functions.has(name) || node.prefix.length > 0) return false
  if (!node.redirects.every(keepsOutput)) return false
  const words = node.args.map((word) => (/[$`{*?[\\]/.test(word.text) ? null : plainText(word.text)))
  const operands = words.filter((word) => word !== null && !word.startsWith('-'))
  // A second file makes grep print names.
  return !words.includes(null) && pattern.test(words.join(' ')) && (name !== 'grep' || operands.length <= 2)
}

function plainText(text: string): string {
  return text.replace(/^(['"])(.*)\1$/s, '$2')
}

/** Input, and errors that are thrown away: an error that is merged would bring in the names of files. */
function keepsOutput(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect') return true
  if (redirect.operator === '<') return true
  const { descriptor, operator, target } = redirect
  return (
    operator === '>' && descriptor?.type === 'FileDescriptor' && descriptor.value === 2 && target?.text === '/dev/null'
  )
}
