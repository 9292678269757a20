/** Reads the package names of a project's committed lock files: an agent did not just add those. */

import { join } from 'node:path'
import type { Ecosystem } from '../../egress/packages/release.ts'
import { canonicalName } from '../../egress/packages/release.ts'
import { GitHead } from '../../sandbox/secrets/git-head.ts'

/** Lock files by ecosystem, with the pattern for names in group 1. */
const LOCK_FILES: Readonly<Record<Ecosystem, readonly (readonly [file: string, name: RegExp])[]>> = {
  npm: [
    ['package-lock.json', /"(?:[^"\n]*\/)?node_modules\/((?:@[^"/]+\/)?[^"/]+)"\s*:/g],
    ['npm-shrinkwrap.json', /"(?:[^"\n]*\/)?node_modules\/((?:@[^"/]+\/)?[^"/]+)"\s*:/g],
    ['pnpm-lock.yaml', /^ {2}['"]?\/?((?:@[^\s/@'"]+\/)?[^\s/@'"]+)@[^\n]*:\s*$/gm],
    ['yarn.lock', /^"?((?:@[^\s/@"]+\/)?[^\s/@",]+)@[^\n]*:\s*$/gm],
    ['bun.lock', /^\s*"((?:@[^\s/@"]+\/)?[^\s/@"]+)": \[/gm],
  ],
  pypi: [
    ['uv.lock', /^name = "([^"]+)"/gm],
    ['poetry.lock', /^name = "([^"]+)"/gm],
    ['requirements.txt', /^([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*==/gm],
  ],
  crates: [['Cargo.lock', /^name = "([^"]+)"/gm]],
}

/** Null if HEAD has no readable lock file. */
export function committedPackages(root: string, ecosystem: Ecosystem): ReadonlySet<string> | null {
  const head = GitHead.of(root, [root])
  if (head === null) return null
  try {
    const found = LOCK_FILES[ecosystem].flatMap(([file, name]) => {
      const committed = head.at(join(root, file))
      if (typeof committed === 'string') return []
      return [[...committed.bytes.toString('utf8').matchAll(name)].map((match) => match[1]!)]
    })
    return found.length === 0 ? null : new Set(found.flat().map((name) => spelled(ecosystem, name)))
  } finally {
    head.close()
  }
}

/** Crates compare equal in both spellings. */
function spelled(ecosystem: Ecosystem, name: string): string {
  return ecosystem === 'pypi' ? canonicalName('pypi', name) : name
}
