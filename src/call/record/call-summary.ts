/** What a call did, without its arguments (A1): programs with their subcommands, or the path of a file tool. */

import { posix } from 'node:path'
import type { ShellFacts } from '../../shell/facts.ts'
import type { ToolInput } from '../../tools/tool.ts'

/** Programs whose first word says what they do. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set(
  'apt apt-get brew bun bundle cargo cmake composer conda cordon deno docker dotnet fly gcloud gem gh git glab go gradle hatch helm heroku hg jj just kubectl make mise mix mvn nix npm npx nx pip pip3 pipx pnpm podman poetry rails rake rustup sbt svn swift systemctl terraform tofu turbo uv vercel wrangler yarn'.split(
    ' ',
  ),
)
const MOST_PROGRAMS = 8
const NAME = /^[\w@+.-]{1,48}$/
const SUBCOMMAND = /^[a-z][a-z0-9:-]{0,30}$/

/** The summary; null where there is nothing to say beyond the tool. */
export function callSummary(input: ToolInput, facts: ShellFacts | null): string | null {
  if (Array.isArray(input.command)) return programOf(input.command as readonly string[])
  if (facts) return programsOf(facts)
  return typeof input.path === 'string' ? input.path : null
}

function programsOf({ commands }: ShellFacts): string | null {
  const named = commands.flatMap(({ argv }) => {
    const words = argv.map(({ values }) => (values?.length === 1 ? values[0]! : ''))
    return words.length === 0 ? [] : [programOf(words)]
  })
  const each = [...new Set(named)]
  const more = each.length > MOST_PROGRAMS ? [`and ${each.length - MOST_PROGRAMS} more`] : []
  return each.length === 0 ? null : [...each.slice(0, MOST_PROGRAMS), ...more].join(', ')
}

/** A name that is not plain may be anything, a secret among it. */
function programOf([first = '', ...words]: readonly string[]): string {
  const name = posix.basename(first)
  if (!NAME.test(name)) return 'a program'
  const [subcommand] = WITH_SUBCOMMANDS.has(name) ? words : []
  return subcommand !== undefined && SUBCOMMAND.test(subcommand) ? `${name} ${subcommand}` : name
}
