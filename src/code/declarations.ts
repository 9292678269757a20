/** PURE. TypeScript declarations of tools, from their JSON Schemas. */

/** The part of JSON Schema that tools use; anything else becomes `unknown`. */
export interface ToolShape {
  readonly name: string
  readonly description: string
  readonly input: object
}

const MAX_DEPTH = 6
const MAX_DESCRIPTION = 300

/** `declare const tools: { read(input: { path: string; … }): Promise<…> }`. */
export function declareTools(tools: readonly ToolShape[]): string {
  const lines = tools.map(({ name, description, input }) => {
    const first = firstProperty(input)
    const bare = first === null ? '' : `${typeOf(first.schema, 0)} | `
    return `${comment(description)}  ${property(name)}(input: ${bare}${typeOf(input, 0)}): Promise<Answer>\n`
  })
  return `/** What a tool said, and the same for programs. A call that was not done throws a ToolError, which has a code. */
interface Answer { text: string; data?: any; isError?: boolean }
declare const tools: {
${lines.join('')}}
`
}

/** The property that a bare argument sets; null if ambiguous. */
export function firstProperty(input: object): { readonly name: string; readonly schema: unknown } | null {
  const { properties, required } = input as { properties?: unknown; required?: unknown }
  if (!Array.isArray(required) || required.length > 1 || typeof properties !== 'object' || properties === null)
    return null
  const name = String(required[0] ?? Object.keys(properties)[0])
  return Object.hasOwn(properties, name) ? { name, schema: (properties as Record<string, unknown>)[name] } : null
}

function typeOf(schema: unknown, depth: number): string {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return 'unknown'
  const { type, enum: choices, items, properties, required, anyOf, oneOf } = schema as Record<string, unknown>
  if (Array.isArray(choices)) return choices.map((choice) => JSON.stringify(choice)).join(' | ') || 'never'
  const either = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : null
  if (either) return either.map((one) => typeOf(one, depth + 1)).join(' | ') || 'unknown'
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, depth + 1)).join(' | ')
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return `(${typeOf(items, depth + 1)})[]`
    case 'object': {
      if (typeof properties !== 'object' || properties === null) return 'Record<string, unknown>'
      const needed = Array.isArray(required) ? required : []
      const fields = Object.entries(properties).map(
        ([name, one]) => `${property(name)}${needed.includes(name) ? '' : '?'}: ${typeOf(one, depth + 1)}`,
      )
      return fields.length === 0 ? '{}' : `{ ${fields.join('; ')} }`
    }
    default:
      return 'unknown'
  }
}

function property(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

/** Descriptions come from other servers: keep them on one line and inside the comment. */
function comment(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('*/', '* /').slice(0, MAX_DESCRIPTION).trim()
  return line === '' ? '' : `  /** ${line} */\n`
}
