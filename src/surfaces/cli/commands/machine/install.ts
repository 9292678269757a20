/** `cordon install`: installs the hook of an agent, shows the change, keeps a backup, and tests the hook. */

import { programPath } from '../../../../agents/hook/wrapped-runs.ts'
import { openPolicy } from '../../../../project/open.ts'
import { findRoot } from '../../../../project/place/root.ts'
import { wrapWords } from '../../../../scan/display-text.ts'
import { Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { thisMachine } from '../../../../system/machine.ts'
import type { FileChange, InstallPlace } from '../../../hook/host/install-place.ts'
import { keepTrust } from '../../../hook/host/installed-trust.ts'
import { HOST_NAMES, type HostName, type InstalledHost, installOf } from '../../../hook/hosts/hosts.ts'
import { type AgentCheck, checkAgent, findProgram, isInPlace, programInside } from '../../../hook/install/check.ts'
import { keepHook } from '../../../hook/install/installed-hooks.ts'
import { unguardedLine, unguardedSessions } from '../../../hook/install/open-sessions.ts'
import { planInstall, planRemoval, readFile, removeHook, writeChange } from '../../../hook/install/placed-hook.ts'
import { lineDiff } from '../../../terminal/line-diff.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf } from '../../arguments.ts'
import { confirm } from '../../confirm.ts'
import { cordonWords } from '../../cordon-words.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const agent = agentOf(args)
  const host = await installOf(agent)
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
  const changes = uninstall ? planRemoval(host, place, stateDir) : planInstall(host, place)
  const showDiff = (): void => {
    for (const change of changes) terminal.out(describe(terminal, change))
  }
  const paths = changes.map(({ path }) => path)
  if (args.flags.print) {
    if (args.flags.json) terminal.out(`${JSON.stringify({ agent, scope: place.scope, changes: paths })}\n`)
    else showDiff()
    return EXIT.ok
  }
  if (changes.length > 0) {
    if (!args.flags.json) {
      const text = uninstall ? removal(changes) : summary(host, place, changes)
      terminal.out(`${wrapWords(text, terminal.width).join('\n')}\n`)
    }
    const question = `${uninstall ? 'Remove it?' : 'Install it?'} [y/N, d shows the diff] `
    if (!args.flags.yes && !(await confirm(terminal, question, showDiff))) {
      terminal.err('nothing was changed (--yes skips the question)\n')
      return EXIT.failed
    }
    if (!uninstall) {
      const created = changes.flatMap((change) => writeChange(change, host.isProgram))
      keepHook(stateDir, { agent, scope: place.scope, root: place.root, made: created, since: Date.now() })
    }
  }
  if (uninstall) {
    removeHook(host, place, stateDir, changes)
    if (args.flags.json) terminal.out(`${JSON.stringify({ agent, scope: place.scope, changes: paths, ok: true })}\n`)
    terminal.err(changes.length > 0 ? `Cordon no longer guards ${agent} here\n` : 'there was no hook to remove\n')
    return EXIT.ok
  }
  keepTrust(stateDir, host.remembered?.(changes, place) ?? [])
  await writeTrust(terminal, host, place, stateDir)
  if (host.note !== undefined) terminal.err(`${host.note}\n`)
  const check = await checkAgent(agent, place, readFile)
  const { status, detail } = check
  const ok = isInPlace(check)
  if (args.flags.json)
    terminal.out(`${JSON.stringify({ agent, scope: place.scope, changes: paths, ok, status, detail })}\n`)
  const headline = ok ? status : 'does not work'
  terminal.err(`${paint(terminal, hookStyle(check), headline)}  ${agent}: ${visible(detail)}\n`)
  if (place.scope === 'user' && !args.flags.user)
    terminal.err(`it applies in all your projects: ${host.missed} (--project limits it to this one)\n`)
  const open = changes.length === 0 ? null : unguardedLine(host.program, unguardedSessions(host, Date.now()))
  if (open !== null) terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${open}. End it, and start it again.\n`)
  await tellWhatIsMissing(terminal, place.root)
  return ok ? EXIT.ok : EXIT.failed
}

export function hookStyle(check: AgentCheck): 'green' | 'yellow' | 'red' {
  if (!isInPlace(check)) return 'red'
  return check.status === 'works' ? 'green' : 'yellow'
}

function summary({ name, missed }: InstalledHost, place: InstallPlace, changes: readonly FileChange[]): string {
  const where = place.scope === 'user' ? 'all your projects' : place.root
  const backups = changes.some(({ before }) => before !== null)
    ? ' A backup of each changed file is kept beside it.'
    : ''
  return [
    `This adds Cordon’s hook to ${named(changes)}.${backups}`,
    `Before ${name} uses a tool in ${where}, the hook checks the call: denials are enforced, and commands run in a sandbox.`,
    'In a project without cordon.toml the built-in rules apply: the project can be changed and undone, secrets are hidden, and commands are offline.',
    `To remove it: cordon install ${name} --uninstall${place.scope === 'project' ? ' --project' : ''}.`,
    ...(place.scope === 'project' ? [`Note: ${missed}.`] : []),
  ].join(' ')
}

function removal(changes: readonly FileChange[]): string {
  return `This removes Cordon’s hook from ${named(changes)}. From then on the agent runs without Cordon.`
}

function named(changes: readonly FileChange[]): string {
  return changes.map(({ path }) => visible(path)).join(' and ')
}

/** Reports now why the new hook would deny every call, before the agent does. */
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
        : 'there is no cordon.toml here, so commands run in the sandbox by the built-in rules, offline, and the agent’s own settings decide when to ask; cordon init writes one'
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

/** Writes the trust that the host requires for the hook. Shows several steps in one file as one change. */
async function writeTrust(
  terminal: Terminal,
  host: InstalledHost,
  place: InstallPlace,
  stateDir: string,
): Promise<void> {
  const written: FileChange[] = []
  for await (const { change, entries } of host.trust?.(place, findProgram(host.program, place.env.PATH), readFile) ??
    []) {
    if (change.before === change.after) continue
    keepTrust(stateDir, entries)
    writeChange(change)
    const earlier = written.findIndex(({ path }) => path === change.path)
    if (earlier < 0) written.push(change)
    else written[earlier] = { ...change, before: written[earlier]!.before }
  }
  for (const change of written) terminal.out(describe(terminal, change))
}

function describe(terminal: Terminal, { path, before, after }: FileChange): string {
  const lines = lineDiff((before ?? '').split('\n'), (after ?? '').split('\n'))
  const shown = lines.map(({ sign, text }) =>
    paint(terminal, sign === '+' ? 'green' : sign === '-' ? 'red' : 'dim', `${sign} ${visible(text)}`),
  )
  return `${paint(terminal, 'bold', visible(path))}${before === null ? ' (new)' : after === null ? ' (removed)' : ''}\n${shown.join('\n')}\n`
}
