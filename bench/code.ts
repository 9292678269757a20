/** What code of a model costs: each engine against itself without Cordon, and one program of fifty calls against fifty calls. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUILT_IN_BACKEND, openBackend } from '../src/run/open-backend.ts'
import { containerRoot } from '../src/sandbox/oci/container-root.ts'
import { findEngineProgram } from '../src/sandbox/oci/local-engine.ts'
import { containerSpec } from '../src/sandbox/oci/spec.ts'
import { containerLimits, openEngines } from '../src/session/code/engines.ts'
import { createCordon } from '../src/session/cordon.ts'
import { thisMachine } from '../src/system/machine.ts'
import { median, printMissing, printTable } from './measure.ts'

const ROUNDS = 15
const COLD_ROUNDS = 9

/** Medians of two ways, run in turns. */
async function compare(ours: () => Promise<unknown>, bare: () => unknown, rounds: number): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds + 2; round++) {
    for (const [side, run] of [ours, bare].entries()) {
      const start = performance.now()
      await run()
      if (round >= 2) times[side]!.push(performance.now() - start)
    }
  }
  return [median(times[0]), median(times[1])]
}

export async function benchCode(): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-bench-code-')))
  const root = join(base, 'project')
  mkdirSync(root)
  for (let index = 0; index < 50; index++) writeFileSync(join(root, `${index}.txt`), `file ${index}\n`)
  const machine = {
    ...thisMachine(),
    stateDir: join(base, 'state'),
    cacheDir: join(base, 'cache'),
    configDir: join(base, 'config'),
  }
  const tools = { python_exec: 'allow', code_exec: 'allow' }
  const cordon = await createCordon({
    project: root,
    machine,
    manifest: { object: { schema_version: 1, permission: { tools } } },
  })
  const rows: string[][] = [['', 'Cordon ms', 'bare ms', 'ratio']]
  const add = (name: string, [ours, bare]: [number, number]) =>
    rows.push([name, ours.toFixed(1), bare.toFixed(1), (ours / bare).toFixed(2)])
  try {
    const session = cordon.openSession()
    const call = async (tool: string, input: object) => {
      const result = await session.call(tool, input)
      if (result.status !== 'done' || result.output.isError) throw new Error(JSON.stringify(result).slice(0, 400))
    }
    if (findEngineProgram('runc') === null) printMissing('a program in runc', 'runc is not installed')
    else add('a program in runc', await compareRunc(base, machine))
    add(
      'python_exec, a fresh interpreter',
      await compare(
        () => call('python_exec', { code: '1 + 1' }),
        () => run(['/usr/bin/python3', '-I', '-c', 'print(1 + 1)']),
        ROUNDS,
      ),
    )
    add(
      'python_exec, a kept one',
      await compare(
        () => call('python_exec', { code: '1 + 1', keep: true }),
        () => run(['/usr/bin/python3', '-I', '-c', 'print(1 + 1)']),
        ROUNDS,
      ),
    )
    const inside = join(import.meta.dirname, '../dist/inside')
    const bareScript = bareQuickjs(base, inside)
    add(
      'code_exec, warm',
      await compare(
        () => call('code_exec', { code: '1 + 1' }),
        () => run([process.execPath, bareScript]),
        ROUNDS,
      ),
    )
    add(
      'code_exec, cold',
      await compare(
        async () => {
          const fresh = cordon.openSession()
          const result = await fresh.call('code_exec', { code: '1 + 1' })
          if (result.status !== 'done') throw new Error('code_exec failed')
          void fresh.close()
        },
        () => run([process.execPath, bareScript]),
        COLD_ROUNDS,
      ),
    )
    const program = 'for (let i = 0; i < 50; i++) await tools.read(i + ".txt")'
    const reads = (one: (index: number) => Promise<void>) => async () => {
      for (let index = 0; index < 50; index++) await one(index)
    }
    const direct = reads((index) => call('read', { path: `${index}.txt` }))
    const single = reads((index) => call('code_exec', { code: `await tools.read("${index}.txt")` }))
    add(
      'a program of fifty calls, against fifty calls of the library',
      await compare(() => call('code_exec', { code: program }), direct, 5),
    )
    add(
      'a program of fifty calls, against fifty programs of one',
      await compare(() => call('code_exec', { code: program }), single, 3),
    )
    printTable('code of a model', rows)
  } finally {
    await cordon.close()
    rmSync(base, { recursive: true, force: true })
  }
}

async function compareRunc(base: string, machine: ReturnType<typeof thisMachine>): Promise<[number, number]> {
  const settings = { engines: ['runc'], image: null, memoryBytes: 256 * 1024 ** 2, seconds: 10 }
  const limits = containerLimits(settings, 65_536)
  const engines = openEngines(settings, limits, machine, await openBackend(BUILT_IN_BACKEND))
  const layout = containerRoot()
  const input = join(base, 'in')
  mkdirSync(input)
  const bundle = join(base, 'bundle')
  for (const path of [
    '/proc',
    '/dev',
    '/tmp',
    '/etc',
    '/in',
    '/out',
    '/work',
    ...layout.shown.filter((one) => !one.includes('cache')),
  ]) {
    mkdirSync(join(bundle, 'rootfs', path), { recursive: true })
  }
  writeFileSync(join(bundle, 'rootfs/etc/ld.so.cache'), '')
  for (const { path, target } of layout.links) symlinkSync(target, join(bundle, 'rootfs', path))
  const spec = containerSpec({
    argv: ['/bin/bash', '-c', 'echo hi'],
    layout,
    in: input,
    outs: [],
    fileBytes: limits.fileBytes,
    rlimits: [],
    seccomp: true,
  })
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec))
  let serial = 0
  return compare(
    () =>
      engines.run({
        argv: ['/bin/bash', '-c', 'echo hi'],
        source: { name: 'main.sh', bytes: Buffer.from('') },
        files: [],
        stdin: new Uint8Array(),
        outputs: [],
        limits,
        image: null,
        signal: new AbortController().signal,
      }),
    () =>
      run(['runc', '--root', join(base, 'state-runc'), 'run', '--bundle', bundle, `bare-${process.pid}-${serial++}`]),
    ROUNDS,
  )
}

/** The engine in a worker of a separate Node, without Cordon. */
function bareQuickjs(base: string, inside: string): string {
  const path = join(base, 'bare.mjs')
  writeFileSync(
    path,
    `import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
const wasm = new WebAssembly.Module(readFileSync(${JSON.stringify(join(inside, 'quickjs.wasm'))}))
const worker = new Worker(${JSON.stringify(join(inside, 'worker.mjs'))}, { workerData: { wasm, busy: new Int32Array(new SharedArrayBuffer(4)) } })
worker.on('message', (frame) => { if (frame.kind === 'done') { console.log(frame.value); process.exit(0) } })
worker.postMessage({ kind: 'run', run: 0, code: '1 + 1', tools: [], limits: { milliseconds: 5000, memoryBytes: 67108864, outputBytes: 65536 } })
`,
  )
  return path
}

function run([program, ...args]: readonly string[]): void {
  const { status, stderr } = spawnSync(program!, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`)
}
