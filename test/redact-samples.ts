/** Generated samples for tests and benches: secrets of many kinds in their usual surroundings, and ordinary log lines. */

export type Random = () => number

/** A small seeded generator, so that every run sees the same samples. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGIT = '0123456789'
const HEX = `${DIGIT}abcdef`
const WORD = UPPER + LOWER + DIGIT
const BASE64 = `${WORD}+/`
const URLSAFE = `${WORD}-_`

function text(random: Random, alphabet: string, length: number): string {
  let out = ''
  for (let i = 0; i < length; i++) out += alphabet[Math.floor(random() * alphabet.length)]
  return out
}

function uuid(random: Random): string {
  return [8, 4, 4, 4, 12].map((length) => text(random, HEX, length)).join('-')
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]!
}

/** A kind of secret: `{}` in its place marks the secret. Without a place it is dropped anywhere. */
export interface SecretSample {
  readonly kind: string
  readonly make: (random: Random) => string
  readonly places?: readonly string[]
}

const assigned = (name: string): readonly string[] => [
  `${name}={}`,
  `export ${name}="{}"`,
  `${name.toLowerCase()}: {}`,
  `{"${name.toLowerCase()}": "{}", "region": "eu"}`,
  `GET /v1/things?${name.toLowerCase()}={}&page=2 200`,
  `config loaded: ${name.toLowerCase()}='{}'`,
]

const jwtPart = (random: Random, value: string): string =>
  btoa(`{"${value}":"${text(random, WORD, 12)}"}`)
    .replaceAll('=', '')
    .replaceAll('+', '-')
    .replaceAll('/', '_')

/** Commands with a secret among their words, as their manuals write them. */
export const OPTION_PLACES: readonly string[] = [
  'curl -u bob:{} https://example.com/a',
  'curl -su bob:{} https://example.com/a',
  'curl --proxy-user bob:{} https://example.com/a',
  'mysql -u root -p{} db',
  "mysqldump -p'{}' db",
  'redis-cli -h h -a {} ping',
  "ssh-keygen -t ed25519 -N '{}' -f k",
  'keytool -storepass {} -list',
  'mongosh -u a -p {} db',
  'sshpass -p {} ssh h',
  'docker login -u a -p {} registry.example.com',
  '["docker","login","-u","a","-p","{}","registry.example.com"]',
  '{"command":"docker login -u a -p {} r","cwd":"/x"}',
  'unzip -P {} a.zip',
  '7z x -p{} a.7z',
  'ldapsearch -x -D cn=a -w {} -b dc=b',
  'sqlcmd -S h -U sa -P {}',
  'az login -u a -p {}',
  'helm registry login -u a -p {} r',
  'http -a bob:{} GET example.com',
  'htpasswd -b file bob {}',
  'htpasswd -nb bob {}',
  'smbclient //h/s -U bob%{}',
  'openssl enc -aes-256-cbc -k {} -in a',
  'openssl rsa -in a -passin pass:{}',
  'npm config set //packages.example.com/:_authToken {}',
  'aws configure set aws_secret_access_key {}',
  'vault login {}',
  'lftp -u bob,{} sftp://h',
  'curl -b session={} https://example.com',
  'xh -A bearer -a {} https://example.com',
  'rabbitmqadmin -u a -p {} list',
  'nats --user a:{} pub x',
  'htpasswd -Bbn bob {}',
  'vault kv put secret/a user=bob value={}',
  'vault write auth/approle/login role_id=a secret_id={}',
  'fly secrets set A={}',
  'kubectl create secret generic a --from-literal=other={}',
  'az keyvault secret set --vault-name v -n a --value {}',
  'aws ssm put-parameter --name a --type SecureString --value {}',
  'mc alias set m https://h ak {}',
  'pulumi config set --secret k {}',
  'poetry config http-basic.x bob {}',
  'nuget setApiKey {} -Source x',
  'dotnet nuget push a.nupkg -k {} -s x',
  'security unlock-keychain -p {} login',
  'ConvertTo-SecureString "{}" -AsPlainText -Force',
  'net user bob {} /add',
  'sonar-scanner -Dsonar.login={}',
  'imapsync --password1 {} --host2 h',
  'netlify deploy --auth {}',
  'echo {} | docker login -u a --password-stdin',
  "echo '{}' | sudo -S ls",
  'printf %s {} | gh auth login --with-token',
  'echo "bob:{}" | sudo chpasswd',
  'sudo -S ls <<< {}',
  'gh auth login --with-token <<< "{}"',
  'ssh bob@h "echo {} | sudo -S id"',
  'rabbitmqctl add_user bob {}',
  'pdftotext -upw {} a.pdf',
  'composer config --auth github-oauth.github.com {}',
  'bundle config set --global gems.example.com bob:{}',
  'eas login -u bob -p {}',
  'supabase link -p {}',
  'dokku config:set app A={}',
  'cvs -d :pserver:bob:{}@h:/x login',
  'set -gx API_TOKEN {}',
  'setenv API_TOKEN {}',
  'ENV API_TOKEN {}',
]

/** By the published formats, not by the rules that look for them. */
export const SECRET_SAMPLES: readonly SecretSample[] = [
  { kind: 'openai', make: (r) => `sk-${text(r, WORD, 48)}` },
  { kind: 'openai-project', make: (r) => `sk-proj-${text(r, URLSAFE, 80)}` },
  { kind: 'anthropic', make: (r) => `sk-ant-api03-${text(r, URLSAFE, 93)}AA` },
  { kind: 'openrouter', make: (r) => `sk-or-v1-${text(r, HEX, 64)}` },
  { kind: 'github', make: (r) => `${pick(r, ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'])}${text(r, WORD, 36)}` },
  { kind: 'github-fine', make: (r) => `github_pat_${text(r, WORD, 22)}_${text(r, WORD, 59)}` },
  { kind: 'gitlab', make: (r) => `glpat-${text(r, URLSAFE, 20)}` },
  { kind: 'slack-bot', make: (r) => `xoxb-${text(r, DIGIT, 12)}-${text(r, DIGIT, 12)}-${text(r, WORD, 24)}` },
  { kind: 'slack-app', make: (r) => `xapp-1-A${text(r, UPPER, 10)}-${text(r, DIGIT, 13)}-${text(r, HEX, 64)}` },
  {
    kind: 'slack-webhook',
    make: (r) => `T${text(r, UPPER, 8)}/B${text(r, UPPER, 10)}/${text(r, WORD, 24)}`,
    places: ['https://hooks.slack.com/services/{}'],
  },
  { kind: 'aws-key', make: (r) => `${pick(r, ['AKIA', 'ASIA'])}${text(r, `${UPPER}234567`, 16)}` },
  { kind: 'aws-secret', make: (r) => text(r, BASE64, 40), places: assigned('AWS_SECRET_ACCESS_KEY') },
  {
    kind: 'aws-session',
    make: (r) => `IQoJb3JpZ2luX2Vj${text(r, BASE64, 200)}`,
    places: assigned('AWS_SESSION_TOKEN'),
  },
  { kind: 'google-api', make: (r) => `AIza${text(r, URLSAFE, 35)}` },
  { kind: 'google-oauth', make: (r) => `ya29.${text(r, URLSAFE, 60)}` },
  { kind: 'google-client', make: (r) => `GOCSPX-${text(r, URLSAFE, 28)}` },
  { kind: 'jwt', make: (r) => `${jwtPart(r, 'alg')}.${jwtPart(r, 'sub')}.${text(r, URLSAFE, 43)}` },
  {
    kind: 'bearer',
    make: (r) => text(r, WORD, 32),
    places: [
      'Authorization: Bearer {}',
      'curl -H "Authorization: Bearer {}" https://api.example.com',
      'sending bearer {} upstream',
    ],
  },
  {
    kind: 'basic',
    make: (r) => btoa(`admin:${text(r, WORD, 12)}`),
    places: ['Authorization: Basic {}', 'header authorization=Basic {}'],
  },
  { kind: 'npm', make: (r) => `npm_${text(r, WORD, 36)}` },
  { kind: 'npmrc', make: (r) => uuid(r), places: ['//packages.example.com/:_authToken={}'] },
  { kind: 'pypi', make: (r) => `pypi-AgEIcHlwaS5vcmc${text(r, URLSAFE, 100)}` },
  { kind: 'rubygems', make: (r) => `rubygems_${text(r, HEX, 48)}` },
  { kind: 'docker', make: (r) => `dckr_pat_${text(r, URLSAFE, 27)}` },
  { kind: 'stripe', make: (r) => `${pick(r, ['sk_live_', 'rk_live_', 'sk_test_'])}${text(r, WORD, 24)}` },
  { kind: 'stripe', make: (r) => `sk_live_${text(r, WORD, 15)}` },
  { kind: 'stripe-webhook', make: (r) => `whsec_${text(r, WORD, 32)}` },
  { kind: 'square', make: (r) => `sq0atp-${text(r, URLSAFE, 22)}` },
  { kind: 'twilio-key', make: (r) => `SK${text(r, HEX, 32)}` },
  { kind: 'twilio-token', make: (r) => text(r, HEX, 32), places: assigned('TWILIO_AUTH_TOKEN') },
  { kind: 'sendgrid', make: (r) => `SG.${text(r, URLSAFE, 22)}.${text(r, URLSAFE, 43)}` },
  { kind: 'mailgun', make: (r) => `key-${text(r, HEX, 32)}` },
  { kind: 'mailchimp', make: (r) => `${text(r, HEX, 32)}-us${1 + Math.floor(r() * 20)}` },
  {
    kind: 'discord-bot',
    make: (r) => `${pick(r, ['M', 'N'])}${text(r, WORD, 23)}.${text(r, URLSAFE, 6)}.${text(r, URLSAFE, 38)}`,
  },
  {
    kind: 'discord-webhook',
    make: (r) => `${text(r, DIGIT, 18)}/${text(r, URLSAFE, 68)}`,
    places: ['https://discord.com/api/webhooks/{}'],
  },
  { kind: 'telegram', make: (r) => `${1 + Math.floor(r() * 9)}${text(r, DIGIT, 9)}:${text(r, URLSAFE, 35)}` },
  {
    kind: 'azure-storage',
    make: (r) => `${text(r, BASE64, 86)}==`,
    places: [
      'DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core.windows.net',
      'AccountKey={}',
    ],
  },
  { kind: 'azure-client', make: (r) => `${text(r, WORD, 3)}8Q~${text(r, WORD, 34)}` },
  {
    kind: 'azure-sas',
    make: (r) => encodeURIComponent(`${text(r, BASE64, 43)}=`),
    places: ['https://x.blob.core.windows.net/c?sv=2022-11-02&sig={}'],
  },
  { kind: 'digitalocean', make: (r) => `dop_v1_${text(r, HEX, 64)}` },
  { kind: 'heroku', make: (r) => uuid(r), places: assigned('HEROKU_API_KEY') },
  { kind: 'databricks', make: (r) => `dapi${text(r, HEX, 32)}` },
  { kind: 'vault', make: (r) => `hvs.${text(r, URLSAFE, 90)}` },
  { kind: 'vault-old', make: (r) => `s.${text(r, WORD, 24)}`, places: assigned('VAULT_TOKEN') },
  { kind: 'atlassian', make: (r) => `ATATT3xFfGF0${text(r, URLSAFE, 180)}` },
  { kind: 'linear', make: (r) => `lin_api_${text(r, WORD, 40)}` },
  { kind: 'notion', make: (r) => `ntn_${text(r, WORD, 46)}` },
  { kind: 'figma', make: (r) => `figd_${text(r, URLSAFE, 40)}` },
  { kind: 'shopify', make: (r) => `shpat_${text(r, HEX, 32)}` },
  { kind: 'hubspot', make: (r) => `pat-na1-${uuid(r)}` },
  { kind: 'grafana', make: (r) => `glsa_${text(r, WORD, 32)}_${text(r, HEX, 8)}` },
  { kind: 'new-relic', make: (r) => `NRAK-${text(r, UPPER + DIGIT, 27)}` },
  { kind: 'sentry', make: (r) => `sntrys_${text(r, WORD, 80)}` },
  { kind: 'datadog', make: (r) => text(r, HEX, 32), places: assigned('DD_API_KEY') },
  { kind: 'sonar', make: (r) => `squ_${text(r, HEX, 40)}` },
  { kind: 'hugging-face', make: (r) => `hf_${text(r, UPPER + LOWER, 34)}` },
  { kind: 'replicate', make: (r) => `r8_${text(r, WORD, 37)}` },
  { kind: 'groq', make: (r) => `gsk_${text(r, WORD, 52)}` },
  { kind: 'tailscale', make: (r) => `tskey-auth-${text(r, WORD, 12)}-${text(r, WORD, 32)}` },
  { kind: 'supabase', make: (r) => `sbp_${text(r, HEX, 40)}` },
  { kind: 'planetscale', make: (r) => `pscale_pw_${text(r, URLSAFE, 43)}` },
  { kind: 'doppler', make: (r) => `dp.pt.${text(r, WORD, 43)}` },
  { kind: 'postman', make: (r) => `PMAK-${text(r, HEX, 24)}-${text(r, HEX, 34)}` },
  { kind: 'age', make: (r) => `AGE-SECRET-KEY-1${text(r, UPPER + DIGIT, 58)}` },
  { kind: 'facebook', make: (r) => `EAA${text(r, WORD, 120)}` },
  {
    kind: 'url-password',
    make: (r) => text(r, WORD, 14),
    places: [
      'postgres://app:{}@db.example.com:5432/app',
      'cloning https://bot:{}@git.example.com/x.git',
      'redis://:{}@cache:6379/0',
      'amqp://u:{}@mq/%2f',
    ],
  },
  { kind: 'url-token', make: (r) => text(r, WORD, 40), places: ['git clone https://{}@github.com/o/r.git'] },
  {
    kind: 'password',
    make: (r) => text(r, `${WORD}!#%^*`, 12),
    places: [
      ...assigned('DB_PASSWORD'),
      'mysql -u root -p{} app',
      'login --password {} --host db',
      'machine example.com login bob password {}',
    ],
  },
  { kind: 'odbc', make: (r) => text(r, WORD, 14), places: ['Server=tcp:db,1433;User ID=sa;Password={};Encrypt=True'] },
  {
    kind: 'api-key',
    make: (r) => text(r, WORD, 32),
    places: [...assigned('API_KEY'), 'X-Api-Key: {}', 'apiKey: "{}",', 'client_secret = {}'],
  },
  { kind: 'client-secret', make: (r) => text(r, URLSAFE, 40), places: assigned('CLIENT_SECRET') },
  {
    kind: 'private-key-line',
    make: (r) => `MII${text(r, BASE64, 200)}`,
    places: [
      '"key": "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n"',
      '-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----',
    ],
  },
  {
    kind: 'cookie',
    make: (r) => text(r, WORD, 40),
    places: ['Cookie: session={}; theme=dark', 'Set-Cookie: sid={}; Path=/; HttpOnly'],
  },
  { kind: 'random', make: (r) => text(r, WORD, 43) },
  { kind: 'cerebras', make: (r) => `csk-${text(r, LOWER + DIGIT, 48)}` },
  { kind: 'new-relic-license', make: (r) => `${text(r, HEX, 36)}NRAL` },
  {
    kind: 'braintree',
    make: (r) => `${text(r, LOWER + DIGIT, 16)}$${text(r, HEX, 32)}`,
    places: ['production', 'sandbox'].map((kind) => `access_token$${kind}$${'{}'}`),
  },
  {
    kind: 'define',
    make: (r) => text(r, WORD, 14),
    places: ["define('DB_PASSWORD', '{}');", 'setenv("API_KEY", "{}")'],
  },
  { kind: 'letters', make: (r) => text(r, LOWER, 16), places: ['Bearer {}', 'apikey: {}', 'api-key: {}'] },
  {
    kind: 'sql',
    make: (r) => text(r, WORD, 12),
    places: [
      'CREATE USER a IDENTIFIED BY "{}";',
      "ALTER USER a IDENTIFIED BY '{}'",
      "SET PASSWORD FOR a = PASSWORD('{}')",
      "CREATE LOGIN a WITH PASSWORD = N'{}'",
    ],
  },
  {
    kind: 'header',
    make: (r) => `${text(r, WORD, 20)}1`,
    places: [
      'Authorization: Token token="{}"',
      'Authorization: Bot {}',
      'Authorization: AWS AKIDX:{}',
      'proxy-authorization: SharedKey account:{}',
      'Authorization: Signature keyId="a",algorithm="x",signature="{}"',
      'Authorization: OAuth oauth_consumer_key="a", oauth_token="{}"',
      'curl -H "Authorization: Bot {}" https://example.com',
      '{"authorization":"GenieKey {}","accept":"*/*"}',
      'Sec-WebSocket-Protocol: bearer, {}',
      'Cookie: PHPSESSID={}',
      'PHPSESSID={}; path=/',
      'GET /callback?code={}&state=x',
    ],
  },
  {
    kind: 'source-name',
    make: (r) => text(r, WORD, 14),
    places: [
      'jdbc:oracle:thin:scott/{}@//h:1521/x',
      'dsn=app:{}@tcp(db:3306)/app?parseTime=true',
      'SSHPASS={} sshpass -e ssh h',
      'password2: {}',
    ],
  },
  {
    kind: 'seed-phrase',
    make: (r) => Array.from({ length: 12 }, () => text(r, LOWER, 5)).join(' '),
    places: ['Seed phrase: {}', 'mnemonic="{}"', 'recovery_phrase = "{}"'],
  },
  {
    kind: 'teams-webhook',
    make: (r) => `${uuid(r)}@${uuid(r)}/IncomingWebhook/${text(r, HEX, 32)}/${uuid(r)}`,
    places: ['https://a.webhook.office.com/webhookb2/{}', 'https://outlook.office.com/webhook/{}'],
  },
  { kind: 'option', make: (r) => `Zq7${text(r, WORD, 9)}`, places: OPTION_PLACES },
]

const PLACES: readonly string[] = [
  '{}',
  'using {} for the request',
  '"{}"',
  "key '{}' was accepted",
  'auth={}',
  '2026-03-01T10:00:00Z INFO client started with {} (attempt 2)',
  '\\n{}\\n',
  '\u001b[32m{}\u001b[0m',
  'https://api.example.com/v1?x=1&y={}',
]

/** A line with a secret in it. */
export function secretLine(random: Random, sample: SecretSample): { line: string; secret: string } {
  const secret = sample.make(random)
  return { secret, line: pick(random, sample.places ?? PLACES).replace('{}', () => secret) }
}

const LOG_LINES: readonly ((random: Random) => string)[] = [
  (r) =>
    `10.0.${Math.floor(r() * 255)}.7 - - [12/Mar/2026:10:11:12 +0000] "GET /assets/app.${text(r, HEX, 8)}.js HTTP/1.1" 200 ${Math.floor(r() * 90000)} "https://example.com/a/b?page=2" "Mozilla/5.0 (X11; Linux x86_64)"`,
  (r) =>
    `2026-03-12T10:11:12.${text(r, DIGIT, 3)}Z INFO [worker-${Math.floor(r() * 9)}] job ${uuid(r)} finished in ${Math.floor(r() * 900)} ms`,
  (r) => `commit ${text(r, HEX, 40)}`,
  (r) =>
    `Mar 12 10:11:12 host sshd[${Math.floor(r() * 9999)}]: Failed password for invalid user admin from 203.0.113.${Math.floor(r() * 255)} port 51122 ssh2`,
  () => 'npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.',
  (r) => ` ✓ src/policy/evaluate/evaluate.test.ts (${Math.floor(r() * 90)} tests) ${Math.floor(r() * 90)}ms`,
  () => 'error TS2345: Argument of type "string" is not assignable to parameter of type "number".',
  (r) =>
    `model=large max_tokens=4096 prompt_tokens=${Math.floor(r() * 9000)} completion_tokens=${Math.floor(r() * 900)} finish_reason=stop`,
  (r) => `sha256:${text(r, HEX, 64)} pulled in ${Math.floor(r() * 9)}s`,
  (r) => `pod/web-${text(r, LOWER + DIGIT, 10)}-${text(r, LOWER, 5)} 1/1 Running 0 ${Math.floor(r() * 60)}m`,
  () => 'SyntaxError: Unexpected token } in JSON at position 12',
  () => '    at Module._compile (node:internal/modules/cjs/loader:1554:14)',
  (r) =>
    `level=info msg="request served" path=/api/v1/users/${Math.floor(r() * 900)} status=200 trace_id=${text(r, HEX, 32)}`,
  () => 'drwxr-xr-x  10 root root  4096 Nov 15 08:48 node_modules/@scope/package-with-a-long-name',
  () => 'The token bucket was refilled; the key moved to the next partition, and the secret santa list was sent.',
  (r) => `cache miss key=user:${Math.floor(r() * 9999)}:profile ttl=300`,
  (r) => `DEBUG cursor=${Math.floor(r() * 1e9)} authenticated=true auth=ok session started`,
  () => 'Compiling serde_json v1.0.117 (/home/dev/project/target/debug/deps/libserde_json-3f2a.rlib)',
  (r) => `diff --git a/src/tokenizer.ts b/src/tokenizer.ts\nindex ${text(r, HEX, 7)}..${text(r, HEX, 7)} 100644`,
  (r) => `    "integrity": "sha512-${text(r, BASE64, 86)}==",`,
  (r) => `github.com/stretchr/testify v1.${Math.floor(r() * 9)}.4 h1:${text(r, BASE64, 43)}=`,
  (r) => `golang.org/x/sys v0.0.0-20220715151400-c0bba94af5f8/go.mod h1:${text(r, BASE64, 43)}=`,
  () => 'password updated successfully',
  () => 'WARN authentication token expired, refreshing; next refresh in 3600 s',
]

/** Ordinary log lines, one text. */
export function ordinaryLog(random: Random, lines: number): string {
  let out = ''
  for (let i = 0; i < lines; i++) out += `${pick(random, LOG_LINES)(random)}\n`
  return out
}
