/** A project with a policy, for MCP servers that run in the test itself. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCordon } from '../../../src/session/cordon.ts'
import { META, STATELESS_REVISION } from '../../../src/surfaces/mcp/revision.ts'
import type { ServerOptions } from '../../../src/surfaces/mcp/served-project.ts'
import { McpServer } from '../../../src/surfaces/mcp/server.ts'
import { type Json, RpcPeer } from '../../../src/system/json-rpc.ts'
import { thisMachine } from '../../../src/system/machine.ts'

/** Whether a `sleep` of so many seconds runs on this machine. */
export function runs(seconds: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${seconds}\0`
    } catch {
      return false
    }
  })
}

export interface McpWorld {
  readonly project: string
  readonly options: ServerOptions
  close(): void
}

/** A throw-away project with one file and one secret; everything that is asked and cannot be is refused. */
export function openMcpWorld(): McpWorld {
  const base = mkdtempSync(join(tmpdir(), 'cordon-mcp-'))
  const project = join(base, 'project')
  const home = join(base, 'home')
  mkdirSync(project)
  mkdirSync(home)
  writeFileSync(join(project, 'a.txt'), 'hello\n')
  writeFileSync(join(project, '.env'), 'TOKEN=1\n')
  const machine = {
    ...thisMachine(),
    cwd: project,
    home,
    env: { PATH: process.env.PATH },
    configDir: join(home, '.config/cordon'),
    stateDir: join(home, '.local/state/cordon'),
    cacheDir: join(home, '.cache/cordon'),
  }
  return {
    project,
    options: {
      open: (prompter) => createCordon({ project, machine, prompter }),
      fallback: {
        name: 'test',
        ask: async () => {
          throw new Error('run cordon approvals')
        },
      },
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  }
}

/** The `_meta` of a stateless request. */
export function envelope(capabilities: Json = {}, more: Json = {}): Json {
  return { [META.revision]: STATELESS_REVISION, [META.capabilities]: capabilities, ...more }
}

export interface RawClient {
  readonly peer: RpcPeer
  readonly heard: { readonly method: string; readonly params: Json }[]
  readonly requested: string[]
  close(): Promise<void>
}

/** A client without a library, on a server in this process; `answer` is what it says to questions. */
export function rawClient(
  options: ServerOptions,
  answer?: (params: Json, signal: AbortSignal) => Promise<Json>,
): RawClient {
  const heard: { method: string; params: Json }[] = []
  const requested: string[] = []
  const peer: RpcPeer = new RpcPeer((message) => queueMicrotask(() => void server.peer.accept(message)), {
    request: async ({ method, params, signal }) => {
      requested.push(method)
      return answer ? answer(params, signal) : {}
    },
    notification: (method, params) => void heard.push({ method, params }),
  })
  const server = new McpServer((message) => queueMicrotask(() => void peer.accept(message)), options)
  return {
    peer,
    heard,
    requested,
    close: async () => {
      peer.close()
      await server.close()
    },
  }
}
