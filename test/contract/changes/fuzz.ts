/** One round of random system calls: without and with the broker, compared; or a storm of threads that try to plant protected names. */

import { mkdirSync } from 'node:fs'
import { giveTo, removeTree } from '../../users.ts'
import { type Place, runInside } from './sandbox.ts'
import { lookAtTree } from './tree-look.ts'

interface Round {
  readonly calls: readonly string[]
  readonly tree: readonly string[]
}

function empty(place: Place, uid: number): void {
  removeTree(place.project)
  mkdirSync(place.project)
  giveTo(uid, place.project)
}

/** The same calls twice. */
export function fuzzOnce(
  place: Place,
  program: string,
  seed: number,
  count: number,
  uid: number,
): { plain: Round; mediated: Round } {
  const round = (mediated: boolean): Round => {
    empty(place, uid)
    const { status, out, errors } = runInside(place, [program, String(seed), String(count)], { mediated, uid })
    return { calls: [...out.split('\n'), `${status} ${errors}`], tree: lookAtTree(place.project, 'no times') }
  }
  return { plain: round(false), mediated: round(true) }
}

/** What four threads managed to plant. */
export function stormOnce(place: Place, program: string, seed: number, count: number, uid: number): string[] {
  empty(place, uid)
  const { status, errors } = runInside(place, [program, String(seed), String(count), 'storm'], { uid })
  return status === 0 ? plantedIn(place) : [`ended with ${status}: ${errors}`]
}

/** The path in a line of `lookAtTree`; a link's target follows its mode. */
const pathOf = (line: string): string => line.split(/ \d{5,6} /)[0]!

/** The protected names that are there, with what they are; the names are those of tree-calls.c. */
export function plantedIn(place: Place): string[] {
  return lookAtTree(place.project, 'no times')
    .map((line) => line.slice(place.project.length).toLowerCase())
    .filter((line) => /\/(\u00e2\u0080\u008c)?\.envrc($|\/)|\/\.git\/hooks\/x($|\/)/.test(pathOf(line)))
}
