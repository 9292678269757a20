/** Proposes a manifest for a project on this machine. */

import { join } from 'node:path'
import { detectProject, type Kind, type ProjectFacts, type ProjectFiles } from '../manifest/init/detect.ts'
import { AGENT_READS, proposeManifest } from '../manifest/init/init.ts'
import { builtInBundles, bundleNames } from '../sandbox/bundles/built-in.ts'
import { attempt } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { installersOnPath } from './place/installers.ts'

export interface Proposal {
  readonly text: string
  /** Findings in words for a person. */
  readonly found: readonly string[]
}

export function proposeForProject(directory: string, files: Files, machine: Machine): Proposal {
  const facts = detectProject(projectFiles(directory, files))
  const agents = installedAgents(machine, files)
  const there = (path: string): boolean => files.exists(path.replace(/^~/, () => machine.home).replace(/\/\*\*$/, ''))
  const text = proposeManifest(facts, { bundles: bundleNames(), agents, reads: AGENT_READS.filter(there) })
  const installers = installersOnPath(machine)
  return {
    text,
    found: [
      ...findings(facts),
      ...agents.map(({ program }) => `${program} (installed)`),
      ...(installers.length > 0
        ? [`programs of yours (${installers.join(', ')}), shown to commands that name them`]
        : []),
    ],
  }
}

/** Agents with their own bundle whose program is on PATH. */
export function installedAgents(
  { env }: Machine,
  files: Files,
): readonly { readonly bundle: string; readonly program: string }[] {
  const folders = (env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'))
  return builtInBundles().flatMap(({ agent, tool, programs }) => {
    const program = agent && programs.find((name) => folders.some((folder) => files.exists(join(folder, name))))
    return program ? [{ bundle: tool, program }] : []
  })
}

function projectFiles(directory: string, files: Files): ProjectFiles {
  return {
    exists: (path) => files.exists(join(directory, path)),
    list: (path) => files.list(join(directory, path)),
    readText: (path) => {
      return attempt(() => files.readText(join(directory, path)), null)
    },
  }
}

function findings(facts: ProjectFacts): string[] {
  const at = (kind: Kind, text: string): string => (facts.below[kind] ? `${text} in ${facts.below[kind]}` : text)
  return [
    facts.git ? 'git' : null,
    facts.node
      ? at(
          'node',
          `Node (${facts.node.manager}, ${facts.node.scripts.length} ${facts.node.scripts.length === 1 ? 'script' : 'scripts'})`,
        )
      : null,
    facts.deno ? at('deno', 'Deno') : null,
    facts.rust ? at('rust', 'Rust') : null,
    facts.python ? at('python', `Python (${facts.python.manager})`) : null,
    facts.go ? at('go', 'Go') : null,
    facts.java ? at('java', `Java (${facts.java})`) : null,
    ...facts.others.map(({ file }) => file),
    ...facts.runners.map((runner) => `${runner.file} (${runner.targets.length} targets)`),
    facts.docker ? 'containers' : null,
    facts.ports.length > 0 ? `servers on ${facts.ports.join(', ')}` : null,
    ...facts.services.map(({ name, source }) => `${name} (${source})`),
  ].filter((text) => text !== null)
}
