import { describe, expect, expectTypeOf, it } from 'vitest'
import { Fault } from '../system/fault.ts'
import { builtInSpecs } from './built-in/registry.ts'
import { defineTool, touchesNothing } from './define-tool.ts'
import { choice, count, type InputOf, objects, path, takes, text, texts } from './input-schema.ts'
import type { Actions, ToolContext, ToolLabel } from './tool.ts'

describe('the types of an input', () => {
  it('follow from the short forms', () => {
    const schema = takes(
      { path, kind: choice('Kind.', ['a', 'b']) },
      { times: count('Times.'), names: texts('Names.'), items: objects('Items.') },
    )
    type Input = InputOf<typeof schema>
    expectTypeOf<Input['path']>().toEqualTypeOf<string>()
    expectTypeOf<Input['kind']>().toEqualTypeOf<'a' | 'b'>()
    expectTypeOf<Input['times']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<Input['names']>().toEqualTypeOf<readonly string[] | undefined>()
    expectTypeOf<Input['items']>().toEqualTypeOf<readonly Readonly<Record<string, unknown>>[] | undefined>()
    expect(schema.required).toEqual(['path', 'kind'])
  })

  it('follow from JSON Schema as it is written', () => {
    defineTool({
      name: 'typed',
      description: 'Typed.',
      input: {
        type: 'object',
        properties: {
          id: { type: 'integer', description: 'Id.' },
          deep: { type: 'boolean', description: 'Deep.' },
          state: { type: 'string', description: 'State.', enum: ['open', 'closed'] },
        },
        required: ['id'],
      },
      actions: touchesNothing,
      run: async (input) => {
        expectTypeOf(input.id).toEqualTypeOf<number>()
        expectTypeOf(input.deep).toEqualTypeOf<boolean | undefined>()
        expectTypeOf(input.state).toEqualTypeOf<'open' | 'closed' | undefined>()
        return { text: '' }
      },
    })
  })
})

describe('labels', () => {
  const rows: readonly [note: string, labels: readonly ToolLabel[], actions: Actions, refused: boolean][] = [
    ['a read', [], { reads: ['a'] }, true],
    ['a write', ['network'], { writes: ['a'] }, true],
    ['a working directory', ['execute'], { command: 'true', cwd: 'a' }, true],
    ['a URL', ['filesystem'], { url: 'http://a.example' }, true],
    ['a command', ['filesystem', 'network'], { command: 'true' }, true],
    ['a read with its label', ['filesystem'], { reads: ['a'] }, false],
    ['nothing', [], { reads: [] }, false],
  ]
  it.each(rows)('%s beyond %j', (_note, labels, touched, refused) => {
    const tool = defineTool({
      name: 't',
      description: '',
      input: takes({}),
      labels,
      actions: () => touched,
      run: async () => ({ text: '' }),
    })
    if (refused) expect(() => tool.actions({})).toThrow(Fault)
    else expect(tool.actions({})).toBe(touched)
  })

  it('of a tool that has none written down are all of them', () => {
    const input = takes({})
    const tool = defineTool({
      name: 't',
      description: '',
      input,
      actions: touchesNothing,
      run: async () => ({ text: '' }),
    })
    expect(tool.labels).toEqual(['network', 'filesystem', 'execute'])
    expect(tool.hints).toMatchObject({ readOnly: false, destructive: true, openWorld: true })
  })

  it('of the built-in tools say what they can do', () => {
    const labelled = (label: ToolLabel) =>
      builtInSpecs.filter((spec) => spec.labels.includes(label)).map(({ name }) => name)
    expect(labelled('network')).toEqual(['bash', 'webfetch', 'http', 'websearch', 'task'])
    expect(labelled('execute')).toEqual(['bash', 'python_exec', 'code_exec', 'sandbox_run', 'task', 'lsp'])
    expect(builtInSpecs.filter(({ labels }) => labels.length === 0).map(({ name }) => name)).toEqual([
      'todowrite',
      'todoread',
      'question',
      'cordon_request',
    ])
  })
})

describe('a running tool', () => {
  const ports = { commands: [] as string[], urls: [] as string[] }
  const context = {
    commands: {
      run: async (command: string) => void ports.commands.push(command),
      start: async (command: string) => void ports.commands.push(command),
    },
    web: { fetch: async ({ url }: { url: string }) => void ports.urls.push(url) },
    signal: new AbortController().signal,
  } as unknown as ToolContext
  const options = { cwd: '/', timeoutMs: 1, signal: context.signal }
  const request = { method: 'GET', headers: {}, maxBytes: 1, timeoutMs: 1, signal: context.signal }
  const tool = (use: (context: ToolContext) => Promise<unknown>) =>
    defineTool({
      name: 't',
      description: '',
      input: takes({ command: text('c') }),
      actions: (input) => ({ command: input.command, url: 'http://a.example/' }),
      run: async (_input, given) => {
        await use(given)
        return { text: 'ran' }
      },
    }).run({ command: 'true' }, context)

  it('does what was decided', async () => {
    await tool((given) => given.commands.run('true', options))
    await tool((given) => given.web.fetch({ ...request, url: 'http://a.example/' }))
    expect(ports).toEqual({ commands: ['true'], urls: ['http://a.example/'] })
  })

  it.each<[string, (context: ToolContext) => Promise<unknown>]>([
    ['another command', (given) => given.commands.run('true; rm -rf x', options)],
    ['another command in the background', (given) => given.commands.start('false', options)],
    ['another URL', (given) => given.web.fetch({ ...request, url: 'http://b.example/' })],
  ])('does not do %s', async (_note, use) => {
    const before = structuredClone(ports)
    await expect(tool(use)).rejects.toThrow(/was not part of what was decided/)
    expect(ports).toEqual(before)
  })
})
