/** Random system calls through the init and plain, compared, for as long as wanted: `npm test -- fuzz-changes ROUNDS [FIRST_SEED]`. */

import { join } from 'node:path'
import { fuzzOnce, stormOnce } from '../test/contract/changes/fuzz.ts'
import { compile, makePlace } from '../test/contract/changes/sandbox.ts'
import { ORDINARY, own } from '../test/users.ts'

const rounds = Number(process.argv[2] ?? 50)
const first = Number(process.argv[3] ?? 1)
let bad = 0
// Without root it is only oneself.
for (const uid of new Set([own.uid, ORDINARY.uid])) {
  const place = makePlace(uid)
  const program = compile(place, join(import.meta.dirname, '../test/contract/changes/tree-calls.c'), 'tree-calls')
  for (let seed = first; seed < first + rounds; seed++) {
    const { plain, mediated } = fuzzOnce(place, program, seed, 3000, uid)
    const at = plain.calls.findIndex((line, i) => line !== mediated.calls[i])
    const planted = stormOnce(place, program, seed, 3000, uid)
    if (at >= 0)
      console.log(`seed ${seed}, uid ${uid}: plain ${plain.calls[at]}, through the init ${mediated.calls[at]}`)
    if (at < 0 && plain.tree.join() !== mediated.tree.join()) console.log(`seed ${seed}, uid ${uid}: the trees differ`)
    if (planted.length > 0) console.log(`seed ${seed}, uid ${uid}: planted ${planted.join(', ')}`)
    if (at >= 0 || planted.length > 0 || plain.tree.join() !== mediated.tree.join()) bad++
  }
  place.remove()
}
console.log(`${rounds * 2} rounds, ${bad} differ`)
process.exitCode = bad === 0 ? 0 : 1
