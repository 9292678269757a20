/** Random calls, undone one after the other and done again; and undone while somebody else changes the tree as well. Each gives what went wrong. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { undoRules } from '../../../src/run/undo-rules.ts'
import type { Machine } from '../../../src/system/machine.ts'
import { UNJUDGED } from '../../../src/undo/conflicts.ts'
import { type UndoResult, undoCall } from '../../../src/undo/undo.ts'
import { plantedIn } from './fuzz.ts'
import { furnishProject, type Place, runInside } from './sandbox.ts'
import { lookAtTree } from './tree-look.ts'

/** Runs a call that is kept; returns its id. Nothing is closed to its owner: a later call could not even begin in such a project. */
function call(place: Place, program: string, seed: number, words: readonly string[]): string {
  const { id, folder } = place.store.begin({ roots: [place.project], what: `random ${seed}` })
  runInside(place, [program, String(seed), ...words], { folder })
  return id
}

const complaints = (name: string, { conflicts, failed }: UndoResult): string[] =>
  [...conflicts, ...failed].map((one) => `${name}: ${JSON.stringify(one)}`)

const withoutTimes = (tree: readonly string[]): string[] => tree.map((line) => line.replace(/ \d+$/, ''))

function differences(name: string, wanted: readonly string[], found: readonly string[]): string[] {
  const missing = wanted.filter((line) => !found.includes(line)).map((line) => `${name}: without ${line}`)
  return [...missing, ...found.filter((line) => !wanted.includes(line)).map((line) => `${name}: with ${line}`)]
}

/** What a folder that moves takes along is not planted. */
const withoutFolder = (planted: string): string => planted.slice(planted.search(/[^/]*\.envrc|\.git\/hooks/))

/** `lengths`: how many changes each call makes. */
export function undoOneByOne(place: Place, program: string, seed: number, lengths: readonly number[]): string[] {
  furnishProject(place)
  const trees = [lookAtTree(place.project, 'times')]
  const ids = lengths.map((length, at) => {
    const id = call(place, program, seed * 10 + at, [String(length), 'open'])
    trees.push(lookAtTree(place.project, 'times'))
    return id
  })
  const wrong: string[] = []
  const undos = ids.toReversed().flatMap((id, at) => {
    const undone = undoCall(place.store, UNJUDGED, id)
    wrong.push(...complaints(`undo ${at}`, undone))
    wrong.push(...differences(`undo ${at}`, trees.at(-2 - at)!, lookAtTree(place.project, 'times')))
    return undone.id ?? []
  })
  for (const [at, id] of undos.toReversed().entries()) {
    wrong.push(...complaints(`redo ${at}`, undoCall(place.store, UNJUDGED, id)))
    wrong.push(...differences(`redo ${at}`, withoutTimes(trees[at + 1]!), lookAtTree(place.project, 'no times')))
  }
  return wrong
}

/** Three calls, a person's own changes behind each, and then all undone in some order by force: none of that plants a protected name. */
export function undoWithPlants(place: Place, program: string, seed: number): string[] {
  furnishProject(place)
  const machine = { home: place.base, configDir: join(place.base, 'config'), stateDir: join(place.base, 'state') }
  for (const name of ['.git/hooks', 'a/.git/hooks']) mkdirSync(join(place.project, name), { recursive: true })
  const ids = [0, 1, 2].map((at) => {
    const id = call(place, program, seed * 10 + at, ['150', 'plant'])
    runInside(place, [program, String(seed * 10 + at + 5), '60', 'plant'], { mediated: false })
    return id
  })
  return ids.flatMap((_, at) => {
    const id = ids[(seed + at) % ids.length]!
    const before = new Set(plantedIn(place).map(withoutFolder))
    const kept = place.store.list().find((one) => one.id === id)!
    undoCall(place.store, undoRules(machine as Machine, place.store, kept), id, { force: true })
    return plantedIn(place).flatMap((line) => (before.has(withoutFolder(line)) ? [] : [`undo ${at}: ${line}`]))
  })
}
