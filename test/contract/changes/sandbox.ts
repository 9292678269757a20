/** A project in a sandbox whose changes go through the init, for tests: started as a program it runs one command and ends with its status. */

import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { changeRules, gitKeyText } from '../../../src/sandbox/protect/change-rules.ts'
import { SecretTree } from '../../../src/sandbox/protect/tree.ts'
import { takeBaseline } from '../../../src/sandbox/quarantine/baseline.ts'
import { CallStore } from '../../../src/undo/call-store.ts'
import { COMPILED } from '../../compiled.ts'
import { planIn } from '../../plan-in.ts'
import { giveTo, own, removeTree, spawnAs } from '../../users.ts'

export interface LayoutInput {
  readonly base: string
  readonly argv: readonly string[]
  readonly mediated: boolean
  /** The folder of the call, where what is lost is kept. */
  readonly folder: string | null
  readonly uid: number
  /** Folders of the project that are shown read-only. */
  readonly readOnly?: readonly string[]
  /** Further folders that are shown. */
  readonly reads?: readonly string[]
  readonly caches?: readonly string[]
  /** Files that are hidden. */
  readonly masks?: readonly string[]
  /** A folder of the project that is the command's root instead. */
  readonly root?: string | undefined
}

export interface Place {
  readonly base: string
  readonly project: string
  readonly programs: string
  readonly store: CallStore
  remove(): void
}

/** An empty project, a folder of programs that it sees, and a store of calls beside it. */
export function makePlace(owner: number = own.uid): Place {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'cordon-changes-'))
  const project = join(base, 'project')
  const programs = join(base, 'programs')
  for (const folder of [project, programs, join(base, 'state')]) mkdirSync(folder)
  giveTo(owner, base)
  return {
    base,
    project,
    programs,
    store: new CallStore(join(base, 'state')),
    remove: () => removeTree(base),
  }
}

/** Fills the project with files of several modes and times, links, a hard link, an empty folder. */
export function furnishProject(place: Place): void {
  removeTree(place.project)
  for (const folder of ['a', 'b', 'c', 'd', 'dir', '.git/objects']) {
    mkdirSync(join(place.project, folder), { recursive: true })
    for (const name of ['a', 'b', 'c', 'A', 'ignored.log'])
      writeFileSync(join(place.project, folder, name), `${folder} ${name}\n`.repeat(20))
    symlinkSync('a', join(place.project, folder, 'l'))
    chmodSync(join(place.project, folder, 'b'), 0o750)
    utimesSync(join(place.project, folder, 'c'), 1_000_000_000, 1_000_000_000)
  }
  mkdirSync(join(place.project, 'empty'))
  linkSync(join(place.project, 'a/a'), join(place.project, 'b/second-name'))
}

/** Compiles a C program of this folder into the place. */
export function compile(place: Place, source: string, name: string): string {
  const target = join(place.programs, name)
  const done = spawnSync('cc', ['-O1', '-static', '-pthread', '-w', '-o', target, source], { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`${source}: ${done.stderr}`)
  return target
}

export interface InsideOptions {
  readonly mediated?: boolean
  readonly folder?: string | null
  readonly uid?: number
  readonly readOnly?: readonly string[]
  readonly reads?: readonly string[]
  /** Writable places outside the roots, where the broker does not mediate. */
  readonly caches?: readonly string[]
  readonly masks?: readonly string[]
  readonly root?: string
}

function started(place: Place, argv: readonly string[], options: InsideOptions) {
  const {
    mediated = true,
    folder = null,
    uid = own.uid,
    readOnly = [],
    reads = [],
    caches = [],
    masks = [],
    root,
  } = options
  const input: LayoutInput = { base: place.base, argv, mediated, folder, uid, readOnly, reads, caches, masks, root }
  return {
    words: [import.meta.filename, JSON.stringify(input)],
    settings: { ...spawnAs(uid), env: { PATH: process.env.PATH ?? '', ...COMPILED } },
  }
}

/** Runs a command in the place, with the broker or without, as root or as a user. */
export function runInside(
  place: Place,
  argv: readonly string[],
  options: InsideOptions = {},
): { readonly status: number | null; readonly out: string; readonly errors: string } {
  const { words, settings } = started(place, argv, options)
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    encoding: 'latin1',
    maxBuffer: 64 * 1024 * 1024,
    ...settings,
  })
  return { status, out: stdout, errors: stderr }
}

/** A command that is still running. */
export interface Running {
  /** Kills the process that started it (kill -9), and waits until nothing of it is left. */
  kill(): Promise<void>
  /** What it printed, once it is over. */
  readonly ended: Promise<string>
}

/** Starts a command in the place, and waits until it has said a line. */
export async function startInside(
  place: Place,
  argv: readonly string[],
  line: string,
  options: InsideOptions = {},
): Promise<Running> {
  const { words, settings } = started(place, argv, options)
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'], ...settings })
  let out = ''
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const said = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString('latin1')
      if (out.split('\n').includes(line)) resolve()
    })
  })
  await Promise.race([said, closed.then(() => Promise.reject(new Error(`it ended before it said ${line}: ${out}`)))])
  return {
    ended: closed.then(() => out),
    kill: () => {
      child.kill('SIGKILL')
      // Every process inside has the pipe open.
      return closed
    },
  }
}

if (import.meta.main) {
  const input = JSON.parse(process.argv[2]!) as LayoutInput
  const { base, argv, mediated, folder, readOnly = [], reads = [], caches = [], masks = [] } = input
  const project = join(base, 'project', input.root ?? '')
  const home = '/home/nobody-here'
  const own = {
    configDir: join(base, 'config'),
    stateDir: join(base, 'state'),
    manifestPath: join(project, 'cordon.toml'),
  }
  const facts = { home, write: [project], named: [], own }
  const tree = new SecretTree([project])
  tree.refresh()
  const { configs } = takeBaseline(tree, facts)
  tree.close()
  const changes = {
    rules: changeRules(facts, configs, caches),
    gitKeys: gitKeyText({ ...facts, hosts: ['example.com'] }, configs),
    keep:
      folder === null ? null : { folder, fileBytes: 1024 ** 2 * 64, totalBytes: 1024 ** 3, must: 'nothing' as const },
    free: caches,
  }
  const plan = planIn(project, argv, {
    env: { PATH: ['/usr/bin:/bin', ...reads.map((folder) => join(folder, 'bin'))].join(':'), HOME: '/tmp', LANG: 'C' },
    home,
    reads: [join(base, 'programs'), ...reads],
    writes: [project, ...caches],
    masks,
    pins: readOnly.map((path) => ({ path, mode: 'read-only' })),
    limits: { timeoutMs: 120_000 },
    ...(mediated && { changes }),
  })
  const result = await createBwrapBackend().launch(plan, { stdout: 'inherit', stderr: 'inherit' })
  process.exitCode = result.exitCode
}
