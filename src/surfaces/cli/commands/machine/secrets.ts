/** `cordon secrets`: values for `[[secrets]]` with `source = "keychain:NAME"`, typed unseen or piped in, never shown. */

import { openSecrets } from '../../../../project/sign/keys.ts'
import { requireSecretName } from '../../../../system/keychain-entry.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { oneOf } from '../../arguments.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

const MAX_VALUE = 64 * 1024

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [given = 'list', name] = args.words
  const verb = oneOf(['list', 'set', 'remove'], given, 'name an action')
  const secrets = openSecrets(thisMachine())
  if (verb === 'list') {
    const rows = secrets.list()
    if (args.flags.json) terminal.out(`${JSON.stringify(rows)}\n`)
    else if (rows.length === 0) terminal.out('no secret is stored; cordon secrets set NAME stores one\n')
    else
      for (const row of rows)
        terminal.out(
          `${row.name}  since ${row.since}, in ${row.kept === 'file' ? 'a file for you alone' : 'the keychain'}\n`,
        )
    return EXIT.ok
  }
  if (name === undefined) throw new UsageError(`name it: cordon secrets ${verb} NAME`)
  if (verb === 'remove') {
    if (!secrets.remove(name)) throw new UsageError(`there is no secret ${name}; cordon secrets lists them`)
    terminal.out(`removed ${visible(name)}\n`)
    return EXIT.ok
  }
  // Check the name before the person types a value.
  requireSecretName(name)
  const value = process.stdin.isTTY
    ? await typedUnseen(terminal, `The value of ${name} (it is not shown): `)
    : await piped()
  if (value === '') throw new UsageError('the value is empty, so nothing was stored')
  const { warning } = secrets.set(name, value, new Date().toISOString())
  if (warning) terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(warning)}\n`)
  terminal.out(`stored ${visible(name)}; a manifest names it with source = "keychain:${name}"\n`)
  return EXIT.ok
}

async function piped(): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    size += (chunk as Buffer).length
    if (size > MAX_VALUE) throw new UsageError(`a value has at most ${MAX_VALUE} bytes`)
    chunks.push(chunk as Buffer)
  }
  return new TextDecoder().decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
}

function typedUnseen(terminal: Terminal, question: string): Promise<string> {
  const { stdin } = process
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (chunk: string): void => {
      for (const char of chunk) {
        if ('\r\n\u0003\u0004'.includes(char)) {
          stdin.setRawMode(false)
          stdin.removeListener('data', read)
          stdin.pause()
          terminal.err('\n')
          if (char === '\r' || char === '\n') resolve(text)
          else reject(new UsageError('nothing was typed, so nothing was stored'))
          return
        }
        text = char === '\u007f' ? [...text].slice(0, -1).join('') : text + char
      }
    }
    stdin.setRawMode(true)
    terminal.err(question)
    stdin.setEncoding('utf8')
    stdin.on('data', read)
  })
}
