/** What is dangerous about a set-up, said at the start (P5); and what killed sessions left, cleared away. */

import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Problem } from '../../manifest/check/problem.ts'
import type { LoadedPolicy } from '../policy/load.ts'

/** A sentence for each thing that a person should know before anything runs. */
export function startNotes({ policy, sandbox, warnings }: LoadedPolicy, tools: readonly string[]): readonly string[] {
  const { mode } = policy
  const bash = policy.tools.get('bash')
  return [
    ...(process.getuid?.() === 0 ? ['Cordon runs as root: what the sandbox shows, a command reads as root'] : []),
    ...(mode.value === 'auto' ? [`mode "auto" (${mode.source}) runs everything that no deny rule stops`] : []),
    ...(policy.autoAccept.value && mode.value === 'custom'
      ? [`auto_accept (${policy.autoAccept.source}) answers every ask with yes`]
      : []),
    ...(bash?.value === 'allow' ? [`bash is allowed without asking (${bash.source})`] : []),
    ...(policy.http.allowPrivate ? ['private and internal hosts are open to the web tools and commands'] : []),
    ...(sandbox.maskSecrets.value ? [] : [`secrets are not hidden from commands (${sandbox.maskSecrets.source})`]),
    ...warnings.map(loadWarning),
    ...tools,
  ]
}

/** What a manifest that loads is warned of, on one line. */
export function loadWarning({ file, line, key, message, suggestion }: Problem): string {
  const place = line === null ? key : `${file}:${line}`
  return `${place}: ${message}${suggestion === null ? '' : ` (${suggestion})`}`
}

const KEEP_SPILL_MS = 24 * 3600 * 1000

/** Removes the spilled output of sessions older than a day. */
export function reapSpill(directory: string, now: number): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    try {
      if (now - statSync(path).mtimeMs > KEEP_SPILL_MS) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another process was faster.
    }
  }
}
