/** Random calls that are undone and done again, and undone while others change the tree: `npm test -- fuzz-undo [ROUNDS [FIRST_SEED]]`. */

import { join } from 'node:path'
import { compile, makePlace } from '../test/contract/changes/sandbox.ts'
import { undoOneByOne, undoWithPlants } from '../test/contract/changes/undo-rounds.ts'

const rounds = Number(process.argv[2] ?? 100)
const first = Number(process.argv[3] ?? 1)
let bad = 0
for (let seed = first; seed < first + rounds; seed++) {
  // What is kept of all rounds would make each of them slower than the one before.
  const place = makePlace()
  const program = compile(place, join(import.meta.dirname, '../test/contract/changes/tree-calls.c'), 'tree-calls')
  const wrong = [...undoOneByOne(place, program, seed, [60, 60, 60, 60]), ...undoWithPlants(place, program, seed)]
  for (const line of wrong.slice(0, 5)) console.log(`seed ${seed}: ${line}`)
  if (wrong.length > 0) bad++
  place.remove()
}
console.log(`${rounds} rounds, ${bad} bad`)
process.exitCode = bad === 0 ? 0 : 1
