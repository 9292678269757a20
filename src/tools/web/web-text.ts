/** Bodies of HTTP answers as text. */

import { looksLikeText } from '../files/text-encoding.ts'

const TEXTUAL = /^(text\/|application\/(json|xml|javascript|x-www-form-urlencoded|xhtml\+xml|[\w.+-]+\+(json|xml)))/i

/** True when a body is text by its type, or by its bytes where the type says nothing. */
export function isTextual(contentType: string, body: Uint8Array): boolean {
  if (TEXTUAL.test(contentType)) return true
  return (contentType === '' || contentType.startsWith('application/octet-stream')) && looksLikeText(body)
}

/** Decodes by the charset that the answer declares, else as UTF-8. */
export function decodeBody(contentType: string, body: Uint8Array): string {
  const charset = /charset=["']?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? metaCharset(body) ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    return new TextDecoder('utf-8').decode(body)
  }
}

function metaCharset(body: Uint8Array): string | undefined {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 1024)).toString('latin1')
  return /<meta[^>]{0,200}charset=["']?([\w.:-]{1,40})/i.exec(start)?.[1]
}
