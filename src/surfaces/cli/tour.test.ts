import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { TOUR } from './commands/run/try.ts'

it('the film of the README shows every step of the tour, each as promised', () => {
  const film = readFileSync('docs/try.svg', 'utf8').replaceAll(/<[^>]*>/g, '')
  expect(TOUR.filter(({ title, promise }) => !film.includes(title) || !film.includes(promise))).toEqual([])
  expect(film).toContain(`${TOUR.length} of ${TOUR.length} as promised`)
})
