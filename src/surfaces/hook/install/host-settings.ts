/** Plans a host's settings with our hook and without it; writes nothing. */

import { HOOK_MARK, hookCommand, resultCommand } from '../host/hook-command.ts'
import type { HookCommands, HookFile, Read } from '../host/host-install.ts'
import { type FileChange, hookRoot, type InstallPlace, SettingsError } from '../host/install-place.ts'
import type { HostName, InstalledHost } from '../hosts/hosts.ts'

/** The command lines to install; plugins contain the same words. */
export function installedCommands(host: HostName, place: InstallPlace): HookCommands {
  const [root, { cordon }] = [hookRoot(place), place]
  return { call: hookCommand(host, root, cordon), result: resultCommand(host, root, cordon) }
}

/** Whether a text contains our hook, or is one. */
export function isOwnText(text: string): boolean {
  return text.includes(HOOK_MARK) || text.includes('Written by cordon install')
}

export function backupOf(path: string): string {
  return `${path}.cordon-backup`
}

/**
 * The changes that install or remove our hook, the host's own file first. Throws a `SettingsError` if one prevents it.
 */
export function planSettings(host: InstalledHost, place: InstallPlace, read: Read, uninstall: boolean): FileChange {
  return planFile(host, host.name, place, read, uninstall)
}

export function planSecondFile(
  host: InstalledHost,
  place: InstallPlace,
  read: Read,
  uninstall: boolean,
): FileChange | null {
  return host.second ? planFile(host.second, host.name, place, read, uninstall) : null
}

function planFile(
  { file, edit }: HookFile,
  host: HostName,
  place: InstallPlace,
  read: Read,
  uninstall: boolean,
): FileChange {
  const path = file(place)
  const before = read(path)
  const original = read(backupOf(path))
  try {
    const after =
      before === null && uninstall
        ? null
        : edit(before, uninstall ? null : installedCommands(host, place), place, original)
    if (!uninstall || before === null || after === before) return { path, before, after }
    // Ignore a difference in the last line end.
    if (original !== null && after !== null && original.trimEnd() === after.trimEnd())
      return { path, before, after: original }
    return { path, before, after: isEmpty(after) && original === null ? null : after }
  } catch (error) {
    if (!(error instanceof SettingsError || error instanceof TypeError || error instanceof SyntaxError)) throw error
    throw new SettingsError(`${path} cannot take the hook: ${error.message}`)
  }
}

function isEmpty(text: string | null): boolean {
  return text !== null && /^(?:\{\s*(?:"version":\s*1\s*)?\})?\s*$/.test(text)
}
