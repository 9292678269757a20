/** Bundles: what a development tool needs on the machine, as data (O5). */

import { posix } from 'node:path'
import { matchSegment } from '../../files/glob.ts'

/** Where a tool's registry is configured: in the output of a command, or in a file of the user. */
export interface RegistrySource {
  /** Run outside the project with a clean environment, so that no file of the project has a say. */
  readonly command: readonly string[] | null
  /** The files that the command reads, absolute or with `~/`: unchanged files, unchanged output. */
  readonly reads: readonly string[]
  /** A file of the user, with `~/`. */
  readonly file: string | null
  /** A file of the project, as at signing; it takes precedence over the user's own. */
  readonly project: string | null
  /** A regular expression; group 1 is a URL or a host. */
  readonly match: string
  /** True: the registry is served from names below that host too. */
  readonly subdomains: boolean
  /** The variable with the same URL for the tool inside, where its own configuration is masked. */
  readonly variable: string | null
}

/** A key of the person that a tool sends to its own hosts: inside there is a placeholder in its place (N7). */
export interface BundleSecret {
  /** The variable with the secret outside and the placeholder inside. */
  readonly name: string
  /** Empty where the data file names none: it goes to the host that the person's own entry under [[secrets]] names, and without one nowhere. */
  readonly hosts: readonly string[]
  /** Lower-case. */
  readonly header: string
  /** Headers and parameters of the tool's own that may go along; everything that is not known to be harmless stays here. */
  readonly passHeaders: readonly string[]
  readonly passParameters: readonly string[]
  /** Asked for by GET without the key: whether the host is there. */
  readonly openPaths: readonly string[]
}

/** What one tool gets. Paths are under the home directory. */
export interface Bundle {
  readonly tool: string
  readonly summary: string
  /** First words of a pattern that the bundle applies to. */
  readonly programs: readonly string[]
  /** It is an agent, not a tool of one. */
  readonly agent?: true
  /** What its registries serve. */
  readonly packages?: 'npm' | 'pypi' | 'crates'
  readonly read: readonly string[]
  /** Caches: written while `fetch` is on, otherwise read. */
  readonly cache: readonly string[]
  /** Where the tool installs programs for the user: written only with `install = true`. */
  readonly install: readonly string[]
  readonly env: readonly string[]
  /** Variables with fixed values, if the person's environment does not set them. */
  readonly set: Readonly<Record<string, string>>
  readonly hosts: readonly string[]
  /** Addresses (`HOST/PATH`) that it asks for by GET before it starts. */
  readonly checks: readonly string[]
  /** Hosts of its updates, catalogues and telemetry: denied without asking. */
  readonly declined: readonly string[]
  /** The subcommands that use the network, `-` for none at all, `npx:*` for every use of a program; null for every use. */
  readonly online: readonly string[] | null
  readonly secrets: readonly BundleSecret[]
  readonly registries: readonly RegistrySource[]
  /** Whether it may fetch unless the manifest says otherwise. */
  readonly fetch: boolean
  /** Notes for a person before using it. */
  readonly notes: readonly string[]
}

/** A bundle as the manifest asks for it; null knobs have the bundle's own default. */
export interface BundleChoice {
  readonly tool: string
  readonly fetch: boolean | null
  readonly install: boolean | null
  readonly defaultDomains: boolean
  readonly wrappers: readonly string[]
}

/** A bundle that applies to a command, with its knobs settled. */
export interface AppliedBundle {
  readonly bundle: Bundle
  readonly fetch: boolean
  readonly install: boolean
  readonly defaultDomains: boolean
  /** The program or wrapper that applied it. */
  readonly by: string
}

/** What the applied bundles add to a sandbox. */
export interface BundleFurnishing {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly env: readonly string[]
  /** Host patterns, without those of the manifest's own `domains`. */
  readonly hosts: readonly string[]
  /** Variables that apply if the person's environment does not set them. */
  readonly defaults: Readonly<Record<string, string>>
  /** Variables with fixed values: where the registry is. */
  readonly variables: Readonly<Record<string, string>>
}

/** Registries found when the manifest was signed: URLs without credentials, by tool. */
export type RegistryFacts = Readonly<Record<string, readonly RegistryFact[]>>

/** One registry of a tool. */
export interface RegistryFact {
  readonly url: string
  readonly host: string
  readonly subdomains: boolean
  readonly variable: string | null
}

/** The subcommands of one of a bundle's programs that have its hosts; undefined for every use. */
export function onlineCommands({ online }: Pick<Bundle, 'online'>, program: string): readonly string[] | undefined {
  if (online === null || online.includes(`${program}:*`)) return undefined
  return online.filter((entry) => !entry.endsWith(':*'))
}

/** Programs that run anything: a bundle never comes alive in them, whatever `wrappers` says. */
const SHELLS: ReadonlySet<string> = new Set(
  'sh bash dash zsh fish ksh mksh ash csh tcsh rbash busybox env eval exec xargs command sudo doas'.split(' '),
)

/**
 * The bundles that apply to a command: the matched pattern starts with one of their programs or wrappers. The words are
 * those of the pattern, not of the command, so that a broad pattern lifts nothing that it does not name.
 */
export function selectBundles(
  choices: readonly BundleChoice[],
  words: readonly string[],
  find: (tool: string) => Bundle | undefined,
): readonly AppliedBundle[] {
  const first = words[0]
  if (first === undefined || SHELLS.has(posix.basename(first))) return []
  const applied: AppliedBundle[] = []
  for (const choice of choices) {
    const bundle = find(choice.tool)
    if (!bundle) continue
    const own = bundle.programs.some((program) => matchSegment(program, first))
    const wrapped = choice.wrappers.some((wrapper) => startsWithWords(words, wrapper.replace(/:\*$/, '').split(/\s+/)))
    if (!own && !wrapped) continue
    applied.push({
      bundle,
      fetch: choice.fetch ?? bundle.fetch,
      install: choice.install ?? false,
      defaultDomains: choice.defaultDomains,
      by: first,
    })
  }
  return applied
}

/** What a set of applied bundles adds to the sandbox of one command. */
export function furnish(
  applied: readonly AppliedBundle[],
  facts: { readonly home: string; readonly registries: RegistryFacts },
): BundleFurnishing {
  const reads = new Set<string>()
  const writes = new Set<string>()
  const env = new Set<string>()
  const hosts = new Set<string>()
  const defaults: Record<string, string> = {}
  const variables: Record<string, string> = {}
  const place = (path: string): string => facts.home + path.slice(1)
  for (const { bundle, fetch, install, defaultDomains } of applied) {
    for (const path of bundle.read) reads.add(place(path))
    for (const path of bundle.cache) (fetch ? writes : reads).add(place(path))
    for (const path of bundle.install) (install ? writes : reads).add(place(path))
    for (const name of bundle.env) env.add(name)
    Object.assign(defaults, bundle.set)
    if (fetch && defaultDomains) for (const host of bundle.hosts) hosts.add(host)
    for (const registry of facts.registries[bundle.tool] ?? []) {
      if (registry.variable !== null) variables[registry.variable] = registry.url
      if (!fetch || !defaultDomains) continue
      hosts.add(registry.host)
      if (registry.subdomains) hosts.add(`*.${registry.host}`)
    }
  }
  for (const path of writes) reads.delete(path)
  return { reads: [...reads], writes: [...writes], env: [...env], hosts: [...hosts], defaults, variables }
}

function startsWithWords(words: readonly string[], prefix: readonly string[]): boolean {
  return prefix.length > 0 && prefix[0] !== '' && prefix.every((word, index) => words[index] === word)
}
