/** Starts bubblewrap for a layout: the streams that lead into it, and its control group. */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { isatty } from 'node:tty'
import type { LaunchIo, Output } from '../backend.ts'
import { cgroupValues, groupLimits } from '../limits.ts'
import type { Cgroup } from '../limits-cgroup.ts'
import { handsOutSockets, type SandboxPlan } from '../plan.ts'
import { CONTROL_FD, HOST_FD, INIT_FD, IPC_FD, STDIO_FD } from './args.ts'
import { type BwrapSetup, compileLayout, openGroup } from './launch-compile.ts'

/** A layout whose init waits for its orders, or will. */
export interface StartedSandbox {
  readonly child: ChildProcess
  readonly cgroup: Cgroup | null
}

/** The command's ends of its streams, as this process holds them; null where it holds none. */
export interface Streams {
  readonly stdin: Socket | null
  readonly stdout: Socket | null
  readonly stderr: Socket | null
}

/** Starts the layout of a plan. Its control group goes when it does. */
export function startSandbox(plan: SandboxPlan, io: LaunchIo, machine: BwrapSetup): StartedSandbox {
  const cgroup = openGroup(plan.limits, machine)
  const [program, ...args] = compileLayout(plan, handsOutSockets(plan), machine, cgroup)
  const child = spawn(program, args, {
    stdio: stdioOf(plan, io, machine),
    env: {},
    cwd: '/',
    // Its own group: Ctrl-C at the caller's terminal reaches the caller, which decides what to pass on.
    detached: true,
  })
  if (cgroup) child.once('exit', cgroup.removeLater).once('error', cgroup.removeLater)
  return { child, cgroup }
}

/** Two plans with the same name can have the same space: the same places, the same streams, the same limits as a whole. */
export function layoutName(plan: SandboxPlan, io: LaunchIo, machine: BwrapSetup): string {
  const left = groupLimits(plan.limits, machine.numbered)
  const host = left && machine.cgroups()
  const limits = left && host ? cgroupValues(left, host.support) : []
  return JSON.stringify([compileLayout(plan, false, machine, null), stdioOf(plan, io, machine), limits])
}

/** Whether this process may end before the layout has. */
export function keepAlive({ child }: StartedSandbox, keep: boolean): void {
  const word = keep ? 'ref' : 'unref'
  child[word]()
  child.channel?.[word]()
  for (const stream of child.stdio) (stream as Socket | null)?.[word]?.()
}

/** The streams of a started layout. */
export function streamsOf({ child }: StartedSandbox): Streams {
  const at = (fd: number) => (child.stdio[fd] as Socket | null | undefined) ?? null
  return { stdin: at(STDIO_FD), stdout: at(STDIO_FD + 1), stderr: at(STDIO_FD + 2) }
}

/** A terminal of the caller is never handed in: programs inside could read from it and write escape codes past the relay. */
function passable(fd: number): number | 'pipe' {
  return isatty(fd) ? 'pipe' : fd
}

/** bubblewrap's own descriptors carry only its complaints; the command's follow from STDIO_FD on. */
function stdioOf(plan: SandboxPlan, io: LaunchIo, machine: BwrapSetup): Extract<StdioOptions, unknown[]> {
  const output = (choice: Output | undefined, fd: number) =>
    choice === 'inherit' ? passable(fd) : choice === 'discard' || choice === undefined ? machine.nothing : 'pipe'
  const none = io.stdin === undefined || io.stdin === 'none'
  const input = io.stdin === 'inherit' ? passable(0) : none ? machine.nothing : 'pipe'
  const stdio: Extract<StdioOptions, unknown[]> = ['ignore', 'ignore', 'pipe']
  stdio[CONTROL_FD] = 'pipe'
  stdio[INIT_FD] = machine.init.fd
  stdio[STDIO_FD] = io.terminal ? 'pipe' : input
  stdio[STDIO_FD + 1] = io.terminal ? 'pipe' : output(io.stdout, 1)
  stdio[STDIO_FD + 2] = output(io.stderr, 2)
  stdio[IPC_FD] = handsOutSockets(plan) ? 'ipc' : machine.nothing
  stdio[HOST_FD] = machine.root
  return stdio
}
