/**
 * The attacks of test/attacks against Cordon, bubblewrap as manuals show it, and other sandboxes, as a Markdown table.
 *
 *   node bench/sandbox-peers.ts [--peer 'NAME=PROGRAM ARG … {script}']…
 *
 * `{script}` is a bash script to run inside; `{project}` the directory that may be written. Run as root, it drops to an
 * ordinary user first: what a peer does not stop must not hurt the host.
 */

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Attack } from '../test/attacks/attack.ts'
import { FILE_ATTACKS } from '../test/attacks/file-attacks.ts'
import { asUser, type Fixture, makeFixture, type User, usersToTest } from '../test/attacks/fixture.ts'
import { KERNEL_ATTACKS } from '../test/attacks/kernel-attacks.ts'

const ATTACKS: readonly Attack[] = [...FILE_ATTACKS, ...KERNEL_ATTACKS].filter((attack) => attack.room === 'usual')
const run = promisify(execFile)

interface Peer {
  readonly name: string
  /** The command line for a script. */
  readonly command: (script: string, fixture: Fixture) => readonly string[]
}

const PLAIN: Peer = {
  name: 'bubblewrap, plain',
  command: (script, { root, project }) => [
    ...['bwrap', '--ro-bind', '/usr', '/usr', '--ro-bind', '/etc', '/etc', '--symlink', 'usr/bin', '/bin'],
    ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev'],
    ...['--tmpfs', '/tmp', '--ro-bind', join(root, 'readonly'), join(root, 'readonly'), '--bind', project, project],
    ...['--unshare-all', '--die-with-parent', '--new-session', 'bash', script],
  ],
}

function namedPeer(text: string): Peer {
  const [, name, line] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (!name || !line) throw new Error(`expected NAME=COMMAND, found ${JSON.stringify(text)}`)
  return {
    name,
    command: (script, { project }) =>
      line.split(' ').map((word) => word.replace('{script}', script).replace('{project}', project)),
  }
}

/** Peers clear the environment in their own ways, so the script brings it along. */
function bringEnvironment(fixture: Fixture): string {
  const quote = (value: string) => `'${value.replaceAll("'", "'\\''")}'`
  const readonly = join(fixture.root, 'readonly')
  const variables = { ...fixture.env, A: join(readonly, 'attacks/usual') }
  const script = join(readonly, 'peer.sh')
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}`)
  writeFileSync(script, `${lines.join('\n')}\n. "${readonly}/driver.sh"\n`)
  return script
}

function heldOf(output: string, attacks: readonly Attack[]): Map<Attack, boolean> {
  const held = new Map<Attack, boolean>()
  for (const [, number, answer] of output.matchAll(/RESULT\t(\d+)\t(.*)/g))
    held.set(attacks[Number(number)]!, !answer!.includes('ESCAPED'))
  return held
}

/** Some peers end with the script's status, some with their own; what counts is what the script could print. */
async function outputOf(argv: readonly string[], cwd: string, input?: string): Promise<string> {
  // The usual hard limit: with one of 0 no sandbox could keep core dumps from the host's crash handler.
  const args = ['-c', 'ulimit -c unlimited 2>/dev/null; exec "$@"', 'bash', ...argv]
  const running = run('bash', args, { cwd, maxBuffer: 64 * 1024 * 1024, timeout: 300_000 })
  running.child.stdin!.end(input)
  return running.then(
    ({ stdout }) => stdout,
    (error: { stdout?: string }) => error.stdout ?? '',
  )
}

/** Runs every attack under Cordon and every peer; each in a world of its own. */
export async function attackPeers(peers: readonly Peer[], user: User): Promise<Map<string, Map<Attack, boolean>>> {
  const results = new Map<string, Map<Attack, boolean>>()
  const inWorld = async (name: string, attempt: (fixture: Fixture) => Promise<string>) => {
    const fixture = await makeFixture(user, ATTACKS)
    try {
      results.set(name, heldOf(await attempt(fixture), ATTACKS))
    } finally {
      await fixture.close()
    }
  }
  const rooms = fileURLToPath(new URL('../test/attacks/rooms.ts', import.meta.url))
  await inWorld('Cordon', (fixture) =>
    outputOf(asUser(user, [process.execPath, rooms]), fixture.project, JSON.stringify(fixture)),
  )
  for (const peer of peers)
    await inWorld(peer.name, (fixture) =>
      outputOf(asUser(user, peer.command(bringEnvironment(fixture), fixture)), fixture.project),
    )
  return results
}

function table(results: ReadonlyMap<string, ReadonlyMap<Attack, boolean>>): string {
  const names = [...results.keys()]
  const cell = (name: string, attack: Attack) => {
    const held = results.get(name)!.get(attack)
    return held === undefined ? 'did not run' : held ? 'held' : '**escaped**'
  }
  const total = (name: string) => {
    const answers = [...results.get(name)!.values()]
    return `${answers.filter(Boolean).length} of ${answers.length} held`
  }
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    line(['Attack', 'About', ...names]),
    line(['---', '---', ...names.map(() => '---')]),
    line(['all', '', ...names.map(total)]),
    ...ATTACKS.map((attack) => line([attack.name, attack.note, ...names.map((name) => cell(name, attack))])),
    '',
  ].join('\n')
}

if (import.meta.main) {
  const given = process.argv.flatMap((word, i) => (process.argv[i - 1] === '--peer' ? [namedPeer(word)] : []))
  process.stdout.write(table(await attackPeers([PLAIN, ...given], usersToTest().at(-1)!)))
}
