/** What anybody may read and chance could have written: certificates and public keys, in blocks and on a line. */

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

/** Whether a text ends within a public block. */
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

/** The blob of an SSH public key: its first bytes are the length and name of its kind. */
export function isSshPublicKey(run: string): boolean {
  return /^AAAA(?:[BC]3NzaC1|E2VjZHNhLXNoYTI|Gn[N]rLX|I[mn]NrLX)/.test(run)
}
