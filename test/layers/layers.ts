/**
 * Which folder of the sources may import which: the one table. `layers.test.ts` holds the import graph against it, and
 * the globals that pure code must not touch are in `biome.json`.
 */

export interface Layer {
  /** A folder below `src/`; the longest one that holds a file is the file's layer. */
  readonly folder: string
  /** The folders that it may import, itself aside. */
  readonly may: readonly string[]
  /** Packages and built-in modules that it may import; absent: any. */
  readonly modules?: readonly string[]
  readonly why: string
}

const pure = ['shell', 'files', 'hosts', 'policy', 'scan']
const effects = ['manifest', 'approval', 'sandbox', 'egress', 'audit', 'tools', 'undo', 'providers', 'code', 'fleet']

/** What surfaces have in common. */
const shared = ['surfaces/terminal', 'surfaces/loopback']

const PURE_WHY = 'Pure folders import pure folders, node:path and their parser only: effects belong in system/.'
const EFFECT_WHY = 'Effect folders import pure folders and system/, never each other: runtime/ composes them.'

export const layers: readonly Layer[] = [
  { folder: 'shell', may: pure, modules: ['node:path', 'unbash'], why: PURE_WHY },
  { folder: 'hosts', may: pure, modules: ['node:path', 'tldts'], why: PURE_WHY },
  { folder: 'scan', may: pure, modules: ['node:path', 'get-east-asian-width'], why: PURE_WHY },
  ...['files', 'policy'].map((folder) => ({ folder, may: pure, modules: ['node:path'], why: PURE_WHY })),
  { folder: 'system', may: [], why: 'system/ is the ground: it imports nothing of Cordon.' },
  ...effects.map((folder) => ({ folder, may: [...pure, 'system'], why: EFFECT_WHY })),
  { folder: 'runtime', may: [...pure, ...effects, 'system'], why: 'runtime/ does not know its surfaces.' },
  ...shared.map((folder) => ({ folder, may: [...pure, 'system'], why: 'What surfaces share knows none of them.' })),
  ...['surfaces/acp', 'surfaces/chat', 'surfaces/hook', 'surfaces/mcp', 'surfaces/page'].map((folder) => ({
    folder,
    may: [...pure, 'system', 'runtime', ...shared],
    why: 'A surface talks to runtime/ and to what surfaces share, never to another surface.',
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
      'runtime',
      ...shared,
      'surfaces/acp',
      'surfaces/chat',
      'surfaces/hook',
      'surfaces/mcp',
      'surfaces/page',
    ],
    why: 'The command line starts every other surface, and none of them knows it.',
  },
  { folder: 'surfaces', may: [], why: 'A surface is a folder with a row of its own in this table.' },
  {
    folder: 'adapters',
    may: [...pure, 'system', 'runtime', 'tools'],
    why: 'Adapters speak of sessions and tools only.',
  },
  { folder: '', may: ['*'], why: 'The library names what it exports.' },
]

/** Single files of effect folders that are pure: what they import is pure or pure by this list. */
export const pureFiles: readonly string[] = [
  'sandbox/plan.ts',
  'sandbox/room.ts',
  'sandbox/changes.ts',
  'undo/journal.ts',
  'undo/net-changes.ts',
  'undo/contents.ts',
  'sandbox/bwrap/args.ts',
  'sandbox/bwrap/clipboard-filter.ts',
  'sandbox/bwrap/seccomp.ts',
  'sandbox/seatbelt/profile.ts',
  'sandbox/seatbelt/kernel-refusal.ts',
  'audit/event.ts',
  'egress/route/rules.ts',
  'egress/route/event.ts',
  'egress/route/aliases.ts',
  'egress/route/event-log.ts',
  'sandbox/limits.ts',
  'sandbox/report.ts',
  'sandbox/violation.ts',
  'sandbox/bwrap/syscalls.ts',
  'sandbox/bwrap/steps.ts',
  'system/fault-codes.ts',
  'sandbox/bundles/bundle.ts',
  'sandbox/bundles/built-in.ts',
  'sandbox/bundles/bundles.generated.ts',
  'project/load/extend.ts',
  'project/load/keyed-hosts.ts',
  'project/registries/hosts.ts',
  'confine/confinement.ts',
  'confine/entitlement.ts',
  'confine/hosts.ts',
  'confine/run-grants.ts',
  'confine/text-plan.ts',
  'confine/typed-words.ts',
  'sandbox/bwrap/orders.ts',
  'sandbox/bwrap/order-bytes.ts',
  'sandbox/bwrap/init-messages.ts',
  'sandbox/bwrap/probe-limits.ts',
  'egress/credentials/aws-scope.ts',
  'egress/credentials/foreign-credential.ts',
  'egress/credentials/escapes.ts',
  'egress/credentials/secret-forms.ts',
  'egress/wire/request-head.ts',
  'egress/wire/override-headers.ts',
  'egress/wire/connect-request.ts',
  'egress/wire/git-call.ts',
  'egress/wire/form-fields.ts',
  'egress/logins/postgres-messages.ts',
  'egress/logins/redis-commands.ts',
  'egress/clients/ssh-connect.ts',
  'egress/tls/der.ts',
  'egress/tls/pkcs12.ts',
  'egress/wire/refusal.ts',
  'egress/wire/target.ts',
  'egress/route/loopback.ts',
  'sandbox/protect/git-config.ts',
  'sandbox/oci/entry.ts',
  'sandbox/oci/room-spec.ts',
  'sandbox/oci/hit.ts',
  'code/declarations.ts',
  'code/frame.ts',
  'code/component/imports.ts',
  'code/python/bootstrap.ts',
  'code/inside/prelude.ts',
]

/** How many source files a folder may hold, so that a newcomer reads its listing at a glance. */
export const MOST_FILES = 25

/** Folders with more, and why they are not divided. */
export const crowded: Readonly<Record<string, string>> = {
  'surfaces/cli/commands': 'One file a command, by the command’s own name: whoever looks for it knows the name.',
}

/** Who may make a `CheckedPath`: those that judge a path, and guarded files of what they made themselves. */
export const checkers: readonly string[] = [
  'call/decide/resolve-call.ts',
  'session/context.ts',
  'system/guarded/directory.ts',
]

/** Who reads manifests without asking whether they are signed, and why; everybody else opens a policy (`project/open.ts`). */
export const manifestReaders: Readonly<Record<string, string>> = {
  'index.ts': 'The library exports it, to decide and to show; `createCordon` opens.',
  'chat/provider-setup.ts': 'No project is open: the user’s and the organisation’s rules need no signature.',
  'organisation/draft.ts': 'A draft of the organisation’s, from an object: nothing runs by it.',
  'agents/import/manifest.ts': 'Whether lines of another agent load, from an object.',
  'learn/from-record.ts': 'It asks about the signature itself: when it was made.',
  'project/open.ts': 'The opener.',
  'report/standing.ts': 'It asks about the signature itself: whose it is, and from when.',
  'surfaces/cli/commands/policy/learn.ts': 'A text that is shown, then signed.',
  'surfaces/cli/open-policy.ts': 'For the commands that show, test, check or sign what is written.',
}

/** One import of one file: what it names, and the file below `src/` that it leads to, or the module's name. */
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

/** Whether a file is held to be pure, by its folder or by itself. */
export function isPure(file: string): boolean {
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
