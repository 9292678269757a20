/** Kills everything at many moments while a command changes a tree, and puts it back each time: `npm test -- fuzz-kills [POINTS [FIRST]]`. */

import { killOnce } from '../test/contract/changes/kill.ts'
import { furnishProject, makePlace } from '../test/contract/changes/sandbox.ts'

const points = Number(process.argv[2] ?? 500)
const first = Number(process.argv[3] ?? 0)
/** Coprime to the range: the moments are spread evenly, whatever their number. */
const STRIDE = 137
const RANGE_MS = 400
let bad = 0
let changed = 0
const place = makePlace()
try {
  for (let point = first; point < first + points; point++) {
    const delay = (point * STRIDE) % RANGE_MS
    furnishProject(place)
    const { before, after, failed, changes } = await killOnce(place, delay)
    if (changes > 0) changed++
    if (failed.length === 0 && before.join('\n') === after.join('\n')) continue
    bad++
    console.log(`point ${point}, ${delay} ms after its first change, ${changes} changes: ${JSON.stringify(failed)}`)
    for (const line of before.filter((one) => !after.includes(one))) console.log(`  lost: ${line}`)
    for (const line of after.filter((one) => !before.includes(one))) console.log(`  more: ${line}`)
  }
} finally {
  place.remove()
}
console.log(`${points} points, ${changed} in the middle of changes, ${bad} lost something`)
process.exitCode = bad === 0 ? 0 : 1
