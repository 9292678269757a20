/**
 * Decides operations under a Seatbelt profile, as far as this project writes them: a strict parser of that part of the
 * language, which refuses everything it does not know, and two readings of which rule wins.
 */

import { posix } from 'node:path'

/** A symbol, a string, a regular expression, or a list of these. */
type Form = { readonly symbol: string } | { readonly text: string } | { readonly regex: string } | readonly Form[]

/** What is asked of the sandbox. */
export interface Question {
  readonly operation: string
  readonly path?: string
  /** The far end, `localhost:3128` or another address. */
  readonly remote?: string
  /** The near end of a bind. */
  readonly local?: string
  readonly service?: string
  readonly target?: 'self' | 'same-sandbox' | 'others'
}

/**
 * `last`: the last rule that matches wins. `specific`: a denial with a filter beats every allow; else the last
 * one that matches. The platform was seen to do either, so a profile is good only if both agree.
 */
export type Reading = 'last' | 'specific'

interface Rule {
  readonly verb: 'allow' | 'deny'
  readonly operations: readonly string[]
  readonly filters: readonly Filter[]
}

type Filter = (question: Question) => boolean

const OPERATIONS: ReadonlySet<string> = new Set(
  (
    'default process-fork process-exec process-info* signal sysctl-read mach-lookup nvram* iokit-get-properties file-map-executable ' +
    'file-read* file-read-metadata file-write* file-write-data file-write-unlink file-ioctl network-outbound network-bind network-inbound'
  ).split(' '),
)

/** Operations that `(deny default)` does not reach. */
const OUTSIDE_DEFAULT = /^(?:process-info|nvram|iokit-get-properties$|file-map-executable$)/

export interface Profile {
  decide(question: Question, reading: Reading): 'allow' | 'deny'
  readonly rules: readonly Rule[]
}

/** Reads a profile; throws at whatever it does not know. */
export function readProfile(text: string): Profile {
  const forms = parse(text)
  const [version, ...rest] = forms
  if (JSON.stringify(version) !== '[{"symbol":"version"},{"symbol":"1"}]') throw new Error('no (version 1)')
  const rules = rest.map(ruleOf)
  const [first] = rules
  if (first?.verb !== 'deny' || first.operations[0] !== 'default')
    throw new Error('the first rule is not (deny default)')
  return { rules, decide: (question, reading) => decide(rules, question, reading) }
}

function decide(rules: readonly Rule[], question: Question, reading: Reading): 'allow' | 'deny' {
  const matching = rules.filter((rule) => matches(rule, question))
  if (reading === 'specific' && matching.some(({ verb, filters }) => verb === 'deny' && filters.length > 0))
    return 'deny'
  // What nothing denies is allowed outside the default.
  return matching.at(-1)?.verb ?? (OUTSIDE_DEFAULT.test(question.operation) ? 'allow' : 'deny')
}

function matches({ operations, filters }: Rule, question: Question): boolean {
  const named = operations.some((name) => {
    if (name === 'default') return !OUTSIDE_DEFAULT.test(question.operation)
    return name.endsWith('*') ? question.operation.startsWith(name.slice(0, -1)) : name === question.operation
  })
  return named && (filters.length === 0 || filters.some((filter) => filter(question)))
}

function ruleOf(form: Form): Rule {
  const [verb, ...rest] = listOf(form)
  const word = symbolOf(verb)
  if (word !== 'allow' && word !== 'deny') throw new Error(`unknown rule ${JSON.stringify(form)}`)
  const operations: string[] = []
  const filters: Filter[] = []
  for (const part of rest) {
    const operation = symbolOf(part)
    if (word === 'deny' && isMark(part)) continue
    if (operation === null) filters.push(filterOf(part))
    else if (filters.length > 0) throw new Error(`an operation behind a filter: ${operation}`)
    else if (!OPERATIONS.has(operation)) throw new Error(`unknown operation ${operation}`)
    else operations.push(operation)
  }
  if (operations.length === 0) throw new Error('a rule without operations')
  return { verb: word, operations, filters }
}

/** What the kernel adds to its log of a denial; it decides nothing. */
function isMark(form: Form): boolean {
  return /^\[\{"symbol":"with"\},\{"symbol":"message"\},\{"text":"cordon-[0-9a-f]{24}"\}\]$/.test(JSON.stringify(form))
}

function filterOf(form: Form): Filter {
  const [head, ...rest] = listOf(form)
  const name = symbolOf(head)
  const text = () => textOf(rest, name)
  switch (name) {
    case 'literal': {
      const path = absolute(text())
      return (question) => question.path === path
    }
    case 'subpath': {
      const path = absolute(text())
      return ({ path: asked }) =>
        asked !== undefined && (path === '/' || asked === path || asked.startsWith(`${path}/`))
    }
    case 'regex': {
      const [pattern] = rest
      if (rest.length !== 1 || pattern === undefined || !('regex' in pattern))
        throw new Error('a regex without its pattern')
      if (!pattern.regex.startsWith('^') || !pattern.regex.endsWith('$'))
        throw new Error('a regex that is open at an end')
      const compiled = new RegExp(pattern.regex)
      return ({ path }) => path !== undefined && compiled.test(path)
    }
    case 'global-name': {
      const service = text()
      return (question) => question.service === service
    }
    case 'remote':
    case 'local': {
      const [kind, end] = rest
      if (rest.length !== 2 || symbolOf(kind) !== 'ip') throw new Error(`unknown ${name} filter`)
      const address = textOf([end!], name)
      if (!/^localhost:[0-9]{1,5}$/.test(address)) throw new Error(`an address beyond loopback: ${address}`)
      return (question) => (name === 'remote' ? question.remote : question.local) === address
    }
    case 'target': {
      if (rest.length !== 1 || symbolOf(rest[0]) !== 'same-sandbox') throw new Error('an unknown target')
      return ({ target }) => target === 'self' || target === 'same-sandbox'
    }
    case 'require-all': {
      const parts = rest.map(filterOf)
      if (parts.length < 2) throw new Error('require-all of less than two')
      return (question) => parts.every((part) => part(question))
    }
    case 'require-not': {
      if (rest.length !== 1) throw new Error('require-not of more than one')
      const part = filterOf(rest[0]!)
      return (question) => !part(question)
    }
    default:
      throw new Error(`unknown filter ${JSON.stringify(form)}`)
  }
}

function absolute(path: string): string {
  if (path !== posix.normalize(path) || !path.startsWith('/') || (path !== '/' && path.endsWith('/')))
    throw new Error(`a path that is not canonical: ${path}`)
  return path
}

function listOf(form: Form | undefined): readonly Form[] {
  if (!Array.isArray(form)) throw new Error(`expected a list: ${JSON.stringify(form)}`)
  return form
}

function symbolOf(form: Form | undefined): string | null {
  return form !== undefined && 'symbol' in form ? form.symbol : null
}

function textOf(rest: readonly Form[], name: string | null): string {
  const [only] = rest
  if (rest.length !== 1 || only === undefined || !('text' in only)) throw new Error(`${name} takes one string`)
  return only.text
}

const TOKEN = /\s+|([()])|#"((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\["\\])*)"|([A-Za-z0-9*-]+)/y

function parse(text: string): readonly Form[] {
  const stack: Form[][] = [[]]
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex
    const token = TOKEN.exec(text)
    if (token === null) throw new Error(`unreadable at ${at}: ${JSON.stringify(text.slice(at, at + 30))}`)
    const [, bracket, regex, quoted, symbol] = token
    if (bracket === '(') stack.push([])
    else if (bracket === ')') {
      const done = stack.pop()!
      if (stack.length === 0) throw new Error('a bracket that closes nothing')
      stack.at(-1)!.push(done)
    } else if (regex !== undefined) stack.at(-1)!.push({ regex })
    else if (quoted !== undefined) stack.at(-1)!.push({ text: quoted.replace(/\\(["\\])/g, '$1') })
    else if (symbol !== undefined) stack.at(-1)!.push({ symbol })
  }
  if (stack.length !== 1) throw new Error('a bracket that is never closed')
  return stack[0]!
}
