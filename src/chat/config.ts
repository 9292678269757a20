/** The agent's configuration and keys (A4), and the check of a new provider. */

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
import { type OpenedModel, openModel } from './model.ts'

export function configPath({ configDir }: Machine): string {
  return join(configDir, 'config.json')
}

export interface OpenedConfig {
  readonly config: ChatConfig
  /** Notes about keys that were moved. */
  readonly notes: readonly string[]
}

/** Reads the configuration, after moving plain-text keys into the key store. */
export function openConfig(machine: Machine, store: KeyStore = keysOf(machine)): OpenedConfig {
  const path = configPath(machine)
  const raw = rawConfig(machine)
  if (raw === null) return { config: emptyConfig(), notes: [] }
  const { moved, warnings } = moveKeys(path, store)
  const config = parseConfig(moved.length > 0 ? rawConfig(machine) : raw, path)
  const moves = moved.length > 0 ? [`keys were moved out of ${path}: ${moved.join(', ')}`] : []
  return { config, notes: [...moves, ...warnings] }
}

/** Changes these settings and keeps the others. */
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

export function keysOf({ stateDir }: Machine): KeyStore {
  return openKeyStore(openOwnDirectory(stateDir))
}

/** The variable in which an editor passes the key. */
const EDITOR_VARIABLE = 'CORDON_API_KEY'

/** A profile's key: stored, else from a variable. `fromEditor`: only CORDON_API_KEY. */
export function keyOf(profile: Profile, machine: Machine, fromEditor: boolean, store?: KeyStore): string | null {
  const found = fromEditor
    ? machine.env[EDITOR_VARIABLE]
    : (stored(profile, store ?? keysOf(machine)) ?? variable(profile, machine))
  const key = found?.trim()
  if (key) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a header takes none of them.
    if (/[\u0000-\u0020\u007f-\uffff]/.test(key)) {
      throw new Fault('bad-key', `the key of "${profile.name}" contains characters that no key has`)
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

/** Stores a key; returns a warning if it is not in the keychain. */
export function storeKey(machine: Machine, name: string, key: string): string | null {
  return keysOf(machine).write(`api-key.${name}`, key).warning
}

export function deleteKey(machine: Machine, profile: Profile): void {
  const store = keysOf(machine)
  for (const name of profile.keyNames) store.delete(name)
}

export { knownProvider, knownProviders } from '../providers/catalog.ts'

/** The profile of the person's answers, before it is stored. */
export function profileFor(machine: Machine, name: string, model: string, endpoint: string | null): Profile {
  const value = { provider: name, model, ...(endpoint !== null && { endpoint }) }
  return parseConfig(value, configPath(machine)).profiles.get(name)!
}

/** The profile's model, when no project is open: the user's own rules apply. */
async function modelOf(profile: Profile, key: string | null, machine: Machine): Promise<OpenedModel> {
  const root = openOwnDirectory(machine.stateDir)
  const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
  if ('problems' in outcome) {
    throw new Fault('manifest', `your manifest does not load:\n${outcome.problems.map(renderProblem).join('\n')}`)
  }
  const { policy, sandbox } = outcome.loaded
  return openModel({
    profile: { ...profile, maxTokens: 16 },
    key,
    machine,
    policy: () => policy,
    resolver: machineResolver(),
    upstream: machineUpstream(machine, sandbox),
    dumps: null,
  })
}

/** The models that the provider offers; empty if it does not say. */
export async function offeredModels(
  profile: Profile,
  key: string | null,
  machine: Machine,
): Promise<readonly string[]> {
  try {
    return await (await modelOf(profile, key, machine)).list(AbortSignal.timeout(LIST_MS))
  } catch {
    // The test request says what is wrong.
    return []
  }
}

const LIST_MS = 10_000

/** Sends one test request. Throws its error. */
export async function checkProfile(
  profile: Profile,
  key: string | null,
  machine: Machine,
  signal: AbortSignal,
): Promise<{ readonly milliseconds: number }> {
  const started = performance.now()
  const model = await modelOf(profile, key, machine)
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Answer with the word ok.' }] }]
  for await (const event of model.ask({ system: '', messages, tools: [] }, { signal })) {
    if (event.type === 'done') break
  }
  return { milliseconds: Math.round(performance.now() - started) }
}
