/** `cordon verify`: whether the manifest is signed, by whom, and what changed since. */

import { registryChanges } from '../../../../project/registries/drift.ts'
import { signatureView } from '../../../../project/sign/signature-view.ts'
import { judgeTrust, readRegistries } from '../../../../project/sign/trust.ts'
import { machineFiles } from '../../../../system/files.ts'
import { visible } from '../../../terminal/terminal.ts'
import { openWritten } from '../../open-policy.ts'
import { describeChanges } from '../../sign-view.ts'
import { type CommandContext, EXIT } from '../../usage.ts'
import { describeRegistries } from './sign.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const opened = await openWritten(args, terminal)
  if (!opened) return EXIT.usage
  const report = judgeTrust(opened.loaded, opened.machine, machineFiles)
  if (args.flags.json) {
    const registries = report && registryChanges(report.registries, readRegistries(opened.loaded, opened.machine))
    terminal.out(
      `${JSON.stringify(report ? { ...report.trust, diff: report.diff, registries } : { status: 'none' })}\n`,
    )
  } else if (!report) {
    terminal.out('there is no cordon.toml here: the built-in defaults apply\n')
  } else if (report.trust.status === 'signed') {
    const { by, keyId, comment, signedAt } = report.trust
    terminal.out(
      `signed by ${by === 'user' ? 'you' : `the team key ${visible(comment || keyId)}`}${signedAt ? ` on ${signedAt}` : ''}\n`,
    )
    const changed = registryChanges(report.registries, readRegistries(opened.loaded, opened.machine))
    if (by === 'user' && changed.opens.length + changed.closes.length > 0)
      terminal.out(
        `the registries have changed since, and the signed ones apply until you sign again:\n${describeRegistries(terminal, changed)}`,
      )
  } else {
    const view = signatureView(opened.loaded, report, opened.machine, machineFiles)
    terminal.out(`${report.trust.status}\n${describeChanges(terminal, view)}`)
  }
  return !report || report.trust.status === 'signed' ? EXIT.ok : EXIT.failed
}
