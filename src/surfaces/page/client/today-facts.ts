/** What agents did in a time, for the pictures of Today. */

import { answerOf, isRefused, type RecordRow } from './record-rows.ts'

export interface Bucket {
  readonly from: number
  readonly to: number
  allow: number
  ask: number
  deny: number
}

export interface Bar {
  readonly name: string
  readonly count: number
  /** Refused ones among them. */
  readonly refused: number
}

export interface TodayFacts {
  readonly calls: number
  readonly asked: number
  readonly refused: number
  readonly changed: number
  readonly buckets: readonly Bucket[]
  readonly hosts: readonly Bar[]
  readonly folders: readonly Bar[]
  readonly answers: readonly Bar[]
}

const MOST_BARS = 8

/** `rows` may be in any order. */
export function todayFacts(
  rows: readonly RecordRow[],
  since: number,
  until: number,
  count: number,
  running?: ReadonlySet<string>,
): TodayFacts {
  const step = Math.max(1, (until - since) / count)
  const buckets = Array.from({ length: count }, (_, at): Bucket => {
    const from = since + at * step
    return { from, to: from + step, allow: 0, ask: 0, deny: 0 }
  })
  const [hosts, folders, answers] = [new Tally(), new Tally(), new Tally()]
  let [calls, asked, refused, changed] = [0, 0, 0, 0]
  for (const row of rows) {
    const { begin, end } = row
    const time = Date.parse(begin.time)
    if (begin.tool === undefined || begin.call === undefined || !(time >= since && time < until)) continue
    const bucket = buckets[Math.min(count - 1, Math.floor((time - since) / step))]!
    calls++
    const { verdict } = begin
    if (verdict === 'allow' || verdict === 'ask' || verdict === 'deny') bucket[verdict]++
    if (verdict === 'ask') asked++
    if (isRefused(row)) refused++
    const answer = answerOf(row, running)
    if (answer !== '') answers.add(answer, answer.startsWith('no,'))
    for (const host of wordsIn(end?.hosts ?? begin.hosts)) hosts.add(host, false)
    for (const host of wordsIn(end?.refused)) hosts.add(host, true)
    for (const [folder, files] of end?.folders ?? []) folders.add(relative(folder, begin.project), false, files)
    changed += end?.changed ?? 0
  }
  return {
    ...{ calls, asked, refused, changed, buckets },
    hosts: hosts.bars(),
    folders: folders.bars(),
    answers: answers.bars(),
  }
}

class Tally {
  readonly #counts = new Map<string, { count: number; refused: number }>()

  add(name: string, refused: boolean, by = 1): void {
    const known = this.#counts.get(name) ?? { count: 0, refused: 0 }
    this.#counts.set(name, { count: known.count + by, refused: known.refused + (refused ? by : 0) })
  }

  /** The most frequent first. */
  bars(): Bar[] {
    return [...this.#counts]
      .map(([name, counts]) => ({ name, ...counts }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
      .slice(0, MOST_BARS)
  }
}

function wordsIn(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(' ')
}

/** Two levels below the project say where. */
function relative(folder: string, project: string | undefined): string {
  if (project === undefined || (folder !== project && !folder.startsWith(`${project}/`))) return folder
  const below = folder
    .slice(project.length + 1)
    .split('/')
    .slice(0, 2)
    .join('/')
  return below === '' ? 'the project’s own folder' : below
}
