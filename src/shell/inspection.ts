/** The one place where the walk meets the tables. */

import type { AssignmentFact, Effect, Hazard, HostUse, PathUse, Span, Word } from './facts.ts'

export interface InspectedCommand {
  readonly argv: readonly Word[]
  readonly cwd: string | null
  readonly home: string
  readonly assignments: readonly AssignmentFact[]
  readonly span: Span
  readonly stdin: 'known' | 'unknown' | 'none'
}

export interface Inspection {
  readonly hazards: readonly Hazard[]
  readonly paths: readonly PathUse[]
  readonly hosts: readonly HostUse[]
  readonly effect: Effect
  readonly effectNote: string
}

export function inspect(_command: InspectedCommand): Inspection {
  return { hazards: [], paths: [], hosts: [], effect: 'unknown', effectNote: '' }
}

export function environmentHazard(name: string): string | null {
  return /^(?:PATH|LD_.*|IFS|BASH_ENV|ENV|HOME|CDPATH|PROMPT_COMMAND|PS4|SHELLOPTS|BASHOPTS|GLOBIGNORE|NODE_OPTIONS|PYTHON.*|PERL5.*|RUBY.*|GIT_.*|PAGER|EDITOR|VISUAL|BASH_FUNC.*|BASH_ALIASES|BASH_CMDS|POSIXLY_CORRECT)$/.test(name)
    ? `\`${name}\` changes which programs run or how`
    : null
}
