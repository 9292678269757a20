/** Recall and false alarms of the injection scan: what is missed and what is flagged, by set. */

import { scanText } from '../../../src/scan/injection.ts'
import { BENIGN } from './benign.ts'
import { FIRST_ATTACKS } from './first-set.ts'

export function share(texts: readonly string[]): {
  readonly share: number
  readonly missed: readonly string[]
  readonly hit: readonly string[]
} {
  const hit = texts.filter((text) => scanText(text).injection)
  return { share: hit.length / texts.length, hit, missed: texts.filter((text) => !hit.includes(text)) }
}

if (process.argv[1] === import.meta.filename) {
  const first = share(FIRST_ATTACKS)
  console.log('first set', FIRST_ATTACKS.length, first.share.toFixed(3))
  for (const text of first.missed)
    console.log(
      '  missed',
      text.slice(0, 110).replaceAll('\n', ' '),
      scanText(text).score,
      scanText(text)
        .findings.map((f) => f.rule)
        .join(),
    )
  const benign = share(BENIGN)
  console.log('benign', BENIGN.length, benign.share.toFixed(3))
  for (const text of benign.hit)
    console.log(
      '  flagged',
      text.slice(0, 110),
      scanText(text)
        .findings.map((f) => `${f.rule}: ${f.excerpt}`)
        .join(),
    )
}
