/** `cordon review`: lists a reviewer's answers, replays your own answers to it, and runs a model as reviewer. */

import type { LoadedPolicy } from '../../../../project/load/load.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { oneOf, textFlag } from '../../arguments.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export async function run({ terminal, bare, args }: CommandContext): Promise<number> {
  const [given = 'log', profile] = args.words
  const verb = oneOf(['log', 'replay', 'model'], given, 'name an action')
  const machine = thisMachine()
  if (verb === 'model') return model(bare, profile, machine)
  if (profile !== undefined) throw new UsageError(`review ${verb} takes no further words, not ${profile}`)
  const last = Number(textFlag(args, 'last') ?? 20)
  if (!Number.isInteger(last) || last < 1) throw new UsageError('--last takes a number from 1 on')
  const asJson = args.flags.json === true
  if (verb === 'log') return log(terminal, machine, last, asJson)
  const { openInForce } = await import('../../open-policy.ts')
  const opened = await openInForce(args, terminal, { unsigned: 'refused' })
  return opened ? replay(terminal, opened.loaded, { machine, last, asJson }) : EXIT.fault
}

async function log(terminal: Terminal, machine: Machine, last: number, asJson: boolean): Promise<number> {
  const { openAuditTrail } = await import('../../../../report/audit-trail.ts')
  const lines = openAuditTrail(machine).query({ type: 'review', limit: last })
  if (asJson) terminal.out(`${JSON.stringify(lines)}\n`)
  else if (lines.length === 0) terminal.out('the reviewer has not been asked yet\n')
  else {
    const { auditRow } = await import('../../audit-line.ts')
    for (const line of lines) terminal.out(`${auditRow(terminal, line)}\n`)
  }
  return EXIT.ok
}

interface Replay {
  readonly machine: Machine
  readonly last: number
  readonly asJson: boolean
}

async function replay(terminal: Terminal, loaded: LoadedPolicy, { machine, last, asJson }: Replay): Promise<number> {
  if (loaded.session.review.command.length === 0)
    throw new UsageError('no reviewer is set up: [review] with = ["PROGRAM"] in ~/.config/cordon/cordon.toml')
  const { replayReviews } = await import('../../../../questions/review/replay.ts')
  const counts = { same: 0, looser: 0, stricter: 0, asked: 0, yours: 0 }
  for await (const one of replayReviews(machine, loaded, last, new AbortController().signal)) {
    const answer = one.reviewer?.answer ?? null
    const kind = kindOf(one.person, answer)
    counts[kind]++
    if (asJson) terminal.out(`${JSON.stringify({ ...one, kind })}\n`)
    else if (kind === 'looser' || kind === 'stricter') {
      const said = `${one.tool} ${visible(one.subject)}: you said ${one.person}, it says ${answer}`
      terminal.out(`${paint(terminal, kind === 'looser' ? 'red' : 'yellow', said)} ${visible(one.reviewer!.reason)}\n`)
    }
  }
  if (asJson) return EXIT.ok
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (total === 0) terminal.out('the record has no answers of yours\n')
  else {
    terminal.out(`${total} answers of yours: ${counts.same} the same, ${counts.looser} yes where you said no, `)
    terminal.out(`${counts.stricter} no where you said yes, ${counts.asked} left to you by it, `)
    terminal.out(`${counts.yours} yours alone by review.up_to\n`)
  }
  return EXIT.ok
}

function kindOf(
  person: 'yes' | 'no',
  answer: 'yes' | 'no' | 'ask' | null,
): 'same' | 'looser' | 'stricter' | 'asked' | 'yours' {
  if (answer === null) return 'yours'
  if (answer === 'ask') return 'asked'
  if (answer === person) return 'same'
  return answer === 'yes' ? 'looser' : 'stricter'
}

const MAX_INPUT = 256 * 1024

/** Answers the reviewer protocol with a model. The answer names the call by its hash, so it is not masked. */
async function model(bare: Terminal, profile: string | undefined, machine: Machine): Promise<number> {
  if (profile === undefined) throw new UsageError('name the profile: cordon review model PROFILE')
  let input = ''
  for await (const piece of process.stdin) {
    input += String(piece)
    if (input.length > MAX_INPUT) throw new UsageError('the question on stdin is too long')
  }
  const { reviewWithModel } = await import('../../../../chat/review-model.ts')
  bare.out(`${await reviewWithModel(profile, input, machine, new AbortController().signal)}\n`)
  return EXIT.ok
}
