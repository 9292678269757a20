/** Recall and false alarms of the injection scan: what is missed and what is flagged, by set. */

import { scanText } from '../../../src/scan/injection/injection.ts'
import { BENIGN } from './benign.ts'
import { FIRST_ATTACKS } from './first-set.ts'
import { FOURTH_ATTACKS } from './fourth-set.ts'
import { SECOND_ATTACKS } from './second-set.ts'
import { THIRD_ATTACKS } from './third-set.ts'

export function share(texts: readonly string[]): {
  readonly share: number
  readonly missed: readonly string[]
  readonly hit: readonly string[]
} {
  const hit = texts.filter((text) => scanText(text).injection)
  return { share: hit.length / texts.length, hit, missed: texts.filter((text) => !hit.includes(text)) }
}

if (process.argv[1] === import.meta.filename) {
  for (const [name, attacks] of Object.entries({
    first: FIRST_ATTACKS,
    second: SECOND_ATTACKS,
    third: THIRD_ATTACKS,
    fourth: FOURTH_ATTACKS,
  })) {
    const { share: recall, missed } = share(attacks)
    console.log(`${name} set: ${(recall * 100).toFixed(1)}% of ${attacks.length} found`)
    for (const text of missed)
      console.log(`  missed ${scanText(text).score}: ${text.slice(0, 110).replaceAll('\n', ' ')}`)
  }
  const { share: alarms, hit } = share(BENIGN)
  console.log(`hard benign lines: ${(alarms * 100).toFixed(1)}% of ${BENIGN.length} flagged`)
  for (const text of hit) console.log(`  flagged: ${text.slice(0, 110)}`)
}
