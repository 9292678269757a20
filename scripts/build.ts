/**
 * Builds dist/: the bundled CLI, the library with its types, and the sandbox's init; with `--release` for every platform of
 * the package, and nothing of an older build stays. All of it is built aside and then put
 * in place by renames, so that a build that fails leaves what was there, and a hook that starts meanwhile has a whole one.
 */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { compileFilter, filterName } from '../src/sandbox/bwrap/seccomp.ts'
import { changingPrograms, programNames } from '../src/shell/tables/programs/registry.ts'
import { errorCode } from '../src/system/fault.ts'
import { builtInPolicy } from './built-in-policy.ts'

process.chdir(resolve(import.meta.dirname, '..'))
// What is built here is run: no one else may write it.
process.umask(process.umask() | 0o022)

const release = process.argv.includes('--release')
const wasm = process.argv.includes('--wasm')

/** The draft of this build; its name contains the process. */
const draft = `dist/.draft-${process.pid}`
removeDrafts()
mkdirSync(`${draft}/chunks`, { recursive: true })
// Written first: what is edited from now on is newer than the build.
writeFileSync(`${draft}/.built`, `${sourceFolders().join(' ')}\n`)

/** The sources of the build, for `is-built.sh`. */
function sourceFolders(): readonly string[] {
  const entries = readdirSync('src', { recursive: true, withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => `${entry.parentPath}/${entry.name}`)
  const odd = folders.find((folder) => !/^[\w/-]+$/.test(folder))
  if (odd !== undefined) throw new Error(`${odd}: a folder of the sources needs a plain name`)
  return ['src', ...folders]
}

/**
 * The program's parts by the files they start from: what all of these import and no earlier part has. Code that a command
 * does not need costs its start more than a further part.
 */
const PARTS = {
  main: ['src/surfaces/cli/start/main.ts'],
  redact: ['src/surfaces/terminal/redacted-terminal.ts'],
  open: ['src/surfaces/cli/open-policy.ts'],
  checked: ['src/surfaces/cli/commands/run/run.ts', 'src/surfaces/cli/commands/policy/check.ts'],
  loaded: ['src/surfaces/cli/commands/run/run.ts', 'src/project/load/load.ts'],
  guarded: ['src/surfaces/cli/commands/run/run.ts', 'src/surfaces/cli/commands/machine/hook.ts'],
  // What `run` has in common with what it loads late would otherwise bring that along at once.
  'run-and-shell': ['src/surfaces/cli/commands/run/run.ts', 'src/shell/walk/analyze.ts'],
  'run-and-record': ['src/surfaces/cli/commands/run/run.ts', 'src/call/record/open.ts'],
  'record-and-check': ['src/call/record/open.ts', 'src/surfaces/cli/commands/policy/check.ts'],
  'run-and-typed': ['src/surfaces/cli/commands/run/run.ts', 'src/one-off/typed-call.ts'],
  'run-and-trust': ['src/surfaces/cli/commands/run/run.ts', 'src/project/sign/trust.ts'],
  'run-and-shown': ['src/surfaces/cli/commands/run/run.ts', 'src/call/decide/shown-secrets.ts'],
  core: ['src/surfaces/cli/commands/policy/check.ts'],
  shell: ['src/shell/walk/analyze.ts'],
  suffix: ['src/hosts/suffix.ts'],
  hook: ['src/surfaces/cli/commands/machine/hook.ts'],
  record: ['src/call/record/open.ts'],
  // A run signs its log every few lines.
  signer: ['src/call/record/signer.ts'],
  // Loaded late, and by nearly every hook: their own small files would cost more than they hold.
  'hook-memory': ['src/agents/hook/session.ts'],
  unseen: ['src/agents/hook/unseen.ts'],
  'own-rules': ['src/surfaces/hook/host/own-rules.ts'],
  'bracket-rules': ['src/agents/import/bracket-rules.ts'],
  result: ['src/surfaces/hook/answer-result.ts'],
  'open-calls': ['src/agents/hook/open-calls.ts'],
  finding: ['src/agents/hook/finding.ts'],
  shown: ['src/call/decide/shown-secrets.ts'],
  typed: ['src/one-off/typed-call.ts'],
  manifest: ['src/project/load/load.ts'],
  trust: ['src/project/sign/trust.ts'],
  run: ['src/surfaces/cli/commands/run/run.ts'],
  chat: ['src/surfaces/cli/commands/agents/chat.ts'],
  front: ['src/surfaces/chat/start.ts'],
}

/** What commands that start often need at once, in one file each. */
const STARTS: Readonly<Record<string, readonly (keyof typeof PARTS)[]>> = {
  check: ['redact', 'open', 'checked', 'run-and-shell', 'record-and-check', 'core'],
  hook: [
    'redact',
    'open',
    'checked',
    'guarded',
    'run-and-shell',
    'run-and-record',
    'record-and-check',
    'core',
    'hook',
    'record',
    'hook-memory',
    'unseen',
    'own-rules',
    'bracket-rules',
    'result',
    'open-calls',
    'finding',
  ],
  run: [
    'redact',
    'open',
    'checked',
    'loaded',
    'guarded',
    'run-and-shell',
    'run-and-record',
    'record-and-check',
    'run-and-typed',
    'run-and-trust',
    'run-and-shown',
    'record',
    'run',
  ],
  chat: ['redact', 'open', 'chat', 'front'],
}

/** CommonJS, because Node loads it about 8 ms faster than ESM; ASCII, so that it is read without decoding. */
const FORMAT = {
  format: 'cjs',
  dynamicImportInCjs: false,
  minify: { compress: true, mangle: true, codegen: { removeWhitespace: true, asciiOnly: true } },
} as const

/** Writes the licence of each package whose code is in a bundle: the packages and the bill of materials contain it. */
const licences: Plugin = {
  name: 'licences',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []))
    for (const folder of new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []))) {
      const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
      const file = readdirSync(folder).find((name) => /^(?:licen[cs]e|copying)/i.test(name))
      if (file === undefined) throw new Error(`${folder} is bundled, and has no text of its licence`)
      const place = `${draft}/licences/${name}@${version}`
      mkdirSync(dirname(place), { recursive: true })
      cpSync(`${folder}/${file}`, place)
    }
  },
}

try {
  step('tsc', ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', `${draft}/lib`])
  await writeLibrary()
  await writeEntry(await writeChunks())
  // A release has none of it: an init that is here may not be static, as it must be there.
  if (!release && existsSync('dist/native'))
    cpSync('dist/native', `${draft}/native`, { recursive: true, preserveTimestamps: true })
  // macOS has its own sandbox, and needs no init.
  if (process.platform === 'linux') step('sh', ['native/build.sh', `${draft}/native`, ...(release ? ['every'] : [])])
  else mkdirSync(`${draft}/native`, { recursive: true })
  await writeInside()
  await writePage()
  publish()
  if (wasm) await writeChatComponent()
} finally {
  rmSync(draft, { recursive: true, force: true })
}

/**
 * The library beside its types: a file for each entry point and for what is loaded late. Loading 400 modules one by one takes a
 * program longer than opening a project. Flat, because what looks for the native files starts from its own folder.
 */
async function writeLibrary(): Promise<void> {
  const entries = ['policy', 'shell', 'sandbox', 'mcp'].map((name) => [name, `src/exports/${name}.ts`])
  const bundle = await rolldown({
    plugins: [licences],
    input: { index: 'src/index.ts', 'ai-sdk': 'src/adapters/ai-sdk.ts', ...Object.fromEntries(entries) },
    platform: 'node',
    transform: { define: facts() },
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    checks: { ineffectiveDynamicImport: false },
    logLevel: 'warn',
  })
  await bundle.write({
    dir: `${draft}/lib`,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
}

/** The processes of code_exec and of components: all that their sandboxes show of Cordon. */
async function writeInside(): Promise<void> {
  mkdirSync(`${draft}/inside`)
  for (const name of ['main', 'worker', 'component', 'maker']) {
    const bundle = await rolldown({
      input: `src/code/inside/${name}.ts`,
      plugins: [licences],
      platform: 'node',
      logLevel: 'warn',
    })
    const { output } = await bundle.generate({ format: 'esm', codeSplitting: false, minify: true })
    writeFileSync(`${draft}/inside/${name}.mjs`, output[0].code)
  }
  cpSync('node_modules/quickjs-wasi/quickjs.wasm', `${draft}/inside/quickjs.wasm`)
}

/** The loop of `cordon chat` as a component, built by the new program, with the optional tools of `cordon agent`. */
async function writeChatComponent(): Promise<void> {
  const bundle = await rolldown({
    input: 'src/chat/component/chat-component.ts',
    external: [/^cordon:/, /^node:/],
    platform: 'neutral',
    treeshake: { moduleSideEffects: false },
    logLevel: 'warn',
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  writeFileSync(`${draft}/chat.mjs`, output[0].code)
  mkdirSync('dist/agents', { recursive: true })
  step(process.execPath, [
    'dist/cordon.cjs',
    'agent',
    'build',
    `${draft}/chat.mjs`,
    '--output',
    'dist/agents/chat.wasm',
  ])
}

/** The page of `cordon ui`: one script for the browser, and the files beside it. */
async function writePage(): Promise<void> {
  mkdirSync(`${draft}/page`)
  const client = 'src/surfaces/page/client'
  const bundle = await rolldown({
    input: `${client}/main.tsx`,
    plugins: [licences],
    platform: 'browser',
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    logLevel: 'warn',
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false, minify: true })
  writeFileSync(`${draft}/page/page.js`, output[0].code)
  for (const name of ['index.html', 'page.css', 'icon.svg']) cpSync(`${client}/${name}`, `${draft}/page/${name}`)
}

/** The first chunk, the file that contains it, and the files of single commands. */
interface Start {
  readonly main: string
  readonly starts: Readonly<Record<string, string>>
}

/** Writes the program's chunks as functions for the loader in `code-cache.ts`. */
async function writeChunks(): Promise<Start> {
  const imports = new Map<string, readonly string[]>()
  const bundle = await rolldown({
    input: { main: PARTS.main[0]! },
    plugins: [
      licences,
      {
        name: 'start-up',
        moduleParsed: (file) => void imports.set(file.id, file.importedIds),
        renderChunk: (code: string) => exportValues(loadBuiltinsLate(code)),
      },
    ],
    platform: 'node',
    transform: { define: facts() },
    external: [/^@napi-rs\//],
    logLevel: 'warn',
  })
  // Asked for every module of every part, when all of them have been parsed.
  const known = new Map<string, ReadonlySet<string>>()
  const reached = (start: string): ReadonlySet<string> => {
    const files = known.get(start) ?? reach(resolve(start), imports)
    known.set(start, files)
    return files
  }
  const { output } = await bundle.generate({
    ...FORMAT,
    entryFileNames: '[name]-[hash].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    codeSplitting: {
      groups: Object.entries(PARTS).map(([name, starts], index) => ({
        name: chunkOf(name as keyof typeof PARTS),
        test: (id) => starts.every((start) => reached(start).has(id)),
        priority: 99 - index,
      })),
    },
  })
  const chunks = output.map((file) => {
    if (file.type !== 'chunk') throw new Error(`the bundle contains ${file.fileName}, which is not a chunk`)
    return file
  })
  const entry = chunks.find((chunk) => chunk.isEntry)!.fileName
  // What every start needs is one file, and the bundler's own few lines belong to it.
  const start = new Set([
    ...reach(entry, new Map(chunks.map((chunk) => [chunk.fileName, chunk.imports]))),
    ...chunks.filter((chunk) => chunk.name === 'rolldown-runtime').map((chunk) => chunk.fileName),
  ])
  const first = chunks.filter((chunk) => start.has(chunk.fileName))
  const textOf = (kept: typeof chunks) => `({${kept.map((chunk) => body(chunk.fileName, chunk.code)).join(',')}})`
  writeFileSync(`${draft}/chunks/${entry}`, textOf(first))
  for (const chunk of chunks)
    if (!start.has(chunk.fileName)) writeFileSync(`${draft}/chunks/${chunk.fileName}`, textOf([chunk]))
  const starts = Object.entries(STARTS).map(([command, parts]) => {
    const text = textOf([...first, ...parts.map((part) => chunks.find((chunk) => chunk.name === chunkOf(part))!)])
    // Like the names of chunks it carries a hash of its content, so that a code cache never meets another text.
    const file = `start-${command}-${createHash('sha256').update(text).digest('base64url').slice(0, 8)}.cjs`
    writeFileSync(`${draft}/chunks/${file}`, text)
    return [command, file] as const
  })
  return { main: entry, starts: Object.fromEntries(starts) }
}

/** The bundler names what is loaded late after its file: no file has a name like these. */
function chunkOf(part: keyof typeof PARTS): string {
  return `part.${part}`
}

/** Facts about this build for the program. */
function facts(): Readonly<Record<string, string>> {
  return {
    PROGRAM_NAMES: JSON.stringify(programNames()),
    CHANGING_PROGRAMS: JSON.stringify(changingPrograms()),
    BUILT_FILTERS: JSON.stringify(filters()),
    BUILD: JSON.stringify(sourceHash()),
    BUILT_IN_POLICY: JSON.stringify(builtInPolicy()),
    BUNDLES: JSON.stringify(JSON.stringify(JSON.parse(readFileSync('src/sandbox/bundles/bundles.json', 'utf8')))),
  }
}

/** What was remembered under other sources is not believed. */
function sourceHash(): string {
  const hash = createHash('sha256')
  const names = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:ts|json)$/.test(name))
  for (const name of names.sort())
    hash
      .update(`${name}\0`)
      .update(readFileSync(`src/${name}`))
      .update('\0')
  return hash.update(readFileSync('package-lock.json')).digest('base64url')
}

/** The system call filters that most sandboxes have, in base64. */
function filters(): Readonly<Record<string, string>> {
  const wanted = (['x64', 'arm64'] as const).flatMap((architecture) => [
    { architecture, unixSockets: false, changes: true, programs: true },
    { architecture, unixSockets: false, changes: true },
    { architecture, unixSockets: false, changes: false },
  ])
  return Object.fromEntries(
    wanted.map((options) => [filterName(options), Buffer.from(compileFilter(options)).toString('base64')]),
  )
}

/** A file and all that it imports when it is loaded. */
function reach(start: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set([start])
  for (const file of found) for (const imported of imports.get(file) ?? []) found.add(imported)
  return found
}

async function writeEntry({ main, starts }: Start): Promise<void> {
  const bundle = await rolldown({
    input: { cordon: 'src/surfaces/cli/start/entry.ts' },
    plugins: [licences],
    platform: 'node',
    transform: { define: { MAIN_CHUNK: JSON.stringify(`./${main}`), STARTS: JSON.stringify(starts) } },
    logLevel: 'warn',
  })
  const { output } = await bundle.generate({ ...FORMAT, banner: '#!/usr/bin/env node' })
  writeFileSync(`${draft}/cordon.cjs`, output[0].code, { mode: 0o755 })
}

/**
 * Built-in modules are loaded where they are first used: `node:crypto` alone takes a start 6 ms, and most commands need
 * none of them. Those that Node has loaded by itself stay as they are, and so does what is not used member by member.
 */
function loadBuiltinsLate(code: string): string {
  const found = code.matchAll(/^let (node_\w+) = require\("(node:(?!fs"|path")[\w/]+)"\);$/gm)
  return [...found].reduce((text, [line, name, module]) => {
    const late = text.replace(line, `let ${name}_; const ${name} = () => ${name}_ ??= require("${module}");`)
    const used = late.replace(new RegExp(`(?<![\\w$])${name}\\.`, 'g'), `(${name}()).`)
    const left = used.match(new RegExp(`(?<![\\w$])${name}(?![\\w$])(?!\\(\\)\\)\\.)`, 'g'))
    return left?.length === 1 ? used : text
  }, code)
}

/**
 * The bundler makes a getter of each export, because a `let` may change. Those of all others would be 1,000 functions and a
 * tenth of the compiled code of a run, so they become values, which exist at the end of a chunk.
 */
function exportValues(code: string): string {
  const found = code.matchAll(/^(?:const|class|(?:async )?function\*?|var(?= \S+ = class)) ([\w$]+)/gm)
  const fixed = new Set([...found].map(([, name]) => name))
  const getter =
    /^Object\.defineProperty\(exports, "([\w$]+)", \{\s+enumerable: true,\s+get: function \(\) \{\s+return ([\w$]+);\s+\}\s+\}\);$/gm
  return code.replace(getter, (text, name, value) => (fixed.has(value) ? `exports.${name} = ${value};` : text))
}

/** A chunk as a function, which is read without decoding, and contains no `import()`, which would resolve from the caller's folder. */
function body(name: string, code: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a whole is meant.
  const foreign = /[^\x00-\x7f]/.exec(code)
  if (foreign) {
    const near = code.slice(Math.max(0, foreign.index - 20), foreign.index + 20)
    throw new Error(`${name} is not ASCII: ${JSON.stringify(near)}`)
  }
  if (/\bimport\s*\(/.test(code)) {
    throw new Error(`${name} imports at run time; use require, or bundle what is imported`)
  }
  return `"./${name}":function(exports,require,module,__filename,__dirname){${code}\n}`
}

/** Removes what killed builds left behind; none takes an hour. */
function removeDrafts(): void {
  mkdirSync('dist', { recursive: true })
  for (const name of readdirSync('dist').filter((name) => name.startsWith('.draft-'))) {
    const left = statSync(`dist/${name}`, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - left > 3_600_000) rmSync(`dist/${name}`, { recursive: true, force: true })
  }
}

/** Puts the draft in place: the entry only when all that it loads is there, and the stamp last. */
function publish(): void {
  const previous = statSync('dist/.built', { throwIfNoEntry: false })?.mtimeMs ?? 0
  const chunks = moveFiles('chunks')
  moveFiles('native')
  moveFiles('inside')
  moveFiles('page')
  replaceFolder('lib')
  replaceFolder('licences')
  renameSync(`${draft}/cordon.cjs`, 'dist/cordon.cjs')
  // Out of the way at once: a hook that runs meanwhile writes into it, and what is written into cannot be removed.
  rename('dist/.code-cache', `${draft}/old-code-cache`)
  // A process of the previous build goes on loading its chunks, so those stay until the next one.
  for (const name of readdirSync('dist/chunks')) {
    const chunk = `dist/chunks/${name}`
    if (!chunks.includes(name) && (release || statSync(chunk).mtimeMs < previous)) rmSync(chunk)
  }
  renameSync(`${draft}/.built`, 'dist/.built')
}

function moveFiles(folder: string): readonly string[] {
  mkdirSync(`dist/${folder}`, { recursive: true })
  const names = readdirSync(`${draft}/${folder}`)
  for (const name of names) renameSync(`${draft}/${folder}/${name}`, `dist/${folder}/${name}`)
  return names
}

/** A folder cannot be renamed over another, and where two builds meet there may be another again. */
function replaceFolder(folder: string): void {
  for (let old = 0; ; old++) {
    const codes = [rename(`dist/${folder}`, `${draft}/old-${old}`), rename(`${draft}/${folder}`, `dist/${folder}`)]
    if (codes[1] === null) return
    if (codes[1] !== 'ENOTEMPTY') throw new Error(`dist/${folder} cannot be put in place: ${codes.join(', ')}`)
  }
}

function rename(from: string, to: string): string | null {
  try {
    renameSync(from, to)
    return null
  } catch (error) {
    return errorCode(error)
  }
}

/** A step of the build that has said by itself why it failed. */
function step(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' })
  if (status === 0) return
  rmSync(draft, { recursive: true, force: true })
  console.error(`build: ${program} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`)
  process.exit(1)
}
