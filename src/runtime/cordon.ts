/** Cordon as a library: `createCordon()` opens a project, `openSession()` an agent's session in it. */

import { join } from 'node:path'
import type { Remembered } from '../approval/approve.ts'
import type { Prompter } from '../approval/prompter.ts'
import { QuestionQueue } from '../approval/question-queue.ts'
import { type AuditLog, openAuditLog } from '../audit/log.ts'
import { fetchGuarded } from '../egress/fetch.ts'
import { createUpstream, type Upstream } from '../egress/upstream.ts'
import { renderProblem } from '../manifest/problem.ts'
import type { Backend } from '../sandbox/backend.ts'
import { createRedactor } from '../scan/redact.ts'
import { machineResolver, type Resolver } from '../system/dns.ts'
import { Fault } from '../system/fault.ts'
import { machineFiles } from '../system/files.ts'
import { openGuardedFiles } from '../system/guarded-files.ts'
import { type Machine, thisMachine } from '../system/machine.ts'
import { builtInTools } from '../tools/registry.ts'
import type { WebPort } from '../tools/tool.ts'
import { openCommandPort } from './command-port.ts'
import { CommandRunner } from './command-runner.ts'
import { type LoadedPolicy, loadPolicy, type ManifestChoice } from './load-policy.ts'
import { judgeTrust, withRegistries } from './manifest-trust.ts'
import { openBackend } from './open-runner.ts'
import { openSavedGrants } from './saved-grants.ts'
import { Session } from './session.ts'
import { auditRecorder } from './session-recorder.ts'

export interface CordonOptions {
  /** The project's directory. */
  readonly project: string
  /** A manifest named by the person who runs the program; without it the project's own, which must be signed. */
  readonly manifest?: { readonly file: string } | { readonly object: unknown }
  /** Who is asked. Without one, every ask is a refusal. */
  readonly prompter?: Prompter
  readonly machine?: Machine
  readonly backend?: Backend
  readonly resolver?: Resolver
  readonly upstream?: Upstream
}

export interface SessionOptions {
  readonly agent?: string
  readonly id?: string
}

/** A project under Cordon. */
export interface Cordon {
  readonly root: string
  openSession(options?: SessionOptions): Session
  /** Closes every session. */
  close(): Promise<void>
}

/** Opens a project. Throws a Fault when its manifest does not load or is not signed. */
export async function createCordon(options: CordonOptions): Promise<Cordon> {
  const machine = options.machine ?? thisMachine()
  const loaded = await openProject(options, machine)
  const backend = options.backend ?? openBackend()
  const resolver = options.resolver ?? machineResolver()
  const upstream = options.upstream ?? createUpstream()
  const prompter = options.prompter ? new QuestionQueue(options.prompter) : null
  const saved = openSavedGrants(machine)
  const open = new Set<Session>()
  return {
    root: loaded.root,
    openSession(session = {}) {
      const id = session.id ?? `s${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`
      const runner = new CommandRunner(loaded, machine, machineFiles, backend, { resolver, upstream })
      const opened: Session = new Session(
        {
          loaded,
          machine,
          files: machineFiles,
          guarded: openGuardedFiles(),
          tools: builtInTools,
          commands: closing(
            openCommandPort({
              loaded,
              runner,
              facts: () => opened.facts(),
              ownAddresses: machine.ownAddresses,
              home: machine.home,
              spillDirectory: join(machine.cacheDir, 'spill'),
            }),
            runner,
          ),
          web: webPort(loaded, machine, resolver, upstream),
          prompter,
          saved,
          recorder: auditRecorder(openLog(loaded, machine, id), {
            arguments: loaded.session.audit.arguments.value,
            now: Date.now,
          }),
          amend: async (_: Remembered) => false,
          now: Date.now,
        },
        { ...session, id },
      )
      open.add(opened)
      return opened
    },
    close: async () => {
      await Promise.all([...open].map((session) => session.close()))
      open.clear()
    },
  }
}

async function openProject(options: CordonOptions, machine: Machine): Promise<LoadedPolicy> {
  const choice: ManifestChoice =
    options.manifest === undefined
      ? { kind: 'project' }
      : 'file' in options.manifest
        ? { kind: 'file', file: options.manifest.file }
        : { kind: 'object', object: options.manifest.object }
  const outcome = await loadPolicy({ machine, files: machineFiles, root: options.project, choice })
  if ('problems' in outcome) {
    throw new Fault('manifest', `the manifest does not load:\n${outcome.problems.map(renderProblem).join('\n')}`)
  }
  const { loaded } = outcome
  const report = judgeTrust(loaded, machine, machineFiles)
  if (report && report.trust.status !== 'signed') {
    throw new Fault(
      'unsigned-manifest',
      `${loaded.manifestPath} is ${report.trust.status}, so it does not take effect`,
      {
        remedy: 'Read it, then run: cordon sign',
      },
    )
  }
  return report ? withRegistries(loaded, report.registries) : loaded
}

function openLog(loaded: LoadedPolicy, machine: Machine, session: string): AuditLog {
  const redactor = createRedactor()
  return openAuditLog({
    stateDir: machine.stateDir,
    session,
    now: () => new Date().toISOString(),
    redact: (text) => redactor.redact(text),
    maxBytes: loaded.session.audit.maxBytes,
  })
}

/** The command port ends its runner with it. */
function closing(port: ReturnType<typeof openCommandPort>, runner: CommandRunner): ReturnType<typeof openCommandPort> {
  return {
    ...port,
    close: async () => {
      await port.close()
      await runner.close()
    },
  }
}

function webPort(loaded: LoadedPolicy, machine: Machine, resolver: Resolver, upstream: Upstream): WebPort {
  return {
    fetch: async (request) => {
      const rules = { ...loaded.policy.http, command: 'webfetch', ownAddresses: machine.ownAddresses() }
      const answer = await fetchGuarded(request.url, {
        rules,
        resolver,
        upstream,
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
