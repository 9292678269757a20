/** "Always" and "never": writes an answer into the manifest and signs it again (P6). */

import { join } from 'node:path'
import type { SavedAnswer } from '../approval/approve.ts'
import { tldtsSuffixes } from '../hosts/suffix.ts'
import { loadManifest } from '../manifest/load.ts'
import type { Manifest } from '../manifest/schema/manifest.ts'
import { type AmendOutcome, amendManifest } from '../manifest/sign/amend.ts'
import { canonicalManifest } from '../manifest/sign/canonical.ts'
import { verifyManifest } from '../manifest/sign/sign.ts'
import { appendToList } from '../manifest/toml/edit.ts'
import type { Policy } from '../policy/policy.ts'
import { bundleNames } from '../sandbox/bundles/built-in.ts'
import { pinsScript } from '../shell/inspect/interpreters.ts'
import { messageOf } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import { openKeyStore } from '../system/keys/keychain.ts'
import type { Machine } from '../system/machine.ts'
import { exampleMatcher, type LoadedPolicy } from './load/load.ts'
import { openPolicy } from './open.ts'
import { MANIFEST_NAME } from './place/root.ts'
import { signedText } from './sign/seal.ts'
import { trustRequest } from './sign/trust.ts'

/** The new policy, or why the answer applies to this session only. */
export type AmendResult = { readonly loaded: LoadedPolicy } | { readonly kept: string; readonly why: string }

/** Where a manifest stores an answer. */
export interface ListPlace {
  readonly section: readonly string[]
  readonly name: string
  /** Entries to write before the answer if the list is new. */
  readonly first?: readonly string[]
}

/** Writes an answer into the manifest. If it cannot, the answer applies to the session. */
export async function amendProject(
  loaded: LoadedPolicy,
  remembered: SavedAnswer,
  machine: Machine,
  files: Files,
): Promise<AmendResult> {
  if (!loaded.ownManifest) {
    const why = files.exists(join(loaded.root, MANIFEST_NAME))
      ? 'the manifest was named for this run only'
      : 'the project has no cordon.toml (cordon init writes one)'
    return kept(why)
  }
  const place = listPlace(remembered, loaded.policy)
  if ('reason' in place) return kept(place.reason)
  try {
    const outcome = amendManifest({
      stateDir: machine.stateDir,
      keys: openKeyStore(machine.stateDir),
      project: loaded.root,
      path: loaded.manifestPath,
      edit: (text) => {
        const { kind, value } = remembered.grant
        let edited = text
        for (const item of [...(place.first ?? []), kind === 'port' ? Number(value) : value]) {
          const next = appendToList(edited, place.section, place.name, item)
          if ('refusal' in next) return null
          edited = next.text
        }
        return edited
      },
      canonical: await canonicalText(loaded, machine, files),
      trust: (canonical) => verifyManifest({ ...trustRequest(loaded, machine, files), canonical }),
      now: new Date().toISOString(),
    })
    if (!outcome.done) return kept(NOT_DONE[outcome.reason])
    return await reload(loaded, machine, files)
  } catch (error) {
    return kept(messageOf(error))
  }
}

const NOT_DONE: Readonly<Record<Extract<AmendOutcome, { done: false }>['reason'], string>> = {
  unsigned: 'the manifest was changed and is not signed; read it and run: cordon sign',
  'does-not-load': 'the manifest does not load any more; cordon policy show says why',
  'cannot-edit':
    'the manifest cannot be edited: the rule has a form that Cordon does not edit, or contradicts another rule',
  missing: 'the manifest is gone',
}

function kept(why: string): AmendResult {
  return { kept: `it applies to this session only: ${why}`, why }
}

/**
 * INVARIANT: an answer never closes anything. The first grant of a kind makes everything else of
 * that kind ask, so a person has to write it.
 */
export function listPlace(
  { grant, verdict, tool }: Pick<SavedAnswer, 'grant' | 'verdict' | 'tool'>,
  policy: Policy,
): ListPlace | { readonly reason: string } {
  const side = verdict === 'allow' ? 'allow' : 'deny'
  switch (grant.kind) {
    case 'command':
      return { section: ['capabilities', side, 'commands'], name: 'patterns' }
    case 'read':
    case 'write': {
      const declared = grant.kind === 'read' ? policy.reads.declared : policy.writes.declared
      const section = ['capabilities', side, grant.kind]
      if (verdict === 'allow' && !declared) {
        if (grant.kind === 'read' && !hasReadLevels(policy)) {
          // With the project itself in the list, the first grant neither closes nor opens anything
          // else. The person's skills are visible without a line: a project's manifest should not
          // name their home.
          const listed = policy.additionalDirectories.filter(({ source }) => source !== 'built-in')
          const roots = listed.map(({ value }) => `${value}/**`)
          return { section, name: 'paths', first: ['**', ...roots] }
        }
        return {
          reason: `the manifest declares no ${grant.kind} grants, and a first one would make every other ${grant.kind} ask`,
        }
      }
      return { section, name: 'paths' }
    }
    case 'port':
      return verdict === 'allow'
        ? { section: ['sandbox', 'os'], name: 'dev_server_ports' }
        : { reason: 'a manifest lists the ports that are open, and no others' }
    case 'directory':
      return verdict === 'allow'
        ? { section: ['capabilities', 'allow'], name: 'additional_directories' }
        : { section: ['capabilities', 'deny', 'read'], name: 'paths' }
    case 'host': {
      if (tool !== 'webfetch' && tool !== 'http') {
        return verdict === 'allow'
          ? { section: ['capabilities', 'allow', 'commands'], name: 'default_domains' }
          : { section: ['capabilities', 'deny', 'commands'], name: 'domains' }
      }
      if (verdict === 'deny') return { section: ['security'], name: 'deny_domains' }
      return policy.http.allowed === null
        ? { reason: 'the manifest lists no [http] allowed_hosts, and a first one would close every other host' }
        : { section: ['http'], name: 'allowed_hosts' }
    }
  }
}

/** Read-only tools, whose level a grant of everything would raise. */
const READERS: readonly string[] = ['read', 'list', 'stat', 'summary', 'glob', 'grep', 'lsp']

function hasReadLevels({ tools, agents }: Policy): boolean {
  return [tools, ...[...agents.values()].map((agent) => agent.tools)].some((levels) =>
    READERS.some((tool) => levels.has(tool)),
  )
}

/** The signed text of a changed manifest, with its signed registries. */
async function canonicalText(
  loaded: LoadedPolicy,
  machine: Machine,
  files: Files,
): Promise<(text: string) => string | null> {
  const matches = (await exampleMatcher()) ?? null
  const below = userManifest(machine, files)
  return (text) => {
    const result = loadManifest(text, MANIFEST_NAME, {
      suffixes: tldtsSuffixes,
      pinsScript,
      bundles: bundleNames,
      matches,
      below,
    })
    return 'manifest' in result ? signedText(canonicalManifest(result.manifest), loaded.registries) : null
  }
}

function userManifest(machine: Machine, files: Files): Manifest | null {
  const file = join(machine.configDir, MANIFEST_NAME)
  if (!files.exists(file)) return null
  const result = loadManifest(files.readText(file), MANIFEST_NAME, { suffixes: tldtsSuffixes, pinsScript })
  return 'manifest' in result ? result.manifest : null
}

async function reload(before: LoadedPolicy, machine: Machine, files: Files): Promise<AmendResult> {
  const choice = { kind: 'project' } as const
  const opened = await openPolicy({ machine, files, root: before.root, choice, unsigned: 'refused' })
  if ('problems' in opened) return kept('the manifest was written, but does not load any more')
  if ('unsigned' in opened || !opened.loaded.ownManifest)
    return kept('the manifest was written, but somebody changed it at the same time')
  return opened
}
