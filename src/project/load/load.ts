/** Finds a project's manifests, merges their layers and compiles the policy. */

import { join, resolve } from 'node:path'
import { type CompiledPolicy, compileManifest } from '../../manifest/compile.ts'
import { mergeLayers } from '../../manifest/layers.ts'
import type { LoadOptions, openManifest } from '../../manifest/load.ts'
import type { Manifest } from '../../manifest/schema/manifest.ts'
import type { BundleSetting } from '../../manifest/schema/settings.ts'
import type { Problem } from '../../manifest/toml/problem.ts'
import type { CommandPattern } from '../../policy/command-pattern.ts'
import { grantMatches } from '../../policy/evaluate/command-match.ts'
import { builtInBundle, bundleNames } from '../../sandbox/bundles/built-in.ts'
import { onlineCommands, type RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { findRoot, MANIFEST_NAME } from '../place/root.ts'
import { extendPolicy, freeHosts, keyedHosts } from './extend.ts'
import {
  readManifests,
  readOrganisation,
  readUserManifest,
  type WrittenManifest,
  type WrittenManifests,
} from './memory.ts'

/** The project's manifest, one that the person named, or an object that replaces every layer. */
export type ManifestChoice =
  | { readonly kind: 'project' }
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'object'; readonly object: unknown }

export interface LoadRequest {
  readonly machine: Machine
  readonly files: Files
  /** The project root; null: search upwards from the working directory. */
  readonly root: string | null
  readonly choice: ManifestChoice
  /** The organisation's manifests; read from this machine by default. */
  readonly organisation?: readonly WrittenManifest[]
}

export interface LoadedPolicy extends CompiledPolicy {
  /**
   * The project that the root replaces, for a session with its own directory (F7). Commands
   * find the root by that name too.
   */
  readonly standsFor?: string
  readonly root: string
  readonly manifestPath: string
  /** Whether the project has its own manifest, which must be signed to take effect (M3). */
  readonly ownManifest: boolean
  /** Registries of the bundles (O5), from the signature or from the person. */
  readonly registries: RegistryFacts
}

export interface LoadedManifest extends LoadedPolicy {
  readonly manifest: Manifest
  readonly project: Manifest | null
  /** The texts that were read, if they are the project's and the user's. */
  readonly written: WrittenManifests | null
}

export type LoadOutcome = { readonly loaded: LoadedManifest } | { readonly problems: readonly Problem[] }

/** Loads a project's policy. Throws a Fault if a manifest cannot be read. */
export async function loadPolicy(request: LoadRequest): Promise<LoadOutcome> {
  const { machine, files, choice } = request
  const root = files.canonical(
    request.root === null ? findRoot(machine.cwd, files) : resolve(machine.cwd, request.root),
  )
  const manifestPath = join(root, MANIFEST_NAME)
  const layers = await openLayers(request, root)
  if ('problems' in layers) return layers
  const merged = mergeLayers(layers.layers, layers.suffixes)
  const compiled = compileManifest(merged.manifest, {
    root,
    home: machine.home,
    env: machine.env,
    suffixes: layers.suffixes,
    realpath: (path) => files.canonical(path),
    foldsNames: process.platform === 'darwin',
    bundleHosts,
    bundleCommands,
  })
  if ('problems' in compiled) return { problems: compiled.problems }
  const { policy } = compiled
  const project = choice.kind === 'project' ? (layers.layers.project ?? null) : null
  const brokered = new Set(compiled.sandbox.secrets.map((secret) => secret.value.name))
  return {
    loaded: extendPolicy<LoadedManifest>(
      {
        ...compiled,
        policy: layers.suffixes ? { ...policy, http: { ...policy.http, suffixes: layers.suffixes } } : policy,
        warnings: [...layers.warnings, ...merged.warnings, ...compiled.warnings],
        manifest: merged.manifest,
        project,
        written: layers.written,
        ownManifest: project !== null,
        registries: {},
        root,
        manifestPath: choice.kind === 'file' ? files.canonical(resolve(machine.cwd, choice.file)) : manifestPath,
      },
      { toolHosts: keyedHosts(compiled.sandbox.bundles, brokered) },
    ),
  }
}

/** Hosts of a bundle by program. Registries are added once the manifest is signed. */
function bundleHosts(choice: BundleSetting): ReadonlyMap<string, readonly string[]> {
  const bundle = builtInBundle(choice.tool)
  const fetches = bundle && (choice.fetch ?? bundle.fetch) && choice.defaultDomains
  // Without its own hosts a bundle keeps those that the manifest writes for it.
  return new Map((bundle?.programs ?? []).map((program) => [program, fetches ? freeHosts(bundle!) : []]))
}

function bundleCommands(choice: BundleSetting, program: string): readonly string[] | undefined {
  const bundle = builtInBundle(choice.tool)
  return bundle && onlineCommands(bundle, program)
}

type OpenedLayers =
  | {
      readonly layers: Parameters<typeof mergeLayers>[0]
      readonly warnings: readonly Problem[]
      readonly suffixes: LoadOptions['suffixes'] & (object | null)
      readonly written: WrittenManifests | null
    }
  | { readonly problems: readonly Problem[] }

async function openLayers(request: LoadRequest, root: string): Promise<OpenedLayers> {
  const { machine, files, choice } = request
  const texts = request.organisation ?? (await readOrganisation(machine))
  const organisation = await openOrganisation(texts)
  if ('problems' in organisation) return organisation
  const { manifests } = organisation
  if (choice.kind === 'object') {
    const result = await open({ object: choice.object }, { below: mergeLayers({ organisation: manifests }).manifest })
    if ('problems' in result) return { problems: result.problems }
    return {
      layers: { organisation: manifests, project: result.manifest },
      warnings: [...organisation.warnings, ...result.warnings],
      suffixes: result.suffixes ?? organisation.suffixes,
      written: null,
    }
  }
  const written =
    choice.kind === 'project'
      ? readManifests(root, machine, files, texts)
      : { user: readUserManifest(machine, files), project: namedManifest(choice.file, machine, files) }
  const above = manifests.length === 0 ? null : mergeLayers({ organisation: manifests }).manifest
  const user = written.user && (await openWritten(written.user, { below: above }))
  if (user && 'problems' in user) return { problems: user.problems }
  const own = user?.manifest ?? null
  const below = above === null ? own : mergeLayers({ organisation: manifests, user: own }).manifest
  const project = written.project && (await openWritten(written.project, { below }))
  if (project && 'problems' in project) return { problems: project.problems }
  return {
    layers: { organisation: manifests, user: own, project: project?.manifest ?? null },
    warnings: [...organisation.warnings, ...(user?.warnings ?? []), ...(project?.warnings ?? [])],
    suffixes: project?.suffixes ?? user?.suffixes ?? organisation.suffixes,
    written: 'organisation' in written ? written : null,
  }
}

type OpenedOrganisation =
  | {
      readonly manifests: readonly Manifest[]
      readonly warnings: readonly Problem[]
      readonly suffixes: LoadOptions['suffixes'] & (object | null)
    }
  | { readonly problems: readonly Problem[] }

async function openOrganisation(texts: readonly WrittenManifest[]): Promise<OpenedOrganisation> {
  const opened = []
  for (const text of texts) {
    const result = await openWritten(text)
    if ('problems' in result) return { problems: result.problems }
    opened.push(result)
  }
  return {
    manifests: opened.map(({ manifest }) => manifest),
    warnings: opened.flatMap(({ warnings }) => warnings),
    suffixes: opened.find(({ suffixes }) => suffixes !== null)?.suffixes ?? null,
  }
}

function namedManifest(file: string, { cwd }: Machine, files: Files): WrittenManifest {
  return { text: files.readText(resolve(cwd, file)), label: file }
}

function openWritten({ text, label }: WrittenManifest, options?: LoadOptions): ReturnType<typeof openManifest> {
  return open({ text, file: label }, options)
}

/** Parses a manifest. The shell analysis is loaded only for manifests with examples. */
async function open(
  input: Parameters<typeof openManifest>[0],
  options: LoadOptions = {},
): ReturnType<typeof openManifest> {
  const { openManifest } = await import('../../manifest/load.ts')
  const hasExamples = JSON.stringify(input).includes('match')
  const known = { ...options, bundles: bundleNames() }
  return openManifest(input, hasExamples ? { ...known, matches: await exampleMatcher() } : known)
}

/** An example (M5) is a command text; a rule matches if it matches one simple command. */
export async function exampleMatcher(): Promise<LoadOptions['matches']> {
  const { analyze } = await import('../../shell/walk/analyze.ts')
  return (pattern: CommandPattern, command: string): boolean => {
    const analysis = analyze(command, { cwd: '/', home: '/' })
    return 'facts' in analysis && analysis.facts.commands.some((fact) => grantMatches(pattern, fact.argv))
  }
}
