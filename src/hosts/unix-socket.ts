/** Unix sockets of the machine in lists of hosts: `unix:` and a path, and what it means to give one away. PURE. */

import { quote } from './host.ts'
import type { ParsedHostPattern } from './pattern.ts'

const PREFIX = 'unix:'
/** What an address of the kernel holds, without the NUL at its end. */
const MAX_LENGTH = 107

/** True for an entry that names a unix socket. */
export function namesUnixSocket(text: string): boolean {
  return text.startsWith(PREFIX)
}

/** `unix:/run/docker.sock`, `unix:~/.colima/docker.sock`: one socket, by its whole path. */
export function parseUnixSocket(text: string): ParsedHostPattern {
  const host = text.slice(PREFIX.length)
  const steps = host.replace(/^~/, '').split('/').slice(1)
  if (!/^~?\/[\x21-\x7e]+$/.test(host) || steps.some((step) => ['', '.', '..'].includes(step)) || /[*?]/.test(host))
    return {
      problem: `${quote(text)} is not "unix:" and the whole path of one socket, such as "unix:/run/docker.sock"`,
    }
  if (host.length > MAX_LENGTH) return { problem: `the path of a unix socket has at most ${MAX_LENGTH} characters` }
  return { pattern: { text, host, wildcard: false, port: null, kind: 'unix' } }
}

const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [
    /docker|containerd|crio|buildkit|podman|lxd|incus|libvirt/i,
    'a program that uses it can run anything on this machine, usually as root: NO SANDBOX APPLIES',
  ],
  [/agent|ssh_auth|ssh-|keyring|gnupg|1password/i, 'a program that uses it can use EVERY KEY in it, for any host'],
  [/dbus|bus$|systemd|wayland|x11/i, 'a program that uses it can start programs OUTSIDE the sandbox'],
]

/** What a person is told of a socket that is given to commands, by its path or the entry; with the key, of an agent that signs by it alone. */
export function socketMeaning(path: string, signs?: unknown): string {
  if (signs !== undefined) return `a program that uses it can sign by the key ${String(signs)}, and nothing else`
  const known = MEANINGS.find(([shape]) => shape.test(path))
  return known?.[1] ?? 'whatever the program behind it does for you, it does for the command; Cordon sees bytes alone'
}
