/** The matrix: every promise on every surface is an experiment that passes, or a stated reason. A missing cell fails. */

import { describe, expect, it, vi } from 'vitest'
import { DRIVERS } from './drivers.ts'
import { Place } from './place.ts'
import { type Cell, cellOf, type Outcome, type PromiseRow, SURFACES, type SurfaceName, type Try } from './promise.ts'
import { ROWS } from './rows.ts'

vi.mock('../../src/system/machine.ts', async (original) => {
  const { standIn } = await import('./stand-in.ts')
  const module = await original<typeof import('../../src/system/machine.ts')>()
  return { ...module, thisMachine: () => standIn.machine ?? module.thisMachine() }
})

describe.each(SURFACES)('%s', (surface) => {
  const rows = ROWS.map((row) => [row.id, row.promise, row, cellOf(row, surface)] as const)
  const tried = rows.filter(([, , , cell]) => cell && ('tries' in cell || 'own' in cell))
  it.each(tried)('%s: %s', async (_, __, row, cell) => {
    const place = new Place(row)
    try {
      expect(await place.prepare(row)).toEqual([])
      if ('own' in cell!) await cell.own(place)
      else await tryAll((cell as Extract<Cell, { tries: unknown }>).tries, surface, place, row)
    } finally {
      place.close()
    }
  })
})

it.each(ROWS.map((row) => [row.id, row] as const))('%s has a cell for every surface', (_, row) => {
  expect(SURFACES.filter((surface) => cellOf(row, surface) === null)).toEqual([])
  for (const surface of SURFACES) {
    const cell = cellOf(row, surface)!
    if ('no' in cell) expect(cell.no.length).toBeGreaterThan(10)
  }
})

/** Surfaces that decide and run nothing. */
const DECIDES: readonly SurfaceName[] = ['check', 'page']

async function tryAll(all: readonly Try[], surface: SurfaceName, place: Place, row: PromiseRow): Promise<void> {
  const tries = surface === 'run' ? all.filter(({ tool }) => tool === 'bash') : all
  if (row.refuses) {
    expect(await refusal(tries[0]!, surface, place)).toMatch(row.refuses)
    return
  }
  const tried = tries.filter(({ runs, is }) => !DECIDES.includes(surface) || (runs !== true && is !== undefined))
  expect(tried.length, `${row.id} tries nothing on ${surface}: say why it is not about it`).toBeGreaterThan(0)
  const driver = await DRIVERS[surface](place)
  try {
    for (const one of tried) {
      const outcome = await driver.call({ tool: one.tool, input: place.fill(one.input) }, one.answer)
      judge(one, outcome, surface, place)
      if (!DECIDES.includes(surface)) await one.after?.(place, outcome)
    }
  } finally {
    await driver.close()
  }
}

/** Why nothing ran: the surface did not open, or did not take the call. */
async function refusal(one: Try, surface: SurfaceName, place: Place): Promise<string> {
  try {
    const driver = await DRIVERS[surface](place)
    try {
      const { verdict, text } = await driver.call({ tool: one.tool, input: place.fill(one.input) }, 'once')
      return verdict === 'allow' && surface !== 'run' ? `it ran: ${text}` : text
    } finally {
      await driver.close()
    }
  } catch (error) {
    return `${(error as Error).message} ${JSON.stringify((error as { data?: unknown }).data ?? '')}`
  }
}

function judge(one: Try, { verdict, text, question }: Outcome, surface: SurfaceName, place: Place): void {
  const about = `${one.tool} ${JSON.stringify(one.input)} on ${surface}: ${text}\n${question}`
  const expected = surface === 'run' ? (one.typed ?? (one.is === 'deny' ? 'deny' : one.is && 'allow')) : one.is
  if (expected !== undefined) expect(verdict, about).toBe(expected)
  if (one.hides) expect(text, about).not.toMatch(one.hides)
  if (DECIDES.includes(surface)) return
  if (one.says) expect(text, about).toMatch(one.says)
  if (one.asks && surface !== 'run') expect(question, about).toMatch(one.asks)
  for (const [path, left] of Object.entries(one.leaves ?? {}))
    expect(place.text(path), `${path} after ${about}`).toBe(left)
}
