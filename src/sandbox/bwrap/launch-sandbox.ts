/** Starts bubblewrap for a layout: streams, control group, and connections to servers inside. */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { isatty } from 'node:tty'
import type { InsideServer, LaunchIo, Output } from '../backend.ts'
import { cgroupValues, groupLimits } from '../limits.ts'
import type { Cgroup } from '../limits-cgroup.ts'
import { FIRST_UNCHOSEN_PORT, handsOutSockets, type SandboxPlan } from '../plan.ts'
import { CONTROL_FD, HOST_FD, INIT_FD, IPC_FD, STDIO_FD } from './args.ts'
import { type InitMessage, wordMessage } from './init-messages.ts'
import { type BwrapSetup, compileLayout, openGroup } from './launch-compile.ts'

/** A layout whose init waits for its setup message. */
export interface StartedSandbox {
  readonly child: ChildProcess
  readonly cgroup: Cgroup | null
}

/** The command's ends of its streams in this process, or null. */
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
    // Its own process group: Ctrl-C at the caller's terminal reaches the caller, which decides what
    // to pass on.
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

/** Connections requested but not yet open; further ones are refused. */
const MAX_PENDING = 256
const IDS = 0x10000

export class InsideServers {
  /** Those that are opened: listed, or agreed to. */
  readonly #ports: Set<number>
  readonly #onPort: LaunchIo['onPort']
  readonly #listening = new Set<number>()
  readonly #askedAbout = new Set<number>()
  readonly #control: Socket
  readonly #onServer: ((server: InsideServer) => () => void) | undefined
  /** Functions to call when a port is no longer served. */
  readonly #served = new Map<number, () => void>()
  readonly #pending = new Map<number, (socket: Socket | null) => void>()
  #lastId = 0
  #closed = false

  constructor(ports: readonly number[], control: Socket, { onServer, onPort }: Pick<LaunchIo, 'onServer' | 'onPort'>) {
    this.#ports = new Set(ports)
    this.#control = control
    this.#onServer = onServer
    this.#onPort = onPort
  }

  /** Checks a message of the init; others than those about servers are left alone. */
  take(message: InitMessage): void {
    if (message.kind === 'unconnected') this.#answer(message.id, null)
    if (message.kind !== 'server' || this.#closed) return
    const { port, listening } = message
    if (listening) this.#listening.add(port)
    else this.#listening.delete(port)
    if (!this.#ports.has(port)) void this.#ask(port)
    else if (listening) this.#begin(port)
    else this.#end(port)
  }

  #begin(port: number): void {
    if (this.#onServer && !this.#served.has(port))
      this.#served.set(port, this.#onServer({ port, connect: () => this.#connect(port) }))
  }

  /** An unlisted port: asked about once, and open while it is served. Any failure is a no. */
  async #ask(port: number): Promise<void> {
    if (!this.#onPort || port >= FIRST_UNCHOSEN_PORT || this.#askedAbout.has(port)) return
    this.#askedAbout.add(port)
    const opened = await this.#onPort(port).catch(() => false)
    if (!opened || this.#closed) return
    this.#ports.add(port)
    if (this.#listening.has(port)) this.#begin(port)
  }

  /** A connection that was asked for has come. */
  connected(id: number, socket: Socket | undefined): void {
    socket?.on('error', () => socket.destroy())
    if (!this.#pending.has(id)) socket?.destroy()
    else this.#answer(id, socket ?? null)
  }

  close(): void {
    this.#closed = true
    for (const port of [...this.#served.keys()]) this.#end(port)
    for (const id of [...this.#pending.keys()]) this.#answer(id, null)
  }

  #connect(port: number): Promise<Socket | null> {
    if (this.#closed || !this.#served.has(port) || this.#pending.size >= MAX_PENDING) return Promise.resolve(null)
    do this.#lastId = (this.#lastId + 1) % IDS
    while (this.#pending.has(this.#lastId))
    const id = this.#lastId
    return new Promise((resolve) => {
      this.#pending.set(id, resolve)
      this.#control.write(wordMessage('connect', 0, port, id))
    })
  }

  #answer(id: number, socket: Socket | null): void {
    const answer = this.#pending.get(id)
    this.#pending.delete(id)
    answer?.(socket)
  }

  #end(port: number): void {
    const end = this.#served.get(port)
    this.#served.delete(port)
    end?.()
  }
}
