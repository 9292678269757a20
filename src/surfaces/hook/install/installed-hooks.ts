/** The hooks that were installed with what was created for them, so that silent removal is noticed. */

import { join } from 'node:path'
import { withLock } from '../../../system/lock.ts'
import { openOwnDirectory, readOwnJson, removeIfThere, writeOwnJson } from '../../../system/state.ts'
import { isObject } from '../host/host.ts'

export interface InstalledHook {
  readonly agent: string
  readonly scope: string
  /** The project; for a user's hook, the one it was installed from. */
  readonly root: string
  /** Folders that the installation created, outermost first. */
  readonly made: readonly string[]
  /** The time of the first installation in milliseconds; absent in older records. */
  readonly since?: number
}

interface HookFile {
  readonly version: 1
  readonly hooks: readonly InstalledHook[]
}

/** The hook installed for an agent here, or null. */
export function installedHook(
  stateDir: string,
  { agent, scope, root }: Pick<InstalledHook, 'agent' | 'scope' | 'root'>,
): InstalledHook | null {
  return read(stateDir).find((hook) => isFor(hook, agent, scope, root)) ?? null
}

/** Every hook that is installed. */
export function installedHooks(stateDir: string): readonly InstalledHook[] {
  return read(stateDir)
}

export function keepHook(stateDir: string, hook: InstalledHook): void {
  change(stateDir, (hooks) => {
    const known = hooks.find((other) => isFor(other, hook.agent, hook.scope, hook.root))
    const created = [...new Set([...(known?.made ?? []), ...hook.made])]
    const since = known ? known.since : hook.since
    return [
      ...hooks.filter((other) => other !== known),
      { ...hook, made: created, ...(since !== undefined && { since }) },
    ]
  })
}

export function forgetHook(
  stateDir: string,
  { agent, scope, root }: Pick<InstalledHook, 'agent' | 'scope' | 'root'>,
): void {
  if (installedHook(stateDir, { agent, scope, root }) === null) return
  change(stateDir, (hooks) => hooks.filter((hook) => !isFor(hook, agent, scope, root)))
}

function isFor(hook: InstalledHook, agent: string, scope: string, root: string): boolean {
  return hook.agent === agent && hook.scope === scope && (scope === 'user' || hook.root === root)
}

function read(stateDir: string): readonly InstalledHook[] {
  return readOwnJson(join(stateDir, 'agent-hooks.json'), isHookFile)?.hooks ?? []
}

function change(stateDir: string, how: (hooks: readonly InstalledHook[]) => readonly InstalledHook[]): void {
  const directory = openOwnDirectory(stateDir)
  const file = join(directory, 'agent-hooks.json')
  withLock(join(directory, 'locks/agent-hooks'), () => {
    const hooks = how(read(directory))
    if (hooks.length > 0) writeOwnJson(file, { version: 1, hooks } satisfies HookFile)
    else removeIfThere(file)
  })
}

function isHookFile(value: unknown): value is HookFile {
  return isObject(value) && value.version === 1 && Array.isArray(value.hooks) && value.hooks.every(isHook)
}

function isHook(value: unknown): value is InstalledHook {
  return (
    isObject(value) &&
    ['agent', 'scope', 'root'].every((name) => typeof value[name] === 'string') &&
    Array.isArray(value.made) &&
    value.made.every((path) => typeof path === 'string') &&
    (value.since === undefined || typeof value.since === 'number')
  )
}
