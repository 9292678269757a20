/** `cordon` alone, or `cordon status`: the state of this project, and the next step for each problem. */

import { programPath } from '../../../../agents/hook/wrapped-runs.ts'
import {
  type ManifestStatus,
  type ProjectStatus,
  projectStatusOf,
  type Refused,
} from '../../../../report/project-status.ts'
import { cutMiddle, cutTo } from '../../../../scan/display-text.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { type AgentCheck, checkAgents, isInPlace } from '../../../hook/install/check.ts'
import { readFile } from '../../../hook/install/placed-hook.ts'
import { paint, printJson, type Style, type Terminal } from '../../../terminal/terminal.ts'
import { cordonWords } from '../../cordon-words.ts'
import { type CommandContext, EXIT } from '../../usage.ts'

const LABEL = 11
const MAX_REFUSALS = 5

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const machine = thisMachine()
  const standing = await projectStatusOf(machine, Date.now())
  const place = {
    root: standing.root,
    home: machine.home,
    env: machine.env,
    cordon: cordonWords(),
    wrapper: programPath(machine),
  }
  const agents = (await checkAgents(place, readFile, machine.stateDir, false)).filter(
    ({ status }) => status !== 'absent',
  )
  if (args.flags.json) return printJson(terminal, { ...standing, agents })
  terminal.out(describeStanding(terminal, standing, agents))
  return EXIT.ok
}

/** The status as text, with no row wider than the terminal. */
export function describeStanding(terminal: Terminal, standing: ProjectStatus, agents: readonly AgentCheck[]): string {
  const columns = Math.max(40, Math.min(terminal.width, 120))
  const row = (label: string, style: Style, said: string, next = ''): string[] => [
    `${label.padEnd(LABEL)}${paint(terminal, style, cutTo(said, columns - LABEL))}`,
    ...(next === '' ? [] : [`${' '.repeat(LABEL)}${paint(terminal, 'dim', cutTo(next, columns - LABEL))}`]),
  ]
  const { root, manifest, refusals, asks, undo } = standing
  const rows = [
    `${paint(terminal, 'bold', 'cordon'.padEnd(LABEL))}${cutMiddle(root, columns - LABEL)}`,
    ...row('manifest', ...manifestWords(manifest)),
    ...(agents.length === 0
      ? row('agents', 'dim', 'no agent is guarded', 'see: cordon install --help')
      : agents.flatMap((check, index) => row(index === 0 ? 'agents' : '', ...agentWords(check)))),
    ...refusalRows(refusals, row),
    ...(asks.length === 0
      ? row('asks', 'dim', 'no open questions')
      : row(
          'asks',
          'yellow',
          `${asks.length} ${asks.length === 1 ? 'waits' : 'wait'} for you: ${asks[0]!.view.subject}`,
          'cordon approvals answer',
        )),
    ...(undo.calls === 0
      ? row('undo', 'dim', 'nothing to undo')
      : row(
          'undo',
          'green',
          `${undo.calls} ${undo.calls === 1 ? 'call' : 'calls'}, the last: ${undo.last}`,
          'cordon undo --last, or --list',
        )),
  ]
  return `${rows.join('\n')}\n`
}

function manifestWords(manifest: ManifestStatus): [style: Style, said: string, next?: string] {
  switch (manifest.status) {
    case 'none':
      return ['yellow', 'none: the built-in rules apply, and commands of agents ask', 'cordon init writes one']
    case 'broken':
      return [
        'red',
        `it does not load (${manifest.problems} ${manifest.problems === 1 ? 'problem' : 'problems'}), so nothing runs on it`,
        'cordon policy lint says what is wrong',
      ]
    case 'signed': {
      const on = manifest.signedAt === null ? '' : `, on ${manifest.signedAt.slice(0, 10)}`
      return ['green', `signed by ${manifest.by === 'user' ? 'you' : 'your team'}${on}`]
    }
    case 'changed':
      return ['red', 'changed since it was signed, so it is not in force', 'cordon sign shows what changed']
    case 'bad':
      return ['red', 'its signature is not by your key', 'details: cordon verify']
    case 'unsigned':
      return ['red', 'not signed, so it is not in force', 'read it, then: cordon sign']
  }
}

function agentWords(check: AgentCheck): readonly [style: Style, said: string, next?: string] {
  const { agent, scope, status, detail, remedy } = check
  const name = `${agent} (${scope})`
  if (status === 'not installed') return ['yellow', `${name}: not installed, its hook is in place`]
  return isInPlace(check)
    ? [status === 'works' ? 'green' : 'yellow', `${name}: guarded`]
    : ['red', `${name}: ${detail}`, remedy ?? 'details: cordon doctor']
}

function refusalRows(
  refusals: readonly Refused[],
  row: (label: string, style: Style, said: string, next?: string) => string[],
): string[] {
  if (refusals.length === 0) return row('stopped', 'dim', 'nothing in the last day')
  const more = refusals.length - MAX_REFUSALS
  return [
    ...refusals
      .slice(0, MAX_REFUSALS)
      .flatMap(({ what, count, fix }, index) =>
        row(index === 0 ? 'stopped' : '', 'yellow', count > 1 ? `${count} times ${what}` : what, fix),
      ),
    ...(more > 0 ? row('', 'dim', `and ${more} more: cordon audit query --type end`) : []),
  ]
}
