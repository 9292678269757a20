/** The packages that a project's committed lock files name: what an agent did not add a moment ago. */

import { join } from 'node:path'
import type { Ecosystem } from '../../egress/packages/release.ts'
import { canonicalName } from '../../egress/packages/release.ts'
import { GitHead } from '../../sandbox/secrets/git-head.ts'

/** Lock files by what they lock, with what finds names in them: group 1. */
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

/** Null where HEAD has no lock file, or cannot be read. */
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

/** Crates are compared as they are written: both spellings of one are the same package. */
function spelled(ecosystem: Ecosystem, name: string): string {
  return ecosystem === 'pypi' ? canonicalName('pypi', name) : name
}
