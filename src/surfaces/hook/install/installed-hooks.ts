/** The hooks that were installed with what was created for them, so that silent removal is noticed. */

import { OwnList } from '../../../system/own-list.ts'
import { openOwnDirectory } from '../../../system/state.ts'
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

/** The hook installed for an agent here, or null. */
export function installedHook(
  stateDir: string,
  { agent, scope, root }: Pick<InstalledHook, 'agent' | 'scope' | 'root'>,
): InstalledHook | null {
  return HOOKS.read(stateDir).find((hook) => isFor(hook, agent, scope, root)) ?? null
}

/** Every hook that is installed. */
export function installedHooks(stateDir: string): readonly InstalledHook[] {
  return HOOKS.read(stateDir)
}

export function keepHook(stateDir: string, hook: InstalledHook): void {
  HOOKS.change(openOwnDirectory(stateDir), (hooks) => {
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
  HOOKS.change(openOwnDirectory(stateDir), (hooks) => hooks.filter((hook) => !isFor(hook, agent, scope, root)))
}

function isFor(hook: InstalledHook, agent: string, scope: string, root: string): boolean {
  return hook.agent === agent && hook.scope === scope && (scope === 'user' || hook.root === root)
}

function isHook(value: unknown): boolean {
  return (
    isObject(value) &&
    ['agent', 'scope', 'root'].every((name) => typeof value[name] === 'string') &&
    Array.isArray(value.made) &&
    value.made.every((path) => typeof path === 'string') &&
    (value.since === undefined || typeof value.since === 'number')
  )
}

const HOOKS = new OwnList<InstalledHook>(
  { file: 'agent-hooks.json', lock: 'locks/agent-hooks', field: 'hooks', goesEmpty: true },
  isHook,
)
