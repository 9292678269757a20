/** "Always" and "never": writes an answer into the manifest and signs it again (P6). */

import { join } from 'node:path'
import type { SavedAnswer } from '../approval/approve.ts'
import { type GrantList, grantList } from '../approval/grant-list.ts'
import { isInside } from '../files/baseline.ts'
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

/** The new policy, or why the answer is not in the manifest. */
export type AmendResult = { readonly loaded: LoadedPolicy } | { readonly why: string }

/** Where a manifest stores an answer. */
export interface ListPlace extends GrantList {
  /** Entries to write before the answer if the list is new. */
  readonly first?: readonly string[]
}

/**
 * Writes an answer to a question into the manifest. A path outside the project means something on
 * this machine alone, so it stays out of a file that a project shares.
 */
export async function amendByAnswer(
  loaded: LoadedPolicy,
  remembered: SavedAnswer,
  machine: Machine,
  files: Files,
): Promise<AmendResult> {
  const { kind, value } = remembered.grant
  const isPath = kind === 'read' || kind === 'write' || kind === 'directory'
  const isOwn = isPath && /^[/~]/.test(value) && !isInside(value, loaded.root)
  return isOwn
    ? { why: 'a shared file of the project does not name places of your machine' }
    : amendProject(loaded, remembered, machine, files)
}

/** The same without that rule, for what the person typed. Never throws. */
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
    return { why: why }
  }
  const place = listPlace(remembered, loaded.policy)
  if ('reason' in place) return { why: place.reason }
  const { kind, value } = remembered.grant
  const items = [...(place.first ?? []), place.item ?? (kind === 'port' ? Number(value) : value)]
  return editProject(loaded, machine, files, (text) => {
    let edited = text
    for (const item of items) {
      const next = appendToList(edited, place.section, place.name, item)
      if ('refusal' in next) return null
      edited = next.text
    }
    return edited
  })
}

/** Changes the text of a project's signed manifest and signs it again. Null of `edit`: it cannot be changed so. */
export async function editProject(
  loaded: LoadedPolicy,
  machine: Machine,
  files: Files,
  edit: (text: string) => string | null,
): Promise<AmendResult> {
  try {
    const outcome = amendManifest({
      stateDir: machine.stateDir,
      keys: openKeyStore(machine.stateDir),
      project: loaded.root,
      path: loaded.manifestPath,
      edit,
      canonical: await canonicalText(loaded, machine, files),
      trust: (canonical) => verifyManifest({ ...trustRequest(loaded, machine, files), canonical }),
      now: new Date().toISOString(),
    })
    if (!outcome.done) return { why: NOT_DONE[outcome.reason] }
    return await reload(loaded, machine, files)
  } catch (error) {
    return { why: messageOf(error) }
  }
}

const NOT_DONE: Readonly<Record<Extract<AmendOutcome, { done: false }>['reason'], string>> = {
  unsigned: 'the manifest was changed and is not signed; read it and run: cordon sign',
  'does-not-load': 'the manifest does not load any more; cordon policy show says why',
  'cannot-edit':
    'the manifest cannot be edited: the rule has a form that Cordon does not edit, or contradicts another rule',
  missing: 'the manifest is gone',
}

/**
 * INVARIANT: an answer never closes anything. The first grant of a kind makes everything else of
 * that kind ask, so a person has to write it.
 */
export function listPlace(
  { grant, verdict, tool }: Pick<SavedAnswer, 'grant' | 'verdict' | 'tool'>,
  policy: Policy,
): ListPlace | { readonly reason: string } {
  const list = grantList(grant, verdict, tool)
  if (list === null) return { reason: `no list of a manifest takes this ${grant.kind}` }
  const { kind } = grant
  if (verdict === 'deny') return list
  if (kind === 'host' && list.section[0] === 'http' && policy.http.allowed === null)
    return { reason: 'the manifest lists no [http] allowed_hosts, and a first one would close every other host' }
  if (!(kind === 'read' ? !policy.reads.declared : kind === 'write' && !policy.writes.declared)) return list
  if (kind === 'write' || hasReadLevels(policy))
    return { reason: `the manifest declares no ${kind} grants, and a first one would make every other ${kind} ask` }
  // With the project itself in the list, the first grant neither closes nor opens anything else.
  // The person's skills are visible without a line: a project's manifest should not name their home.
  const listed = policy.additionalDirectories.filter(({ source }) => source !== 'built-in')
  return { ...list, first: ['**', ...listed.map(({ value }) => `${value}/**`)] }
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
      bundles: bundleNames(),
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
  if ('problems' in opened) return { why: 'the manifest was written, but does not load any more' }
  if ('unsigned' in opened || !opened.loaded.ownManifest)
    return { why: 'the manifest was written, but somebody changed it at the same time' }
  return opened
}
