/** Looks whether the hooks of the agents on this machine are in place and answer, for `cordon install` and `cordon doctor`. */

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { ownPackage } from '../../../runtime/policy/own-package.ts'
import { messageOf } from '../../../system/fault.ts'
import { machineFiles } from '../../../system/files.ts'
import { askCodex, type CodexHook } from '../hosts/codex-trust.ts'
import { HOST_NAMES, type HostName } from '../hosts/host.ts'
import {
  type InstallPlace,
  installedCommand,
  installedResultCommand,
  planSettings,
  type Scope,
  settingsFile,
} from './host-settings.ts'
import { type SelfTest, testCommand, testPlugin } from './self-test.ts'
import { switchedOff } from './switched-off.ts'

export interface AgentCheck {
  readonly agent: HostName
  readonly scope: Scope
  readonly file: string
  /** `absent`: nothing of ours is there; `stale`: it is not what would be installed now; `silent`: it does not answer. */
  readonly status: 'works' | 'absent' | 'stale' | 'silent'
  readonly detail: string
  readonly remedy: string | null
}

/** Checks every agent in both scopes; those without a hook of ours are `absent`. */
export async function checkAgents(
  place: Omit<InstallPlace, 'scope'>,
  read: (path: string) => string | null,
): Promise<readonly AgentCheck[]> {
  const checks: AgentCheck[] = []
  for (const agent of HOST_NAMES) {
    for (const scope of ['project', 'user'] as const) checks.push(await checkAgent(agent, { ...place, scope }, read))
  }
  return checks
}

/** Checks one hook by running it. */
export async function checkAgent(
  agent: HostName,
  place: InstallPlace,
  read: (path: string) => string | null,
): Promise<AgentCheck> {
  const file = settingsFile(agent, place)
  const again = `cordon install ${agent} --${place.scope}`
  const check = (status: AgentCheck['status'], detail: string, remedy: string | null): AgentCheck => ({
    agent,
    scope: place.scope,
    file,
    status,
    detail,
    remedy,
  })
  try {
    const taken = planSettings(agent, place, read, true)
    if (taken.before === null || taken.before === taken.after) return check('absent', 'no hook of ours', again)
    if (jsonOf(taken.before) === jsonOf(taken.after)) return check('absent', 'no hook of ours', again)
    const wanted = planSettings(agent, place, read, false)
    if (wanted.before !== wanted.after) return check('stale', 'the hook is not the one of this Cordon', again)
    const within = programInside(place)
    if (within) return check('silent', `${within} lies inside the project, where the agent can change it`, again)
    const off = switchedOff(agent, place, read)
    if (off) return check('silent', off.detail, off.remedy)
    const test = await testInstalled(agent, place)
    return check(test.ok ? 'works' : 'silent', test.detail, test.ok ? null : again)
  } catch (error) {
    return check('silent', messageOf(error), again)
  }
}

/** Runs what is installed; of Codex also asks whether it trusts it. */
async function testInstalled(agent: HostName, place: InstallPlace): Promise<SelfTest> {
  if (agent === 'opencode') return testPlugin(settingsFile(agent, place), place)
  const commands = { call: installedCommand(agent, place), result: installedResultCommand(agent, place) }
  const test = testCommand(agent, commands, place)
  if (!test.ok || agent !== 'codex') return test
  const codex = findProgram('codex', place.env.PATH)
  if (!codex) return { ok: false, detail: 'codex is not on PATH, so nobody can say whether it trusts the hook' }
  const ours = ownHooks(await askCodex(codex, place.root, place.env), place)
  if (ours.length === 0) return { ok: false, detail: 'Codex does not load the hook' }
  if (!ours.every((hook) => hook.trusted && hook.enabled)) return { ok: false, detail: 'Codex does not trust the hook' }
  return { ok: true, detail: `${test.detail}; Codex says that it trusts the hook` }
}

/** What runs the hook and can be changed by the agent of a project; null when it is out of reach, or a package that is protected. */
export function programInside(
  { root, cordon }: Pick<InstallPlace, 'root' | 'cordon'>,
  own: string | null = ownPackage(machineFiles),
): string | null {
  return cordon.find((path) => path.startsWith(`${root}/`) && !(own && path.startsWith(`${own}/`))) ?? null
}

/** Those of the hooks that Codex knows which are the very ones we install: a project can bring some that only look like them. */
export function ownHooks(hooks: readonly CodexHook[], place: InstallPlace): readonly CodexHook[] {
  const file = settingsFile('codex', place)
  const commands = [installedCommand('codex', place), installedResultCommand('codex', place)]
  return hooks.filter(({ key, command }) => key.startsWith(`${file}:`) && commands.includes(command))
}

/** The first program of that name on PATH, or null. */
export function findProgram(name: string, path: string | undefined): string | null {
  for (const directory of (path ?? '').split(delimiter)) {
    if (!directory.startsWith('/')) continue
    try {
      accessSync(join(directory, name), constants.X_OK)
      return join(directory, name)
    } catch {
      // The next one.
    }
  }
  return null
}

function jsonOf(text: string | null): string {
  try {
    return JSON.stringify(JSON.parse(text ?? '{}'))
  } catch {
    return text ?? ''
  }
}
