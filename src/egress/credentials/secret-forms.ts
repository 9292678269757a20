/** The texts in which a host may send a secret back: as it is, in base64, in hex. Escapes are read where they are looked for. PURE. */

/** One text of a secret, and what replaces it. */
export interface SecretForm {
  readonly bytes: Buffer
  /** Null where the length stays, so that a decoder still finds its way. */
  readonly placeholder: string | null
  /** One character, for as many as are replaced. */
  readonly filler: string
}

/** Below this an encoded form is so short that it would be found in what has nothing to do with the secret. */
const SHORTEST_ENCODED = 8

/** Every form of a value, each once. A form is printable ASCII. */
export function secretForms(value: string, placeholder: string): SecretForm[] {
  const forms = new Map<string, Omit<SecretForm, 'bytes'>>()
  for (const text of [value, value.replaceAll(' ', '+')]) forms.set(text, { placeholder, filler: '*' })
  if (value.length >= SHORTEST_ENCODED) {
    for (const text of base64(value)) forms.set(text, { placeholder: null, filler: 'A' })
    for (const text of hex(value)) forms.set(text, { placeholder: null, filler: '0' })
  }
  return Array.from(forms, ([text, kind]) => ({ bytes: Buffer.from(text, 'latin1'), ...kind }))
}

/** Wherever in the encoded text it starts: the characters that depend on the secret alone, at each of the three offsets. */
function base64(value: string): string[] {
  const standard = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), Buffer.from(value)])
    return whole.toString('base64').slice(before === 0 ? 0 : before + 1, Math.floor((whole.length * 8) / 6))
  })
  return [...standard, ...standard.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))]
}

function hex(value: string): string[] {
  const lower = Buffer.from(value).toString('hex')
  return [lower, lower.toUpperCase()]
}
