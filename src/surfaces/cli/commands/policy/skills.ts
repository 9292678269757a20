/** `cordon skills`: lists scripts of skills, and approves those that a project brings. */

import { relative } from 'node:path'
import { approveInline, inlineCommandFiles } from '../../../../custom/inline-commands.ts'
import { approveSkill, type SkillRow, skillRows } from '../../../../custom/skill-gate.ts'
import { findRoot } from '../../../../project/place/root.ts'
import { machineFiles } from '../../../../system/files.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { visible } from '../../../terminal/terminal.ts'
import { oneOf } from '../../arguments.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export function run({ terminal, args }: CommandContext): number {
  const [given = 'list', name, script] = args.words
  const verb = oneOf(['list', 'approve'], given, 'name an action')
  const machine = thisMachine()
  const root = machineFiles.canonical(findRoot(machine.cwd, machineFiles))
  if (verb === 'approve') {
    if (name === undefined) throw new UsageError('name the skill: cordon skills approve NAME [SCRIPT]')
    const inline = script === undefined ? approveInline(root, machine, name, new Date()) : []
    for (const path of inline) terminal.out(`approved the commands in ${visible(path)}\n`)
    const hasScripts = skillRows(root, machine).some((row) => row.skill === name)
    if (inline.length > 0 && !hasScripts) return EXIT.ok
    for (const approved of approveSkill(root, machine, name, script ?? null, new Date())) {
      terminal.out(`approved ${visible(name)}/${visible(approved)}\n`)
    }
    return EXIT.ok
  }
  const rows = [...skillRows(root, machine), ...inlineRows(root, machine)]
  if (args.flags.json) terminal.out(`${JSON.stringify(rows)}\n`)
  else if (rows.length === 0)
    terminal.out('there are no scripts of skills here, and no skill runs commands by itself\n')
  for (const row of args.flags.json ? [] : rows) {
    terminal.out(`${row.status.padEnd(14)}  ${row.scope.padEnd(7)}  ${visible(row.skill)}/${visible(row.script)}\n`)
  }
  return EXIT.ok
}

/** Commands that agents run by themselves when they load a skill or a command of the project; each is a row. */
function inlineRows(root: string, machine: Machine): readonly (SkillRow & { readonly inline: true })[] {
  return inlineCommandFiles(root, machine, 'anywhere').flatMap(({ names, path, commands, status, unread }) =>
    (unread === null ? commands : [unread]).map((command) => ({
      skill: names?.[0] ?? relative(root, path),
      script: unread === null ? `!${command}` : unread,
      path,
      scope: 'project',
      status,
      inline: true,
    })),
  )
}
