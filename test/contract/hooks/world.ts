/** A signed project for hooks, and their answers read as the hosts read them. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { programPath } from '../../../src/agents/hook/wrapped-runs.ts'
import { loadPolicy } from '../../../src/project/load/load.ts'
import { signProject } from '../../../src/project/sign/trust.ts'
import { answerHook, type HookAnswer } from '../../../src/surfaces/hook/answer-hook.ts'
import { findHost, type HostName } from '../../../src/surfaces/hook/hosts/hosts.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { type Machine, thisMachine } from '../../../src/system/machine.ts'
import type { Effect } from './host-answers.ts'
import { CONTRACT } from './host-contract.ts'

export type { Effect } from './host-answers.ts'
export { claude, cline, codex, copilot, cursor, gemini, opencode, patch, qwen } from './host-inputs.ts'

export const MANIFEST = `schema_version = 1
[permission]
mode = "contained"
[permission.tools]
mcp__known__list = "allow"
mcp__known__drop = "deny"
[mcp.hub]
tools = ["get_*", { tool = "create", args = ["repo=acme/*"] }, { tool = "drop", level = "deny" }]
[capabilities.deny.read]
paths = ["private/**"]
[capabilities.deny.commands]
patterns = ["git push:*"]
`

export interface AskOptions {
  /** The project that the hook was installed for; null for a hook of the user. */
  readonly root?: string | null
  /** The host runs in `cordon run`. */
  readonly inside?: boolean
  /** The host's own command line. */
  readonly commandLine?: readonly string[]
}

export interface HookWorld {
  readonly base: string
  readonly project: string
  readonly machine: Machine
  /** Asks the hook; `$P` is the project, `$R` the program that runs a command in the sandbox. */
  ask(host: HostName, input: unknown, options?: AskOptions): Promise<HookAnswer>
  /** Signs the manifest as it is now. */
  sign(): Promise<void>
  /** Forgets what sessions remember of their calls. */
  forget(): void
  close(): void
}

/** Makes the project, with secrets and a link to one in it. */
export async function openHookWorld(manifest: string = MANIFEST): Promise<HookWorld> {
  const base = mkdtempSync(join(tmpdir(), 'cordon-hook-'))
  const project = join(base, 'project')
  const home = join(base, 'home')
  for (const directory of [home, join(project, 'src'), join(project, 'private'), join(project, 'secrets')])
    mkdirSync(directory, { recursive: true })
  writeFileSync(join(project, 'cordon.toml'), manifest)
  writeFileSync(join(project, '.env'), 'TOKEN=1\n')
  writeFileSync(join(project, 'src/a.ts'), 'export {}\n')
  writeFileSync(join(project, 'secrets/.env'), 'TOKEN=1\n')
  symlinkSync(join(project, '.env'), join(project, 'src/link.txt'))
  const machine: Machine = {
    ...thisMachine(),
    cwd: project,
    home,
    env: {},
    isRoot: false,
    configDir: join(home, '.config/cordon'),
    stateDir: join(home, '.local/state/cordon'),
    cacheDir: join(home, '.cache/cordon'),
    systemDir: join(home, 'etc'),
  }
  const world: HookWorld = {
    base,
    project,
    machine,
    ask(name, input, { root = project, inside = false, commandLine = [] } = {}) {
      const text = typeof input === 'string' ? input : JSON.stringify(input)
      const cordon = ['/opt/node', '/opt/cordon.cjs']
      const setting = { machine, files: machineFiles, root, cordon, inside, commandLines: () => [commandLine] }
      return answerHook(findHost(name)!, text.replaceAll('$P', project).replaceAll('$R', programPath(machine)), setting)
    },
    async sign() {
      const outcome = await loadPolicy({ machine, files: machineFiles, root: project, choice: { kind: 'project' } })
      if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
      signProject(outcome.loaded, machine, new Date(0))
    },
    forget: () => rmSync(join(machine.stateDir, 'hook-sessions'), { recursive: true, force: true }),
    close: () => rmSync(base, { recursive: true, force: true }),
  }
  await world.sign()
  return world
}

/** Reads an answer as its host does; throws for a form that the host takes for an allow. */
export function effectOf(host: HostName, { stdout, stderr, exitCode }: HookAnswer): Effect {
  if (exitCode === 2) {
    expect(stdout).toBe('')
    expect(stderr.trim()).not.toBe('')
    return 'block'
  }
  expect(exitCode).toBe(0)
  expect(stderr).toBe('')
  if (stdout === '') return 'pass'
  const answer = JSON.parse(stdout)
  return CONTRACT[host].effect(answer)
}
