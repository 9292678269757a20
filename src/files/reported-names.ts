/** Files that may change, but a person wants to know: instructions to agents, workflows of CI, and their kin. */

import { words } from './glob.ts'
import { foldName, foldPath } from './path-bytes.ts'
import { splitPath } from './path-pattern.ts'

/** The report about a changed file. */
interface ReportedName {
  /** At any depth; the name includes everything below it. */
  readonly path: string
  /** "agent guidance": the kind of file, for the sentence a person reads. */
  readonly what: string
}

const GUIDANCE = 'agent guidance'

export const reportedNames: readonly ReportedName[] = [
  ...namesOf(
    GUIDANCE,
    words(`
      AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md WARP.md
      .cursorrules .cursor/rules .windsurfrules .windsurf/rules .clinerules .roorules .roo/rules
      .kilocode/rules .trae/rules .kiro/steering .amazonq/rules .augment/rules
      .junie/guidelines.md .goosehints .agents/skills .github/copilot-instructions.md
      .github/instructions .github/prompts .github/chatmodes`),
  ),
  ...namesOf(
    'a workflow that runs elsewhere with the rights of the project',
    words(`
      .github/workflows .github/actions .github/dependabot.yml .forgejo/workflows .gitea/workflows
      .gitlab-ci.yml .gitlab/ci .circleci .travis.yml azure-pipelines.yml .azure-pipelines
      bitbucket-pipelines.yml Jenkinsfile .buildkite .drone.yml .woodpecker .woodpecker.yml
      appveyor.yml .appveyor.yml .cirrus.yml .semaphore .teamcity .tekton buildspec.yml
      cloudbuild.yaml codemagic.yaml bitrise.yml wercker.yml .gitpod.yml renovate.json CODEOWNERS`),
  ),
  ...namesOf('how an editor starts the build of the project', ['.bsp']),
  ...namesOf('a setting that decides where the code of the project comes from', ['.gitmodules', 'pnpm-workspace.yaml']),
]

/** The report about a change of this path; null for every other file. */
export function reportedName(path: string): ReportedName | null {
  const segments = splitPath(path).map(foldName)
  const { firsts, names } = reportedIndex()
  for (let at = 0; at < segments.length; at++) {
    if (!firsts.has(segments[at]!)) continue
    const found = names.find(({ folded }) => folded.every((part, offset) => part === segments[at + offset]))
    if (found) return found.name
  }
  return null
}

/** True for instructions to agents in the root itself: hosts load them anyway. Below it they may belong to a package. */
export function isGuidanceOf(root: string, path: string): boolean {
  const name = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : '/'
  return !name.includes('/') && reportedName(name)?.what === GUIDANCE
}

/** The lines that a search found in instructions to agents in the root, and all others. */
export function splitGuidance(root: string, found: string): { readonly guidance: string; readonly rest: string } {
  const lines = Object.groupBy(found.split('\n'), (line) => {
    const [, name] = /^([^:]+):\d+:/.exec(line) ?? []
    return name !== undefined && isGuidanceOf(root, `${root}/${name}`) ? 'guidance' : 'rest'
  })
  return { guidance: (lines.guidance ?? []).join('\n'), rest: (lines.rest ?? []).join('\n') }
}

const PRINTS =
  /^(?:(?:cat|head|tail|nl)(?: -[\w-]+)*(?: \d+)?|sed -n '?\d+(?:,[\d$]+)?p'?)((?: [\w@%+:,./][\w@%+:,./-]*)*)$/

/** The files that a command prints, where it does nothing else: `cat AGENTS.md | head -40`. Empty for every other one. */
export function printedFiles(command: string): readonly string[] {
  const parts = command
    .trim()
    .replaceAll(' 2>/dev/null', '')
    .split(/\s*(?:&&|[;|])\s*/)
  const found = parts.map((part) => PRINTS.exec(part)?.[1])
  return found.includes(undefined) ? [] : found.flatMap((names) => names!.split(' ').filter(Boolean))
}

/**
 * The report about the changed paths among these, a sentence for each kind. `name` spells a path
 * for a person.
 */
export function reportMessages(
  paths: readonly string[],
  when: string,
  name: (path: string) => string,
): readonly { readonly path: string; readonly message: string }[] {
  const changed = [...new Set(paths)].filter((path) => reportedName(path) !== null)
  return [...Map.groupBy(changed, (path) => reportedName(path)!.what)].map(([what, group]) => {
    const more = group.length > MOST_NAMED ? ` and ${group.length - MOST_NAMED} more` : ''
    const names = group.slice(0, MOST_NAMED).map(name).join(', ')
    return { path: group[0]!, message: `${names}${more} changed${when} (${what}). A person should review it.` }
  })
}

const MOST_NAMED = 5

/** True for a name that starts one of them, for walks that see one name at a time. */
export function isReportedStart(name: string): boolean {
  return reportedIndex().firsts.has(foldName(name))
}

interface ReportedIndex {
  readonly names: readonly { readonly name: ReportedName; readonly folded: readonly string[] }[]
  readonly firsts: ReadonlySet<string>
}

let index: ReportedIndex | null = null

function reportedIndex(): ReportedIndex {
  if (index === null) {
    const names = reportedNames.map((name) => ({ name, folded: foldPath(name.path).split('/') }))
    index = { names, firsts: new Set(names.map(({ folded }) => folded[0]!)) }
  }
  return index
}

function namesOf(what: string, paths: readonly string[]): ReportedName[] {
  return paths.map((path) => ({ path, what }))
}
