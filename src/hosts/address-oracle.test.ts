/** Our address classes against another's: an address that ipaddr.js knows to be special is not public to us, and every spelling parses alike. */

import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { classifyAddress, parseIpv4, parseIpv6 } from './address.ts'

/**
 * What ipaddr.js counts as special and we leave open: nothing private, and each of them a host like any other on the
 * internet. AS112 answers reverse lookups.
 */
const OPEN: readonly string[] = ['as112', 'as112v6', 'amt', 'orchid2', 'droneRemoteIdProtocolEntityTags']

const SETTINGS = { seed: 7, numRuns: 5000 } as const

const byte = fc.nat(255)
const ipv4 = fc.oneof(
  fc.tuple(byte, byte, byte, byte),
  fc.tuple(fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 203, 224, 240, 255), byte, byte, byte),
)
const word = fc.oneof(
  fc.nat(0xffff),
  fc.constantFrom(0, 1, 0xfe80, 0xfc00, 0xfd00, 0x2001, 0x2002, 0xff02, 0x64, 0xff9b, 0xffff, 0x100),
)
const ipv6 = fc.array(word, { minLength: 8, maxLength: 8 })

describe('an address', () => {
  it('of version 4 that is special to ipaddr.js is not public', () => {
    fc.assert(
      fc.property(ipv4, (bytes) => {
        const text = bytes.join('.')
        const range = ipaddr.parse(text).range()
        if (range !== 'unicast' && !OPEN.includes(range)) expect(classifyAddress(text), range).not.toBe('public')
      }),
      SETTINGS,
    )
  })

  it('of version 6 that is special to ipaddr.js is not public, in any spelling', () => {
    fc.assert(
      fc.property(ipv6, (words) => {
        const parsed = new ipaddr.IPv6(words)
        const range = parsed.range()
        for (const text of [parsed.toString(), parsed.toNormalizedString()]) {
          expect(parseIpv6(text), text).not.toBeNull()
          if (range !== 'unicast' && !OPEN.includes(range))
            expect(classifyAddress(text), `${text} ${range}`).not.toBe('public')
        }
        expect(
          new Set([parsed.toString(), parsed.toNormalizedString()].map((text) => String(parseIpv6(text)))).size,
        ).toBe(1)
      }),
      SETTINGS,
    )
  })

  it('that ipaddr.js rejects in four decimal parts is rejected here', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.'), maxLength: 16 }), (text) => {
        expect(parseIpv4(text) !== null).toBe(ipaddr.IPv4.isValidFourPartDecimal(text))
      }),
      SETTINGS,
    )
  })
})
