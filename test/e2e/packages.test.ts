/** `[packages]` from the manifest to a real client: signed, run, and said in the result. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPackageRegistry, PACKAGE_HOST } from '../contract/egress/package-registry.ts'
import { CLI, Project } from './cordon.ts'

let directory: string
let origin: string
const registry = { server: createServer() }

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cordon-packages-'))
  const { listener } = createPackageRegistry(directory)
  registry.server = createServer((message, response) => {
    message.headers.host = PACKAGE_HOST
    listener(message, response)
  })
  registry.server.listen(0, '127.0.0.1')
  await once(registry.server, 'listening')
  origin = `http://127.0.0.1:${(registry.server.address() as AddressInfo).port}/`
})
afterAll(() => {
  registry.server.closeAllConnections()
  registry.server.close()
  rmSync(directory, { recursive: true, force: true })
})

/** Not `Project.cordon`: the registry lives in this process, which must not wait. */
async function run(project: Project, args: readonly string[]): Promise<{ code: number; err: string }> {
  const env = { PATH: process.env.PATH, HOME: project.home }
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: project.directory,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let err = ''
  child.stderr.on('data', (piece) => {
    err += piece
  })
  const [code] = await once(child, 'close')
  return { code, err }
}

it.each([
  { note: 'with minimum_age', packages: '[packages]\nminimum_age = "3d"\n', version: '^1.1.0', says: true },
  { note: 'control: without the section', packages: '', version: '^2.0.0', says: false },
])('cordon run -- npm install: $note', async ({ packages, version, says }) => {
  const project = new Project({
    'cordon.toml': `schema_version = 1\n[sandbox.os]\ncommand_tools = ["npm", "node"]\n${packages}`,
    '.npmrc': `registry=${origin}\n`,
    'package.json': '{"name":"probe","version":"1.0.0"}',
  })
  try {
    expect(project.cordon(['sign', '--yes']).code).toBe(0)
    const { code, err } = await run(project, [
      'run',
      '--',
      'npm',
      'install',
      'steady',
      '--replace-registry-host=always',
      '--no-audit',
      '--no-fund',
    ])
    expect([code, err]).toEqual([0, expect.anything()])
    expect(JSON.parse(readFileSync(join(project.directory, 'package.json'), 'utf8')).dependencies.steady).toBe(version)
    expect(err.includes('packages: steady 2.0.0 was published 1 hour ago, and minimum_age is 3 days')).toBe(says)
  } finally {
    project.remove()
  }
})

it('the section is shown before it is signed, and in force afterwards', () => {
  const project = new Project({ 'cordon.toml': 'schema_version = 1\n[packages]\nminimum_age = "3d"\n' })
  try {
    const { out } = project.cordon(['sign', '--yes'])
    expect(out).toContain('Seconds since a version of a package was published, at least: 259200')
    expect(project.cordon(['policy', 'show']).out).toContain('minimum_age')
  } finally {
    project.remove()
  }
})
