/**
 * Which folder of the sources may import which: the one table. `layers.test.ts` checks the import graph against it, and
 * the globals that pure code must not touch are in `biome.json`.
 */

import { posix } from 'node:path'

export interface Layer {
  /** A folder below `src/`; the longest one that contains a file is its layer. */
  readonly folder: string
  /** The folders that it may import, itself aside. */
  readonly may: readonly string[]
  /** Packages and built-in modules that it may import; absent: any. */
  readonly modules?: readonly string[]
  readonly why: string
}

const pure = ['shell', 'files', 'hosts', 'policy', 'scan']
const effects = ['manifest', 'approval', 'sandbox', 'egress', 'audit', 'tools', 'undo', 'providers', 'code', 'fleet']

/** What composes the effect folders, in the order of a call, and which of the rows above it a row may import. */
const core: Readonly<Record<string, readonly string[]>> = {
  project: [],
  confine: ['project'],
  run: ['project', 'confine'],
  custom: ['project', 'confine', 'run'],
  questions: ['project'],
  call: ['project', 'confine', 'run', 'custom'],
  'one-off': ['project', 'confine', 'run', 'questions', 'call'],
  session: ['project', 'confine', 'run', 'custom', 'questions', 'call'],
  agents: ['project', 'confine', 'run', 'custom', 'questions', 'call', 'one-off'],
}

/** Optional products: the core runs without them. */
const products: Readonly<Record<string, readonly string[]>> = {
  learn: ['project', 'confine', 'run', 'call', 'one-off'],
  report: ['project', 'confine', 'run', 'questions', 'agents'],
  chat: ['project', 'run', 'custom', 'call', 'session', 'agents'],
  organisation: ['project', 'questions', 'call'],
}

/** Which effect folders the core leaves to the products, and the one row that needs one of them all the same. */
const productEffects = ['providers', 'fleet']
const coreEffects = effects.filter((folder) => !productEffects.includes(folder))

/** What surfaces have in common. */
const shared = ['surfaces/terminal', 'surfaces/loopback']

const surfaces: Readonly<Record<string, readonly string[]>> = {
  acp: ['project', 'run', 'call', 'one-off', 'session', 'chat'],
  chat: ['run', 'session', 'chat'],
  hook: ['project', 'run', 'custom', 'questions', 'call', 'agents', 'organisation'],
  mcp: ['project', 'questions', 'call', 'session', 'agents', 'organisation'],
  page: ['project', 'run', 'questions', 'call', 'session', 'report', 'learn', 'organisation'],
}

const PURE_WHY = 'Pure folders import pure folders, node:path and their parser only: effects belong in system/.'
const EFFECT_WHY = 'Effect folders import pure folders and system/, never each other: the core composes them.'
const CORE_WHY = 'A part of the core imports the parts before it, never a product or a surface.'

export const layers: readonly Layer[] = [
  { folder: 'shell', may: pure, modules: ['node:path', 'unbash'], why: PURE_WHY },
  { folder: 'hosts', may: pure, modules: ['node:path', 'tldts'], why: PURE_WHY },
  { folder: 'scan', may: pure, modules: ['node:path', 'get-east-asian-width'], why: PURE_WHY },
  ...['files', 'policy'].map((folder) => ({ folder, may: pure, modules: ['node:path'], why: PURE_WHY })),
  { folder: 'system', may: [], why: 'system/ is the ground: it imports nothing of Cordon.' },
  ...effects.map((folder) => ({ folder, may: [...pure, 'system'], why: EFFECT_WHY })),
  ...Object.entries(core).map(([folder, before]) => ({
    folder,
    // The organisation's manifests are read where the others are.
    may: [...pure, ...coreEffects, ...(folder === 'project' ? ['fleet'] : []), 'system', ...before],
    why: CORE_WHY,
  })),
  ...Object.entries(products).map(([folder, used]) => ({
    folder,
    may: [...pure, ...effects, 'system', ...used],
    why: 'A product imports the core as its row says, and no other product.',
  })),
  ...shared.map((folder) => ({ folder, may: [...pure, 'system'], why: 'What surfaces share knows none of them.' })),
  ...Object.entries(surfaces).map(([name, used]) => ({
    folder: `surfaces/${name}`,
    may: [...pure, 'system', ...used, ...shared],
    why: 'A surface talks to the core, its product and what surfaces share, never to another surface.',
  })),
  {
    folder: 'surfaces/page/client',
    may: ['surfaces/page'],
    modules: ['preact', 'preact/hooks'],
    why: 'What runs in the browser knows the forms of what it is sent, and Preact.',
  },
  {
    folder: 'surfaces/cli',
    may: [
      ...pure,
      'system',
      ...Object.keys(core),
      ...Object.keys(products),
      ...shared,
      ...Object.keys(surfaces).map((name) => `surfaces/${name}`),
    ],
    why: 'The command line starts every other surface, and none of them knows it.',
  },
  { folder: 'surfaces', may: [], why: 'A surface is a folder with its own row in this table.' },
  {
    folder: 'adapters',
    may: [...pure, 'system', 'call', 'session', 'tools'],
    why: 'Adapters speak of sessions and tools only.',
  },
  { folder: 'exports', may: ['*'], why: 'The entry points of the package name what they export.' },
  { folder: '', may: ['*'], why: 'The library names what it exports.' },
]

/** Single files of effect folders that are pure: what they import is pure or pure by this list. */
export const pureFiles: readonly string[] = [
  'sandbox/plan.ts',
  'sandbox/protocol.ts',
  'sandbox/layout.ts',
  'sandbox/changes.ts',
  'undo/journal.ts',
  'undo/net-changes.ts',
  'sandbox/bwrap/args.ts',
  'sandbox/bwrap/clipboard-filter.ts',
  'sandbox/bwrap/seccomp.ts',
  'sandbox/experimental/seatbelt/profile.ts',
  'audit/event.ts',
  'egress/packages/release.ts',
  'egress/packages/rules.ts',
  'egress/route/rules.ts',
  'egress/route/event.ts',
  'egress/route/aliases.ts',
  'sandbox/limits.ts',
  'sandbox/report.ts',
  'sandbox/repair.ts',
  'sandbox/violation.ts',
  'sandbox/bwrap/syscalls.ts',
  'sandbox/bwrap/steps.ts',
  'system/fault.ts',
  'sandbox/bundles/bundle.ts',
  'sandbox/bundles/built-in.ts',
  'project/load/extend.ts',
  'project/registries/hosts.ts',
  'confine/confinement.ts',
  'confine/entitlement.ts',
  'confine/run-grants.ts',
  'confine/text-plan.ts',
  'sandbox/bwrap/setup-message.ts',
  'sandbox/bwrap/init-messages.ts',
  'sandbox/bwrap/probe-limits.ts',
  'egress/credentials/foreign-credential.ts',
  'egress/credentials/escapes.ts',
  'egress/credentials/secret-forms.ts',
  'egress/wire/request-head.ts',
  'egress/wire/override-headers.ts',
  'egress/wire/request-head.ts',
  'egress/wire/git-call.ts',
  'egress/wire/form-fields.ts',
  'egress/logins/postgres-messages.ts',
  'egress/logins/redis-commands.ts',
  'egress/clients/ssh-connect.ts',
  'egress/tls/der.ts',
  'egress/wire/refusal.ts',
  'egress/wire/target.ts',
  'egress/route/rules.ts',
  'sandbox/protect/git-config.ts',
  'sandbox/oci/layout-spec.ts',
  'code/declarations.ts',
  'code/frame.ts',
  'code/component/imports.ts',
  'code/python/bootstrap.ts',
  'code/inside/prelude.ts',
]

/** How many source files a folder may hold, so that a newcomer reads its listing at a glance. */
export const MOST_FILES = 25

/** Who may create a `CheckedPath`: code that judges a path, and guarded files for what they created themselves. */
export const checkers: readonly string[] = [
  'call/decide/resolve-call.ts',
  'session/stages.ts',
  'system/guarded/directory.ts',
]

/** Files that read manifests without checking signatures, and why; everybody else opens a policy (`project/open.ts`). */
export const manifestReaders: Readonly<Record<string, string>> = {
  'agents/import/manifest.ts': 'Whether lines of another agent load, from an object.',
  'chat/config.ts': 'No project is open: the user’s and the organisation’s rules need no signature.',
  'chat/review-model.ts': 'No project is open: the user’s and the organisation’s rules need no signature.',
  'index.ts': 'The library exports it, to decide and to show; `createCordon` opens.',
  'learn/from-record.ts': 'It asks about the signature itself: when it was written.',
  'organisation/draft.ts': 'A draft of the organisation’s, from an object: nothing runs by it.',
  'project/open.ts': 'The opener.',
  'report/project-status.ts': 'It asks about the signature itself: whose it is, and from when.',
  'surfaces/cli/commands/policy/learn.ts': 'A text that is shown, then signed.',
  'surfaces/cli/open-policy.ts': 'For the commands that show, test, check or sign what is written.',
}

/** One import of one file: what it names, and the file below `src/` that it points to, or the module's name. */
export interface Import {
  readonly file: string
  readonly target: string
  readonly isModule: boolean
  /** Of types alone: nothing of it is left when the code runs. */
  readonly isType: boolean
}

/** The breaches of the table among some imports, as sentences. */
export function breaches(imports: readonly Import[]): readonly string[] {
  return imports.flatMap((one) => {
    const layer = layerOf(one.file)
    const said = `src/${one.file} imports ${one.target}: ${layer.why}`
    if (one.isModule) return layer.modules === undefined || layer.modules.includes(one.target) ? [] : [said]
    const other = layerOf(one.target)
    if (other.folder === layer.folder || layer.may.includes('*')) return []
    return layer.may.includes(other.folder) ? [] : [said]
  })
}

/** The folders that import each other, directly or over others: none may. Types count too. */
export function foldersInCycles(imports: readonly Import[]): readonly string[] {
  let left = imports
    .filter(({ isModule }) => !isModule)
    .map(({ file, target }) => [posix.dirname(file), posix.dirname(target)] as const)
    .filter(([from, to]) => from !== to)
  for (;;) {
    const [importing, imported] = [new Set(left.map(([from]) => from)), new Set(left.map(([, to]) => to))]
    const next = left.filter(([from, to]) => importing.has(to) && imported.has(from))
    if (next.length === left.length) return [...importing].toSorted()
    left = next
  }
}

/** Whether a file must be pure, by its folder or by itself. */
export function isPure(file: string): boolean {
  // Data, which the build puts in: nothing runs.
  if (file.endsWith('.json')) return true
  return pure.includes(layerOf(file).folder) || pureFiles.includes(file)
}

/** What pure files of effect folders import beyond what is pure. */
export function impurities(imports: readonly Import[]): readonly string[] {
  return imports
    .filter(({ file, isType }) => pureFiles.includes(file) && !isType)
    .filter((one) => (one.isModule ? one.target !== 'node:path' : !isPure(one.target)))
    .map(({ file, target }) => `src/${file} is pure and imports ${target}`)
}

function layerOf(file: string): Layer {
  const found = layers.filter(({ folder }) => folder === '' || file.startsWith(`${folder}/`))
  return found.reduce((best, layer) => (layer.folder.length > best.folder.length ? layer : best))
}
