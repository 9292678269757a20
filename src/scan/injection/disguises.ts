/** Takes disguises off words: ROT13, writing backwards, letters apart, digits for letters. Only where a telling word comes out. */

/** The words as they read without each disguise that they wear. */
export function undisguise(words: string): string[] {
  const found: string[] = []
  if (TURNED_STEM.test(words)) {
    if (ROT13_WORD.test(words)) found.push(rot13(words))
    if (REVERSED_WORD.test(words)) found.push([...words].reverse().join(''))
  }
  if (SPACED.test(words)) {
    const joined = words
      .replace(EACH_SPACED, (letters) => parted(letters.replaceAll(' ', '')))
      .replace(/ {2,}/g, ' ')
      .trim()
    if (joined !== words.trim()) found.push(joined)
  }
  if (hasLeetWord(words) && !TELLING_WORD.test(words)) {
    const straight = words.replace(/[a-z0-9]+/g, (word) => (isLeet(word) ? unleet(word) : word))
    if (TELLING_WORD.test(straight)) found.push(straight)
  }
  return found
}

/** Letters written apart lose the gaps between words; the words that matter are found again. */
function parted(letters: string): string {
  return letters.replace(KNOWN_WORD, ' $1 ').replace(/ {2,}/g, ' ')
}

const KNOWN_WORD =
  /(ignore|disregard|forget|override|previous|prior|above|instructions?|system|prompt|rules|your|all|the|reveal|send|secret|password|user)/g
/** One of these is in every word of the two that follow: a search for plain texts is several times as fast as theirs. */
const TURNED_STEM =
  /vtaber|qvfertneq|vafgehpgvba|cerivbhf|flfgrz|bireevqr|snoitcurtsni|erongi|suoiverp|dragersid|tpmorp/
const ROT13_WORD = /\b(?:vtaber|qvfertneq|vafgehpgvbaf?|cerivbhf|flfgrz cebzcg|bireevqr)\b/
const REVERSED_WORD = /\b(?:snoitcurtsni|erongi|suoiverp|dragersid|tpmorp metsys)\b/
const SPACED = /\b(?:[a-z] ){7}[a-z]\b/
const EACH_SPACED = /\b(?:[a-z] ){7,200}[a-z]\b/g
const TELLING_WORD = /\b(?:ignore|disregard|forget|instructions?|previous|system prompt|override)\b/
/** The words of which one must have been written with digits. */
const TELLING_PARTS: ReadonlySet<string> = new Set(
  'ignore disregard forget instruction instructions previous system prompt override'.split(' '),
)
const LONGEST_PART = 12

function rot13(text: string): string {
  return text.replace(/[a-z]/g, (char) => String.fromCharCode(((char.charCodeAt(0) - 97 + 13) % 26) + 97))
}

const LEET: Readonly<Record<string, string>> = { '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b' }

function unleet(word: string): string {
  return word.replace(/[0134578]/g, (digit) => LEET[digit]!)
}

function isLeet(word: string): boolean {
  return /[a-z]/.test(word) && /[0134578]/.test(word)
}

/** Whether a word with digits in it reads as a telling one. It goes from digit to digit, which most texts have few of. */
function hasLeetWord(words: string): boolean {
  const digits = /[0134578]/g
  for (let digit = digits.exec(words); digit !== null; digit = digits.exec(words)) {
    let start = digit.index
    let end = digit.index + 1
    while (isWordCharacter(words.charCodeAt(start - 1))) start--
    while (isWordCharacter(words.charCodeAt(end))) end++
    if (end - start <= LONGEST_PART) {
      const word = words.slice(start, end)
      if (isLeet(word) && TELLING_PARTS.has(unleet(word))) return true
    }
    digits.lastIndex = end
  }
  return false
}

function isWordCharacter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57)
}
