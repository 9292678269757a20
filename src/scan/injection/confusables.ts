/** Characters that hide or disguise text, as data: invisible ones, and letters that look like Latin ones. */

/** Zero-width, joiners, bidi controls, soft hyphen, variation selectors, fillers: seen by a model, not by a person. */
export function isInvisible(code: number): boolean {
  return (
    code === 0xad ||
    code === 0x34f ||
    code === 0x61c ||
    code === 0x115f ||
    code === 0x1160 ||
    (code >= 0x17b4 && code <= 0x17b5) ||
    (code >= 0x180b && code <= 0x180f) ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    code === 0x3164 ||
    (code >= 0xfe00 && code <= 0xfe0f) ||
    code === 0xfeff ||
    code === 0xffa0 ||
    (code >= 0xfff9 && code <= 0xfffb) ||
    (code >= 0xe0100 && code <= 0xe01ef)
  )
}

/** The ASCII that a tag character stands for; null for any other. */
export function tagCharacter(code: number): string | null {
  return code >= 0xe0020 && code <= 0xe007e ? String.fromCharCode(code - 0xe0000) : null
}

const PAIRS =
  'аa вb еe ѕs іi јj кk мm нh оo рp сc тt уy хx ԁd ԛq ԝw һh ӏl ґr гr пn иu зe шw ъb ьb яr ' +
  'αa βb γy εe ζz ηn ιi κk νv οo ρp σo τt υu χx ωw ' +
  'ɑa ɡg ɩi ɪi ʟl ɴn ʀr ʏy ᴀa ᴄc ᴅd ᴇe ᴊj ᴋk ᴍm ᴏo ᴘp ᴛt ᴜu ᴠv ᴡw ᴢz ꜱs ʙb ɢg ʜh ' +
  'օo սu հh ոn ցg ɡg ıi łl øo đd ħh ŧt'

const LOOKALIKES: ReadonlyMap<string, string> = new Map(PAIRS.split(' ').map((pair) => [pair[0]!, pair[1]!]))

/** The Latin letter that a character looks like; itself when there is none. Marks on letters are dropped. */
export function foldLetter(char: string): string {
  const plain = char.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return LOOKALIKES.get(plain) ?? plain
}
