/** Shows what was learned: each line with its reason, then the change to the manifest. */

import type { RecordedProposal } from '../../learn/from-record.ts'
import type { LearnResult, Proof } from '../../learn/learn.ts'
import type { ProposedLine } from '../../learn/proposal.ts'
import { withTilde } from '../../one-off/outside-words.ts'
import { paint, type Terminal, visible } from '../terminal/terminal.ts'

const SAID: Readonly<Record<Proof, string>> = {
  'nothing-needed': 'It needs no grants.',
  proven: 'It works with these grants and needs each of them:',
  works: 'It works with these grants; whether it needs each of them was not tested:',
  untried: 'It seems to need these grants; they were not tested (--try does):',
  recorded: 'Recorded calls needed these grants; nothing was run:',
  'still-fails': 'It fails with these grants too, for another reason:',
}

/** The whole report. */
export function describeLearned(
  terminal: Terminal,
  learned: LearnResult,
  diff: readonly string[],
  home: string,
): string {
  const { lines, dropped, withheld, warnings, ports, proof, runs } = learned
  const dim = (text: string) => paint(terminal, 'dim', visible(text))
  const said =
    proof === 'untried' && lines.length === 0 ? 'It failed, but nothing that it looked for is missing.' : SAID[proof]
  const rows = [
    ...warnings.map((warning) => `${paint(terminal, 'red', '!')} ${visible(warning)}`),
    paint(terminal, 'bold', said),
    ...lines.flatMap((line) => lineRows(terminal, line, home)),
    ...dropped.map((line) => dim(`  works without ${line.kind} ${withTilde(line.value, home)}`)),
    ...withheld.slice(0, MOST).map(({ subject, why }) => dim(`  not proposed: ${subject} (${why})`)),
    ...(withheld.length > MOST ? [dim(`  not proposed: ${withheld.length - MOST} more`)] : []),
    ...ports.map((port) => dim(`  it listens on ${port}; cordon add port ${port} opens that to this machine`)),
    ...(diff.length > 0 ? [paint(terminal, 'bold', 'In cordon.toml:')] : []),
    ...diff.map((row) => `  ${paint(terminal, row.startsWith('+') ? 'green' : 'red', visible(row))}`),
    ...(runs > 1 ? [dim(`${runs} runs; the changes of the trials were undone`)] : []),
  ]
  return `${rows.join('\n')}\n`
}

const MOST = 20

export function describeLines(terminal: Terminal, lines: readonly ProposedLine[], home: string): string {
  return `${lines.flatMap((line) => lineRows(terminal, line, home)).join('\n')}\n`
}

function lineRows(terminal: Terminal, { kind, value, wrapper, why, evidence }: ProposedLine, home: string): string[] {
  const name = kind === 'read' || kind === 'write' ? withTilde(value, home) : value
  const through = wrapper === undefined ? '' : ` (through ${wrapper})`
  return [
    `  ${paint(terminal, 'yellow', '+')} ${kind} ${visible(`${name}${through}`)}`,
    `      ${paint(terminal, 'dim', visible(`${why}; ${evidence.join('; ')}`))}`,
  ]
}

export function describeUnused(terminal: Terminal, { calls, unknown, unused }: RecordedProposal): string {
  const rows = [
    `${calls} recorded calls${unknown > 0 ? `, ${unknown} without their arguments and from before the manifest was signed: which commands they used cannot be known` : ''}`,
    ...unused.map(
      ({ kind, value, source }) =>
        `  ${paint(terminal, 'yellow', '-')} ${kind} ${visible(value)} ${paint(terminal, 'dim', `never used (${visible(source)})`)}`,
    ),
  ]
  return `${rows.join('\n')}\n`
}
