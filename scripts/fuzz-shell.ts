/** `npm test -- fuzz-shell`: runs many generated commands with real bash and fails when one executes what was not predicted. */

import { parseArgs } from 'node:util'
import { analyze } from '../src/shell/analyze.ts'
import { compare, type Outcome } from '../test/soundness/compare.ts'
import { generate, mutate } from '../test/soundness/generator.ts'
import { RecorderSandbox, START } from '../test/soundness/sandbox.ts'
import { TRAPS } from '../test/soundness/traps.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    show: { type: 'string', default: '10' },
    outcome: { type: 'string' },
    /** Damage every generated text: the 98% then mean nothing and are not asked for. */
    mutate: { type: 'boolean', default: false },
  },
})
const count = Number(values.count)
const seed = Number(values.seed)
const batchSize = 500
const tally: Record<'static' | 'dynamic', Record<Outcome, number>> = {
  static: { exact: 0, dynamic: 0, marked: 0, rejected: 0, missed: 0 },
  dynamic: { exact: 0, dynamic: 0, marked: 0, rejected: 0, missed: 0 },
}
let shown = 0
let executedPrograms = 0
const sandbox = new RecorderSandbox()
try {
  for (let start = 0; start < count; start += batchSize) {
    const batch = Array.from(
      { length: Math.min(batchSize, count - start) },
      (_, index) => seed * 1_000_003 + start + index,
    )
    const generated = batch.map((one) => {
      if (!values.mutate) return generate(one)
      const whole = one % 3 === 0 ? generate(one).text : (TRAPS[one % TRAPS.length] as string)
      return { text: mutate(whole, one), static: false }
    })
    const executions = sandbox.run(generated.map((one) => one.text))
    generated.forEach((one, index) => {
      const execution = executions[index] ?? { executed: [], timedOut: false }
      executedPrograms += execution.executed.length
      const analysis = analyze(one.text, START)
      const { outcome, missed } = compare(analysis, execution.executed)
      tally[one.static ? 'static' : 'dynamic'][outcome]++
      const wanted = outcome === 'missed' || (outcome === values.outcome && one.static)
      if (!wanted || shown++ >= Number(values.show)) return
      const why = 'rejection' in analysis ? analysis.rejection.message : JSON.stringify(missed)
      console.log(`seed ${batch[index]}: ${outcome} ${why}\n${one.text.replace(/^/gm, '    ')}`)
    })
  }
} finally {
  sandbox.remove()
}
console.table(tally)
const still = tally.static
const total = Object.values(still).reduce((sum, one) => sum + one, 0)
const exact = total === 0 ? 1 : still.exact / total
const missed = still.missed + tally.dynamic.missed
console.log(`${count} commands, ${executedPrograms} programs executed, ${missed} not predicted`)
if (!values.mutate)
  console.log(`${(exact * 100).toFixed(2)}% of ${total} commands without dynamic words predicted exactly (98% wanted)`)
if (missed > 0 || exact < 0.98) process.exit(1)
