/** `npm run bench`: every table in one run; name parts to run only those. Each part has its own process. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Either a program, or a function that prints its table. */
const parts: Readonly<Record<string, readonly [file: string, run: string | null]>> = {
  decisions: ['decisions.ts', 'benchDecisions'],
  startup: ['startup.ts', 'benchStartup'],
  resident: ['resident.ts', 'benchResident'],
  agents: ['agents.ts', 'benchAgents'],
  sandbox: ['sandbox.ts', null],
  masks: ['masks.ts', null],
  changes: ['changes.ts', null],
  egress: ['egress.ts', 'benchEgress'],
  'first-byte': ['first-byte.ts', 'benchFirstByte'],
  tools: ['tools.ts', 'benchTools'],
  session: ['session.ts', 'benchSession'],
  chat: ['chat.ts', 'benchChat'],
  code: ['code.ts', 'benchCode'],
  mcp: ['mcp.ts', 'benchMcp'],
  packages: ['packages.ts', 'benchPackages'],
  page: ['page.ts', 'benchPage'],
  audit: ['audit.ts', null],
  scan: ['scan.ts', null],
}

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !Object.hasOwn(parts, name))
if (unknown !== undefined) {
  console.error(`bench: there is no part "${unknown}"; there are ${Object.keys(parts).join(', ')}`)
  process.exit(2)
}
for (const [name, [file, run]] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const path = join(import.meta.dirname, file)
  const args = run === null ? [path] : ['--input-type=module', '-e', `(await import(${JSON.stringify(path)})).${run}()`]
  console.log(`\n== ${name}`)
  const ran = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (ran.status !== 0) process.exitCode = 1
}
