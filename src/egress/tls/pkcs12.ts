/** A PKCS#12 trust store without password and MAC: the certificates are public, and every JDK from 8 on reads it. PURE. */

import { bmp, explicit, integer, objectId, octets, sequence, setOf } from './der.ts'

const DATA = objectId('1.2.840.113549.1.7.1')
const CERT_BAG = objectId('1.2.840.113549.1.12.10.1.3')
const X509_CERTIFICATE = objectId('1.2.840.113549.1.9.22.1')
const FRIENDLY_NAME = objectId('1.2.840.113549.1.9.20')
/** Java only trusts a certificate with this attribute of Oracle's. */
const TRUSTED_KEY_USAGE = objectId('2.16.840.1.113894.746875.1.1')
const ANY_USAGE = objectId('2.5.29.37.0')

/** The store's bytes; certificates in DER. */
export function trustStore(certificates: readonly Uint8Array[]): Buffer {
  const bags = certificates.map((certificate, index) =>
    sequence(
      CERT_BAG,
      explicit(0, sequence(X509_CERTIFICATE, explicit(0, octets(certificate)))),
      setOf(sequence(FRIENDLY_NAME, setOf(bmp(`cordon-${index}`))), sequence(TRUSTED_KEY_USAGE, setOf(ANY_USAGE))),
    ),
  )
  const safe = sequence(contentInfo(sequence(...bags)))
  return sequence(integer(3), contentInfo(safe))
}

function contentInfo(content: Buffer): Buffer {
  return sequence(DATA, explicit(0, octets(content)))
}
