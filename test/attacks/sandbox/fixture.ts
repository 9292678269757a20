/** A small world to attack: a project with secrets and protected paths, places outside it, and stand-ins for host services. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Pin } from '../../../src/sandbox/plan.ts'
import { asUser, type User } from '../../users.ts'
import type { Attack, Layout } from './attack.ts'

const SANDBOXES: readonly Layout[] = ['usual', 'unix', 'all', 'terminal']

export interface Fixture {
  readonly root: string
  readonly project: string
  readonly env: Readonly<Record<string, string>>
  readonly masks: readonly string[]
  readonly pins: readonly Pin[]
  /** What must still be true on the host after every attack; an empty list is good. */
  damage(): string[]
  close(): Promise<void>
}

const SECRET = 'TOPSECRET\n'

function listTree(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
}

/** Compiles the prober once into a folder. */
export function buildProber(folder: string): string {
  const target = join(folder, 'prober')
  const source = fileURLToPath(new URL('./prober.c', import.meta.url))
  execFileSync('cc', ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-static', '-o', target, source])
  chmodSync(target, 0o755)
  return target
}

const DRIVER = `cd "$P" || exit 1
for file in "$A"/*.sh; do
  if [ -n "$RESET" ]; then
    awk -v p="$P/" 'index($5, p) == 1 { print $5 }' /proc/self/mountinfo | sort -r | xargs -r -n1 umount -l
    cd /; rm -rf "$P"; cp -a "$TEMPLATE" "$P"; echo untouched > "$R/file"; cd "$P"
  fi
  # Enough time for anything that works, and an end for what hangs.
  output=$(timeout --foreground -k 1 10 bash "$file" 2>&1 | head -c 200 | tr '\\n\\t' '  ')
  printf 'RESULT\\t%s\\t%s\\n' "$(basename "$file" .sh)" "$output"
done
`

function writeProject(project: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(join(project, path, '..'), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  write('.env', SECRET)
  write('deep/a/b/id_rsa', SECRET)
  write('.state/key', SECRET)
  write('src/main.c', 'int main(void) { return 0; }\n')
  write('cordon.toml', 'schema_version = 1\n')
  write('.vscode/tasks.json', '{}\n')
  for (const repository of ['.', 'sub/repo']) {
    mkdirSync(join(project, repository), { recursive: true })
    execFileSync('git', ['init', '-q', join(project, repository)])
    write(join(repository, '.git/hooks/post-commit'), '#!/bin/sh\n')
  }
  symlinkSync('../outside/secret', join(project, 'link-out'))
  symlinkSync('../outside/target', join(project, 'link-out-write'))
}

/** Makes the world for one user, with every attack's script in it. */
export async function makeFixture(user: User, attacks: readonly Attack[]): Promise<Fixture> {
  // Not in /tmp: the sandbox has its own, where writing is not an escape.
  const root = mkdtempSync('/var/tmp/cordon-attack-')
  const place = (name: string) => join(root, name)
  const [project, outside, readonly, home, sockets] = [
    place('project'),
    place('outside'),
    place('readonly'),
    place('home'),
    place('sockets'),
  ]
  for (const folder of [project, outside, join(outside, 'state'), readonly, home, sockets]) mkdirSync(folder)
  writeProject(project)
  for (const path of ['outside/secret', 'outside/state/key', 'home/notes']) writeFileSync(place(path), SECRET)
  writeFileSync(place('outside/target'), 'untouched\n')
  writeFileSync(join(readonly, 'file'), 'untouched\n')
  const prober = buildProber(readonly)
  writeFileSync(join(readonly, 'driver.sh'), DRIVER)
  for (const layout of SANDBOXES) mkdirSync(join(readonly, 'attacks', layout), { recursive: true })
  attacks.forEach((attack, i) => {
    writeFileSync(join(readonly, 'attacks', attack.layout, `${String(i).padStart(4, '0')}.sh`), attack.script)
  })
  execFileSync('cp', ['-a', project, place('template')])
  execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, root])
  chmodSync(root, 0o755)

  const shmFile = `cordon-attack-${process.pid}-${user.uid}`
  const tmpFile = join(tmpdir(), shmFile)
  for (const path of [`/dev/shm/${shmFile}`, tmpFile]) {
    writeFileSync(path, SECRET)
    chownSync(path, user.uid, user.gid)
  }
  const abstract = `cordon-attack-${process.pid}-${user.uid}`
  const key = 0x0c0d0000 + (process.pid % 0x8000) * 2 + (user.uid === 0 ? 0 : 1)
  const service = await startService(user, [prober, 'serve', sockets, abstract, String(key), 'cordon-attack-sleeper'])
  const server = await listen()

  const before = {
    outside: listTree(outside),
    readonly: listTree(readonly),
    hooks: listTree(join(project, '.git/hooks')),
  }
  return {
    root,
    project,
    env: {
      PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
      LC_ALL: 'C.UTF-8',
      P: project,
      O: outside,
      R: readonly,
      H: home,
      HOME: home,
      PROBER: prober,
      SOCKETS: sockets,
      ABSTRACT: abstract,
      SHMKEY: String(key),
      SHMFILE: shmFile,
      TMPFILE: tmpFile,
      HOSTPID: String(service.pid),
      PORT: String((server.address() as { port: number }).port),
      TEMPLATE: place('template'),
      SETUIDTAR: setuidArchive(outside),
    },
    masks: ['.env', 'deep/a/b/id_rsa', '.state'].map((path) => join(project, path)).concat(join(outside, 'state')),
    pins: ['cordon.toml', '.git/hooks', 'sub/repo/.git/hooks', '.vscode/tasks.json'].map((path) => ({
      path: join(project, path),
      mode: 'read-only',
    })),
    damage: () => {
      const found: string[] = []
      const expect = (what: string, now: unknown, then: unknown) => {
        if (JSON.stringify(now) !== JSON.stringify(then)) found.push(`${what}: ${JSON.stringify(now)}`)
      }
      expect('outside', listTree(outside), before.outside)
      expect('read grant', listTree(readonly), before.readonly)
      expect('hooks', listTree(join(project, '.git/hooks')), before.hooks)
      for (const path of ['project/.env', 'project/deep/a/b/id_rsa', 'project/.state/key', 'outside/secret'])
        expect(path, readFileSync(place(path), 'utf8'), SECRET)
      for (const path of ['outside/target', 'readonly/file'])
        expect(path, readFileSync(place(path), 'utf8'), 'untouched\n')
      expect('manifest', readFileSync(join(project, 'cordon.toml'), 'utf8'), 'schema_version = 1\n')
      expect('tasks', readFileSync(join(project, '.vscode/tasks.json'), 'utf8'), '{}\n')
      return found
    },
    close: async () => {
      service.kill('SIGTERM')
      await new Promise<void>((resolve) => server.close(() => resolve()))
      for (const path of [root, `/dev/shm/${shmFile}`, tmpFile]) rmSync(path, { recursive: true, force: true })
    },
  }
}

/** An archive with a setuid file in it, as text. */
function setuidArchive(folder: string): string {
  const file = join(folder, 'setuid')
  writeFileSync(file, '')
  chmodSync(file, 0o4755)
  const archive = execFileSync('tar', ['czp', '-C', folder, 'setuid'])
  rmSync(file)
  return archive.toString('base64')
}

function startService(user: User, argv: readonly string[]): Promise<ChildProcess> {
  const [program, ...rest] = asUser(user, argv)
  const child = spawn(program!, rest, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: '/usr/bin:/bin', HOSTSECRET: 'yes' },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the stand-in service ended with ${code}`)))
    child.stdout!.once('data', () => resolve(child))
  })
}

function listen(): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}
