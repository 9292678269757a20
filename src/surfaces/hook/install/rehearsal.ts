/** Starts the agent's real program with a scripted model, and checks that the hook answers. */

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { SELF_TEST_COMMAND } from '../../../agents/hook/self-test.ts'
import { messageOf } from '../../../system/fault.ts'
import type { Rehearsed } from '../host/host-install.ts'
import type { InstallPlace } from '../host/install-place.ts'
import { startModelServer } from '../host/scripted-model.ts'
import { type HostName, installOf } from '../hosts/hosts.ts'

/** The result of a rehearsal in one folder: the hook answered, did not, or is unknown. */
export interface Rehearsal {
  readonly where: string
  readonly outcome: 'answered' | 'missed' | 'unknown'
  readonly detail: string
}

/** A first start can create a database and look for updates. */
const MAX_MS = 120_000

/** Starts the program in the project, in a subfolder, and in a worktree. Empty if its model cannot be redirected. */
export async function rehearse(host: HostName, program: string, place: InstallPlace): Promise<readonly Rehearsal[]> {
  const { rehearsal: rehearsed } = await installOf(host)
  if (rehearsed === null) return []
  const below = folderBelow(place.root)
  const done = [await once(rehearsed, program, place, 'the project', place.root)]
  if (below !== null) done.push(await once(rehearsed, program, place, 'a folder of it', below))
  // A project's hook does not apply to a worktree, which has its own folder.
  if (place.scope === 'user') done.push(...(await inWorktree(rehearsed, program, place)))
  return done
}

async function once(
  rehearsed: Rehearsed,
  program: string,
  { env }: InstallPlace,
  where: string,
  cwd: string,
): Promise<Rehearsal> {
  const model = await startModelServer([(tools) => rehearsed.call(SELF_TEST_COMMAND, tools)])
  const folder = mkdtempSync(join(tmpdir(), 'cordon-rehearsal-'))
  try {
    for (const [name, text] of Object.entries(rehearsed.files?.(model.port) ?? {}))
      writeFileSync(join(folder, name), text)
    const own = rehearsed.env(model.port, folder)
    const said = await started(program, rehearsed.args(model.port, folder), cwd, { ...env, ...own })
    // The scripted model receives the denial's reason as the result of its call.
    if (model.bodies.some((body) => body.includes('Cordon: '))) return { where, outcome: 'answered', detail: '' }
    if (model.bodies.length > 1) return { where, outcome: 'missed', detail: 'it ran the call without asking the hook' }
    return { where, outcome: 'unknown', detail: lastLine(said) }
  } catch (error) {
    return { where, outcome: 'unknown', detail: messageOf(error) }
  } finally {
    await model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function inWorktree(rehearsed: Rehearsed, program: string, place: InstallPlace): Promise<readonly Rehearsal[]> {
  if (!isRepository(place.root)) return []
  const base = mkdtempSync(join(tmpdir(), 'cordon-rehearsal-'))
  const tree = join(base, 'worktree')
  const git = (...args: string[]) => spawnSync('git', ['-C', place.root, ...args], { stdio: 'ignore' }).status === 0
  try {
    // Without files: a large checkout is slow, and git hooks could run in it.
    if (!git('-c', 'core.hooksPath=/dev/null', 'worktree', 'add', '--detach', '--no-checkout', tree)) return []
    return [await once(rehearsed, program, place, 'a worktree', tree)]
  } finally {
    git('worktree', 'remove', '--force', tree)
    rmSync(base, { recursive: true, force: true })
  }
}

function lastLine(said: string): string {
  const lines = stripVTControlCharacters(said).trim().split('\n')
  return lines.at(-1)?.slice(0, 200) || 'it said nothing'
}

function isRepository(root: string): boolean {
  return spawnSync('git', ['-C', root, 'rev-parse', '--verify', '-q', 'HEAD'], { stdio: 'ignore' }).status === 0
}

function folderBelow(root: string): string | null {
  const entries = readdirSync(root, { withFileTypes: true })
  const first = entries.find(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules',
  )
  return first ? join(root, first.name) : null
}

function started(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data))
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), MAX_MS)
    child.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.on('close', () => {
      clearTimeout(timer)
      resolve(said)
    })
  })
}
