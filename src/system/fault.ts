/** Faults: the machine failed. A fault is thrown, has a stable code, and never becomes an allow. */

export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: FaultCode
  /** What a person can do about it. */
  readonly remedy: string | null

  constructor(code: FaultCode, message: string, options: { cause?: unknown; remedy?: string } = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.remedy = options.remedy ?? null
  }
}

/** What `read` returns, or `otherwise` where it throws: for facts whose absence is an answer. */
export function attempt<T, U>(read: () => T, otherwise: U): T | U {
  try {
    return read()
  } catch {
    return otherwise
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The `code` of a Node system error (`ENOENT`), or null. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

/**
 * Cordon cannot write one of its files: the disk is full or read-only, or it is another user's.
 */
export function unwritable(path: string, error: unknown): Fault {
  const code = errorCode(error)
  const full = code === 'ENOSPC' || code === 'EDQUOT'
  return new Fault(
    'state-unwritable',
    `${path} cannot be written (${full ? 'the disk is full' : (code ?? 'unknown')})`,
    {
      cause: error,
      remedy: full
        ? 'Free space on the disk, or set XDG_STATE_HOME and XDG_CACHE_HOME to a disk with free space.'
        : 'Make it writable for you, or set XDG_STATE_HOME and XDG_CACHE_HOME to directories that are.',
    },
  )
}

/** 2: invalid input. 125: Cordon failed. 126 and 127: the command, as in shells. */
type FaultExit = 2 | 125 | 126 | 127

export const FAULT_EXITS = {
  // Cordon's own files: record, state, keys.
  'audit-closed': 125,
  'audit-line': 125,
  'audit-unreadable': 125,
  'audit-unwritable': 125,
  'key-unavailable': 125,
  'keychain-off': 125,
  'keychain-unavailable': 125,
  'output-unwritable': 125,
  'resident-busy': 125,
  'state-corrupt': 125,
  'state-newer': 125,
  'state-unreadable': 125,
  'state-untrusted': 125,
  'state-unwritable': 125,
  'host-sandbox': 125,

  // An unsigned manifest is not used (M3).
  closed: 125,
  'unsigned-manifest': 125,

  // The sandbox failed to start, so nothing ran.
  'mask-moved': 125,
  'no-sandbox': 125,
  'pin-moved': 125,
  'place-moved': 125,
  'sandbox-architecture': 125,
  'sandbox-failed': 125,
  'sandbox-init-changed': 125,
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
  'changes-broker': 125,
  'programs-judge': 125,
  'programs-unjudged': 125,
  'undo-unavailable': 125,
  'sandbox-terminal': 125,
  'sandbox-unable': 125,
  'sandbox-userns': 125,
  'stream-unfit': 125,
  'engine-failed': 125,
  'no-engine': 125,
  'no-page': 125,
  'bad-component': 125,
  'unlisted-component': 125,
  'code-failed': 125,
  'working-directory': 125,

  // The fleet.
  'fleet-policy': 125,
  'fleet-refused': 125,
  'fleet-revoked': 125,
  'fleet-settings': 125,
  'fleet-unreachable': 125,
  'no-fleet': 2,

  // Models.
  'provider-cut': 125,
  'provider-error': 125,
  'provider-key': 125,
  'provider-limit': 125,
  'provider-malformed': 125,
  'provider-refused': 125,
  'provider-silent': 125,
  'provider-status': 125,
  'provider-unreachable': 125,

  // The command.
  'command-not-executable': 126,
  'command-not-found': 127,

  // Invalid input.
  'agent-settings': 2,
  'bad-config': 2,
  'bad-grant': 2,
  'bad-key': 2,
  busy: 2,
  'discovery-brief': 2,
  exhausted: 2,
  exists: 2,
  'file-changed': 2,
  'grants-locked': 2,
  'inside-project': 2,
  'into-itself': 2,
  'kernel-file': 2,
  'library-value': 2,
  'link-loop': 2,
  locked: 2,
  manifest: 2,
  'manifest-busy': 2,
  'manifest-unreadable': 2,
  'no-directory': 2,
  'no-chat': 2,
  'no-home': 2,
  'no-key': 2,
  'no-language-server': 2,
  'no-manifest': 2,
  'no-origin': 2,
  'no-provider': 2,
  'login-needed': 2,
  'no-servers': 2,
  'no-shell': 2,
  'no-skill': 2,
  'no-space': 2,
  'no-terminal': 2,
  'not-a-file': 2,
  'not-a-project': 125,
  'not-canonical': 2,
  'not-empty': 2,
  'not-found': 2,
  'not-grantable': 2,
  'not-toml': 2,
  'not-utf8': 2,
  'other-device': 2,
  'path-changed': 2,
  'probe-place': 2,
  'search-failed': 2,
  'search-timeout': 2,
  'secret-missing': 2,
  'secret-unfit': 2,
  'secret-name': 2,
  'quarantine-elsewhere': 2,
  'quarantine-occupied': 2,
  'session-id': 2,
  'special-bits': 2,
  'timed-out': 2,
  'too-deep': 2,
  'too-large': 2,
  'too-many-commands': 2,
  'too-many-files': 2,
  'tool-staging': 2,
  'tool-untrusted': 2,
  'tool-label': 2,
  'tool-name': 2,
  'trusted-keys': 2,
  'unchecked-command': 2,
  'unchecked-path': 2,
  'unchecked-url': 2,
  'unknown-agent': 2,
  'unknown-tool': 2,
  unreadable: 2,
  unwritable: 2,
  'wrapped-run': 2,
} as const

/** The stable name of a fault. */
export type FaultCode = keyof typeof FAULT_EXITS

/** The exit code of a fault. */
export function faultExit(code: FaultCode): FaultExit {
  return FAULT_EXITS[code]
}
