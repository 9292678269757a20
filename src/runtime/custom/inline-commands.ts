/** Commands that stand in the skills and commands which a project brings along for other agents: those run them outside every hook. */

import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { Machine } from '../../system/machine.ts'
import { createTrustStore, type TrustStatus, trustHash, trustStatus } from '../../tools/custom/trust.ts'
import { inlineCommands } from '../hook/mentions.ts'

export interface InlineCommands {
  /** The name by which it is called. */
  readonly name: string
  readonly path: string
  readonly commands: readonly string[]
  readonly status: TrustStatus
}

/** Where Claude Code, opencode, Gemini CLI and Qwen Code look in a project. */
const FOLDERS: readonly string[] = [
  '.claude/skills',
  '.claude/commands',
  '.opencode/command',
  '.opencode/commands',
  '.opencode/skill',
  '.opencode/skills',
  '.agents/skills',
  '.gemini/commands',
  '.qwen/commands',
]
const MAX_FILES = 1000
const MAX_BYTES = 1024 * 1024
const MAX_DEPTH = 5

/** Every file of a project's skills and commands that runs something by itself, with what was said of it. */
export function inlineCommandFiles(root: string, machine: Machine): readonly InlineCommands[] {
  const files = FOLDERS.flatMap((folder) => filesBelow(join(root, folder), MAX_DEPTH)).slice(0, MAX_FILES)
  const found = files.flatMap((path) => {
    const bytes = readRegular(path)
    const commands = bytes === null ? [] : inlineCommands(new TextDecoder().decode(bytes))
    return commands.length === 0
      ? []
      : [{ name: nameOf(path), path, commands, hash: trustHash(new Uint8Array(), bytes!) }]
  })
  if (found.length === 0) return []
  const store = createTrustStore(machine.stateDir)
  return found.map(({ hash, ...file }) => ({
    ...file,
    status: trustStatus(store.stored(keyOf(root, file.path)), hash),
  }))
}

/** Approves the commands of a skill by the bytes that its files have now; the names of the files. */
export function approveInline(root: string, machine: Machine, name: string, now: Date): readonly string[] {
  const files = inlineCommandFiles(root, machine).filter((file) => file.name === name)
  const store = createTrustStore(machine.stateDir)
  return files.flatMap(({ path }) => {
    const bytes = readRegular(path)
    if (bytes === null) return []
    store.trust(keyOf(root, path), trustHash(new Uint8Array(), bytes), now.toISOString())
    return [relative(root, path)]
  })
}

function keyOf(root: string, path: string): { readonly scope: string; readonly name: string } {
  return { scope: root, name: `inline:${relative(root, path)}` }
}

/** A skill has the name of its folder, a command that of its file. */
function nameOf(path: string): string {
  const file = basename(path)
  return file === 'SKILL.md' ? basename(join(path, '..')) : file.replace(/\.[^.]+$/, '')
}

function filesBelow(directory: string, depth: number): readonly string[] {
  let names: readonly string[]
  try {
    names = readdirSync(directory).sort()
  } catch {
    return []
  }
  return names.flatMap((name) => {
    const path = join(directory, name)
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return depth > 0 ? filesBelow(path, depth - 1) : []
    return /\.(?:md|toml|txt)$/i.test(name) ? [path] : []
  })
}

/** Links are followed: the host follows them too. */
function readRegular(path: string): Uint8Array | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return null
  }
  try {
    const facts = fstatSync(fd)
    return facts.isFile() && facts.size <= MAX_BYTES ? readFileSync(fd) : null
  } finally {
    closeSync(fd)
  }
}
