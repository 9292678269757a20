/**
 * Watches a passing body: counts bytes, and finds secrets for other hosts, foreign credentials for
 * a brokered host, and method overrides in a form.
 */

import type { Readable } from 'node:stream'
import type { Broker } from '../credentials/broker.ts'
import { decodedFully } from '../credentials/foreign-credential.ts'
import { type EgressRules, isHeldToMethods } from '../route/rules.ts'
import { fieldReader, isInOddLetters, UNREAD_NAME } from '../wire/form-fields.ts'
import { isMethodField } from '../wire/override-headers.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { headerValues } from '../wire/request-head.ts'
import { authorityOf, type Target } from '../wire/target.ts'

/** The destination of a body, and its declared type. */
export interface WatchedBody {
  readonly body: Readable
  readonly method: string
  readonly rawHeaders: readonly string[]
  readonly target: Target
  readonly rules: EgressRules
}

const UNREAD_FORM: EgressDenial = {
  code: 'secret-unread',
  message: 'a form that is compressed or in rare letters cannot be read, and somebody’s own key could be in it',
}

/** Calls `onBytes` for every piece, and `onRefusal` once, before the refused piece is passed on. */
export function watchBody(
  { body, method, rawHeaders, target, rules }: WatchedBody,
  broker: Broker | null,
  onBytes: (count: number) => void,
  onRefusal: (refusal: EgressDenial) => void,
): void {
  let stopped = false
  const types = headerValues(rawHeaders, 'content-type')
  const unread =
    isInOddLetters(types) ||
    headerValues(rawHeaders, 'content-encoding').some((name) => name.trim().toLowerCase() !== 'identity')
  const placeholderIn = broker?.bodyReader(target) ?? (() => null)
  const credentials = broker?.isFor(target) ? fieldReader(types) : null
  // Only a POST can become another method.
  const methods = method === 'POST' && isHeldToMethods(rules, target) ? fieldReader(types, { json: true }) : null

  function problemIn(chunk: Buffer): EgressDenial | null {
    const refusal = placeholderIn(chunk)
    if (refusal !== null) return refusal
    if (methods !== null && (unread || methods(chunk).some(isOtherMethod))) {
      const what = unread ? 'cannot be read, and could override' : 'overrides'
      const message = `a form for ${authorityOf(target, 443)} ${what} the method of its request`
      return { code: 'method-unlisted', message }
    }
    if (credentials === null) return null
    return unread ? UNREAD_FORM : broker!.fieldProblem(target, credentials(chunk))
  }

  function isOtherMethod(name: string): boolean {
    return name === UNREAD_NAME || isMethodField(decodedFully(name))
  }

  body.on('data', (chunk: Buffer) => {
    onBytes(chunk.length)
    if (stopped) return
    const refusal = problemIn(chunk)
    if (refusal === null) return
    stopped = true
    onRefusal(refusal)
  })
}
