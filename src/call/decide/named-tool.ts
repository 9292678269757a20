/** Resolves tools that are not built in: MCP tools by name, custom tools by manifest and trust. */

import { toolPlaces } from '../../custom/tools.ts'
import type { ToolCall } from '../../policy/call.ts'
import type { Decision } from '../../policy/decision.ts'
import { judgeMcpCall, type McpScene } from '../../policy/mcp-rules.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { isRecord } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import { builtInSpecs } from '../../tools/built-in/registry.ts'
import { discoverTools, toolTrust } from '../../tools/custom/discover.ts'
import { createTrustStore } from '../../tools/custom/trust.ts'
import { bareCall } from './resolve-call.ts'

/** The agent name of a gateway, for the section `[agents.mcp]`. */
export const GATEWAY_AGENT = 'mcp'

/**
 * Applies the rules of the tool's server. The server is not contacted, so its hints are unknown.
 */
export function withMcpRules(
  base: Decision,
  { tool: called, input }: { readonly tool: string; readonly input: unknown },
  { session }: LoadedPolicy,
  scene: McpScene,
): Decision {
  const [, server = '', tool = ''] = /^mcp__(.+?)__(.+)$/.exec(called) ?? []
  const call = { server, tool, called, input: isRecord(input) ? input : null, hints: null }
  return judgeMcpCall(base, session.mcpRules.get(server), call, scene)
}

export type NamedToolCall =
  | { readonly call: ToolCall; readonly agent?: string }
  | { readonly problem: string; readonly remedy: string }

/** Resolves such a tool to a call, or says why it cannot. */
export function resolveNamedTool(name: string, loaded: LoadedPolicy, machine: Machine): NamedToolCall {
  if (/^mcp__.+__.+$/.test(name)) {
    const { agent, agents } = loaded.policy
    const own = agent.value !== 'plan' && agents.has(GATEWAY_AGENT)
    return { call: bareCall(name), ...(own && { agent: GATEWAY_AGENT }) }
  }
  const { tools } = discoverTools(toolPlaces(loaded, machine))
  const known = toolTrust(tools, createTrustStore(machine.stateDir))
  const found = known.find(({ tool }) => tool.manifest.name === name)
  if (!found) {
    const names = [...builtInSpecs.map((spec) => spec.name), ...tools.map(({ manifest }) => manifest.name)]
    return { problem: `There is no tool "${name}".`, remedy: `The tools are: ${names.join(', ')}.` }
  }
  const settings = loaded.session.tools.get(name)
  if (settings?.enabled.value === false)
    return { problem: `The tool ${name} is disabled.`, remedy: `[tools.${name}] enabled is false in the manifest.` }
  if (found.status !== 'ok')
    return { problem: `The tool ${name} is not trusted, so it does not run.`, remedy: `cordon tools trust ${name}` }
  const requireConfirmation = found.tool.manifest.requireConfirmation || settings?.requireConfirmation.value === true
  return { call: { ...bareCall(name), requireConfirmation } }
}
