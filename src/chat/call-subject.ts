/** What a tool call is about, in one line, for the process that shows it. */

const KEYS = [
  'command',
  'path',
  'pattern',
  'url',
  'query',
  'name',
  'question',
  'description',
  'prompt',
  'source',
  'handle',
]

/** The exact command, path or address; empty where the input has none. */
export function subjectOf(name: string, input: Readonly<Record<string, unknown>>): string {
  if (name === 'apply_patch') return ''
  for (const key of KEYS) {
    const value = input[key]
    if (typeof value === 'string' && value !== '') return value
  }
  return Object.keys(input).length === 0 ? '' : JSON.stringify(input)
}
