/** The layout that a worker prepares ahead is the one that the next command would have had, or it is thrown away. */

import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startOf } from '../../../src/system/processes.ts'
import { until } from '../../until.ts'
import { eachUser } from '../../users.ts'
import { type Call, ResidentWorld } from './world.ts'

/** Start times are counted in hundredths of a second. */
const TICKS_MS = 20
const OPEN = 'schema_version = 1\n[permission]\nmode = "contained"\n'
/** First reports which sandbox it is in: by the start time of its init, because the kernel reuses process ids. */
const SANDBOX = 'cut -d" " -f22 /proc/1/stat'

eachUser(describe)('a spare sandbox for $name', (user) => {
  let world: ResidentWorld

  beforeAll(async () => {
    world = new ResidentWorld(user)
  })

  afterAll(() => world.close())

  const folder = (path: string): string => {
    mkdirSync(path)
    chownSync(path, user.uid, user.gid)
    return path
  }
  const childrenOf = (pid: number): readonly number[] => {
    try {
      return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number)
    } catch {
      return []
    }
  }
  /** The inits that wait for a setup message, by start time; those of commands have ended by then. */
  const waiting = (): ReadonlyMap<string, number> => {
    const inits = world.workers().flatMap(childrenOf).flatMap(childrenOf)
    return new Map(
      inits.flatMap((pid) => {
        try {
          return [[startOf(pid)!, pid] as const]
        } catch {
          return []
        }
      }),
    )
  }
  interface Ran {
    readonly layout: string
    readonly out: string
    readonly err: string
  }
  const run = (
    cwd: string,
    script: string,
    { grants = [], ...more }: Call & { readonly grants?: readonly string[] } = {},
  ): Ran => {
    const { out, err } = world.call(['run', ...grants, '--', 'sh', '-c', `${SANDBOX}; ${script}`], { cwd, ...more })
    const [layout = '', ...rest] = out.split('\n')
    return { layout, out: rest.join('\n'), err }
  }
  /** A layout waits, like that of the command that was just run; one that is prepared from here on has another beginning. */
  const laidOut = async (cwd: string, script: string, more = {}): Promise<ReadonlyMap<string, number>> => {
    await world.ready(cwd)
    return until('a layout waits', async () => {
      run(cwd, script, more)
      await sleep(TICKS_MS)
      const found = waiting()
      return found.size > 0 ? found : null
    })
  }
  /** Whether a command runs in one of the sandboxes that wait: again and again, for another worker may be asked. */
  const taken = (cwd: string, script: string, more = {}): Promise<Ran> =>
    until('a command runs in a spare sandbox', async () => {
      const sandboxes = await laidOut(cwd, script, more)
      const ran = run(cwd, script, more)
      return sandboxes.has(ran.layout) ? ran : null
    })

  it('is like one prepared for the command', async () => {
    const plain = world.folder('plain')
    copyFileSync(join(import.meta.dirname, 'surroundings.sh'), join(plain, 'surroundings.sh'))
    const more = {
      input: 'given\n',
      env: { LANG: 'C.UTF-8', TZ: 'Asia/Tokyo' },
      under: ['sh', '-c', 'trap "" HUP; umask 027; exec "$@" 9</dev/null', 'sh'],
    }
    const script = 'cat; echo wrong >&2; . ./surroundings.sh'
    const ahead = await taken(plain, script, more)
    const cold = run(plain, script, { ...more, env: { ...more.env, CORDON_RESIDENT: 'off' } })
    expect({ ...ahead, layout: '' }).toEqual({ ...cold, layout: '' })
    expect(ahead.out).toMatch(/^given\n/)
    expect(ahead.out).toContain('Umask:\t0027')
    expect(ahead.err).toContain('wrong')
  })

  it('is not for another umask, another project or other grants', async () => {
    const project = world.project('granted', OPEN)
    const [other, beside] = [world.folder('other'), world.folder('beside')]
    world.write(join(beside, 'read.txt'), 'beside\n')
    const script = `umask; ls ${beside} 2>/dev/null; pwd`
    await taken(project, script)
    const rows: readonly (readonly [string, () => Ran, string])[] = [
      ['another umask', () => run(project, script, { under: ['sh', '-c', 'umask 077; exec "$@"', 'sh'] }), '0077\n'],
      ['another project', () => run(other, script), `${other}\n`],
    ]
    for (const [note, ask, expected] of rows) {
      const sandboxes = await laidOut(project, script)
      const ran = ask()
      expect([...sandboxes.keys()], note).not.toContain(ran.layout)
      expect(ran.out, note).toContain(expected)
    }
    const sandboxes = await laidOut(project, script)
    expect([...sandboxes.keys()]).not.toHaveLength(0)
    world.write(join(project, 'cordon.toml'), `${OPEN}[capabilities.allow.read]\npaths = ["**", "${beside}"]\n`)
    world.sign(project)
    const more = run(project, script)
    expect([...sandboxes.keys()]).not.toContain(more.layout)
    expect(more.out).toContain('read.txt')
    // And back: what the manifest no longer grants is not shown by the layout of before, which waits.
    await taken(project, script)
    world.write(join(project, 'cordon.toml'), OPEN)
    world.sign(project)
    expect(run(project, script).out).not.toContain('read.txt')
    // One run's grant is in no space of before, and what it granted is not shown by the layout that was prepared after it.
    expect(run(project, script, { grants: ['--read', beside] }).out).toContain('read.txt')
    expect((await taken(project, script, { grants: ['--read', beside] })).out).toContain('read.txt')
    expect(run(project, script).out).not.toContain('read.txt')
  })

  it('hides a secret created after it was prepared', async () => {
    const project = world.project('secret', OPEN)
    folder(join(project, 'deep'))
    const script = 'cat .env deep/.env plain.txt 2>&1'
    await taken(project, script)
    let created = 0
    const ran = await until('in a sandbox prepared before the secrets', async () => {
      for (const path of ['.env', 'deep/.env', 'plain.txt']) rmSync(join(project, path), { force: true })
      const sandboxes = await laidOut(project, script)
      for (const path of ['.env', 'deep/.env', 'plain.txt'])
        world.write(join(project, path), `TOKEN=hunter2-${created++}\n`)
      const seen = run(project, script)
      return sandboxes.has(seen.layout) ? seen : null
    })
    // The control is a file that is not a secret.
    expect(ran.out.split('hunter2')).toHaveLength(2)
  })

  it('shows nothing that replaced what it showed', async () => {
    const [granted, outside] = [world.folder('inner'), world.folder('outside')]
    world.write(join(granted, 'here.txt'), 'granted\n')
    world.write(join(outside, 'here.txt'), 'hunter2\n')
    const project = world.project('links', `${OPEN}[capabilities.allow.read]\npaths = ["**", "${granted}"]\n`)
    const script = `cat ${granted}/here.txt 2>&1`
    expect((await taken(project, script)).out).toContain('granted')

    const sandboxes = await laidOut(project, script)
    renameSync(granted, `${granted}-moved`)
    symlinkSync(outside, granted)
    const linked = run(project, script)
    expect([...sandboxes.keys()]).not.toContain(linked.layout)
    expect(linked.out).not.toContain('granted\n')
    expect(linked.out).toBe(run(project, script, { env: { CORDON_RESIDENT: 'off' } }).out)

    rmSync(granted)
    renameSync(`${granted}-moved`, granted)
    const before = await laidOut(project, script)
    renameSync(project, `${project}-moved`)
    folder(project)
    world.write(join(project, 'cordon.toml'), OPEN)
    world.write(join(project, 'new.txt'), 'new\n')
    world.sign(project)
    const replaced = run(project, 'ls')
    expect([...before.keys()]).not.toContain(replaced.layout)
    expect(replaced.out).toContain('new.txt')
  })

  it('is replaced when it is gone, and goes with its worker', async () => {
    const plain = world.folder('gone')
    await laidOut(plain, 'true')
    await until('every layout is gone, and bubblewrap has seen it', () => {
      for (const pid of waiting().values()) if (startOf(pid) !== null) process.kill(pid, 'SIGKILL')
      return world
        .workers()
        .flatMap(childrenOf)
        .every((pid) => startOf(pid) === null)
    })
    expect(run(plain, 'echo up').out).toBe('up\n')
    const sandboxes = await laidOut(plain, 'true')
    for (const pid of world.workers()) process.kill(pid, 'SIGKILL')
    await until('the sandboxes are gone', () => [...sandboxes.values()].every((pid) => !existsSync(`/proc/${pid}`)))
    const more = await laidOut(plain, 'true')
    world.stopResident()
    await until('the sandboxes are gone', () => [...more.values()].every((pid) => !existsSync(`/proc/${pid}`)))
    expect(readdirSync(plain)).toEqual([])
  })
})
