/** Resolves tools that are not built in: MCP tools by name, custom tools by manifest and trust. */

import { parse } from 'node:path'
import { toolPlaces } from '../../custom/tools.ts'
import type { ToolCall } from '../../policy/call.ts'
import { mcpCallOf } from '../../policy/mcp-rules.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { machineFiles } from '../../system/files.ts'
import { isRecord } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import { builtInSpecs } from '../../tools/built-in/registry.ts'
import { discoverTools, toolTrust } from '../../tools/custom/discover.ts'
import { createTrustStore } from '../../tools/custom/trust.ts'
import { bareCall } from './resolve-call.ts'

/** The agent name of a gateway, for the section `[agents.mcp]`. */
export const GATEWAY_AGENT = 'mcp'

export type LookedAt =
  | { readonly call: ToolCall; readonly agent?: string }
  | { readonly problem: string; readonly remedy: string }

/** The call of such a tool, or why there can be none. */
export function lookAtTool(name: string, input: unknown, loaded: LoadedPolicy, machine: Machine): LookedAt {
  if (/^mcp__.+__.+$/.test(name)) {
    const { agent, agents } = loaded.policy
    const own = agent.value !== 'plan' && agents.has(GATEWAY_AGENT)
    // No one asks the server here, so its hints are not known.
    const facts = { input: isRecord(input) ? input : null, hints: null, canonical: machineFiles.canonical }
    const mcp = mcpCallOf(name, loaded.session.mcpRules, facts)
    return { call: bareCall(name, mcp), ...(own && { agent: GATEWAY_AGENT }) }
  }
  const { tools, failed } = discoverTools(toolPlaces(loaded, machine))
  const known = toolTrust(tools, createTrustStore(machine.stateDir))
  const found = known.find(({ tool }) => tool.manifest.name === name)
  if (!found) {
    // A tool of an agent host that the manifest names is decided by its level, as the hook does.
    if (loaded.policy.tools.has(name) || loaded.session.tools.has(name)) return { call: bareCall(name) }
    const broken = failed.find(({ path }) => parse(path).name === name)
    if (broken) {
      const why = broken.problems.map(({ key, message }) => `${key}: ${message}`).join('; ')
      return { problem: `The tool ${name} does not load.`, remedy: `Correct ${broken.path}: ${why}.` }
    }
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
