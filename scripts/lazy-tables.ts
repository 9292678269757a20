/** A build step: rows of the program tables are made when a command first asks for them, because a start needs few of them. */

import type { Plugin } from 'rolldown'
import { parseSync } from 'rolldown/utils'

/** Tables by the type that they are declared with. */
const TABLE_TYPE = /^:\s*(ProgramTable|Readonly<Record<string, Spec>>)$/

/** The first reading of a row puts the row itself in the place of its getter, so that it is made once. */
const RUNTIME =
  'const rowOnce = (table, name, row) => { Object.defineProperty(table, name, { value: row, enumerable: true }); return row }\n'

/** Turns `'cat tac': { … }` into a getter in every table of the files that match. */
export function lazyTables(files: RegExp): Plugin {
  return {
    name: 'lazy-tables',
    transform: {
      filter: { id: files },
      handler: (code, id) => {
        const rows = rowsOf(code, id)
        if (rows.length === 0) return null
        let written = RUNTIME
        let at = 0
        for (const { start, end, key, name, value } of rows) {
          written += `${code.slice(at, start)}get ${key}() { return rowOnce(this, ${name}, ${value}) }`
          at = end
        }
        return { code: written + code.slice(at), map: null }
      },
    },
  }
}

interface Row {
  readonly start: number
  readonly end: number
  /** As an object literal writes it, and as an expression. */
  readonly key: string
  readonly name: string
  readonly value: string
}

function rowsOf(code: string, id: string): Row[] {
  const { program, errors } = parseSync(id, code)
  if (errors.length > 0) throw new Error(`${id} does not parse: ${errors[0]!.message}`)
  return program.body.flatMap((statement) => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declared?.type !== 'VariableDeclaration') return []
    return declared.declarations.flatMap(({ id: variable, init }) => {
      if (variable.type !== 'Identifier' || init?.type !== 'ObjectExpression') return []
      const type = variable.typeAnnotation
      if (!type || !TABLE_TYPE.test(code.slice(type.start, type.end))) return []
      return init.properties.flatMap((property): Row[] => {
        if (property.type !== 'Property' || property.value.type !== 'ObjectExpression') return []
        const written = code.slice(property.key.start, property.key.end)
        const plain = property.key.type === 'Identifier' && !property.computed
        return [
          {
            start: property.start,
            end: property.end,
            key: property.computed ? `[${written}]` : written,
            name: plain ? JSON.stringify(written) : written,
            value: code.slice(property.value.start, property.value.end),
          },
        ]
      })
    })
  })
}
