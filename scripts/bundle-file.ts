/** The data file of a bundle: every key is checked, and nothing unknown is let through; and the page about all of them. */

import type { Bundle, BundleSecret, RegistrySource } from '../src/sandbox/bundles/bundle.ts'
import { describeBundle } from '../src/surfaces/cli/commands/policy/bundles.ts'
import { isRecord } from '../src/system/json.ts'
import { wrapped } from './lint-prose.ts'

/** A key of a bundle file, for the reader and for the documentation. */
interface BundleKey {
  readonly name: string
  readonly type: 'text' | 'texts' | 'values' | 'switch' | 'secrets' | 'registries'
  readonly doc: string
}

/** The keys of a bundle file, in written order. */
const bundleKeys: readonly BundleKey[] = [
  { name: 'tool', type: 'text', doc: 'The name that `command_tools` uses.' },
  { name: 'summary', type: 'text', doc: 'One sentence for `cordon bundles`.' },
  { name: 'programs', type: 'texts', doc: 'First words of a command pattern that the bundle applies to.' },
  {
    name: 'agent',
    type: 'switch',
    doc: 'It is an agent: `cordon init` proposes it where one of its programs is installed.',
  },
  { name: 'read', type: 'texts', doc: 'Places under the home directory that are shown read-only.' },
  { name: 'cache', type: 'texts', doc: 'Caches: written with `fetch`, otherwise shown read-only.' },
  { name: 'install', type: 'texts', doc: 'Where it installs programs: written only with `install = true`.' },
  { name: 'env', type: 'texts', doc: 'Variables that pass; a `*` never lets a key or token through.' },
  { name: 'set', type: 'values', doc: 'Variables with fixed values; one that passes from outside comes first.' },
  { name: 'hosts', type: 'texts', doc: 'Hosts that `fetch` opens.' },
  {
    name: 'checks',
    type: 'texts',
    doc: 'Addresses (`HOST/PATH`) that it asks for before it starts: open for GET, to exactly that path.',
  },
  {
    name: 'declined',
    type: 'texts',
    doc: 'Hosts of its updates, catalogues and telemetry: declined without a question, unless a rule names them.',
  },
  {
    name: 'online',
    type: 'texts',
    doc: 'Subcommands that use the network; others get no hosts. `-` is a use without one, `npx:*` every use of a program. Without this key every use does.',
  },
  { name: 'fetch', type: 'switch', doc: 'Whether it may fetch unless the manifest says otherwise.' },
  {
    name: 'packages',
    type: 'text',
    doc: 'What its registries serve, for `[packages]`: `npm`, `pypi` or `crates`.',
  },
  { name: 'notes', type: 'texts', doc: 'What a person should know.' },
  {
    name: 'secret',
    type: 'secrets',
    doc: 'Keys of yours that `cordon run` brokers: inside there is a placeholder, which the proxy swaps for `hosts` in `header`. `open_paths` are asked for without it, by GET.',
  },
  { name: 'registry', type: 'registries', doc: 'Where the tool’s own configuration names its registry.' },
]

const SECRET_KEYS: ReadonlySet<string> = new Set([
  'name',
  'hosts',
  'header',
  'pass_headers',
  'pass_parameters',
  'open_paths',
])
const REGISTRY_KEYS: ReadonlySet<string> = new Set([
  'command',
  'reads',
  'file',
  'project',
  'match',
  'subdomains',
  'variable',
])

/** Turns the plain data of a bundle file into a bundle, or says everything that is wrong with it. */
export function parseBundle(
  data: unknown,
  file: string,
): { readonly bundle: Bundle } | { readonly problems: readonly string[] } {
  const problems: string[] = []
  const say = (key: string, expected: string, found: unknown): void => {
    problems.push(`${file}: ${key}: expected ${expected}, found ${JSON.stringify(found) ?? 'nothing'}`)
  }
  if (!isRecord(data)) return { problems: [`${file}: expected a table`] }
  for (const key of Object.keys(data)) {
    if (!bundleKeys.some((known) => known.name === key))
      say(key, `one of ${bundleKeys.map((k) => k.name).join(', ')}`, key)
  }
  const text = (key: string): string => {
    const value = data[key]
    if (typeof value === 'string' && value !== '') return value
    say(key, 'a text', value)
    return ''
  }
  const texts = (key: string): readonly string[] => {
    const value = data[key] ?? []
    if (isTexts(value)) return value
    say(key, 'a list of texts', value)
    return []
  }
  const places = (key: string): readonly string[] => {
    const value = texts(key)
    for (const path of value) {
      if (!/^~\/[^*?]+[^/]$/.test(path) || path.split('/').includes('..')) say(key, 'a path like "~/.tool"', path)
    }
    return value
  }
  const bundle: Bundle = {
    tool: text('tool'),
    summary: text('summary'),
    programs: texts('programs'),
    ...(data.agent === true && { agent: true }),
    ...(isPackageKind(data.packages) && { packages: data.packages }),
    read: places('read'),
    cache: places('cache'),
    install: places('install'),
    env: texts('env'),
    set: values(data.set ?? {}, say),
    hosts: texts('hosts'),
    checks: texts('checks'),
    declined: texts('declined'),
    online: data.online === undefined ? null : texts('online'),
    secrets: secrets(data.secret ?? [], say),
    registries: registries(data.registry ?? [], say),
    fetch: data.fetch === undefined ? true : data.fetch === true,
    notes: texts('notes'),
  }
  for (const key of ['agent', 'fetch'])
    if (data[key] !== undefined && typeof data[key] !== 'boolean') say(key, 'true or false', data[key])
  if (data.packages !== undefined && !isPackageKind(data.packages))
    say('packages', 'npm, pypi or crates', data.packages)
  if (bundle.programs.length === 0) say('programs', 'at least one program', bundle.programs)
  for (const name of bundle.env) if (!/^[A-Za-z_][A-Za-z0-9_]*\*?$/.test(name)) say('env', 'a variable name', name)
  return problems.length > 0 ? { problems } : { bundle }
}

function isPackageKind(value: unknown): value is NonNullable<Bundle['packages']> {
  return value === 'npm' || value === 'pypi' || value === 'crates'
}

type Say = (key: string, expected: string, found: unknown) => void

function values(value: unknown, say: Say): Readonly<Record<string, string>> {
  const isVariable = ([name, text]: readonly [string, unknown]): boolean =>
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && typeof text === 'string'
  if (isRecord(value) && Object.entries(value).every(isVariable)) return value as Readonly<Record<string, string>>
  say('set', 'a table of variables and texts', value)
  return {}
}

function secrets(value: unknown, say: Say): readonly BundleSecret[] {
  if (!Array.isArray(value)) {
    say('secret', 'a list of tables', value)
    return []
  }
  return value.flatMap((entry: unknown, index) => {
    const {
      name,
      hosts = [],
      header,
      pass_headers = [],
      pass_parameters = [],
      open_paths = [],
    } = isRecord(entry) ? entry : {}
    const known = isRecord(entry) && Object.keys(entry).every((key) => SECRET_KEYS.has(key))
    const named = typeof name === 'string' && /^[A-Z][A-Z0-9_]*$/.test(name)
    const carried = typeof header === 'string' && /^[a-z][a-z0-9-]*$/.test(header)
    const passed = isTexts(pass_headers) && isTexts(pass_parameters) && isTexts(open_paths)
    if (known && named && carried && passed && isTexts(hosts) && (hosts.length > 0 || !('hosts' in entry)))
      return [
        { name, hosts, header, passHeaders: pass_headers, passParameters: pass_parameters, openPaths: open_paths },
      ]
    say(`secret[${index}]`, 'a table of name, hosts, header, pass_headers, pass_parameters and open_paths', entry)
    return []
  })
}

function registries(value: unknown, say: Say): readonly RegistrySource[] {
  if (!Array.isArray(value)) {
    say('registry', 'a list of tables', value)
    return []
  }
  return value.flatMap((entry: unknown, index) => {
    const registry = registrySource(entry, `registry[${index}]`, say)
    return registry === null ? [] : [registry]
  })
}

function registrySource(entry: unknown, key: string, say: Say): RegistrySource | null {
  if (!isRecord(entry)) {
    say(key, 'a table', entry)
    return null
  }
  const { command, reads = [], file, project, match, subdomains, variable } = entry
  const unknown = Object.keys(entry).find((name) => !REGISTRY_KEYS.has(name))
  if (unknown !== undefined) say(`${key}.${unknown}`, `one of ${[...REGISTRY_KEYS].join(', ')}`, unknown)
  const isCommand = isTexts(command) && command.length > 0
  const isFile = typeof file === 'string' && file.startsWith('~/')
  const isProject = typeof project === 'string' && /^[\w.][\w./-]*$/.test(project) && !project.includes('..')
  if (Number(isCommand) + Number(isFile) + Number(isProject) !== 1)
    say(key, 'either a command, a file under "~/" or a file of the project', entry)
  const isRead = isTexts(reads) && reads.every((path) => /^(?:~\/|\/)/.test(path))
  if (!isRead || isCommand !== reads.length > 0) say(`${key}.reads`, 'the files that the command reads', reads)
  if (typeof match !== 'string' || !isExpression(match)) {
    say(`${key}.match`, 'a regular expression', match)
    return null
  }
  return {
    command: isCommand ? command : null,
    reads: isRead ? reads : [],
    file: isFile ? file : null,
    project: isProject ? project : null,
    match,
    subdomains: subdomains === true,
    variable: typeof variable === 'string' ? variable : null,
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '')
}

function isExpression(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}

/** Renders the page about bundles: docs/reference/bundles.md and the long form of `cordon bundles`. Pure. */
const INTRODUCTION = `# Bundles

<!-- Generated by scripts/generate-bundle-doc.ts from src/sandbox/bundles/*.toml; change those files instead. -->

A bundle gives a development tool what it needs: configuration, caches, variables and hosts. Name the ones your
project uses:

\`\`\`toml
[sandbox.os]
command_tools = ["git", "npm", { tool = "cargo", fetch = false }]
wrappers = ["just"]
\`\`\`

- A bundle applies to a command if its granting pattern starts with one of the bundle's programs, or with one of the
  \`wrappers\`. Those of the section count for all bundles, those of an entry for that one. A shell never counts:
  \`sh -c "cargo build"\` gets nothing.
- \`fetch = false\` closes the bundle's hosts and shows its caches read-only: work from a warm cache.
- \`install = true\` lets the tool install programs for you. You run those outside the sandbox, so it is off by default.
- \`domains\` adds hosts; \`default_domains = false\` removes the bundle's own.
- A registry's host is never built in. Cordon reads it from the tool's and the project's configuration when you sign the
  manifest, and it is part of what you sign. A later change has no effect until you sign again.
- Tokens never pass, neither by file nor by variable. Name them under \`[[secrets]]\`: the proxy adds them outside.
- Your other projects read the same cache. If a tool does not verify its cache, the notes say so. Use \`fetch = false\` for
  work that you do not trust.
- A path that does not exist on this machine is omitted. The tool then gets a temporary, empty one.
`

/** The whole page. */
export function renderBundles(bundles: readonly Bundle[]): string {
  const list = bundles.map((bundle) => `| [${bundle.tool}](#${bundle.tool}) | ${bundle.summary} |`)
  const table = ['| Bundle | What it is for |', '|---|---|', ...list].join('\n')
  const keys = bundleKeys.map((key) => `| \`${key.name}\` | ${key.doc} |`)
  const format = ['## The data files', '', '| Key | Meaning |', '|---|---|', ...keys].join('\n')
  return wrapped(
    `${[INTRODUCTION, table, ...bundles.map(renderBundle), format].join('\n\n').replace(/\n{3,}/g, '\n\n')}\n`,
  )
}

/** One bundle as Markdown. */
function renderBundle(bundle: Bundle): string {
  const { lines, notes } = describeBundle(bundle)
  const table = lines.map(
    ([label, values]) => `| ${label} | ${label === 'Registry' ? values.join('; ') : code(values)} |`,
  )
  const list = notes.map((note) => `- ${note}`)
  return [`## ${bundle.tool}`, '', bundle.summary, '', '| | |', '|---|---|', ...table, '', ...list].join('\n').trimEnd()
}

function code(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(' ')
}
