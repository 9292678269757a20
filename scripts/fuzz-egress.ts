/** `npm test -- fuzz-egress [SEEDS] [CONNECTIONS]`: many broken connections against a proxy; fails when another host is reached or it stops. */

import { GRANTED } from '../test/egress/generator.ts'
import { playRounds } from '../test/egress/rounds.ts'

const [seeds = '50', connections = '1000'] = process.argv.slice(2)
const hosts = new Set([GRANTED, `${GRANTED}:80`])

for (let seed = 1; seed <= Number(seeds); seed++) {
  const { reached, left } = await playRounds(seed, Number(connections))
  const wrong = reached.filter((name) => !hosts.has(name))
  process.stdout.write(`seed ${seed}: reached ${reached.join(', ')}; left ${left}\n`)
  if (wrong.length > 0 || left > 0) process.exit(1)
}
