/** A model: a profile with its key, behind Cordon's egress rules. */

import { join } from 'node:path'
import { postStreaming } from '../egress/own-request.ts'
import type { Upstream } from '../egress/route/upstream.ts'
import { classifyAddress } from '../hosts/address.ts'
import { classifyName } from '../hosts/judge.ts'
import { parseHostPattern } from '../hosts/pattern.ts'
import { parseUrl, type UrlFacts } from '../hosts/url.ts'
import type { HostRule, Policy } from '../policy/policy.ts'
import { askModel, listModels, type Transport } from '../providers/ask-model.ts'
import { costOf, modelFacts, type Price } from '../providers/catalog.ts'
import { type ModelRequest, type ProviderEvent, ProviderFault, type Usage } from '../providers/conversation.ts'
import { expandHeaders, type Profile, variablesOf } from '../providers/profile.ts'
import { wires } from '../providers/wires/wires.ts'
import { createRedactor, type Redactor } from '../scan/redact/redact.ts'
import type { Resolver } from '../system/dns.ts'
import { Fault } from '../system/fault.ts'
import type { Machine } from '../system/machine.ts'
import { writeMade } from '../system/made-file.ts'
import { makeDirectories } from '../system/state.ts'

export interface Model {
  readonly profile: string
  readonly name: string
  /** Limit of request and answer together. */
  readonly context: number
  readonly maxTokens: number
  ask(
    request: Omit<ModelRequest, 'model' | 'maxTokens' | 'extra'>,
    asking: ModelCallOptions,
  ): AsyncGenerator<ProviderEvent>
  /** Null if the price is unknown. */
  cost(usage: Usage): number | null
}

export interface OpenedModel extends Model {
  /** The names of the endpoint's models. */
  list(signal: AbortSignal): Promise<readonly string[]>
}

export interface ModelCallOptions {
  readonly signal: AbortSignal
  readonly onRetry?: (problem: ProviderFault, waitMs: number) => void
}

export interface ModelParts {
  readonly profile: Profile
  /** Replaces the profile's own. */
  readonly model?: string
  readonly key: string | null
  readonly machine: Machine
  /** The policy at the time of a request. */
  readonly policy: () => Policy
  readonly resolver: Resolver
  readonly upstream: Upstream
  /** A directory for payload dumps (A6), or null. */
  readonly dumps: string | null
}

/** Throws a Fault if the profile has no model or an invalid endpoint. */
export function openModel(parts: ModelParts): OpenedModel {
  const { profile, key, machine } = parts
  const name = parts.model ?? profile.model
  if (name === null) {
    throw new Fault('no-provider', `the profile "${profile.name}" names no model`, {
      remedy: 'Name one: cordon chat --model NAME, or /model NAME.',
    })
  }
  const headers = expandHeaders(profile, machine.env)
  const secrets = [...(key === null ? [] : [key]), ...Object.values(headers)].filter((value) => value.length > 6)
  const redactor = createRedactor(secrets)
  const kept = [...(key === null ? [] : [key]), ...variablesOf(profile, machine.env)]
  const facts = parts.model === undefined || parts.model === profile.model ? profile : modelFacts(name)
  const endpoint = { wire: wires[profile.wire], baseUrl: profile.baseUrl, key, headers }
  const transport = guardedTransport(parts, redactor, kept)
  return {
    profile: profile.name,
    name,
    context: facts.context,
    maxTokens: profile.maxTokens,
    list: (signal) => listModels(endpoint, { transport, signal }),
    cost: (usage) => costOf(usage, facts.price as Price | null),
    ask: (request, { signal, onRetry }) =>
      redacted(
        askModel(
          endpoint,
          {
            ...request,
            model: name,
            maxTokens: profile.maxTokens,
            capped: profile.capped,
            extra: profile.extra,
          },
          {
            transport,
            signal,
            sleep,
            random: Math.random,
            now: Date.now,
            ...(onRetry && { onRetry }),
            ...(parts.dumps !== null && { onPayload: dumper(parts.dumps, redactor) }),
          },
        ),
        redactor,
      ),
  }
}

/** A provider's error must not show a key. */
async function* redacted(events: AsyncGenerator<ProviderEvent>, redactor: Redactor): AsyncGenerator<ProviderEvent> {
  try {
    yield* events
  } catch (error) {
    if (error instanceof Error) error.message = redactor.redact(error.message)
    throw error
  }
}

/** Only the configured host is open; denials and closed addresses still apply. */
function guardedTransport(
  { profile, machine, policy, resolver, upstream }: ModelParts,
  redactor: Redactor,
  kept: readonly string[],
): Transport {
  const parsed = parseUrl(profile.baseUrl)
  if ('problem' in parsed) throw new Fault('bad-config', `the base URL of "${profile.name}": ${parsed.problem}`)
  if (parsed.url.scheme !== 'https' && !isPrivateEndpoint(parsed.url)) {
    throw new Fault(
      'bad-config',
      `the base URL of "${profile.name}" is not https: the conversation and the key would be readable`,
    )
  }
  const rule = endpointRule(parsed.url)
  return async ({ url, headers, body, signal }) => {
    const { http } = policy()
    const rules = {
      ...http,
      allowed: [rule],
      allowPrivate: http.allowPrivate || isPrivateEndpoint(parsed.url),
      command: 'the model',
      ownAddresses: machine.ownAddresses(),
    }
    const sent = body === null ? null : withoutSecrets(body, kept)
    const answer = await postStreaming(url, { rules, resolver, upstream, headers, body: sent, signal })
    if (!('refusal' in answer)) return answer
    const { code, message } = answer.refusal
    if (code === 'host-unresolved' || code === 'upstream-unreachable') {
      throw new ProviderFault('provider-unreachable', redactor.redact(message), { resumable: true })
    }
    throw new ProviderFault('provider-refused', `the rules block requests to the model: ${message} [${code}]`, {
      remedy: 'deny_domains of the manifest binds the agent too.',
    })
  }
}

/** The provider's secrets never reach the model, wherever they come from. */
function withoutSecrets(body: string, kept: readonly string[]): string {
  const written = kept.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  return written.filter((secret) => secret.length >= MIN_SECRET).reduce((text, one) => text.replaceAll(one, MASK), body)
}

/** Shorter values occur in ordinary text. */
const MIN_SECRET = 12
const MASK = '[the provider’s key]'

function endpointRule({ host, port, kind }: UrlFacts): HostRule {
  const written = `${kind === 'ipv6' ? `[${host}]` : host}:${port}`
  const parsed = parseHostPattern(written, null)
  if ('problem' in parsed) throw new Fault('bad-config', `${written}: ${parsed.problem}`)
  return { pattern: parsed.pattern, rule: 'the profile', source: 'config.json' }
}

/** An endpoint written as private is meant to be; a public name may not become private. */
function isPrivateEndpoint({ host, kind }: UrlFacts): boolean {
  return kind === 'name' ? classifyName(host) !== 'public' : classifyAddress(host) !== 'public'
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}

/** Writes payloads to a private file with secrets masked and without headers. */
function dumper(directory: string, redactor: Redactor): (direction: 'request' | 'answer', text: string) => void {
  makeDirectories(directory)
  const file = join(directory, `${new Date().toISOString().replace(/[:.]/g, '-')}-${process.pid}.jsonl`)
  return (direction, text) =>
    writeMade(file, `${JSON.stringify({ at: new Date().toISOString(), direction, text: redactor.redact(text) })}\n`, {
      flag: 'a',
    })
}
