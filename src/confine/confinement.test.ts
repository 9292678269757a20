/** What applies to a run, as tables: a manifest, what a caller adds or takes away, and what comes of it. */

import { describe, expect, it } from 'vitest'
import { HOME, pathRule, ROOT, sessionOf } from '../../test/cases/policy-fixture.ts'
import { loadPolicy } from '../project/load/load.ts'
import { machineFiles } from '../system/files.ts'
import { thisMachine } from '../system/machine.ts'
import { confine, type Narrowing, NO_REACH } from './confinement.ts'
import { entitleOwn } from './entitlement.ts'
import { NO_GRANTS } from './run-grants.ts'

const machine = { ...thisMachine(), home: HOME, configDir: `${HOME}/.config/cordon`, stateDir: `${HOME}/state` }

async function confined(manifest: object, narrowing: readonly Narrowing[], words: readonly string[] | null = ['true']) {
  const object = { schema_version: 1, ...manifest }
  const outcome = await loadPolicy({ machine, files: machineFiles, root: ROOT, choice: { kind: 'object', object } })
  if ('problems' in outcome) throw new Error(outcome.problems[0]?.message)
  const command = words === null ? entitleOwn('own') : { words }
  return confine(outcome.loaded, { command, cwd: ROOT }, narrowing)
}

const declared = { capabilities: { allow: { read: { paths: ['src/**'] }, write: { paths: ['src/**'] } } } }
const readAll = { capabilities: { allow: { read: { paths: ['src/**'] } } }, security: { prompt_reads: false } }
const answers = (reads: string[], writes: string[], roots: string[] = []): Narrowing => {
  const grants = {
    ...sessionOf().grants,
    reads: reads.map((text) => pathRule(text)),
    writes: writes.map((text) => pathRule(text)),
  }
  return { kind: 'answers', facts: { ...sessionOf({ grants }), roots } }
}
const reach = (part: Partial<typeof NO_REACH>): Narrowing => ({ kind: 'reach', reach: { ...NO_REACH, ...part } })
const labels = { script: '/state/tool', filesystem: true, execute: true, outputBytes: 1000 }
const server = {
  name: 's',
  argv: ['true'],
  files: { read: [pathRule('docs/**')], write: [pathRule('out/**')] },
  domains: [],
  envVars: ['TOKEN'],
  secrets: [],
  requests: [],
}

/** Rules as they were written, below the project where they are. */
const short = (path: string): string => path.replace(`${ROOT}/`, '').replace(ROOT, '.')

describe('places', () => {
  it.each([
    ['the project, where nothing is declared', {}, [], ['**'], [], true, []],
    ['what is declared, alone', declared, [], ['src/**'], ['src/**'], false, []],
    ['the project, where reads do not ask', readAll, [], ['src/**', '**'], [], true, []],
    ['saved answers, declared or not', {}, [answers(['/srv/a'], ['/srv/b'])], ['**', '/srv/a'], ['/srv/b'], true, []],
    [
      'not a protected path, by an answer',
      declared,
      [answers([], ['.envrc', 'docs/a.md'])],
      ['src/**'],
      ['src/**', 'docs/a.md'],
      false,
      [],
    ],
    ['an added root, where nothing is declared', {}, [answers([], [], ['/srv/w'])], ['**', '/srv/w/**'], [], true, []],
    [
      'an added root, beside what is declared',
      declared,
      [answers([], [], ['/srv/w'])],
      ['src/**', '/srv/w/**'],
      ['src/**', '/srv/w/**'],
      false,
      [],
    ],
    ['a yes to read', {}, [reach({ readOnly: ['/srv/d'] })], ['**', '/srv/d/**'], [], true, ['/srv/d']],
    ['a yes to a secret', declared, [reach({ named: [`${ROOT}/.env`] })], ['src/**', '.env'], ['src/**'], false, []],
    [
      'what was typed with the run',
      declared,
      [{ kind: 'grants', grants: { ...NO_GRANTS, reads: ['/srv/r'], writes: ['/srv/w'] } }],
      ['src/**', '/srv/w/**', '/srv/r/**'],
      ['src/**', '/srv/w/**'],
      false,
      [],
    ],
    ['nothing to write', declared, [{ kind: 'read-only', places: 'all' }], ['src/**'], ['src/**'], false, 'all'],
    ['nothing of the roots to write', {}, [{ kind: 'read-only', places: 'roots' }], ['**'], [], true, ['.']],
    ['a server with its section', declared, [{ kind: 'server', server }], ['docs/**', 'out/**'], ['out/**'], false, []],
    ['a tool with the project', {}, [{ kind: 'labels', labels }], ['**', '/state/tool/**'], [], true, ['/state/tool']],
    [
      'a tool without it',
      declared,
      [{ kind: 'labels', labels: { ...labels, filesystem: false } }],
      ['/state/tool/**'],
      [],
      false,
      [],
    ],
  ] as const)('%s', async (_, manifest, narrowing, read, write, writesRoots, readOnly) => {
    const { places } = await confined(manifest, narrowing as readonly Narrowing[])
    expect(places.read.map(({ pattern }) => short(pattern.absolute))).toEqual(read)
    expect(places.write.map(({ pattern }) => short(pattern.absolute))).toEqual(write)
    expect([places.writesRoots, places.readOnly === 'all' ? 'all' : places.readOnly.map(short)]).toEqual([
      writesRoots,
      readOnly,
    ])
  })
})

describe('limits', () => {
  const timed = { limits: { command_timeout: '5s' } }
  const limited = { limits: { memory: '512', processes: 40, max_output_bytes: '2000' } }
  const time = (ms: number) => ({ kind: 'time', ms, by: 'the call' })
  const ring = (limits: object) => ({ kind: 'ring', limits: { seconds: null, memory: null, ...limits } })
  it.each([
    ['the built-in time', {}, [], { timeoutMs: 120_000 }],
    ['a time in place of the built-in one', {}, [time(1000)], { timeoutMs: 1000 }],
    ['no time in place of it', {}, [time(Number.POSITIVE_INFINITY)], { timeoutMs: undefined }],
    ['what is written stays', timed, [time(Number.POSITIVE_INFINITY)], { timeoutMs: 5000 }],
    ['the shorter of both', timed, [time(1000)], { timeoutMs: 1000, timeoutBy: 'the call' }],
    [
      'the time of a ring',
      timed,
      [ring({ seconds: 2 }), time(2000)],
      { timeoutMs: 2000, timeoutBy: 'seconds of the ring' },
    ],
    ['what is handed on', timed, [time(5000)], { timeoutMs: 5000, timeoutBy: 'command_timeout under [limits]' }],
    ['no time for what lives long', timed, [{ kind: 'long-lived' }], { timeoutMs: undefined }],
    ['a share of the memory', {}, [ring({})], { memoryShare: 0.75, memoryBytes: undefined }],
    ['the memory of a ring', {}, [ring({ memory: 1024 })], { memoryBytes: 1024, memoryShare: undefined }],
    ['the stricter memory', limited, [ring({ memory: 1024 })], { memoryBytes: 512 }],
    [
      'one process without `execute`',
      limited,
      [{ kind: 'labels', labels: { ...labels, execute: false } }],
      { processes: 1 },
    ],
    ['the smaller output', limited, [{ kind: 'labels', labels }], { outputBytes: 1000, processes: 40 }],
  ] as const)('%s', async (_, manifest, narrowing, expected) => {
    const limits: object = (await confined(manifest, narrowing as readonly Narrowing[])).limits
    for (const [name, value] of Object.entries(expected)) expect([name, limits[name as never]]).toEqual([name, value])
  })
})

describe('what a command gets', () => {
  const manifest = {
    capabilities: {
      allow: {
        commands: { patterns: [{ command: 'curl:*', domains: ['a.example.org'], env_vars: ['A'], paths: ['~/x/**'] }] },
      },
    },
    sandbox: { os: { command_tools: ['git'], dev_server_ports: [3000] } },
  }
  const grants = { ...NO_GRANTS, ports: [4000, 3000], env: ['B'], tools: ['gh'] }
  it.each([
    ['by the grant that covers it', ['curl', 'x'], [], ['a.example.org'], ['A'], ['curl:*'], [3000]],
    ['nothing by a grant of another', ['wget', 'x'], [], [], [], [], [3000]],
    ['of its bundle, where it uses the network', ['git', 'fetch'], [], ['github.com'], [], [], [3000]],
    ['nothing of its bundle, where it does not', ['git', 'status'], [], [], [], [], [3000]],
    ['by its section, a server', ['true'], [{ kind: 'server', server }], [], ['TOKEN'], [], [3000]],
    ['with the run', ['x'], [{ kind: 'grants', grants }], ['api.github.com'], ['B'], [], [3000, 4000]],
    ['nothing, of what Cordon starts itself', null, [], [], [], [], [3000]],
  ] as const)('%s', async (_, words, narrowing, hosts, variables, granted, ports) => {
    const confinement = await confined(manifest, narrowing as readonly Narrowing[], words)
    const { network, environment } = confinement
    expect(network.rules.allowed?.map(({ pattern }) => pattern.host)).toEqual(expect.arrayContaining([...hosts]))
    if (hosts.length === 0) expect(network.rules.allowed).toEqual([])
    expect(environment.declared).toEqual(expect.arrayContaining([...variables]))
    expect(environment.declared.filter((name) => ['A', 'B', 'TOKEN'].includes(name))).toEqual(variables)
    expect([confinement.grants, network.ports]).toEqual([granted, ports])
  })
})

it('is a value: the same twice, and nothing of it is a function', async () => {
  const make = () => confined(declared, [answers(['/srv/a'], [])])
  expect(await make()).toEqual(await make())
  const functions: string[] = []
  JSON.stringify(await make(), (name, value) => {
    if (typeof value === 'function') functions.push(name)
    return value
  })
  expect(functions).toEqual([])
})
