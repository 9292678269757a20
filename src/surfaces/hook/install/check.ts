/** Looks whether the hooks of the agents on this machine are in place and answer, for `cordon install` and `cordon doctor`. */

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { ownPackage } from '../../../runtime/policy/project/own-package.ts'
import { messageOf } from '../../../system/fault.ts'
import { machineFiles } from '../../../system/files.ts'
import { askCodex, type CodexHook } from '../hosts/codex-trust.ts'
import { HOST_NAMES, type HostName } from '../hosts/host.ts'
import {
  installedCommand,
  installedResultCommand,
  isOwnText,
  planSecondFile,
  planSettings,
  settingsFile,
} from './host-settings.ts'
import type { FileChange, InstallPlace, Scope } from './install-place.ts'
import { installedHook } from './installed-hooks.ts'
import { PROGRAMS, type Rehearsal, rehearse } from './rehearsal.ts'
import { type SelfTest, testCommand, testPlugin } from './self-test.ts'
import { otherHooks, switchedOff } from './switched-off.ts'

export interface AgentCheck {
  readonly agent: HostName
  readonly scope: Scope
  readonly file: string
  /**
   * `absent`: nothing of ours is there; `removed`: it was, and somebody took it out; `stale`: it is not what would be installed now;
   * `silent`: it does not answer; `untried`: it answers, and whether the agent asks it is not known, because its program could not be
   * started; `not installed`: it answers, and the agent's program is not there.
   */
  readonly status: 'works' | 'untried' | 'not installed' | 'absent' | 'removed' | 'stale' | 'silent'
  readonly detail: string
  readonly remedy: string | null
}

/** Whether a hook is in place and answers, as far as that can be known here. */
export function isInPlace({ status }: Pick<AgentCheck, 'status'>): boolean {
  return status === 'works' || status === 'untried' || status === 'not installed'
}

/** Starting the programs takes seconds each; without that, only what is installed is run. Checks every agent in both scopes; those without a hook of ours are `absent`. */
export async function checkAgents(
  place: Omit<InstallPlace, 'scope'>,
  read: (path: string) => string | null,
  stateDir: string,
  startsProgram = true,
): Promise<readonly AgentCheck[]> {
  const checks: AgentCheck[] = []
  for (const agent of HOST_NAMES) {
    for (const scope of ['project', 'user'] as const) {
      const known = installedHook(stateDir, { agent, scope, root: place.root }) !== null
      checks.push(await checkAgent(agent, { ...place, scope }, read, known, startsProgram))
    }
  }
  return checks
}

/** Checks one hook by running it. */
export async function checkAgent(
  agent: HostName,
  place: InstallPlace,
  read: (path: string) => string | null,
  wasInstalled = false,
  startsProgram = true,
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
    // Claude Code's own denials can be left where the hook was taken out.
    if (taken.before === null || taken.before === taken.after || !isOwnText(taken.before)) {
      return wasInstalled
        ? check('removed', 'the hook was installed, and is not there any more', again)
        : check('absent', 'no hook of ours', again)
    }
    const wanted = planSettings(agent, place, read, false)
    if (wanted.before !== wanted.after) return check('stale', whyStale(wanted), again)
    const more = planSecondFile(agent, place, read, false)
    if (more && more.before !== more.after) return check('stale', `${more.path} is not the one of this Cordon`, again)
    const within = programInside(place)
    if (within) return check('silent', `${within} lies inside the project, where the agent can change it`, again)
    const off = switchedOff(agent, place, read)
    if (off) return check('silent', off.detail, off.remedy)
    const program = findProgram(PROGRAMS[agent], place.env.PATH)
    const test = await testInstalled(agent, place, program)
    if (!test.ok) return check('silent', test.detail, again)
    if (program === null)
      return check(
        'not installed',
        `there is no ${PROGRAMS[agent]} on PATH; the hook is in place and answers: ${test.detail}`,
        null,
      )
    const tried = startsProgram ? await rehearse(agent, program, place) : []
    const missed = tried.find(({ outcome }) => outcome === 'missed')
    if (missed)
      return check(
        'silent',
        `${PROGRAMS[agent]}, started in ${missed.where}, did not call the hook: ${missed.detail}`,
        missedRemedy(agent, place),
      )
    const isUntried = tried.length > 0 && tried.every(({ outcome }) => outcome === 'unknown')
    return check(
      isUntried ? 'untried' : 'works',
      [test.detail, ...toldOf(PROGRAMS[agent], tried), ...others(agent, place, read)].join('; '),
      null,
    )
  } catch (error) {
    return check('silent', messageOf(error), again)
  }
}

/** Runs what is installed; of Codex also asks whether it trusts it. */
async function testInstalled(agent: HostName, place: InstallPlace, codex: string | null): Promise<SelfTest> {
  if (agent === 'opencode' || agent === 'pi') return testPlugin(agent, settingsFile(agent, place), place)
  const commands = { call: installedCommand(agent, place), result: installedResultCommand(agent, place) }
  const test = testCommand(agent, commands, place)
  if (!test.ok || agent !== 'codex' || codex === null) return test
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

/** Whether the hook itself is another one, or stands where another can put its own command in its place. */
function whyStale({ before, after }: FileChange): string {
  const sorted = (text: string | null): string =>
    [...(text ?? '')]
      .filter((letter) => !/[\s,]/.test(letter))
      .sort()
      .join('')
  return sorted(before) === sorted(after)
    ? 'another hook stands behind ours, and of two that put in another command the last one counts'
    : 'the hook is not the one of this Cordon'
}

function missedRemedy(agent: HostName, { scope }: InstallPlace): string {
  return scope === 'project'
    ? `cordon install ${agent} --user`
    : `Look through its settings, or run it inside: cordon run -- ${PROGRAMS[agent]}`
}

function toldOf(program: string, tried: readonly Rehearsal[]): readonly string[] {
  const answered = tried.filter(({ outcome }) => outcome === 'answered').map(({ where }) => where)
  const unknown = tried.filter(({ outcome }) => outcome === 'unknown')
  return [
    ...(answered.length > 0 ? [`${program}, started in ${answered.join(' and ')}, asks it`] : []),
    ...unknown.map(({ where, detail }) => `${program} could not be tried in ${where} (${detail})`),
  ]
}

/** Other hooks of the host before a call: of two that rewrite, the slower one's command runs. */
function others(agent: HostName, place: InstallPlace, read: (path: string) => string | null): readonly string[] {
  const found = otherHooks(agent, place, read)
  return found.length === 0
    ? []
    : [
        `${found.join(' and ')} ${found.length === 1 ? 'holds another hook' : 'hold other hooks'} before calls, which could put in a command of its own: Cordon then stops the session`,
      ]
}
