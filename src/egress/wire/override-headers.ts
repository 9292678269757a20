/**
 * Headers that make a server or its proxy use another method, path or host than the request line.
 * PURE.
 */

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

/** Overrides of the method. */
export function isMethodOverride(name: string): boolean {
  return METHOD.test(spelled(name))
}

/**
 * A form or query field by which frameworks override the method of a POST; `_method`, and the
 * header names.
 */
export function isMethodField(name: string): boolean {
  const known = spelled(name)
  return /^(?:-(?:http-?)?method|(?:http-)?method-override)$/.test(known) || METHOD.test(known)
}

/** Overrides of the path, or of its prefix. */
export function isPlaceOverride(name: string): boolean {
  const known = spelled(name)
  return NAMED.has(known) || PLACE.test(known)
}

export function isOverride(name: string): boolean {
  return isMethodOverride(name) || isPlaceOverride(name)
}

/** Servers that store headers as variables treat `_` and `-` alike. */
function spelled(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}
