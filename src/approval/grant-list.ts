/** Where a manifest keeps an answer.. */

import type { GrantKind } from './prompter.ts'

/** The list of a manifest that an answer is written into; null where no list takes it. */
export function grantList(
  kind: GrantKind,
  verdict: 'allow' | 'deny',
  tool: string,
): { readonly section: readonly string[]; readonly name: string } | null {
  const allows = verdict === 'allow'
  const side = ['capabilities', verdict]
  switch (kind) {
    case 'command':
      return { section: [...side, 'commands'], name: 'patterns' }
    case 'read':
    case 'write':
      return { section: [...side, kind], name: 'paths' }
    case 'port':
      return allows ? { section: ['sandbox', 'os'], name: 'dev_server_ports' } : null
    case 'directory':
      return allows ? { section: side, name: 'additional_directories' } : { section: [...side, 'read'], name: 'paths' }
    case 'host':
      if (tool !== 'webfetch' && tool !== 'http')
        return { section: [...side, 'commands'], name: allows ? 'default_domains' : 'domains' }
      return allows ? { section: ['http'], name: 'allowed_hosts' } : { section: ['security'], name: 'deny_domains' }
  }
}
