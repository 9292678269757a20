/** `cordon install`: puts Cordon in front of an agent, shows what changes, keeps a backup, and tests that the hook fires. */

import { chmodSync, mkdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { programPath } from '../../../runtime/hook/wrapped-runs.ts'
import { parseToml } from '../../../runtime/import/toml.ts'
import { openPolicy } from '../../../runtime/policy/open.ts'
import { findRoot } from '../../../runtime/policy/project/root.ts'
import { Fault } from '../../../system/fault.ts'
import { machineFiles } from '../../../system/files.ts'
import { thisMachine } from '../../../system/machine.ts'
import { codexHome } from '../../hook/hosts/codex-rules.ts'
import { askCodex, tomlText, tomlValue, withTomlValue } from '../../hook/hosts/codex-trust.ts'
import { HOST_NAMES, type HostName } from '../../hook/hosts/host.ts'
import {
  type AgentCheck,
  checkAgent,
  findProgram,
  isInPlace,
  ownHooks,
  programInside,
} from '../../hook/install/check.ts'
import { LOCAL_ENV, planGeminiTrust, trustedFoldersFile } from '../../hook/install/gemini-settings.ts'
import {
  backupOf,
  isOwnText,
  isProgramHook,
  missedInProject,
  planSecondFile,
  planSettings,
} from '../../hook/install/host-settings.ts'
import type { FileChange, InstallPlace } from '../../hook/install/install-place.ts'
import { forgetHook, type InstalledHook, installedHook, keepHook } from '../../hook/install/installed-hooks.ts'
import { forgetTrust, keepTrust, type TrustEntry, trustOf, withoutTrust } from '../../hook/install/installed-trust.ts'
import { SettingsError } from '../../hook/install/settings-error.ts'
import { parseSettings } from '../../hook/install/settings-json.ts'
import { lineDiff } from '../../terminal/line-diff.ts'
import { paint, type Terminal, visible } from '../../terminal/terminal.ts'
import { type Arguments, oneOf, parseArguments } from '../arguments.ts'
import { confirm } from '../confirm.ts'
import { cordonWords } from '../cordon-words.ts'
import { type CommandContext, commandRow, EXIT, UsageError } from '../usage.ts'

/** Runs `cordon install`. */
export async function run({ terminal, argv }: CommandContext): Promise<number> {
  const args = parseArguments(commandRow('install')!, argv)
  const agent = agentOf(args)
  const place = placeOf(args)
  const uninstall = args.flags.uninstall === true
  const within = programInside(place)
  if (within !== null && !uninstall) {
    throw new Fault(
      'inside-project',
      `${within} lies inside the project, where the agent can change it, and a hook runs outside the sandbox`,
      {
        remedy: 'Install Cordon somewhere else, such as with npm install --global, and run it from there.',
      },
    )
  }
  const { stateDir } = thisMachine()
  const trusted = trustOf(stateDir, { agent, scope: place.scope, root: place.root })
  const settings = planned(agent, place, uninstall)
  const changes = (uninstall ? untrusted(trusted, settings) : settings).filter(
    (change) => change.before !== change.after,
  )
  if (!args.flags.json) for (const change of changes) terminal.out(describe(terminal, change))
  const paths = changes.map(({ path }) => path)
  if (args.flags.print) {
    if (args.flags.json) terminal.out(`${JSON.stringify({ agent, scope: place.scope, changes: paths })}\n`)
    return EXIT.ok
  }
  if (changes.length > 0) {
    if (!args.flags.yes && !(await confirm(terminal, uninstall ? 'Take it out? [y/N] ' : 'Install it? [y/N] '))) {
      terminal.err('nothing was changed (--yes goes on without asking)\n')
      return EXIT.failed
    }
    const made = changes.flatMap((change) => write(change, isProgramHook(agent)))
    if (!uninstall) keepHook(stateDir, { agent, scope: place.scope, root: place.root, made })
    else removeMade(stateDir, { agent, scope: place.scope, root: place.root })
  }
  if (uninstall) {
    forgetTrust(stateDir, trusted)
    forgetHook(stateDir, { agent, scope: place.scope, root: place.root })
    if (args.flags.json) terminal.out(`${JSON.stringify({ agent, scope: place.scope, changes: paths, ok: true })}\n`)
    terminal.err(changes.length > 0 ? `Cordon no longer guards ${agent} here\n` : 'there was nothing to take out\n')
    return EXIT.ok
  }
  if (agent === 'codex') await trustInCodex(terminal, place, stateDir)
  if (agent === 'gemini') {
    keepTrust(stateDir, geminiTrust(changes, place))
    terminal.err(
      'Gemini CLI leaves the .env of projects alone now, since its agent can write one: keep its key in ~/.gemini/.env\n',
    )
  }
  const check = await checkAgent(agent, place, readFile)
  const { status, detail } = check
  const ok = isInPlace(check)
  if (args.flags.json)
    terminal.out(`${JSON.stringify({ agent, scope: place.scope, changes: paths, ok, status, detail })}\n`)
  const headline = ok ? status : 'does not work'
  terminal.err(`${paint(terminal, hookStyle(check), headline)}  ${agent}: ${visible(detail)}\n`)
  if (place.scope === 'user' && !args.flags.user)
    terminal.err(`it holds in every project of yours: ${missedInProject(agent)} (--project is for this one alone)\n`)
  await tellWhatIsMissing(terminal, place.root)
  return ok ? EXIT.ok : EXIT.failed
}

/** The colour of what is said about a hook. */
export function hookStyle(check: AgentCheck): 'green' | 'yellow' | 'red' {
  if (!isInPlace(check)) return 'red'
  return check.status === 'works' ? 'green' : 'yellow'
}

/** The hook judges from now on. What keeps it from allowing anything is better heard here than from the agent. */
async function tellWhatIsMissing(terminal: Terminal, root: string): Promise<void> {
  const machine = thisMachine()
  const choice = { kind: 'project' } as const
  const opened = await openPolicy({ machine, files: machineFiles, root, choice, unsigned: 'as-written' })
  const loaded = 'loaded' in opened ? opened : null
  if (loaded?.loaded.ownManifest && loaded.draft === undefined) return
  const missing =
    loaded === null
      ? 'cordon.toml does not load, so every call is denied; cordon policy lint says what is wrong'
      : loaded.loaded.ownManifest
        ? 'cordon.toml is not signed, so every call is denied; read it, then run cordon sign'
        : 'there is no cordon.toml here, so the agent has to ask about nearly everything; cordon init writes one'
  terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${missing}\n`)
}

function agentOf(args: Arguments): HostName {
  return oneOf(HOST_NAMES, args.words[0], 'name an agent')
}

function placeOf(args: Arguments): InstallPlace {
  if (args.flags.project && args.flags.user) throw new UsageError('say --project or --user, not both')
  const machine = thisMachine()
  const { cwd, home, env } = machine
  return {
    scope: args.flags.project ? 'project' : 'user',
    root: machineFiles.canonical(findRoot(cwd, machineFiles)),
    home,
    env,
    cordon: cordonWords(),
    wrapper: programPath(machine),
  }
}

function planned(agent: HostName, place: InstallPlace, uninstall: boolean): FileChange[] {
  try {
    const change = uninstall ? unchanged(agent, place) : planSettings(agent, place, readFile, false)
    const second = planSecondFile(agent, place, readFile, uninstall)
    if (second) return [change, second]
    const trust = agent === 'gemini' && place.scope === 'project' && !uninstall
    return trust ? [change, planGeminiTrust(place, readFile)] : [change]
  } catch (error) {
    if (error instanceof SettingsError)
      throw new Fault('agent-settings', error.message, { remedy: 'Put that right, then run it again.' })
    throw error
  }
}

/** Taking out: what stood there before, where nobody has changed the file since; else the file without ours. */
function unchanged(agent: HostName, place: InstallPlace): FileChange {
  const change = planSettings(agent, place, readFile, true)
  const kept = change.before === null ? null : readFile(backupOf(machineFiles.canonical(change.path)))
  if (kept === null) return change
  const installed = planSettings(agent, place, (path) => (path === change.path ? kept : readFile(path)), false)
  return installed.after === change.before ? { ...change, after: kept } : change
}

/** The changes, and the host's files without the trust that our installation wrote there; a file can be in both. */
function untrusted(entries: readonly TrustEntry[], changes: readonly FileChange[]): FileChange[] {
  const paths = [...new Set(entries.map((entry) => entry.path))]
  const taken = paths.flatMap((path) => {
    const known = changes.find((change) => change.path === path)
    const { before, after } = known ?? { before: readFile(path), after: readFile(path) }
    if (after === null) return known ? [known] : []
    const own = entries.filter((entry) => entry.path === path)
    return [{ path, before, after: withoutTrust(after, own) }]
  })
  return [...changes.filter(({ path }) => !paths.includes(path)), ...taken]
}

/** What an installation changed of Gemini CLI beside its hooks: the list of trusted folders, and what it makes of .env files. */
function geminiTrust(changes: readonly FileChange[], place: InstallPlace): TrustEntry[] {
  const { root, scope } = place
  return changes.map(({ path, before: text }) => {
    const settings = parseSettings(text ?? '{}') as Record<string, unknown>
    const own = { agent: 'gemini', scope, root, path } as const
    if (path === trustedFoldersFile(place)) {
      const before = typeof settings[root] === 'string' ? settings[root] : null
      return { ...own, table: null, key: root, before, after: 'TRUST_FOLDER' }
    }
    const { table, key } = LOCAL_ENV
    const before = JSON.stringify((settings[table] as Record<string, unknown> | undefined)?.[key]) ?? null
    return { ...own, table, key, before, after: 'true' }
  })
}

/** The text of a file, null when there is none. */
export function readFile(path: string): string | null {
  return machineFiles.exists(path) ? machineFiles.readText(path) : null
}

/** Writes a change; the folders that had to be made for it. */
function write({ path, before, after }: FileChange, isProgram = false): readonly string[] {
  const target = before === null ? path : machineFiles.canonical(path)
  const mode = before === null ? (isProgram ? 0o700 : 0o600) : statSync(target).mode & 0o777
  const backup = backupOf(target)
  if (after === null) {
    // It held nothing but what we put there.
    rmSync(target)
    rmSync(backup, { force: true })
    return []
  }
  // Of a file that holds ours already the older backup is the one without it.
  const kept = readFile(backup)
  if (after === kept) rmSync(backup)
  else if (before !== null && !isOwnText(before)) machineFiles.writeText(backup, before, { mode })
  const made = missingAbove(target)
  mkdirSync(dirname(target), { recursive: true })
  machineFiles.writeText(target, after, { mode })
  chmodSync(target, mode)
  return made
}

function missingAbove(path: string): readonly string[] {
  const above = dirname(path)
  return machineFiles.exists(above) || above === path ? [] : [...missingAbove(above), above]
}

/** Folders that the installation made and that are empty now. */
function removeMade(stateDir: string, key: Pick<InstalledHook, 'agent' | 'scope' | 'root'>): void {
  for (const folder of [...(installedHook(stateDir, key)?.made ?? [])].reverse()) {
    try {
      rmdirSync(folder)
    } catch {
      // Somebody has put something there.
    }
  }
}

/** Codex runs a hook only with its hash in its own configuration, and a project's only in a trusted project. */
async function trustInCodex(terminal: Terminal, place: InstallPlace, stateDir: string): Promise<void> {
  const codex = findProgram('codex', place.env.PATH)
  if (!codex) return
  const path = join(codexHome(place), 'config.toml')
  const before = readFile(path)
  let after = before ?? ''
  const set = (table: string, key: string, value: string): void => {
    const old = tomlValue(after, table, key)
    if (old === value) return
    after = checkedToml(path, after, withTomlValue(after, table, key, value))
    const { scope, root } = place
    keepTrust(stateDir, [{ agent: 'codex', scope, root, path, table, key, before: old, after: value }])
  }
  if (place.scope === 'project') {
    set(`projects.${tomlText(place.root)}`, 'trust_level', 'trusted')
    if (after !== before) write({ path, before, after })
  }
  for (const { key, hash, trusted } of ownHooks(await askCodex(codex, place.root, place.env), place)) {
    if (!trusted) set(`hooks.state.${tomlText(key)}`, 'trusted_hash', hash)
  }
  if (after === before) return
  terminal.out(describe(terminal, { path, before, after }))
  write({ path, before, after })
}

/** The new text of a TOML file, which must be TOML as well: a table can be written in ways that a line more would double. */
function checkedToml(path: string, before: string, after: string): string {
  const isToml = (text: string): boolean => {
    try {
      parseToml(text, path)
      return true
    } catch {
      return false
    }
  }
  if (isToml(after) || !isToml(before)) return after
  throw new Fault('agent-settings', `${path} has no place for the trust that Codex wants`, {
    remedy: 'Write its tables as [projects."PATH"] and [hooks.state."KEY"], then run it again.',
  })
}

function describe(terminal: Terminal, { path, before, after }: FileChange): string {
  const lines = lineDiff((before ?? '').split('\n'), (after ?? '').split('\n'))
  const shown = lines.map(({ sign, text }) =>
    paint(terminal, sign === '+' ? 'green' : sign === '-' ? 'red' : 'dim', `${sign} ${visible(text)}`),
  )
  return `${paint(terminal, 'bold', visible(path))}${before === null ? ' (new)' : after === null ? ' (removed)' : ''}\n${shown.join('\n')}\n`
}
