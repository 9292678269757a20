/** Redirects: the files they open, and the standard input of the command. */

import type { HereDoc, Redirect, Redirection } from 'unbash'
import type { RedirectFact, Span, Word } from '../facts.ts'
import { UnreadableText } from '../read/unreadable-text.ts'
import { plainWord, unknownWord } from '../words/pieces.ts'
import { INTEGER } from '../words/scope.ts'
import { arithmeticDoubt, expandArguments, expandBody, expandSingle, type WordHost } from '../words/word.ts'

/** The input of a command: text of the command line, unknown, or the input of the shell. */
export type Stdin =
  | {
      readonly kind: 'none' | 'unknown'
      /** Its most likely text (`echo 'text' |`), for guesses alone. */
      readonly likely?: string | null
    }
  | { readonly kind: 'known'; readonly text: string }

const ACCESS: Readonly<Record<string, RedirectFact['access']>> = {
  '>': 'write',
  '>>': 'write',
  '>|': 'write',
  '&>': 'write',
  '&>>': 'write',
  '>&': 'write',
  '<': 'read',
  '<&': 'read',
  '<>': 'read-write',
}

/** Files that are streams in all but name. */
const STREAMS = new Set([
  '/dev/null',
  '/dev/stdout',
  '/dev/stderr',
  '/dev/stdin',
  '/dev/fd/1',
  '/dev/fd/2',
  '/dev/fd/0',
])

/** The result of the redirects of one command. */
export interface Redirects {
  readonly facts: readonly RedirectFact[]
  /** The resulting standard input; null: unchanged. */
  readonly stdin: Stdin | null
  /** True if they cannot fail. After a failure nothing runs, and the shell keeps its state. */
  readonly certain: boolean
}

/** Expands all redirects of one command. */
export function expandRedirects(redirects: readonly Redirection[], host: WordHost): Redirects {
  const facts: RedirectFact[] = []
  let stdin: Stdin | null = null
  let certain = true
  for (const redirect of redirects) {
    const descriptor = redirect.descriptor
    if (descriptor?.type === 'FileDescriptorVariable') {
      const span = host.span(descriptor)
      if (!/^\w+$/.test(descriptor.name)) host.hazard(arithmeticDoubt(descriptor.name, span))
      host.scope.set(descriptor.name.replace(/\[.*/s, ''), INTEGER)
      host.assigned(descriptor.name.replace(/\[.*/s, ''), span)
    }
    const input = descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0)
    if (redirect.type === 'Redirect') {
      const fact = fileRedirect(redirect, host)
      facts.push(fact)
      const standard = fact.target === null && /^(?:[012]|-)$/.test(redirect.target?.text ?? '')
      if (!standard && (fact.kind === 'file' || fact.target === null)) certain = false
      if (input && redirect.operator.startsWith('<')) stdin = { kind: 'unknown' }
      continue
    }
    const word = redirect.type === 'HereDoc' ? hereDocument(redirect, host) : hereString(redirect, host)
    facts.push(stream(redirect.operator, host.scope.cwd, host.span(redirect)))
    const text = word.values?.length === 1 ? word.values[0] : undefined
    if (input) stdin = text === undefined ? { kind: 'unknown' } : { kind: 'known', text }
  }
  return { facts, stdin, certain }
}

function stream(operator: string, cwd: string | null, span: Span): RedirectFact {
  return { operator, target: null, access: null, kind: 'stream', cwd, span }
}

function hereDocument(node: HereDoc, host: WordHost): Word {
  const span = host.span(node)
  const strip = (text: string): string => (node.operator === '<<-' ? text.replace(/^\t+/gm, '') : text)
  if (node.delimiter?.quoted === true) return plainWord(strip(node.body.text), span)
  const word = expandBody(node.body.parts, node.body.text, host, span)
  if (word.values?.length !== 1) return word
  const text = strip(word.values[0] ?? '')
  return { ...word, values: [text], text }
}

function hereString(node: Extract<Redirection, { type: 'HereString' }>, host: WordHost): Word {
  if (node.target === undefined) return unknownWord('<<<', 'variable', host.span(node), false)
  return expandSingle(node.target, host)
}

function fileRedirect(node: Redirect, host: WordHost): RedirectFact {
  const span = host.span(node)
  const cwd = host.scope.cwd
  const target = targetOf(node, host, span)
  const duplicates = node.operator === '>&' || node.operator === '<&'
  if (duplicates && target.values?.every((value) => /^(?:\d+-?|-)$/.test(value)) === true) {
    return stream(node.operator, cwd, span)
  }
  if (node.operator === '>&') expandedAgain(target, host)
  const isStream = target.values?.every((value) => STREAMS.has(value)) === true
  if (target.values === null ? /^\/dev\/(?:tcp|udp)/.test(target.prefix) : target.values.some(isNetworkDevice)) {
    host.hazard({
      code: 'network-device',
      message: `\`${target.text}\` is a network connection, not a file`,
      verdict: 'deny',
      span,
    })
  }
  return {
    operator: node.operator,
    target,
    access: ACCESS[node.operator] ?? 'read-write',
    kind: isStream ? 'stream' : 'file',
    cwd,
    span,
  }
}

/** Bash before 5.3 expands the file of `>& file` twice: in `>& '$(rm q)'` the command runs. */
function expandedAgain({ values, text, span }: Word, host: WordHost): void {
  if (values === null) {
    const message = `\`>& ${text}\` is expanded twice, so that a command in its value would run`
    host.hazard({ code: 'transform', message, verdict: 'ask', span })
  } else if (values.some((value) => /[$`~*?[\\'"{]/.test(value))) {
    throw new UnreadableText(
      'unsupported-syntax',
      'bash expands the file of `>&` twice; write `> file 2>&1`',
      span.start,
    )
  }
}

function isNetworkDevice(path: string): boolean {
  return /^\/+dev\/+(?:tcp|udp)\//.test(path)
}

function targetOf(node: Redirect, host: WordHost, span: Span): Word {
  if (node.target === undefined) return unknownWord(node.operator, 'variable', span, true)
  const words = expandArguments(node.target, host)
  const only = words.length === 1 ? words[0] : undefined
  return only ?? unknownWord(node.target.text, 'variable', host.span(node.target), true)
}
