/** Plays wire rows from inside a sandbox, against the proxy that the sandbox shows. Started by the test as a program. */

import { readFileSync } from 'node:fs'
import { play, type WireRow } from './wire-row.ts'

interface PlayRequest {
  readonly ca: string
  readonly rows: readonly WireRow[]
}

const { ca, rows } = JSON.parse(readFileSync(0, 'utf8')) as PlayRequest
const verdicts: Record<string, string> = {}
for (const row of rows) verdicts[row.id] = await play(3128, ca, row)
process.stdout.write(JSON.stringify(verdicts))
