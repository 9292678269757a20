/** The names of fields in an urlencoded form as it passes, wherever its pieces are cut. PURE. */

/** A name that is longer is nobody's. */
const LONGEST = 256
const [AMPERSAND, SEMICOLON, EQUALS] = [0x26, 0x3b, 0x3d]

/** True for a body of that kind. */
export function isForm(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*application\/x-www-form-urlencoded\b/i.test(contentType)
}

/** A reader of one body: the names that are whole with this piece, each as soon as its `=` has come. */
export function formFields(): (piece: Buffer) => string[] {
  let name: number[] = []
  let inName = true
  return (piece) => {
    const found: string[] = []
    for (const byte of piece) {
      const parts = byte === AMPERSAND || byte === SEMICOLON
      if (inName && (parts || byte === EQUALS)) {
        found.push(Buffer.from(name).toString('latin1'))
        inName = false
      }
      if (parts) {
        inName = true
        name = []
      } else if (inName && name.length < LONGEST) name.push(byte)
    }
    return found.filter((one) => one !== '')
  }
}
