/** Every fault there is, with what `cordon` exits with when it ends by it: the one table of both. */

/** 2: what was typed or written is wrong, or a file is. 125: Cordon's own. 126 and 127: of the command, as shells have it. */
export type FaultExit = 2 | 125 | 126 | 127

/** The table. */
export const FAULT_EXITS = {
  // Cordon's own places: its record, its state, its keys.
  'audit-closed': 125,
  'audit-line': 125,
  'audit-unreadable': 125,
  'audit-unwritable': 125,
  'key-unavailable': 125,
  'keychain-off': 125,
  'output-unwritable': 125,
  'state-corrupt': 125,
  'state-unreadable': 125,
  'state-untrusted': 125,
  'state-unwritable': 125,

  // The sandbox could not be made, so nothing ran.
  'mask-moved': 125,
  'no-sandbox': 125,
  'pin-moved': 125,
  'place-moved': 125,
  'sandbox-architecture': 125,
  'sandbox-failed': 125,
  'sandbox-init-missing': 125,
  'sandbox-limits': 125,
  'sandbox-masks': 125,
  'sandbox-missing': 125,
  'sandbox-mounts': 125,
  'sandbox-network': 125,
  'sandbox-orders': 125,
  'sandbox-plan': 125,
  'sandbox-privileges': 125,
  'sandbox-proc': 125,
  'sandbox-processes': 125,
  'sandbox-seccomp': 125,
  'sandbox-terminal': 125,
  'sandbox-unable': 125,
  'sandbox-userns': 125,
  'stream-unfit': 125,
  'engine-failed': 125,
  'no-engine': 125,
  'code-failed': 125,
  'working-directory': 125,

  // The command itself.
  'command-not-executable': 126,
  'command-not-found': 127,

  // What was asked for cannot be.
  'agent-settings': 2,
  'bad-config': 2,
  'bad-key': 2,
  busy: 2,
  closed: 2,
  'discovery-brief': 2,
  exhausted: 2,
  exists: 2,
  'file-changed': 2,
  'hard-link': 2,
  'inside-project': 2,
  'into-itself': 2,
  'kernel-file': 2,
  'link-loop': 2,
  locked: 2,
  manifest: 2,
  'manifest-busy': 2,
  'manifest-unreadable': 2,
  'no-directory': 2,
  'no-home': 2,
  'no-manifest': 2,
  'no-servers': 2,
  'no-shell': 2,
  'no-skill': 2,
  'no-space': 2,
  'no-terminal': 2,
  'not-a-file': 2,
  'not-canonical': 2,
  'not-empty': 2,
  'not-found': 2,
  'not-toml': 2,
  'not-utf8': 2,
  'other-device': 2,
  'path-changed': 2,
  'probe-place': 2,
  'search-failed': 2,
  'search-timeout': 2,
  'secret-missing': 2,
  'session-id': 2,
  'special-bits': 2,
  'timed-out': 2,
  'too-deep': 2,
  'too-large': 2,
  'too-many-commands': 2,
  'too-many-files': 2,
  'tool-staging': 2,
  'tool-untrusted': 2,
  'trusted-keys': 2,
  'unchecked-path': 2,
  'unknown-agent': 2,
  'unknown-tool': 2,
  unreadable: 2,
  'unsigned-manifest': 2,
  unwritable: 2,
} as const

/** The stable name of a fault. */
export type FaultCode = keyof typeof FAULT_EXITS

/** What a fault means as an exit code, wherever that has room for it. */
export function faultExit(code: FaultCode): FaultExit {
  return FAULT_EXITS[code]
}
