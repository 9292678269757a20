/** A real OpenID provider from npm in its own process, and a browser that fills in its forms. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PACKAGE = 'oidc-provider@9.13.3'
const PROGRAM = `
import { createServer } from 'node:http'
import { generateKeyPairSync } from 'node:crypto'
import { Provider } from 'oidc-provider'
const server = createServer()
await new Promise((done) => server.listen(0, '127.0.0.1', done))
const issuer = 'http://127.0.0.1:' + server.address().port
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const provider = new Provider(issuer, {
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }] },
  clients: ['cordon', 'wiki'].map((client_id) => ({
    client_id,
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
  })),
  scopes: ['openid', 'groups', 'email'],
  claims: { openid: ['sub'], groups: ['groups'], email: ['email'] },
  features: { claimsParameter: { enabled: true }, deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
  cookies: { keys: ['test'] },
  findAccount: (_, sub) => ({
    accountId: sub,
    claims: () => ({ sub, email: sub + '@example.com', groups: sub === 'ann' ? ['sre'] : ['sales'] }),
  }),
})
server.on('request', provider.callback())
process.stdout.write(issuer + '\\n')
`

export interface OidcProvider {
  readonly issuer: string
  close(): void
}

export async function startProvider(): Promise<OidcProvider> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-oidc-'))
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', PACKAGE], { cwd: folder, stdio: 'ignore' })
  writeFileSync(join(folder, 'provider.js'), PROGRAM)
  const child: ChildProcess = spawn(process.execPath, ['provider.js'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await once(child.stdout!, 'data')
  return {
    issuer: String(line).trim(),
    close: () => {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Opens a page as a person who signs in by this name, and agrees to everything that is asked. */
export async function signInAs(person: string, url: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next: { url: string; body?: string } | null = { url }
  let text = ''
  for (let steps = 0; next !== null && steps < 30; steps++) {
    const { url: at, body } = next as { url: string; body?: string }
    const response = await fetch(at, {
      method: body === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(body !== undefined && { body }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [name, value] = cookie.split(';')[0]!.split(/=(.*)/s) as [string, string]
      cookies.set(name, value)
    }
    text = await response.text()
    const location = response.headers.get('location')
    next = location === null ? formOf(text, at, person) : { url: new URL(location, at).href }
  }
  return text
}

/** The form of a page, as the person sends it; null without one. */
function formOf(html: string, at: string, person: string): { url: string; body: string } | null {
  const form = /<form[^>]*action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/.exec(html)
  if (form === null) return null
  const fields = new URLSearchParams()
  for (const [input] of form[2]!.matchAll(/<input[^>]*>/g)) {
    const part = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(input)?.[1]
    const name = part('name')
    if (name !== undefined) fields.set(name, name === 'login' || name === 'password' ? person : (part('value') ?? ''))
  }
  return { url: new URL(form[1]!.replaceAll('&amp;', '&'), at).href, body: fields.toString() }
}
