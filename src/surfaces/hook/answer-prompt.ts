/** Lets a person's words go to the model, unless the host would add unreadable files or run unapproved commands. */

import { openHookJudge } from '../../agents/hook/judge.ts'
import { needsPolicy, promptDenials } from '../../agents/hook/unseen.ts'
import { findRoot } from '../../project/place/root.ts'
import type { HookSetting } from './answer-hook.ts'
import type { Host, HostPrompts, Json } from './host/host.ts'
import { unseenPlace } from './host/host.ts'
import { reasonText } from './reason-text.ts'

/** Returns the text for stdout. */
export async function answerPrompt(
  host: Host,
  prompts: HostPrompts,
  input: Json,
  setting: HookSetting,
): Promise<string> {
  const { project, cwd, ...words } = prompts.parse(input, setting.machine.env)
  const { machine, files, root, inside } = setting
  const goesOn = prompts.pass ?? ''
  const blind = inside ? null : ((await prompts.blind?.(machine.env)) ?? null)
  if (blind !== null) return prompts.refuse(reasonText(blind.message, blind.remedy))
  const opened = await openHookJudge({
    machine,
    files,
    root: root ?? project,
    exact: root !== null,
    cwd,
    host: host.name,
    session: null,
    shell: false,
    inside,
  })
  if (!host.expands) return goesOn
  const isOpen = 'judge' in opened
  const start = isOpen ? opened.judge.loaded.root : files.canonical(root ?? findRoot(project, files))
  const place = unseenPlace(host, start, cwd, setting)
  if (prompts.withheld?.isAsked(input)) {
    const { heldCommands } = await import('../../agents/hook/held-commands.ts')
    const commands = heldCommands(isOpen ? opened.judge : opened.closed, start, place)
    return prompts.withheld.answer(commands.map(({ name, reason }) => ({ name, reason: reasonText(reason) })))
  }
  // Every call reports a missing policy, but nothing else reports content that is sent on its own.
  if (!isOpen)
    return (await needsPolicy(start, words, host.expands, place)) ? prompts.refuse(reasonText(opened.closed)) : goesOn
  const [why] = await promptDenials(opened.judge, words, host.expands, place)
  return why === undefined ? goesOn : prompts.refuse(reasonText(why.message, why.remedy))
}
