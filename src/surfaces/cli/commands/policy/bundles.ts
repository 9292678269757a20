/** `cordon bundles`: what development tools may use in the sandbox. */

import { nearest } from '../../../../project/near-word.ts'
import { builtInBundles, bundleNames } from '../../../../run/open-backend.ts'
import { wrapWords } from '../../../../scan/display-text.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { paint, visible } from '../../../terminal/terminal.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

type Bundle = ReturnType<typeof builtInBundles>[number]

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [name] = args.words
  const bundles = builtInBundles()
  const chosen = name === undefined ? null : bundles.find((bundle) => bundle.tool === name)
  if (chosen === undefined) {
    const suggestion = nearest(name!, bundleNames())
    throw new UsageError(`there is no bundle "${name}"${suggestion ? `; did you mean "${suggestion}"?` : ''}`)
  }
  if (args.flags.json) terminal.out(`${JSON.stringify(chosen ?? bundles)}\n`)
  else if (chosen) {
    const { registryUrls } = await import('../../../../project/registries/drift.ts')
    const urls = registryUrls(chosen, thisMachine(), process.cwd())
    const { lines, notes } = describeBundle(chosen)
    const rows = [...lines, ['Registries here', urls.length > 0 ? urls.map(visible) : ['none']] as const]
    const indent = Math.max(...rows.map(([label]) => label.length)) + 2
    const block = (label: string, text: string): string =>
      wrapWords(text, terminal.width - indent)
        .map((line, at) => `${(at === 0 ? label : '').padEnd(indent)}${line}\n`)
        .join('')
    terminal.out(`${paint(terminal, 'bold', chosen.tool)}: ${chosen.summary}\n\n`)
    for (const [label, values] of rows) terminal.out(block(label, values.join('  ')))
    for (const note of notes) terminal.out(`\n${wrapWords(note, terminal.width).join('\n')}\n`)
  } else {
    const width = Math.max(...bundleNames().map((text) => text.length))
    for (const bundle of bundles)
      terminal.out(`${paint(terminal, 'cyan', bundle.tool.padEnd(width))}  ${bundle.summary}\n`)
  }
  return EXIT.ok
}

/** The grants of a bundle, each with a label, and the notes. */
export function describeBundle(bundle: Bundle): {
  readonly lines: readonly (readonly [label: string, values: readonly string[]])[]
  readonly notes: readonly string[]
} {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['Applies to', bundle.programs],
    ['Reads', bundle.read],
    [bundle.fetch ? 'Caches (written)' : 'Caches (written with `fetch = true`)', bundle.cache],
    ['Written with `install = true`', bundle.install],
    ['Variables', bundle.env],
    ['Sets', Object.entries(bundle.set).map(([name, value]) => `${name}=${value}`)],
    ['Checked at its start', bundle.checks],
    ['Declined hosts', bundle.declined],
    [bundle.fetch ? 'Hosts' : 'Hosts with `fetch = true`', bundle.hosts],
    ['Subcommands that have them', bundle.online ?? []],
    ['Keys brokered by `cordon run`', bundle.secrets.map((secret) => secret.name)],
    ['Registry', [...new Set(bundle.registries.map(registrySentence))]],
  ]
  return { lines: rows.filter(([, values]) => values.length > 0), notes: bundle.notes }
}

function registrySentence(source: Bundle['registries'][number]): string {
  const where = source.command
    ? `the output of \`${source.command.join(' ')}\``
    : source.project
      ? `the project’s \`${source.project}\` when signed`
      : `\`${source.file}\``
  return source.subdomains ? `${where}, and the names below it` : where
}
