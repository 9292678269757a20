/** `npm run bench`: every table in one run; name parts to run only those. */

import { benchDecisions } from './decisions.ts'
import { benchStartup } from './startup.ts'

const parts: Readonly<Record<string, () => Promise<void>>> = { decisions: benchDecisions, startup: benchStartup }

const wanted = process.argv.slice(2)
for (const name of wanted) {
  if (!parts[name]) {
    console.error(`bench: there is no part "${name}"; there are ${Object.keys(parts).join(', ')}`)
    process.exit(2)
  }
}
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await run()
}
