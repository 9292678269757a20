/** Names that announce a secret, and how sure each is, as data. */

/**
 * How a value is judged: `password` by almost anything, `token` by anything that is not a number, a word of state or code,
 * `header` after its scheme, `weak` only when it looks random.
 */
export type KeyGrade = 'password' | 'token' | 'header' | 'weak'

const PASSWORD_WORDS: ReadonlySet<string> = new Set(
  'password passwd passphrase passcode pwd passwort kennwort contrasena motdepasse userpass dbpass mnemonic otp pgpassword requirepass'.split(
    ' ',
  ),
)

/** A key with one of these is not a secret: `token_type`, `secret_name`, `password_policy`. */
const DESCRIBING_WORDS: ReadonlySet<string> = new Set(
  (
    'name names type types count counts url uri path paths file filename length len limit limits expires expiry expired ' +
    'expiration ttl at in version versions status valid policy rotation size usage used index enabled disabled required ' +
    'field header format prefix suffix hint regex label placeholder error errors endpoint provider scope scopes age date ' +
    'time timeout seconds ms manager store class method kind id ids arn ref column env var mode min max per total budget ' +
    'bucket generator handler validator validation parser stream cache input output reset changed updated created attempts ' +
    'ring pair word map set list space mismatch check checks strength complexity confirmation_url domain issuer audience algorithm alg'
  ).split(' '),
)

/** Words before `key` that make it a secret. */
const SECRET_KEY_WORDS: ReadonlySet<string> = new Set(
  (
    'api app application access account shared secret private signing encryption encrypt decryption crypt master service storage auth ' +
    'authentication subscription license licence consumer client admin root deploy integration instrumentation webhook ssh ' +
    'session server project write read ingest publish host hmac aes rsa ecdsa ed25519 jwt cookie stripe openai anthropic ' +
    'google github gitlab aws azure gcp twilio sendgrid datadog dd algolia mailgun cloudflare heroku pagerduty sentry ' +
    'newrelic splunk rails base symmetric wrapping kms vault bot user team org live test prod production wallet data'
  ).split(' '),
)

/** Words before `key` that make it ordinary. */
const ORDINARY_KEY_WORDS: ReadonlySet<string> = new Set(
  'primary foreign public cache sort partition object hot row map dict unique index translation i18n lookup route config idempotency dedupe group composite natural surrogate press pressed shortcut message routing node react query registry s3 redis kafka host_public'.split(
    ' ',
  ),
)

/** Values that are not secrets whatever the key: states, types, placeholders, and words that follow in prose. */
const STOP_VALUES: ReadonlySet<string> = new Set(
  (
    'null nil none true false undefined empty yes no on off ok success successful failed failure error invalid valid missing expired ' +
    'required optional string str number int integer boolean bool object array any unknown void bytes buffer text varchar char ' +
    'redacted masked hidden secret password pass passwd pwd token key changed updated created deleted removed rotated revoked refreshed reset ' +
    'accepted rejected denied granted disabled enabled unset set not is was has the a an for from to in and or with must should ' +
    'authentication authorization incorrect wrong correct unauthorized forbidden default prompt ask auto never always self this ' +
    'tokens bearer basic digest negotiate ntlm oauth oauth2 apikey query header cookie body env file stdin keychain vault public private ' +
    'changeme_placeholder placeholder example your_token your_api_key your-api-key your_password todo tbd n/a na xxx test_placeholder ' +
    'expected unexpected identifier eof punctuation length count type name value id refresh access session user client server'
  ).split(' '),
)

const PLACEHOLDER =
  /^(?:[$%<{[(]|\*{2,}|[xX*.•-]{3,}$|process\.env|os\.environ|os\.getenv|getenv|env[.([]|ENV\[|import\.meta|self\.|this\.|config\.|settings\.|options\.|req\.|request\.|args\.|ctx\.|props\.|state\.|await\b|new\b|function\b|async\b|env:[A-Z_][A-Z0-9_]*$|keychain:[a-z0-9._-]{1,56}$|@|&|!|\\[nrt"])/

/** Placeholders for a reader to fill in. */
const TO_FILL_IN = /^(?:your[-_ ]|change[-_]?me$|insert[-_ ]|enter[-_ ]|replace[-_ ]with)|[-_ ](?:goes[-_ ])?here$/i

const ASSIGNED_CODE =
  /^[A-Za-z_$][A-Za-z0-9_$]*(?:\.[A-Za-z_$][A-Za-z0-9_$]*)*\s?[([]|^[A-Za-z_$][A-Za-z0-9_$]*(?:\.[A-Za-z_$][A-Za-z0-9_$]*)+$/

/** The grade of a key, from its words: `dbPassword`, `X-Api-Key` after the word before it, `aws.secret.access.key`. */
export function gradeKey(key: string, before: string): KeyGrade | null {
  const words = keyWords(key)
  const last = words.at(-1)
  if (last === undefined) return null
  if (SESSION_COOKIE.test(key)) return 'weak'
  if (words.some((word) => PASSWORD_WORDS.has(word) || /(?:password|passwd|passphrase)$/.test(word))) {
    return DESCRIBING_WORDS.has(last) ? null : 'password'
  }
  if (PASS.test(last) || last === 'pw') return 'password'
  if (DESCRIBING_WORDS.has(last)) return null
  if (last === 'authorization') return 'header'
  if (words.some((word) => word === 'secret' || word === 'token' || word === 'jwt' || /(?:secret|token)$/.test(word))) {
    return 'token'
  }
  if (last === 'tokens' || last === 'secrets' || last === 'keys') return 'weak'
  if (/key$/.test(last)) return gradeOfKey(last === 'key' ? (words.at(-2) ?? before.toLowerCase()) : last.slice(0, -3))
  if (/^(?:o?auth2?|credentials?|creds?|apikeys)$/.test(last)) return 'weak'
  return null
}

/** `pass`, `SSHPASS`, `dbpass`, and not `bypass`, `compass` or `GIT_ASKPASS`. */
const PASS = /(?<!by|com|tres|sur|der|ver|ask)pass$/

/** `PHPSESSID`, `sessionid`, `ASP.NET_SessionId`, `connect.sid`; a `session_id` in a log is a name. */
const SESSION_COOKIE = /^(?:php|j|asp)?sess(?:ion)?id[a-z]{0,8}$|^asp\.net_sessionid$|^connect\.sid$/i

function gradeOfKey(qualifier: string): KeyGrade | null {
  if (SECRET_KEY_WORDS.has(qualifier)) return 'token'
  return ORDINARY_KEY_WORDS.has(qualifier) ? null : 'weak'
}

function keyWords(key: string): string[] {
  return (
    key
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      // `password1`, `token_2`
      .map((word, index, { length }) => (index === length - 1 ? word.replace(/(?<!oauth|^s)[0-9]+$/, '') : word))
      .filter((word) => word !== '' && !/^[0-9]+$/.test(word))
  )
}

/** How a value was joined to its key. */
interface ValueStyle {
  readonly quoted: boolean
  /** Nothing but `=` is between key and value, as in a shell, a query string or an INI file. */
  readonly tight: boolean
  /** Tight, and the key is nothing but `api_key`, `token` or `secret`: any value is one then. */
  readonly named: boolean
  /** The value ends its line. */
  readonly endsLine: boolean
  /** The key is an API key's name: a long word behind it is one. */
  readonly apiKey: boolean
}

/** No value shorter than this is masked under a key of the grade. */
export const LEAST_VALUE: Readonly<Record<KeyGrade, number>> = { password: 3, header: 6, token: 6, weak: 12 }

/** Whether a value under a key of this grade is to be masked. */
export function isSecretValue(value: string, grade: KeyGrade, style: ValueStyle): boolean {
  if (value.length < (style.named ? 1 : LEAST_VALUE[grade]) || PLACEHOLDER.test(value) || TO_FILL_IN.test(value))
    return false
  const lower = value.toLowerCase()
  if (STOP_VALUES.has(lower)) return false
  if (!style.quoted && !style.tight && ASSIGNED_CODE.test(value)) return false
  if (style.named) return !/^[0-9.,]{1,9}$/.test(value) && !/[([]/.test(value)
  switch (grade) {
    case 'password':
      return style.quoted || style.tight || style.endsLine || /[^a-z]/.test(value)
    case 'header':
      return true
    case 'token':
      if (/^[0-9.,]{1,9}$/.test(value)) return false
      if (/\s/.test(value)) return !/\s\S+\s/.test(value) && looksRandom(value)
      if (style.apiKey && value.length >= 10) return true
      return style.tight || style.quoted || looksRandom(value) || (style.endsLine && /[^a-z.]/.test(value))
    case 'weak':
      return !/[\s:/]/.test(value) && !UUID.test(value) && looksRandom(value)
  }
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Letters and digits mixed as words are not: `a8f5f167f44f`, `wJalrXUtnFEMI7`. */
export function looksRandom(value: string): boolean {
  if (value.length < 8 || !/[0-9]/.test(value) || !/[A-Za-z]/.test(value)) return false
  let changes = 0
  for (let i = 1; i < value.length && i < 80; i++) if (classOf(value, i) !== classOf(value, i - 1)) changes++
  return changes >= Math.min(value.length, 80) / 6
}

function classOf(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code >= 48 && code <= 57) return 0
  if (code >= 97 && code <= 122) return 1
  return code >= 65 && code <= 90 ? 2 : 3
}
