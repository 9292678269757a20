/** `cordon undo` as a person uses it: listed, shown as a diff, restored, redone, and in the record. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Project } from './cordon.ts'

let project: Project
beforeAll(() => {
  project = new Project({
    'cordon.toml': 'schema_version = 1\n[permission]\nmode = "contained"\n',
    'a.txt': 'one\ntwo\nthree\n',
    'gone.txt': 'was here\n',
    'bytes.bin': new Uint8Array([0, 1, 2]),
  })
  project.cordon(['sign', '--yes'])
})
afterAll(() => project.remove())

const text = (path: string) => readFileSync(join(project.directory, path), 'utf8')
const SCRIPT =
  'sed -i s/two/2/ a.txt; rm gone.txt; echo new > new.txt; printf "\\033[8mx" > odd.txt; printf "\\0\\1" > bytes.bin'

it('shows what changed as a diff, puts it back, and redoes it', () => {
  expect(project.cordon(['run', '--', 'sh', '-c', SCRIPT]).code).toBe(0)
  const listed = project.cordon(['undo', '--list']).out
  expect(listed).toContain('2 created, 2 changed, 1 removed')
  const { out } = project.cordon(['undo', '--diff'])
  for (const line of ['-two', '+2', '-was here', '+new']) expect(out).toContain(`    ${line}\n`)
  expect(out).toContain('bytes.bin')
  // The content of a file cannot control the terminal.
  expect(out).not.toContain('\x1b')
  const undone = project.cordon(['undo', '--last'])
  expect([undone.code, text('a.txt'), text('gone.txt')]).toEqual([0, 'one\ntwo\nthree\n', 'was here\n'])
  expect(existsSync(join(project.directory, 'new.txt'))).toBe(false)
  expect(project.cordon(['undo', '--redo']).code).toBe(0)
  expect([text('a.txt'), text('new.txt')]).toEqual(['one\n2\nthree\n', 'new\n'])
})

it('what was done again can be restored again, as often as one likes', () => {
  const before = new Project({ 'a.txt': 'one\n', 'gone.txt': 'was here\n' })
  const at = (path: string) => join(before.directory, path)
  const state = () => [readFileSync(at('a.txt'), 'utf8'), existsSync(at('gone.txt')), existsSync(at('new.txt'))]
  try {
    before.cordon(['run', '--', 'sh', '-c', 'echo 2 > a.txt; rm gone.txt; echo new > new.txt'])
    const id = before.cordon(['undo', '--list']).out.split(' ')[0]!
    for (const words of [['--last'], ['--last'], [id]]) {
      const undone = before.cordon(['undo', ...words])
      expect(undone.out, undone.err).toMatch(/^Undone: .* \(3 changes\)\. Redo with: cordon undo --redo\n$/)
      expect(state()).toEqual(['one\n', true, false])
      expect(readFileSync(at('gone.txt'), 'utf8')).toBe('was here\n')
      const redone = before.cordon(['undo', '--redo'])
      expect(redone.out, redone.err).toMatch(/^Redone: .* \(3 changes\)\. Undo with: cordon undo --last\n$/)
      expect(state()).toEqual(['2\n', false, true])
    }
  } finally {
    before.remove()
  }
})

it('the record has how many were created, changed and removed, their names, and the call', () => {
  const folder = join(project.home, '.local/state/cordon/audit')
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
  const end = lines.map((line) => JSON.parse(line)).find(({ type }) => type === 'end')
  expect(end.changes).toMatchObject({ made: 2, changed: 2, removed: 1, lost: 0 })
  expect(end.changes.names).toContain(`-${join(project.directory, 'gone.txt')}`)
  expect(project.cordon(['undo', '--list']).out).toContain(end.changes.undo)
})

it('says what was decided because of undo', () => {
  const { code, out } = project.cordon(['check', '--json', '--', 'rm -rf src'])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ decision: 'allow', relies: 'undo' })
  expect(project.cordon(['explain', '--', 'rm -rf src']).out).toContain('cordon undo')
})
