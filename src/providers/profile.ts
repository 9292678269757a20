/** Profiles of providers, read from the user's configuration and never from a project. */

import { Fault } from '../system/fault.ts'
import { isRecord, recordOf } from '../system/json.ts'
import { type KnownProvider, knownProvider, knownProviders, modelFacts, type Price } from './catalog.ts'
import type { WireName } from './conversation.ts'

export interface Profile {
  readonly name: string
  readonly wire: WireName
  readonly baseUrl: string
  /** Null if unset. */
  readonly model: string | null
  /** With unexpanded `${ENV_VAR}`. */
  readonly headers: Readonly<Record<string, string>>
  /** Provider-specific fields. */
  readonly extra: Readonly<Record<string, unknown>>
  readonly maxTokens: number
  /** `max_tokens` is set explicitly. */
  readonly capped: boolean
  readonly context: number
  readonly price: Price | null
  /** Key names to try, in order. */
  readonly keyNames: readonly string[]
  /** The fallback variable for the key. */
  readonly keyVariable: string | null
  readonly needsKey: boolean
}

/** Commands, each a call of the session by its rules. */
export interface ChatHooks {
  /** Before a message: their output goes with it. */
  readonly message: readonly string[]
  /** After an answer: what fails goes back to the model once. */
  readonly end: readonly string[]
}

export interface ChatConfig {
  /** The default profile. */
  readonly profile: string | null
  readonly profiles: ReadonlyMap<string, Profile>
  /** The `websearch` endpoint. */
  readonly searchUrl: string | null
  /** Commands of the person around each turn; a project has none. */
  readonly hooks: ChatHooks
  /** The original values. */
  readonly written: Readonly<Record<string, unknown>>
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/
const WIRES: readonly WireName[] = ['anthropic', 'openai-chat', 'openai-responses', 'gemini']
const MAX_TOKENS = 16_384

/** Parses a configuration. Every problem names its place. */
export function parseConfig(value: unknown, file: string): ChatConfig {
  const bad = (what: string): Fault =>
    new Fault('bad-config', `${file}: ${what}`, { remedy: 'docs/guides/chat.md shows its fields.' })
  if (!isRecord(value)) throw bad('it is not a JSON object')
  const known = ['provider', 'model', 'endpoint', 'profile', 'profiles', 'search', 'hooks']
  const odd = Object.keys(value).find((name) => !known.includes(name))
  if (odd !== undefined) throw bad(`there is no setting "${odd}"; it takes ${known.join(', ')}`)
  const profiles = new Map<string, Profile>()
  const { provider, endpoint, profiles: written = {}, search } = value
  if (!isRecord(written)) throw bad('"profiles" is not a table')
  for (const [name, entry] of Object.entries(written)) {
    if (!NAME.test(name)) throw bad(`profile ${JSON.stringify(name)}: small letters, digits, dots and dashes`)
    profiles.set(
      name,
      profileOf(name, entry, (what) => bad(`profile "${name}": ${what}`), false),
    )
  }
  if (provider !== undefined) {
    if (typeof provider !== 'string' || !NAME.test(provider)) throw bad('"provider" is not a name')
    const entry = { provider, ...(value.model !== undefined && { model: value.model }) }
    const whole = endpoint === undefined ? entry : { ...entry, base_url: endpoint }
    if (!profiles.has(provider)) profiles.set(provider, profileOf(provider, whole, bad, true))
  }
  for (const one of knownProviders) if (!profiles.has(one.name)) profiles.set(one.name, fromCatalog(one))
  const chosen = value.profile ?? provider ?? null
  if (chosen !== null && (typeof chosen !== 'string' || !profiles.has(chosen))) {
    throw bad(`there is no profile ${JSON.stringify(chosen)}; there are ${[...profiles.keys()].join(', ')}`)
  }
  const { url: searchUrl = null } = recordOf(search)
  if (searchUrl !== null && (typeof searchUrl !== 'string' || !/^https?:\/\//.test(searchUrl))) {
    throw bad('"search.url" is not an http or https URL')
  }
  return { profile: chosen, profiles, searchUrl, hooks: hooksOf(value.hooks, bad), written: value }
}

function hooksOf(value: unknown = {}, bad: (what: string) => Fault): ChatHooks {
  const isList = (list: unknown): list is readonly string[] =>
    Array.isArray(list) && list.every((command) => typeof command === 'string' && command.trim() !== '')
  const { message = [], end = [], ...others } = isRecord(value) ? value : { others: value }
  if (Object.keys(others).length > 0 || !isList(message) || !isList(end))
    throw bad('"hooks" takes the lists of commands "message" and "end"')
  return { message, end }
}

export function emptyConfig(): ChatConfig {
  return parseConfig({}, 'config.json')
}

function fromCatalog(provider: KnownProvider): Profile {
  return profileOf(provider.name, { provider: provider.name }, () => new Fault('bad-config', provider.name), false)
}

const KEYS = ['provider', 'wire', 'base_url', 'model', 'headers', 'body', 'max_tokens', 'context', 'price', 'key_env']

function profileOf(name: string, entry: unknown, bad: (what: string) => Fault, top: boolean): Profile {
  if (!isRecord(entry)) throw bad('it is not a table')
  const odd = Object.keys(entry).find((key) => !KEYS.includes(key))
  if (odd !== undefined) throw bad(`there is no setting "${odd}"; it takes ${KEYS.join(', ')}`)
  const text = (key: string): string | null => {
    const value = entry[key]
    if (value === undefined) return null
    if (typeof value !== 'string' || value === '') throw bad(`"${key}" is not a text`)
    return value
  }
  const count = (key: string, otherwise: number): number => {
    const value = entry[key] ?? otherwise
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) throw bad(`"${key}" is not a whole number`)
    return value
  }
  const base = knownProvider(text('provider') ?? name)
  const baseUrl = text('base_url') ?? base?.baseUrl
  if (baseUrl === undefined) throw bad('it needs "base_url", or a "provider" that Cordon knows')
  if (!/^https?:\/\/[^/]/.test(baseUrl)) throw bad('"base_url" is not an http or https URL')
  const wire = (text('wire') ?? base?.wire ?? 'openai-chat') as WireName
  if (!WIRES.includes(wire)) throw bad(`"wire" is one of ${WIRES.join(', ')}`)
  const headers = entry.headers ?? {}
  if (!isRecord(headers) || !Object.entries(headers).every(([key, value]) => isHeader(key, value))) {
    throw bad('"headers" is not a table of header texts')
  }
  const extra = entry.body ?? {}
  if (!isRecord(extra)) throw bad('"body" is not a table')
  const model = text('model') ?? base?.model ?? null
  const facts = modelFacts(model ?? '')
  // A key only goes where it was stored for: another endpoint has its own keys.
  const usual = base !== null && baseUrl === base.baseUrl
  return {
    name,
    wire,
    baseUrl,
    model,
    headers: headers as Readonly<Record<string, string>>,
    extra,
    maxTokens: count('max_tokens', MAX_TOKENS),
    capped: entry.max_tokens !== undefined,
    context: count('context', facts.context),
    price: entry.price === undefined ? facts.price : priceOf(entry.price, bad),
    keyNames: [
      ...new Set([
        `api-key.profiles.${name}`,
        `api-key.${name}`,
        ...(usual ? [`api-key.${base.name}`] : []),
        ...(top ? ['api-key'] : []),
      ]),
    ],
    keyVariable: text('key_env') ?? (usual ? base.keyVariable : null),
    needsKey: usual ? base.keyVariable !== null : entry.key_env !== undefined,
  }
}

function isHeader(name: string, value: unknown): boolean {
  return /^[A-Za-z0-9-]+$/.test(name) && typeof value === 'string' && !/[\r\n\0]/.test(value)
}

function priceOf(value: unknown, bad: (what: string) => Fault): Price {
  const found = recordOf(value)
  const wrong = ['input', 'output'].some((key) => typeof found[key] !== 'number')
  if (wrong || !Object.values(found).every((one) => typeof one === 'number' && one >= 0)) {
    throw bad('"price" is {"input": DOLLARS, "output": DOLLARS} for a million tokens')
  }
  return found as unknown as Price
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** Expands variables in headers. An unset one is a fault. */
export function expandHeaders(
  { name, headers }: Profile,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const expand = (value: string): string =>
    value.replace(VARIABLE, (_, variable: string) => {
      const found = env[variable]
      if (found === undefined || found === '' || /[\r\n\0]/.test(found)) {
        throw new Fault('bad-config', `profile "${name}" needs the variable ${variable} for its headers`, {
          remedy: `Set ${variable}, or remove the header from the profile.`,
        })
      }
      return found
    })
  return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), expand(value)]))
}

/** The values of variables in a profile's headers. */
export function variablesOf(
  { headers }: Profile,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const named = Object.values(headers).flatMap((value) => [...value.matchAll(VARIABLE)].map(([, name]) => env[name!]))
  return named.filter((value): value is string => value !== undefined && value !== '')
}
