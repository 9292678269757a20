/** Facts about a project, read from its own files: what `cordon init` starts from (M4). */

import { attempt } from '../../system/fault.ts'
import { recordOf } from '../../system/json.ts'
import { parseToml } from '../toml/toml.ts'
import type { Node, TableNode } from '../toml/tree.ts'
import { detectServices, type Service, scriptsOf, servedPorts } from './servers.ts'

/** A read-only view of the project; paths are relative to its root. Nothing thrown: what cannot be read is not there. */
export interface ProjectFiles {
  exists(path: string): boolean
  /** Null when it is missing, unreadable or not a text. */
  readText(path: string): string | null
  /** Names in a directory; empty when there is none. */
  list(path: string): readonly string[]
}

interface NodeFacts {
  readonly manager: 'npm' | 'pnpm' | 'yarn' | 'bun'
  readonly scripts: readonly string[]
  /** Names of the programs that the package itself provides. */
  readonly programs: readonly string[]
  /** Development tools among the dependencies: tsc, vitest, eslint … */
  readonly tools: readonly string[]
}

interface PythonFacts {
  readonly manager: 'uv' | 'poetry' | 'pip'
  /** The folder of the virtual environment. */
  readonly environment: string
  readonly programs: readonly string[]
  readonly tools: readonly string[]
}

interface RunnerFacts {
  readonly runner: 'make' | 'just'
  readonly file: string
  readonly targets: readonly string[]
}

export interface ProjectFacts {
  readonly git: boolean
  /** True when the project lives on GitHub, as far as its files say. */
  readonly github: boolean
  readonly node: NodeFacts | null
  readonly deno: boolean
  readonly rust: { readonly programs: readonly string[]; readonly toolchain: boolean } | null
  readonly python: PythonFacts | null
  readonly go: { readonly programs: readonly string[] } | null
  readonly java: 'maven' | 'gradle' | null
  readonly runners: readonly RunnerFacts[]
  /** Tools known only by a file at the root. */
  readonly others: readonly { readonly bundle: string; readonly file: string }[]
  readonly docker: boolean
  /** Files that show how a secret one is to be written, and are named like it. */
  readonly samples: readonly string[]
  /** Ports that scripts serve. */
  readonly ports: readonly number[]
  /** Databases that run beside the project. */
  readonly services: readonly Service[]
  /** Where a kind of project lies that is not at the root, as in a monorepo: `rust` in `services/core`. */
  readonly below: Readonly<Partial<Record<Kind, string>>>
}

/** What may lie in a folder of the project instead of at its root. */
export type Kind = 'node' | 'deno' | 'rust' | 'python' | 'go' | 'java'

/** What may be written into a manifest as part of a command: a repository must not smuggle anything else in. */
const SAFE_NAME = /^[A-Za-z0-9_@][A-Za-z0-9_@./:+-]{0,79}$/
const MAX_NAMES = 40

/** Folders with other people's projects, or that nobody works on. */
const NOT_OURS =
  /^(?:node_modules|vendor|third_party|target|dist|build|out|coverage|venv|env|tests?|testdata|fixtures?|__.*__|examples?|samples?|templates?)$/
const MAX_FOLDERS = 200

const MAX_PORTS = 8
const SAMPLES = ['.env.example', '.env.sample', '.env.template', '.env.dist']

/** Checks the project. */
export function detectProject(files: ProjectFiles): ProjectFacts {
  const below: Partial<Record<Kind, string>> = {}
  const kinds = detectKinds(files)
  const ports = servedPorts(scriptsOf(files.readText('package.json')), files)
  const samples = SAMPLES.filter((name) => files.exists(name))
  for (const folder of folders(files)) {
    const inner = within(files, folder)
    const found = detectKinds(inner, files)
    if (found.node) ports.push(...servedPorts(scriptsOf(inner.readText('package.json')), inner))
    for (const kind of Object.keys(kinds) as Kind[]) {
      if (kinds[kind] || !found[kind]) continue
      Object.assign(kinds, { [kind]: withoutNames(found[kind]) })
      below[kind] = folder
    }
  }
  return {
    ...kinds,
    git: files.exists('.git'),
    github: files.exists('.github'),
    runners: detectRunners(files),
    others: detectOthers(files),
    docker: files.exists('Dockerfile') || files.exists('compose.yaml') || files.exists('docker-compose.yml'),
    samples,
    ports: [...new Set(ports)].sort((one, other) => one - other).slice(0, MAX_PORTS),
    services: detectServices(files, samples),
    below,
  }
}

/** Bundles by the names of files that ask for them. */
const OTHERS: readonly (readonly [bundle: string, file: RegExp])[] = [
  ['cmake', /^(?:CMakeLists\.txt|meson\.build|MODULE\.bazel|WORKSPACE(?:\.bazel)?|conanfile\.(?:txt|py)|vcpkg\.json)$/],
  ['dotnet', /^(?:global\.json|.+\.(?:sln|slnx|csproj|fsproj|vbproj))$/],
  ['jj', /^\.jj$/],
  ['php', /^composer\.json$/],
  ['ruby', /^(?:Gemfile|.+\.gemspec)$/],
  ['terraform', /^.+\.tf$/],
]

function detectOthers(files: ProjectFiles): ProjectFacts['others'] {
  // The name goes into a comment of the manifest.
  const names = files.list('.').filter((name) => name === '.jj' || SAFE_NAME.test(name))
  return OTHERS.flatMap(([bundle, pattern]) => {
    const file = names.find((name) => pattern.test(name))
    return file === undefined ? [] : [{ bundle, file }]
  })
}

/** What lies in a folder; a workspace has the files of its package manager at the `top`. */
function detectKinds(files: ProjectFiles, top: ProjectFiles = files): Pick<ProjectFacts, Kind> {
  return {
    node: detectNode(files, top),
    deno: files.exists('deno.json') || files.exists('deno.jsonc'),
    rust: detectRust(files),
    python: detectPython(files),
    go: files.exists('go.mod') ? { programs: safe(files.list('cmd')) } : null,
    java: files.exists('pom.xml')
      ? 'maven'
      : files.exists('build.gradle') || files.exists('build.gradle.kts')
        ? 'gradle'
        : null,
  }
}

/** The folders of a monorepo's parts: `api`, `packages/web`; upper ones first. */
function folders(files: ProjectFiles): readonly string[] {
  const inside = (names: readonly string[]) =>
    safe(names).filter((name) => !/^\.|\//.test(name) && !NOT_OURS.test(name))
  const upper = inside(files.list('.'))
  const lower = upper.flatMap((folder) => inside(files.list(folder)).map((name) => `${folder}/${name}`))
  return [...upper, ...lower].slice(0, MAX_FOLDERS)
}

function within(files: ProjectFiles, folder: string): ProjectFiles {
  return {
    exists: (path) => files.exists(`${folder}/${path}`),
    readText: (path) => files.readText(`${folder}/${path}`),
    list: (path) => files.list(path === '.' ? folder : `${folder}/${path}`),
  }
}

/** The names that a folder gives its scripts and programs are not those of the project. */
function withoutNames<Facts>(facts: Facts): Facts {
  return typeof facts === 'object'
    ? { ...facts, programs: [], ...(facts && 'scripts' in facts && { scripts: [] }) }
    : facts
}

function safe(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => SAFE_NAME.test(name)).slice(0, MAX_NAMES)
}

/** Program names of packages that a developer calls by hand. */
const NODE_TOOLS: Readonly<Record<string, string>> = {
  typescript: 'tsc',
  vitest: 'vitest',
  jest: 'jest',
  mocha: 'mocha',
  eslint: 'eslint',
  prettier: 'prettier',
  '@biomejs/biome': 'biome',
  oxlint: 'oxlint',
  knip: 'knip',
}

function detectNode(files: ProjectFiles, top: ProjectFiles): NodeFacts | null {
  const text = files.readText('package.json')
  if (text === null) return null
  const json = parseJson(text)
  const bin = json.bin
  const name = typeof json.name === 'string' ? json.name.replace(/^@[^/]*\//, '') : ''
  const dependencies = { ...recordOf(json.dependencies), ...recordOf(json.devDependencies) }
  return {
    manager: nodeManager(files, json) ?? nodeManager(top, parseJson(top.readText('package.json') ?? '{}')) ?? 'npm',
    scripts: safe(Object.keys(recordOf(json.scripts))).filter((script) => !isLifecycle(script, json)),
    programs: safe(typeof bin === 'string' ? [name] : Object.keys(recordOf(bin))),
    tools: Object.keys(NODE_TOOLS)
      .filter((dependency) => Object.hasOwn(dependencies, dependency))
      .map((dependency) => NODE_TOOLS[dependency]!),
  }
}

/** Files that only one package manager writes or reads, from the surest on. */
const MANAGER_FILES: readonly (readonly [file: string, manager: NodeFacts['manager']])[] = [
  ['pnpm-workspace.yaml', 'pnpm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['.yarnrc.yml', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['bunfig.toml', 'bun'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
]

/** The package manager that a folder says it is worked on with; null when it says nothing. */
function nodeManager(files: ProjectFiles, json: Readonly<Record<string, unknown>>): NodeFacts['manager'] | null {
  const written = [json.packageManager, recordOf(recordOf(json.devEngines).packageManager).name]
  for (const text of written) {
    const named = typeof text === 'string' ? /^(npm|pnpm|yarn|bun)(?:@|$)/.exec(text)?.[1] : undefined
    if (named !== undefined) return named as NodeFacts['manager']
  }
  return MANAGER_FILES.find(([file]) => files.exists(file))?.[1] ?? null
}

/** `pretest` runs with `test`, `prepare` with an install: nobody calls them. */
function isLifecycle(script: string, json: Readonly<Record<string, unknown>>): boolean {
  if (/^(?:pre|post)?(?:install|publish|publishOnly|pack|prepare|uninstall)$/.test(script)) return true
  const base = /^(?:pre|post)(.+)$/.exec(script)?.[1]
  return base !== undefined && Object.hasOwn(recordOf(json.scripts), base)
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  return attempt(() => recordOf(JSON.parse(text)), {})
}

function detectRust(files: ProjectFiles): ProjectFacts['rust'] {
  const text = files.readText('Cargo.toml')
  if (text === null) return null
  const { root } = parseToml(text)
  const bins = child(root, 'bin')
  const names = bins?.kind === 'array' ? bins.items.map((item) => textOf(child(item, 'name'))) : []
  const own = files.exists('src/main.rs') ? [textOf(child(child(root, 'package'), 'name'))] : []
  const toolchain = files.exists('rust-toolchain.toml') || files.exists('rust-toolchain')
  return { programs: safe([...names, ...own]), toolchain }
}

const PYTHON_TOOLS = ['pytest', 'ruff', 'mypy', 'black', 'pyright', 'tox', 'nox']

function detectPython(files: ProjectFiles): PythonFacts | null {
  const project = files.readText('pyproject.toml')
  const requirements = files.list('.').filter((name) => /^requirements.*\.txt$/.test(name))
  if (project === null && requirements.length === 0 && !files.exists('setup.py')) return null
  const { root } = parseToml(project ?? '')
  const tables = [child(child(root, 'project'), 'scripts'), child(child(child(root, 'tool'), 'poetry'), 'scripts')]
  const texts = [project ?? '', ...requirements.slice(0, 5).map((name) => files.readText(name) ?? '')].join('\n')
  return {
    environment: ['.venv', 'venv', 'env'].find((name) => files.exists(`${name}/pyvenv.cfg`)) ?? '.venv',
    manager: files.exists('uv.lock') ? 'uv' : files.exists('poetry.lock') ? 'poetry' : 'pip',
    programs: safe(tables.flatMap((node) => (node?.kind === 'table' ? [...node.entries.keys()] : []))),
    tools: PYTHON_TOOLS.filter((tool) => new RegExp(`(?:^|[^\\w-])${tool}(?:[^\\w-]|$)`, 'm').test(texts)),
  }
}

function child(node: Node | undefined, name: string): Node | undefined {
  return node?.kind === 'table' ? (node as TableNode).entries.get(name)?.node : undefined
}

function textOf(node: Node | undefined): string {
  return node?.kind === 'string' ? String(node.value) : ''
}

function detectRunners(files: ProjectFiles): RunnerFacts[] {
  const found: RunnerFacts[] = []
  for (const file of ['Makefile', 'makefile', 'GNUmakefile']) {
    const text = files.readText(file)
    if (text === null) continue
    found.push({ runner: 'make', file, targets: targets(text, /^([A-Za-z0-9_][A-Za-z0-9_./-]*)[ \t]*:(?!=)/gm) })
    break
  }
  for (const file of ['justfile', 'Justfile', '.justfile']) {
    const text = files.readText(file)
    if (text === null) continue
    found.push({
      runner: 'just',
      file,
      targets: targets(text, /^@?([A-Za-z][A-Za-z0-9_-]*)(?:[ \t][^:=\n]*)?:(?!=)/gm),
    })
    break
  }
  return found
}

function targets(text: string, pattern: RegExp): string[] {
  const names = [...text.slice(0, 200_000).matchAll(pattern)].map((match) => match[1]!)
  return safe(names.filter((name) => !name.includes('.')))
}
