/** Whether Claude Code's settings let skills run programs, and which project file overrides its person. */

import { dirname, join } from 'node:path'
import type { InlineSetting } from '../../../agents/hook/inline.ts'
import { type HostSurroundings, isObject } from '../host/host.ts'

/** Disables commands in skills and commands in the host itself. */
export const NO_INLINE = 'disableSkillShellExecution'

const MANAGED = '/etc/claude-code/managed-settings.json'

/** The setting that applies in a project or a folder of it: the last of these files that has one. */
export function skillShell(at: HostSurroundings, root: string, cwd: string): InlineSetting {
  const { home, env } = at.machine
  // Both folders: a project's own settings can name the second.
  const user = [join(home, '.claude'), ...(env.CLAUDE_CONFIG_DIR ? [env.CLAUDE_CONFIG_DIR] : [])].map((folder) =>
    join(folder, 'settings.json'),
  )
  const starts = [...foldersUp(cwd, root), ...(env.CLAUDE_PROJECT_DIR ? [env.CLAUDE_PROJECT_DIR] : [])]
  const settings = [...new Set([root, ...starts])].map((folder): InlineSetting => {
    const own = ['settings.json', 'settings.local.json'].map((name) => join(folder, '.claude', name))
    const said = [...user, ...own, MANAGED].flatMap((file) => {
      const value = saidIn(file, at)
      return value === null ? [] : [{ file, value }]
    })
    const last = said.at(-1)
    if (last === undefined) return { kind: 'open' }
    if (last.value) return { kind: 'withheld' }
    const isAgainst = said.some(({ value }) => value)
    return isAgainst ? { kind: 'overridden', file: last.file, line: `"${NO_INLINE}": false` } : { kind: 'open' }
  })
  return (['overridden', 'open', 'withheld'] as const).flatMap((kind) =>
    settings.filter((one) => one.kind === kind),
  )[0]!
}

/** A file's setting, or null. A file that mentions the key but cannot be parsed may say anything. */
function saidIn(file: string, { files }: HostSurroundings): boolean | null {
  if (!files.exists(file)) return null
  let text = NO_INLINE
  try {
    text = files.readText(file)
    const settings: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    const value = isObject(settings) ? settings[NO_INLINE] : undefined
    return value === undefined ? null : value === true
  } catch {
    return text.includes(NO_INLINE) ? false : null
  }
}

function foldersUp(from: string, root: string): readonly string[] {
  if (from === root || !from.startsWith(`${root}/`)) return [from]
  return [from, ...foldersUp(dirname(from), root)]
}
