/** Summarises a program by name and subcommand, without arguments (A1). */

import { posix } from 'node:path'

/** Programs whose first word is an action. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set(
  'apt apt-get brew bun bundle cargo cmake composer conda cordon deno docker dotnet fly gcloud gem gh git glab go gradle hatch helm heroku hg jj just kubectl make mise mix mvn nix npm npx nx pip pip3 pipx pnpm podman poetry rails rake rustup sbt svn swift systemctl terraform tofu turbo uv vercel wrangler yarn'.split(
    ' ',
  ),
)
const NAME = /^[\w@+.-]{1,48}$/
const SUBCOMMAND = /^[a-z][a-z0-9:-]{0,30}$/

/** A program with its subcommand, if any. A name with other characters could contain a secret. */
export function programSummary([first = '', ...words]: readonly string[]): string {
  const name = posix.basename(first)
  if (!NAME.test(name)) return 'a program'
  const [subcommand] = WITH_SUBCOMMANDS.has(name) ? words : []
  return subcommand !== undefined && SUBCOMMAND.test(subcommand) ? `${name} ${subcommand}` : name
}
