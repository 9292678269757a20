/** `--json` on every command: one value (or one a line) that fits its schema, errors and usage errors included. */

import { Ajv } from 'ajv'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commands } from '../../src/surfaces/cli/start/commands.ts'
import { Project } from './cordon.ts'
import { ERROR, JSON_ROWS, OTHERS } from './json-schemas.ts'

const ajv = new Ajv({ strict: false })
const env = { CORDON_KEYCHAIN: 'off' }
let project: Project
beforeAll(() => {
  project = new Project({ 'a.txt': 'a\n', 'cordon.toml': 'schema_version = 1\n' })
  project.cordon(['sign', '--yes'], { env })
  project.cordon(['run', '--', 'true'], { env })
})
afterAll(() => project.remove())

function fits(text: string, schema: object): string {
  return ajv.validate(schema, JSON.parse(text)) ? 'fits' : `${ajv.errorsText()}: ${text.slice(0, 500)}`
}

it.each(JSON_ROWS)('cordon $line', ({ line, schema, lines, input = '' }) => {
  const [words, command] = line.split(' -- ') as [string, string | undefined]
  const args = [...words.split(' '), '--json', ...(command === undefined ? [] : ['--', command])]
  const { out, err } = project.cordon(args, { input, env })
  const texts = lines ? out.trim().split('\n') : [out]
  expect(out, err).not.toBe('')
  for (const text of texts) expect(fits(text, schema)).toBe('fits')
})

it('every command has a row, or a reason', () => {
  const shown = new Set(JSON_ROWS.map(({ line }) => line.split(' ')[0]))
  expect(commands.map(({ name }) => name).filter((name) => !shown.has(name) && !(name in OTHERS))).toEqual([])
})

it.each([...commands.map(({ name }) => name), 'nonsense', 'help nonsense'])('a slip with cordon %s', (name) => {
  const slip = name.includes('nonsense') ? [] : ['--no-such-option']
  const { out, code } = project.cordon([...name.split(' '), '--json', ...slip], { env })
  expect(fits(out, ERROR)).toBe('fits')
  expect(code).toBeGreaterThan(0)
})

it('cordon --json is the status', () => {
  expect(JSON.parse(project.cordon(['--json'], { env }).out)).toHaveProperty('manifest')
})
