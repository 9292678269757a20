/** Converts a compiled policy to JSON and back. */

import type { CompiledPolicy } from '../../manifest/compile.ts'

/** A value as JSON: maps become lists of entries, functions are dropped. */
export type Frozen<T> = T extends (...args: never) => unknown
  ? never
  : T extends ReadonlyMap<infer K, infer V>
    ? readonly (readonly [K, Frozen<V>])[]
    : T extends object
      ? { readonly [Name in keyof T]: Frozen<T[Name]> }
      : T

export function frozenPolicy({ policy, sandbox, session, warnings }: CompiledPolicy): Frozen<CompiledPolicy> {
  const data = JSON.stringify({ policy, sandbox, session, warnings }, (_, part) =>
    part instanceof Map ? [...part] : part,
  )
  return JSON.parse(data) as Frozen<CompiledPolicy>
}

export function thawedPolicy({ policy, sandbox, session, warnings }: Frozen<CompiledPolicy>): CompiledPolicy {
  const { agents, tools, commands, http } = policy
  return {
    policy: {
      ...policy,
      agents: new Map(agents.map(([name, rule]) => [name, { ...rule, tools: new Map(rule.tools) }])),
      tools: new Map(tools),
      commands: { ...commands, toolDomains: new Map(commands.toolDomains) },
      http: http as CompiledPolicy['policy']['http'],
    },
    sandbox,
    session: { ...session, tools: new Map(session.tools), mcpRules: new Map(session.mcpRules) },
    warnings,
  }
}
