/** The decision of a call as a tree of commands, parts, reasons and rules. */

import { offerGrants } from '../../call/decide/batch.ts'
import { type CheckedCall, openChecker } from '../../call/decide/check-call.ts'
import type { PartDecision } from '../../policy/decision.ts'
import { worstCaseOf } from '../../policy/worst-case.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import type { CommandFact, ShellFacts } from '../../shell/facts.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'

export interface ExplainNode {
  readonly text: string
  readonly verdict: string | null
  readonly reason: string
  readonly rules: readonly string[]
  readonly children: readonly ExplainNode[]
}

export interface Explanation {
  readonly verdict: string
  /** For an ask: the worst case of a wrong yes. */
  readonly worst: string | null
  readonly reason: string
  readonly remedy: string | null
  readonly code: string
  readonly step: number
  readonly rules: readonly string[]
  readonly tree: readonly ExplainNode[]
  /** Grants that would settle it, narrowest first. */
  readonly offers: readonly { readonly kind: string; readonly value: string }[]
}

export async function explainCall(
  call: { readonly tool: string; readonly input: unknown },
  loaded: LoadedPolicy,
  machine: Machine,
): Promise<Explanation> {
  const checker = await openChecker(loaded, machine, machineFiles, call.tool)
  const checked = checker.check({ ...call, cwd: loaded.root })
  const { decision, reason, rules, segments } = checked.decision
  const offers = await offerGrants(checked, { root: loaded.root, cwd: loaded.root }, machine, machineFiles)
  return {
    verdict: decision,
    worst: decision === 'ask' ? worstCaseOf(checked.decision, checked.facts).text : null,
    reason: reason.message,
    remedy: reason.remedy ?? null,
    code: reason.code,
    step: segments.find((part) => part.decision === decision)?.step ?? 1,
    rules: rules.map(ruleText),
    tree: treeOf(checked),
    offers: offers.flatMap((one) => [one, ...(one.also ?? [])]).map(({ kind, value }) => ({ kind, value })),
  }
}

function treeOf({ decision, facts }: CheckedCall): readonly ExplainNode[] {
  const loose = decision.segments.filter((part) => part.command === undefined || !facts)
  if (!facts) return loose.map(partNode)
  return [...loose.map(partNode), ...childrenOf(null, facts, decision.segments)]
}

function childrenOf(parent: number | null, facts: ShellFacts, parts: readonly PartDecision[]): ExplainNode[] {
  return facts.commands.flatMap((fact, index) => {
    if (fact.parent !== parent) return []
    const own = parts.filter((part) => part.command === index)
    const command = own.find((part) => part.kind === 'command')
    return [
      {
        text: wordsOf(fact),
        verdict: command?.decision ?? null,
        reason: command?.reason.message ?? '',
        rules: command?.rules.map(ruleText) ?? [],
        children: [...own.filter((part) => part !== command).map(partNode), ...childrenOf(index, facts, parts)],
      },
    ]
  })
}

function partNode({ kind, text, decision, reason, rules }: PartDecision): ExplainNode {
  return {
    text: `${kind} ${text}`,
    verdict: decision,
    reason: reason.message,
    rules: rules.map(ruleText),
    children: [],
  }
}

/** Words as bash will see them; unknown ones in angle brackets. */
function wordsOf({ argv, assignments }: CommandFact): string {
  const words = argv.map((word) => (word.values === null ? `⟨${word.text}⟩` : word.values.join('|')))
  return words.length > 0 ? words.join(' ') : assignments.map(({ name }) => `${name}=…`).join(' ')
}

function ruleText({ rule, source }: { readonly rule: string; readonly source: string }): string {
  return `${rule} (${source})`
}
