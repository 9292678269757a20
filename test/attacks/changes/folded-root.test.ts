/** Rules for one place hold below a folder whose name has letters beyond ASCII, in upper case too. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

it.each(['Über', 'Ａbc', 'İx', 'plain', 'Upper'])('no command makes the manifest of a project in %s', (name) => {
  const project = new Project()
  try {
    const root = join(project.directory, name)
    mkdirSync(root)
    spawnSync('git', ['init', '-q'], { cwd: root })
    const script = 'echo "schema_version = 1" > cordon.toml; touch other; ls'
    const { out } = project.cordon(['run', '--', 'sh', '-c', script], { cwd: root })
    // Refused at the moment, and not only taken away at the end.
    expect([out, existsSync(join(root, 'cordon.toml')), existsSync(join(root, 'other'))]).toEqual([
      'other\n',
      false,
      true,
    ])
  } finally {
    project.remove()
  }
})
