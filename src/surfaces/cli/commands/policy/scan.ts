/** `cordon scan`: looks for instructions aimed at an agent in one text or a batch. */

import { scanText } from '../../../../scan/injection/injection.ts'
import { linesOf } from '../../../../system/lines.ts'
import { type CommandContext, EXIT } from '../../usage.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  if (!args.flags.batch) {
    process.stdin.setEncoding('utf8')
    let text = ''
    for await (const piece of process.stdin) text += piece
    const { injection, score, findings } = scanText(text)
    terminal.out(`${JSON.stringify({ injection, score, findings })}\n`)
    return EXIT.ok
  }
  for await (const line of linesOf(process.stdin)) terminal.out(`${JSON.stringify(answer(line))}\n`)
  return EXIT.ok
}

function answer(line: string | null): Record<string, unknown> {
  if (line === null) return { id: null, error: 'the line is not UTF-8' }
  let row: { id?: unknown; text?: unknown }
  try {
    row = JSON.parse(line)
  } catch {
    return { id: null, error: 'the line is not JSON' }
  }
  const id = row?.id ?? null
  if (typeof row?.text !== 'string') return { id, error: '"text" must be a string' }
  const { injection, score, findings } = scanText(row.text)
  return { id, injection, score, findings }
}
