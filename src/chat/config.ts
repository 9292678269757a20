/** The agent's configuration on disk, and the keys that go with it (A4). */

import { join } from 'node:path'
import { renderProblem } from '../manifest/toml/problem.ts'
import { loadPolicy } from '../project/load/load.ts'
import { type ChatConfig, emptyConfig, type Profile, parseConfig } from '../providers/profile.ts'
import { machineUpstream } from '../run/network/machine-upstream.ts'
import { machineResolver } from '../system/dns.ts'
import { Fault, messageOf } from '../system/fault.ts'
import { machineFiles } from '../system/files.ts'
import { isRecord } from '../system/json.ts'
import { type KeyStore, moveKeys, openKeyStore } from '../system/keys/keychain.ts'
import type { Machine } from '../system/machine.ts'
import { openOwnDirectory, readOwnFile, writeOwnFile } from '../system/state.ts'
import { openModel } from './model.ts'

/** Where the configuration is. */
export function configPath({ configDir }: Machine): string {
  return join(configDir, 'config.json')
}

/** True when somebody has set a provider up. */
export function isConfigured(machine: Machine): boolean {
  return rawConfig(machine) !== null
}

export interface OpenedConfig {
  readonly config: ChatConfig
  /** What a person should know: keys that were moved, and where to. */
  readonly notes: readonly string[]
}

/** Reads the configuration; keys that it holds in plain text are moved into the key store first. */
export function openConfig(machine: Machine, store: KeyStore = keysOf(machine)): OpenedConfig {
  const path = configPath(machine)
  const raw = rawConfig(machine)
  if (raw === null) return { config: emptyConfig(), notes: [] }
  const { moved, warnings } = moveKeys(path, store)
  const config = parseConfig(moved.length > 0 ? rawConfig(machine) : raw, path)
  const told = moved.length > 0 ? [`keys were moved out of ${path}: ${moved.join(', ')}`] : []
  return { config, notes: [...told, ...warnings] }
}

/** Changes settings and leaves the others as they are. */
export function changeConfig(machine: Machine, change: Readonly<Record<string, unknown>>): void {
  const raw = rawConfig(machine) ?? {}
  const next = { ...raw, ...change }
  parseConfig(next, configPath(machine))
  writeOwnFile(configPath(machine), `${JSON.stringify(next, null, 2)}\n`)
}

function rawConfig(machine: Machine): Readonly<Record<string, unknown>> | null {
  const path = configPath(machine)
  const bytes = readOwnFile(path)
  if (bytes === null) return null
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (isRecord(value)) return value
  } catch (error) {
    throw new Fault('bad-config', `${path}: ${messageOf(error)}`, { cause: error })
  }
  throw new Fault('bad-config', `${path}: it is not a JSON object`)
}

/** The store that keys are in. */
export function keysOf({ stateDir }: Machine): KeyStore {
  return openKeyStore(openOwnDirectory(stateDir))
}

/** The variable that an editor passes the key in. */
const EDITOR_VARIABLE = 'CORDON_API_KEY'

/** The key of a profile: stored, else from its variable; with `fromEditor` from CORDON_API_KEY alone. Null: it needs none. */
export function keyOf(profile: Profile, machine: Machine, fromEditor: boolean, store?: KeyStore): string | null {
  const found = fromEditor
    ? machine.env[EDITOR_VARIABLE]
    : (stored(profile, store ?? keysOf(machine)) ?? variable(profile, machine))
  const key = found?.trim()
  if (key) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a header takes none of them.
    if (/[\u0000-\u0020\u007f-\uffff]/.test(key)) {
      throw new Fault('bad-key', `the key of "${profile.name}" holds characters that no key has`)
    }
    return key
  }
  if (!profile.needsKey && !fromEditor) return null
  throw new Fault('no-key', `there is no key for "${profile.name}"`, {
    remedy: fromEditor
      ? `With --vscode it comes from ${EDITOR_VARIABLE} alone.`
      : `cordon login ${profile.name} stores one${profile.keyVariable ? `; ${profile.keyVariable} works as well` : ''}.`,
  })
}

function stored({ keyNames }: Profile, store: KeyStore): string | undefined {
  for (const name of keyNames) {
    const found = store.read(name)
    if (found) return found.value
  }
  return undefined
}

function variable({ keyVariable }: Profile, { env }: Machine): string | undefined {
  return keyVariable === null ? undefined : env[keyVariable]
}

/** Keeps a key for a profile or a provider; a warning tells where it went when that was not the keychain. */
export function storeKey(machine: Machine, name: string, key: string): string | null {
  return keysOf(machine).write(`api-key.${name}`, key).warning
}

/** Forgets it. */
export function deleteKey(machine: Machine, profile: Profile): void {
  const store = keysOf(machine)
  for (const name of profile.keyNames) store.delete(name)
}

export { knownProvider, knownProviders } from '../providers/catalog.ts'

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
