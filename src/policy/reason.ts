/** Reason codes: stable names for why a decision came out as it did, and their words. */

export type ReasonCode =
  // allow
  | 'granted' // a grant of the manifest or a saved one covers it
  | 'named-by-grant' // the grant of the command names this file, for that command alone
  | 'nearby' // ordinary source near the project, which the manifest opens to calls that name it
  | 'level-allow' // the tool's level, or the mode, allows it
  | 'contained' // it stays inside the sandbox
  | 'harmless' // a coordinator, a builtin without effect, or a call of what is judged elsewhere
  | 'auto-accepted' // auto mode or auto_accept answered the ask
  | 'observed' // observe mode recorded the ask and did not ask
  | 'typed' // the person typed it themselves (`cordon run`)
  | 'baseline' // the sandbox shows it to every command, read-only
  // ask
  | 'grant-prompts' // the grant says prompt = true
  | 'level-ask' // the tool's level, or the mode, asks
  | 'not-granted' // grants of this kind are declared, and none covers it
  | 'outside-roots' // a path outside the project and the granted directories
  | 'not-understood' // a hazard keeps the command from being fully understood
  | 'outside-cwd' // it runs in a directory outside the roots, or in one that cannot be known
  | 'secret' // a file that looks like a secret, which no grant names
  | 'remote-write' // it changes something on another machine
  | 'destructive' // it cannot be undone
  | 'host-not-granted' // a host nobody granted
  | 'package' // a package that a rule of [packages] asks about
  | 'limit' // more requests or bytes to a host than its rule has
  | 'port-not-opened' // a port on which a command listens, and that nobody opened
  | 'maybe-denied' // a deny rule may match; the words cannot be known
  | 'rule-asks' // a rule of the agent host's own settings asks
  | 'flow' // labelled data could reach a receiver that it was not granted to
  | 'needs-confirmation' // the tool asks for confirmation
  | 'outside-sandbox' // the host would run it outside the sandbox, and its command cannot be changed
  | 'unapproved-script' // a script of a project's skill whose bytes nobody approved
  // deny
  | 'denied-by-rule' // a deny rule of any layer
  | 'protected-path' // the manifest, hooks, start-up files: what the agent never changes
  | 'outside-envelope' // a write outside change_envelope
  | 'shell-syntax-off' // a [security] flag forbids this syntax
  | 'unparseable' // bash grammar could not be established with certainty
  | 'privilege' // sudo, doas and their kind
  | 'dangerous-shell' // text that bash would evaluate once more, or a network pseudo-device
  | 'shell-policy' // a [shell_policy] substring
  | 'level-deny' // the tool's level is deny
  | 'plan-mode' // plan mode or the plan agent: nothing is written or run
  | 'ring' // the agent's trust is too low
  | 'breaker' // too many failures in a row
  | 'host-denied' // a denied host, or one that no list admits
  | 'address-refused' // a private, metadata or otherwise closed address
  | 'bad-url' // not a URL that can be judged
  | 'bad-input' // the call's own arguments are wrong
  | 'unknown-tool' // no such tool
  | 'not-in-force' // the manifest is not signed or does not load, so nothing may run
  | 'not-a-project' // the root is not a place for a project, and nobody confirmed it

/** Reason codes in words, for where the sentence about the very call is not kept. */
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
  flow: 'what the session has read could leave',
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

/** The words of a recorded code; an unknown code is shown unchanged. */
export function reasonWords(code: string): string {
  return Object.hasOwn(WORDS, code) ? WORDS[code as ReasonCode] : code
}
