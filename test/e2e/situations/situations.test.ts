/** Each situation of the page is run, and prints what is there. */

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { Project } from '../cordon.ts'
import { SITUATIONS } from './situations.ts'

it.each(SITUATIONS)('$title', ({ command, manifest, files, home = {}, before = [], at, unsigned, says }) => {
  const project = new Project({ ...files, ...(manifest !== undefined && { 'cordon.toml': manifest }) })
  try {
    const tools = join(project.home, 'tools')
    const env = { CORDON_KEYCHAIN: 'off', CORDON_RESIDENT: 'off', PATH: `${tools}:${process.env.PATH}` }
    if (manifest !== undefined && unsigned !== true) expect(project.cordon(['sign', '--yes'], { env }).code).toBe(0)
    for (const [path, text] of Object.entries(home)) {
      const file = join(project.home, path)
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(file, text, { mode: 0o600 })
      if (text.startsWith('#!')) chmodSync(file, 0o755)
    }
    for (const [program, ...words] of before) {
      if (program === 'cordon') project.cordon(words, { env })
      else execFileSync(program!, words, { cwd: project.directory })
    }
    const words = command.map((word) => word.replaceAll('$H', project.home))
    const cwd = at === 'home' ? project.home : project.directory
    const { out, err } = project.cordon(words, { env, cwd })
    expect(out + err).toContain(says)
  } finally {
    project.remove()
  }
})
