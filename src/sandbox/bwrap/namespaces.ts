/** Whether this machine lets bubblewrap make namespaces, found out cheaply where nothing speaks against it. */

import { existsSync, readFileSync } from 'node:fs'
import { attempt } from '../../system/fault.ts'
import { SandboxFault } from '../backend.ts'
import { findBwrap } from './backend.ts'

/** Profiles that let a bubblewrap make user namespaces. */
const PROFILES = ['cordon-bwrap', 'bwrap', 'bwrap-userns-restrict'].map((name) => `/etc/apparmor.d/${name}`)

const TRIED = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-net',
  '--unshare-uts',
  '--uid',
  '0',
  '--gid',
  '0',
]
const SHOWN = ['--ro-bind', '/', '/', '--proc', '/proc', '--', '/bin/true']

function text(path: string): string {
  return attempt(() => readFileSync(path, 'latin1').trim(), '')
}

/** Traces of a program that refuses namespaces; most machines have none. */
function isSuspect(): boolean {
  if (/^Seccomp:\s*[12]$/m.test(text('/proc/self/status'))) return true
  if (text('/proc/sys/user/max_user_namespaces') === '0') return true
  if (text('/proc/sys/kernel/unprivileged_userns_clone') === '0') return true
  const restricts = text('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1'
  return restricts && process.getuid?.() !== 0 && !PROFILES.some(existsSync)
}

/** Why bubblewrap cannot run here, in words; null where it can, as far as is known before it runs. */
export async function namespacesRefused(): Promise<string | null> {
  try {
    const program = findBwrap()
    if (!isSuspect()) return null
    // Few machines get here.
    const { spawnSync } = await import('node:child_process')
    const { status, stderr, error } = spawnSync(program, [...TRIED, ...SHOWN], {
      encoding: 'latin1',
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {},
    })
    if (status === 0) return null
    return error?.message ?? /^(?:bwrap: )?([^,\n]+)/.exec(stderr)?.[1] ?? `bubblewrap ended with ${status}`
  } catch (error) {
    if (error instanceof SandboxFault && error.code === 'sandbox-missing') return 'bubblewrap is not installed'
    throw error
  }
}
