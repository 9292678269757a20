import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createSessionCa } from './ca.ts'
import { CLIENTS, clientSettings } from './clients.ts'

const ca = createSessionCa()
const facts = { proxyHost: '127.0.0.1', proxyPort: 3128, directory: '/run/cordon', caPem: ca.pem, roots: 'ROOTS' }

describe('client settings', () => {
  it('fill every place', () => {
    const { environment, files } = clientSettings(facts)
    expect(Object.values(environment).filter((value) => /\{\w+\}|undefined/.test(value))).toEqual([])
    for (const file of files) expect(file.path.startsWith('/run/cordon/')).toBe(true)
  })

  it('name every client of the specification', () => {
    const names = CLIENTS.map((row) => row.client)
    expect(names).toEqual(
      expect.arrayContaining([
        'curl',
        'wget',
        'git',
        'npm',
        'pnpm',
        'yarn',
        'pip',
        'uv',
        'cargo',
        'go',
        'node',
        'java',
        'deno',
        'bun',
      ]),
    )
  })

  it('point only at files that are placed', () => {
    const { environment, files } = clientSettings(facts)
    const named = Object.values(environment).flatMap((value) => value.match(/\/run\/cordon\/[\w.-]+/g) ?? [])
    const placed = files.map((file) => file.path)
    expect(named.filter((path) => !placed.includes(path))).toEqual([])
  })

  it('keep loopback inside the sandbox unless the machine is granted', () => {
    expect(clientSettings(facts).environment.NO_PROXY).toContain('127.0.0.1')
    expect(clientSettings({ ...facts, hostLoopback: true }).environment.NO_PROXY).toBe('')
  })

  it('write scripts that their interpreters accept', () => {
    const file = (name: string) =>
      clientSettings(facts).files.find((entry) => entry.path.endsWith(name))!.content as string
    expect(() => execFileSync('bash', ['-n'], { input: file('ssh-connect') })).not.toThrow()
    expect(() => execFileSync(process.execPath, ['--check', '-'], { input: file('node-proxy.cjs') })).not.toThrow()
  })

  it('keep the options that the command has for Node', () => {
    const { environment } = clientSettings({ ...facts, nodeOptions: '--max-old-space-size=4096' })
    expect(environment.NODE_OPTIONS).toBe('--require="/run/cordon/node-proxy.cjs" --max-old-space-size=4096')
  })
})
