/** The tools that depend on their session: skills, language servers, sub-agents, web search. */

import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { skillPort } from '../custom/skill-gate.ts'
import type { CustomToolHost } from '../custom/tools.ts'
import { recordOf } from '../system/json.ts'
import type { Machine } from '../system/machine.ts'
import { readOwnFile } from '../system/state.ts'
import { lspTool, skillTool, type TaskPort, taskTool } from '../tools/built-in/agent-tools.ts'
import { websearchTool } from '../tools/built-in/web-tools.ts'
import type { Tool } from '../tools/tool.ts'
import type { LanguageServers } from './language/language-servers.ts'

/** `websearch` needs an endpoint, and `task` a runner of sub-agents. */
export function sessionTools(
  host: CustomToolHost,
  machine: Machine,
  root: string,
  task: TaskPort | null,
): readonly Tool[] {
  const search = searchEndpoint(machine)
  let servers: Promise<LanguageServers> | null = null
  const languages = (): Promise<LanguageServers> => {
    servers ??= import('./language/language-servers.ts').then((found) => new found.LanguageServers(host, machine, root))
    return servers
  }
  return [
    skillTool(skillPort(root, machine)),
    lspTool(async (question, signal) => (await languages()).ask(question, signal)),
    ...(search === null ? [] : [websearchTool(search)]),
    ...(task === null ? [] : [taskTool(task)]),
  ]
}

/** The endpoint, or null. Other readers of the configuration report its errors. */
function searchEndpoint({ configDir }: Machine): string | null {
  try {
    const bytes = readOwnFile(join(configDir, 'config.json'))
    if (bytes === null) return null
    const { url } = recordOf(recordOf(JSON.parse(new TextDecoder().decode(bytes))).search)
    return typeof url === 'string' && /^https?:\/\//.test(url) ? url : null
  } catch {
    return null
  }
}

const KEEP_SPILL_MS = 24 * 3600 * 1000

/** Removes spilled output that is older than a day. */
export function reapSpill(directory: string, now: number): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    try {
      if (now - statSync(path).mtimeMs > KEEP_SPILL_MS) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another process was faster.
    }
  }
}
