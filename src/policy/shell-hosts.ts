/** The hosts that the words of a command name. */

import { classifyAddress } from '../hosts/address.ts'
import { reachesHost } from '../hosts/pattern.ts'
import { parseUrl } from '../hosts/url.ts'
import type { CommandFact, HostUse } from '../shell/facts.ts'
import { grantsOf } from './command-grant.ts'
import { wordsOf } from './command-part.ts'
import type { PartSubject } from './decision.ts'
import type { PartQuestions } from './order.ts'
import { ref } from './policy.ts'
import { always, type Scene } from './shell-scene.ts'

/** P10: a host that a command names is asked about in contained mode; in every mode the proxy holds the wire. */
export function hostUseQuestions(scene: Scene, use: HostUse, fact: CommandFact): PartQuestions[] {
  const { policy, session, stance } = scene
  if (stance.mode.value !== 'contained') return []
  // Other schemes (ssh, file) are not the web's: their programs are judged by what they do, and the proxy holds the wire.
  const web = /^[a-z][a-z0-9+.-]*:\/\//i.test(use.url) ? use.url : `https://${use.url}`
  const parsed = parseUrl(web)
  if ('problem' in parsed) return /^https?:/i.test(web) ? [unreadableHost(use, fact, parsed.problem)] : []
  if (isOwnLoopback(parsed.url.host)) return []
  const { host, port } = parsed.url
  const tool = fact.argv[0]?.values?.[0] ?? ''
  const rules = [
    ...(grantsOf(policy, session, fact) ?? []).flatMap((grant) => grant.domains),
    ...policy.commands.defaultDomains,
    ...(policy.commands.toolDomains.get(tool) ?? []),
    ...session.grants.hosts,
  ]
  const rule = rules.find((candidate) => reachesHost(candidate.pattern, host, port, policy.http.suffixes))
  const subject: PartSubject = { kind: 'host', text: host, span: use.span }
  if (rule) {
    return [
      always(subject, {
        decision: 'allow',
        reason: { code: 'granted', message: `"${rule.pattern.text}" grants ${host}.` },
        rules: [ref(rule)],
      }),
    ]
  }
  return [
    always(subject, {
      decision: 'ask',
      reason: {
        code: 'host-not-granted',
        message: `\`${wordsOf(fact)}\` reaches for ${host}, which no grant names.`,
        remedy: `Grant it with domains = ["${host}"] at a command pattern, or under default_domains.`,
      },
      rules: [ref(stance.mode)],
    }),
  ]
}

function unreadableHost(use: HostUse, fact: CommandFact, problem: string): PartQuestions {
  return always(
    { kind: 'host', text: use.url, span: use.span },
    {
      decision: 'ask',
      reason: {
        code: 'host-not-granted',
        message: `\`${wordsOf(fact)}\` reaches for a host that cannot be told: ${problem}.`,
        remedy: 'Write the address plainly.',
      },
      rules: [{ rule: 'hazard unknowable', source: 'built-in' }],
    },
  )
}

// Inside the sandbox, loopback is the sandbox's own.
function isOwnLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || classifyAddress(host) === 'loopback'
}
