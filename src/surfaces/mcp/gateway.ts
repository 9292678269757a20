/** The gateway: another MCP server inside the sandbox, its tools pinned, namespaced, gated, and what they bring back looked at. */

import { spawn } from 'node:child_process'
import { basename } from 'node:path'
import { type HookJudge, openHookJudge } from '../../runtime/hook-judge.ts'
import { hookRecorder } from '../../runtime/hook-record.ts'
import { ServerPins } from '../../runtime/mcp-pins.ts'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import { thisMachine } from '../../system/machine.ts'
import { type Terminal, visible } from '../cli/terminal.ts'
import { EXIT } from '../cli/usage.ts'
import { GatewaySession } from './gateway-session.ts'
import { linesOf, lineWriter } from './stdio.ts'

export interface WrapRequest {
  readonly root: string
  readonly server: readonly string[]
  /** What its tools are put under; the program's name when nobody says. */
  readonly name: string | null
  /** Take its tools as they are now, whatever was pinned. */
  readonly accept: boolean
  readonly terminal: Terminal
}

/** Lines of the wrapped server may be so long; a longer one ends it. */
const MAX_SERVER_LINE = 8 * 1024 * 1024

/** Runs the server in the sandbox and speaks for it on this process's own stdio. */
export async function wrapServer({ root, server, name, accept, terminal }: WrapRequest): Promise<number> {
  const machine = thisMachine()
  const label = (name ?? basename(server.at(-1)!)).replace(/[^A-Za-z0-9-]+/g, '-').slice(0, 40) || 'server'
  const judge = await openJudge(root)
  const cordon = [process.argv[1]!, 'run', '--root', judge.loaded.root, '--', ...server]
  const child = spawn(process.execPath, cordon, { cwd: judge.loaded.root, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => {})
  const recorder = hookRecorder(judge.loaded, machine, 'mcp', label)
  const session = new GatewaySession({
    label,
    judge,
    recorder,
    pins: new ServerPins(machine, judge.loaded.root, label, server),
    accept,
    toClient: lineWriter(process.stdout),
    toServer: lineWriter(child.stdin),
    warn: (text) => terminal.err(`cordon: ${visible(text)}\n`),
  })
  const serverEnds = (async () => {
    try {
      for await (const line of linesOf(child.stdout, MAX_SERVER_LINE)) void session.server.receive(line)
    } catch (error) {
      terminal.err(`cordon: ${label} was ended: ${visible(error instanceof Error ? error.message : String(error))}\n`)
      child.kill('SIGKILL')
    }
    session.server.close()
  })()
  try {
    for await (const line of linesOf(process.stdin)) void session.client.receive(line)
  } finally {
    session.close()
    child.stdin.end()
    child.kill()
    await serverEnds
    recorder.close()
  }
  return EXIT.ok
}

async function openJudge(root: string): Promise<HookJudge> {
  const machine = thisMachine()
  const place = { machine, files: machineFiles, root: machineFiles.canonical(root), exact: false, cwd: root }
  const opened = await openHookJudge({ ...place, host: 'mcp', session: null, shell: false })
  if ('closed' in opened)
    throw new Fault('closed', opened.closed, { remedy: 'Read the manifest, then run: cordon sign' })
  return opened.judge
}
