/** `cordon keys`: your own key, and the keys of others whose signatures you accept. */

import { openKeys } from '../../../../project/sign/keys.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { paint, visible } from '../../../terminal/terminal.ts'
import { oneOf } from '../../arguments.ts'
import { confirm } from '../../confirm.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [given = 'list', key, ...comment] = args.words
  const verb = oneOf(['list', 'trust', 'untrust', 'reset'], given, 'name an action')
  const keys = openKeys(thisMachine())
  if (verb === 'list') {
    const { own, trusted } = keys.list()
    if (args.flags.json) terminal.out(`${JSON.stringify({ own, trusted })}\n`)
    else {
      terminal.out(own === null ? 'you have no key yet; cordon sign creates one\n' : `yours    ${own}\n`)
      for (const other of trusted) terminal.out(`trusted  ${visible(other.key)}  ${visible(other.comment)}\n`)
    }
    return EXIT.ok
  }
  if (verb === 'reset') {
    const question = 'A new key invalidates all your signatures. Continue? [y/N] '
    if (!args.flags.yes && !(await confirm(terminal, question))) {
      terminal.err('nothing was changed (--yes skips the question)\n')
      return EXIT.failed
    }
    const { warning } = keys.reset()
    if (warning) terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(warning)}\n`)
    terminal.out('Created a new key. Sign your manifests again with cordon sign.\n')
    return EXIT.ok
  }
  if (key === undefined) {
    const comment = verb === 'trust' ? ' NAME OF THE TEAM' : ''
    throw new UsageError(`name a key: cordon keys ${verb} ed25519:BASE64${comment}`)
  }
  if (verb === 'trust') {
    keys.trust(key, comment.join(' '))
    terminal.out(`trusted ${visible(key)}\n`)
    return EXIT.ok
  }
  if (!keys.untrust(key)) throw new UsageError(`there is no trusted key ${key}; cordon keys lists them`)
  terminal.out(`no longer trusted: ${visible(key)}\n`)
  return EXIT.ok
}
