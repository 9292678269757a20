/** Credentials that are not the person's: with a key of their own, somebody could carry data out through a host that is granted. PURE. */

/** Headers by which the services that agents talk to know who asks. */
const HEADERS: ReadonlySet<string> = new Set(['authorization', 'api-key', 'cookie', 'x-api-key', 'x-goog-api-key'])
const PARAMETERS: ReadonlySet<string> = new Set(['access_token', 'api_key', 'apikey', 'key', 'token'])

/** The name of the header or parameter with a credential that is none of these placeholders; null when there is none. */
export function foreignCredential(
  request: { readonly path: string; readonly rawHeaders: readonly string[] },
  placeholders: readonly string[],
): string | null {
  const isOurs = (value: string): boolean => placeholders.includes(value.trim().replace(/^(?:bearer|token) +/i, ''))
  const { path, rawHeaders } = request
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (HEADERS.has(name) && !isOurs(rawHeaders[at + 1]!)) return name
  }
  const mark = path.indexOf('?')
  if (mark < 0) return null
  for (const [name, value] of new URLSearchParams(path.slice(mark + 1))) {
    if (PARAMETERS.has(name.toLowerCase()) && !isOurs(value)) return name
  }
  return null
}
