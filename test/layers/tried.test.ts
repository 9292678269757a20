/** The page of what was tried has the rows, agents and versions of the matrix, and a gap in it exactly where the matrix has one. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { agents } from '../agents/agents.ts'
import { unexplained } from '../agents/matrix.ts'
import { everyTrial, pageOf } from '../agents/tried.ts'

const page = readFileSync('docs/agents/tried.md', 'utf8')
const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
/** The table below a heading: its agents, and each row's name with its cells. */
function tableBelow(text: string, heading: string) {
  const lines = text.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!.split('\n')
  const [head = '', , ...rows] = lines.filter((line) => line.startsWith('|'))
  return { agents: cellsOf(head).slice(1), rows: rows.map(cellsOf) }
}

it('leaves no cell of the matrix without a trial or a reason', () => {
  expect(unexplained()).toEqual([])
})

it('names the versions that are tried', () => {
  for (const { package: named } of agents) expect(page).toContain(named.replace(/^.*\/|-ai(?=@)/g, ''))
})

describe.each([
  ['As root', 'root'],
  ['As another user', 'user'],
] as const)('%s', (heading, by) => {
  const whole = tableBelow(pageOf(everyTrial(by)), heading)
  const written = tableBelow(page, heading)

  it('has every agent and every row, and no other', () => {
    expect(written.agents).toEqual(whole.agents)
    expect(written.rows.map(([name]) => name)).toEqual(whole.rows.map(([name]) => name))
    expect(page).toContain(`of ${everyTrial(by).length} in the matrix`)
  })

  it('gives a reason exactly where a trial is missing', () => {
    const gaps = (rows: readonly (readonly string[])[]) => rows.map((row) => row.map((cell) => cell.startsWith('–')))
    expect(gaps(written.rows)).toEqual(gaps(whole.rows))
  })

  it('says of every other cell what came of it', () => {
    const tried = written.rows.flatMap(([, ...cells]) => cells).filter((cell) => !cell.startsWith('–'))
    expect(
      tried.filter((cell) => !/^(blocked( \(\d+( of \d+)?\))?(, control succeeded)?|FAILED: .+|not run)$/.test(cell)),
    ).toEqual([])
  })
})
