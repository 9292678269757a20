/** Figures of the documents: the same wherever they stand, and those that come from the code are the code's. */

import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TOUR } from '../../src/surfaces/cli/commands/run/try.ts'
import { HOST_NAMES } from '../../src/surfaces/hook/hosts/hosts.ts'

const text = (path: string): string => readFileSync(path, 'utf8')
const numbers = (row: string): number[] =>
  (row.match(/\d[\d,]*/g) ?? []).map((found) => Number(found.replaceAll(',', '')))

/** The first thing that a pattern finds in a document; a figure that is not there any more has to leave this table as well. */
function figure(path: string, pattern: RegExp): string {
  const found = pattern.exec(text(path))
  if (!found) throw new Error(`${path} has no ${pattern}`)
  return found[1]!
}

describe('attacks from inside', () => {
  const rows = text('docs/reference/attacks.md').match(/^\| (?:\w+|\*\*all\*\*) \| \d+ \|.*$/gm)!
  const groups = rows.slice(0, -1).map((row) => numbers(row))
  const all = numbers(rows.at(-1)!)

  it('the sum is the sum of its groups', () => {
    expect(rows.at(-1)).toContain('**all**')
    expect(all).toEqual(all.map((_, column) => groups.reduce((sum, row) => sum + row[column]!, 0)))
  })

  it('none gets out in the comparison either, and more than a hundred do elsewhere', () => {
    const [, cordon, ...others] = all
    expect(cordon).toBe(0)
    expect(others.every((got) => got > 100)).toBe(true)
  })
})

describe('times', () => {
  it('the resident ends after as many idle minutes as the keeper waits', () => {
    const seconds = globSync('native/resident/*.c').map((path) => /IDLE_\w*\s*=?\s*\(?(\d+)/.exec(text(path))?.[1])
    const waits = Number(seconds.find((found) => found !== undefined))
    expect([600, 600_000]).toContain(waits)
    expect(text('README.md')).toContain('ends after ten idle minutes')
    expect(text('docs/how-it-works/surfaces.md')).toContain('it ends after ten minutes without one')
  })
})

describe('what the code counts', () => {
  it('README names every agent that can be installed for, and each has its page', () => {
    const named = figure('README.md', /`cordon install ([^)]*)\)/).match(/[a-z-]+(?=`)/g)
    expect(named?.toSorted()).toEqual(HOST_NAMES.toSorted())
    const pages = globSync('docs/agents/*.md').map((path) => basename(path, '.md'))
    for (const name of HOST_NAMES) expect(pages).toContain(name)
  })

  it('the film shows the whole tour', () => {
    expect(text('docs/try.svg')).toContain(`${TOUR.length} of ${TOUR.length} as promised`)
  })
})

it('measured times live in the benchmarks, and in the decisions that rest on them', () => {
  const TIME = /\b\d[\d.]* (?:ms|µs|ns|MB\/s)\b/
  const elsewhere = globSync(['README.md', 'docs/{guides,agents,how-it-works}/*.md']).filter((path) =>
    TIME.test(text(path)),
  )
  expect(elsewhere).toEqual([])
})
