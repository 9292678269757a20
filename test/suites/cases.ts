/** Reads the output of other people's test programs. */

export interface Case {
  readonly name: string
  readonly result: 'passed' | 'failed' | 'skipped'
  /** What a failure says. */
  readonly says: string
}

/** Names of temporary files, which differ from run to run. */
const RANDOM_NAME = /[0-9a-f]{32}/g

/** The Test Anything Protocol. A plan that is not fulfilled is a failed case. */
export function tapCases(output: string): Case[] {
  const cases: Case[] = []
  let planned = null
  for (const line of output.split('\n')) {
    const plan = /^1\.\.(\d+)/.exec(line)
    if (plan) planned = Number(plan[1])
    const [, not, number, says = ''] = /^(not )?ok (\d+)(.*)$/.exec(line) ?? []
    if (number === undefined || /# todo/i.test(says)) continue
    const result = /# skip/i.test(says) ? 'skipped' : not === undefined ? 'passed' : 'failed'
    cases.push({ name: number, result, says: says.replace(/^[ -]+/, '').replaceAll(RANDOM_NAME, '…') })
  }
  const isWhole = planned !== null && output.match(/^(not )?ok \d/gm)?.length === planned
  if (planned !== 0) cases.push({ name: 'end', result: isWhole ? 'passed' : 'failed', says: 'stopped before its end' })
  return cases
}

/** What programs of the Linux Test Project print. */
export function ltpCases(output: string): Case[] {
  const results = { TPASS: 'passed', TCONF: 'skipped', TFAIL: 'failed', TBROK: 'failed' } as const
  const found = Array.from(output.matchAll(/\b(TPASS|TCONF|TFAIL|TBROK)\b:?\s*(.*)$/gm), ([, kind, says], index) => ({
    name: String(index + 1),
    result: results[kind as keyof typeof results],
    says: says!,
  }))
  return found.length > 0 ? found : [{ name: 'end', result: 'failed', says: 'printed no result' }]
}
