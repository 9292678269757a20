/** What a guarded call costs with a resident Cordon: hooks against `node -e 0`, commands against the peers, and its memory. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { residents, stopResident } from '../src/system/residents.ts'
import { compare, printTable, type Timed } from './measure.ts'
import { installPeers } from './peers.ts'
import { CLI, hookInput, makePlace, type Place } from './startup.ts'

const ROUNDS = 25
const CLIENT = join(import.meta.dirname, `../dist/native/cordon-client-${process.arch}`)
const BASE = 'node -e 0'
const RUN = 'cordon run -- true'

/** Of `node -e 0`. */
const HOOK_TARGET = 0.3
/** Of a peer's time. */
const PEER_TARGETS: Readonly<Record<string, number>> = { 'codex sandbox': 0.5, 'sandbox-runtime': 0.05 }

/** Runs this part of the bench. */
export async function benchResident(): Promise<void> {
  const base = mkdtempSync('/var/tmp/cordon-bench-')
  try {
    // With its own resident, which no one else uses and which may be ended.
    const place = makePlace(base)
    const times = compare(commandsOf(place), ROUNDS)
    printHooks(times)
    printRuns(times)
    for (const resident of residents(place.env, CLI).filter(({ program }) => program[1] === CLI)) {
      const { workers, bytes } = resident
      printTable('The resident', [
        ['workers', 'memory together'],
        [String(workers), `${((bytes ?? 0) / 1024 / 1024).toFixed(0)} MB`],
      ])
      stopResident(resident)
    }
    spawnSync('sleep', ['0.3'])
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

function commandsOf({ project, empty, scratch, env }: Place): Record<string, Timed> {
  const cordon = (cwd: string, args: readonly string[], input?: string): Timed => ({
    command: [CLIENT, process.execPath, CLI, ...args],
    options: { cwd, env, ...(input !== undefined && { input }) },
  })
  const hook = (...given: Parameters<typeof hookInput>): Timed =>
    cordon(project, ['hook', 'claude-code', '--root', project], hookInput(...given))
  const output = { stdout: 'On branch main\nnothing to commit, working tree clean\n', stderr: '' }
  const peers = installPeers().map((peer): [string, Timed] => [
    peer.name,
    { command: peer.command(['true'], { project: empty, scratch }), options: { cwd: empty, env } },
  ])
  return {
    [BASE]: { command: [process.execPath, '-e', '0'], options: { cwd: project, env } },
    'cordon hook (Bash)': hook(project, 'Bash', { command: 'git status' }),
    'cordon hook (Read)': hook(project, 'Read', { file_path: join(project, 'src/a.ts') }),
    'cordon hook (a result)': hook(project, 'Bash', { command: 'git status' }, output),
    [RUN]: cordon(empty, ['run', '--', 'true']),
    'the same in a signed project': cordon(project, ['run', '--', 'true']),
    'the same without a resident': {
      command: [process.execPath, CLI, 'run', '--', 'true'],
      options: { cwd: empty, env },
    },
    ...Object.fromEntries(peers),
  }
}

function printHooks(times: Readonly<Record<string, number>>): void {
  const names = Object.keys(times).filter((name) => name === BASE || name.startsWith('cordon hook'))
  printTable(`Hooks with a resident (median of ${ROUNDS}, in turns)`, [
    ['command', 'time', 'of node -e 0', 'target'],
    ...names.map((name) => [
      name,
      `${times[name]!.toFixed(1)} ms`,
      `${(times[name]! / times[BASE]!).toFixed(2)}x`,
      name === BASE ? '' : `<= ${HOOK_TARGET.toFixed(2)}x`,
    ]),
  ])
}

function printRuns(times: Readonly<Record<string, number>>): void {
  const names = Object.keys(times).filter((name) => name !== BASE && !name.startsWith('cordon hook'))
  printTable(`One command in a sandbox, with a resident (median of ${ROUNDS}, in turns)`, [
    ['command', 'time', 'cordon run takes', 'target'],
    ...names.map((name) => {
      const target = PEER_TARGETS[name]
      return [
        name,
        `${times[name]!.toFixed(1)} ms`,
        `${(times[RUN]! / times[name]!).toFixed(2)}x`,
        target ? `<= ${target.toFixed(2)}x` : '',
      ]
    }),
  ])
}
