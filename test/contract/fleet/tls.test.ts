/** TLS of a fleet: its own authority, and the certificate by which a machine is known to receivers. */

import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openAuditLog } from '../../../src/audit/log.ts'
import { createKeyPair, signAuthority, signLeaf, toPem } from '../../../src/egress/tls/certificate.ts'
import { readReceived } from '../../../src/organisation/received.ts'
import { shipRecords } from '../../../src/organisation/ship.ts'
import { syncPolicy } from '../../../src/organisation/sync.ts'
import { bundle, type FleetWorld, openFleetWorld, signedBy } from '../../fleet/fleet-world.ts'

const validity = { from: new Date(Date.now() - 60_000), until: new Date(Date.now() + 3_600_000) }

function authority(name: string) {
  const issuer = { name, keys: createKeyPair() }
  const leaf = (host: string) => {
    const keys = createKeyPair()
    const cert = toPem(signLeaf(issuer, host, keys.spki, validity))
    return { cert, key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
  }
  return { ca: toPem(signAuthority(issuer, validity)), leaf }
}

let world: FleetWorld
let server: Server
let url = ''
const taken: string[] = []
const files: Record<string, string> = {}

beforeEach(async () => {
  world = openFleetWorld()
  taken.length = 0
  const [own, other] = [authority('own'), authority('other')]
  const known = own.leaf('machine.example.com')
  const texts = { ca: own.ca, otherCa: other.ca, cert: known.cert, key: known.key, ...strangerOf(other.leaf('x')) }
  for (const [name, text] of Object.entries(texts)) {
    files[name] = join(world.base, `${name}.pem`)
    writeFileSync(files[name], text)
  }
  const wanted = new X509Certificate(known.cert).fingerprint256
  const policy = signedBy(bundle({ version: 2 }), world.team[0]!)
  server = createServer(
    { ...own.leaf('127.0.0.1'), requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const shown = (request.socket as TLSSocket).getPeerCertificate().fingerprint256
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        if (shown !== wanted) return void response.writeHead(401).end()
        if (request.method === 'GET') return void response.end(policy)
        taken.push(gunzipSync(Buffer.concat(chunks)).toString())
        response.end('{}')
      })
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const log = openAuditLog({
    stateDir: world.machine.stateDir,
    session: 's1',
    now: () => '2026-06-01T00:00:00.000Z',
    redact: (text) => text,
    sync: 'never',
  })
  log.record({ type: 'warning', line: 1 })
  log.close()
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  world.close()
})

function strangerOf({ cert, key }: { readonly cert: string; readonly key: string }) {
  return { strangerCert: cert, strangerKey: key }
}

describe.each([
  ['its own certificate', ['ca', 'cert', 'key'], null, 'new'],
  ['no certificate', ['ca'], '401', 'refused'],
  ['the certificate of a stranger', ['ca', 'strangerCert', 'strangerKey'], '401', 'refused'],
  ['a server of another authority', ['otherCa', 'cert', 'key'], 'certificate', 'unreachable'],
] as const)('%s', (_, [ca, cert, key], problem, outcome) => {
  const settings = () =>
    world.settings({
      policy: `${url}/policy`,
      records: { otlp: url, headers: {}, nats: false },
      tls: { ca: files[ca], ...(cert && { cert: files[cert], key: files[key!] }) },
    })

  it(problem === null ? 'records and policy go' : 'nothing goes', async () => {
    const never = new AbortController().signal
    const [shipped] = await shipRecords(settings(), world.machine, never, { attempts: 1 })
    const policy = await syncPolicy(settings(), world.machine)
    if (problem === null) {
      expect([shipped, policy]).toMatchObject([{ sent: 2, problem: null }, { outcome }])
      expect(readReceived(taken.join('\n'))).toHaveLength(2)
    } else {
      expect(shipped).toMatchObject({ sent: 0, problem: expect.stringContaining(problem) })
      expect(policy).toMatchObject({ outcome, message: expect.stringContaining(problem) })
      expect(taken).toEqual([])
    }
  })
})
