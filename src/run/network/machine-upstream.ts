/**
 * The route from this machine to hosts: its authorities, those of the manifest, and its parent
 * proxy.
 */

import { readParentProxy } from '../../egress/route/parent-proxy.ts'
import { createUpstream, readAuthorities, type Upstream } from '../../egress/route/upstream.ts'
import type { ParentSetting, SandboxSettings } from '../../manifest/schema/settings.ts'
import { Fault } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'

export function machineUpstream(
  machine: Machine,
  { caFiles, parent }: Pick<SandboxSettings, 'caFiles' | 'parent'>,
): Upstream {
  const { proxy, bypass, login } = parent
  const credentials = login === null ? null : readLogin(machine, login)
  return createUpstream({
    trust: readAuthorities(caFiles),
    parent: readParentProxy({ proxy, bypass, credentials, env: machine.env }),
  })
}

function readLogin(machine: Machine, login: NonNullable<ParentSetting['login']>): string {
  const value = machine.readSecret(login)
  if (value !== null && /^[^:\p{C}]+:[^\p{C}]*$/u.test(value)) return value
  throw new Fault(
    'secret-missing',
    `parent_proxy_login has no user:password at its source (${login.kind} ${login.name})`,
    {
      remedy: 'Set it there, or remove parent_proxy_login from your cordon.toml.',
    },
  )
}
