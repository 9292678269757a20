/** What a command may use up by default: memory, open files, watches. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, test as anyBackend, beforeEach, describe, expect } from 'vitest'
import type { Limits } from '../../../src/sandbox/limits.ts'
import { planIn } from '../../plan-in.ts'
import { own } from '../../users.ts'
import { BACKENDS, rowsOf } from './backends.ts'

const MIB = 1024 ** 2
/** About 64 MiB, and not less than the smallest share. */
const SMALL_SHARE = Math.max(0.001, (64 * MIB) / totalmem())
const MORE_MIB = Math.ceil((SMALL_SHARE * totalmem()) / MIB) * 2

let project: string
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'cordon-limits-'))
})
afterEach(() => rmSync(project, { recursive: true, force: true }))
afterAll(() => {
  for (const { backend } of BACKENDS) backend.release()
})

describe.each(BACKENDS)('$name', ({ backend }) => {
  const { test } = rowsOf(backend)('watched-limits')
  const run = async (script: string, limits: Limits, onViolation: () => void = () => {}) => {
    const plan = planIn(project, ['bash', '-c', script], { limits: { timeoutMs: 240_000, ...limits } })
    return backend.launch(plan, { stdout: 'capture', stderr: 'capture', onViolation })
  }

  /** Takes memory and keeps it for a while: a process that is to be ended waits for it. */
  const hog = (seconds: number) =>
    `perl -e '$x = "x" x ${MORE_MIB * MIB}; sleep ${seconds}; print $x' | wc -c; echo went on`

  test('a process that uses more than the share is ended, and the rest goes on', async () => {
    const { stdout, violations } = await run(hog(200), { memoryShare: SMALL_SHARE })
    expect(stdout!.bytes.toString()).toBe('0\nwent on\n')
    expect(violations).toContainEqual(expect.objectContaining({ kind: 'memory-used-up', certainty: 'observed' }))
  })

  test('files in memory count as well, and nothing but the end frees them', async () => {
    const script = `head -c ${MORE_MIB}M /dev/zero > /tmp/big; sleep 200; echo went on`
    const { stdout, signal, violations } = await run(script, { memoryShare: SMALL_SHARE })
    expect({ out: stdout!.bytes.toString(), signal }).toEqual({ out: '', signal: 'SIGKILL' })
    expect(violations.at(-1)?.message).toContain('all of it was stopped')
  })

  test.each([
    { note: 'no share', limits: {} },
    { note: 'a share that is enough', limits: { memoryShare: 0.75 } },
    {
      note: 'a limit that somebody wrote applies instead',
      limits: { memoryShare: SMALL_SHARE, memoryBytes: 2 ** 34 },
    },
  ])('control: $note', async ({ limits }) => {
    const { stdout, violations } = await run(hog(0), limits)
    expect(stdout!.bytes.toString()).toBe(`${MORE_MIB * MIB}\nwent on\n`)
    expect(violations).toEqual([])
  })

  const met = ({ violations }: Awaited<ReturnType<typeof run>>) =>
    violations.map(({ kind, limit, certainty }) => ({ kind, limit, certainty }))
  const reached = (limit: string, certainty = 'observed') => ({ kind: 'limit-reached', limit, certainty })

  test('processor time: the process that used it up is ended by its own signal, and the limit is named', async () => {
    const own = await run('exec tail -f /dev/null & while :; do :; done', { cpuSeconds: 1 })
    expect({ signal: own.signal, met: met(own) }).toEqual({ signal: 'SIGXCPU', met: [reached('cpu')] })
  })

  const endings = [
    { note: 'of a child', script: 'bash -c "while :; do :; done"; exit $?', ended: { signal: null, code: 152 } },
    { note: 'that is deaf', script: 'trap : XCPU; while :; do :; done', ended: { signal: 'SIGKILL', code: 137 } },
  ]
  // The init, which prepared the sandbox, recognises it by the end alone.
  if (backend === BACKENDS[0]!.backend)
    test.each(endings)('processor time $note', async ({ script, ended }) => {
      const end = await run(script, { cpuSeconds: 1 })
      expect({ signal: end.signal, code: end.exitCode }).toEqual(ended)
      expect(met(end)).toEqual([reached('cpu', 'inferred')])
    })

  test.each([
    { note: 'a few, by a control group or by each user', processes: 20 },
    { note: 'many, by their numbers where the kernel has such', processes: 950 },
  ])('processes: $note; the limit is named while the command goes on', async ({ processes }) => {
    // Not by the shell, which waits for seconds and tries again.
    const forks = `my $n = 0; for (1..${processes + 150}) { my $p = fork; last if !defined $p; sleep 200 if !$p; exit if !$p; $n++ } print "$n\\n"`
    // Without a control group nothing counts refusals: the init sees that all are taken while they are.
    const hold = own.uid === 0 ? '' : 'select undef, undef, undef, 0.02 until -e "named"; '
    const ended = await run(`perl -e '${forks}; ${hold}'; echo went on`, { processes }, () =>
      writeFileSync(join(project, 'named'), ''),
    )
    expect(met(ended)).toEqual([reached('processes')])
    const [created, after] = ended.stdout!.bytes.toString().split('\n')
    // An engine's own are allowed for.
    expect({ fewer: Number(created) < processes + 150, after }).toEqual({ fewer: true, after: 'went on' })
  })

  test('control: limits that nothing meets are not named', async () => {
    const limits = { processes: 50, cpuSeconds: 60, memoryBytes: 2 ** 30 }
    expect(met(await run('sleep 0.1 & wait; exit 3', limits))).toEqual([])
  })

  anyBackend('open files: the hard limit is lowered, the soft one is not raised', async () => {
    const { stdout } = await run('ulimit -Hn; ulimit -Sn', { openFiles: 600 })
    expect(stdout!.bytes.toString()).toBe('600\n600\n')
    const soft = /Max open files +(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))![1]!
    const large = await run('ulimit -Sn', { openFiles: 2 ** 20 })
    expect(Number(large.stdout!.bytes.toString())).toBeLessThanOrEqual(Number(soft))
  })

  test.each(['watches', 'instances'])('half of the %s of inotify are left to the person', async (name) => {
    const whole = Number(readFileSync(`/proc/sys/fs/inotify/max_user_${name}`, 'utf8'))
    const { stdout } = await run(`cat /proc/sys/user/max_inotify_${name}`, {})
    expect(Number(stdout!.bytes.toString())).toBe(Math.floor(whole / 2))
  })
})
