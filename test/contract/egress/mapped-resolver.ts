/** Name resolution that a test writes itself. */

import type { Resolver } from '../../../src/system/dns.ts'

/** A resolver that knows only these names; a function may change its answer from call to call. */
export function mappedResolver(
  names: Readonly<Record<string, readonly string[] | (() => readonly string[])>>,
): Resolver {
  return {
    resolve: async (host) => {
      const answer = Object.hasOwn(names, host) ? names[host] : undefined
      return typeof answer === 'function' ? answer() : (answer ?? [])
    },
  }
}
