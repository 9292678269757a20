/**
 * Commands of real projects, thousands of them, through a hook and `cordon run` and a resident that is restarted and upgraded in between:
 * afterwards nothing may be left but state within its caps. `npm test -- soak [COMMANDS [FOLDER]]`; with a folder, whose name has to be new
 * or of an earlier part, the next part goes on with its state.
 */

import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const commands = Number(process.argv[2] ?? 5000)
const kept = process.argv[3]
const SAMPLES = 10
/** Samples between two restarts of the resident. */
const LIFE = 5
/** Of its memory, from the first samples of a life to the last. */
const MOST_GROWTH = 1.05
const MOST_STATE_BYTES = 256 * 1024 * 1024

const base = kept === undefined ? mkdtempSync(join(tmpdir(), 'cordon-soak-')) : resolve(kept)
const [home, project, runtime, app] = ['home', 'project', 'runtime', 'app'].map((name) => join(base, name)) as [
  string,
  string,
  string,
  string,
]
const env = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: runtime, CORDON_KEYCHAIN: 'off' }
const cli = [process.execPath, join(app, 'cordon.cjs')]
const client = [join(app, `native/cordon-client-${process.arch}`), ...cli]
/** Commands of the parts before this one. */
const countFile = join(base, 'done')

interface Sample {
  readonly done: number
  readonly pid: number
  readonly bytes: number
  readonly descriptors: number
  readonly processes: number
  readonly mounts: number
  readonly stateBytes: number
}

const problems: string[] = []

function call(program: readonly string[], words: readonly string[], input = ''): { code: number | null; out: string } {
  const [first, ...rest] = [...program, ...words]
  const ran = spawnSync(first!, rest, { cwd: project, env, input, encoding: 'utf8', timeout: 120_000 })
  return { code: ran.status, out: ran.stdout }
}

/** The commands of a project's day, with the exit code. Their number is odd, so that each goes either way. */
const WORK: readonly (readonly [command: string, code: number])[] = [
  ['git status --short', 0],
  ['ls -la && cat README.md', 0],
  ['mkdir -p build && echo new > build/out.txt', 0],
  ['npm test --silent', 0],
  ['rm -rf build', 0],
  ['git grep -n function | sort | uniq -c | head -50', 0],
  ['sh -c "exit 3"', 3],
  ['sed -i s/word/word/ README.md', 0],
  ['python3 -m unittest -q', 0],
  ['for i in 1 2 3; do echo $i > file$i; done; rm file1 file2 file3', 0],
  ['make -s -B && ./sum', 0],
  ['git log --oneline | head -5', 0],
  ['sleep 600 & echo left', 0],
  ['sh fetch.sh', 0],
  ['date >> notes.txt && git add notes.txt && git commit -q -m note', 0],
  ['python3 talk.py', 0],
  ['find . -name "*.ts" | wc -l', 0],
]

/** A checkout of this very repository, and small programs in three languages. */
const FILES: Readonly<Record<string, string>> = {
  'README.md': 'word\n',
  'package.json': '{"name":"soak","scripts":{"test":"node --test tests"}}',
  'tests/sum.test.js': "require('node:test')('adds', () => require('node:assert').equal(1 + 1, 2))\n",
  'test_sum.py':
    'import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(1 + 1, 2)\n',
  'talk.py':
    'import multiprocessing as m\nif __name__ == "__main__":\n    with m.Manager() as one:\n        assert one.list([1])[0] == 1\n',
  'fetch.sh': 'curl -sS -m 5 http://blocked.example/ 2>/dev/null || exit 0\n',
  'sum.c': 'int main(void) { return 1 + 1 - 2; }\n',
  Makefile: 'sum: sum.c\n\t$(CC) -o sum sum.c\n',
  '.gitignore': 'sum\n__pycache__\nfile[123]\nbuild\n',
  'cordon.toml':
    'schema_version = 1\n[permission]\nmode = "contained"\n[security]\nredirects = "all"\n[sandbox.os]\ncommand_tools = ["git", "node", "npm"]\n',
}

function prepare(): void {
  for (const folder of [home, runtime]) mkdirSync(folder, { mode: 0o700, recursive: true })
  upgrade()
  if (existsSync(project)) return
  const git = (...words: string[]) => spawnSync('git', words, { cwd: base, env, stdio: 'inherit' })
  const name = ['-c', 'user.name=soak', '-c', 'user.email=soak@example.org']
  git('clone', '-q', '--depth', '50', ...name, `file://${resolve('.')}`, project)
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(resolve(project, path, '..'), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  git('-C', project, 'add', '-A')
  git('-C', project, 'commit', '-q', '-m', 'soak')
}

/** Replaces the build by the same one in new files, as a package manager does. */
function upgrade(): void {
  const next = `${app}.next`
  for (const old of [next, `${app}.old`]) rmSync(old, { recursive: true, force: true })
  cpSync(resolve('dist'), next, { recursive: true })
  if (existsSync(app)) renameSync(app, `${app}.old`)
  renameSync(next, app)
}

function oneCommand(index: number): void {
  const [command, code] = WORK[index % WORK.length]!
  if (index % 2 === 0) {
    const ran = call(client, ['run', '--', 'sh', '-c', command])
    if (ran.code !== code) problems.push(`run ${index}: ${command} ended with ${ran.code}`)
    return
  }
  const call_ = { tool_name: 'Bash', tool_input: { command }, cwd: project, session_id: `s${index % 7}` }
  const input = JSON.stringify({ ...call_, hook_event_name: 'PreToolUse' })
  const { out } = call(client, ['hook', 'claude-code', '--root', project], input)
  const said = out === '' ? null : (JSON.parse(out) as { hookSpecificOutput?: { updatedInput?: { command: string } } })
  const rewritten = said?.hookSpecificOutput?.updatedInput?.command
  if (rewritten === undefined) return void problems.push(`hook ${index}: ${command} was not rewritten: ${out}`)
  const ran = call(['sh', '-c'], [rewritten])
  if (ran.code !== code) problems.push(`hook ${index}: ${command} ended with ${ran.code}`)
}

function sample(done: number): Sample {
  const { out } = call(cli, ['resident', 'status', '--json'])
  const found = (JSON.parse(out).residents as { pid: number; bytes: number; place: string }[]).find((one) =>
    one.place.startsWith(base),
  )
  const pid = found?.pid ?? 0
  return {
    done,
    pid,
    bytes: found?.bytes ?? 0,
    descriptors: family(pid).reduce((sum, one) => sum + count(`/proc/${one}/fd`), 0),
    processes: ours().length,
    mounts: mounts().size,
    stateBytes: bytesBelow(base),
  }
}

/** Of the machine; what others mount meanwhile is among them, and named where it is more. */
function mounts(): ReadonlySet<string> {
  return new Set(readFileSync('/proc/self/mountinfo', 'utf8').split('\n'))
}

function family(pid: number): readonly number[] {
  if (pid === 0) return []
  const children = readText(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(family)]
}

/** Processes that know this place. */
function ours(): readonly string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && readText(`/proc/${pid}/environ`).includes(base))
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function count(folder: string): number {
  try {
    return readdirSync(folder).length
  } catch {
    return 0
  }
}

function bytesBelow(folder: string): number {
  let sum = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    sum += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0
  }
  return sum
}

/** What must be the same at both ends of one resident's life; a sample may meet a worker that is about to end, its neighbour does not. */
function compare(life: readonly Sample[]): void {
  const least = (ends: readonly Sample[], of: (one: Sample) => number): number => Math.min(...ends.map(of))
  const [first, last] = [life.slice(0, 2), life.slice(-2)]
  const [before, after] = [least(first, (one) => one.bytes), least(last, (one) => one.bytes)]
  if (before === 0) problems.push('no resident served')
  if (after > before * MOST_GROWTH)
    problems.push(`the resident grew from ${megabytes(before)} to ${megabytes(after)} MB`)
  const [opened, open] = [least(first, (one) => one.descriptors), least(last, (one) => one.descriptors)]
  if (open > opened) problems.push(`the resident’s descriptors grew from ${opened} to ${open}`)
}

const megabytes = (bytes: number): number => Math.round((bytes / 1024 / 1024) * 10) / 10

prepare()
const before = Number(readText(countFile))
try {
  if (call(cli, ['sign', '--yes']).code !== 0) throw new Error('the manifest could not be signed')
  const mountsBefore = mounts()
  let life: Sample[] = []
  let lives = 0
  for (let done = 0; done < commands; done++) {
    oneCommand(before + done)
    if ((done + 1) % Math.ceil(commands / SAMPLES) !== 0) continue
    const now = sample(before + done + 1)
    life.push(now)
    console.log(
      `${now.done} commands: resident ${megabytes(now.bytes)} MB, ${now.descriptors} descriptors, ${now.processes} processes, ${now.mounts} mounts, ${megabytes(now.stateBytes)} MB on disk`,
    )
    if (now.stateBytes > MOST_STATE_BYTES) problems.push(`the state takes ${megabytes(now.stateBytes)} MB`)
    if (life.length < LIFE) continue
    compare(life)
    life = []
    // Every second life ends by an upgrade under a resident that runs.
    if (lives++ % 2 === 0) upgrade()
    else call(cli, ['resident', 'stop'])
  }
  if (life.length > 0) compare(life)
  call(cli, ['resident', 'stop'])
  for (let tries = 0; ours().length > 0 && tries < 100; tries++)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  if (ours().length > 0) problems.push(`${ours().length} processes are left`)
  const left = [...mounts()].filter((line) => !mountsBefore.has(line))
  if (left.length > 0) problems.push(`${left.length} mounts are there that were not: ${left.join('; ')}`)
  if (count(join(runtime, 'cordon')) > 0) problems.push('the resident left files in its folder')
  if (call(cli, ['audit', 'verify']).code !== 0) problems.push('the record does not verify')
  writeFileSync(countFile, String(before + commands))
} finally {
  if (kept === undefined) rmSync(base, { recursive: true, force: true })
}
for (const problem of problems.slice(0, 20)) console.log(problem)
console.log(`${before + commands} commands, ${problems.length} problems in the last ${commands}`)
process.exitCode = problems.length === 0 ? 0 : 1
