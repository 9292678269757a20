/**
 * The roots that verify hosts' certificates, read in pieces: all at once take as long as a request.
 */

import { createSecureContext, type SecureContext } from 'node:tls'

export interface Trust {
  /** Reads some more roots; false once all are read. */
  readMore(): boolean
  /** A context with every root. */
  context(): SecureContext
}

/** Certificates in a piece, which takes less than a millisecond. */
const PIECE = 20
const END_OF_CERTIFICATE = /-----END [A-Z0-9 ]*CERTIFICATE-----/g

/** `roots` returns the certificates in PEM, and is called on first use. */
export function createTrust(roots: () => string): Trust {
  let context: SecureContext | null = null
  let pieces: string[] = []

  function readMore(): boolean {
    if (context === null) {
      pieces = piecesOf(roots())
      // An empty list: none would mean Node's own roots.
      context = createSecureContext({ ca: [] })
      return pieces.length > 0
    }
    const piece = pieces.pop()
    if (piece !== undefined) context.context.addCACert(piece)
    return pieces.length > 0
  }

  return {
    readMore,
    context: () => {
      while (readMore());
      return context!
    },
  }
}

function piecesOf(pem: string): string[] {
  const pieces: string[] = []
  let from = 0
  let count = 0
  for (const match of pem.matchAll(END_OF_CERTIFICATE)) {
    if (++count % PIECE !== 0) continue
    const to = match.index + match[0].length
    pieces.push(pem.slice(from, to))
    from = to
  }
  pieces.push(pem.slice(from))
  return pieces
}
