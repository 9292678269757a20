/** Warnings at start: dangerous settings (P5), and manifest lines without effect (M6). */

import { machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import type { LoadedPolicy } from './load/load.ts'

/** One sentence per warning. */
export function startNotes(
  loaded: LoadedPolicy,
  { isRoot }: Pick<Machine, 'isRoot'>,
  tools: readonly string[] = [],
): readonly string[] {
  const { policy, sandbox } = loaded
  const brief = loaded.session.discoveryBrief
  const { mode } = policy
  const bash = policy.tools.get('bash')
  return [
    ...(isRoot ? ['Cordon runs as root: commands read as root what the sandbox shows'] : []),
    ...(mode.value === 'auto' ? [`mode "auto" (${mode.source}) runs everything that no deny rule stops`] : []),
    ...(policy.autoAccept.value && mode.value === 'custom'
      ? [`auto_accept (${policy.autoAccept.source}) answers every ask with yes`]
      : []),
    ...(bash?.value === 'allow' ? [`bash is allowed without asking (${bash.source})`] : []),
    ...(policy.http.allowPrivate ? ['private and internal hosts are open to the web tools and commands'] : []),
    ...(sandbox.maskSecrets.value ? [] : [`secrets are not hidden from commands (${sandbox.maskSecrets.source})`]),
    ...(brief !== null && machineFiles.isMissing(brief)
      ? [`the discovery brief ${brief} is missing: nothing may be changed until it exists`]
      : []),
    ...loadWarnings(loaded),
    ...tools,
  ]
}

/** Warnings shown at every load: lines without effect, and dangerous ones. */
export function loadWarnings({ warnings }: LoadedPolicy): readonly string[] {
  return warnings.map(({ message, file, line, key }) => `${message} (${file}:${line ?? key})`)
}
