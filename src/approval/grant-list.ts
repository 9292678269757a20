/** The list of a manifest that keeps an answer. */

import { readMcpName, SERVER_NAME } from '../policy/mcp-names.ts'
import type { Suggestion } from './suggestion.ts'

export interface GrantList {
  readonly section: readonly string[]
  readonly name: string
  /** The entry, if it is not the value of the grant. */
  readonly item?: string
}

/** The list that an answer is written into, or null. */
export function grantList(
  { kind, value }: Pick<Suggestion, 'kind' | 'value'>,
  verdict: 'allow' | 'deny',
  tool: string,
): GrantList | null {
  const allows = verdict === 'allow'
  const side = ['capabilities', verdict]
  switch (kind) {
    case 'command':
      return { section: [...side, 'commands'], name: 'patterns' }
    case 'read':
    case 'write':
      return { section: [...side, kind], name: 'paths' }
    case 'flow':
      return null
    case 'port':
      return allows ? { section: ['sandbox', 'os'], name: 'dev_server_ports' } : null
    case 'tool': {
      // `[mcp.SERVER] tools` lists what is allowed.
      const [called = '', ...conditions] = value.split(' ')
      const { server, tool: inner, isAmbiguous } = readMcpName(called)
      if (!allows || isAmbiguous || !SERVER_NAME.test(server)) return null
      return { section: ['mcp', server], name: 'tools', item: [inner, ...conditions].join(' ') }
    }
    case 'directory':
      return allows ? { section: side, name: 'additional_directories' } : { section: [...side, 'read'], name: 'paths' }
    case 'host':
      if (tool !== 'webfetch' && tool !== 'http')
        return { section: [...side, 'commands'], name: allows ? 'default_domains' : 'domains' }
      return allows ? { section: ['http'], name: 'allowed_hosts' } : { section: ['security'], name: 'deny_domains' }
  }
}
