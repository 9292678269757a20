import { linesOf } from '../../../../system/lines.ts'

/** `cordon check`: judges a call without running it, for people and for programs. */

import type { BatchChecker } from '../../../../call/decide/batch.ts'
import { type CheckedCall, type CheckRequest, openChecker } from '../../../../call/decide/check-call.ts'
import type { Decision } from '../../../../policy/decision.ts'
import type { Verdict } from '../../../../policy/order.ts'
import { reviewedWorstCase } from '../../../../policy/review.ts'
import type { LoadedPolicy } from '../../../../project/load/load.ts'
import { hasMoreNames, machineFiles } from '../../../../system/files.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { paint, type Style, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, commandText, textFlag } from '../../arguments.ts'
import { hintAtDraft, hintAtInit, manifestChoice, openInForce, printWarnings } from '../../open-policy.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export const VERDICT_STYLE: Record<Verdict, Style> = { allow: 'green', ask: 'yellow', deny: 'red' }
export const VERDICT_EXIT: Record<Verdict, number> = { allow: EXIT.ok, ask: EXIT.ask, deny: EXIT.deny }

export async function run({ terminal, args }: CommandContext): Promise<number> {
  if (args.flags.batch) {
    const other = ['tool', 'input', 'root'].find((name) => args.flags[name] !== undefined)
    if (args.words.length > 0 || other !== undefined)
      throw new UsageError(
        `--batch reads its calls from stdin: omit ${other === undefined ? 'the command' : `--${other}`}`,
      )
    const { BatchChecker } = await import('../../../../call/decide/batch.ts')
    return batch(terminal, new BatchChecker(thisMachine(), machineFiles, manifestChoice(args)))
  }
  const call = requestedCall(args)
  // An unsigned manifest is checked as written; a signed one with its signed registries.
  const opened = await openInForce(args, terminal, { unsigned: 'as-written' })
  if (!opened) return EXIT.usage
  const { loaded, machine } = opened
  await printWarnings(terminal, loaded)
  const cwd = args.flags.root ? loaded.root : machineFiles.canonical(machine.cwd)
  const { decision, facts } = await decide(loaded, machine, { ...call, cwd })
  const worst = decision.decision === 'ask' ? reviewedWorstCase({ decision, facts }, loaded.policy) : null
  terminal.out(
    args.flags.json
      ? `${JSON.stringify(worst === null ? decision : { ...decision, worst })}\n`
      : `${describe(terminal, decision)}${worst === null ? '' : `      Worst case: ${visible(worst.text)}\n`}`,
  )
  hintAtInit(args, loaded, terminal)
  hintAtDraft(opened, terminal)
  return VERDICT_EXIT[decision.decision]
}

/** Git is asked about tracked secrets, and hidden files for other names, only if the decision needs it, which is rare. */
async function decide(loaded: LoadedPolicy, machine: Machine, request: CheckRequest): Promise<CheckedCall> {
  let asked = false
  const isShown = (): boolean => {
    asked = true
    return false
  }
  const hiddenName = (path: string): null => {
    asked ||= hasMoreNames(path)
    return null
  }
  const first = await openChecker(loaded, machine, machineFiles, request.tool, { isShown, hiddenName })
  const checked = first.check(request)
  return asked ? (await openChecker(loaded, machine, machineFiles, request.tool)).check(request) : checked
}

async function batch(terminal: Terminal, checker: BatchChecker): Promise<number> {
  for await (const line of linesOf(process.stdin)) {
    const answer = line === null ? { id: null, error: 'the line is not UTF-8' } : await checker.answer(line)
    terminal.out(`${JSON.stringify(answer)}\n`)
  }
  return EXIT.ok
}

export function describe(terminal: Terminal, decision: Decision): string {
  const lines = [
    `${paint(terminal, VERDICT_STYLE[decision.decision], decision.decision)}  ${visible(decision.reason.message)}  ${paint(terminal, 'dim', `[${decision.reason.code}]`)}`,
    ...(decision.reason.remedy ? [`      ${visible(decision.reason.remedy)}`] : []),
    ...decision.rules.map(({ rule, source }) => paint(terminal, 'dim', `      ${visible(rule)} (${visible(source)})`)),
  ]
  return `${lines.join('\n')}\n`
}

interface RequestedCall {
  readonly tool: string
  readonly input: unknown
}

export function requestedCall(args: Arguments): RequestedCall {
  const tool = textFlag(args, 'tool')
  const input = textFlag(args, 'input')
  if (tool === undefined && input === undefined) {
    if (args.words.length === 0) throw new UsageError("give a command after --, such as: -- 'git status'")
    return { tool: 'bash', input: { command: commandText(args.words) } }
  }
  if (tool === undefined) throw new UsageError('--input needs --tool')
  if (args.words.length > 0) throw new UsageError('give either --tool with --input, or a command, not both')
  return { tool, input: input === undefined ? {} : parseJson(input) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`--input is not JSON: ${error instanceof Error ? error.message : error}`)
  }
}
