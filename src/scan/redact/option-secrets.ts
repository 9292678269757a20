/** Secrets among the words of a command: the options and operands of each program, as data. */

import { characterClass } from '../text-bytes.ts'

/** Where a program takes a secret. */
interface OptionRow {
  readonly programs: string
  /** Words that come before: `login` for `docker login -p V`. */
  readonly sub?: string
  /** Options that take a secret: `-p` as the next word or glued to it, `-p*` glued only. */
  readonly options?: string
  /** One-letter options without a value that may precede it in one word: `-su` is `-s -u`. */
  readonly flags?: string
  /** The secret is a plain word: the first (0), second … after `sub`. */
  readonly word?: number
  /** The secret is what follows the first such mark: `user:secret`. */
  readonly after?: string
  /**
   * The value names the source of the secret: `pass:V` contains it, `env:NAME` and `file:PATH`
   * refer to it.
   */
  readonly sources?: true
  /** The shortest value that is masked. */
  readonly least?: number
}

/**
 * Every program whose words can contain a secret. A plain word counts only if it does not read like
 * prose.
 */
const ROWS: readonly OptionRow[] = [
  {
    programs: 'curl',
    options: '-u -U --user --proxy-user -E --cert',
    flags: 'sSfkLvgiIqNajGnBJOMRVZpl0123456#',
    after: ':',
  },
  { programs: 'curl', options: '--pass --proxy-pass' },
  { programs: 'http https xh xhs', options: '-a --auth', flags: 'vhbdFfj', after: ':' },
  { programs: 'wget aria2c', options: '--http-passwd --ftp-passwd' },
  { programs: 'mysql mysqldump mysqladmin mysqlimport mysqlsh mariadb mariadb-dump', options: '-p*' },
  { programs: 'mongo mongosh mongodump mongorestore mongoexport mongoimport', options: '-p' },
  { programs: 'redis-cli redis-benchmark valkey-cli', options: '-a --pass' },
  { programs: 'sqlcmd bcp osql', options: '-P' },
  { programs: 'cqlsh', options: '-p' },
  { programs: 'sqlplus expdp impdp', word: 0, after: '/' },
  { programs: 'etcdctl', options: '--user', after: ':' },
  { programs: 'ssh-keygen', options: '-N -P', least: 1 },
  { programs: 'sshpass', options: '-p' },
  {
    programs: 'keytool jarsigner apksigner',
    options: '-storepass -keypass -srcstorepass -deststorepass -srckeypass -destkeypass -new',
  },
  { programs: 'openssl', options: '-k -K -passin -passout -pass -password', sources: true },
  { programs: 'openssl', sub: 'passwd', word: 0 },
  { programs: 'zip unzip zipcloak', options: '-P', flags: 'rqojvnfu' },
  { programs: '7z 7za 7zr 7zz', options: '-p*' },
  { programs: 'rar unrar', options: '-p* -hp*' },
  { programs: 'pdftk', sub: 'user_pw', word: 0 },
  { programs: 'qpdf', options: '--password' },
  {
    programs: 'ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldapcompare ldapmodrdn ldapexop',
    options: '-w',
    flags: 'xvnZHLcd',
  },
  { programs: 'ldappasswd', options: '-w -s -a', flags: 'xvnZAS' },
  ...['docker podman buildah skopeo nerdctl oras helm', 'az gh glab doctl oc argocd tkn ibmcloud cf'].map(
    (programs) => ({
      programs,
      sub: 'login',
      options: '-p --password --token -t',
    }),
  ),
  { programs: 'helm twine', options: '-p' },
  { programs: 'poetry', sub: 'publish', options: '-p' },
  { programs: 'gh', sub: 'secret', options: '-b --body' },
  { programs: 'vault cargo', sub: 'login', word: 0 },
  { programs: 'vault', sub: 'unwrap', word: 0 },
  { programs: 'snyk', sub: 'auth', word: 0 },
  { programs: 'bw', sub: 'unlock', word: 0 },
  { programs: 'bw', sub: 'login', word: 1 },
  { programs: 'ngrok', sub: 'authtoken', word: 0 },
  { programs: 'ngrok', sub: 'add-authtoken', word: 0 },
  { programs: 'htpasswd', options: '-b', flags: 'cnmdspBi2', word: 2 },
  { programs: 'htpasswd', options: '-nb -nbm -nbB -nbs -nbd -bn', word: 1 },
  { programs: 'smbclient smbget rpcclient net mount.cifs', options: '-U --user', after: '%' },
  { programs: 'lftp', options: '-u --user', after: ',' },
  { programs: 'xfreerdp wlfreerdp', options: '/p:*' },
  { programs: 'rdesktop evil-winrm', options: '-p' },
  { programs: 'ipmitool mosquitto_pub mosquitto_sub mosquitto_rr', options: '-P' },
  { programs: 'snmpwalk snmpget snmpset snmpbulkwalk', options: '-A -X' },
  { programs: 'swaks', options: '-ap --auth-password' },
  { programs: 'nmcli', sub: 'password', word: 0 },
  { programs: 'wpa_passphrase', word: 1 },
  { programs: 'rabbitmqctl', sub: 'add_user', word: 1 },
  { programs: 'rabbitmqctl', sub: 'change_password', word: 1 },
  { programs: 'useradd usermod', options: '-p' },
]

/** `npm config set KEY V`, `aws configure set KEY V`: the key says whether the value is a secret. */
const SETTERS: ReadonlySet<string> = new Set('npm pnpm yarn aws git gcloud pulumi poetry composer bundle'.split(' '))

/** An option as it is looked for. */
interface SecretOption {
  readonly name: string
  readonly gluedOnly: boolean
  /** Of an option of one letter. */
  readonly letter: string | null
}

interface ProgramRow extends Omit<OptionRow, 'options'> {
  readonly options: readonly SecretOption[]
}

const BY_PROGRAM: ReadonlyMap<string, readonly ProgramRow[]> = (() => {
  const rows = new Map<string, ProgramRow[]>()
  for (const row of ROWS) {
    const options = (row.options?.split(' ') ?? []).map((given): SecretOption => {
      const gluedOnly = given.endsWith('*')
      const name = gluedOnly ? given.slice(0, -1) : given
      return { name, gluedOnly, letter: /^-[A-Za-z]$/.test(name) ? name[1]! : null }
    })
    for (const name of row.programs.split(' ')) rows.set(name, [...(rows.get(name) ?? []), { ...row, options }])
  }
  for (const name of SETTERS) rows.set(name, rows.get(name) ?? [])
  return rows
})()

/** The program names that start a search for secrets in a text. */
export const SECRET_PROGRAMS: readonly string[] = [...BY_PROGRAM.keys()]

/** A secret among words: of the word at `index`, from `start` to its end. */
export interface WordSecret {
  readonly index: number
  readonly start: number
}

/** The secrets among the words of one command; `isSecretKey` judges the name of a setting. */
export function wordSecrets(words: readonly string[], isSecretKey: (key: string) => boolean): readonly WordSecret[] {
  const name = words[0]?.split('/').at(-1) ?? ''
  const rows = BY_PROGRAM.get(name)
  if (rows === undefined) return []
  const found = rows.flatMap((row) => rowSecrets(row, words))
  return SETTERS.has(name) ? [...found, ...setSecrets(words, isSecretKey)] : found
}

function rowSecrets(row: ProgramRow, words: readonly string[]): WordSecret[] {
  const from = row.sub === undefined ? 1 : words.indexOf(row.sub) + 1
  if (from === 0) return []
  const found: WordSecret[] = []
  const { options } = row
  let isNamed = options.length === 0
  for (let index = 1; index < words.length; index++) {
    const start = words[index]![0]
    if (start !== '-' && start !== '/') continue
    for (const option of options) {
      const value = optionValue(words, index, option, row.flags ?? '')
      if (value === null) continue
      isNamed = true
      // `htpasswd -b FILE USER V`: the option says that the secret is a word.
      if (row.word === undefined) found.push(...valueSecret(row, words, value))
    }
  }
  if (row.word === undefined || !isNamed) return found
  const plain = words.flatMap((word, index) => (index >= from && !word.startsWith('-') ? [index] : []))
  const index = plain[row.word]
  if (index === undefined) return found
  const isProse = options.length === 0 && row.after === undefined && !LOOKS_MADE.test(words[index]!)
  return isProse ? found : [...found, ...valueSecret(row, words, { index, start: 0 })]
}

/** A word that never occurs in a sentence: "vault login failed" is prose. */
const LOOKS_MADE = /^(?=.*[0-9])(?=.*[A-Za-z]).{6,}$|^\S{20,}$/

/** Where the value of an option is, if this word is that option. */
function optionValue(
  words: readonly string[],
  index: number,
  { name, gluedOnly, letter }: SecretOption,
  flags: string,
): WordSecret | null {
  const word = words[index]!
  let at = -1
  if (word.startsWith(name)) at = name.length
  else if (letter !== null) {
    // In one word with options that take no value.
    let end = 1
    while (end < word.length && flags.includes(word[end]!)) end++
    if (end > 1 && word[end] === letter) at = end + 1
  }
  if (at < 0) return null
  if (at === word.length) return gluedOnly || index + 1 >= words.length ? null : { index: index + 1, start: 0 }
  if (word[at] === '=') return { index, start: at + 1 }
  return letter !== null || gluedOnly ? { index, start: at } : null
}

function valueSecret(
  { after, sources, least = 3 }: ProgramRow,
  words: readonly string[],
  value: WordSecret,
): WordSecret[] {
  const word = words[value.index]!
  let { start } = value
  if (after !== undefined) {
    const mark = word.indexOf(after, start)
    if (mark < 0) return []
    start = mark + 1
  }
  const source = sources ? /^(pass|env|file|fd|stdin)(?::|$)/.exec(word.slice(start)) : null
  if (source !== null) {
    if (source[1] !== 'pass') return []
    start += source[0].length
  }
  const text = word.slice(start)
  return text.length < least || /^[$<*-]/.test(text) ? [] : [{ index: value.index, start }]
}

function setSecrets(words: readonly string[], isSecretKey: (key: string) => boolean): WordSecret[] {
  const at = words.findIndex((word) => word === 'set' || word === 'config' || word === 'configure')
  if (at < 0) return []
  return words.flatMap((word, index): WordSecret[] => {
    if (index <= at || word.startsWith('-') || index + 1 >= words.length) return []
    const key = word.split(/[:/]/).at(-1) ?? ''
    const value = words[index + 1]!
    if (!isSecretKey(key) || value.length < 3 || /^[$<*-]/.test(value)) return []
    return [{ index: index + 1, start: 0 }]
  })
}

/** A word of a text: its value without quotes, and the positions of its characters. */
interface TextWord {
  readonly value: string
  readonly start: number
  /** Of every character, where quotes are between them. */
  readonly places: readonly number[] | null
}

/** A name with something behind it. */
const NAME = /([\w.-]{1,20})(?=\\?["']|[ \t])/y

/** A command is read this far, so that a text full of program names costs little. */
const MAX_COMMAND = 512
const MAX_WORDS = 32

/** The secrets of the command that begins with a program's name at `at`, as spans of the text. */
export function commandSecrets(
  text: string,
  at: number,
  isSecretKey: (key: string) => boolean,
): readonly { readonly start: number; readonly end: number }[] {
  NAME.lastIndex = at
  if (!BY_PROGRAM.has(NAME.exec(text)?.[1] ?? '')) return []
  const words = listWords(text, at) ?? commandWords(text, at)
  const values = words.map(({ value }) => value)
  return wordSecrets(values, isSecretKey).flatMap(({ index, start }) => {
    const word = words[index]!
    const place = (character: number): number => word.places?.[character] ?? word.start + character
    return start >= word.value.length ? [] : [{ start: place(start), end: place(word.value.length - 1) + 1 }]
  })
}

/**
 * The texts of a list, such as `["docker","login"]`, whose first is the program; null outside a
 * list.
 */
function listWords(text: string, from: number): readonly TextWord[] | null {
  const quote = text[from - 1]
  if (quote !== '"' && quote !== "'") return null
  const mark = text[from - 2] === '\\' ? `\\${quote}` : quote
  const words: TextWord[] = []
  for (let at = from; words.length < MAX_WORDS && at - from < MAX_COMMAND; ) {
    const end = text.indexOf(mark, at)
    if (end < 0 || end - from > MAX_COMMAND) break
    const value = text.slice(at, end)
    // A command as one text is not a list.
    if (words.length === 0 && /\s/.test(value)) break
    words.push({ value, start: at, places: null })
    let next = end + mark.length
    if (text[next] !== ',') break
    do next++
    while (text[next] === ' ')
    if (!text.startsWith(mark, next)) break
    at = next + mark.length
  }
  return words.length > 1 ? words : null
}

/** The words of a command as a shell reads them; it ends with its line or at an operator. */
function commandWords(text: string, from: number): readonly TextWord[] {
  const limit = Math.min(text.length, from + MAX_COMMAND)
  const words: TextWord[] = []
  for (let at = from; words.length < MAX_WORDS; ) {
    while (at < limit && (text[at] === ' ' || text[at] === '\t')) at++
    const end = endOfPlainWord(text, at, limit)
    const stop = text.charCodeAt(end)
    if (end >= limit || stop === SPACE || stop === TAB) {
      if (end > at) words.push({ value: text.slice(at, end), start: at, places: null })
      if (end >= limit) break
      at = end
      continue
    }
    const quoted = quotedWord(text, at, limit)
    if (quoted.word.value !== '') words.push(quoted.word)
    if (quoted.ends) break
    at = quoted.end
  }
  return words
}

const SPACE = 32
const TAB = 9
const STOPS: Uint8Array = characterClass(' \t\n\r|;&<>)`"\'\\')

function endOfPlainWord(text: string, from: number, limit: number): number {
  let at = from
  while (at < limit && STOPS[text.charCodeAt(at)] !== 1) at++
  return at
}

/** A word with quotes or escapes in it; `ends` where the command ends with it. */
function quotedWord(
  text: string,
  from: number,
  limit: number,
): { readonly word: TextWord; readonly end: number; readonly ends: boolean } {
  let value = ''
  const places: number[] = []
  let quote = ''
  let at = from
  let ends = false
  for (; at < limit; at++) {
    let char = text[at]!
    if (char === '\n' || char === '\r') ends = true
    const next = char === '\\' ? text[at + 1] : undefined
    // A command inside JSON has its quotes and line ends escaped.
    if (next === 'n' || next === 'r') ends = true
    if (ends || (quote === '' && (char === ' ' || char === '\t'))) break
    if (quote === '' && char !== '\\' && char !== '"' && char !== "'" && STOPS[char.charCodeAt(0)] === 1) {
      ends = true
      break
    }
    if (next === '"' || next === "'") {
      at++
      char = next
    }
    if ((char === '"' || char === "'") && (quote === '' || quote === char)) quote = quote === '' ? char : ''
    else {
      value += char
      places.push(at)
    }
  }
  return { word: { value, start: from, places }, end: at, ends: ends || at >= limit }
}
