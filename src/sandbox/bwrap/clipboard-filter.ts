/** PURE. Takes out of a command's output what would put something on the person's clipboard (OSC 52 and its kin). */

const [BEL, CAN, SUB, ESC] = [0x07, 0x18, 0x1a, 0x1b]
const [OPEN_BRACKET, LETTER_P, BACKSLASH] = [0x5d, 0x50, 0x5c]
/** The same as one character, after its lead byte in UTF-8. */
const [DCS, ST, OSC, LEAD] = [0x90, 0x9c, 0x9d, 0xc2]

const CLIPBOARD_NUMBERS: ReadonlySet<number> = new Set([52, 5522])
/** Of iTerm2, where other words after the number are harmless. */
const MIXED_NUMBERS: ReadonlySet<number> = new Set([50, 1337])
const COPY = 'copy'
const PASSED_ON = 'tmux;'
const LONGEST_NUMBER = 16

type State = 'text' | 'lead' | 'escape' | 'number' | 'device' | 'dropped' | 'dropped-escape'

/** One stream, which may be cut anywhere. */
export class ClipboardFilter {
  #state: State = 'text'
  /** Bytes that are kept until their sequence is known. */
  #buffered: number[] = []
  /** The same without its introducer and the control characters that terminals leave out. */
  #word = ''
  /** Remaining bytes of a character; none of them is a control character. */
  #expected = 0

  /** What of these bytes may pass. */
  take(chunk: Buffer): Buffer {
    if (this.#state === 'text' && this.#expected === 0 && !chunk.some(isSpecial)) return chunk
    const out: number[] = []
    for (const byte of chunk) this.#step(byte, out)
    return Buffer.from(out)
  }

  #step(byte: number, out: number[]): void {
    if (this.#state === 'text') this.#text(byte, out)
    else if (this.#state === 'lead') this.#afterLead(byte, out)
    else if (this.#state === 'escape') this.#introduced(byte, out)
    else if (this.#state === 'number' || this.#state === 'device') this.#hold(byte, out)
    else if (this.#state === 'dropped') {
      if (byte === BEL || byte === CAN || byte === SUB || byte === ST) this.#state = 'text'
      else if (byte === ESC) this.#state = 'dropped-escape'
    } else if (byte === BACKSLASH) this.#state = 'text'
    else if (byte !== ESC) {
      // Another sequence begins and ends this one.
      this.#buffered = [ESC]
      this.#introduced(byte, out)
    }
  }

  #text(byte: number, out: number[]): void {
    const inside = this.#expected > 0 && byte >= 0x80 && byte < 0xc0
    this.#expected = inside ? this.#expected - 1 : byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte > LEAD ? 1 : 0
    if (byte === LEAD || byte === ESC) {
      this.#buffered = [byte]
      this.#state = byte === ESC ? 'escape' : 'lead'
    } else if (!inside && (byte === OSC || byte === DCS)) this.#introduced(byte, out)
    else out.push(byte)
  }

  #afterLead(byte: number, out: number[]): void {
    if (byte === OSC || byte === DCS) this.#introduced(byte, out)
    else {
      this.#release(out)
      this.#expected = 1
      this.#text(byte, out)
    }
  }

  #introduced(byte: number, out: number[]): void {
    this.#buffered.push(byte)
    this.#word = ''
    if (byte === OPEN_BRACKET || byte === OSC) this.#state = 'number'
    else if (byte === LETTER_P || byte === DCS) this.#state = 'device'
    else if (byte === ESC) {
      out.push(ESC)
      this.#buffered = [ESC]
      this.#state = 'escape'
    } else this.#release(out)
  }

  #hold(byte: number, out: number[]): void {
    if (byte === ESC || byte === BEL || byte === CAN || byte === SUB) {
      // screen passes on what begins so.
      if (byte === ESC && this.#state === 'device' && this.#word === '') this.#drop()
      else {
        this.#release(out)
        this.#text(byte, out)
      }
      return
    }
    this.#buffered.push(byte)
    // Terminals leave control characters out of a sequence, so `5 NUL 2` is 52.
    if (byte >= 0x20) this.#word += String.fromCharCode(byte).toLowerCase()
    const verdict = this.#state === 'number' ? judgeNumber(this.#word) : judgePassedOn(this.#word)
    if (verdict === 'drop') this.#drop()
    else if (verdict === 'pass' || this.#buffered.length > 256) this.#release(out)
  }

  #drop(): void {
    this.#buffered = []
    this.#state = 'dropped'
  }

  #release(out: number[]): void {
    out.push(...this.#buffered)
    this.#buffered = []
    this.#state = 'text'
  }
}

type Verdict = 'drop' | 'pass' | 'unknown'

function judgeNumber(word: string): Verdict {
  const end = word.indexOf(';')
  if (end < 0) return word.length > LONGEST_NUMBER && !/^[\s+0]*\d{0,4}$/.test(word) ? 'pass' : 'unknown'
  // As lenient as the most lenient terminal.
  const number = Number.parseInt(word, 10)
  if (CLIPBOARD_NUMBERS.has(number)) return 'drop'
  if (!MIXED_NUMBERS.has(number)) return 'pass'
  const rest = word.slice(end + 1)
  if (rest.startsWith(COPY)) return 'drop'
  return COPY.startsWith(rest) ? 'unknown' : 'pass'
}

/** A multiplexer joins several such sequences and passes them to the terminal outside. */
function judgePassedOn(word: string): Verdict {
  if (word === PASSED_ON) return 'drop'
  return PASSED_ON.startsWith(word) ? 'unknown' : 'pass'
}

function isSpecial(byte: number): boolean {
  return byte === ESC || byte === OSC || byte === DCS || byte >= LEAD
}
