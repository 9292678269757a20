/** Finds secrets in a command's words by the word before them, such as `--password` (A2). */

import { createRedactor, MASK } from '../../scan/redact/redact.ts'
import type { CommandFact, ShellFacts } from '../../shell/facts.ts'

export function secretMask(facts: ShellFacts | null): (text: string) => string {
  const plain = createRedactor()
  const secrets = new Set(facts?.commands.flatMap((fact) => secretsAmong(wordsOf(fact), plain.find)))
  const redactor = secrets.size === 0 ? plain : createRedactor(secrets)
  // A short value is masked only as a whole word: elsewhere it may be part of anything.
  return (text) => (secrets.has(text) ? MASK : redactor.redact(text))
}

function wordsOf({ argv, assignments }: CommandFact): string[][] {
  const set = assignments.map(({ name, value }) => [name, '=', value?.values?.[0] ?? value?.text ?? ''])
  return [...set, argv.map((word) => word.values?.[0] ?? word.text)]
}

function secretsAmong(texts: readonly string[][], find: ReturnType<typeof createRedactor>['find']): string[] {
  return texts.flatMap((words) => {
    let line = ''
    const starts = words.map((word) => {
      if (line !== '' && word !== '=' && !line.endsWith('=')) line += ' '
      const quote = /[\s'"]/.test(word) ? '"' : ''
      const start = line.length + quote.length
      line += quote + word + quote
      return start
    })
    const spans = find(line)
    return words.flatMap((word, index) =>
      spans.flatMap(({ start, end }) => {
        const part = word.slice(Math.max(0, start - starts[index]!), Math.max(0, end - starts[index]!))
        return part === '' ? [] : [part]
      }),
    )
  })
}
