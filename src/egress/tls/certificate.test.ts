import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createKeyPair, createSessionCa, fromPem, signAuthority, signLeaf, toPem } from './certificate.ts'
import { integer, objectId, time } from './der.ts'

const NOW = new Date('2030-01-01T00:00:00Z')
const validity = { from: NOW, until: new Date('2030-02-01T00:00:00Z') }
const issuer = { name: 'Test', keys: createKeyPair() }
const authority = new X509Certificate(signAuthority(issuer, validity))

describe('the authority', () => {
  it('signs itself, and is one', () => {
    expect(authority.ca).toBe(true)
    expect(authority.verify(authority.publicKey)).toBe(true)
    expect(authority.subject).toBe('O=Cordon\nCN=Test')
    expect(authority.validTo).toBe('Feb  1 00:00:00 2030 GMT')
  })

  it('differs from session to session', () => {
    expect(createSessionCa().pem).not.toBe(createSessionCa().pem)
  })
})

describe('leaves', () => {
  const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.example.org`
  const rows: { host: string; alternative: string; note: string }[] = [
    { host: 'github.com', alternative: 'DNS:github.com', note: 'a name' },
    { host: 'xn--bcher-kva.example', alternative: 'DNS:xn--bcher-kva.example', note: 'an international one' },
    { host: '127.0.0.1', alternative: 'IP Address:127.0.0.1', note: 'an address' },
    { host: '2606:4700::1111', alternative: 'IP Address:2606:4700:0:0:0:0:0:1111', note: 'an IPv6 address' },
    { host: long, alternative: `DNS:${long}`, note: 'longer than a common name may be' },
  ]
  it.each(rows)('$host ($note)', ({ host, alternative }) => {
    const leaf = new X509Certificate(signLeaf(issuer, host, createKeyPair().spki, validity))
    expect(leaf.subjectAltName).toBe(alternative)
    expect(leaf.ca).toBe(false)
    expect(leaf.checkIssued(authority)).toBe(true)
    expect(leaf.verify(authority.publicKey)).toBe(true)
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  })

  it('come with a context that is created once', () => {
    const ca = createSessionCa()
    expect(ca.contextFor('github.com')).toBe(ca.contextFor('github.com'))
    expect(ca.contextFor('github.com')).not.toBe(ca.contextFor('python.org'))
  })
})

describe('encodings', () => {
  it('go to PEM and back', () => {
    const der = signAuthority(issuer, validity)
    expect(fromPem(`noise\n${toPem(der)}${toPem(der)}`)).toEqual([der, der])
  })

  const rows: { name: string; bytes: Buffer; hex: string }[] = [
    { name: 'a small integer', bytes: integer(5), hex: '020105' },
    { name: 'one whose top bit is set', bytes: integer(128), hex: '02020080' },
    { name: 'one with zeros in front', bytes: integer(Buffer.from([0, 0, 1])), hex: '020101' },
    { name: 'an object id', bytes: objectId('1.2.840.10045.4.3.2'), hex: '06082a8648ce3d040302' },
    {
      name: 'one with a large second arc',
      bytes: objectId('2.16.840.1.113894.746875.1.1'),
      hex: '060c6086480186f966adca7b0101',
    },
    { name: 'a time before 2050', bytes: time(NOW), hex: `170d${Buffer.from('300101000000Z').toString('hex')}` },
    {
      name: 'a time after',
      bytes: time(new Date('2051-01-01T00:00:00Z')),
      hex: `180f${Buffer.from('20510101000000Z').toString('hex')}`,
    },
  ]
  it.each(rows)('$name', ({ bytes, hex }) => expect(bytes.toString('hex')).toBe(hex))
})
