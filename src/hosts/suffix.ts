/** The Public Suffix List, private section included; in its own module because loading it costs milliseconds. */

import { getPublicSuffix } from 'tldts'

/** Finds the public suffix of a canonical name: `github.io` for `octocat.github.io`. */
export interface SuffixLookup {
  publicSuffix(host: string): string | null
}

const OPTIONS = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false } as const

/** The list that `tldts` ships. */
export const tldtsSuffixes: SuffixLookup = {
  publicSuffix: (host) => getPublicSuffix(host, OPTIONS),
}
