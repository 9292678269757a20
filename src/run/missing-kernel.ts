/**
 * Faults of commands that were allowed because of a feature that this kernel turned out to lack.
 */

import type { ProgramRules } from '../confine/confinement.ts'
import { Fault } from '../system/fault.ts'

/** A command that was allowed because each program is judged must not run without that. */
export function withoutJudge({ every }: Pick<ProgramRules, 'every'>, cause: Fault | null): Fault {
  const [why, remedy] = every
    ? ['`every_program = true` needs it', 'Set `[security] every_program = false` to judge texts alone.']
    : ['the command was allowed because of it', 'Call it again: from now on such a command asks.']
  return new Fault('programs-unjudged', `this machine cannot judge the programs that a command starts, and ${why}`, {
    cause,
    remedy: `${remedy} \`cordon doctor\` says what is missing.`,
  })
}

/** A command that was allowed because of undo must not run without it. */
export function withoutUndo(cause: Fault | null): Fault {
  return new Fault(
    'undo-unavailable',
    'the command was allowed because `cordon undo` would bring back what it destroys, but nothing can be kept on this machine',
    { cause, remedy: 'Call it again: from now on such a command asks. `cordon doctor` says what is missing.' },
  )
}
