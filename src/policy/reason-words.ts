/** Reason codes in words, for where the sentence about the very call is not kept. */

import type { ReasonCode } from './reason.ts'

const WORDS: Readonly<Record<ReasonCode, string>> = {
  granted: 'a grant covers it',
  'named-by-grant': 'the grant of the command names this file',
  nearby: 'it is ordinary source near the project',
  'level-allow': 'the level of the tool allows it',
  contained: 'it stays inside the sandbox',
  harmless: 'it does nothing by itself',
  'auto-accepted': 'auto mode said yes',
  observed: 'observe mode did not ask',
  typed: 'typed by the person',
  baseline: 'every command sees it',
  'grant-prompts': 'its grant asks each time',
  'level-ask': 'the level of the tool asks',
  'not-granted': 'no grant covers it',
  'outside-roots': 'it is outside the project',
  'not-understood': 'it cannot be fully understood',
  'outside-cwd': 'it works outside the project',
  secret: 'it looks like a secret',
  'remote-write': 'it changes something elsewhere',
  destructive: 'it cannot be undone',
  'host-not-granted': 'the host is not allowed yet',
  package: 'a rule about packages asks',
  limit: 'the limit of a host was reached',
  'port-not-opened': 'the port is not open yet',
  'maybe-denied': 'a deny rule may match',
  'rule-asks': 'a rule of the agent’s own settings asks',
  tainted: 'the session read text that tries to steer the agent',
  'needs-confirmation': 'the tool wants a yes each time',
  'outside-sandbox': 'it would run outside the sandbox',
  'unapproved-script': 'the script is not approved yet',
  'denied-by-rule': 'a deny rule',
  'protected-path': 'a protected path',
  'outside-envelope': 'outside what may be changed',
  'shell-syntax-off': 'that syntax is switched off',
  unparseable: 'it cannot be read with certainty',
  privilege: 'sudo and similar programs',
  'dangerous-shell': 'bash would evaluate it again',
  'shell-policy': 'a text that is denied',
  'level-deny': 'the level of the tool denies it',
  'plan-mode': 'plan mode',
  ring: 'the agent is not trusted enough',
  breaker: 'too many failures in a row',
  'host-denied': 'a denied host',
  'address-refused': 'a private or closed address',
  'bad-url': 'not a URL that can be judged',
  'bad-input': 'wrong arguments',
  'unknown-tool': 'there is no such tool',
  'not-in-force': 'the manifest is not signed, or does not load',
  'not-a-project': 'the folder is not a project, and it is not confirmed as one',
}

/** The words of a code as it was recorded; one that is not known stands for itself. */
export function reasonWords(code: string): string {
  return Object.hasOwn(WORDS, code) ? WORDS[code as ReasonCode] : code
}
