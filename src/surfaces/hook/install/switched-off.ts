/** What in a host's settings keeps our hook from running, although it is there: hosts say nothing about it. */

import { parseSettings } from '../../../system/settings-json.ts'
import { isHookCommand } from '../host/hook-command.ts'
import { isObject, type Json } from '../host/host.ts'
import type { HostInstall, Read, SwitchedOff } from '../host/host-install.ts'
import type { InstallPlace } from '../host/install-place.ts'

/** Looks through the settings of every scope, since each can switch the hooks of all; null when nothing speaks against ours. */
export function switchedOff(host: HostInstall, place: InstallPlace, read: Read): SwitchedOff | null {
  return host.switchedOff?.(place, (file) => settingsOf(file, read)) ?? null
}

/** Files of the host that hold hooks of others before a call. */
export function otherHooks({ others }: HostInstall, place: InstallPlace, read: Read): readonly string[] {
  if (!others) return []
  return [...new Set(others.files(place))].filter((file) => {
    const { hooks } = settingsOf(file, read)
    const rows: unknown = isObject(hooks) ? hooks[others.event] : []
    if (!Array.isArray(rows)) return false
    const commands = rows.flatMap((row: unknown) => (isObject(row) && Array.isArray(row.hooks) ? row.hooks : []))
    return commands.some((hook: unknown) => isObject(hook) && !isHookCommand(hook.command))
  })
}

/** The settings in a file, which may hold comments; nothing when it cannot be read, which the host cannot either. */
function settingsOf(file: string, read: Read): Json {
  try {
    const settings = parseSettings(read(file) ?? '{}')
    return isObject(settings) ? settings : {}
  } catch {
    return {}
  }
}
