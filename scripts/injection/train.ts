/**
 * Trains the injection classifier and writes its weights: `node scripts/injection/train.ts CORPUS.jsonl [--measure]`. With
 * `--measure` it leaves one source out at a time and prints what the rest finds of it, and writes nothing.
 */

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { BUCKETS } from '../../src/scan/injection/features.ts'
import { scanByRules } from '../../src/scan/injection/injection.ts'
import { BENIGN } from '../../test/attacks/injection/benign.ts'
import { FIRST_ATTACKS } from '../../test/attacks/injection/first-set.ts'
import { FOURTH_ATTACKS } from '../../test/attacks/injection/fourth-set.ts'
import { SECOND_ATTACKS } from '../../test/attacks/injection/second-set.ts'
import { THIRD_ATTACKS } from '../../test/attacks/injection/third-set.ts'
import { chanceFrom, letterText, structuredText } from './phrases.ts'
import { corpusSamples, filePieces, generatedSamples, type Sample, type Sentence, sampleOf } from './samples.ts'

interface Model {
  readonly weights: Float32Array
  bias: number
}

/** How much surer than on ordinary files a sentence has to be: letters ask people for things all the time. */
const MARGIN = 0.6
const EPOCHS = 8
const RATE = 0.5
const DECAY = 2e-6

function score(model: Model, { features }: Sentence): number {
  let sum = 0
  for (const feature of features) sum += model.weights[feature]!
  return model.bias + sum / Math.sqrt(features.length)
}

function highest(model: Model, sentences: readonly Sentence[]): Sentence | null {
  let best: Sentence | null = null
  let top = Number.NEGATIVE_INFINITY
  for (const sentence of sentences) {
    const value = score(model, sentence)
    if (value > top) [best, top] = [sentence, value]
  }
  return best
}

/** Logistic regression on sentences: an injection teaches by its most suspicious one, a harmless text by all of them. */
function train(samples: readonly Sample[]): Model {
  const model: Model = { weights: new Float32Array(BUCKETS), bias: -2 }
  const seen = new Float32Array(BUCKETS).fill(1)
  const chance = chanceFrom(7)
  const learn = (sentence: Sentence, wanted: 0 | 1, worth: number) => {
    const error = (wanted - 1 / (1 + Math.exp(-score(model, sentence)))) * worth
    if (Math.abs(error) < 1e-3) return
    const step = (RATE * error) / Math.sqrt(sentence.features.length)
    for (const feature of sentence.features) {
      seen[feature] = seen[feature]! + error * error
      model.weights[feature] = model.weights[feature]! * (1 - DECAY) + step / Math.sqrt(seen[feature]!)
    }
    model.bias += 0.01 * error
  }
  const order = samples.map((_, index) => index)
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (let at = order.length - 1; at > 0; at--) {
      const other = chance(at + 1)
      ;[order[at], order[other]] = [order[other]!, order[at]!]
    }
    for (const index of order) {
      const { sentences, injection, source } = samples[index]!
      if (injection) {
        const best = highest(model, sentences)
        if (best !== null) learn(best, 1, source === 'generated' ? 1 : 3)
      } else for (const sentence of sentences) learn(sentence, 0, 1)
    }
  }
  return model
}

/** The threshold at which no more than a share of harmless texts is flagged. */
function thresholdFor(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => b - a)
  return sorted[Math.floor(sorted.length * share)]! + 1e-6
}

function textScore(model: Model, { sentences }: Sample): number {
  const best = highest(model, sentences)
  return best === null ? Number.NEGATIVE_INFINITY : score(model, best)
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { measure: { type: 'boolean' } } })
const corpus = positionals.flatMap((file) => corpusSamples(file))
const chance = chanceFrom(1)
const DOCS = ['/usr/share/doc', '/usr/share/man/man1', '/usr/share/man/man5', '/usr/share/man/man8', 'node_modules']
const docs = filePieces(DOCS, /\.(?:md|gz|txt|rst)$|README$/, 6000, chance)
const sources = filePieces(
  ['/usr/lib/python3', '/usr/lib/python3.11', 'node_modules', 'src'],
  /\.(?:py|js|ts|mjs|json|c|h)$/,
  5000,
  chance,
)
const own = [...FIRST_ATTACKS, ...SECOND_ATTACKS, ...THIRD_ATTACKS].map((text) => sampleOf(text, true, 'own'))
/** Alone and among other lines, and often: these are what a scan must not cry at. */
const hard = Array.from({ length: 12 }, (_, round) => round).flatMap((round) =>
  BENIGN.map((text) =>
    sampleOf(round % 3 === 0 ? text : `${structuredText(chance)}\n${text}\n${letterText(chance)}`, false, 'own'),
  ),
)
const half = Math.floor(docs.length * 0.8)
const files = [...docs.slice(0, half), ...sources.slice(0, Math.floor(sources.length * 0.8))]
const unseen = [...docs.slice(half), ...sources.slice(Math.floor(sources.length * 0.8))].map((text) =>
  sampleOf(text, false, 'files'),
)
const ground = [
  ...generatedSamples(chance, 24_000, files),
  ...files.map((text) => sampleOf(text, false, 'files')),
  ...own,
  ...hard,
]

if (values.measure) measure()
else save(train([...ground, ...corpus]))

/** Leaves each family of the corpus out, and the whole corpus, and looks at what was left out. */
function measure(): void {
  const fourth = FOURTH_ATTACKS.map((text) => sampleOf(text, true, 'fourth'))
  const families = [...new Set(corpus.map(({ source }) => source))]
  const rows: {
    name: string
    found: number
    rules: number
    both: number
    of: number
    alarms: number
    harmless: number
  }[] = []
  const pooled: { margin: number; rules: boolean; bad: boolean; sample: Sample; model: Model }[] = []
  for (const left of [...families, '(whole corpus)']) {
    const out = left === '(whole corpus)' ? corpus : corpus.filter(({ source }) => source === left)
    const model = train([...ground, ...corpus.filter((sample) => !out.includes(sample))])
    const limit =
      thresholdFor(
        unseen.map((sample) => textScore(model, sample)),
        0.005,
      ) + MARGIN
    const bad = out.filter(({ injection }) => injection)
    const good = out.filter(({ injection }) => !injection)
    const byModel = (sample: Sample) => textScore(model, sample) > limit
    const byRules = ({ text }: Sample) => scanByRules(text).injection
    if (left !== '(whole corpus)')
      for (const sample of out)
        pooled.push({
          margin: textScore(model, sample) - limit,
          rules: byRules(sample),
          bad: sample.injection,
          sample,
          model,
        })
    rows.push({
      name: left,
      found: bad.filter(byModel).length,
      rules: bad.filter(byRules).length,
      both: bad.filter((sample) => byModel(sample) || byRules(sample)).length,
      of: bad.length,
      alarms: good.filter((sample) => byModel(sample) || byRules(sample)).length,
      harmless: good.length,
    })
    if (left === '(whole corpus)') {
      const found = fourth.filter((sample) => byModel(sample) || byRules(sample)).length
      rows.push({
        name: 'fourth set',
        found,
        rules: fourth.filter(byRules).length,
        both: found,
        of: fourth.length,
        alarms: 0,
        harmless: 0,
      })
      for (const sample of good.filter(byModel).slice(0, 12)) explain('alarm', model, sample)
      for (const sample of bad.filter((one) => !byModel(one)).slice(0, 40)) explain('missed', model, sample)
      for (const sample of unseen.filter(byModel).slice(0, 20)) explain('file', model, sample)
    }
    console.log(rows.at(-1), limit)
  }
  console.table(rows)
  const good = pooled.filter(({ bad }) => !bad)
  const bad = pooled.filter((one) => one.bad)
  for (const extra of [-0.25, 0, 0.25, 0.5]) {
    const hit = (one: { margin: number; rules: boolean }) => one.rules || one.margin > extra
    console.log(
      `+${extra}: ${((bad.filter(hit).length / bad.length) * 100).toFixed(1)}% found, ${((good.filter(hit).length / good.length) * 100).toFixed(2)}% alarms`,
    )
  }
  for (const one of good.filter((one) => one.rules || one.margin > 0))
    explain(one.rules ? 'rules' : 'alarm', one.model, one.sample)
}

function explain(what: string, model: Model, sample: Sample): void {
  const best = highest(model, sample.sentences)
  if (best)
    console.log(
      what,
      score(model, best).toFixed(2),
      JSON.stringify(sample.text.slice(best.start, best.end).slice(0, 140)),
    )
}

/** One character a weight, from `(` to `[`: `B` is nothing. */
function save(model: Model): void {
  const limit =
    thresholdFor(
      unseen.map((sample) => textScore(model, sample)),
      0.005,
    ) + MARGIN
  const largest = model.weights.reduce((top, weight) => Math.max(top, Math.abs(weight)), 0)
  const unit = Math.min(largest, 3) / 25
  const text = Array.from(model.weights, (weight) =>
    String.fromCharCode(66 + Math.max(-26, Math.min(25, Math.round(weight / unit)))),
  ).join('')
  writeFileSync(
    'src/scan/injection/weights.generated.ts',
    `// Written by scripts/injection/train.ts; do not edit.\n\nexport const NOTHING = 66\nexport const UNIT = ${unit}\nexport const BIAS = ${model.bias}\nexport const LIMIT = ${limit}\n// biome-ignore format: one character a weight\nexport const WEIGHTS =\n  '${text}'\n`,
  )
}
