/** The contract of every built-in tool: done, failed, cancelled, called wrongly; each leaves nothing behind. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Fault } from '../../../src/system/fault.ts'
import { isTemporaryName } from '../../../src/system/guarded/journal.ts'
import { builtInTool, builtInTools } from '../../../src/tools/built-in/registry.ts'
import type { PropertySchema } from '../../../src/tools/input-schema.ts'
import { InputError } from '../../../src/tools/tool.ts'
import { codeTools, furnish, toolRows } from './tools-rows.ts'
import { openWorld, type World } from './tools-world.ts'

let world: World
beforeEach(() => {
  world = openWorld()
  furnish(world)
})
afterEach(() => world.close())

it('has a row for every tool', () => {
  // Those of code have their own layout: test/contract/code.
  const others = builtInTools.map((tool) => tool.name).filter((name) => !codeTools.includes(name))
  expect(toolRows.map((row) => row.tool)).toEqual(others)
})

describe.each(toolRows)('$tool', (row) => {
  it('is done, and leaves what it says', async () => {
    const open = descriptors()
    const output = await world.call(row.tool, row.input)
    expect(output.text).toMatch(row.says)
    expect(output.isError ?? false).toBe(false)
    for (const [path, text] of Object.entries(row.leaves ?? {})) {
      if (text === null) expect(Object.keys(world.snapshot())).not.toContain(`project/${path}`)
      else expect(world.text(path)).toBe(text)
    }
    expectNothingBehind(open)
  })

  it.each([...row.fails])('fails: %s', async (_note, input, message) => {
    const before = world.snapshot()
    const open = descriptors()
    const error = await world.call(row.tool, input).then(
      (output) => expect.unreachable(`was done: ${output.text}`),
      (thrown: unknown) => thrown,
    )
    expect(error instanceof InputError || error instanceof Fault, String(error)).toBe(true)
    expect((error as Error).message).toMatch(message)
    expect(world.snapshot()).toEqual(before)
    expectNothingBehind(open)
  })

  it('does nothing once it is cancelled', async () => {
    const before = world.snapshot()
    const open = descriptors()
    const reason = new Error('cancelled by the user')
    const signal = AbortSignal.abort(reason)
    await expect(world.call(row.tool, row.input, { signal })).rejects.toBe(reason)
    expect(world.snapshot()).toEqual(before)
    expect(world.requests).toEqual([])
    expectNothingBehind(open)
  })

  const tool = builtInTool(row.tool)!
  const wrong = [
    ['no object', 'text'],
    ['null', null],
    ['an array', [row.input]],
    ['a field it does not know', { ...row.input, surprise: 1 }],
    ['a field of the prototype', { ...row.input, constructor: 1 }],
    ...tool.input.required.map((name) => [`without ${name}`, { ...row.input, [name]: undefined }]),
    ...Object.entries(tool.input.properties).flatMap(([name, schema]) =>
      badValues(schema).map(([note, value]) => [`${name}: ${note}`, { ...row.input, [name]: value }]),
    ),
  ] as [string, unknown][]
  it.each(wrong)('is called wrongly: %s', async (_note, input) => {
    const before = world.snapshot()
    await expect(world.call(row.tool, input)).rejects.toThrow(InputError)
    expect(world.snapshot()).toEqual(before)
    expect(world.requests).toEqual([])
    expect(world.commands).toEqual([])
  })
})

function badValues(schema: PropertySchema): [string, unknown][] {
  const wrongTypes: [string, unknown][] = [
    ['null', null],
    ['a number', 1.5],
    ['a text', 'text'],
    ['a boolean', true],
    ['an object', {}],
    ['an array', [1]],
  ]
  const kinds: Record<PropertySchema['type'], string> = {
    string: 'a text',
    boolean: 'a boolean',
    object: 'an object',
    number: 'a number',
    integer: '',
    array: '',
  }
  const rows = wrongTypes.filter(([note]) => note !== kinds[schema.type])
  if (schema.type === 'array') rows[0] = ['null', null]
  if (schema.type === 'string') rows.push(['half a character', 'a\ud800b'], ['huge', 'x'.repeat(16 * 1024 * 1024 + 1)])
  if (schema.format === 'path') rows.push(['a NUL', 'a\0b'], ['empty', ''], ['endless', 'a/'.repeat(3000)])
  if (schema.enum) rows.push(['not in the list', 'surprise'])
  return rows
}

function descriptors(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0
}

function expectNothingBehind(open: number): void {
  // The journal's own descriptor is opened by the first write and stays for the session.
  expect(descriptors()).toBeLessThanOrEqual(open + 1)
  expect(Object.keys(world.snapshot()).filter((path) => isTemporaryName(path.split('/').at(-1)!))).toEqual([])
  for (const name of names(world.journal)) expect(readFileSync(join(world.journal, name), 'utf8')).toBe('')
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
