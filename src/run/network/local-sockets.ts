/** Unix sockets of the machine that a command may use: where they are, and which variables of the person's name them. */

import { lstatSync, readlinkSync } from 'node:fs'
import { posix } from 'node:path'
import type { EgressRules } from '../../egress/route/rules.ts'
import { matchesDenied } from '../../hosts/pattern.ts'
import type { GrantedSocket } from '../../sandbox/plan.ts'
import type { Machine } from '../../system/machine.ts'

export interface LocalSockets {
  readonly sockets: readonly GrantedSocket[]
  readonly variables: Readonly<Record<string, string>>
}

/** Those of the granted ones that are there now. The path as it is written leads to it inside, and so does its real one. */
export function localSockets(
  { allowed, denied }: Pick<EgressRules, 'allowed' | 'denied'>,
  { home, env }: Pick<Machine, 'home' | 'env'>,
): LocalSockets {
  const granted = (allowed ?? []).filter(({ pattern }) => pattern.kind === 'unix')
  const sockets: GrantedSocket[] = []
  const variables: Record<string, string> = {}
  for (const { pattern } of granted) {
    if (denied.some((rule) => matchesDenied(rule.pattern, pattern.host, 0))) continue
    const path = pattern.host.startsWith('~') ? home + pattern.host.slice(1) : pattern.host
    const found = socketAt(path)
    if (found === null) continue
    sockets.push({ paths: [...new Set([path, found.target])], ...found })
    // SSH_AUTH_SOCK, DOCKER_HOST, PGHOST: a program finds it as it does outside.
    const names = [path, `unix://${path}`, posix.dirname(path)]
    for (const [name, value] of Object.entries(env))
      if (value !== undefined && FINDING.has(name) && names.includes(value)) variables[name] = value
  }
  return { sockets, variables }
}

/** Variables whose value is the way to a socket, and nothing else. */
const FINDING: ReadonlySet<string> = new Set(['SSH_AUTH_SOCK', 'DOCKER_HOST', 'CONTAINER_HOST', 'PGHOST'])

const MAX_LINKS = 40

/** The real path of the socket at a path, and the links on the way; null where there is none. */
function socketAt(path: string): Pick<GrantedSocket, 'links' | 'target'> | null {
  const links: string[] = []
  let target = '/'
  const rest = path.split('/')
  try {
    while (rest.length > 0) {
      const at = posix.join(target, rest.shift()!)
      if (!lstatSync(at).isSymbolicLink()) target = at
      else {
        if (links.push(at) > MAX_LINKS) return null
        const text = readlinkSync(at)
        if (text.startsWith('/')) target = '/'
        rest.unshift(...text.split('/'))
      }
    }
    return lstatSync(target).isSocket() ? { links, target } : null
  } catch {
    return null
  }
}
