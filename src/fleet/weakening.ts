/** Whether a new policy makes asks easier to answer where more than one person was needed: then two of the team must sign it. */

import { peopleNeeded } from './ask.ts'
import { type Bundle, isFor } from './bundle.ts'

/** No rule or approver names it: it shows what holds for everybody. */
const ANY = '\0any'

/** The sentences that say where `after` weakens a rule that needed several people; empty where it does not. */
export function weakenedRules(before: Bundle | null, after: Bundle): readonly string[] {
  if (before === null) return []
  const rules = [...before.rules, ...after.rules]
  const groups = named(rules.flatMap((rule) => rule.groups).concat(before.approvers.flatMap((one) => one.groups)))
  const tools = named(rules.flatMap((rule) => rule.tools))
  const pairs = groups.flatMap((group) => tools.map((tool) => ({ group, tool })))
  const fewer = pairs.flatMap(({ group, tool }) => {
    const [was, is] = [peopleNeeded(before, tool, [group]), peopleNeeded(after, tool, [group])]
    return is < was ? [`${count(is)} instead of ${was} must agree to ${toolName(tool)}${machines(group)}`] : []
  })
  const guarded = groups.filter((group) => tools.some((tool) => peopleNeeded(before, tool, [group]) > 1))
  const joined = after.approvers.flatMap((one) =>
    guarded
      .filter((group) => isFor(one.groups, [group]) && !answers(before, one, group))
      .map((group) => `${one.name} can be one of several who must agree${machines(group)}`),
  )
  return [...new Set([...fewer, ...joined])]
}

/** How many of the team's keys must have signed `after` when it follows `before`. */
export function signersNeeded(signers: number, before: Bundle | null, after: Bundle): number {
  return weakenedRules(before, after).length === 0 ? signers : Math.max(signers, 2)
}

/** Two keys of one name count as one person, so a key under another name is another person. */
function answers(bundle: Bundle, { key, name }: Bundle['approvers'][number], group: string): boolean {
  return bundle.approvers.some((one) => one.key === key && one.name === name && isFor(one.groups, [group]))
}

function named(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== '*')), ANY]
}

function count(people: number): string {
  return people === 1 ? 'One person' : `${people} people`
}

function toolName(tool: string): string {
  return tool === ANY ? 'other tools' : tool
}

function machines(group: string): string {
  return group === ANY ? '' : ` on machines of "${group}"`
}
