/** The port to name resolution: every address of a host. */

import { lookup } from 'node:dns/promises'
import { errorCode } from './fault.ts'

export interface Resolver {
  /** Every address of a canonical name, IPv4 and IPv6; empty when there is none. */
  resolve(host: string): Promise<readonly string[]>
}

interface Answer {
  readonly addresses: Promise<readonly string[]>
  readonly until: number
}

const CACHE_MILLISECONDS = 5_000
const CACHE_ENTRIES = 512
const TIMEOUT_MILLISECONDS = 15_000
/** Answers that mean "there is no such host", as against "the resolver failed". */
const NO_SUCH_HOST: ReadonlySet<string | null> = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA'])

/**
 * The machine's own resolver, `/etc/hosts` included. Answers are kept for a few seconds, because a package manager asks
 * for one host fifty times; the process that dials judges the answer each time and dials what was judged.
 */
export function machineResolver(): Resolver {
  const answers = new Map<string, Answer>()
  return {
    resolve: (host) => {
      const now = performance.now()
      const known = answers.get(host)
      if (known && known.until > now) return known.addresses
      const addresses = ask(host)
      answers.delete(host)
      if (answers.size >= CACHE_ENTRIES) answers.delete(answers.keys().next().value!)
      answers.set(host, { addresses, until: now + CACHE_MILLISECONDS })
      addresses.catch(() => answers.delete(host))
      return addresses
    },
  }
}

async function ask(host: string): Promise<readonly string[]> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer for ${host} in time`)), TIMEOUT_MILLISECONDS)
  try {
    const answers = await Promise.race([lookup(host, { all: true, order: 'verbatim' }), timeout])
    return [...new Set(answers.map((answer) => answer.address))]
  } catch (error) {
    if (NO_SUCH_HOST.has(errorCode(error))) return []
    throw error
  } finally {
    clearTimeout(timer)
  }
}
