/** Cordon as a library: `createCordon()` opens a project, `openSession()` an agent's session. */

import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Prompter } from '../approval/prompter.ts'
import { QuestionQueue } from '../approval/question-queue.ts'
import { SESSION_ID } from '../audit/event.ts'
import {
  isToolName,
  requireFields,
  requireOneOf,
  requireShape,
  requireText,
  requireTool,
  wrong,
} from '../call/given.ts'
import { openRecord } from '../call/record/open.ts'
import { auditSigner, signTails } from '../call/record/signer.ts'
import { skillPort } from '../custom/skill-gate.ts'
import { type CustomToolHost, openCustomTools } from '../custom/tools.ts'
import type { Upstream } from '../egress/route/upstream.ts'
import { HostUsage } from '../egress/route/usage.ts'
import { parseUrl } from '../hosts/url.ts'
import { reapAmendments } from '../manifest/sign/amend.ts'
import { renderProblem } from '../manifest/toml/problem.ts'
import type { SessionFacts } from '../policy/call.ts'
import type { HostRule } from '../policy/policy.ts'
import { takeStance } from '../policy/stance.ts'
import { openSavedGrants } from '../project/answer-counts.ts'
import type { LoadedPolicy, ManifestChoice } from '../project/load/load.ts'
import { readOrganisation, type WrittenManifest } from '../project/load/memory.ts'
import { openPolicy } from '../project/open.ts'
import { startNotes } from '../project/start-notes.ts'
import { pruneKept } from '../run/held-changes.ts'
import { machineUpstream } from '../run/network/machine-upstream.ts'
import { openBackend } from '../run/open-backend.ts'
import { CommandRunner } from '../run/runner.ts'
import type { Backend } from '../sandbox/backend.ts'
import { machineResolver, type Resolver } from '../system/dns.ts'
import { Fault } from '../system/fault.ts'
import { machineFiles } from '../system/files.ts'
import { openGuardedFiles } from '../system/guarded/guarded-files.ts'
import { openTemporaryJournal, reapTemporaries } from '../system/guarded/journal.ts'
import { recordOf } from '../system/json.ts'
import { type Machine, thisMachine } from '../system/machine.ts'
import { makeDirectories, openOwnDirectory, readOwnFile, reapHalfWritten } from '../system/state.ts'
import { lspTool, skillTool, type TaskPort, taskTool } from '../tools/built-in/agent-tools.ts'
import { builtInSpecs, builtInTools } from '../tools/built-in/registry.ts'
import { websearchTool } from '../tools/built-in/web-tools.ts'
import type { Tool, WebPort } from '../tools/tool.ts'
import { openSessionCode } from './code/open-code.ts'
import type { LanguageServers } from './language/language-servers.ts'
import { type ProjectPolicy, Session } from './session.ts'

/** `websearch` needs an endpoint, and `task` a runner of sub-agents. */
function sessionTools(host: CustomToolHost, machine: Machine, root: string, task: TaskPort | null): readonly Tool[] {
  const search = searchEndpoint(machine)
  let servers: Promise<LanguageServers> | null = null
  const languages = (): Promise<LanguageServers> => {
    servers ??= import('./language/language-servers.ts').then((found) => new found.LanguageServers(host, machine, root))
    return servers
  }
  return [
    skillTool(skillPort(root, machine)),
    lspTool(async (question, signal) => (await languages()).ask(question, signal)),
    ...(search === null ? [] : [websearchTool(search)]),
    ...(task === null ? [] : [taskTool(task)]),
  ]
}

/** The endpoint, or null. Other readers of the configuration report its errors. */
function searchEndpoint({ configDir }: Machine): string | null {
  try {
    const bytes = readOwnFile(join(configDir, 'config.json'))
    if (bytes === null) return null
    const { url } = recordOf(recordOf(JSON.parse(new TextDecoder().decode(bytes))).search)
    return typeof url === 'string' && /^https?:\/\//.test(url) ? url : null
  } catch {
    return null
  }
}

const KEEP_SPILL_MS = 24 * 3600 * 1000

/** Removes spilled output that is older than a day. */
function reapSpill(directory: string, now: number): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    try {
      if (now - statSync(path).mtimeMs > KEEP_SPILL_MS) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another process was faster.
    }
  }
}

export { approve, requestOf } from '../approval/approve.ts'
export {
  ANSWERS,
  type AnswerForm,
  type AnswerKind,
  type AnswerRow,
  type AskView,
  answerOf,
  askText,
  askView,
  hidesSome,
  shownFields,
  TIMES,
  withAnswers,
} from '../approval/ask-view.ts'
export { type Answer, type ApprovalRequest, LONGEST_SECONDS, type Prompter } from '../approval/prompter.ts'
export { askAtTerminal, terminalPrompter } from '../approval/terminal-prompter.ts'

export interface CordonOptions {
  /** The project's directory. */
  readonly project: string
  /**
   * A manifest chosen by the program's author; by default the project's own, which must be signed.
   */
  readonly manifest?: { readonly file: string } | { readonly object: unknown }
  /** Who is asked. Without a prompter every ask is refused. */
  readonly prompter?: Prompter
  /** The surface's name, if its questions may also be answered elsewhere (page, link, CLI). */
  readonly answeredElsewhere?: string
  /**
   * Your own tools, created with `defineTool`. Each call goes through Cordon: its name has a level in
   * the manifest and asks without one, and the rules judge its `actions`.
   */
  readonly tools?: readonly Tool[]
  readonly machine?: Machine
  readonly backend?: Backend
  readonly resolver?: Resolver
  readonly upstream?: Upstream
}

export interface SessionOptions {
  readonly agent?: string
  /** Letters, digits and dashes. A reopened id gets its own directory back. */
  readonly id?: string
  /** `own`: the session writes into its own directory instead of the project (F7). Default: `files.session_directory`. */
  readonly sandbox?: 'project' | 'own'
  /** A session that this one works for: its rules and its directory apply here. */
  readonly leader?: Session
  /**
   * Runs a sub-agent for the tool `task`, in a session that follows this one. Without it the tool
   * is not offered.
   */
  readonly task?: TaskPort
}

export interface Cordon {
  readonly root: string
  /** Warnings for a person before anything runs (P5). */
  readonly notes: readonly string[]
  /** The policy in force; an "always" replaces it. */
  loaded(): LoadedPolicy
  openSession(options?: SessionOptions): Session
  close(): Promise<void>
}

/** Opens a project. Throws a Fault if its manifest does not load or is not signed. */
export async function createCordon(options: CordonOptions): Promise<Cordon> {
  requireShape('createCordon', options, CORDON_SHAPE)
  requireText('the project of createCordon', options.project)
  const machine = options.machine ?? thisMachine()
  if (!machineFiles.isDirectory(options.project))
    throw wrong(`the project of createCordon is ${JSON.stringify(options.project)}`, 'Expected: a folder that exists.')
  const tools = withOwnTools(options.tools ?? [])
  let organisation = await readOrganisation(machine)
  const project: ProjectPolicy = { loaded: await openProject(options, machine, organisation) }
  // A fleet policy that arrives or expires applies from the next call.
  const refresh = async (): Promise<void> => {
    const now = await readOrganisation(machine)
    if (isDeepStrictEqual(now, organisation)) return
    project.loaded = await openProject(options, machine, now)
    organisation = now
  }
  const { root } = project.loaded
  const backend =
    options.backend ?? (await openBackend(project.loaded.sandbox, { commands: 'many', stateDir: machine.stateDir }))
  const resolver = options.resolver ?? machineResolver()
  const upstream = options.upstream ?? machineUpstream(machine, project.loaded.sandbox)
  const prompter = await promptersOf(options, machine, root)
  const queue = prompter ? new QuestionQueue(prompter) : null
  const saved = openSavedGrants(machine)
  const damage = saved.damage()
  const custom = openCustomTools(project.loaded, machine, () => new Date(), options.tools)
  const journalPlace = join(machine.stateDir, 'writes')
  reapTemporaries(journalPlace)
  reapHalfWritten(openOwnDirectory(machine.stateDir), Date.now())
  reapAmendments(project.loaded.manifestPath, machine.stateDir)
  const journal = openTemporaryJournal(journalPlace)
  const spill = join(machine.cacheDir, 'spill')
  makeDirectories(spill)
  reapSpill(spill, Date.now())
  const open = new Set<Session>()
  let closing: Promise<void> | null = null
  const closeAll = async (): Promise<void> => {
    await Promise.all([...open].map((session) => session.close()))
    open.clear()
    signTails(machine)
    pruneKept(machine.stateDir)
    journal.close()
  }
  return {
    root,
    notes: startNotes(project.loaded, machine, [
      ...custom.notes,
      ...(damage === null ? [] : [damage]),
      ...(backend.notice === undefined ? [] : [backend.notice]),
    ]),
    loaded: () => project.loaded,
    openSession(session = {}) {
      if (closing !== null) throw wrong('this project is closed', 'Open it again with createCordon.')
      requireShape('openSession', session, SESSION_SHAPE)
      const place = requireOneOf('the sandbox of a session', session.sandbox ?? project.loaded.session.directory, [
        'project',
        'own',
      ])
      const id = session.id ?? `s${Date.now().toString(36)}${randomBytes(6).toString('hex')}`
      const { leader } = session
      if (leader !== undefined && !open.has(leader))
        throw wrong('the leader is not an open session of this project', 'Give one that openSession returned.')
      if (!SESSION_ID.test(id)) throw new Fault('session-id', `${JSON.stringify(id)} is not a session id`)
      const agent = session.agent ?? project.loaded.policy.agent.value
      const recorder = openRecord(project.loaded, machine, { by: 'session', id, agent }, () => auditSigner(machine))
      const usage = new HostUsage()
      const opened: Session = openOr(
        recorder.close,
        () =>
          new Session(
            {
              project,
              machine,
              files: machineFiles,
              guarded: (keeper) => openGuardedFiles(journal, keeper),
              tools,
              customTools: (host) => [
                ...custom.forSession(host),
                ...sessionTools(host, machine, root, session.task ?? null),
              ],
              openRunner: (asks) =>
                new CommandRunner(machine, machineFiles, backend, {
                  usage,
                  resolver,
                  upstream,
                  ...(asks && { ask: asks.host, askProgram: asks.program }),
                }),
              surface: prompter && !prompter.onceOnly ? (options.answeredElsewhere ?? null) : null,
              spillDirectory: join(machineFiles.canonical(spill), id),
              openCode: (options) => openSessionCode({ ...options, machine, backend }),
              openWeb: (policy, facts) => webPort(policy, facts, machine, resolver, upstream, usage),
              questions: queue?.open() ?? null,
              saved,
              recorder,
              amend: async (remembered) => {
                const { amendByAnswer } = await import('../project/amend.ts')
                return amendByAnswer(project.loaded, remembered, machine, machineFiles)
              },
              now: Date.now,
              refresh,
              closed: () => open.delete(opened),
            },
            {
              id,
              ...(session.agent !== undefined && { agent: session.agent }),
              directory: leader ? leader.ownDirectory : place === 'own' ? ownDirectory(machine, root, id) : null,
            },
          ),
      )
      if (leader) opened.follow(leader)
      open.add(opened)
      return opened
    },
    close: () => {
      closing ??= closeAll()
      return closing
    },
  }
}

const CORDON_SHAPE = {
  project: 'text',
  manifest: 'object',
  prompter: ['ask'],
  answeredElsewhere: 'text',
  tools: 'list',
  machine: ['readSecret', 'ownAddresses'],
  backend: ['compile', 'launch', 'release'],
  resolver: ['resolve'],
  upstream: ['prepare', 'dial'],
} as const satisfies Record<keyof CordonOptions, unknown>
const SESSION_SHAPE = {
  agent: 'text',
  id: 'text',
  sandbox: 'text',
  leader: 'object',
  task: 'function',
} as const satisfies Record<keyof SessionOptions, unknown>

async function promptersOf(
  { prompter, answeredElsewhere: surface }: CordonOptions,
  machine: Machine,
  project: string,
): Promise<Prompter | null> {
  if (!prompter || surface === undefined) return prompter ?? null
  const { sharedPrompter } = await import('../questions/shared-prompter.ts')
  return sharedPrompter(prompter, { machine, project, surface })
}

/** Adds the program's tools; names must be unique. */
function withOwnTools(own: readonly Tool[]): readonly Tool[] {
  const names = new Set(builtInSpecs.map((spec) => spec.name))
  const fits = (name: string): boolean => isToolName(name) && !names.has(name)
  for (const [at, tool] of own.entries()) names.add(requireTool(`tool ${at + 1} of createCordon`, tool, fits).name)
  return [...builtInTools, ...own]
}

/** Opens, or undoes earlier steps on failure. */
function openOr<Opened>(undo: () => void, open: () => Opened): Opened {
  try {
    return open()
  } catch (error) {
    undo()
    throw error
  }
}

function ownDirectory(machine: Machine, root: string, session: string): string {
  const project = createHash('sha256').update(root).digest('hex').slice(0, 16)
  // Beside Cordon's state and unreachable from inside; caches may be cleared while a session can
  // still be resumed.
  const base = join(`${machine.stateDir}-sandboxes`, project)
  makeDirectories(base)
  return join(machineFiles.canonical(base), session)
}

async function openProject(
  options: CordonOptions,
  machine: Machine,
  organisation: readonly WrittenManifest[],
): Promise<LoadedPolicy> {
  const choice = choiceOf(options.manifest)
  const place = { machine, files: machineFiles, root: options.project, choice, organisation }
  const opened = await openPolicy({ ...place, unsigned: 'refused' })
  if ('loaded' in opened) return opened.loaded
  if ('problems' in opened) {
    throw new Fault('manifest', `the manifest does not load:\n${opened.problems.map(renderProblem).join('\n')}`)
  }
  throw new Fault('unsigned-manifest', `${opened.manifestPath} is ${opened.unsigned}, so it does not take effect`, {
    remedy: 'Read it, then run: cordon sign',
  })
}

function choiceOf(manifest: CordonOptions['manifest']): ManifestChoice {
  if (manifest === undefined) return { kind: 'project' }
  requireFields('the manifest of createCordon', manifest, ['file', 'object'])
  if ('object' in manifest && !('file' in manifest)) return { kind: 'object', object: manifest.object }
  if ('file' in manifest && !('object' in manifest))
    return { kind: 'file', file: requireText('the manifest’s file', manifest.file) }
  throw wrong('the manifest of createCordon names a file and an object, or neither', 'Give one of them.')
}

/** The decided host, with and without `www`, where most redirects point. */
function hostsAround(url: string): HostRule[] {
  const parsed = parseUrl(url)
  if ('problem' in parsed) return []
  const { host, port, kind } = parsed.url
  const names = kind === 'name' ? [host, host.startsWith('www.') ? host.slice(4) : `www.${host}`] : [host]
  const ports = port === 80 ? [80, 443] : [port]
  return names.flatMap((name) =>
    ports.map((each): HostRule => {
      const pattern = { text: `${name}:${each}`, host: name, wildcard: false, port: each, kind }
      return { rule: 'decided', source: 'session', pattern }
    }),
  )
}

function webPort(
  policy: () => LoadedPolicy,
  facts: () => SessionFacts,
  machine: Machine,
  resolver: Resolver,
  upstream: Upstream,
  usage: HostUsage,
): WebPort {
  return {
    fetch: async (request) => {
      const { fetchGuarded } = await import('../egress/fetch.ts')
      const loaded = policy()
      const { http } = loaded.policy
      const session = facts()
      const contained = takeStance(loaded.policy, session, 'webfetch').mode.value === 'contained'
      // If a new host asks, a redirect to one is a request by itself.
      const open = http.allowed === null && !contained
      const decided = contained ? hostsAround(request.url) : []
      const allowed = open ? null : [...(http.allowed ?? []), ...session.grants.hosts, ...decided]
      const rules = { ...http, allowed, command: 'webfetch', ownAddresses: machine.ownAddresses() }
      const answer = await fetchGuarded(request.url, {
        rules,
        resolver,
        upstream,
        usage,
        method: request.method,
        headers: request.headers,
        ...(request.body !== undefined && { body: request.body }),
        maxBytes: request.maxBytes,
        milliseconds: request.timeoutMs,
        signal: request.signal,
      })
      if ('refusal' in answer) return { refused: `${answer.refusal.message} [${answer.refusal.code}]`, url: answer.url }
      const { url, ...response } = answer.response
      return { response: { ...response, finalUrl: url } }
    },
  }
}
