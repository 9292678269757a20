/** `cordon doctor`: reports which protections work on this machine, by trying them. */

import { existsSync, readFileSync } from 'node:fs'
import { programPath } from '../../../../agents/hook/wrapped-runs.ts'
import type { LoadedPolicy } from '../../../../project/load/load.ts'
import { findRoot } from '../../../../project/place/root.ts'
import { BUILT_IN_BACKEND, openBackend } from '../../../../run/open-backend.ts'
import { wrapWords } from '../../../../scan/display-text.ts'
import { attempt, Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { residents } from '../../../../system/residents.ts'
import type { InstallPlace } from '../../../hook/host/install-place.ts'
import { type AgentCheck, checkAgents, isInPlace } from '../../../hook/install/check.ts'
import { readFile } from '../../../hook/install/placed-hook.ts'
import type { Unseen } from '../../../hook/unseen-report.ts'
import { isTerminalDevice, paint, type Style, visible } from '../../../terminal/terminal.ts'
import { cordonWords } from '../../cordon-words.ts'
import { type CommandContext, EXIT } from '../../usage.ts'
import { hookStyle } from './install.ts'
import { residentLine } from './resident.ts'

const STYLES: Readonly<Record<'enforced' | 'degraded' | 'absent', Style>> = {
  enforced: 'green',
  degraded: 'yellow',
  absent: 'red',
}

export async function run({ terminal, args }: CommandContext): Promise<number> {
  if (args.flags.engines) return engines(terminal, args.flags.json === true)
  if (args.flags.fix) {
    const { repairMachine } = await import('./repair-machine.ts')
    await repairMachine(terminal, (await findHealth()).support, args.flags.yes === true)
  }
  const { support, score, agents } = await findHealth()
  const unseen = await unseenThings(agents)
  const { holds: working } = score
  const dropped = agents.some((check) => !isInPlace(check))
  const tracked = await shownSecrets()
  const container = containerKind()
  const resident = residents(thisMachine().env, machineFiles.canonical(process.argv[1] ?? ''))
  const exit = !support.usable ? EXIT.fault : dropped ? EXIT.failed : EXIT.ok
  if (args.flags.json) {
    const shown = { shown: tracked.paths, skipped: tracked.skipped, residents: resident, container }
    terminal.out(`${JSON.stringify({ ...support, score, agents, unseen, ...shown })}
`)
    return exit
  }
  // A file of it, or a pipe, has whole lines.
  const width = isTerminalDevice(1) ? terminal.width - 10 : Number.MAX_SAFE_INTEGER
  const say = (style: Style, label: string, ...texts: readonly (string | null | undefined | false)[]): void => {
    const rows = texts.flatMap((text) => (text ? wrapWords(text, width) : []))
    const [first = '', ...more] = rows.map((row) => `${row}\n`)
    terminal.out(
      `${paint(terminal, style, label.padEnd(8))}  ${first}${more.map((row) => ' '.repeat(10) + row).join('')}`,
    )
  }
  for (const { name, status, detail, remedy, repair } of support.assurances) {
    const fix = '`cordon doctor --fix` shows this, and does it after you confirm.'
    say(STYLES[status], status, `${name}: ${detail}`, status !== 'enforced' && remedy, repair && fix)
  }
  terminal.out(
    `\n${working} of ${score.of} protections work with ${support.backend}. ${support.usable ? 'Commands run in the sandbox here.' : 'No command runs here: there is no sandbox to run it in.'}\n`,
  )
  for (const check of agents) {
    const { agent, scope, status, detail, remedy } = check
    say(hookStyle(check), status, `hook of ${agent} (${scope}): ${detail}`, remedy)
  }
  for (const { agent, detail, remedy } of unseen) say('yellow', 'unseen', `${agent}: ${detail}`, remedy)
  if (container !== null) say('dim', 'place', containerLine(container, support.usable))
  for (const one of resident) say('dim', 'resident', residentLine(one))
  if (tracked.line !== null) say('yellow', 'shown', tracked.line)
  if (tracked.skippedLine !== null) say('dim', 'skipped', tracked.skippedLine)
  return exit
}

/** What a container must allow so that commands in it can have a sandbox. */
function containerLine(kind: ContainerKind, usable: boolean): string {
  const where = `this is a container (${kind})`
  if (kind === 'gvisor')
    return `${where}: bubblewrap cannot set up loopback in gVisor, so no command runs; only the container itself confines commands`
  return usable
    ? `${where}; these results are for this container, and its own limits apply as well`
    : `${where}: it needs user namespaces (a seccomp profile that allows them) and an unmasked /proc (procMount: Unmasked); docs/guides/fleet.md has a Pod that has both`
}

/** Which protections work on this machine, and which agents are guarded. */
export async function findHealth(): Promise<{
  readonly support: Awaited<ReturnType<Awaited<ReturnType<typeof openBackend>>['probe']>>
  readonly score: { readonly holds: number; readonly of: number }
  readonly agents: readonly AgentCheck[]
}> {
  const support = await (await commandBackend()).probe()
  const working = support.assurances.filter((assurance) => assurance.status === 'enforced').length
  return { support, score: { holds: working, of: support.assurances.length }, agents: await agentHooks() }
}

async function engines(terminal: CommandContext['terminal'], json: boolean): Promise<number> {
  const { surveyEngines } = await import('../../../../session/code/engines.ts')
  const found = await surveyEngines(thisMachine(), await commandBackend())
  if (json) terminal.out(`${JSON.stringify({ engines: found })}\n`)
  for (const { name, support } of json ? [] : found) {
    const status = support.works ? 'enforced' : 'absent'
    terminal.out(
      `${paint(terminal, STYLES[status], name.padEnd(8))}  ${visible(support.works ? support.wall : support.why)}\n`,
    )
    for (const { limit, status, how } of support.works ? support.limits : []) {
      terminal.out(`          ${paint(terminal, STYLES[status], status.padEnd(8))}  ${limit}: ${visible(how)}\n`)
    }
  }
  return found.some(({ support }) => support.works) ? EXIT.ok : EXIT.fault
}

interface ShownSecrets {
  readonly paths: readonly string[]
  readonly line: string | null
  /** Files that look like secrets and need no mask. */
  readonly skipped: object | null
  readonly skippedLine: string | null
}

/** The policy of this project as written; `cordon check` reports a manifest that does not load. */
async function writtenPolicy(): Promise<LoadedPolicy | null> {
  const { openPolicy } = await import('../../../../project/open.ts')
  try {
    const place = { machine: thisMachine(), files: machineFiles, root: null, choice: { kind: 'project' } } as const
    const opened = await openPolicy({ ...place, unsigned: 'as-written' })
    return 'loaded' in opened ? opened.loaded : null
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

async function commandBackend(): ReturnType<typeof openBackend> {
  return openBackend((await writtenPolicy())?.sandbox ?? BUILT_IN_BACKEND, thisMachine())
}

async function shownSecrets(): Promise<ShownSecrets> {
  const none: ShownSecrets = { paths: [], line: null, skipped: null, skippedLine: null }
  const { skippedSecrets, skippedSecretsLine, trackedSecrets, trackedSecretsLine } = await import(
    '../../../../run/tracked-secrets.ts'
  )
  const loaded = await writtenPolicy()
  if (loaded === null) return none
  const { home } = thisMachine()
  const paths = trackedSecrets(loaded, home)
  const skipped = skippedSecrets(loaded, home)
  return {
    paths,
    line: trackedSecretsLine(paths, loaded.root),
    skipped,
    skippedLine: skippedSecretsLine(skipped),
  }
}

/** Files and commands that hooked agents would read or run on their own here. */
async function unseenThings(agents: readonly AgentCheck[]): Promise<readonly Unseen[]> {
  const { unseenIn } = await import('../../../hook/unseen-report.ts')
  const machine = thisMachine()
  const names = [...new Set(agents.map(({ agent }) => agent))]
  return unseenIn(names, { ...installPlace(), scope: 'user' }, { machine, files: machineFiles, read: readFile })
}

/** Installed hooks. A host that silently dropped one is the worst failure. */
async function agentHooks(): Promise<readonly AgentCheck[]> {
  const checks = await checkAgents(installPlace(), readFile, thisMachine().stateDir)
  return checks.filter((check) => check.status !== 'absent')
}

function installPlace(): Omit<InstallPlace, 'scope'> {
  const machine = thisMachine()
  return {
    root: findRoot(machine.cwd, machineFiles),
    home: machine.home,
    env: machine.env,
    cordon: cordonWords(),
    wrapper: programPath(machine),
  }
}

type ContainerKind = 'kubernetes' | 'podman' | 'docker' | 'gvisor' | 'container'

interface ContainerTraces {
  readonly exists: (path: string) => boolean
  readonly read: (path: string) => string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The kind of container; null on a physical or virtual machine. */
export function containerKind(traces: ContainerTraces = thisProcess()): ContainerKind | null {
  const { exists, read, env } = traces
  if (read('/proc/version').includes('gVisor')) return 'gvisor'
  if (env.KUBERNETES_SERVICE_HOST !== undefined) return 'kubernetes'
  if (exists('/run/.containerenv')) return 'podman'
  if (exists('/.dockerenv')) return 'docker'
  const groups = read('/proc/1/cgroup')
  if (/\/kubepods/.test(groups)) return 'kubernetes'
  if (/\/docker[/-]/.test(groups)) return 'docker'
  if (/\/libpod/.test(groups)) return 'podman'
  return env.container === undefined || env.container === '' ? null : 'container'
}

function thisProcess(): ContainerTraces {
  return {
    exists: existsSync,
    read: (path) => {
      return attempt(() => readFileSync(path, 'utf8'), '')
    },
    env: process.env,
  }
}
