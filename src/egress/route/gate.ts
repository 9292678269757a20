/**
 * The gate of a proxy: judges a target, asks if undecided, resolves once, and judges the addresses.
 */

import { canonicalAddress } from '../../hosts/address.ts'
import { quote } from '../../hosts/host.ts'
import type { HostJudgement } from '../../hosts/judge.ts'
import type { HostRule } from '../../policy/policy.ts'
import type { Resolver } from '../../system/dns.ts'
import { messageOf } from '../../system/fault.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import type { Target } from '../wire/target.ts'
import type { ParentProxy } from './parent-proxy.ts'
import { type EgressRules, isLoopback, isUndecided, judgeTarget, withAnswer } from './rules.ts'
import type { Route } from './upstream.ts'

/** The question to a person: may this command reach this host? */
export interface HostQuestion {
  readonly command: string
  /** The connecting program, if known. */
  readonly program?: string
  readonly target: Target
  readonly judgement: HostJudgement<HostRule>
  readonly signal: AbortSignal
  /** The question about a granted host. */
  readonly about?: HostConcern
}

/** A question beyond whether the host may be reached; the answer applies to this command only. */
export interface HostConcern {
  readonly code: 'package' | 'limit' | 'flow'
  readonly subject: string
  readonly message: string
}

/** The next label that asks or is denied on the way to a receiver, beside those agreed to; null if none is. */
export type FlowWatch = (
  target: Target,
  agreed: ReadonlySet<string>,
) => { readonly level: 'ask' | 'deny'; readonly label: string; readonly message: string } | null

/** True allows the host and port for the rest of the command; null: nobody can be asked now. */
export type AskHost = (question: HostQuestion) => Promise<boolean | null>

/** An admitted route, with the rules that admitted it. */
export interface Admission {
  readonly route: Route
  readonly rules: EgressRules
}

export interface Gate {
  admit(target: Target): Promise<Admission | { readonly refusal: EgressDenial }>
}

export interface GateOptions {
  readonly rules: EgressRules
  readonly resolver: Resolver
  /** The proxy of this machine. */
  readonly parent: ParentProxy | null
  readonly ask?: AskHost | undefined
  readonly signal: AbortSignal
}

const MAX_QUESTIONS = 64

export function createGate(options: GateOptions): Gate {
  const { resolver, signal } = options
  const answers = new Map<string, Promise<boolean | null>>()

  function answerTo(target: Target, judgement: HostJudgement<HostRule>): Promise<boolean | null> {
    const key = `${target.host}\n${target.port}`
    const known = answers.get(key)
    if (known) return known
    // A command that tries many names must not flood a person with questions.
    if (answers.size >= MAX_QUESTIONS) return Promise.resolve(false)
    const answer = askOnce(options, target, judgement)
    answers.set(key, answer)
    return answer.then((given) => {
      if (given === null) answers.delete(key)
      return given
    })
  }

  async function admit(target: Target): Promise<Admission | { readonly refusal: EgressDenial }> {
    let rules = options.rules
    let judgement = judgeTarget(rules, target)
    const unasked = isUndecided(judgement) ? unaskedRefusal(rules, target) : null
    if (unasked !== null) return { refusal: unasked }
    if (isUndecided(judgement) && options.ask) {
      const answer = await answerTo(target, judgement)
      if (answer === false) {
        return {
          refusal: { code: 'ask-refused', message: `${quote(target.host)} is not granted, and you did not allow it` },
        }
      }
      if (answer === true) rules = withAnswer(rules, target)
      judgement = judgeTarget(rules, target)
    }
    if (judgement.verdict === 'deny') return { refusal: judgement }
    const through = options.parent?.carries(target) === true
    const addresses = await resolveTarget(resolver, target)
    const isUnresolved = 'refusal' in addresses || addresses.length === 0
    if (isUnresolved && through && mayStayUnresolved(rules, judgement))
      return { route: { target, addresses: [], parent: 'name' }, rules }
    if ('refusal' in addresses) return addresses
    if (signal.aborted) return { refusal: { code: 'upstream-unreachable', message: 'the command has ended' } }
    const resolved = judgeTarget(rules, target, addresses)
    if (resolved.verdict === 'deny') return { refusal: resolved }
    if (!through || addresses.every(isLoopback)) return { route: { target, addresses }, rules }
    return { route: { target, addresses, parent: judgement.matched === null ? 'address' : 'name' }, rules }
  }

  return { admit }
}

/**
 * Behind a parent proxy, outside names often do not resolve here. A listed name is left to the
 * parent. Any other name could make the parent connect to an internal address.
 */
function mayStayUnresolved(rules: EgressRules, judgement: HostJudgement<HostRule>): boolean {
  return judgement.matched !== null && rules.denied.every((rule) => rule.pattern.kind === 'name')
}

/**
 * A yes for a key's host would admit anyone's key; a declined host is not the person's decision.
 */
function unaskedRefusal({ keyless = [], declined }: EgressRules, { host }: Target): EgressDenial | null {
  const found = keyless.find((entry) => entry.host === host)
  const by = declined?.get(host)
  if (!found) {
    if (by === undefined) return null
    return { code: 'host-declined', message: `${quote(host)} has updates, catalogues or telemetry of ${by}` }
  }
  const message = `${quote(host)} takes a key of yours, and ${found.names.join(', ')} ${found.names.length === 1 ? 'is' : 'are'} not set`
  return { code: 'key-missing', message }
}

async function askOnce(
  options: GateOptions,
  target: Target,
  judgement: HostJudgement<HostRule>,
): Promise<boolean | null> {
  try {
    const { rules, signal } = options
    const answer = await options.ask!({
      command: rules.whole ?? rules.command,
      ...(rules.program !== undefined && { program: rules.program }),
      target,
      judgement,
      signal,
    })
    return answer === null ? null : answer === true
  } catch {
    return false
  }
}

async function resolveTarget(
  resolver: Resolver,
  target: Target,
): Promise<readonly string[] | { readonly refusal: EgressDenial }> {
  if (target.kind !== 'name') return [target.host]
  try {
    const answers = await resolver.resolve(target.host)
    return answers.map((address) => canonicalAddress(address) ?? address)
  } catch (error) {
    const message = `${quote(target.host)} could not be resolved: ${messageOf(error)}`
    return { refusal: { code: 'host-unresolved', message } }
  }
}
