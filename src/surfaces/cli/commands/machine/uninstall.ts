/** `cordon uninstall`: removes Cordon from this account, after showing what goes and what stays. */

import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { programPath } from '../../../../agents/hook/wrapped-runs.ts'
import { openConfig } from '../../../../chat/config.ts'
import { findRoot } from '../../../../project/place/root.ts'
import { attempt, Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { keyOfSecret } from '../../../../system/keychain-entry.ts'
import { openKeyStore } from '../../../../system/keys/keychain.ts'
import { openStoredSecrets } from '../../../../system/keys/stored-secrets.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { isSameProcess } from '../../../../system/processes.ts'
import { type Resident, residentPlaces, residents, stopResident } from '../../../../system/residents.ts'
import { ownUid } from '../../../../system/state.ts'
import { pause } from '../../../../system/timing.ts'
import type { FileChange, InstallPlace, Scope } from '../../../hook/host/install-place.ts'
import { HOST_NAMES, type InstalledHost, installOf } from '../../../hook/hosts/hosts.ts'
import { installedHooks } from '../../../hook/install/installed-hooks.ts'
import { planRemoval, removeHook } from '../../../hook/install/placed-hook.ts'
import { visible } from '../../../terminal/terminal.ts'
import { confirm } from '../../confirm.ts'
import { cordonWords } from '../../cordon-words.ts'
import { type CommandContext, EXIT } from '../../usage.ts'
import { accountFiles, fileStatusOf } from './account-files.ts'

interface PlacedHook {
  readonly host: InstalledHost
  readonly place: InstallPlace
  readonly changes: readonly FileChange[]
}

interface Removal {
  readonly hooks: readonly PlacedHook[]
  readonly residents: readonly Resident[]
  readonly files: readonly string[]
  readonly keys: readonly string[]
  /** Keeps what `cordon audit verify` needs in the state directory. */
  readonly keepsRecord: boolean
  readonly folders: readonly Folder[]
  readonly stays: readonly string[]
}

interface Folder {
  readonly path: string
  readonly content: string
  readonly kept: readonly string[]
}

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const machine = thisMachine()
  const removal = await planEverything(machine, args.flags['keep-record'] === true)
  const answer = (removed: boolean): void => {
    if (args.flags.json) terminal.out(`${JSON.stringify({ ...inJson(removal), removed })}\n`)
  }
  const short = (line: string): string => visible(line.replaceAll(`${machine.home}/`, '~/'))
  const lines = describe(removal)
  if (lines.length === 0) {
    answer(false)
    terminal.err('Cordon is not set up in this account.\n')
    return EXIT.ok
  }
  terminal.err('This removes Cordon from your account:\n')
  for (const line of lines) terminal.err(`  ${short(line)}\n`)
  for (const line of [...removal.stays, programStays()]) terminal.err(`stays: ${short(line)}\n`)
  if (removal.hooks.length > 0) terminal.err('These agents will run without Cordon.\n')
  if (!args.flags.yes && !(await confirm(terminal, 'Remove all of it? [y/N] '))) {
    answer(false)
    terminal.err('nothing was changed (--yes skips the question)\n')
    return EXIT.failed
  }
  await carryOut(removal, machine)
  answer(true)
  terminal.err('Cordon is removed from your account.\n')
  return EXIT.ok
}

async function planEverything(machine: Machine, keepsRecord: boolean): Promise<Removal> {
  const { stateDir, configDir, cacheDir } = machine
  const folders: Folder[] = []
  const stays: string[] = []
  for (const [path, content, kept] of [
    [stateDir, 'signatures, grants, the record, undo, stored secrets, quarantined files', keepsRecord ? RECORD : []],
    [configDir, 'your own cordon.toml, tools, skills, trusted keys', []],
    [cacheDir, 'caches', []],
  ] as const) {
    const why = whyNot(path)
    if (why === '') continue
    if (why === null) folders.push({ path, content, kept: kept.filter((name) => existsSync(join(path, name))) })
    else stays.push(`${path}: ${why}`)
  }
  return {
    hooks: await placedHooks(machine),
    // Those of other checkouts may serve other homes.
    residents: residents(machine.env, machineFiles.canonical(process.argv[1] ?? '')).filter(({ isOwn }) => isOwn),
    files: accountFiles(machine)
      .filter((file) => ['same', 'older'].includes(fileStatusOf(file)))
      .map(({ path }) => path),
    keys: existsSync(stateDir) ? keychainNames(machine) : [],
    keepsRecord,
    folders,
    stays: [...stays, 'cordon.toml in your projects'],
  }
}

/** The log, the heads that reveal truncation, the signing key, and their schema. */
const RECORD = ['audit', 'audit-heads', 'signing-key.pub', 'version']

/** Why a folder must stay; null if it may go, empty if it is absent. XDG variables can point anywhere. */
function whyNot(path: string): string | null {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (facts === undefined) return ''
  if (facts.isSymbolicLink()) return 'it is a link, whose target may be shared; remove both yourself'
  if (!facts.isDirectory() || facts.uid !== ownUid()) return 'it is not a folder of yours'
  const program = machineFiles.canonical(process.argv[1] ?? '')
  if (program.startsWith(`${machineFiles.canonical(path)}${sep}`)) return 'Cordon itself is in it'
  if (readdirSync(path).some((name) => FOREIGN.includes(name)))
    return 'it looks like a project, not like Cordon’s folder'
  return null
}

/** Names that never occur in Cordon's own folders. */
const FOREIGN = ['.git', 'package.json', 'node_modules', 'src']

async function placedHooks(machine: Machine): Promise<readonly PlacedHook[]> {
  const here = machineFiles.canonical(findRoot(machine.cwd, machineFiles))
  const common = { home: machine.home, env: machine.env, cordon: cordonWords(), wrapper: programPath(machine) }
  const known = installedHooks(machine.stateDir)
  const places = HOST_NAMES.flatMap((name) => {
    const roots = known.filter(({ agent, scope }) => agent === name && scope === 'project').map(({ root }) => root)
    const each = (scope: Scope, root: string) => ({ name, place: { ...common, scope, root } })
    return [each('user', here), ...[...new Set([here, ...roots])].map((root) => each('project', root))]
  })
  const found: PlacedHook[] = []
  for (const { name, place } of places) {
    const host = await installOf(name)
    const changes = planRemoval(host, place, machine.stateDir)
    const isKnown = found.some((other) => other.host.name === name && samePaths(other.changes, changes))
    if (changes.length > 0 && !isKnown) found.push({ host, place, changes })
  }
  return found
}

/** In the home folder, a project's files are the user's. */
function samePaths(some: readonly FileChange[], others: readonly FileChange[]): boolean {
  return some.map(({ path }) => path).join('\0') === others.map(({ path }) => path).join('\0')
}

function keychainNames(machine: Machine): readonly string[] {
  const { stateDir } = machine
  const names = [
    'signing-key',
    'fleet-machine-key',
    // Damaged state is removed like the rest.
    ...attempt(
      () =>
        openStoredSecrets(stateDir)
          .list()
          .map(({ name }) => keyOfSecret(name)),
      [],
    ),
    ...attempt(() => [...openConfig(machine).config.profiles.values()].flatMap(({ keyNames }) => keyNames), []),
  ]
  const store = openKeyStore(stateDir)
  return [...new Set(names)].filter((name) => attempt(() => store.read(name)?.from, null) === 'keychain')
}

function describe({ hooks, residents: running, files, keys, folders }: Removal): readonly string[] {
  return [
    ...hooks.map(({ host, place, changes }) => {
      const where = place.scope === 'user' ? 'every project' : place.root
      return `hook      ${host.name} (${where}): ${changes.map(({ path }) => path).join(', ')}`
    }),
    ...running.map(({ pid }) => `process   ${pid}, the resident`),
    ...files.map((path) => `file      ${path}`),
    ...(keys.length > 0 ? [`keychain  ${keys.join(', ')}`] : []),
    ...folders.map(({ path, content, kept }) => {
      const except = kept.length > 0 ? `, except the record (${kept.join(', ')})` : ''
      return `folder    ${path}: ${content}${except}`
    }),
  ]
}

function inJson({ hooks, residents: running, files, keys, folders, stays }: Removal): object {
  return {
    hooks: hooks.map(({ host, place, changes }) => ({
      agent: host.name,
      scope: place.scope,
      root: place.root,
      files: changes.map(({ path }) => path),
    })),
    residents: running.map(({ pid }) => pid),
    files,
    keys,
    folders: folders.map(({ path, kept }) => ({ path, kept })),
    stays,
  }
}

function programStays(): string {
  const program = dirname(dirname(machineFiles.canonical(process.argv[1] ?? '')))
  const how = program.startsWith('/usr/')
    ? 'remove its package, such as with apt remove cordon or npm uninstall --global cordon'
    : program.includes('/node_modules/')
      ? 'npm uninstall cordon removes it'
      : `rm -r ${program} removes it`
  return `the program in ${program}; ${how}`
}

/** Removes hooks first: if one cannot be removed, the rest stays, because the hook needs it. */
async function carryOut({ hooks, residents: running, files, keys, folders }: Removal, machine: Machine): Promise<void> {
  for (const { host, place, changes } of hooks) removeHook(host, place, machine.stateDir, changes)
  for (const resident of running) stopResident(resident)
  for (let tries = 0; running.some(isAlive) && tries < MOST_TRIES; tries++) await pause(TRY_MS, never)
  const alive = running.find(isAlive)
  if (alive) {
    throw new Fault('resident-busy', `the resident (process ${alive.pid}) has not ended; it still runs a command`, {
      remedy: 'Wait for it, or end it, and run cordon uninstall again.',
    })
  }
  const store = openKeyStore(machine.stateDir)
  for (const name of keys) store.delete(name)
  for (const path of files) rmSync(path, { force: true })
  for (const { path, kept } of folders) {
    if (kept.length === 0) rmSync(path, { recursive: true, force: true })
    else
      for (const name of readdirSync(path))
        if (!kept.includes(name)) rmSync(join(path, name), { recursive: true, force: true })
  }
  const [place] = residentPlaces(machine.env)
  if (place === undefined) return
  try {
    rmdirSync(place)
  } catch {
    // Another process started a resident again.
  }
}

const { signal: never } = new AbortController()
const TRY_MS = 50
const MOST_TRIES = 200

function isAlive({ pid, started }: Resident): boolean {
  return isSameProcess(pid, started)
}
