/** Every host that Cordon has a hook for, each loaded when it calls. */

import type { Host, HostName } from './host.ts'

const LOADERS: Readonly<Record<HostName, () => Promise<Host>>> = {
  'claude-code': async () => (await import('./claude-code.ts')).claudeCode,
  codex: async () => (await import('./codex.ts')).codex,
  gemini: async () => (await import('./gemini.ts')).gemini,
  cursor: async () => (await import('./cursor.ts')).cursor,
  opencode: async () => (await import('./opencode.ts')).opencode,
}

/** The host of that name, or null. */
export async function loadHost(name: string): Promise<Host | null> {
  return Object.hasOwn(LOADERS, name) ? LOADERS[name as HostName]() : null
}
