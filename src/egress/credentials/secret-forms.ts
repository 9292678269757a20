/**
 * The texts in which a host may return a secret: plain, base64, hex. The search decodes escapes.
 * PURE.
 */

/** One text of a secret, and its replacement. */
export interface SecretForm {
  readonly bytes: Buffer
  /** Null keeps the length, so that decoders still work. */
  readonly placeholder: string | null
  /** The character that overwrites each byte. */
  readonly filler: string
}

/** Shorter encoded forms would match unrelated text. */
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

/**
 * At each of the three offsets in an encoded text: the characters that depend only on the secret.
 */
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
