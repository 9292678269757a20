/** Hostile components, as root and as a user: each is stopped with the limit's name, or finds nothing to reach. */

import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildComponent } from '../../src/chat/component/files.ts'
import { BUILT_IN_BACKEND, openBackend } from '../../src/run/open-backend.ts'
import { thisMachine } from '../../src/system/machine.ts'
import { runAside } from '../contract/code/run-aside.ts'
import { asUser, eachUser } from '../users.ts'
import { componentTools } from './component-tools.ts'
import type { Attempt } from './component-worker.ts'

interface Came {
  readonly name: string
  readonly value: string | null
  readonly error: string | null
  readonly limit: string | null
  readonly stderr: string
}

interface Row {
  readonly name: string
  readonly task: string
  /** Of memory, where it is to meet another limit. */
  readonly megabytes?: number
  /** Its result with the wall: a limit, or words. */
  readonly ends: { readonly limit: string } | { readonly value: RegExp } | { readonly error: RegExp }
  /** The same without, smaller where it would not end, and what it then says. */
  readonly control?: { readonly task: string; readonly says: RegExp }
}

const PROGRAMS: readonly Row[] = [
  {
    name: 'a loop',
    task: 'loops 60000',
    ends: { limit: 'time' },
    control: { task: 'loops 1200', says: /still here/ },
  },
  {
    name: 'a pattern that backtracks',
    task: 'pattern 60',
    ends: { limit: 'time' },
    control: { task: 'pattern 22', says: /tried/ },
  },
  {
    name: 'memory',
    task: 'memory 300',
    ends: { limit: 'memory' },
    control: { task: 'memory 300', says: /got 300/ },
  },
  {
    name: 'a flood of words',
    task: 'floods 100',
    megabytes: 512,
    ends: { limit: 'output' },
    control: { task: 'floods 100', says: /flooded/ },
  },
  {
    name: 'calls without end',
    task: 'calls 20000',
    ends: { limit: 'calls' },
    control: { task: 'calls 20000', says: /called/ },
  },
  {
    name: 'a tool that is not its own',
    task: 'tool',
    ends: { value: /^refused: write is not among/ },
    control: { task: 'tool', says: /did/ },
  },
  { name: 'a file that may not be read', task: 'secret /etc/shadow', ends: { value: /^refused: Denied/ } },
  { name: 'a model that it was not given', task: 'model', ends: { value: /^refused: this component has no model/ } },
  { name: 'more than its quota', task: 'quota', ends: { value: /^refused: the storage is full/ } },
  {
    name: 'names of the host',
    task: 'globals',
    ends: { value: /^found $/ },
    control: { task: 'globals', says: /process/ },
  },
  { name: 'its own prototypes', task: 'pollutes', ends: { value: /^x 1$/ } },
]

/** Components in their text form: what a source in JavaScript cannot say. */
const TEXTS: readonly { readonly name: string; readonly wat: string; readonly ends: Row['ends'] }[] = [
  {
    name: 'a start function that does not end',
    wat: '(component (core module $m (func $f (loop br 0)) (start $f)) (core instance (instantiate $m)))',
    ends: { limit: 'time' },
  },
  {
    name: 'a memory of four gigabytes',
    wat: '(component (core module $m (memory 65536)) (core instance (instantiate $m)))',
    ends: { limit: 'memory' },
  },
  {
    name: 'several memories in one module',
    wat: '(component (core module $m (memory 900) (memory 900)) (core instance (instantiate $m)))',
    ends: { error: /multiple memories/ },
  },
  {
    name: 'a memory of 64 bits',
    wat: '(component (core module $m (memory i64 1000000)) (core instance (instantiate $m)))',
    ends: { error: /memory|64/i },
  },
  {
    name: 'tables without end',
    wat: `(component (core module $m (table 10000000 funcref)) ${'(core instance (instantiate $m)) '.repeat(60)})`,
    ends: { limit: 'memory' },
  },
  {
    name: 'a function that the interface does not have, by a name that every object has',
    wat: `(component
      (import "cordon:agent/tools@0.1.0" (instance $i (export "to-string" (func (result u32)))))
      (core func $f (canon lower (func $i "to-string")))
      (core module $m (import "" "f" (func $f (result i32))) (func $s (drop (call $f))) (start $s))
      (core instance (instantiate $m (with "" (instance (export "f" (func $f)))))))`,
    ends: { error: /toString|not a function|undefined/ },
  },
  {
    name: 'an import of WASI below its own component',
    wat: '(component (component (import "wasi:cli/environment@0.2.0" (instance))) (import "wasi:cli/environment@0.2.0" (instance)))',
    ends: { error: /it imports wasi:cli\/environment@0\.2\.0/ },
  },
  {
    name: 'nothing to run',
    wat: '(component)',
    ends: { error: /run is not a function|nothing runs it/ },
  },
]

const SECONDS = 2
let base: string
let files: Map<string, string>

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-components-')))
  chmodSync(base, 0o755)
  const state = join(base, 'maker', 'cordon')
  mkdirSync(state, { recursive: true, mode: 0o700 })
  symlinkSync(componentTools(), join(state, 'component-tools'))
  const source = join(import.meta.dirname, 'hostile.js')
  const created = await buildComponent(
    { ...thisMachine(), stateDir: state },
    await openBackend(BUILT_IN_BACKEND),
    source,
  )
  files = new Map([['program', join(base, 'program.wasm')]])
  writeFileSync(join(base, 'program.wasm'), created)
  const { parse } = createRequire(join(componentTools(), 'package.json'))('@bytecodealliance/jco') as {
    parse: (text: string) => Promise<Uint8Array>
  }
  for (const [index, { name, wat }] of TEXTS.entries()) {
    files.set(name, join(base, `${index}.wasm`))
    writeFileSync(join(base, `${index}.wasm`), await parse(wat))
  }
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

eachUser(describe)('as $name', (user) => {
  let came: readonly Came[]
  beforeAll(async () => {
    const home = join(base, `home-${user.uid}`)
    const state = join(home, '.local', 'state', 'cordon')
    const root = join(home, 'project')
    for (const folder of [root, state]) mkdirSync(folder, { recursive: true })
    symlinkSync(componentTools(), join(state, 'component-tools'))
    for (const path of [home, root, join(home, '.local'), join(home, '.local/state'), state])
      chownSync(path, user.uid, user.gid)
    const attempts: Attempt[] = [
      ...PROGRAMS.map(({ name, task, megabytes = 64 }) => ({
        name,
        task,
        file: files.get('program')!,
        seconds: SECONDS,
        megabytes,
      })),
      ...TEXTS.map(({ name }) => ({ name, task: '', file: files.get(name)!, seconds: SECONDS, megabytes: 64 })),
    ]
    // Not time is what these are to meet.
    const patient = attempts.map((one) => (limitOf(one.name) === 'time' ? one : { ...one, seconds: 120 }))
    const worker = join(import.meta.dirname, 'component-worker.ts')
    const words = asUser(user, [process.execPath, worker, root, JSON.stringify(patient)])
    const { stdout, stderr, status } = await runAside(words, { PATH: process.env.PATH ?? '', HOME: home })
    expect(status, stderr).toBe(0)
    came = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Came)
  })

  test.each([...PROGRAMS, ...TEXTS])('$name', ({ name, ends }) => {
    const result = came.find((one) => one.name === name)!
    const reported = JSON.stringify(result)
    if ('limit' in ends) expect(result.limit, reported).toBe(ends.limit)
    else if ('value' in ends) expect(result.value, reported).toMatch(ends.value)
    else expect(result.error, reported).toMatch(ends.error)
  })
})

function limitOf(name: string): string | null {
  const ends = [...PROGRAMS, ...TEXTS].find((one) => one.name === name)!.ends
  return 'limit' in ends ? ends.limit : null
}

const STUBS = `const log = console.error, complete = () => '', kept = {}, get = (k) => kept[k], set = (k, v) => { kept[k] = v }, call = () => '{}', catalog = () => '[]'`

test.each(PROGRAMS.flatMap(({ name, control }) => (control ? [{ name, ...control }] : [])))(
  'without the wall: $name',
  async ({ task, says }) => {
    const text = readFileSync(join(import.meta.dirname, 'hostile.js'), 'utf8').replace(/^import .*$/gm, '')
    const program = `${STUBS}\n${text.replace('export ', '')}\nconsole.log(await run(${JSON.stringify(task)}))`
    const { stdout } = await runAside([process.execPath, '--input-type=module', '-e', program], {
      PATH: process.env.PATH ?? '',
    })
    expect(stdout.slice(-400)).toMatch(says)
  },
)
