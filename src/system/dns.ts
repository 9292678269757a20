/** Resolves host names to all their addresses. */

import { lookup } from 'node:dns/promises'
import { errorCode } from './fault.ts'

export interface Resolver {
  /** Every address of a canonical name; empty if there is none. */
  resolve(host: string): Promise<readonly string[]>
}

interface Answer {
  readonly addresses: Promise<readonly string[]>
  readonly until: number
}

const CACHE_MILLISECONDS = 5_000
const CACHE_ENTRIES = 512
const TIMEOUT_MILLISECONDS = 15_000
/** Errors that mean "no such host" rather than a failed resolver. */
const NO_SUCH_HOST: ReadonlySet<string | null> = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA'])

/**
 * The machine's own resolver, including `/etc/hosts`. Answers are cached for seconds, because
 * package managers ask for a host many times. Callers judge each answer and dial what they judged.
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
