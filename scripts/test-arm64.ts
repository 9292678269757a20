/**
 * Runs the arm64 files of the package under qemu-user: the client to its end, and the init as far as an emulated kernel
 * interface goes. It shows that they start, read their setup message and answer in the right form; what they enforce needs such a machine.
 */

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type InitMessage, MESSAGE_BYTES, parseMessage } from '../src/sandbox/bwrap/init-messages.ts'
import { compileFurnishing } from '../src/sandbox/bwrap/launch-compile.ts'
import { NUMBERS } from '../src/sandbox/protocol.ts'
import { planIn } from '../test/plan-in.ts'

process.chdir(resolve(import.meta.dirname, '..'))

const QEMU = 'qemu-aarch64'
/** Loads an addon as Node would, and looks for where it begins. */
const LOADER = `#include <dlfcn.h>
int main(int argc, char **argv) {
  void *addon = argc > 1 ? dlopen(argv[1], RTLD_LAZY) : 0;
  return addon && dlsym(addon, "napi_register_module_v1") ? 0 : 1;
}`
/** Of the sandbox's own system calls qemu-user knows none: the first of them (open_tree) ends the init, which says so. */
const ENOSYS = 38
const base = mkdtempSync(join(tmpdir(), 'cordon-arm64-'))
const file = (name: string): string => join(base, 'native', `cordon-${name}-arm64`)

function need(program: string, install: string): void {
  const found = spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
  if (!found) throw new Error(`${program} is missing: apt install ${install}`)
}

function client(words: readonly string[]): readonly [status: number | null, output: string] {
  const env = { ...process.env, CORDON_RESIDENT: 'off' }
  const { status, stdout } = spawnSync(QEMU, [file('client'), ...words], { env, encoding: 'utf8' })
  return [status, stdout]
}

/** The init as the first process of new namespaces, with this setup message. */
function init(setup: Uint8Array): Promise<readonly InitMessage[]> {
  const layout = [
    '--unshare-all',
    '--uid',
    '0',
    '--as-pid-1',
    '--dev-bind',
    '/',
    '/',
    '--proc',
    '/proc',
    '--tmpfs',
    '/dev/shm',
  ]
  const words = [...layout, '--cap-add', 'ALL', QEMU, file('init'), '3', '4']
  const child = spawn('bwrap', words, { stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe', 'pipe', 'pipe'] })
  const control = child.stdio[3] as Socket
  const chunks: Buffer[] = []
  control.on('data', (chunk) => chunks.push(chunk)).on('error', () => {})
  control.end(setup)
  return new Promise((done) =>
    child.once('close', () => {
      const bytes = Buffer.concat(chunks)
      const frames = Array.from({ length: Math.floor(bytes.length / MESSAGE_BYTES) }, (_, i) =>
        parseMessage(bytes.subarray(i * MESSAGE_BYTES, (i + 1) * MESSAGE_BYTES)),
      )
      done(frames.filter((frame) => frame !== null))
    }),
  )
}

function setup(): Uint8Array {
  const plan = planIn(base, ['/usr/bin/true'])
  return compileFurnishing(plan, { architecture: 'arm64', cgroups: () => null, numbered: false })
}

function loads(addon: string): number | null {
  return spawnSync(QEMU, ['-L', '/usr/aarch64-linux-gnu', join(base, 'loader'), file(addon)]).status
}

function build(): void {
  need(QEMU, 'qemu-user')
  need('bwrap', 'bubblewrap')
  const built = spawnSync('sh', ['native/build.sh', join(base, 'native'), 'every'], { encoding: 'utf8' })
  if (built.status !== 0) throw new Error(built.stderr)
  const words = ['-x', 'c', '-', '-o', join(base, 'loader')]
  const loader = spawnSync('aarch64-linux-gnu-gcc', words, { input: LOADER, encoding: 'utf8' })
  if (loader.status !== 0) throw new Error(loader.stderr)
}

try {
  build()
  const failed = (step: number, errno: number) => [{ kind: 'failed', step, errno, index: 0 }]
  const rows: readonly (readonly [note: string, found: unknown, expected: unknown])[] = [
    ['the client runs what it is given', client(['/bin/echo', 'a b']), [0, 'a b\n']],
    ['the client passes the exit code on', client(['/bin/sh', '-c', 'exit 7']), [7, '']],
    ['the init is nothing but a first process', spawnSync(QEMU, [file('init')]).status, 125],
    [
      'the init refuses a damaged setup message',
      await init(Buffer.from('CORDON2\n\0\0\0\0\0')),
      failed(NUMBERS.step.ORDERS, 22),
    ],
    [
      'the init reads its setup message and opens its name service',
      await init(setup()),
      failed(NUMBERS.step.PROC, ENOSYS),
    ],
    ['the addon that launches loads', loads('launch'), 0],
    ['the addon of the resident loads', loads('serve'), 0],
  ]
  for (const [note, found, expected] of rows) {
    const contains = isDeepStrictEqual(found, expected)
    console.log(`${contains ? 'ok  ' : 'FAIL'} ${note}${contains ? '' : `: ${JSON.stringify(found)}`}`)
    if (!contains) process.exitCode = 1
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}
