/** docs/reference/conformance.md, written from the last run of each public suite. */

import { fill } from '../../bench/page-of-figures.ts'

export interface Line {
  readonly name: string
  readonly from: string
  readonly version: string
  readonly date: string
  /** Test programs or texts that ran: one in `every`. */
  readonly tests: number
  readonly every: number
  readonly cases: number
  /** Null where it must not run there. */
  readonly outside: number | null
  /** Null if no sandbox is involved. */
  readonly bubblewrap: number | null
  readonly cordon: number
  /** How many cases differ for each known reason. */
  readonly reasons: Readonly<Record<string, number>>
  readonly unexplained: readonly string[]
}

const ABOUT = `\`npm test -- suites --dir DIR --write\` wrote this page. DIR contains other people's test suites, one folder each; nothing of them is in this tree. Each test program runs outside, in bubblewrap without capabilities, and in \`cordon run\` without a manifest. Texts are judged by Cordon's own judges. A case that passes outside and fails in Cordon differs. One without a known reason fails the run.`

/** Suites that were wanted and did not run. */
const MISSING: readonly (readonly [suite: string, why: string])[] = [
  ['CredData', 'it downloads its files from 297 repositories'],
  ['h2spec', 'it is not converted: it needs a granted origin behind the proxy'],
  ["the kernel's Landlock selftests", 'not converted'],
  ['the test tables of nono, fence, agentsh and codex', 'not converted'],
  ['sandbox-runtime and codex on these suites', 'only bubblewrap is compared'],
]

export function writePage(lines: readonly Line[]): string {
  const rows = lines.map((line) => {
    const { name, version, date, tests, every, cases, outside, bubblewrap, cordon, reasons, unexplained } = line
    const differing = [...Object.values(reasons), unexplained.length].reduce((sum, count) => sum + count, 0)
    const ran = every > 1 ? `${tests}, one in ${every}` : tests
    return [name, version, date, ran, cases, outside ?? '', bubblewrap ?? '', cordon, differing]
  })
  const why = lines
    .filter(({ reasons, unexplained }) => Object.keys(reasons).length + unexplained.length > 0)
    .map(({ name, reasons, unexplained }) => {
      const given = Object.entries(reasons).map(([reason, count]) => fill(`- ${count}: ${reason}`, '  '))
      return [`${name}:`, '', ...given, ...unexplained.map((text) => fill(`- not explained: ${text}`, '  '))].join('\n')
    })
  const header = ['Suite', 'Version', 'Run', 'Tests', 'Cases', 'Pass outside', 'In bubblewrap', 'In Cordon', 'Differ']
  return `${[
    '# Conformance',
    fill(ABOUT),
    [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
    '## Why they differ',
    ...why,
    '## Not run',
    MISSING.map(([suite, reason]) => fill(`- ${suite}: ${reason}.`, '  ')).join('\n'),
    '## Where they come from',
    lines.map(({ name, from }) => `- ${name}: ${from}`).join('\n'),
  ].join('\n\n')}\n`
}
