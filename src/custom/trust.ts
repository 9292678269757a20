/** Shows custom tools for review and records trust (T3). */

import { toolTrust } from '../tools/custom/discover.ts'
import type { CustomToolManifest } from '../tools/custom/tool-manifest.ts'
import type { TrustStatus } from '../tools/custom/trust.ts'
import type { InputSchema } from '../tools/input-schema.ts'
import type { CustomTools } from './tools.ts'

export interface ToolRow {
  readonly name: string
  readonly description: string
  readonly path: string
  readonly scope: string
  readonly status: TrustStatus
  readonly hash: string
  readonly labels: readonly string[]
  /** Limits of its sandbox, one sentence each. */
  readonly limits: readonly string[]
  readonly input: InputSchema
  readonly scriptText: string
}

/** Every tool that loads, with its current trust. */
export function toolRows({ discovery, store }: CustomTools): readonly ToolRow[] {
  return toolTrust(discovery.tools, store).map(({ tool, status }) => ({
    name: tool.manifest.name,
    description: tool.manifest.description,
    path: tool.path,
    scope: tool.scope,
    status,
    hash: tool.hash,
    labels: tool.manifest.labels,
    limits: limits(tool.manifest),
    input: tool.manifest.input,
    scriptText: new TextDecoder().decode(tool.script),
  }))
}

function limits({ labels, domains, env, timeout, requireConfirmation }: CustomToolManifest): string[] {
  return [
    labels.includes('network') ? `reaches ${domains.join(', ') || 'no host (none is named)'}` : 'has no network',
    labels.includes('filesystem') ? 'sees the project as commands do' : 'does not see the project',
    labels.includes('execute') ? 'may start other programs' : 'is one process and starts no other',
    env.length > 0 ? `sees your variables ${env.join(', ')}` : 'sees none of your variables',
    `is stopped after ${timeout} s`,
    ...(requireConfirmation ? ['asks before every run'] : []),
  ]
}

/** Trusts exactly the bytes that were shown. */
export function trustTool({ store }: CustomTools, { scope, name, hash }: ToolRow, now: Date): void {
  store.trust({ scope, name }, hash, now.toISOString())
}

/** Revokes trust; false if there was none. Also works for a tool whose files are gone. */
export function untrustTool({ store, places }: CustomTools, name: string): boolean {
  const scopes = ['user', places.root]
  return scopes.map((scope) => store.untrust({ scope, name })).some((was) => was)
}
