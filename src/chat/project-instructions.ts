/** AGENTS.md and CLAUDE.md of a project: they steer the agent, so a person reads them first, and again when they changed. */

import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { isInside } from '../files/baseline.ts'
import { scanText } from '../scan/injection/injection.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { createTrustStore, trustStatus } from '../tools/custom/trust.ts'

export interface ProjectInstructions {
  readonly name: string
  readonly text: string
  readonly hash: string
  readonly status: 'trusted' | 'new' | 'changed'
  /** It reads like an attack on the agent. */
  readonly suspicious: boolean
}

const NAMES: readonly string[] = ['AGENTS.md', 'CLAUDE.md']
const STATUS = { ok: 'trusted', 'no stored hash': 'new', MISMATCH: 'changed' } as const
const MAX_BYTES = 256 * 1024

/** The instructions of a project, with what was said of them. */
export function readInstructions(root: string, machine: Machine, files: Files): readonly ProjectInstructions[] {
  const store = createTrustStore(machine.stateDir)
  const seen = new Set<string>()
  return NAMES.flatMap((name): ProjectInstructions[] => {
    const path = join(root, name)
    if (!files.exists(path)) return []
    // One file often is a link to the other; a link to anything else is not what the person thinks it is.
    const end = files.canonical(path)
    if (!isInside(end, root) || !NAMES.includes(basename(end)) || seen.has(end)) return []
    seen.add(end)
    const text = textOf(end, files)
    if (text === null || text.trim() === '') return []
    const hash = createHash('sha256').update(text).digest('hex')
    const status = STATUS[trustStatus(store.stored(keyOf(root, name)), hash)]
    return [{ name, text, hash, status, suspicious: scanText(text, true).injection }]
  })
}

/** The very text that was shown may steer from now on. */
export function trustInstructions(
  root: string,
  machine: Machine,
  { name, hash }: ProjectInstructions,
  now: Date,
): void {
  createTrustStore(machine.stateDir).trust(keyOf(root, name), hash, now.toISOString())
}

function keyOf(root: string, name: string): { readonly scope: string; readonly name: string } {
  return { scope: root, name: `instructions:${name}` }
}

function textOf(path: string, files: Files): string | null {
  try {
    return files.readText(path, MAX_BYTES)
  } catch {
    return null
  }
}
