/** The tools that need something of their session: skills, language servers, the search of the person's configuration. */

import { join } from 'node:path'
import { skillPort } from '../custom/skill-port.ts'
import type { CustomToolHost } from '../custom/tools.ts'
import { recordOf } from '../system/json.ts'
import type { Machine } from '../system/machine.ts'
import { readOwnFile } from '../system/state.ts'
import { lspTool, skillTool, type TaskPort, taskTool } from '../tools/built-in/agent-tools.ts'
import { websearchTool } from '../tools/built-in/web-tools.ts'
import type { Tool } from '../tools/tool.ts'
import type { LanguageServers } from './language/language-servers.ts'

/** Every session has them; `websearch` where there is an endpoint, and `task` where somebody runs sub-agents. */
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

/** The endpoint, or null. A configuration that cannot be read has none: who needs the rest of it says what is wrong. */
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
