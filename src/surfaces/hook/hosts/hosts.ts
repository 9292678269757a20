/** Every host that Cordon has a hook for. */

import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { cursor } from './cursor.ts'
import { gemini } from './gemini.ts'
import type { Host } from './host.ts'
import { opencode } from './opencode.ts'

const HOSTS: readonly Host[] = [claudeCode, codex, gemini, cursor, opencode]

/** The host of that name, or null. */
export function findHost(name: string): Host | null {
  return HOSTS.find((host) => host.name === name) ?? null
}
