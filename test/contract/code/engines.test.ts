/** Which engine runs a program: none here, one, several, one that lies; many calls at once; and what is left after kill -9. */

import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BUILT_IN_BACKEND, openBackend } from '../../../src/run/open-backend.ts'
import type { ContainerRun } from '../../../src/sandbox/oci/engine.ts'
import type { EngineSet } from '../../../src/sandbox/oci/engine-set.ts'
import { reapStages, stagePlace } from '../../../src/sandbox/oci/stage.ts'
import { containerLimits, openEngines } from '../../../src/session/code/engines.ts'
import { thisMachine } from '../../../src/system/machine.ts'
import { COMPILED } from '../../compiled.ts'
import { until } from '../../until.ts'
import { enginesHere } from './engines-here.ts'

const backend = await openBackend(BUILT_IN_BACKEND)

let base: string
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-engines-')))
  // Engines run as a user of no one's, who has to get there.
  chmodSync(base, 0o755)
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

const settings = (engines: readonly string[], image: string | null = null) => ({
  engines,
  image,
  memoryBytes: 256 * 1024 ** 2,
  seconds: 10,
})
const limits = containerLimits(settings([]), 65_536)
let serial = 0

/** A machine with these engines alone: scripts that stand in for them. */
function machineWith(scripts: Readonly<Record<string, string>>) {
  const home = join(base, `machine-${serial++}`)
  const folder = join(home, 'bin')
  mkdirSync(folder, { recursive: true })
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/bash\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  const machine = {
    ...thisMachine(),
    home,
    stateDir: join(home, 'state'),
    cacheDir: join(home, 'cache'),
    systemDir: join(home, 'etc'),
    configDir: join(home, 'config'),
  }
  const open = (engines: readonly string[], image: string | null = null): EngineSet =>
    openEngines(settings(engines, image), limits, machine, backend, [folder])
  return { home, machine, open }
}

function program(code: string, more: Partial<ContainerRun> = {}): ContainerRun {
  return {
    argv: ['/bin/bash', '{in}/main.sh'],
    source: { name: 'main.sh', bytes: Buffer.from(code) },
    files: [],
    stdin: new Uint8Array(),
    outputs: [],
    limits,
    image: null,
    signal: new AbortController().signal,
    ...more,
  }
}

describe('a machine without engines', () => {
  test('runs in the OS sandbox, and says why', async () => {
    const { open } = machineWith({})
    const { outcome, chosen } = await open(['runsc', 'runc', 'crun', 'podman', 'docker', 'os']).run(
      program('echo hello'),
    )
    expect(outcome).toMatchObject({ engine: 'os', exitCode: 0 })
    expect(outcome.stdout.bytes.toString()).toBe('hello\n')
    expect(chosen.passedOver.map(({ why }) => why)).toEqual(
      ['runsc', 'runc', 'crun', 'podman', 'docker'].map((name) => `${name} is not installed`),
    )
  })

  test('runs nothing where the manifest does not list the OS sandbox', async () => {
    const { open } = machineWith({})
    await expect(open(['runc', 'podman']).run(program('echo hello'))).rejects.toMatchObject({ code: 'no-engine' })
    await expect(open([]).run(program('echo hello'))).rejects.toMatchObject({ code: 'no-engine' })
  })

  test('has no images', async () => {
    const image = `debian@sha256:${'a'.repeat(64)}`
    const { open } = machineWith({})
    await expect(open(['runc', 'os'], image).run(program('true', { image }))).rejects.toMatchObject({
      code: 'no-engine',
    })
    expect(() => open(['docker'], 'debian:latest')).toThrow(/digest/)
  })
})

describe('an engine that', () => {
  const rows = [
    { name: 'fails', script: 'echo broken >&2; exit 1', why: /runs nothing here|could not start/ },
    { name: 'says yes to everything', script: 'exit 0', why: /runs nothing here/ },
    { name: 'says what a probe wants to hear', script: 'echo probed', why: /hands no files out/ },
    {
      name: 'refuses hybrid control groups',
      script: 'echo "cgroups in hybrid mode not supported" >&2; exit 1',
      why: /hybrid/,
    },
    {
      name: 'runs the program without a wall',
      script: `bundle=$(printf '%s\\n' "$@" | grep -A1 -x -- --bundle | tail -1)
in=$(grep -o '"source":"[^"]*/in"' "$bundle/config.json" | cut -d'"' -f4)
cd "$(mktemp -d)" && cp "$in"/files/* . && bash "$in/probe"`,
      why: /does not confine|hands no files/,
    },
  ]
  test.each(rows)('$name is passed over', async ({ script, why }) => {
    const { open } = machineWith({ crun: script })
    const { outcome, chosen } = await open(['crun', 'os']).run(program('echo hello'))
    expect(outcome.engine).toBe('os')
    expect(chosen.passedOver[0]!.why).toMatch(why)
  })

  test('is a client without a daemon is passed over', async () => {
    const { open } = machineWith({ docker: 'echo "Cannot connect to the Docker daemon" >&2; exit 1' })
    const survey = await open(['docker', 'os']).survey()
    expect(survey.map(({ name, support }) => [name, support.works])).toEqual([
      ['docker', false],
      ['os', true],
    ])
  })

  test('worked is remembered for the same program, and only then', async () => {
    const { open, machine } = machineWith({})
    await open(['os']).choose(null)
    const kept = JSON.parse(readFileSync(join(machine.stateDir, 'engines.json'), 'utf8'))
    expect(Object.keys(kept)).toEqual(['os'])
    writeFileSync(
      join(machine.stateDir, 'engines.json'),
      JSON.stringify({ os: { ...kept.os, key: 'another', support: { works: false, why: 'forged' } } }),
    )
    expect((await open(['os']).choose(null)).support.works).toBe(true)
  })
})

describe.each(enginesHere())('%s', (engine) => {
  const { machine } = machineWith0()
  const open = () => openEngines(settings([engine]), limits, machine, backend)
  function machineWith0() {
    const home = join(tmpdir(), `cordon-engine-${engine}-${process.pid}`)
    return { machine: { ...thisMachine(), stateDir: join(home, 'state'), cacheDir: join(home, 'cache') }, home }
  }
  afterAll(() => rmSync(join(tmpdir(), `cordon-engine-${engine}-${process.pid}`), { recursive: true, force: true }))

  test('hands files in and out by name, and nothing else', async () => {
    const run = program('cat given; cat; echo new >out; ln -s /etc/passwd link; mkfifo pipe; mkdir folder', {
      files: [{ name: 'given', bytes: Buffer.from('in\n') }],
      stdin: Buffer.from('input\n'),
      outputs: ['out', 'link', 'pipe', 'folder', 'missing'],
    })
    const { outcome } = await open().run(run)
    expect(outcome.stdout.bytes.toString()).toBe('in\ninput\n')
    expect(outcome.files.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([['out', 'new\n']])
  })

  test('passes the status and the streams on', async () => {
    const { outcome } = await open().run(program('echo one; echo two >&2; exit 7'))
    expect(outcome).toMatchObject({ exitCode: 7, hit: null })
    expect(outcome.stderr.bytes.toString()).toBe('two\n')
  })

  test('ends when it is cancelled', async () => {
    const cancel = new AbortController()
    const running = open().run(program('sleep 60', { signal: cancel.signal }))
    await setTimeout(300)
    cancel.abort()
    await expect(running).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('many calls at once', () => {
  test('queue, and each ends with its own', async () => {
    const { open } = machineWith({})
    const set = open(['os'])
    const count = process.env.CORDON_ENGINES === undefined ? 40 : 200
    const all = await Promise.all(Array.from({ length: count }, (_, index) => set.run(program(`echo ${index}`))))
    expect(all.map(({ outcome }) => outcome.stdout.bytes.toString())).toEqual(all.map((_, index) => `${index}\n`))
  })

  test('one that is cancelled in the queue does not hold it up', async () => {
    const { open } = machineWith({})
    const set = open(['os'])
    const cancel = new AbortController()
    const first = Array.from({ length: 8 }, () => set.run(program('sleep 0.2')))
    const waiting = set.run(program('echo never', { signal: cancel.signal }))
    const last = set.run(program('echo last'))
    cancel.abort()
    await expect(waiting).rejects.toBeDefined()
    expect((await last).outcome.stdout.bytes.toString()).toBe('last\n')
    await Promise.all(first)
  })
})

describe('after kill -9', () => {
  // A daemon's container is not Cordon's child: it ends by its own time limit, and is removed at the next start.
  const local = enginesHere().filter((engine) => engine !== 'docker')
  test.each(local)('%s leaves no process, and the next start the rest', async (engine) => {
    const home = join(base, `killed-${engine}`)
    mkdirSync(home)
    const mark = `8${process.pid}.5`
    const worker = join(import.meta.dirname, 'killed-worker.ts')
    const child = spawn(process.execPath, [worker, engine, mark], {
      env: { PATH: process.env.PATH, HOME: home, ...COMPILED },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    // What runs in gVisor is not to be seen from here; its engine is.
    const named = () => processesNaming(`run-${child.pid}-`)
    await until('it runs', () => (engine === 'runsc' ? named() : sleepersWith(mark)).length > 0)
    child.kill('SIGKILL')
    await until('nothing runs', () => sleepersWith(mark).length === 0 && named().length === 0)
    const place = stagePlace(join(home, '.cache', 'cordon'))
    const mine = () =>
      existsSync(place) ? readdirSync(place).filter((name) => name.startsWith(`run-${child.pid}-`)) : []
    expect(mine()).toHaveLength(1)
    reapStages(place)
    expect(mine()).toEqual([])
  })
})

function processesNaming(text: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) ? [pid] : []
    } catch {
      return []
    }
  })
}

function sleepersWith(mark: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const words = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') : []
      return words[0] === 'sleep' && words[1] === mark ? [pid] : []
    } catch {
      return []
    }
  })
}
