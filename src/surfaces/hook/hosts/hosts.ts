/** Every host that Cordon has a hook for. */

import { claudeCode } from './claude-code.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { gemini } from './gemini.ts'
import type { Host } from './host.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwen } from './qwen.ts'

const HOSTS: readonly Host[] = [claudeCode, codex, gemini, cursor, opencode, copilot, pi, qwen, cline]

/** The host of that name, or null. */
export function findHost(name: string): Host | null {
  return HOSTS.find((host) => host.name === name) ?? null
}
