/** Known providers and their models. Data, which a profile overrides. */

import type { Usage, WireName } from './conversation.ts'

export interface KnownProvider {
  readonly name: string
  readonly title: string
  readonly wire: WireName
  readonly baseUrl: string
  /** Null: no key. */
  readonly keyVariable: string | null
  /** The suggested model; null if it depends on what is installed. */
  readonly model: string | null
}

export const knownProviders: readonly KnownProvider[] = [
  {
    name: 'anthropic',
    title: 'Anthropic',
    wire: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keyVariable: 'ANTHROPIC_API_KEY',
    model: 'claude-sonnet-4-5',
  },
  {
    name: 'openai',
    title: 'OpenAI',
    wire: 'openai-responses',
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    model: 'gpt-5',
  },
  {
    name: 'gemini',
    title: 'Google Gemini',
    wire: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariable: 'GEMINI_API_KEY',
    model: 'gemini-2.5-pro',
  },
  {
    name: 'openrouter',
    title: 'OpenRouter',
    wire: 'openai-chat',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    model: 'anthropic/claude-sonnet-4.5',
  },
  {
    name: 'ollama',
    title: 'Ollama on this machine',
    wire: 'openai-chat',
    baseUrl: 'http://127.0.0.1:11434/v1',
    keyVariable: null,
    model: null,
  },
]

export function knownProvider(name: string): KnownProvider | null {
  return knownProviders.find((provider) => provider.name === name) ?? null
}

/** Dollars per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

export interface ModelFacts {
  /** Limit of request and answer together. */
  readonly context: number
  readonly price: Price | null
}

type ModelRow = readonly [name: RegExp, context: number, price: Price]

/** Published data; the first matching row counts. */
const MODELS: readonly ModelRow[] = [
  [/claude-opus-4-5/, 200_000, { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }],
  [/claude-(?:opus-4|3-opus)/, 200_000, { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75 }],
  [/claude.*sonnet/, 200_000, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }],
  [/claude.*haiku-4/, 200_000, { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 }],
  [/gpt-5(?:\.\d)?-nano/, 400_000, { input: 0.05, output: 0.4, cacheRead: 0.005 }],
  [/gpt-5(?:\.\d)?-mini/, 400_000, { input: 0.25, output: 2, cacheRead: 0.025 }],
  [/gpt-5/, 400_000, { input: 1.25, output: 10, cacheRead: 0.125 }],
  [/gpt-4\.1/, 1_000_000, { input: 2, output: 8, cacheRead: 0.5 }],
  [/gpt-4o/, 128_000, { input: 2.5, output: 10, cacheRead: 1.25 }],
  [/gemini-2\.5-flash/, 1_048_576, { input: 0.3, output: 2.5, cacheRead: 0.075 }],
  [/gemini-2\.5-pro/, 1_048_576, { input: 1.25, output: 10, cacheRead: 0.31 }],
]

const UNKNOWN_CONTEXT = 128_000

/** Facts about a model; without a price its cost is unknown. */
export function modelFacts(model: string): ModelFacts {
  const row = MODELS.find(([name]) => name.test(model))
  return row ? { context: row[1], price: row[2] } : { context: UNKNOWN_CONTEXT, price: null }
}

/** The cost of an answer in dollars; null without a price. */
export function costOf(usage: Usage, price: Price | null): number | null {
  if (price === null) return null
  const { input, output, cacheRead = input, cacheWrite = input } = price
  const parts = [usage.input * input, usage.output * output, usage.cacheRead * cacheRead, usage.cacheWrite * cacheWrite]
  return parts.reduce((sum, part) => sum + part, 0) / 1_000_000
}
