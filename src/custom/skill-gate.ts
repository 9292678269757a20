/** Scripts of a project's skills run only once a person has approved their bytes (T3). */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { typedText } from '../confine/entitlement.ts'
import { isInside } from '../files/baseline.ts'
import type { UnapprovedScripts } from '../policy/programs/table.ts'
import { skillFolders } from '../project/place/own-places.ts'
import { Fault } from '../system/fault.ts'
import type { Machine } from '../system/machine.ts'
import type { SkillPort } from '../tools/built-in/agent-tools.ts'
import {
  approveSkillScript,
  discoverSkills,
  readRegular,
  type Skill,
  type SkillScript,
  skillScriptStatus,
} from '../tools/custom/skills.ts'
import { createTrustStore, type TrustKey, type TrustStatus, trustStatus } from '../tools/custom/trust.ts'

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
  const bytes = skills.length === 0 ? null : readRegular(path)
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
