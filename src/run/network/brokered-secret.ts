/**
 * An entry of `[[secrets]]` with its value: read at its source, and separated from the surrounding
 * text (N7).
 */

import { type BrokeredSecret, unfitValue } from '../../egress/credentials/broker.ts'
import type { SecretSetting } from '../../manifest/schema/settings.ts'
import { attempt, Fault } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'

/** Scheme, user and password of a URL; the password ends at the last `@` before the path. */
const URL_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^\s/?#:@]*:)([^\s/?#]+)(@[\s\S]*)$/i

/** Reads an entry at its source. Throws a Fault if it is missing or malformed. */
export function readSecret(secret: SecretSetting, machine: Machine): BrokeredSecret {
  const { name, source, hosts, header, query, signs, login, exclusive = false } = secret
  const { passHeaders, passParameters, openPaths } = secret
  const text = source.kind === 'env' ? machine.env[source.name] : machine.readSecret(source)
  if (text === undefined || text === null || text === '') {
    throw new Fault('secret-missing', `the secret ${name} has no value at its source (${source.kind} ${source.name})`, {
      remedy: `${source.kind === 'keychain' ? `Store it with cordon secrets set ${source.name}` : 'Set it there'}, or remove its entry from the manifest.`,
    })
  }
  const part = partOf(secret, text)
  if (part === null) {
    const wanted = secret.after === undefined ? 'no password in a URL' : `no text after ${JSON.stringify(secret.after)}`
    throw new Fault(
      'secret-missing',
      `the secret ${name}: at its source (${source.kind} ${source.name}) is ${wanted}`,
      {
        remedy: 'Correct `part` or `after` of the entry, or the value there.',
      },
    )
  }
  const unfit = unfitValue({ name, value: part.value })
  if (unfit !== null) {
    throw new Fault('secret-unfit', unfit, {
      remedy: `Check the value at its source (${source.kind} ${source.name}), and put the real key there.`,
    })
  }
  return {
    name,
    ...part,
    hosts: hosts.map((rule) => rule.pattern),
    ...(header !== null && { header }),
    ...(query !== undefined && { query }),
    ...(signs !== undefined && { signs }),
    ...(login !== undefined && { login }),
    exclusive,
    ...(passHeaders && { passHeaders }),
    ...(passParameters && { passParameters }),
    ...(openPaths && { openPaths }),
  }
}

/** The secret in a text, with the text before and after it; null if missing. */
function partOf({ part, after }: SecretSetting, text: string): Pick<BrokeredSecret, 'value' | 'around'> | null {
  if (after !== undefined) {
    const at = text.indexOf(after)
    const start = at + after.length
    const value = at < 0 ? '' : /^[^\s"',;]*/.exec(text.slice(start))![0]
    // The same value elsewhere in the text would be passed on with it.
    const hide = (rest: string) => rest.split(value)
    return value === ''
      ? null
      : { value, around: [...hide(text.slice(0, start)), ...hide(text.slice(start + value.length))] }
  }
  if (part !== 'password') return { value: text }
  const [, before = '', written = '', rest = ''] = URL_PASSWORD.exec(text) ?? []
  return attempt(() => (written === '' ? null : { value: decodeURIComponent(written), around: [before, rest] }), null)
}
