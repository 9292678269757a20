import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { movableOf, unseenSecrets } from './masks-watch.ts'

const identity = (inode: number) => ({ device: 1n, inode: BigInt(inode) })
const isSecret = (path: string) => path.endsWith('.env')

test('what is hidden for its path is not movable, and folders are distinguished from files', () => {
  const masks = {
    files: ['/p/.env', '/p/vault/prod.txt'],
    directories: ['/p/closed'],
    linked: new Map([['/p/vault/prod.txt', '/p/a/.env']]),
    opened: [],
    committed: [],
    installed: [],
    faces: new Map(),
    replaced: new Map(),
    tokens: [],
    skipped: { broken: 0, cycles: 0, directories: 0, certificates: 0, opened: 0, system: 0, installed: 0 },
  }
  const identities = new Map([
    ['/p/.env', identity(1)],
    ['/p/vault/prod.txt', identity(2)],
    ['/p/closed', identity(3)],
  ])
  expect(movableOf(masks, identities)).toEqual({ '/p/.env': '1:1 ', '/p/closed/': '1:3 ' })
})

const rows: readonly [note: string, running: Record<string, string>, own: readonly number[], unseen: string[]][] = [
  ['seen at its path or at another', { '/p/a/.env': '1:1' }, [1], []],
  ['not seen', { '/p/a/.env': '1:1' }, [2], ['/p/a/.env']],
  ['outside what this command can see', { '/q/.env': '1:1' }, [], []],
  ['hidden by a rule that this command does not have', { '/p/a.csv': '1:1' }, [], []],
  ['a folder is never named', { '/p/closed/': '1:1' }, [], ['/p/closed/']],
]

test.each(rows)('%s', (_, running, own, unseen) => {
  const identities = new Map(own.map((inode) => [`/p/${inode}`, identity(inode)]))
  expect(unseenSecrets([running], identities, ['/p'], isSecret)).toEqual(unseen)
})

test('what is missing from an existing folder was removed, what is missing with its folder may come back', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-unseen-'))
  try {
    const { dev, ino } = statSync(folder, { bigint: true })
    const path = join(folder, '.env')
    const look = (names: string) => unseenSecrets([{ [path]: names }], new Map(), [folder], isSecret)
    expect(look(`1:1 ${dev}:${ino}`)).toEqual([])
    expect(look(`1:1 ${dev}:${ino + 1n}`)).toEqual([path])
    writeFileSync(path, '')
    const file = statSync(path, { bigint: true })
    expect(look(`${file.dev}:${file.ino} ${dev}:${ino}`)).toEqual([path])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
