/** `cordon skills`: the scripts of skills, and your word for those that a project brings along. */

import { approveSkill, skillRows } from '../../../runtime/custom/skill-gate.ts'
import { findRoot } from '../../../runtime/policy/project-root.ts'
import { machineFiles } from '../../../system/files.ts'
import { thisMachine } from '../../../system/machine.ts'
import { visible } from '../../terminal/terminal.ts'
import { oneOf, parseArguments } from '../arguments.ts'
import { type CommandContext, commandRow, EXIT, UsageError } from '../usage.ts'

/** Runs `cordon skills [list|approve]`. */
export function run({ terminal, argv }: CommandContext): number {
  const args = parseArguments(commandRow('skills')!, argv)
  const [given = 'list', name, script] = args.words
  const verb = oneOf(['list', 'approve'], given, 'say what to do')
  const machine = thisMachine()
  const root = machineFiles.canonical(findRoot(machine.cwd, machineFiles))
  if (verb === 'approve') {
    if (name === undefined) throw new UsageError('name the skill: cordon skills approve NAME [SCRIPT]')
    for (const approved of approveSkill(root, machine, name, script ?? null, new Date())) {
      terminal.out(`approved ${visible(name)}/${visible(approved)}\n`)
    }
    return EXIT.ok
  }
  const rows = skillRows(root, machine)
  if (args.flags.json) terminal.out(`${JSON.stringify(rows)}\n`)
  else if (rows.length === 0) terminal.out('there are no scripts of skills here\n')
  for (const row of args.flags.json ? [] : rows) {
    terminal.out(`${row.status.padEnd(14)}  ${row.scope.padEnd(7)}  ${visible(row.skill)}/${visible(row.script)}\n`)
  }
  return EXIT.ok
}
