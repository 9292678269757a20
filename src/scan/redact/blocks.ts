/** Blocks from BEGIN to END: private keys, which are secret, and public ones, which are not. */

const KEY_OPENING = /-----BEGIN (?:[A-Z0-9 ]{0,40} )?PRIVATE KEY(?: BLOCK)?-----/y
const KEY_BODY_LINE =
  /^[\s>|"'+#*,\\-]*(?:[A-Za-z0-9+/=]{1,100}(?:\\n|\\r|["',\s])*|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): .{0,200})?$/
const OPENING_REST = /^[A-Za-z0-9+/=\\\s"']*$/
const BODY_TAIL = /[A-Za-z0-9+/]{40,100}={0,2}["',\\n\s]*$/

/** The size limit of a block; the largest RSA keys have 13 KB. */
const MAX_KEY_BLOCK = 32_768
const MAX_LINE = 8192

/** The body of the block whose `BEGIN` is at `at`; null if it is not a private key's. */
export function endOfKeyBlock(text: string, at: number): { start: number; end: number } | null {
  KEY_OPENING.lastIndex = at - 5
  const opening = at < 5 ? null : KEY_OPENING.exec(text)
  if (opening === null) return null
  const start = at - 5 + opening[0].length
  const closing = text.slice(start, start + MAX_KEY_BLOCK).indexOf('-----')
  if (closing < 0 || !text.startsWith('-----END', start + closing)) return bodySpan(text, start, endOfBody(text, start))
  // Any other text between two such lines stays visible: otherwise an agent could hide text from a
  // person.
  return isKeyBody(text.slice(start, start + closing)) ? bodySpan(text, start, start + closing) : null
}

/** A line of a key: base64 behind what logs and lists put before a line, or a header. */
const KEY_LINE =
  /^[\s>|"'+#*,-]*(?:([A-Za-z0-9+/=]+)[\s"',]*|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): .{0,200})?$/
const KEY_LINE_END = /\r?\n|(?:\\+[nr])+/
/** Every line of a key but the last ones has at least so many characters. */
const LEAST_LINE = 16

/** Whether everything between BEGIN and END is the base64 of a key. */
function isKeyBody(body: string): boolean {
  // On one line, blanks separate the lines of a key.
  const lines = body.split(KEY_LINE_END.test(body.trim()) ? KEY_LINE_END : /\s+/)
  const tokens = lines.flatMap((line) => {
    const match = KEY_LINE.exec(line)
    return match === null ? [null] : match[1] === undefined ? [] : [match[1]]
  })
  const isShort = (token: string | null, index: number): boolean =>
    token === null || (token.length < LEAST_LINE && index < tokens.length - (tokens.at(-1)?.startsWith('=') ? 2 : 1))
  return tokens.length > 0 && !tokens.some(isShort) && (tokens[0]?.length ?? 0) >= LEAST_LINE
}

function bodySpan(text: string, start: number, end: number): { start: number; end: number } | null {
  let from = start
  while (from < end && text.charCodeAt(from) <= 32) from++
  let to = end
  while (to > from && text.charCodeAt(to - 1) <= 32) to--
  return from < to ? { start: from, end: to } : null
}

/** Without an END the block goes on as long as its lines look like a key. */
function endOfBody(text: string, start: number): number {
  let at = start
  while (at < text.length && at - start < MAX_KEY_BLOCK) {
    const ahead = text.slice(at, at + MAX_LINE)
    const newline = ahead.indexOf('\n')
    const line = newline < 0 ? ahead : ahead.slice(0, newline)
    const stop = at + line.length
    if (!(at === start ? OPENING_REST.test(line) : isKeyBlockLine(line))) break
    at = stop + 1
  }
  return Math.min(at, text.length)
}

/** Whether a line can belong to a key block: base64, its headers, or a blank. */
export function isKeyBlockLine(line: string): boolean {
  return line.length < MAX_LINE && (line.includes('-----END') || KEY_BODY_LINE.test(line) || BODY_TAIL.test(line))
}

/** Certificates and public keys, in blocks and on a line: public, though they look random. */
const OPENING = /-----BEGIN (?:[A-Z0-9 ]{0,24} )?(?:CERTIFICATE|CERTIFICATE REQUEST|CRL|PUBLIC KEY)(?: BLOCK)?-----/g
const MAX_BLOCK = 65_536

/** A stretch of a text. */
export interface Block {
  readonly start: number
  readonly end: number
}

/** The bodies of public blocks; one that is not closed reaches to the end of the text, as long as its lines look like one. */
export function publicBlocks(text: string, opened: boolean): readonly Block[] {
  const blocks: Block[] = []
  if (opened) blocks.push({ start: 0, end: endOfBlock(text, 0) })
  if (!text.includes('-----BEGIN ')) return blocks
  for (const match of text.matchAll(OPENING)) {
    const start = match.index + match[0].length
    blocks.push({ start, end: endOfBlock(text, start) })
  }
  return blocks
}

export function endsInPublicBlock(text: string, opened: boolean): boolean {
  return publicBlocks(text, opened).at(-1)?.end === text.length
}

const BODY_LINE =
  /^[\s>|"'+#*,\\-]*(?:[A-Za-z0-9+/=]{0,80}(?:\\n|\\r|["',\s])*|(?:Version|Comment|Hash|Charset): .{0,200})$/

/** Ends at the first line that is not one of a block's, so that nothing hides behind an opening that is never closed. */
function endOfBlock(text: string, start: number): number {
  const closing = text.indexOf('-----', start)
  const limit = Math.min(text.length, start + MAX_BLOCK, closing < 0 ? text.length : closing)
  let at = start
  while (at < limit) {
    const newline = text.indexOf('\n', at)
    const stop = newline < 0 || newline > limit ? limit : newline
    // A block on one line has its line ends written out.
    if (
      stop - at > 200
        ? !/^(?:[A-Za-z0-9+/=]{1,80}\\n)+/.test(text.slice(at, stop))
        : !BODY_LINE.test(text.slice(at, stop))
    )
      return at
    at = stop + 1
  }
  return limit
}

/** The blob of an SSH public key: its first bytes are the length and name of that type. */
export function isSshPublicKey(run: string): boolean {
  return /^AAAA(?:[BC]3NzaC1|E2VjZHNhLXNoYTI|Gn[N]rLX|I[mn]NrLX)/.test(run)
}
