import { stripTypeScriptTypes } from 'node:module'
import { describe, expect, it } from 'vitest'
import { declareTools, firstProperty } from './declarations.ts'

const tool = (input: object, name = 'read', description = 'Reads.') => ({ name, description, input })

describe('declarations', () => {
  const rows = [
    {
      name: 'a required and an optional property',
      input: {
        type: 'object',
        properties: { path: { type: 'string' }, lines: { type: 'integer' } },
        required: ['path'],
      },
      says: 'read(input: string | { path: string; lines?: number }): Promise<Answer>',
    },
    {
      name: 'choices',
      input: { type: 'object', properties: { a: { enum: ['x', 2] }, b: {} }, required: ['a', 'b'] },
      says: 'read(input: { a: "x" | 2; b: unknown })',
    },
    {
      name: 'lists and tables',
      input: {
        type: 'object',
        properties: {
          a: { type: 'array', items: { type: 'object', properties: { b: { type: ['string', 'null'] } } } },
          c: { type: 'object' },
        },
        required: ['a', 'c'],
      },
      says: '{ a: ({ b?: string | null })[]; c: Record<string, unknown> }',
    },
    {
      name: 'what it does not know',
      input: { type: 'object', properties: { a: { $ref: '#/x' }, b: {} }, required: ['a', 'b'] },
      says: '{ a: unknown; b: unknown }',
    },
  ]
  it.each(rows)('$name', ({ input, says }) => {
    expect(declareTools([tool(input)])).toContain(says)
  })

  it('of a server of others stay a declaration, whatever its words', () => {
    const nasty = tool(
      {
        type: 'object',
        properties: { 'a"; evil(); "': { type: 'string' }, b: { enum: ['`x`'] } },
        required: ['b', 'a"; evil(); "'],
      },
      'mcp__x__y-z',
      'ends here */ evil(); /* and\nthere',
    )
    const text = declareTools([nasty])
    expect(
      stripTypeScriptTypes(text)
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .trim(),
    ).toBe('')
    expect(text).toContain('"mcp__x__y-z"(input:')
  })

  it('end where schemas do not', () => {
    const deep: Record<string, unknown> = { type: 'array' }
    deep.items = deep
    expect(declareTools([tool({ type: 'object', properties: { a: deep, b: deep }, required: ['a', 'b'] })])).toContain(
      'unknown',
    )
  })

  it('know what a bare argument means', () => {
    const properties = { a: { type: 'string' }, b: { type: 'string' } }
    expect(firstProperty({ properties, required: ['b'] })?.name).toBe('b')
    expect(firstProperty({ properties, required: [] })?.name).toBe('a')
    expect(firstProperty({ properties, required: ['a', 'b'] })).toBeNull()
    expect(firstProperty({ properties: {}, required: [] })).toBeNull()
    expect(firstProperty({ properties, required: ['__proto__'] })).toBeNull()
  })
})
