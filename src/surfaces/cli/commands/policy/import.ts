/** `cordon import`: converts another agent's permission settings to a manifest that allows no more. */

import { dirname, join } from 'node:path'
import { IMPORTERS, mergeSettings } from '../../../../agents/import/agents.ts'
import { RULE_FILES } from '../../../../agents/import/codex.ts'
import { importManifest } from '../../../../agents/import/manifest.ts'
import { parseToml } from '../../../../agents/settings/toml-text.ts'
import { Fault, messageOf } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { parseSettings } from '../../../../system/json.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import type { RulePlace } from '../../../hook/host/host.ts'
import { findHost } from '../../../hook/hosts/hosts.ts'
import { paint, visible } from '../../../terminal/terminal.ts'
import { oneOf, textFlag } from '../../arguments.ts'
import { type CommandContext, EXIT } from '../../usage.ts'

/** Where each agent keeps settings, nearest first; all existing files count. */
function placesOf(agent: string, machine: Machine): readonly string[] {
  const { settings } = findHost(agent)?.ownRules ?? {}
  const own: Readonly<Record<string, readonly string[]>> = {
    srt: [join(machine.home, '.srt-settings.json')],
    vscode: [
      ...['.vscode/settings.json', '.vscode/mcp.json'].map((file) => join(machine.cwd, file)),
      ...['settings.json', 'mcp.json'].map((file) => join(dirname(machine.configDir), 'Code/User', file)),
    ],
  }
  return settings?.(rulePlace(machine)) ?? own[agent] ?? []
}

function rulePlace({ cwd, home, env }: Machine): RulePlace {
  return { home, env, folders: [cwd], commandLines: () => [] }
}

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [name, given] = args.words
  const agent = oneOf(Object.keys(IMPORTERS), name, 'name the agent whose settings to import')
  const machine = thisMachine()
  const candidates = given === undefined ? placesOf(agent, machine) : [given]
  const found = candidates.filter((path) => machineFiles.exists(path))
  if (found.length === 0) {
    throw new Fault('not-found', `there are no settings of ${agent} at ${candidates.join(', ')}`, {
      remedy: `Name the file: cordon import ${agent} FILE`,
    })
  }
  const settings = mergeSettings(agent, found.map(settingsOf))
  const texts = given === undefined ? ruleTexts(agent, machine) : []
  const rules = texts.length > 0 ? { [RULE_FILES]: texts } : {}
  const { text, notes } = await importManifest(IMPORTERS[agent]!({ ...settings, ...rules }), machine, machineFiles)
  const manifest = `# Written by cordon import ${agent}. Read it, then activate it with cordon sign.\n# After some days of work, cordon learn --from record says which rules were never used.\n${text}`
  const out = textFlag(args, 'out')
  if (args.flags.json) terminal.out(`${JSON.stringify({ files: found, manifest, notes })}\n`)
  else if (out === undefined) terminal.out(manifest)
  if (out !== undefined) machineFiles.writeText(out, manifest, { exclusive: true })
  if (args.flags.json) return EXIT.ok
  for (const note of notes) terminal.err(`${paint(terminal, 'yellow', 'note:')} ${visible(note)}\n`)
  if (out !== undefined) terminal.err(`wrote ${visible(out)}; read it, then put it in force: cordon sign\n`)
  return EXIT.ok
}

function ruleTexts(agent: string, machine: Machine): readonly string[] {
  const sources = findHost(agent)?.ownRules?.sources(rulePlace(machine)) ?? []
  return sources
    .flatMap((source) => ('folder' in source && source.ending === '.rules' ? [source.folder] : []))
    .flatMap((folder) => machineFiles.list(folder).map((name) => join(folder, name)))
    .filter((file) => file.endsWith('.rules'))
    .map((file) => machineFiles.readText(file))
}

function settingsOf(file: string): Readonly<Record<string, unknown>> {
  const text = machineFiles.readText(file)
  let value: unknown
  try {
    value = file.endsWith('.toml') ? parseToml(text, file) : parseSettings(text)
  } catch (error) {
    throw new Fault('unreadable', `${file} cannot be read as settings: ${messageOf(error)}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fault('unreadable', `${file} does not contain a settings object`)
  }
  return { ...value }
}
