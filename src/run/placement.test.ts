import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { policyOf, sourced } from '../../test/cases/policy-fixture.ts'
import { type Places, projectPlaces } from '../confine/confinement.ts'
import { parsePathPattern } from '../files/path-pattern.ts'
import type { SandboxSettings } from '../manifest/schema/settings.ts'
import type { PathRule, PathRules, Policy } from '../policy/policy.ts'
import { machineFiles } from '../system/files.ts'
import { namedForWriting, placeCommand, restrictCommand } from './placement.ts'

let base: string
let root: string
let home: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-placement-')))
  root = join(base, 'project')
  home = join(base, 'home')
  for (const path of ['project/src/a.ts', 'project/src/deep/b.ts', 'project/README.md', 'project/docs/a.md']) put(path)
  for (const path of ['home/diary.txt', 'home/notes/a.md']) put(path)
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

function put(path: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true })
  writeFileSync(join(base, path), '')
}

function rule(text: string, files: readonly string[] | null = null): PathRule {
  const parsed = parsePathPattern(text, { root, home, files })
  if ('problem' in parsed) throw new Error(parsed.problem)
  return { pattern: parsed.pattern, prompt: false, rule: text, source: 'test' }
}

const rules = (...allow: PathRule[]): PathRules => ({ allow, deny: [], declared: true })

function placesOf(changes: Partial<Policy>): Places {
  const policy = policyOf({ root, home, ...changes })
  return projectPlaces({ policy, sandbox })
}

const sandbox = {
  commandFs: sourced('system'),
  maskSecrets: sourced(true),
  maskTracked: sourced(false),
  maskedNames: [],
} as unknown as SandboxSettings

function place(changes: Partial<Policy>, narrowed: Partial<Places> = {}) {
  const { reads, writes } = placeCommand({ ...placesOf(changes), ...narrowed }, machineFiles)
  const short = (path: string) => path.replace(`${base}/`, '')
  return { reads: reads.map(short).sort(), writes: writes.map(short).sort() }
}

describe('what a command is shown', () => {
  it('is the project where nothing is declared', () => {
    expect(place({})).toEqual({ reads: ['project'], writes: ['project'] })
    const additionalDirectories = [sourced(join(home, 'notes'))]
    expect(place({ additionalDirectories })).toEqual({
      reads: ['home/notes', 'project'],
      writes: ['home/notes', 'project'],
    })
  })

  it('is a directory as a whole, a file, or the files that a pattern matches', () => {
    expect(place({ reads: rules(rule('src/**'), rule('README.md')) }).reads).toEqual([
      'project/README.md',
      'project/src',
    ])
    expect(place({ reads: rules(rule('src/*.ts')) }).reads).toEqual(['project/src/a.ts'])
    expect(place({ reads: rules(rule('**', ['*.ts'])) }).reads).toEqual(['project/src/a.ts', 'project/src/deep/b.ts'])
    expect(place({ reads: rules(rule('nowhere/**')) }).reads).toEqual([])
    put('project/src/notes.txt')
    expect(place({ reads: rules(rule('src', ['*.ts'])) }).reads).toEqual(['project/src/a.ts'])
    expect(place({ reads: rules(rule('README.md', ['*.ts'])) }).reads).toEqual(['project/README.md'])
  })

  it('may be changed where it may be written, and inside the envelope', () => {
    const declared = { reads: rules(rule('**')), writes: rules(rule('src/**')) }
    expect(place(declared)).toEqual({ reads: ['project', 'project/src'], writes: ['project/src'] })
    expect(place({ ...declared, envelope: [rule('src/deep/**'), rule('docs/**')] }).writes).toEqual([
      'project/src/deep',
    ])
    // A grant outside the roots is for reading unless it is a write grant.
    expect(place({ reads: rules(rule('src/**'), rule('~/notes/**')) })).toEqual({
      reads: ['home/notes', 'project/src'],
      writes: ['project/src'],
    })
  })
})

describe('what stays read-only', () => {
  const undeclared = () => ({})
  const declared = () => ({
    reads: rules(rule('**'), rule('~/notes/**')),
    writes: rules(rule('src/**'), rule('~/notes/**')),
  })
  it.each([
    ['everything', undeclared, 'all', []],
    ['everything that was declared', declared, 'all', []],
    ['the project, and not what is outside', declared, ['project'], ['home/notes']],
    ['a folder that a write grant names', declared, ['project/src', 'home'], []],
    ['nothing', declared, [], ['home/notes', 'project/src']],
  ] as const)('%s', (_, changes, readOnly, writes) => {
    const places = readOnly === 'all' ? readOnly : readOnly.map((path) => join(base, path))
    expect(place(changes(), { readOnly: places }).writes).toEqual(writes)
  })

  it('is kept in place inside what may be written', () => {
    const places = { ...placesOf({}), readOnly: [join(root, 'docs'), join(home, 'notes')] }
    const { writes, frozen } = placeCommand(places, machineFiles)
    expect([writes, frozen]).toEqual([[root], [join(root, 'docs')]])
  })
})

describe('a link in the project', () => {
  it.each([
    ['a file that is named', 'README.md', rule.bind(null, 'README.md', null), 'home/diary.txt'],
    ['a directory that is named', 'docs', rule.bind(null, 'docs', null), 'home'],
    ['a tree', 'docs', rule.bind(null, 'docs/**', null), 'home'],
    ['one of several files', 'src/x.ts', rule.bind(null, 'src/*.ts', null), 'home/diary.txt'],
    ['a file by its name', 'src/x.ts', rule.bind(null, 'src', ['*.ts']), 'home/diary.txt'],
    ['a directory on the way', 'src/out', rule.bind(null, 'src/*/*.txt', null), 'home'],
    ['the start of a pattern', 'docs', rule.bind(null, 'docs/*.txt', null), 'home'],
  ])('instead of %s points nowhere', (_, link, granted, target) => {
    rmSync(join(root, link), { recursive: true, force: true })
    symlinkSync(join(base, target), join(root, link))
    const shown = place({ reads: rules(granted(), rule('src/**')), writes: rules(granted(), rule('src/**')) })
    expect([...shown.reads, ...shown.writes].filter((path) => !path.startsWith('project/src'))).toEqual([])
  })

  it('points to what is granted by itself, and to nothing else of the project', () => {
    symlinkSync('docs', join(root, 'manual'))
    expect(place({ reads: rules(rule('manual/**')) }).reads).toEqual([])
    expect(place({ reads: rules(rule('manual/**'), rule('docs/**')) }).reads).toEqual(['project/docs'])
    symlinkSync(join(home, 'notes'), join(root, 'notes'))
    expect(place({ reads: rules(rule('notes/**'), rule('~/notes/**')) }).reads).toEqual(['home/notes'])
  })

  it('does not widen the envelope', () => {
    rmSync(join(root, 'docs'), { recursive: true })
    symlinkSync('src', join(root, 'docs'))
    expect(place({ envelope: [rule('docs/**')] }).writes).toEqual([])
  })

  it('outside is the person\u2019s own, and followed', () => {
    symlinkSync(join(home, 'notes'), join(home, 'linked'))
    expect(place({ reads: rules(rule('~/linked/**')) }).reads).toEqual(['home/notes'])
  })
})

it('what is denied is found now, at the end of its links as well', () => {
  symlinkSync('a.ts', join(root, 'src/private.ts'))
  const places = placesOf({
    reads: { allow: [], deny: [rule('src/private.ts')], declared: false },
    writes: { allow: [], deny: [rule('docs/**')], declared: false },
  })
  const { hidden, frozen } = restrictCommand(places, placeCommand(places, machineFiles), machineFiles)
  expect(hidden).toEqual([join(root, 'src/a.ts')])
  expect([...frozen].sort()).toEqual([join(root, 'docs'), join(root, 'docs/a.md')])
})

it('a grant of some files of a protected directory names those, and not the directory', () => {
  const named = (...allow: PathRule[]) => namedForWriting(allow, machineFiles).map((path) => path.slice(root.length))
  expect(named(rule('docs'))).toEqual(['/docs'])
  expect(named(rule('docs', ['a.md', '*.txt']))).toEqual(['/docs/a.md'])
  expect(named(rule('README.md', ['*.ts']))).toEqual(['/README.md'])
})

it('finds a few files by name among more than it would take one by one', () => {
  const folder = join(root, 'many')
  mkdirSync(folder)
  const names = Array.from({ length: 20_100 }, (_, at) => `f${at}.txt`)
  const files = {
    ...machineFiles,
    entries: (path: string) =>
      path === folder ? [...names, '.env'].map((name) => ({ name, isFolder: false })) : machineFiles.entries!(path),
  }
  put('project/.env')
  const placed = (file: string) => placeCommand(placesOf({ reads: rules(rule('**', [file])) }), files)
  expect(placed('.env').reads).toEqual(expect.arrayContaining([join(root, '.env'), join(folder, '.env')]))
  expect(() => placed('*.txt')).toThrow(/more than 20000 files in .* match/)
})
