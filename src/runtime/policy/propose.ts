/** Proposes a starting manifest for a project on this machine. */

import { join } from 'node:path'
import { detectProject, type Kind, type ProjectFacts, type ProjectFiles } from '../../manifest/init/detect.ts'
import { proposeManifest } from '../../manifest/init/init.ts'
import { bundleNames } from '../../sandbox/bundles/bundles.generated.ts'
import type { Files } from '../../system/files.ts'

export interface Proposal {
  readonly text: string
  /** What was found, in words for a person. */
  readonly found: readonly string[]
}

/** Looks at a project and writes the manifest it should start with. */
export function proposeForProject(directory: string, files: Files): Proposal {
  const facts = detectProject(projectFiles(directory, files))
  return {
    text: proposeManifest(facts, bundleNames),
    found: findings(facts),
  }
}

function projectFiles(directory: string, files: Files): ProjectFiles {
  return {
    exists: (path) => files.exists(join(directory, path)),
    list: (path) => files.list(join(directory, path)),
    readText: (path) => {
      try {
        return files.readText(join(directory, path))
      } catch {
        return null
      }
    },
  }
}

function findings(facts: ProjectFacts): string[] {
  const at = (kind: Kind, text: string): string => (facts.below[kind] ? `${text} in ${facts.below[kind]}` : text)
  return [
    facts.git ? 'git' : null,
    facts.node ? at('node', `Node (${facts.node.manager}, ${facts.node.scripts.length} scripts)`) : null,
    facts.deno ? at('deno', 'Deno') : null,
    facts.rust ? at('rust', 'Rust') : null,
    facts.python ? at('python', `Python (${facts.python.manager})`) : null,
    facts.go ? at('go', 'Go') : null,
    facts.java ? at('java', `Java (${facts.java})`) : null,
    ...facts.runners.map((runner) => `${runner.file} (${runner.targets.length} targets)`),
    facts.docker ? 'containers' : null,
  ].filter((text) => text !== null)
}
