/**
 * Secrets in a question, masked character by character so that all others keep their position (A2,
 * P12). The agent writes the question, so only data is ever masked: never a quote, an operator, a
 * host, a path or the end of a line. Masks are counted.
 */

import { wordSecrets } from '../scan/redact/option-secrets.ts'
import { createRedactor, type SecretSpan } from '../scan/redact/redact.ts'
import { isFormatKind } from '../scan/redact/secret-kinds.ts'
import { gradeKey, looksRandom } from '../scan/redact/sensitive-keys.ts'
import type { CommandFact, ShellFacts, Span, Word } from '../shell/facts.ts'

/** Masks the texts of one question, and counts what it masked. */
export class QuestionMask {
  readonly #values = new Set<string>()

  /** How many values are masked so far. */
  get count(): number {
    return this.#values.size
  }

  /** A text that programs read: a command that was parsed, or anything else. */
  text(text: string, facts: ShellFacts | null = null): string {
    const spans = facts?.source === text ? commandSpans(facts) : textSpans(text)
    for (const { start, end } of spans) this.#values.add(text.slice(start, end))
    return covered(text, spans)
  }

  /** A sentence about such texts: masked like them. */
  sentence(text: string): string {
    let shown = covered(text, textSpans(text))
    for (const value of [...this.#values].toSorted((one, other) => other.length - one.length)) {
      if (value.length >= LEAST_REPEATED) shown = shown.replaceAll(value, '•'.repeat(value.length))
    }
    return shown
  }
}

/** A shorter value could be part of any word. */
const LEAST_REPEATED = 4

function covered(text: string, spans: readonly Span[]): string {
  let shown = text
  for (const { start, end } of spans) shown = `${shown.slice(0, start)}${'•'.repeat(end - start)}${shown.slice(end)}`
  return shown
}

/** Data runs; everything else stays visible. */
const RUN = /[A-Za-z0-9_+=~%!-]+/g
/** A plain value of a program may contain a little more. */
const VALUE_RUN = /[A-Za-z0-9_+=~%!.,:@#^*?-]+/g

/** The spans of an unparsed text: known formats, random-looking runs, and key blocks. */
function textSpans(text: string): readonly Span[] {
  return createRedactor()
    .find(text)
    .flatMap((span) => dataSpans(text, span))
    .filter((span) => !isAuthority(text, span))
}

function dataSpans(text: string, { start, end, kind }: SecretSpan): Span[] {
  // Anybody can write the words by which another kind is found: its value is masked only where it looks like chance.
  const isKnown = isFormatKind(kind)
  return runsIn(text, start, end, RUN).filter(
    (run) =>
      (isKnown && run.start === start) ||
      looksRandom(text.slice(run.start, run.end)) ||
      (kind === 'private-key' && run.end - run.start >= LEAST_OF_KEY),
  )
}

/** No word is as long, so what lies between the ends of a key, or only behind its beginning, is part of one. */
const LEAST_OF_KEY = 32

function runsIn(text: string, start: number, end: number, pattern: RegExp): Span[] {
  return [...text.slice(start, end).matchAll(pattern)].map(({ 0: run, index }) => ({
    start: start + index,
    end: start + index + run.length,
  }))
}

/** Whether it lies in the position of a host name: `https://HOST/`. */
function isAuthority(text: string, span: Span): boolean {
  const near = { start: Math.max(0, span.start - 300), end: span.end + 300 }
  const before = text.slice(near.start, span.start)
  return /[a-z]:\/\/[^\s/?#"'`]*$/i.test(before) && !isUserInfo(text, near, span)
}

/**
 * The spans of a parsed command: each inside one word that bash passes unchanged, and that names no
 * file, host or program.
 */
function commandSpans(facts: ShellFacts): readonly Span[] {
  const { source } = facts
  // The words of a text that another shell runs (`sh -c '…'`) all have the position of that text.
  const inner = facts.commands.filter(
    ({ argv, span }) => argv.length > 1 && argv.every((word) => isSame(word.span, span)),
  )
  const outer = facts.commands.filter((command) => !inner.includes(command))
  const found = outer.flatMap(({ argv, assignments }): Span[] => {
    const options = wordSecrets(
      argv.map((word) => (isLiteral(word) ? word.text : '')),
      isSecretKey,
    )
    const words = [...argv.slice(1), ...assignments.flatMap(({ value, span }) => (value ? [{ ...value, span }] : []))]
    return [
      ...words.filter(isLiteral).flatMap((word) => wordSpans(source, word)),
      ...options.flatMap(({ index, start }) => valueSpans(source, argv[index]!, start)),
    ]
  })
  const names = [
    ...facts.redirects.map(({ span }) => span),
    ...outer.flatMap(({ argv, paths, redirects }) =>
      [...argv.slice(0, 1), ...paths, ...redirects].map(({ span }) => span),
    ),
  ]
  const hosts = outer.flatMap((command) => command.hosts.map(({ span }) => span))
  const isData = (span: Span): boolean =>
    !names.some((name) => overlap(name, span)) &&
    !hosts.some((host) => overlap(host, span) && !isUserInfo(source, host, span) && !isQuery(source, host, span)) &&
    !facts.commands.some((command) => isNamed(command, source.slice(span.start, span.end)))
  return merged(found.filter(isData))
}

/** Whether a text is a program, file or host of a command. */
function isNamed({ argv, paths, hosts, redirects }: CommandFact, text: string): boolean {
  const targets = redirects.map(({ target }) => target?.text ?? '')
  const names = [argv[0]?.text ?? '', ...paths.map(({ path }) => path ?? ''), ...targets]
  const places = hosts.map(({ url }) => url.replace(/^[a-z+]+:\/\/(?:[^@/?#\\]*@)?/i, '').split('?')[0]!)
  return [...names, ...places].some((name) => name.includes(text))
}

function isSecretKey(key: string): boolean {
  return ['password', 'token'].includes(gradeKey(key, '') ?? '')
}

function isLiteral(word: Word): boolean {
  return word.values?.length === 1 && word.dynamic.length === 0
}

/** Secrets by their form inside one word. */
function wordSpans(source: string, word: Word): Span[] {
  const given = source.slice(word.span.start, word.span.end)
  return createRedactor()
    .find(given)
    .flatMap((span) =>
      span.kind === 'url-password' ? runsIn(given, span.start, span.end, VALUE_RUN) : dataSpans(given, span),
    )
    .map(({ start, end }) => ({ start: word.span.start + start, end: word.span.start + end }))
}

/** The value of an option that takes a secret, if the word contains it in one piece. */
function valueSpans(source: string, word: Word, from: number): Span[] {
  const value = word.text.slice(from)
  const at = source.slice(word.span.start, word.span.end).lastIndexOf(value)
  if (at < 0 || value === '') return []
  const start = word.span.start + at
  return runsIn(source, start, start + value.length, VALUE_RUN)
}

/** Between the scheme and the `@` of a URL, as every reader of URLs sees it. */
function isUserInfo(source: string, host: Span, { start, end }: Span): boolean {
  const before = source.slice(host.start, start)
  const after = source.slice(end, host.end)
  return /:\/\/[^/?#\\@\s]*:[^/?#\\@\s]*$/.test(before) && /^[^/?#\\\s]*@/.test(after)
}

function isQuery(source: string, host: Span, { start }: Span): boolean {
  return /:\/\/[^?#]*\?[^#]*$/.test(source.slice(host.start, start))
}

function overlap(one: Span, other: Span): boolean {
  return one.start < other.end && other.start < one.end
}

function isSame(one: Span, other: Span): boolean {
  return one.start === other.start && one.end === other.end
}

function merged(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = []
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = all.at(-1)
    if (last && span.start < last.end) all[all.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
    else all.push(span)
  }
  return all
}
