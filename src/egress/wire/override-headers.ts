/** Headers by which a server or a proxy in front of it takes another method, path or host than the request line says. PURE. */

const METHOD = /^x-(?:[a-z]+-)*(?:http-)?method(?:-override)?$/
const PLACE =
  /^(?:x-)?(?:[a-z]+-)*(?:original|rewrite|rewritten|override|overridden|forwarded|forward|replaced|real|client|proxy|accel|waf|envoy|arr|ms|http)-(?:[a-z]+-)*(?:url|uri|path|prefix|query|host|server|authority|redirect|scheme|request-url)$/
const NAMED: ReadonlySet<string> = new Set([
  'forwarded',
  'x-host',
  'x-url',
  'x-uri',
  'x-path',
  'destination',
  'base-url',
  'request-uri',
])

/** The method. */
export function isMethodOverride(name: string): boolean {
  return METHOD.test(spelled(name))
}

/** A field of a form or a query by which frameworks let a POST be another method; `_method` and what headers are called. */
export function isMethodField(name: string): boolean {
  const known = spelled(name)
  return /^(?:-(?:http-?)?method|(?:http-)?method-override)$/.test(known) || METHOD.test(known)
}

/** The path, or what is before it. */
export function isPlaceOverride(name: string): boolean {
  const known = spelled(name)
  return NAMED.has(known) || PLACE.test(known)
}

export function isOverride(name: string): boolean {
  return isMethodOverride(name) || isPlaceOverride(name)
}

/** Servers that keep headers as variables do not tell `_` from `-`. */
function spelled(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}
