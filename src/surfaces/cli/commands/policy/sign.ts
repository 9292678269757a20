/** `cordon sign`: shows what a manifest opens, and signs it after a person agrees. */

import type { LoadedManifest } from '../../../../project/load/load.ts'
import { type RegistryDrift, registryChanges } from '../../../../project/registries/drift.ts'
import { signatureView } from '../../../../project/sign/signature-view.ts'
import {
  detachedSignature,
  judgeTrust,
  readRegistries,
  signProject,
  type TrustReport,
} from '../../../../project/sign/trust.ts'
import { trackedSecrets, trackedSecretsLine } from '../../../../run/tracked-secrets.ts'
import { Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import type { Machine } from '../../../../system/machine.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import type { Arguments } from '../../arguments.ts'
import { confirm } from '../../confirm.ts'
import { openWritten, printWarnings } from '../../open-policy.ts'
import { describeSignature } from '../../sign-view.ts'
import { type CommandContext, EXIT } from '../../usage.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const opened = await openWritten(args, terminal)
  if (!opened) return EXIT.usage
  const { loaded, machine } = opened
  await printWarnings(terminal, loaded)
  const report = judgeTrust(loaded, machine, machineFiles)
  if (!report)
    throw new Fault('no-manifest', `${loaded.root} has no cordon.toml to sign`, { remedy: 'cordon init writes one.' })
  const answer = (signed: boolean): void => {
    const { status } = report.trust
    if (args.flags.json) terminal.out(`${JSON.stringify({ status, signed, diff: report.diff, registries, shown })}\n`)
  }
  const shown = trackedSecrets(loaded, machine.home)
  const found = readRegistries(loaded, machine)
  const registries = registryChanges(report.registries, found)
  const moved = registries.opens.length + registries.closes.length > 0
  const all = args.flags.all === true || !process.stdout.isTTY
  if (!args.flags.json)
    terminal.out(
      `${describeSignature(terminal, signatureView(loaded, report, machine, machineFiles, found), all)}${describeShown(terminal, loaded, shown)}`,
    )
  if (report.trust.status === 'signed' && !moved && !args.flags.detached) {
    answer(true)
    terminal.err('already signed\n')
    return EXIT.ok
  }
  if (!args.flags.yes && !(await confirm(terminal, 'Sign it? [y/N] '))) {
    const why = process.stdin.isTTY ? '' : ': there is no terminal to ask on (cordon sign --yes does not ask)'
    answer(false)
    terminal.err(`not signed${why}\n`)
    return EXIT.failed
  }
  if (args.flags.detached) {
    const file = `${loaded.manifestPath}.sig`
    machineFiles.writeText(file, detachedSignature(loaded, machine, machineFiles))
    answer(true)
    terminal.err(
      `${paint(terminal, 'green', 'wrote')} ${visible(file)}; others accept it after: cordon keys trust YOUR-KEY\n`,
    )
    return EXIT.ok
  }
  const exit = sign(terminal, loaded, machine)
  answer(true)
  return exit
}

function sign(terminal: Terminal, loaded: LoadedManifest, machine: Machine): number {
  const { warning } = signProject(loaded, machine, new Date())
  // Remember the valid signature for the first call.
  if (judgeTrust(loaded, machine, machineFiles)?.trust.status !== 'signed') {
    throw new Fault('unsigned-manifest', 'the signature was written but does not verify', {
      remedy: 'Look at the key with cordon keys, then sign again.',
    })
  }
  if (warning) terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(warning)}\n`)
  terminal.err(`${paint(terminal, 'green', 'signed')} ${visible(loaded.manifestPath)}\n`)
  return EXIT.ok
}

/** Offers at a terminal to sign an unsigned manifest. Returns the signing report, or null: then nothing may run. */
export async function requireSigned(
  terminal: Terminal,
  loaded: LoadedManifest,
  report: TrustReport,
  machine: Machine,
): Promise<TrustReport | null> {
  const what =
    report.trust.status === 'changed'
      ? 'has changed since it was signed'
      : report.trust.status === 'bad'
        ? `has a bad signature: ${report.trust.reason}`
        : 'is not signed'
  terminal.err(
    `${paint(terminal, 'yellow', 'cordon:')} ${visible(loaded.manifestPath)} ${what}, so it does not take effect [unsigned-manifest]\n`,
  )
  if (process.stdin.isTTY && process.stderr.isTTY) {
    terminal.err(describeSignature(terminal, signatureView(loaded, report, machine, machineFiles), false))
    if (await confirm(terminal, 'Sign it now? [y/N] ')) {
      sign(terminal, loaded, machine)
      return judgeTrust(loaded, machine, machineFiles)
    }
  }
  terminal.err('  Read it, then run: cordon sign (or name it for this one run: --manifest cordon.toml)\n')
  return null
}

/** Offers a new signature if registries changed since the last one; true once signed. */
export async function offerRegistries(terminal: Terminal, args: Arguments, drift: RegistryDrift): Promise<boolean> {
  terminal.err(
    `${paint(terminal, 'yellow', 'cordon:')} the registries have changed since you signed:\n${describeRegistries(terminal, drift)}`,
  )
  const opened = (await confirm(terminal, 'Sign them now? Until then the signed ones apply. [y/N] '))
    ? await openWritten(args, terminal)
    : null
  if (opened) sign(terminal, opened.loaded, opened.machine)
  return opened !== null
}

function describeShown(terminal: Terminal, { root }: LoadedManifest, shown: readonly string[]): string {
  const line = trackedSecretsLine(shown, root)
  return line === null ? '' : `${paint(terminal, 'yellow', '! shown ')} ${visible(line)}\n`
}

/** Registries that signing adds to a bundle's reach, and those that it removes. */
export function describeRegistries(
  terminal: Terminal,
  { opens, closes }: { readonly opens: readonly string[]; readonly closes: readonly string[] },
): string {
  const lines = [
    ...opens.map((line) => `${paint(terminal, 'yellow', '+ opens ')} ${visible(line)}`),
    ...closes.map((line) => `${paint(terminal, 'green', '- closes')} ${visible(line)}`),
  ]
  return lines.map((line) => `${line}\n`).join('')
}
