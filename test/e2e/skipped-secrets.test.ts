/** What is named like a secret and needs no mask is counted, where people look (O4). */

import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Project } from './cordon.ts'

it('broken links, cycles and folders are counted by doctor and by run --plan', () => {
  const project = new Project({ '.env': 'A=1\n' })
  try {
    const link = (name: string, target: string) => symlinkSync(target, join(project.directory, name))
    link('gone.key', 'nowhere')
    link('lost.pem', '/nowhere/at/all')
    link('round.key', 'round.key')
    mkdirSync(join(project.directory, 'folder'))
    link('folder.key', 'folder')
    const line = 'named like secrets and not hidden: 2 broken links, 1 link that points to itself, 1 link to a folder'
    const counts = { broken: 2, cycles: 1, directories: 1 }
    expect(project.cordon(['doctor']).out).toContain(line)
    expect(JSON.parse(project.cordon(['doctor', '--json']).out).skipped).toMatchObject(counts)
    expect(project.cordon(['run', '--plan', '--', 'true']).out).toContain(line)
    expect(JSON.parse(project.cordon(['run', '--plan', '--json', '--', 'true']).out).unhidden).toMatchObject(counts)
  } finally {
    project.remove()
  }
})
