/** Path rules on a file system that finds a name under other spellings: none is passed by case, by composition, or by what is not seen. */

import { posix } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BatchChecker } from '../../src/call/decide/batch.ts'
import { machineFiles, storedSpelling } from '../../src/system/files.ts'
import { thisMachine } from '../../src/system/machine.ts'

const HERE = process.platform
beforeAll(() => void Object.defineProperty(process, 'platform', { value: 'darwin' }))
afterAll(() => void Object.defineProperty(process, 'platform', { value: HERE }))

const ROOT = '/Volumes/work/project'
const HOME = '/Users/ada'
/** What is on the disk, as it is stored. */
const STORED = [
  ...[
    '.env',
    'Private/Notes.txt',
    'Caf\u00e9/menu.txt',
    'Gru\u0308\u00dfe/karte.txt',
    'src/ok.txt',
    '.git/hooks/pre-commit',
  ],
  ...['certs/server.key', '.ssh/id_ed25519'],
].map((path) => `${ROOT}/${path}`)
const SECRETS = [`${HOME}/.ssh/id_ed25519`, `${HOME}/.aws/credentials`, `${HOME}/Library/Keychains/login.keychain-db`]
const names = new Map<string, Set<string>>()
for (const path of [...STORED, ...SECRETS])
  for (let at = path; at !== '/'; at = posix.dirname(at))
    names.set(posix.dirname(at), (names.get(posix.dirname(at)) ?? new Set()).add(posix.basename(at)))
const list = (folder: string): string[] => [...(names.get(folder) ?? [])]
const isThere = (path: string): boolean => {
  const stored = storedSpelling(path, list)
  return stored === '/' || list(posix.dirname(stored)).includes(posix.basename(stored))
}
const isDirectory = (path: string): boolean => names.has(storedSpelling(path, list))

/** A Mac's files, as far as a decision reads them. */
const files = {
  ...machineFiles,
  canonical: (path: string) => storedSpelling(posix.resolve(ROOT, path), list),
  exists: isThere,
  isMissing: (path: string) => !isThere(path),
  isDirectory,
  isLink: () => false,
  list: (folder: string) => list(storedSpelling(folder, list)),
}

let state = 23
const chance = (below: number): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 4294967296) * below)
}
const OTHERS: Readonly<Record<string, string>> = { s: '\u017f', k: '\u212a', S: '\u017f', K: '\u212a' }
const UNSEEN = ['\u200c', '\u200d', '\u202e', '\ufeff']

/** The same file by another name. */
function respelled(path: string): string {
  const letters = [...path].map((letter) => {
    const others = [letter, letter.toLowerCase(), letter.toUpperCase(), OTHERS[letter] ?? letter]
    const other = others[chance(4)]!
    const one = [...other].length === 1 ? other : letter
    return letter !== '/' && chance(12) === 0 ? one + UNSEEN[chance(UNSEEN.length)]! : one
  })
  return letters.join('').normalize(chance(2) === 0 ? 'NFC' : 'NFD')
}

const manifest = {
  schema_version: 1,
  permission: { mode: 'contained' },
  capabilities: {
    allow: { read: { paths: ['**'] }, write: { paths: ['**'] } },
    deny: { read: { paths: ['Private/**', 'Caf\u00e9/**', 'Gr\u00fc\u00dfe/**'] } },
  },
}

it('no rule is passed by another spelling, and a grant is not lost by one', async () => {
  const checker = new BatchChecker({ ...thisMachine(), home: HOME, cwd: ROOT }, files, { kind: 'project' })
  const judge = async (tool: string, path: string): Promise<string> => {
    const input = tool === 'write' ? { path, content: 'x' } : { path }
    const answer = await checker.answer(JSON.stringify({ id: path, tool, input, root: ROOT, manifest }))
    return String(answer.decision ?? answer.error)
  }
  const closed = [...STORED.filter((path) => !path.endsWith('ok.txt') && !path.includes('.git')), ...SECRETS]
  const passed: string[] = []
  for (let round = 0; round < 60; round++) {
    for (const path of closed) {
      const other = respelled(path)
      if (!isThere(other)) throw new Error(`${JSON.stringify(other)} is not another spelling of ${path}`)
      if ((await judge('read', other)) === 'allow') passed.push(`read ${JSON.stringify(other)}`)
    }
    const hook = respelled(`${ROOT}/.git/hooks/pre-commit`)
    if ((await judge('write', hook)) === 'allow') passed.push(`write ${JSON.stringify(hook)}`)
  }
  expect(passed).toEqual([])
  expect(await judge('read', respelled(`${ROOT}/src/ok.txt`))).toBe('allow')
})
