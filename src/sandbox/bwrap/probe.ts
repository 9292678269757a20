/** Probes the machine by really running a sandbox and attacking from inside it. Nothing here ever runs a command outside. */

import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { release, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { attempt, errorCode, messageOf } from '../../system/fault.ts'
import { type Backend, type LaunchResult, SandboxFault } from '../backend.ts'
import { ruleText } from '../changes.ts'
import { type CgroupSupport, DEFAULT_OPEN_FILES } from '../limits.ts'
import { assurancesOf, attackLines, furnishProbe, planProbe, REPORT_IT } from '../probe-sandbox.ts'
import { type Cause, findCause, installBwrap, type MachineTraces, raiseInstances } from '../repair.ts'
import { type Assurance, type Support, UNHELD_CHANGES, UNJUDGED_PROGRAMS } from '../report.ts'
import { LIMITS_SCRIPT, limitAssurances, type WatchFacts } from './probe-limits.ts'

interface Check {
  readonly name: string
  readonly detail: string
  /** sh; exit status 0 means that the attack worked. `$P` project, `$O` a place outside. */
  readonly attack: string
}

const CHECKS: readonly Check[] = [
  { name: 'ungranted files', detail: 'do not exist inside', attack: '[ -e "$O/secret" ]' },
  { name: 'masks', detail: 'secrets read as empty', attack: 'grep -q secret "$P/.env"' },
  { name: 'protected paths', detail: 'cannot be changed', attack: 'touch "$P/pinned/new"' },
  { name: 'protected paths in place', detail: 'cannot be moved away', attack: 'mv "$P/above" "$P/elsewhere"' },
  { name: 'system files', detail: 'are read-only', attack: 'touch /usr/cordon-probe || touch /etc/cordon-probe' },
  { name: 'kernel settings', detail: '/proc is read-only', attack: ': >> /proc/sys/kernel/core_pattern' },
  {
    name: 'kernel objects',
    detail: '/sys and control groups are absent',
    attack: '[ -e /sys/kernel ] || [ -e /sys/fs/cgroup ]',
  },
  {
    name: 'process isolation',
    detail: 'other processes are not visible',
    attack: '[ -e "/proc/$HOSTPID/comm" ] && [ "$HOSTPID" -gt 64 ]',
  },
  {
    name: 'network isolation',
    detail: 'no interface but the sandbox’s own loopback',
    attack: 'tail -n +3 /proc/net/dev | grep -v "lo:" | grep -q .',
  },
  {
    name: 'capabilities',
    detail: 'none, and none to regain',
    attack: 'grep "^Cap" /proc/self/status | grep -qv 0000000000000000',
  },
  {
    name: 'no new privileges',
    detail: 'setuid programs gain nothing',
    attack: '! grep -q "NoNewPrivs:.1" /proc/self/status',
  },
  { name: 'system call filter', detail: 'loaded', attack: '! grep -q "Seccomp:.2" /proc/self/status' },
  { name: 'nested user namespaces', detail: 'off', attack: '[ "$(cat /proc/sys/user/max_user_namespaces)" != 0 ]' },
  { name: 'host services', detail: '/run is absent', attack: '[ -n "$(ls -A /run 2>/dev/null)" ]' },
]

const SCRIPT: string = [
  ...attackLines(CHECKS),
  LIMITS_SCRIPT,
  '( echo planted > "$P/.planted" ) 2>/dev/null',
  'echo written > "$P/new" && echo writable',
].join('\n')

/** Runs the probe. Throws nothing: what failed is in the result. */
export async function probeSandbox(
  backend: Backend,
  cgroup: () => CgroupSupport | null,
  numbered: () => boolean,
  program: () => string | null = () => null,
): Promise<Support> {
  let base: string | null = null
  try {
    base = makePlace()
    const { result, listened, guards, judges } = await attackGuarded(backend, base)
    const output = result.stdout?.bytes.toString('utf8') ?? ''
    if (result.exitCode !== 0 || !output.includes('writable'))
      return unusable(
        backend,
        program,
        new Error(`the probe ended with ${result.exitCode} and said ${JSON.stringify(output)}`),
      )
    const assurances = [...assurancesOf(CHECKS, output)]
    assurances.push(
      listened
        ? { name: 'network listener', status: 'enforced', detail: 'handed out of the network namespace' }
        : { name: 'network listener', status: 'absent', detail: 'was not handed over', remedy: REPORT_IT },
      result.masksWatched && result.violations.some((violation) => violation.kind === 'mask-opened')
        ? { name: 'mask watch', status: 'enforced', detail: 'opens of hidden files are observed' }
        : {
            name: 'mask watch',
            status: 'degraded',
            detail: 'opens of hidden files are not observed (they are still hidden)',
            remedy: 'Raise fs.inotify.max_user_instances.',
            ...repairable(raiseInstances(THIS_MACHINE)),
          },
      guards
        ? { name: 'changes', status: 'enforced', detail: 'enforced while a command runs, and kept for `cordon undo`' }
        : {
            ...UNHELD_CHANGES,
            remedy:
              'Use Linux 5.19 or newer with Landlock (lsm=landlock,… at boot), and allow seccomp notification in containers.',
          },
      judges
        ? {
            name: 'programs',
            status: 'enforced',
            detail: 'each program is judged by its own arguments when it starts, and by its own hosts when it connects',
          }
        : {
            ...UNJUDGED_PROGRAMS,
            remedy: 'Allow ptrace of child processes (kernel.yama.ptrace_scope below 3) and seccomp notification.',
          },
      ...limitAssurances(output, watchFacts()),
      cgroupAssurance(cgroup()),
    )
    return {
      backend: backend.name,
      usable: assurances.every(({ status }) => status !== 'absent'),
      assurances,
      cgroup: cgroup(),
      numbered: numbered(),
    }
  } catch (error) {
    return unusable(backend, program, error)
  } finally {
    if (base !== null) rmSync(base, { recursive: true, force: true })
  }
}

const PREFIX = 'cordon-probe-'

function makePlace(): string {
  let base: string | null = null
  try {
    const place = realpathSync(tmpdir())
    reapProbes(place, Date.now())
    base = mkdtempSync(join(place, PREFIX))
    furnishProbe(base)
    return base
  } catch (error) {
    if (base !== null) rmSync(base, { recursive: true, force: true })
    throw new SandboxFault('probe-place', `the probe cannot create its files in ${tmpdir()} (${errorCode(error)})`, {
      cause: error,
      remedy: 'Set TMPDIR to a folder that exists, that you can write to, and that has free space.',
    })
  }
}

/** Three times a probe's longest time: the process that created an older folder is dead. */
const STALE_MS = 60_000

/** Removes the folders of killed probes. In a sticky folder nobody else can replace ours. */
export function reapProbes(place: string, now: number): void {
  for (const name of readdirSync(place)) {
    if (!name.startsWith(PREFIX)) continue
    const path = join(place, name)
    try {
      const facts = lstatSync(path)
      if (!facts.isDirectory() || facts.uid !== process.getuid?.() || now - facts.mtimeMs < STALE_MS) continue
      rmSync(path, { recursive: true, force: true })
    } catch {
      // Another probe was faster.
    }
  }
}

/** With the broker for changes, or without it where the machine has none. */
async function attackGuarded(
  backend: Backend,
  base: string,
  judges = true,
): Promise<{ result: LaunchResult; listened: boolean; guards: boolean; judges: boolean }> {
  try {
    const found = await attackFromInside(backend, base, { guards: true, judges })
    const planted = existsSync(join(base, 'project/.planted'))
    return { ...found, guards: !planted }
  } catch (error) {
    if (!(error instanceof SandboxFault)) throw error
    if (error.code === 'programs-judge' && judges) return attackGuarded(backend, base, false)
    if (error.code !== 'changes-broker') throw error
    return { ...(await attackFromInside(backend, base, { guards: false, judges: false })), guards: false }
  }
}

const JUDGED_WORD = 'cordon-asks-about-this'

async function attackFromInside(
  backend: Backend,
  base: string,
  means: { readonly guards: boolean; readonly judges: boolean },
): Promise<{ result: LaunchResult; listened: boolean; judges: boolean }> {
  const plan = planProbe(base, {
    argv: ['/bin/sh', '-c', `/bin/true ${JUDGED_WORD.slice(0, 6)}""${JUDGED_WORD.slice(6)}\n${SCRIPT}`],
    programs: means.judges ? { lines: [`s ${JUDGED_WORD}`] } : null,
    env: { HOSTPID: String(process.pid) },
    changes: means.guards
      ? { rules: [ruleText([{ pattern: '.planted', action: 'refuse' }])], gitKeys: '', keep: null, free: [] }
      : null,
    network: 'listener',
    limits: { timeoutMs: 20_000, openFiles: DEFAULT_OPEN_FILES },
  })
  let listened = false
  const onListener = () => {
    listened = true
  }
  let judges = false
  const judge = () => {
    judges = true
    return true
  }
  const result = await backend.launch(plan, { stdout: 'capture', stderr: 'capture', onListener, judge })
  return { result, listened, judges }
}

function watchFacts(): WatchFacts {
  const most = (what: string) => {
    const text = setting(`/proc/sys/fs/inotify/max_user_${what}`)
    return text === null ? null : Number(text)
  }
  return { watches: most('watches'), instances: most('instances') }
}

function cgroupAssurance(cgroup: CgroupSupport | null): Assurance {
  const name = 'limits for the whole sandbox'
  if (cgroup?.memory && cgroup.pids)
    return {
      name,
      status: 'enforced',
      detail: `cgroup v${cgroup.version}: memory, processes${cgroup.cpu ? ', processor' : ''}`,
    }
  return {
    name,
    status: 'degraded',
    detail: 'no control group can be created here: memory is limited for each process by itself',
    remedy: 'Run Cordon where it may create control groups (as root, or in a delegated cgroup v2 scope).',
  }
}

/** Why namespaces are unavailable here, if the machine's settings show it. */
export function causeHere(): Cause | null {
  return findCause(THIS_MACHINE, null)
}

const OWN_REMEDIES: ReadonlySet<string> = new Set([
  'sandbox-missing',
  'sandbox-init-missing',
  'sandbox-init-changed',
  'sandbox-architecture',
  'probe-place',
])

function unusable(backend: Backend, program: () => string | null, error: unknown): Support {
  const fault = error instanceof SandboxFault ? error : null
  // A missing program is clear; a kernel refusal needs a check of its settings.
  const known = fault !== null && OWN_REMEDIES.has(fault.code)
  const cause = known ? null : findCause(THIS_MACHINE, program())
  const repair = fault?.code === 'sandbox-missing' ? installBwrap(THIS_MACHINE) : (cause?.repair ?? [])
  const remedy = cause?.remedy ?? fault?.remedy ?? REPORT_IT
  return {
    backend: backend.name,
    usable: false,
    assurances: [{ name: 'sandbox', status: 'absent', detail: messageOf(error), remedy, ...repairable(repair) }],
    cgroup: null,
    numbered: false,
  }
}

function repairable(repair: Assurance['repair']): Pick<Assurance, 'repair'> {
  return repair && repair.length > 0 ? { repair } : {}
}

const THIS_MACHINE: MachineTraces = {
  release: release(),
  uid: process.getuid?.() ?? 0,
  read: setting,
  exists: existsSync,
  isRootsAlone: (path) => {
    try {
      for (let place = realpathSync(path); ; place = dirname(place)) {
        const { uid, mode } = lstatSync(place)
        if (uid !== 0 || (mode & 0o022) !== 0) return false
        if (place === dirname(place)) return realpathSync(path) === path
      }
    } catch {
      return false
    }
  },
}

function setting(path: string): string | null {
  return attempt(() => readFileSync(path, 'utf8').trim(), null)
}
