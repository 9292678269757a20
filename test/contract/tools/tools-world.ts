/** A space for tools: a project in a temporary directory, a policy as a table, and ports that remember what was asked. */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { machineFiles } from '../../../src/system/files.ts'
import { checkedPath } from '../../../src/system/guarded/checked-path.ts'
import { openGuardedFiles } from '../../../src/system/guarded/guarded-files.ts'
import { openTemporaryJournal } from '../../../src/system/guarded/journal.ts'
import { builtInTool } from '../../../src/tools/built-in/registry.ts'
import { parseInput } from '../../../src/tools/input-schema.ts'
import type {
  BackgroundCommand,
  CommandResult,
  PathAccess,
  ToolContext,
  ToolOutput,
  WebAnswer,
  WebRequest,
} from '../../../src/tools/tool.ts'

export interface World {
  readonly root: string
  /** Beside the root: what no tool may reach. */
  readonly outside: string
  readonly journal: string
  context: ToolContext
  readonly requests: WebRequest[]
  readonly commands: string[]
  web: WebAnswer
  command: CommandResult
  answer: string | null
  file(path: string, content: string | Uint8Array): void
  text(path: string): string
  bytes(path: string): Buffer
  /** Everything below root and outside, with content, mode and link targets. */
  snapshot(): Record<string, string>
  /** Parses, resolves and runs a call as the runtime does, without deciding it. */
  call(tool: string, input: unknown, changes?: Changes): Promise<ToolOutput>
  close(): void
}

/** What a test changes about the context of one call. */
export type Changes = Partial<Omit<ToolContext, 'judge' | 'checked'>> & {
  readonly judge?: Judge
  readonly checked?: (given: string) => string
}

export type Judge = (access: PathAccess, path: string) => 'allow' | 'ask' | 'deny'

/** Code runs in sessions: `test/contract/code`. */
function noEngine(): never {
  throw new Error('no engine in this layout')
}

const noCode: ToolContext['code'] = {
  languages: () => [],
  declarations: () => '',
  container: noEngine,
  python: noEngine,
  script: noEngine,
}

export function openWorld(): World {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-tools-')))
  const root = join(base, 'project')
  const outside = join(base, 'outside')
  mkdirSync(root)
  mkdirSync(outside)
  const state = new Map<string, unknown>()
  const background = new Map<string, BackgroundCommand>()
  const journalDirectory = join(base, 'state')
  const journal = openTemporaryJournal(journalDirectory)
  const world: World = {
    root,
    outside,
    journal: journalDirectory,
    requests: [],
    commands: [],
    web: { refused: 'no network in this layout', url: '' },
    command: { exitCode: 0, stdout: '', stderr: '', timedOut: false, truncated: false, spill: null, notes: [] },
    answer: null,
    context: {
      cwd: root,
      roots: [root],
      checked: () => {
        throw new Error('there was no decision')
      },
      judge: judging((_access, path) => (path === root || path.startsWith(`${root}/`) ? 'allow' : 'deny')),
      filterListings: false,
      limits: { readSizeLimit: 20_000, maxOutputBytes: 1_000_000, timeoutMs: 240_000 },
      files: openGuardedFiles(journal),
      commands: {
        run: async (command, { signal }) => {
          world.commands.push(command)
          signal?.throwIfAborted()
          return world.command
        },
        start: async (command) => {
          const handle = `bg_${background.size + 1}`
          background.set(handle, { handle, command, running: true, exitCode: null })
          return handle
        },
        list: () => [...background.values()],
        read: (handle) => {
          const known = background.get(handle)
          return known ? { ...known, stdout: 'so far\n', stderr: '', truncated: false, notes: [] } : null
        },
        kill: async (handle) => background.delete(handle),
      },
      web: {
        fetch: async (request) => {
          world.requests.push(request)
          request.signal.throwIfAborted()
          return world.web
        },
      },
      store: { get: (key) => state.get(key), set: (key, value) => void state.set(key, value) },
      ask: { ask: async () => world.answer },
      code: noCode,
      signal: new AbortController().signal,
    },
    file(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    },
    text: (path) => readFileSync(join(root, path), 'utf8'),
    bytes: (path) => readFileSync(join(root, path)),
    snapshot: () => ({ ...snapshotOf(root, 'project'), ...snapshotOf(outside, 'outside') }),
    async call(name, input, changes = {}) {
      const tool = builtInTool(name)
      if (!tool) throw new Error(`no tool ${name}`)
      const parsed = parseInput(tool, input)
      const actions = changes.checked ? {} : tool.actions(parsed)
      const cwd = changes.cwd ?? root
      const decided = new Map(
        [
          ...(actions.reads ?? []),
          ...(actions.writes ?? []),
          ...(actions.lists ?? []),
          ...(actions.cwd ? [actions.cwd] : []),
        ].map((given) => [given, machineFiles.canonical(posix.isAbsolute(given) ? given : `${cwd}/${given}`)]),
      )
      const checked = (given: string) => {
        const path = decided.get(given)
        if (path === undefined) throw new Error(`${given} was never decided`)
        return path
      }
      const { judge, ...rest } = changes
      const context = { ...world.context, checked, ...rest, ...(judge && { judge: judging(judge) }) }
      return tool.run(parsed, { ...context, checked: (given) => checkedPath(context.checked(given)) })
    },
    close() {
      journal.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
  return world
}

function judging(judge: Judge): ToolContext['judge'] {
  return (access, path) => ({ path: checkedPath(path), verdict: judge(access, path) })
}

function snapshotOf(directory: string, prefix: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    const key = `${prefix}/${entry.name}`
    if (entry.isSymbolicLink()) found[key] = `-> ${readlinkSync(path)}`
    else if (entry.isDirectory()) Object.assign(found, { [key]: 'directory' }, snapshotOf(path, key))
    else if (entry.isFile()) {
      found[key] = `${(statSync(path).mode & 0o7777).toString(8)} ${readFileSync(path).toString('base64')}`
    } else found[key] = 'other'
  }
  return found
}
