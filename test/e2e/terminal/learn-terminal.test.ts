/** `cordon learn` at a real terminal: a yes to try it, a yes to sign it, and the command works from then on. */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from '../cordon.ts'
import { Person } from './person.ts'

let project: Project
let person: Person
beforeAll(async () => {
  project = new Project()
  mkdirSync(join(project.home, 'lib'))
  writeFileSync(join(project.home, 'lib/a.txt'), 'from outside\n')
  person = new Person(project)
  await person.atPrompt()
})
afterAll(async () => {
  await person.leaves()
  project.remove()
})

describe('a host that it reaches for while it runs', () => {
  let server: Server
  let command = ''
  beforeAll(async () => {
    server = createServer((_, response) => response.end('from the server'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const get = `import urllib.request as u; print(u.urlopen("http://127.0.0.1:${port}/").read().decode())`
    command = `cordon learn -- env -u no_proxy -u NO_PROXY python3 -c '${get}'`
    writeFileSync(
      join(project.directory, 'cordon.toml'),
      'schema_version = 1\n[http]\nallow_private_hosts = true\n[security]\nsystem_python = true\n',
    )
    project.cordon(['sign', '--yes'], { env: { CORDON_KEYCHAIN: 'off' } })
  })
  afterAll(async () => {
    rmSync(join(project.directory, 'cordon.toml'))
    await new Promise((resolve) => server.close(resolve))
  })

  it('is not proposed after a no', async () => {
    person.line(command)
    await person.sees('not allowed yet')
    await person.answersWith('no')
    const seen = await person.atPrompt()
    expect(seen).toContain('you said no')
    expect(seen).not.toContain('from the server')
    expect(seen).not.toContain('default_domains')
  })

  it('is asked about once, and a yes is tried without it before it is signed', async () => {
    person.line(command)
    await person.sees('not allowed yet')
    await person.answersWith('allow')
    await person.sees('from the server')
    await person.sees('Run it again with these grants')
    await person.sees('[y/N] ')
    person.line('y')
    await person.sees('trying it without host')
    await person.sees('It works with these grants and needs each of them')
    await person.sees('sign it? [y/N] ')
    person.line('n')
    await person.sees('nothing was written')
    await person.atPrompt()
    expect(readFileSync(join(project.directory, 'cordon.toml'), 'utf8')).not.toContain('default_domains')
  })
})

it('a no leaves everything as it was', async () => {
  person.line('cordon learn -- cat ~/lib/a.txt')
  await person.sees('+ read ~/lib/a.txt')
  await person.sees('[y/N] ')
  person.line('n')
  const seen = await person.atPrompt()
  expect(seen).toContain('they were not tested')
  expect(seen).not.toContain('from outside')
  expect(existsSync(join(project.directory, 'cordon.toml'))).toBe(false)
})

it('two yeses try it, then write and sign it', async () => {
  person.line('cordon learn -- cat ~/lib/a.txt')
  await person.sees('Run it again with these grants')
  await person.sees('[y/N] ')
  person.line('y')
  await person.sees('from outside')
  await person.sees('It works with these grants and needs each of them')
  await person.sees('sign it? [y/N] ')
  person.line('y')
  await person.sees('written and signed')
  await person.atPrompt()
  person.line('cordon run -- cat ~/lib/a.txt')
  await person.sees('\nfrom outside')
})
