/** Credentials inside a URL: `scheme://user:password@host`, `https://token@host`. */

const MAX_AUTHORITY = 512

/** The password of the URL whose `://` is at `at`; null when there is none. */
export function readUserInfo(text: string, at: number): { start: number; end: number; kind: string } | null {
  const start = at + 3
  const limit = Math.min(text.length, start + MAX_AUTHORITY)
  let colon = -1
  let sign = -1
  let end = start
  for (; end < limit; end++) {
    const code = text.charCodeAt(end)
    if (code <= 32 || code === 34 || code === 39 || code === 60 || code === 62 || code === 96) break
    if (code === 58 && text.startsWith('://', end)) break
    if (code === 58 && colon < 0) colon = end
    if (code === 64) sign = end
    // `/`, `?`, `#` end the authority, unless what follows the colon can be no port: then it is an unescaped password.
    if ((code === 47 || code === 63 || code === 35) && (sign >= 0 || colon < 0 || isPort(text, colon + 1, end))) break
  }
  if (sign < 0) return null
  if (colon >= 0 && colon < sign) {
    const secret = colon + 1
    if (sign - secret < 1 || /^(?:[$<{*]|\[REDACTED)/.test(text.slice(secret, secret + 10))) return null
    return { start: secret, end: sign, kind: 'url-password' }
  }
  const user = text.slice(start, sign)
  return user.length >= 16 && /[0-9]/.test(user) && !user.includes('.') ? { start, end: sign, kind: 'url-token' } : null
}

function isPort(text: string, from: number, to: number): boolean {
  return to - from <= 5 && /^[0-9]*$/.test(text.slice(from, to))
}

/** The password before the `@` of a Go data source name: `user:password@tcp(host:3306)/db`. */
export function readSourceName(text: string, at: number): { start: number; end: number; kind: string } | null {
  const from = Math.max(0, at - 128)
  const [, before, password] = /(?:^|[\s"'`=])([\w.%-]{1,64}:)([^\s"'`]{1,128})$/.exec(text.slice(from, at)) ?? []
  if (before === undefined || password === undefined || /^[$<{*]/.test(password)) return null
  return { start: at - password.length, end: at, kind: 'source-name' }
}
