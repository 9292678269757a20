/** Scripts of a project's skills run only once a person has approved their bytes (T3). */

import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { typedText } from '../confine/entitlement.ts'
import { isInside } from '../files/baseline.ts'
import type { UnapprovedScripts } from '../policy/programs/table.ts'
import { skillFolders } from '../project/place/own-places.ts'
import { attempt, Fault } from '../system/fault.ts'
import type { Machine } from '../system/machine.ts'
import { readPlainFile } from '../system/plain-file.ts'
import type { SkillPort } from '../tools/built-in/agent-tools.ts'
import {
  createTrustStore,
  type TrustKey,
  type TrustStatus,
  type TrustStore,
  trustHash,
  trustStatus,
} from '../tools/custom/trust.ts'

interface SkillPlaces {
  readonly root: string
  readonly home: string
  readonly configDir: string
}

interface SkillScript {
  /** Below the skill's directory. */
  readonly name: string
  readonly path: string
  readonly bytes: Uint8Array
  readonly hash: string
}

interface Skill {
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
  const manifest = isDirectory(directory) ? readPlainFile(join(directory, 'SKILL.md'), MAX_BYTES) : null
  if (manifest === null) return null
  const scripts = filesBelow(directory, MAX_DEPTH)
    .filter((path) => path !== join(directory, 'SKILL.md'))
    .slice(0, MAX_SCRIPTS)
    .flatMap((path): SkillScript[] => {
      const bytes = readPlainFile(path, MAX_BYTES)
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
  return attempt(() => readdirSync(directory).sort(), [])
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
  return attempt(() => lstatSync(path).isDirectory(), false)
}

export interface SkillRow {
  readonly skill: string
  readonly script: string
  readonly path: string
  readonly scope: 'user' | 'project'
  readonly status: TrustStatus
}

/** Every script of every skill, with its approval. */
export function skillRows(root: string, machine: Machine): readonly SkillRow[] {
  const store = createTrustStore(machine.stateDir)
  return skillsOf(root, machine).flatMap((skill) =>
    skill.scripts.map((script) => ({
      skill: skill.name,
      script: script.name,
      path: script.path,
      scope: skill.scope === 'user' ? ('user' as const) : ('project' as const),
      status: skillScriptStatus(skill, script, store),
    })),
  )
}

/** Approves one or all scripts of a skill by their current bytes. */
export function approveSkill(
  root: string,
  machine: Machine,
  name: string,
  only: string | null,
  now: Date,
): readonly string[] {
  const skill = skillsOf(root, machine).find((candidate) => candidate.name === name)
  const scripts = skill?.scripts.filter((script) => only === null || script.name === only) ?? []
  if (!skill || scripts.length === 0) {
    throw new Fault(
      'no-skill',
      only === null ? `there is no skill "${name}" with scripts` : `the skill "${name}" has no script ${only}`,
      {
        remedy: 'cordon skills lists them.',
      },
    )
  }
  const store = createTrustStore(machine.stateDir)
  for (const script of scripts) approveSkillScript(skill, script, store, now.toISOString())
  return scripts.map((script: SkillScript) => script.name)
}

export interface SkillGate {
  /** Why a file may not run: it is an unapproved skill script or a copy. Null if it may. */
  readonly scriptProblem: (path: string) => string | null
  /** The same for the first such script at or below a path. Other files may be copied freely. */
  readonly scriptBelow: (path: string) => string | null
  /** For programs as they start; null without any. */
  readonly unapproved: (canonical: (path: string) => string) => UnapprovedScripts | null
}

export function skillGate(root: string, machine: Machine): SkillGate {
  const folders = skillFolders(root)
  const problemOf = (row: SkillRow | undefined): string | null => {
    if (row?.status === 'ok') return null
    const why = row?.status === 'MISMATCH' ? 'has changed since it was approved' : 'was not approved'
    const remedy = row === undefined ? 'cordon skills lists them' : `cordon skills approve ${typedText([row.skill])}`
    return `it is a script of a skill that this project brings along, and it ${why} (${remedy})`
  }
  const scriptProblem = (path: string): string | null => {
    if (!folders.some((folder) => isInside(path, folder))) return copyProblem(root, machine, path)
    // A user's skill hides a project's skill of the same name.
    return problemOf(skillRows(root, machine).find((candidate) => candidate.path === path))
  }
  return {
    scriptProblem,
    unapproved: (canonical) => {
      const there = folders.filter((folder) => existsSync(folder))
      if (there.length === 0) return null
      const rows = skillRows(root, machine).filter((row) => row.scope === 'project' && row.status !== 'ok')
      return { paths: [...there, ...rows.map(({ path }) => path)], problem: (path) => scriptProblem(canonical(path)) }
    },
    scriptBelow: (path) => {
      if (!folders.some((folder) => isInside(path, folder) || isInside(folder, path))) return null
      const rows = skillRows(root, machine).filter((row) => row.scope === 'project' && isInside(row.path, path))
      return rows.map(problemOf).find((problem) => problem !== null) ?? null
    },
  }
}

/** A copy is recognised by its bytes. */
function copyProblem(root: string, machine: Machine, path: string): string | null {
  const skills = skillsOf(root, machine).filter((skill) => skill.scope !== 'user' && skill.scripts.length > 0)
  const bytes = skills.length === 0 ? null : readPlainFile(path, MAX_BYTES)
  if (bytes === null || bytes.length === 0) return null
  const store = createTrustStore(machine.stateDir)
  for (const skill of skills)
    for (const script of skill.scripts) {
      if (Buffer.compare(script.bytes, bytes) !== 0 || skillScriptStatus(skill, script, store) === 'ok') continue
      return `it is a copy of ${script.name} of the skill ${skill.name}, which comes with this project and is not approved`
    }
  return null
}

function skillsOf(root: string, machine: Machine): readonly Skill[] {
  return discoverSkills({ root, home: machine.home, configDir: machine.configDir })
}

export function skillPort(root: string, machine: Machine): SkillPort {
  const store = createTrustStore(machine.stateDir)
  const all = (): readonly Skill[] => discoverSkills({ root, home: machine.home, configDir: machine.configDir })
  return {
    list: () =>
      all().map((skill) => ({
        name: skill.name,
        about: aboutOf(skill),
        text: skill.text,
        directory: skill.directory,
        scripts: skill.scripts.map((script) => ({
          name: script.name,
          path: script.path,
          approved: skillScriptStatus(skill, script, store) === 'ok',
        })),
        trusted: skill.scope === 'user' || trustStatus(store.stored(textKey(skill)), hashOf(skill.text)) === 'ok',
      })),
    trust: ({ name, text }) => {
      const skill = all().find((one) => one.name === name)
      if (skill) store.trust(textKey(skill), hashOf(text), new Date().toISOString())
    },
  }
}

function textKey({ scope, name }: Skill): TrustKey {
  return { scope, name: `skill-text:${name}` }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** `description` of the front matter, otherwise the first line of text. */
function aboutOf({ text }: Skill): string {
  const matter = /^---\n([\s\S]*?)\n---/.exec(text)?.[1] ?? ''
  const described = /^description:\s*["']?(.+?)["']?\s*$/m.exec(matter)?.[1]
  const first = text
    .replace(/^---\n[\s\S]*?\n---\n?/, '')
    .split('\n')
    .find((line) => line.trim() !== '' && !line.startsWith('#'))
  return (described ?? first ?? '').trim().slice(0, 200)
}
