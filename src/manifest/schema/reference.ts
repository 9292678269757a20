/** The reference of the manifest as Markdown, made from the schema so that it cannot be out of date. */

import type { Plain } from '../toml/plain.ts'
import { printValue } from '../toml/print.ts'
import type { Field, Key, Section, ValueType } from './key.ts'
import { SECRETS, SECRETS_EXAMPLE } from './reach.ts'
import { SECTIONS } from './schema.ts'

const INTRODUCTION = `# The manifest: \`cordon.toml\`

<!-- Made by scripts/generate-manifest-doc.ts from src/manifest/schema/schema.ts. Edit there. -->

One TOML file at the root of a project says what an agent may do there. It takes effect once a person has signed it
(\`cordon sign\`). \`cordon init\` writes a first one, \`cordon policy show\` prints what holds and where each value comes
from, \`cordon policy lint\` points out what is unwise.

\`\`\`toml
schema_version = 1   # required

[permission]
mode = "contained"

[capabilities.allow.commands]
patterns = ["npm test:*"]
\`\`\`

## How it is read

- **Mistakes stop everything.** Unknown keys, wrong types, bad patterns, duplicates, a grant that a deny covers: each is an
  error with line, column and, where there is one, the word that was probably meant. Nothing runs on a manifest that does
  not load.
- **Layers.** Built-in defaults, then the user's \`~/.config/cordon/cordon.toml\`, then the project's, then the command
  line. Grants and denials add up. A deny from any layer stands. What the user has set in \`[security]\`, \`[http]\` and
  \`[limits]\` a project can only make stricter. A filter (\`shell_policy.allow\`, \`change_envelope\`,
  \`allowed_modules\`) can only be narrowed by a later layer. Other values are the later layer's.
- **Paths.** Relative ones stand under the project root, \`~/\` is the home directory. \`*\` is one level, \`**\` any depth,
  \`?\` one character. A link in the project shows a command only what a grant covers at its end as well.
- **Commands.** \`"cargo build"\` is exactly that; \`"cargo build:*"\` allows any further words. The only wildcard is \`:*\`
  at the end.
- **Hosts.** A name, or \`*.\` and a domain that one owner holds; a \`:port\` may follow, otherwise 80 and 443.
  \`\${VAR}\` is replaced at start; an entry with an unset variable is left out with a warning, and a list that loses all
  its entries this way stays closed.
- **Sizes and times.** Bytes, or \`"512 MiB"\`; seconds, or \`"90s"\`, \`"5m"\`, \`"1h 30m"\`.

The column "Layers" says how the layers of a key meet, and which value counts as the stricter one.
`

/** The whole page. */
export function renderReference(): string {
  const contents = [...SECTIONS.map((section) => section.path), 'secrets']
    .map((path) => `[\`${title(path)}\`](#${anchor(path)})`)
    .join(' · ')
  const secrets: Section = { path: 'secrets', doc: SECRETS.doc, spec: SECRETS.spec, example: SECRETS_EXAMPLE, keys: [] }
  const parts = SECTIONS.map(renderSection)
  return [INTRODUCTION, contents, '', ...parts, renderSection(secrets), entryTable(SECRETS.type), ''].join('\n')
}

function title(path: string): string {
  if (path === 'secrets') return '[[secrets]]'
  return `[${path.replace('*', 'NAME')}]`
}

/** The anchor that renderers of Markdown make of the heading. */
function anchor(path: string): string {
  return path.replace('*', 'name').replaceAll('.', '').toLowerCase()
}

function renderSection(section: Section): string {
  const lines = [`## \`${title(section.path)}\``, '', `${section.doc} (${section.spec})`, '']
  if (section.keys.length > 0) {
    lines.push('| Key | Type | Default | Layers | |', '|---|---|---|---|---|', ...section.keys.map(renderKey), '')
  }
  for (const key of section.keys) {
    const entry = entryOf(key.type)
    if (entry !== null) lines.push(`An entry of \`${key.name}\` is a text or a table:`, '', entryTable(entry), '')
  }
  lines.push('```toml', section.example.trimEnd(), '```', '')
  return lines.join('\n')
}

function renderKey(key: Key): string {
  const name = key.name === '*' ? 'NAME' : key.name
  const cells = [`\`${name}\``, describeType(key.type), describeDefault(key), describeMerge(key), key.doc]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function describeDefault(key: Key): string {
  return key.default === null ? '' : `\`${printValue(key.default as Plain)}\``
}

function describeType(type: ValueType): string {
  switch (type.kind) {
    case 'boolean':
      return 'boolean'
    case 'integer':
      return 'integer'
    case 'number':
      return `number, ${type.min} to ${type.max}`
    case 'text':
      return 'text'
    case 'choice':
      return type.values.map((value) => `\`"${value}"\``).join(', ')
    case 'size':
      return 'size'
    case 'seconds':
      return 'time'
    case 'list':
      return `list of ${plural(type.of)}`
    case 'entry':
      return type.short === null ? 'table' : 'text or table'
  }
}

function plural(type: ValueType): string {
  if (type.kind === 'entry') return type.short === null ? 'tables' : `${type.short}s`
  if (type.kind === 'choice') return describeType(type)
  return `${describeType(type)}s`
}

function describeMerge(key: Key): string {
  const merge = { later: 'later', concat: 'add up', meet: 'narrowed', 'deny-stands': 'deny stands' }[key.merge]
  const stricter = {
    true: '`true` is stricter',
    false: '`false` is stricter',
    lower: 'less is stricter',
    'choice-order': 'first is strictest',
    union: '',
    meet: 'fewer is stricter',
  }[key.strictness ?? 'union']
  return stricter === '' ? merge : `${merge}; ${stricter}`
}

function entryOf(type: ValueType): ValueType | null {
  return type.kind === 'list' && type.of.kind === 'entry' ? type.of : null
}

function entryTable(type: ValueType): string {
  const entry = type.kind === 'entry' ? type : entryOf(type)
  if (entry?.kind !== 'entry') return ''
  return ['| Field | Type | |', '|---|---|---|', ...entry.fields.map(renderField)].join('\n')
}

function renderField(field: Field): string {
  const name = `\`${field.name}\`${field.required ? ' (required)' : ''}`
  return `| ${name} | ${describeType(field.type)} | ${field.doc.replaceAll('|', '\\|')} |`
}
