/** What a call did, without its arguments (A1): programs with their subcommands, or the path of a file tool. */

import { programSummary } from '../../run/program-summary.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import type { ToolInput } from '../../tools/tool.ts'

const MOST_PROGRAMS = 8

/** The summary; null where there is nothing to say beyond the tool. */
export function callSummary(input: ToolInput, facts: ShellFacts | null): string | null {
  if (Array.isArray(input.command)) return programSummary(input.command as readonly string[])
  if (facts) return programsOf(facts)
  return typeof input.path === 'string' ? input.path : null
}

function programsOf({ commands }: ShellFacts): string | null {
  const named = commands.flatMap(({ argv }) => {
    const words = argv.map(({ values }) => (values?.length === 1 ? values[0]! : ''))
    return words.length === 0 ? [] : [programSummary(words)]
  })
  const each = [...new Set(named)]
  const more = each.length > MOST_PROGRAMS ? [`and ${each.length - MOST_PROGRAMS} more`] : []
  return each.length === 0 ? null : [...each.slice(0, MOST_PROGRAMS), ...more].join(', ')
}
