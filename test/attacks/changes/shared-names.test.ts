/** A file with a second name: whatever a command does to it by one name, the other name keeps the file as it was (F9). */

import { execFileSync } from 'node:child_process'
import { linkSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UNJUDGED } from '../../../src/undo/conflicts.ts'
import { undoCall } from '../../../src/undo/undo.ts'
import { compile, makePlace, type Place, runInside, startInside } from '../../contract/changes/sandbox.ts'
import { eachUser, giveTo } from '../../users.ts'

/** What the other name is. */
const KINDS = [
  { kind: 'outside', note: 'another project, a store of packages' },
  { kind: 'protected', note: 'a name that programs take settings from' },
  { kind: 'masked', note: 'a secret' },
  { kind: 'inside', note: 'a plain name of the project, created by an earlier call' },
  { kind: 'cache', note: 'a file of a cache that the command may write, with a name outside' },
] as const
type Kind = (typeof KINDS)[number]['kind']

/** By these the name that was meant is not known, so the change is refused with EMLINK. */
const BY_DESCRIPTOR = [
  ...['reopened', 'reopened_truncated', 'reopened_path', 'reopened_removed', 'truncate_by_descriptor'],
  ...['fchmod', 'fchmodat2_empty', 'chmod_by_descriptor', 'fchmod_removed', 'fchmod_replaced'],
  ...['utimensat_empty', 'futimens', 'fsetxattr', 'fremovexattr', 'attribute_by_descriptor'],
]

function refusal(kind: Kind, way: string): string[] {
  // Nothing is moved that has a mask below it.
  if (kind === 'masked' && way === 'folder_moved') return [`${way} 16`]
  // A removed file is kept outside the sandbox, where nothing may be written.
  if (kind !== 'cache' && way === 'reopened_removed') return [`${way} 13`]
  return BY_DESCRIPTOR.includes(way) ? [`${way} 31`] : []
}

eachUser(describe)('as $name', ({ uid }) => {
  let place: Place
  let program = ''
  let ways: readonly string[] = []
  beforeAll(() => {
    place = makePlace(uid)
    program = compile(place, join(import.meta.dirname, 'change-calls.c'), 'change-calls')
    ways = execFileSync(program, ['names'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '')
  })
  afterAll(() => place.remove())

  const top = (kind: Kind, name: string) =>
    join(kind === 'cache' ? join(place.base, 'cache') : place.project, kind + name)
  const other = (kind: Kind, name: string, way: string): string => {
    const beside = { protected: '.envrc', masked: '.env', inside: 'g' }
    return kind === 'outside' || kind === 'cache'
      ? join(place.base, 'outside', kind, name, way)
      : join(top(kind, name), way, beside[kind])
  }
  /** A file for each way to change one, with a second name where the kind has it; `f` itself unless the command makes that. */
  const furnish = (name: string, kinds: readonly Kind[], withName = true): void => {
    const created = kinds.flatMap((kind) =>
      ways.map((way) => {
        const path = other(kind, name, way)
        for (const folder of [join(path, '..'), join(top(kind, name), way)]) mkdirSync(folder, { recursive: true })
        writeFileSync(path, 'the old content\n', { mode: 0o2755 })
        if (withName) linkSync(path, join(top(kind, name), way, 'f'))
        return path
      }),
    )
    execFileSync(program, ['dress', ...created])
    giveTo(uid, place.base)
    execFileSync('chmod', ['2755', ...created])
  }
  const look = (kind: Kind, name: string): string[] =>
    execFileSync(program, ['look', ...ways.map((way) => other(kind, name, way))], { encoding: 'utf8' }).split('\n')
  const options = (name: string, more: object) => ({
    uid,
    masks: ways.map((way) => other('masked', name, way)),
    caches: [join(place.base, 'cache')],
    ...more,
  })
  /** Changes all of them; returns the error of each way, for each kind. */
  const change = (name: string, kinds: readonly Kind[], more: object): string[][] => {
    const script = kinds.map((kind) => `"${program}" change ${top(kind, name)}; echo`).join('\n')
    const { out, errors } = runInside(place, ['/bin/sh', '-c', script], options(name, more))
    expect(errors).toBe('')
    return out
      .trim()
      .split('\n\n')
      .map((part) => part.split('\n'))
  }
  const all = KINDS.map(({ kind }) => kind)

  it('control: without the broker each of them changes the other name', () => {
    furnish('control', all)
    const before = all.map((kind) => look(kind, 'control'))
    change('control', all, { mediated: false })
    const same = all.map((kind, at) =>
      look(kind, 'control').flatMap((line, row) =>
        line === before[at]![row] && line !== '' ? [`${kind} ${ways[row]}`] : [],
      ),
    )
    expect(same.flat()).toEqual([])
  })

  it('none of them changes the other name, and undo restores both as one file', () => {
    furnish('mediated', all)
    const { id, folder } = place.store.begin({ roots: [place.project], what: 'names' })
    giveTo(uid, join(place.base, 'state'))
    const before = all.map((kind) => look(kind, 'mediated'))
    const said = change('mediated', all, { folder })
    expect(all.map((kind) => look(kind, 'mediated'))).toEqual(before)
    for (const [at, kind] of all.entries()) {
      const refused = said[at]!.filter((line) => !line.endsWith(' 0'))
      expect({ kind, refused }).toEqual({ kind, refused: ways.flatMap((way) => refusal(kind, way)) })
    }
    const kept = all.filter((kind) => kind !== 'cache')
    expect(undoCall(place.store, UNJUDGED, id)).toMatchObject({ conflicts: [], failed: [] })
    const inode = (path: string) => lstatSync(path).ino
    for (const kind of kept)
      for (const way of ways)
        expect({ kind, way, inode: inode(join(top(kind, 'mediated'), way, 'f')) }).toEqual({
          kind,
          way,
          inode: inode(other(kind, 'mediated', way)),
        })
    expect(kept.map((kind) => look(kind, 'mediated'))).toEqual(before.slice(0, kept.length))
  })

  it('names that the command itself linked stay names of one file', () => {
    furnish('own', ['inside'], false)
    const before = look('inside', 'own')
    const script = `cd ${top('inside', 'own')}; for way in *; do ln $way/g $way/f; done; exec "${program}" change .`
    const { out } = runInside(place, ['/bin/sh', '-c', script], { uid })
    expect(
      out
        .trim()
        .split('\n')
        .filter((line) => !line.endsWith(' 0')),
    ).toEqual([])
    expect(look('inside', 'own').filter((line, row) => line !== '' && line === before[row])).toEqual([])
  })

  it.each([
    ['control: without the broker', false],
    ['with it', true],
  ] as const)('a protected file that comes while the command runs, by any way: %s', async (_name, mediated) => {
    // What replaces a name replaces all below it; nothing read-only is mounted where nothing existed.
    const [top, go] = [join(place.project, '.envrc'), join(place.project, `go-${mediated}`)]
    const wait = `echo begun; until [ -e ${go} ]; do sleep 0.02; done; exec "${program}" change ${top}`
    const { ended } = await startInside(place, ['/bin/sh', '-c', wait], 'begun', { uid, mediated })
    const files = ways.map((way) => join(top, way, 'f'))
    for (const path of files) {
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, 'the old content\n', { mode: 0o2755 })
    }
    execFileSync(program, ['dress', ...files])
    giveTo(uid, place.base)
    execFileSync('chmod', ['2755', ...files])
    const look = () =>
      execFileSync(program, ['look', ...files], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.startsWith('/'))
    const before = look()
    writeFileSync(go, '')
    await ended
    const same = look().flatMap((line, at) => (line === before[at] ? [ways[at]] : []))
    rmSync(top, { recursive: true })
    expect(same).toEqual(mediated ? ways : [])
  })

  it.each([
    ['control: without the broker', false, true],
    ['with it', true, false],
  ] as const)(
    'a path and a descriptor that change between the check and the call: %s',
    (_name, mediated, isChanged) => {
      const [shared, folder] = [join(place.base, `shared-${mediated}`), join(place.project, `flip-${mediated}`)]
      mkdirSync(folder)
      for (const path of [shared, join(folder, 'own')]) writeFileSync(path, 'x')
      linkSync(shared, join(folder, 'f'))
      execFileSync('chmod', ['600', shared])
      giveTo(uid, shared, folder)
      expect(runInside(place, [program, 'flip', folder, '5000'], { uid, mediated }).status).toBe(0)
      expect((lstatSync(shared).mode & 0o777) !== 0o600).toBe(isChanged)
    },
  )
})
