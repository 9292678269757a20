/** An attack from inside: a script that prints ESCAPED when it succeeds, and a control in which it must succeed. */

/**
 * Where an attack is shown to work. Each is a throw-away bubblewrap namespace without the protection under test.
 * - `open`: capabilities in a user namespace, no masks, no pins, no filter, the fixture writable
 * - `system`: as `open`, with the system's directories replaced by empty writable ones
 * - `plain`: bubblewrap as manuals show it, with an in-memory root
 * - `host-pid`, `host-ipc`, `host-net`, `host-dev`: as `open`, sharing that one thing with the host
 * - `privileged`: real root with every capability, for calls whose arguments do nothing
 * - `host-proc`: as `privileged`, with the host's /proc, for opens without a write
 */
export type Control =
  | 'open'
  | 'system'
  | 'plain'
  | 'host-pid'
  | 'host-ipc'
  | 'host-net'
  | 'host-dev'
  | 'privileged'
  | 'host-proc'

/** Which sandbox the attack runs in: the usual one, or one with unix sockets granted, or the `all` baseline. */
export type Layout = 'usual' | 'unix' | 'all' | 'terminal'

export interface Attack {
  readonly name: string
  /** What it is about. */
  readonly note: string
  /** bash; `$P` project, `$O` a place outside, `$R` a read grant, `$H` home, `$PROBER`, `$HOSTPID`, `$SOCKETS`. */
  readonly script: string
  readonly control: Control
  readonly layout: Layout
}

export function attack(name: string, note: string, control: Control, script: string, layout: Layout = 'usual'): Attack {
  return { name, note, control, script, layout }
}

/** Succeeds when the prober's answer is not one of these. */
export function probe(
  name: string,
  note: string,
  control: Control,
  probeArguments: string,
  refusals: readonly (string | number)[],
  layout: Layout = 'usual',
): Attack {
  const kept = refusals.map(String).join('|')
  const script = `answer=$("$PROBER" ${probeArguments} 2>/dev/null) || answer="killed $?"
case "$answer" in ${kept}) echo "stopped: $answer";; *) echo "ESCAPED: $answer";; esac`
  return { name, note, control, script, layout }
}

/** Succeeds when the prober's call succeeds. */
export function mustFail(
  name: string,
  note: string,
  control: Control,
  probeArguments: string,
  layout: Layout = 'usual',
): Attack {
  const script = `[ "$("$PROBER" ${probeArguments} 2>/dev/null)" = ok ] && echo ESCAPED`
  return { name, note, control, script, layout }
}

/** Succeeds when the secret can be read from any of these words. */
export function reads(
  name: string,
  note: string,
  words: string,
  control: Control = 'open',
  layout: Layout = 'usual',
): Attack {
  return { name, note, control, layout, script: `grep -a -s -q TOPSECRET ${words} 2>/dev/null && echo ESCAPED` }
}

/** Succeeds when the command does. */
export function does(
  name: string,
  note: string,
  command: string,
  control: Control = 'open',
  layout: Layout = 'usual',
): Attack {
  return { name, note, control, layout, script: `( ${command} ) >/dev/null 2>&1 && echo ESCAPED` }
}
