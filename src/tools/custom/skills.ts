/** Skills: the user's are trusted; each script of a project's needs approval of its bytes (T3). */

import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { errorCode } from '../../system/fault.ts'
import { type TrustStatus, type TrustStore, trustHash, trustStatus } from './trust.ts'

export interface SkillPlaces {
  readonly root: string
  readonly home: string
  readonly configDir: string
}

export interface SkillScript {
  /** Below the skill's directory. */
  readonly name: string
  readonly path: string
  readonly bytes: Uint8Array
  readonly hash: string
}

export interface Skill {
  readonly name: string
  readonly directory: string
  /** `user`, or the canonical project root. */
  readonly scope: string
  /** The text of `SKILL.md`. */
  readonly text: string
  readonly scripts: readonly SkillScript[]
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const MAX_BYTES = 1024 * 1024
const MAX_SCRIPTS = 200
const MAX_DEPTH = 4

/** All skills, the user's first; the first of a name counts. */
export function discoverSkills(places: SkillPlaces): readonly Skill[] {
  const found = new Map<string, Skill>()
  const directories = [
    { scope: 'user', directory: join(places.configDir, 'skills') },
    { scope: 'user', directory: join(places.home, '.agents', 'skills') },
    { scope: places.root, directory: join(places.root, '.cordon', 'skills') },
    { scope: places.root, directory: join(places.root, '.agents', 'skills') },
  ]
  for (const { scope, directory } of directories) {
    for (const name of namesIn(directory)) {
      if (!NAME.test(name) || found.has(name)) continue
      const skill = readSkill(join(directory, name), name, scope)
      if (skill !== null) found.set(name, skill)
    }
  }
  return [...found.values()]
}

function readSkill(directory: string, name: string, scope: string): Skill | null {
  const manifest = isDirectory(directory) ? readRegular(join(directory, 'SKILL.md')) : null
  if (manifest === null) return null
  const scripts = filesBelow(directory, MAX_DEPTH)
    .filter((path) => path !== join(directory, 'SKILL.md'))
    .slice(0, MAX_SCRIPTS)
    .flatMap((path): SkillScript[] => {
      const bytes = readRegular(path)
      if (bytes === null) return []
      return [{ name: relative(directory, path), path, bytes, hash: trustHash(manifest, bytes) }]
    })
  return { name, directory, scope, text: new TextDecoder().decode(manifest), scripts }
}

/** Whether a script may run with its current bytes. */
export function skillScriptStatus(skill: Skill, script: SkillScript, store: TrustStore): TrustStatus {
  if (skill.scope === 'user') return 'ok'
  return trustStatus(store.stored(skillKey(skill, script)), script.hash)
}

export function approveSkillScript(skill: Skill, script: SkillScript, store: TrustStore, now: string): void {
  store.trust(skillKey(skill, script), script.hash, now)
}

function skillKey(skill: Skill, script: SkillScript): { readonly scope: string; readonly name: string } {
  return { scope: skill.scope, name: `skill:${skill.name}/${script.name}` }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    return []
  }
}

function filesBelow(directory: string, depth: number): string[] {
  return namesIn(directory).flatMap((name) => {
    const path = join(directory, name)
    if (isDirectory(path)) return depth > 0 ? filesBelow(path, depth - 1) : []
    return [path]
  })
}

/** Links are excluded: they could point outside the skill. */
function isDirectory(path: string): boolean {
  try {
    return lstatSync(path).isDirectory()
  } catch {
    return false
  }
}

/** The bytes of a regular file of limited size, or null. */
export function readRegular(path: string): Uint8Array | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (errorCode(error) !== null) return null
    throw error
  }
  try {
    const facts = fstatSync(fd)
    return facts.isFile() && facts.size <= MAX_BYTES ? readFileSync(fd) : null
  } finally {
    closeSync(fd)
  }
}
