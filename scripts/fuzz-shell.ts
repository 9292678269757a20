/** `npm test -- fuzz-shell`: runs many commands with real bash and fails when one executes what was not predicted. */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { analyze } from '../src/shell/walk/analyze.ts'
import { compare, type Outcome } from '../test/soundness/compare.ts'
import { type Generated, generate, mutate } from '../test/soundness/generator.ts'
import { nest } from '../test/soundness/nesting.ts'
import { RecorderSandbox, START } from '../test/soundness/sandbox.ts'
import { TRAPS } from '../test/soundness/traps.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    show: { type: 'string', default: '10' },
    outcome: { type: 'string' },
    /** Damage every generated text. */
    mutate: { type: 'boolean', default: false },
    /** Texts of nested quoting, backquotes, coprocesses, redirects, braces and locales. */
    nested: { type: 'boolean', default: false },
    /** Texts of a file, one JSON string a line, instead of generated ones. */
    texts: { type: 'string' },
  },
})
const given = values.texts === undefined ? null : readTexts(values.texts)
const count = given?.length ?? Number(values.count)
const seed = Number(values.seed)
const batchSize = 500
const none = (): Record<Outcome, number> => ({ exact: 0, dynamic: 0, marked: 0, rejected: 0, missed: 0 })
const tally: Record<'static' | 'dynamic', Record<Outcome, number>> = { static: none(), dynamic: none() }
let shown = 0
let executedPrograms = 0
// Whatever a given text names may be a program.
const sandbox = new RecorderSandbox(given?.flatMap((text) => text.match(/\b[A-Za-z_][\w.+-]{0,60}/g) ?? []))
try {
  for (let start = 0; start < count; start += batchSize) {
    const numbers = Array.from({ length: Math.min(batchSize, count - start) }, (_, index) => start + index)
    const batch = numbers
      .map((number) => ({ number, ...textOf(number) }))
      .map((one) => ({ ...one, analysis: analyze(one.text, START) }))
    // What is refused cannot be missed.
    const accepted = batch.filter(({ analysis }) => 'facts' in analysis)
    for (const one of batch) if ('rejection' in one.analysis) tally[one.static ? 'static' : 'dynamic'].rejected++
    const executions = await sandbox.run(accepted.map(({ text }) => text))
    accepted.forEach(({ number, text, analysis, static: still }, index) => {
      const { executed } = executions[index]!
      executedPrograms += executed.length
      const { outcome, missed } = compare(analysis, executed)
      tally[still ? 'static' : 'dynamic'][outcome]++
      const wanted = outcome === 'missed' || (outcome === values.outcome && still)
      if (!wanted || shown++ >= Number(values.show)) return
      console.log(`text ${number}: ${outcome} ${JSON.stringify(missed)}\n${text.replace(/^/gm, '    ')}`)
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
if (total > 0)
  console.log(`${(exact * 100).toFixed(2)}% of ${total} commands without dynamic words predicted exactly (98% wanted)`)
if (missed > 0 || exact < 0.98) process.exit(1)

/** The text of a number: given, nested, damaged or plain. */
function textOf(number: number): Generated {
  const at = seed * 1_000_003 + number
  if (given !== null) return { text: given[number]!, static: false }
  if (values.nested) return { text: nest(at), static: false }
  if (!values.mutate) return generate(at)
  return { text: mutate(at % 3 === 0 ? generate(at).text : TRAPS[at % TRAPS.length]!, at), static: false }
}

function readTexts(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as string).filter((text) => !text.includes('\0'))
}
