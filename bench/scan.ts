/** How fast the redactor and the injection scan read: MB/s on ordinary logs and on hostile lines. */

import { createRedactor } from '../src/scan/redact/redact.ts'
import { ordinaryLog, randomFrom } from '../test/redact-samples.ts'
import { printTable } from './measure.ts'

const log = ordinaryLog(randomFrom(1), 200_000)
const redactor = createRedactor(['a-known-secret-value', 'another/known+secret'])

const hostile: Record<string, string> = {
  'sk- without end': 'sk-'.repeat(350_000),
  'password=': 'password='.repeat(110_000),
  'open quotes': 'token="'.repeat(150_000),
  'urls without host': 'a://b:'.repeat(170_000),
  'one long run': 'a'.repeat(1_000_000),
  'mixed long run': 'aB3/'.repeat(250_000),
  'key blocks without end': '-----BEGIN PRIVATE KEY-----'.repeat(38_000),
  cookies: 'Cookie: a=bbbbbbbb;'.repeat(52_000),
  eyJ: 'eyJaaaaaaaa.'.repeat(83_000),
  mysql: 'mysql '.repeat(170_000),
  curl: 'curl -u '.repeat(125_000),
  'keys of 64': 'secret_token_key_'.repeat(60_000),
}

const redact = (text: string): string => redactor.redact(text)

printTable('The redactor', [
  ['', 'MB a second'],
  measure('ordinary log, whole', log, redact),
  measure('ordinary log, ASCII only', log.replaceAll('✓', 'v'), redact),
  measure('ordinary log, streamed in 64 KiB', log, (text) => {
    const stream = redactor.stream()
    for (let at = 0; at < text.length; at += 65_536) stream.push(text.slice(at, at + 65_536))
    return stream.end()
  }),
  ...Object.entries(hostile).map(([name, text]) => measure(`hostile: ${name}`, text, redact)),
])

function measure(name: string, text: string, run: (text: string) => string): string[] {
  run(text)
  // The best of several: other work on the machine only ever slows a run down.
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 7; i++) {
    const started = performance.now()
    run(text)
    best = Math.min(best, performance.now() - started)
  }
  return [name, (text.length / 1e3 / best).toFixed(0)]
}
