/** Setting a provider up, for surfaces: what is known, what is kept, and one request that shows that it works. */

import { renderProblem } from '../manifest/toml/problem.ts'
import { loadPolicy } from '../project/load/load.ts'
import type { Profile } from '../providers/profile.ts'
import { parseConfig } from '../providers/profile.ts'
import { machineUpstream } from '../run/network/machine-upstream.ts'
import { machineResolver } from '../system/dns.ts'
import { Fault } from '../system/fault.ts'
import { machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { openOwnDirectory } from '../system/state.ts'
import { configPath } from './config.ts'
import { openModel } from './model.ts'

export { type KnownProvider, knownProvider, knownProviders } from '../providers/catalog.ts'
export { changeConfig, configPath, deleteKey, isConfigured, keyOf, openConfig, storeKey } from './config.ts'

/** The profile that this answer of the person makes, before it is kept. */
export function profileFor(machine: Machine, name: string, model: string, endpoint: string | null): Profile {
  const value = { provider: name, model, ...(endpoint !== null && { endpoint }) }
  return parseConfig(value, configPath(machine)).profiles.get(name)!
}

/** Asks the model for one word. Throws what went wrong. */
export async function checkProfile(
  profile: Profile,
  key: string | null,
  machine: Machine,
  signal: AbortSignal,
): Promise<{ readonly milliseconds: number }> {
  const started = performance.now()
  // No project is open here: the user's own rules bind, as they do everywhere.
  const root = openOwnDirectory(machine.stateDir)
  const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
  if ('problems' in outcome) {
    throw new Fault('manifest', `your manifest does not load:\n${outcome.problems.map(renderProblem).join('\n')}`)
  }
  const { policy, sandbox } = outcome.loaded
  const model = openModel({
    profile: { ...profile, maxTokens: 16 },
    key,
    machine,
    policy: () => policy,
    resolver: machineResolver(),
    upstream: machineUpstream(machine, sandbox),
    dumps: null,
  })
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Answer with the word ok.' }] }]
  for await (const event of model.ask({ system: '', messages, tools: [] }, { signal })) {
    if (event.type === 'done') break
  }
  return { milliseconds: Math.round(performance.now() - started) }
}
