/** Decides one URL of an http or webfetch call: the name, the port, the resolved addresses, and every redirect. */

import { matchSegments } from '../../files/glob.ts'
import { splitPath } from '../../files/path-pattern.ts'
import { type HostCode, judgeHops, judgeHost } from '../../hosts/judge.ts'
import { reachesHost } from '../../hosts/pattern.ts'
import type { HostFact, SessionFacts } from '../call.ts'
import type { PartQuestions } from '../order.ts'
import { type HostRule, type Policy, type RuleRef, ref } from '../policy.ts'
import type { Ruling, Stance } from '../stance.ts'

/** The four questions of P0 about a host. */
export function hostQuestions(policy: Policy, session: SessionFacts, stance: Stance, fact: HostFact): PartQuestions {
  const judged = judge(policy, session, fact)
  return {
    subject: { kind: 'host', text: fact.given },
    denial: () => (judged.decision === 'allow' ? null : judged),
    grant: () => granted(policy, session, stance, fact, judged),
    explicit: () => stance.explicit,
    otherwise: () => (stance.mode.value === 'contained' ? newHostRuling(stance, fact) : openRuling(stance)),
  }
}

/** Requests that ask for something and change nothing. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** In contained mode a listed host is one to read from, unless its entry lists the method; a yes of a person is for every request. */
function granted(policy: Policy, session: SessionFacts, stance: Stance, fact: HostFact, judged: Ruling): Ruling | null {
  const contained = stance.mode.value === 'contained'
  if (judged.rules.length > 0 && (!contained || READING.has(fact.method) || listsMethod(policy, fact))) return judged
  if ('problem' in fact.url) return null
  const { host, port } = fact.url.url
  const agreed = session.grants.hosts.find(({ pattern }) => reachesHost(pattern, host, port, policy.http.suffixes))
  if (!agreed) return null
  return {
    decision: 'allow',
    reason: { code: 'granted', message: `"${agreed.pattern.text}" grants ${host}.` },
    rules: [ref(agreed)],
  }
}

function listsMethod({ http }: Policy, { url, method }: HostFact): boolean {
  if ('problem' in url) return false
  const { host, port, path } = url.url
  return (http.allowed ?? []).some(
    (rule) =>
      rule.methods !== undefined &&
      admitsRequest(rule, method, path) &&
      reachesHost(rule.pattern, host, port, http.suffixes),
  )
}

/** P10: what reaches out asks, as it does for `curl`. */
function newHostRuling(stance: Stance, fact: HostFact): Ruling {
  const subject = 'problem' in fact.url ? fact.given : fact.url.url.host
  const reads = READING.has(fact.method)
  return {
    decision: 'ask',
    reason: reads
      ? {
          code: 'host-not-granted',
          message: `${stance.tool} connects to ${subject}, which is not allowed yet.`,
          remedy: `Grant it under [http] allowed_hosts = ["${subject}"].`,
        }
      : {
          code: 'remote-write',
          message: `${stance.tool} sends a ${fact.method} to ${subject}, which may change something there.`,
          remedy: `Grant it under [http] allowed_hosts = [{ host = "${subject}", methods = ["${fact.method}"] }].`,
        },
    rules: [ref(stance.mode)],
  }
}

function openRuling(stance: Stance): Ruling {
  return {
    decision: stance.builtIn,
    reason: {
      code: stance.builtIn === 'allow' ? 'level-allow' : 'level-ask',
      message: `Public hosts are open to ${stance.tool}: no [http] allowed_hosts is set.`,
    },
    rules: [{ rule: `level of ${stance.tool}`, source: 'built-in' }],
  }
}

function judge(policy: Policy, session: SessionFacts, fact: HostFact): Ruling {
  if ('problem' in fact.url) {
    return {
      decision: 'deny',
      reason: {
        code: 'bad-url',
        message: `${fact.given} cannot be judged: ${fact.url.problem}.`,
        remedy: 'Give a plain http or https URL.',
      },
      rules: [],
    }
  }
  const { url } = fact.url
  const listed = policy.http.allowed === null ? null : [...policy.http.allowed, ...session.grants.hosts]
  const rules = {
    ...policy.http,
    allowed: listed === null ? null : listed.filter((rule) => admitsRequest(rule, fact.method, url.path)),
    ownAddresses: fact.ownAddresses,
  }
  const request = { url, ...(fact.resolved && { resolved: fact.resolved }) }
  const verdict =
    fact.hops && fact.hops.length > 0 ? judgeHops(request, fact.hops, rules) : judgeHost<HostRule>(request, rules)
  const matched: RuleRef[] = verdict.matched ? [ref(verdict.matched)] : []
  if (verdict.verdict === 'allow') {
    return { decision: 'allow', reason: { code: 'granted', message: verdict.message }, rules: matched }
  }
  const address = ADDRESS_CODES.has(verdict.code)
  return {
    decision: 'deny',
    reason: {
      code: address ? 'address-refused' : 'host-denied',
      message: `${verdict.message}.`,
      remedy: address
        ? 'Private and metadata addresses stay closed; for a local server the user can set [http] allow_private_hosts and list it.'
        : verdict.code === 'host-denied'
          ? 'Do without it, or ask the user to change that rule.'
          : `Use a granted host${allowedList(rules.allowed)}, or ask the user to add this one under [http] allowed_hosts.`,
    },
    rules: matched.length > 0 ? matched : [{ rule: 'http.allowed_hosts', source: 'manifest' }],
  }
}

const ADDRESS_CODES: ReadonlySet<string> = new Set([
  'host-private',
  'host-metadata',
  'host-link-local',
  'host-reserved',
] satisfies HostCode[])

/** A rule may be narrowed to methods and paths; then it lists the host for nothing else. */
function admitsRequest(rule: HostRule, method: string, path: string): boolean {
  if (rule.methods && !rule.methods.includes(method)) return false
  return !rule.paths || rule.paths.some((glob) => matchSegments(splitPath(glob), splitPath(path)))
}

function allowedList(allowed: readonly HostRule[] | null): string {
  return allowed && allowed.length > 0 ? ` (${allowed.map((rule) => rule.pattern.text).join(', ')})` : ''
}
