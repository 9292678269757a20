/** What is dangerous about a set-up, said at the start (P5), and what its manifests say in vain (M6). */

import type { LoadedPolicy } from './load.ts'

/** A sentence for each thing that a person should know before anything runs. */
export function startNotes(loaded: LoadedPolicy, tools: readonly string[] = []): readonly string[] {
  const { policy, sandbox, session } = loaded
  const { mode } = policy
  const bash = policy.tools.get('bash')
  const wrappers = policy.flags.privilege_wrappers
  return [
    ...(process.getuid?.() === 0 ? ['Cordon runs as root: what the sandbox shows, a command reads as root'] : []),
    ...(mode.value === 'auto' ? [`mode "auto" (${mode.source}) runs everything that no deny rule stops`] : []),
    ...(policy.autoAccept.value && mode.value === 'custom'
      ? [`auto_accept (${policy.autoAccept.source}) answers every ask with yes`]
      : []),
    ...(bash?.value === 'allow' ? [`bash is allowed without asking (${bash.source})`] : []),
    ...(policy.http.allowPrivate ? ['private and internal hosts are open to the web tools and commands'] : []),
    ...(sandbox.maskSecrets.value ? [] : [`secrets are not hidden from commands (${sandbox.maskSecrets.source})`]),
    ...(wrappers.value ? [`sudo and doas can be granted (${wrappers.source}), and gain nothing in the sandbox`] : []),
    ...(session.dumpProviderPayloads.value
      ? [`prompts, results and answers are written to disk in clear text (${session.dumpProviderPayloads.source})`]
      : []),
    ...unsetVariables(loaded),
    ...tools,
  ]
}

/** Entries that name a variable which is not set: nothing is granted by them. */
export function unsetVariables({ warnings }: LoadedPolicy): readonly string[] {
  return warnings.flatMap(({ code, message, file, line }) =>
    code === 'unset-variable' ? [`${message} (${file}${line === null ? '' : `:${line}`})`] : [],
  )
}
