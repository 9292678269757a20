/** Codex silently skips hooks that it does not trust: asks Codex for key and hash, and writes them down. */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseToml, tomlText, tomlValue, withTomlValue } from '../../../agents/settings/toml-text.ts'
import { Fault } from '../../../system/fault.ts'
import { hookCommand, isHookCommand, resultCommand } from '../host/hook-command.ts'
import { isObject, type Json } from '../host/host.ts'
import type { Read, SelfTest, TrustStep } from '../host/host-install.ts'
import { hookRoot, type InstallPlace } from '../host/install-place.ts'
import type { TrustEntry } from '../host/installed-trust.ts'
import { codexHome } from '../records/codex-record.ts'

export interface CodexHook {
  /** `<file>:pre_tool_use:0:0` */
  readonly key: string
  readonly command: string
  readonly hash: string
  readonly trusted: boolean
  readonly enabled: boolean
}

/** Whether Codex reports the hook in this file as loaded and trusted. */
export async function asked(codex: string, place: InstallPlace, file: string): Promise<SelfTest> {
  const ours = ownHooks(await askCodex(codex, place.root, place.env), place, file)
  if (ours.length === 0) return { ok: false, detail: 'Codex does not load the hook' }
  if (!ours.every((hook) => hook.trusted && hook.enabled)) return { ok: false, detail: 'Codex does not trust the hook' }
  return { ok: true, detail: 'Codex says that it trusts the hook' }
}

/** Codex requires a hook's hash in its configuration, and a trusted project for project hooks. */
export async function* trusted(
  codex: string | null,
  place: InstallPlace,
  file: string,
  read: Read,
): AsyncGenerator<TrustStep> {
  if (codex === null) return
  const { scope, root } = place
  const path = join(codexHome(place), 'config.toml')
  const step = (values: readonly (readonly [table: string, key: string, value: string])[]): TrustStep => {
    const before = read(path)
    const entries: TrustEntry[] = []
    const after = values.reduce((text, [table, key, value]) => {
      const old = tomlValue(text, table, key)
      if (old === value) return text
      entries.push({ agent: 'codex', scope, root, path, table, key, before: old, after: value })
      return checkedToml(path, text, withTomlValue(text, table, key, value))
    }, before ?? '')
    return { change: { path, before, after: entries.length === 0 ? before : after }, entries }
  }
  if (scope === 'project') yield step([[`projects.${tomlText(root)}`, 'trust_level', 'trusted']])
  const ours = ownHooks(await askCodex(codex, root, place.env), place, file).filter((hook) => !hook.trusted)
  yield step(ours.map(({ key, hash }) => [`hooks.state.${tomlText(key)}`, 'trusted_hash', hash]))
}

/** The new text of a TOML file, checked: tables can be written in ways that another line would duplicate. */
function checkedToml(path: string, before: string, after: string): string {
  const isToml = (text: string): boolean => {
    try {
      parseToml(text, path)
      return true
    } catch {
      return false
    }
  }
  if (isToml(after) || !isToml(before)) return after
  throw new Fault('agent-settings', `${path} has no place for the trust that Codex wants`, {
    remedy: 'Write its tables as [projects."PATH"] and [hooks.state."KEY"], then run it again.',
  })
}

/** Codex's hooks that are exactly the ones we install: a project can contain look-alikes. */
export function ownHooks(hooks: readonly CodexHook[], place: InstallPlace, file: string): readonly CodexHook[] {
  const commands = [hookCommand, resultCommand].map((line) => line('codex', hookRoot(place), place.cordon))
  return hooks.filter(({ key, command }) => key.startsWith(`${file}:`) && commands.includes(command))
}

/** Hooks like ours that this Codex sees in a project. Rejects if Codex cannot be asked. */
async function askCodex(codex: string, root: string, env: NodeJS.ProcessEnv): Promise<readonly CodexHook[]> {
  const child = spawn(codex, ['app-server'], { cwd: root, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
  try {
    const answers = answersOf(child)
    const send = (message: Json): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    child.stdin.on('error', () => {})
    send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'cordon', version: '0' } } })
    await answers(1)
    send({ method: 'initialized' })
    send({ id: 2, method: 'hooks/list', params: { cwds: [root] } })
    return ourHooks(await answers(2))
  } finally {
    clearTimeout(timer)
    child.kill()
  }
}

/** Waits for the answer with an id; rejects if the process ends first. */
function answersOf(child: ReturnType<typeof spawn>): (id: number) => Promise<Json> {
  const known = new Map<number, Json>()
  const waiting = new Map<number, { resolve: (answer: Json) => void; reject: (error: Error) => void }>()
  let ended: Error | null = null
  let rest = ''
  child.stdout?.on('data', (data) => {
    const lines = (rest + data).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const answer = parse(line)
      if (!answer || typeof answer.id !== 'number') continue
      known.set(answer.id, answer)
      waiting.get(answer.id)?.resolve(answer)
    }
  })
  const end = (error: Error): void => {
    ended = error
    for (const { reject } of waiting.values()) reject(error)
  }
  child.on('error', end)
  child.on('close', () => end(new Error('codex app-server ended without an answer')))
  return (id) =>
    new Promise((resolve, reject) => {
      const answer = known.get(id)
      if (answer) resolve(answer)
      else if (ended) reject(ended)
      else waiting.set(id, { resolve, reject })
    })
}

function parse(line: string): Json | null {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function ourHooks(answer: Json): readonly CodexHook[] {
  const data = isObject(answer.result) && Array.isArray(answer.result.data) ? answer.result.data : []
  const hooks = data.flatMap((place) => (isObject(place) && Array.isArray(place.hooks) ? place.hooks : []))
  return hooks.filter(isObject).flatMap((hook) =>
    isHookCommand(hook.command) && typeof hook.key === 'string' && typeof hook.currentHash === 'string'
      ? [
          {
            key: hook.key,
            command: hook.command,
            hash: hook.currentHash,
            trusted: hook.trustStatus === 'trusted',
            enabled: hook.enabled === true,
          },
        ]
      : [],
  )
}
