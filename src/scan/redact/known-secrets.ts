/** The forms in which a known secret may turn up: itself, and what encoders make of it. */

/** Shorter values are too common to be masked wherever they occur. */
const MIN_SECRET = 6
const MIN_FRAGMENT = 8

/** Every text to look for when this value must not appear. */
export function secretForms(secret: string): readonly string[] {
  const forms = new Set<string>()
  for (const value of [secret, secret.trim()]) {
    if (value.length < MIN_SECRET) continue
    forms.add(value)
    addEncodings(value, forms)
  }
  // A block that is logged line by line never appears as a whole.
  const lines = secret.split(/\r?\n/)
  if (lines.length > 1) for (const line of lines) if (line.trim().length >= 16) forms.add(line.trim())
  return [...forms]
}

function addEncodings(value: string, forms: Set<string>): void {
  const json = JSON.stringify(value).slice(1, -1)
  forms.add(json)
  forms.add(JSON.stringify(json).slice(1, -1))
  forms.add(json.replaceAll('/', '\\/'))
  const url = percentEncoded(value)
  forms.add(url)
  forms.add(url.replaceAll('%20', '+'))
  forms.add(url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))
  forms.add(encodeMore(url))
  forms.add(
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
  )
  forms.add(value.replaceAll("'", `'\\''`))
  const bytes = new TextEncoder().encode(value)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  forms.add(hex)
  forms.add(hex.toUpperCase())
  for (const fragment of base64Fragments(bytes)) {
    if (fragment.length < MIN_FRAGMENT) continue
    forms.add(fragment)
    forms.add(fragment.replaceAll('+', '-').replaceAll('/', '_'))
  }
}

function percentEncoded(value: string): string {
  return value.isWellFormed() ? encodeURIComponent(value) : value
}

/** What stricter encoders escape beyond `encodeURIComponent`. */
function encodeMore(url: string): string {
  return url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The characters of a base64 text that depend on these bytes alone, wherever they lie in a longer input. */
function base64Fragments(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((offset) => {
    const padded = new Uint8Array(offset + bytes.length)
    padded.set(bytes, offset)
    const text = btoa(String.fromCharCode(...padded)).replaceAll('=', '')
    const first = [0, 2, 3][offset]!
    const wholeBits = (offset + bytes.length) * 8
    return text.slice(first, Math.floor(wholeBits / 6))
  })
}
