/** The gateway: one conversation in front of other MCP servers, each in its own sandbox. */

import { PassThrough, type Readable, Writable } from 'node:stream'
import { type GatewayJudge, openGatewayJudge } from '../../../agents/mcp/judge.ts'
import { ServerPins } from '../../../agents/mcp/pins.ts'
import { connectRemote, type EgressEvent, reasonOf } from '../../../agents/mcp/remote.ts'
import { RemoteLogin } from '../../../agents/mcp/remote-login.ts'
import {
  configServers,
  givenKeys,
  givenValues,
  manifestServers,
  remoteServer,
  runServer,
  type ServerSpec,
  typedServer,
  withHeaders,
} from '../../../agents/mcp/servers.ts'
import { openRecord } from '../../../call/record/open.ts'
import type { SessionRecorder } from '../../../call/record/recorder.ts'
import { auditSigner, signTails } from '../../../call/record/signer.ts'
import { openFleetPrompter } from '../../../organisation/prompter.ts'
import { soleDecision } from '../../../policy/decision.ts'
import { startNotes } from '../../../project/start-notes.ts'
import { takeApproval } from '../../../questions/asks.ts'
import { waitForPage } from '../../../questions/open-pages.ts'
import { sharedPrompter } from '../../../questions/shared-prompter.ts'
import { Fault, messageOf } from '../../../system/fault.ts'
import { linesOf } from '../../../system/lines.ts'
import { type Machine, thisMachine } from '../../../system/machine.ts'
import { EXIT, type Terminal, visible, visibleLines } from '../../terminal/terminal.ts'
import { keepQuestion } from '../elicitation.ts'
import { lineWriter } from '../stdio.ts'
import { definitionDiff } from './server-catalog.ts'
import { GatewaySession } from './session.ts'
import type { Connection } from './wrapped-server.ts'

export interface WrapRequest {
  readonly root: string
  /** The server on the command line; empty: those of the config file or manifest. */
  readonly server: readonly string[]
  readonly url: string | null
  readonly config: string | null
  /** The name before a typed server's tools; with several servers, selects one. */
  readonly name: string | null
  readonly isPlain: boolean
  /** Accept everything as it is now, whatever was pinned. */
  readonly accept: boolean
  readonly terminal: Terminal
}

/** A longer line of a wrapped server ends it. */
const MAX_SERVER_LINE = 8 * 1024 * 1024
const GRACE_MS = 2000

/** Runs the servers in sandboxes and serves them on this process's stdio. */
export async function wrapServers(request: WrapRequest): Promise<number> {
  const machine = thisMachine()
  const judge = await openGatewayJudge(request.root, machine)
  const { answered } = judge
  const { loaded } = answered
  const warn = (text: string): void => request.terminal.err(`cordon: ${visibleLines(text)}\n`)
  for (const note of startNotes(loaded, machine)) warn(note)
  const specs = wantedServers(request, judge)
  const trusted = specs.filter((spec) => isKnown(spec, request.accept, loaded.root, machine, warn))
  if (trusted.length === 0) throw new Fault('no-servers', 'no MCP server is left to run')
  if (request.isPlain && specs.length > 1)
    throw new Fault('no-servers', '--plain is for one server', { remedy: 'Say which: --name NAME.' })
  const ready = (spec: ServerSpec) => {
    const login = spec.remote && new RemoteLogin(machine.stateDir, spec.name, spec.remote.url)
    try {
      return { spec: withHeaders(spec, machine), problem: null, login }
    } catch (error) {
      return { spec, problem: reasonOf(error), login }
    }
  }
  const name = trusted.length === 1 ? trusted[0]!.name : 'gateway'
  const recorder = openRecord(loaded, machine, { by: 'gateway', name }, () => auditSigner(machine))
  const session = new GatewaySession({
    judge,
    recorder,
    elsewhere: {
      share: (inner) => sharedPrompter(inner, { machine, project: loaded.root, surface: 'mcp wrap' }),
      wait: (signal) => waitForPage(machine, signal),
      fleet: () => openFleetPrompter(machine, loaded.root),
      taken: ({ once }) => takeApproval(machine, once, Date.now()),
      keep: (request) => keepQuestion(machine, loaded.root, 'mcp wrap', request),
    },
    root: loaded.root,
    isPlain: request.isPlain,
    toClient: lineWriter(process.stdout),
    warn,
    now: () => Date.now(),
    servers: trusted.map(ready).map(({ spec, problem, login }) => ({
      label: spec.name,
      connect: (receive) =>
        problem !== null
          ? { send: () => {}, ended: Promise.resolve(problem), stop: async () => {} }
          : spec.remote !== null && login !== null
            ? recorded(spec.name, spec.remote.url, recorder, (onEvent) => {
                const server = { name: spec.name, ...spec.remote! }
                return connectRemote({ server, loaded, machine, login, onEvent }, receive)
              })
            : launched(spec.name, (io) => runServer(spec, answered, machine, recorder, io), receive, request.terminal),
      pins: new ServerPins(machine, loaded.root, spec.name, spec.remote === null ? spec.argv : [spec.remote.url]),
      accept: request.accept,
      requests: spec.requests,
      known: () => [...givenValues(spec), ...(login?.given ?? [])],
      keys: () => [...givenKeys(spec), ...(login?.given ?? [])],
    })),
  })
  const closeRecord = (): void => {
    judge.close()
    recorder.close()
    signTails(machine)
  }
  const ended = (signal: number): void =>
    void session.close().finally(() => {
      closeRecord()
      process.exit(128 + signal)
    })
  process.once('SIGTERM', () => ended(15))
  process.once('SIGINT', () => ended(2))
  try {
    for await (const line of linesOf(process.stdin)) void session.client.receive(line)
  } finally {
    await session.close()
    closeRecord()
  }
  return EXIT.ok
}

function wantedServers(
  { server, url, config, name }: WrapRequest,
  { answered: { loaded } }: GatewayJudge,
): readonly ServerSpec[] {
  if (server.length > 0) return [typedServer(server, name)]
  if (url !== null) return [remoteServer(name ?? 'remote', url)]
  const all = config === null ? manifestServers(loaded) : configServers(config)
  if (all.length === 0) {
    throw new Fault('no-servers', `${loaded.manifestPath} names no MCP server`, {
      remedy: 'Write [mcp_servers.NAME] with a command, or name one here: cordon mcp wrap -- npx some-server',
    })
  }
  const wanted = all.filter((spec) => name === null || spec.name === name)
  if (wanted.length > 0) return wanted
  throw new Fault('no-servers', `there is no MCP server “${name}”`, {
    remedy: `There are: ${all.map((spec) => spec.name).join(', ')}.`,
  })
}

/** An unsigned file can change behind the person's back, so a changed command under a known name is not started. */
function isKnown(
  { name, definition }: ServerSpec,
  accept: boolean,
  root: string,
  machine: Machine,
  warn: (text: string) => void,
): boolean {
  if (definition === null) return true
  const pins = new ServerPins(machine, root, name, ['@config'])
  const before = pins.known()?.['@server'] ?? null
  if (before?.hash === definition.hash) return true
  if (before === null || accept) {
    pins.accept({ '@server': definition })
    return true
  }
  warn(
    `The MCP server “${name}” is started by another command than before. It is not started; cordon mcp wrap --accept takes it as it is.\n${definitionDiff(before.text, definition.text)}`,
  )
  return false
}

/** A recorded connection to a remote server: one line at its start, one with its hosts at its end. */
function recorded(
  name: string,
  url: string,
  recorder: Pick<SessionRecorder, 'begin' | 'end'>,
  connect: (onEvent: (event: EgressEvent) => void) => Connection,
): Connection {
  const [hosts, refusedHosts] = [new Set<string>(), new Set<string>()]
  const tool = `mcp_server__${name}`
  const reason = { code: 'granted', message: `[mcp_servers.${name}] reaches ${url}.` } as const
  const decision = soleDecision('allow', { kind: 'tool', text: tool }, reason)
  const record = recorder.begin({ tool, input: { url }, subject: url, decision, agent: 'person', approver: 'typed' })
  const connection = connect(
    ({ verdict, host }) => void (host && (verdict === 'allow' ? hosts : refusedHosts).add(host)),
  )
  const ended = connection.ended.then((text) => {
    const output = { text: '', hosts: [...hosts], refusedHosts: [...refusedHosts] }
    recorder.end(record, { status: 'done', output }, [])
    return text
  })
  return { ...connection, ended }
}

interface ServerStreams {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly signal: AbortSignal
}

function launched(
  label: string,
  run: (io: ServerStreams) => Promise<readonly string[]>,
  receive: (text: string | null) => void,
  terminal: Terminal,
): Connection {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const stderr = serverStderr(
    label,
    (line) => terminal.err(line),
    () => Date.now(),
  )
  const controller = new AbortController()
  stdin.on('error', () => {})
  let broken: string | null = null
  const reading = (async () => {
    try {
      for await (const line of linesOf(stdout, MAX_SERVER_LINE)) receive(line)
    } catch (error) {
      broken = messageOf(error)
      controller.abort()
    }
  })()
  const ended = (async () => {
    const failed = (error: unknown): string[] => [messageOf(error)]
    const notes = await run({ stdin, stdout, stderr, signal: controller.signal }).catch(failed)
    stdout.end()
    stderr.end()
    await reading
    return broken ?? notes.join('; ')
  })()
  return {
    send: lineWriter(stdin),
    ended,
    stop: async () => {
      stdin.end()
      const timer = setTimeout(() => controller.abort(), GRACE_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

const WINDOW_MS = 10_000
const MAX_LINES = 200
const MAX_LENGTH = 2000

/** A stream that relays lines; `now` is the time in milliseconds. */
export function serverStderr(label: string, write: (line: string) => void, now: () => number): Writable {
  let rest = ''
  let since = 0
  let count = 0
  const pass = (line: string): void => {
    if (now() - since > WINDOW_MS) {
      since = now()
      count = 0
    }
    count++
    if (count <= MAX_LINES) write(`[${label}] ${visible(line.slice(0, MAX_LENGTH))}\n`)
    else if (count === MAX_LINES + 1)
      write(`[${label}] … (more than ${MAX_LINES} lines in ${WINDOW_MS / 1000} s: dropped)\n`)
  }
  return new Writable({
    write(chunk: Buffer, _, done) {
      const lines = (rest + chunk.toString('utf8')).split('\n')
      rest = lines.pop()!.slice(0, MAX_LENGTH)
      for (const line of lines) pass(line)
      done()
    },
    final(done) {
      if (rest !== '') pass(rest)
      done()
    },
  })
}
