/** A space for sessions: a project, its own home and state, and a person who answers from a table. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Answer, ApprovalRequest, Prompter } from '../../../src/approval/prompter.ts'
import { loadPolicy } from '../../../src/project/load/load.ts'
import { signProject } from '../../../src/project/sign/trust.ts'
import { type Cordon, type CordonOptions, createCordon } from '../../../src/session/cordon.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { type Machine, thisMachine } from '../../../src/system/machine.ts'

export interface SessionWorld {
  readonly base: string
  readonly root: string
  readonly machine: Machine
  /** Everything that was asked, in order. */
  readonly asked: ApprovalRequest[]
  /** What the person says; a no unless asked to. */
  answer: (request: ApprovalRequest) => Answer | Promise<Answer>
  readonly prompter: Prompter
  file(path: string, content: string, mode?: number): void
  text(path: string): string
  /** Everything in the project by name, with mode and content. */
  snapshot(): Record<string, string>
  /** Opens the project; `manifest` is the object form unless the project has its own file. */
  open(options?: Partial<CordonOptions>): Promise<Cordon>
  /** Writes the project's manifest and signs it. */
  sign(manifest: string): Promise<void>
  auditLines(): Record<string, unknown>[]
  close(): Promise<void>
}

export function openSessionWorld(): SessionWorld {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-session-')))
  const root = join(base, 'project')
  const home = join(base, 'home')
  mkdirSync(root)
  mkdirSync(home)
  process.env.CORDON_KEYCHAIN = 'off'
  const machine: Machine = {
    ...thisMachine(),
    cwd: root,
    home,
    configDir: join(base, 'config'),
    stateDir: join(base, 'state'),
    cacheDir: join(base, 'cache'),
    systemDir: join(base, 'etc'),
  }
  const opened: Cordon[] = []
  const world: SessionWorld = {
    base,
    root,
    machine,
    asked: [],
    answer: () => ({ kind: 'deny' }),
    prompter: {
      name: 'table',
      ask: async (request) => {
        world.asked.push(request)
        return world.answer(request)
      },
      question: async () => 'blue',
    },
    file(path, content, mode) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content, mode === undefined ? {} : { mode })
    },
    text: (path) => readFileSync(join(root, path), 'utf8'),
    snapshot: () => snapshotOf(root, ''),
    async open(options = {}) {
      const cordon = await createCordon({ project: root, machine, prompter: world.prompter, ...options })
      opened.push(cordon)
      return cordon
    },
    async sign(manifest) {
      writeFileSync(join(root, 'cordon.toml'), manifest)
      const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
      if ('problems' in outcome) throw new Error(outcome.problems.map((problem) => problem.message).join('\n'))
      signProject(outcome.loaded, machine, new Date())
    },
    auditLines() {
      const directory = join(machine.stateDir, 'audit')
      const names = existsSync(directory) ? readdirSync(directory) : []
      return names.flatMap((name) =>
        readFileSync(join(directory, name), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>),
      )
    },
    async close() {
      for (const cordon of opened) await cordon.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
  return world
}

function snapshotOf(directory: string, prefix: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    const key = prefix + entry.name
    if (entry.isDirectory()) Object.assign(found, { [key]: 'directory' }, snapshotOf(path, `${key}/`))
    else if (entry.isFile()) found[key] = `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'utf8')}`
    else found[key] = 'other'
  }
  return found
}
