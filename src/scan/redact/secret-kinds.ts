/** The well-known secret formats as data: a literal that starts each one, and what must follow it. */

/** The characters of a token. */
export type Alphabet = 'hex' | 'word' | 'name' | 'dash' | 'dots' | 'base64' | 'loose'

export const ALPHABETS: Readonly<Record<Alphabet, string>> = {
  hex: '0-9a-fA-F',
  word: 'A-Za-z0-9',
  name: 'A-Za-z0-9_',
  dash: 'A-Za-z0-9_-',
  dots: 'A-Za-z0-9_.-',
  base64: 'A-Za-z0-9+/=_-',
  loose: 'A-Za-z0-9+/=_.~:!%-',
}

/** `prefix` and then at least `least` characters of the alphabet: the whole run is the secret. */
type PrefixKind = readonly [kind: string, prefixes: string, alphabet: Alphabet, least: number]

/** Minimums lie below the official lengths, so that a cut token is masked too. */
export const PREFIX_KINDS: readonly PrefixKind[] = [
  ['openai', 'sk-', 'dash', 20],
  ['cerebras', 'csk-', 'dash', 20],
  ['openai-session', 'sess-', 'word', 30],
  ['github', 'ghp_ gho_ ghu_ ghs_ ghr_', 'name', 20],
  ['github-fine-grained', 'github_pat_', 'name', 20],
  ['gitlab', 'glpat- gldt- glrt- glptt- glft- glsoat- glcbt- glimt- glagent- gloas- glwt- glffct-', 'dots', 16],
  ['gitlab-runner', 'GR1348941', 'dash', 16],
  ['slack', 'xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe.xox xapp-', 'base64', 10],
  ['aws-access-key', 'AKIA ASIA ABIA ACCA', 'word', 16],
  ['aws-session', 'FwoGZXIvYXdz IQoJb3JpZ2lu', 'base64', 20],
  ['aws-bedrock', 'ABSKQmVkcm9ja0FQSUtleS bedrock-api-key-', 'base64', 16],
  ['google-api', 'AIza', 'dash', 30],
  ['google-oauth', 'ya29.', 'dash', 16],
  ['google-client-secret', 'GOCSPX-', 'dash', 20],
  ['google-refresh', '1//0', 'dash', 30],
  ['npm', 'npm_', 'word', 30],
  ['pypi', 'pypi-', 'dash', 30],
  ['rubygems', 'rubygems_', 'hex', 30],
  ['crates-io', 'cio', 'word', 32],
  ['nuget', 'oy2', 'word', 43],
  ['clojars', 'CLOJARS_', 'word', 30],
  ['docker-hub', 'dckr_pat_ dckr_oat_', 'dash', 20],
  ['stripe', 'sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ sk_org_', 'name', 14],
  ['stripe-webhook', 'whsec_', 'base64', 24],
  ['square', 'sq0atp- sq0csp- sq0idp- sq0idb-', 'dash', 20],
  ['square-access', 'EAAAE EAAAF EAAAl', 'dash', 50],
  ['sendgrid', 'SG.', 'dots', 40],
  ['mailgun', 'key-', 'hex', 32],
  ['brevo', 'xkeysib- xsmtpsib-', 'dash', 40],
  ['telnyx', 'KEY01', 'name', 40],
  ['messagebird', 'live_ test_', 'word', 24],
  ['azure-devops', 'AZDO', 'word', 40],
  ['digitalocean', 'dop_v1_ doo_v1_ dor_v1_', 'hex', 40],
  ['heroku', 'HRKU-', 'dash', 30],
  ['fly', 'fm1_ fm1a_ fm1r_ fm2_ fo1_', 'base64', 30],
  ['render', 'rnd_', 'word', 24],
  ['netlify', 'nfp_ nfc_ nfo_ nfu_', 'word', 30],
  ['vercel', 'vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_', 'name', 20],
  ['supabase', 'sbp_ sb_secret_', 'dash', 20],
  ['planetscale', 'pscale_tkn_ pscale_pw_ pscale_oauth_', 'dots', 30],
  ['neon', 'napi_', 'word', 40],
  ['databricks', 'dapi', 'hex', 32],
  ['databricks-oauth', 'dose', 'hex', 32],
  ['snowflake', 'ver:1-hint:', 'loose', 30],
  ['vault', 'hvs. hvb. hvr.', 'dash', 20],
  ['pulumi', 'pul-', 'hex', 40],
  ['doppler', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.', 'dots', 36],
  ['onepassword', 'ops_eyJ', 'base64', 60],
  ['age', 'AGE-SECRET-KEY-1', 'word', 40],
  ['atlassian', 'ATATT3x ATCTT3x ATBB ATSTT3x', 'base64', 24],
  ['linear', 'lin_api_ lin_oauth_ lin_wh_', 'word', 30],
  ['notion', 'secret_ ntn_', 'word', 40],
  ['figma', 'figd_ figo_ figu_ figor_ figh_', 'dash', 36],
  ['shopify', 'shpat_ shpss_ shpca_ shppa_ shptka_ shpua_', 'word', 30],
  ['hubspot', 'pat-na1- pat-na2- pat-eu1- pat-ap1-', 'dash', 30],
  ['grafana', 'glc_ glsa_', 'base64', 30],
  ['new-relic', 'NRAK- NRJS- NRRA- NRII- NRBR- NRIQ- NRSP-', 'dash', 18],
  ['sentry', 'sntrys_ sntryu_ sntrya_', 'base64', 40],
  ['datadog', 'ddapi_ ddapp_', 'word', 30],
  ['dynatrace', 'dt0c01. dt0s16. dt0s01.', 'dots', 60],
  ['sourcegraph', 'sgp_ slk_ sgd_', 'name', 40],
  ['sonar', 'sqp_ squ_ sqa_', 'hex', 36],
  ['circleci', 'CCIPAT_ CCIPRJ_', 'name', 30],
  ['buildkite', 'bkua_ bkct_', 'word', 36],
  ['postman', 'PMAK- PMAT-', 'dash', 24],
  ['mapbox', 'sk.eyJ pk.eyJ tk.eyJ', 'dots', 40],
  ['typeform', 'tfp_', 'dots', 40],
  ['contentful', 'CFPAT-', 'dash', 36],
  ['hugging-face', 'hf_ api_org_', 'word', 30],
  ['replicate', 'r8_', 'word', 30],
  ['groq', 'gsk_', 'word', 30],
  ['perplexity', 'pplx-', 'word', 30],
  ['xai', 'xai-', 'word', 40],
  ['fireworks', 'fw_', 'word', 24],
  ['together', 'tgp_v1_', 'dash', 30],
  ['langsmith', 'lsv2_pt_ lsv2_sk_ ls__', 'name', 30],
  ['pinecone', 'pcsk_', 'name', 40],
  ['tavily', 'tvly-', 'dash', 20],
  ['firecrawl', 'fc-', 'hex', 32],
  ['elevenlabs', 'sk_', 'hex', 40],
  ['e2b', 'e2b_', 'hex', 36],
  ['nvidia', 'nvapi-', 'dash', 40],
  ['facebook', 'EAACEdEose0cBA EAA', 'word', 60],
  ['twitter-bearer', 'AAAAAAAAAAAAAAAAAAAAA', 'loose', 40],
  ['dropbox', 'sl.u. sl.B sl.A', 'dash', 60],
  ['easypost', 'EZAK EZTK', 'word', 50],
  ['duffel', 'duffel_live_ duffel_test_', 'dash', 40],
  ['flutterwave', 'FLWSECK- FLWSECK_TEST- FLWPUBK- FLWSECK_LIVE-', 'dash', 12],
  ['paystack', 'sk_live sk_test', 'name', 30],
  ['razorpay', 'rzp_live_ rzp_test_', 'word', 14],
  ['frame-io', 'fio-u-', 'dash', 60],
  ['shippo', 'shippo_live_ shippo_test_', 'hex', 36],
  ['adafruit', 'aio_', 'word', 26],
  ['adobe', 'p8e- p8-', 'word', 30],
  ['alibaba', 'LTAI', 'word', 12],
  ['tencent', 'AKID', 'word', 28],
  ['yandex', 'AQVN YCAJ YCM t1.9e', 'base64', 30],
  ['readme', 'rdme_', 'word', 60],
  ['prefect', 'pnu_ pnb_', 'word', 30],
  ['settlemint', 'sm_aat_ sm_pat_ sm_sat_', 'word', 16],
  ['tailscale', 'tskey-', 'dash', 16],
  ['octopus', 'API-', 'word', 26],
  ['openshift', 'sha256~', 'dash', 40],
  ['jfrog', 'AKCp cmVmdGtu', 'word', 50],
  ['lob', 'live_pub_ test_pub_', 'word', 30],
  ['plaid', 'access-sandbox- access-development- access-production-', 'dash', 30],
  ['bitcoin-extended', 'xprv tprv yprv zprv', 'word', 100],
  ['unkey', 'unkey_', 'word', 20],
  ['cursor', 'key_', 'hex', 60],
  ['sanity', 'skE skA', 'word', 120],
]

/** A kind that needs more than a prefix. The secret is the first group, or else the match. */
type PatternKind = readonly [kind: string, anchors: string, pattern: RegExp]

/**
 * Matched at the anchor, which starts the pattern. Every repetition is bounded or covers one class
 * to its end, so a failing attempt costs a fixed number of steps.
 */
export const PATTERN_KINDS: readonly PatternKind[] = [
  ['jwt', 'eyJ', /eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{4,}){1,4}/],
  ['grafana-legacy', 'eyJrIjoi', /eyJrIjoi[A-Za-z0-9+/=]{20,}/],
  ['slack-webhook', 'hooks.slack.com', /hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9+/_-]{20,})/],
  [
    'discord-webhook',
    'discord.com/api/webhooks discordapp.com/api/webhooks',
    /discord(?:app)?\.com\/api\/webhooks\/([0-9]{5,24}\/[A-Za-z0-9_-]{20,})/,
  ],
  [
    'teams-webhook',
    'webhook.office.com outlook.office.com outlook.office365.com',
    /(?:webhook|outlook)\.office(?:365)?\.com\/webhook(?:b2)?\/([A-Za-z0-9@/-]{40,})/,
  ],
  ['oauth-code', 'code=', /(?<=[?&])code=([A-Za-z0-9%_+/=.~-]{16,})/],
  ['oracle-url', 'jdbc:oracle:', /jdbc:oracle:\w{2,6}:[\w.$#]{1,64}\/"?([^@\s"']{1,128})(?=@|"@)/],
  [
    'seed-phrase',
    'seed Seed recovery Recovery backup',
    /(?:seed|recovery|backup)[ _-]?(?:phrase|words)["']?[ \t]{0,4}(?:[:=]|is)[ \t]{0,4}["']?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})/i,
  ],
  [
    'authorization',
    'Authorization authorization AUTHORIZATION',
    /authorization\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?[A-Za-z][\w-]{1,24}[ \t]{1,4}(?![•*[<{$]|env:[A-Z_][A-Z0-9_]*\b|keychain:[a-z0-9._-]{1,56}\b)(?=[^\s"'<$]{0,200}?(?:[0-9]|[=:][^\s/])|[^\s"'<$]{16})((?:(?:,[ \t]{0,4})?(?:[\w-]{1,40}=\\?"[^"\r\n]{0,512}"|[^\s"',;|&<>()\\]+))+)/i,
  ],
  ['zapier-webhook', 'hooks.zapier.com', /hooks\.zapier\.com\/hooks\/catch\/([A-Za-z0-9/]{8,})/],
  ['ifttt', 'maker.ifttt.com', /maker\.ifttt\.com\/trigger\/[^\s/]{1,64}\/with\/key\/([A-Za-z0-9_-]{10,})/],
  ['telegram-url', 'api.telegram.org/bot', /api\.telegram\.org\/bot([0-9]{5,12}:[A-Za-z0-9_-]{20,})/],
  ['redis-auth', 'requirepass AUTH', /(?:requirepass|AUTH)[ \t]{1,4}"?(?=\D{0,40}[0-9])([A-Za-z0-9_!@#$%^&*-]{10,})/],
  [
    'sql-identified',
    'IDENTIFIED identified',
    /identified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,40}[ \t]{1,4})?by[ \t]{1,4}\\?["'`]([^"'`\\\n]{3,})/i,
  ],
  [
    'paypal-braintree',
    'access_token$',
    /access_token\$(?:production|sandbox)\$([A-Za-z0-9]{8,}(?:\$[A-Za-z0-9]{8,})?)/,
  ],
  ['terraform-cloud', 'atlasv1.', /atlasv1\.([A-Za-z0-9_=-]{40,})/],
  ['openvpn-static', 'OpenVPN Static key', /OpenVPN Static key V1-----((?:\\n|\s|[0-9a-f]){64,})/],
  ['putty', 'Private-Lines:', /Private-Lines: [0-9]{1,4}\\n([A-Za-z0-9+/=\\n]{40,})/],
  [
    'basic-header',
    'Basic basic',
    /[Bb]asic[ \t]{1,4}(?=[A-Za-z0-9+/]{0,60}[a-z0-9+/][A-Z0-9=])([A-Za-z0-9+/_-]{8,}={0,2})/,
  ],
  [
    'bearer',
    'Bearer bearer BEARER',
    /bearer,?[ \t:]{1,4}(?=[A-Za-z_.~+/=-]{0,60}[0-9]|[A-Za-z0-9_.~+/=-]{16})([A-Za-z0-9_.~+/=-]{8,})/i,
  ],
  ['digest-header', 'Digest', /Digest[ \t](?=[^\n]{0,300}response=)([^\n]{16,})/],
  ['aws-signature', 'Signature=', /Signature=([0-9a-fA-F]{40,})/],
  ['aws-presigned', 'X-Amz-', /X-Amz-(?:Signature|Security-Token|Credential)=([^&\s"']{16,})/],
  ['google-presigned', 'X-Goog-', /X-Goog-(?:Signature|Credential)=([^&\s"']{16,})/],
  [
    'cookie',
    'Cookie cookie',
    /[Cc]ookie2?["']?[ \t]{0,4}[:=][ \t]{0,4}["']?((?:[A-Za-z0-9_.$-]{1,80}=[^;\s"']{8,};?[ \t]?)+)/,
  ],
  ['azure-sas', 'sig=', /sig=([A-Za-z0-9%+/=_-]{30,})/],
  ['resend', 're_', /re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}|re_[A-Za-z0-9]{28,}/],
  ['airtable', 'pat key', /pat[A-Za-z0-9]{14}\.[0-9a-f]{50,}|key(?=[A-Za-z]{0,13}[0-9])[A-Za-z0-9]{14}(?![A-Za-z0-9])/],
  ['launchdarkly', 'sdk- mob- api-', /(?:sdk|mob|api)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/],
  ['cloudflare-origin', 'v1.0-', /v1\.0-[0-9a-f]{20,}-[0-9a-f]{100,}/],
  ['onepassword-secret-key', 'A3-', /A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){2,4}[A-Z0-9]{5}/],
]

/** A kind without a literal prefix, looked for around a run of token characters that has a mark beside or within it. */
type ShapeKind = readonly [kind: string, where: 'beside' | 'within', mark: string, pattern: RegExp]

const AZURE_MARKED = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{70,76}(?:\+ASt|AzFu|ACDb|AzSe|AzCa)[A-Za-z0-9+/=]{4,12}/

/** Each is bounded, or tied to the start of its run. */
export const SHAPE_KINDS: readonly ShapeKind[] = [
  [
    'discord',
    'beside',
    '.',
    /(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]|\[[0-9;]{0,8}m))[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}/,
  ],
  ['telegram', 'beside', ':', /(?<![0-9])[0-9]{8,10}:[A-Za-z0-9_-]{34,36}(?![A-Za-z0-9_-])/],
  ['mailchimp', 'within', '-us', /(?:(?<![0-9a-f])|(?<=\\[nrt]|\[[0-9;]{0,8}m))[0-9a-f]{32}-us[0-9]{1,2}(?![0-9])/],
  ['new-relic-license', 'within', 'NRAL', /(?<![A-Za-z0-9])[0-9a-z]{28,40}NRAL(?![A-Za-z0-9])/],
  ['azure-client-secret', 'within', 'Q~', /[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}/],
  ['azure-key', 'beside', '==', /(?<![A-Za-z0-9+/])(?<!sha512-)[A-Za-z0-9+/]{86}==/],
  ...['+ASt', 'AzFu', 'ACDb', 'AzSe', 'AzCa'].map((mark): ShapeKind => ['azure-key', 'within', mark, AZURE_MARKED]),
  [
    'okta',
    'within',
    '00',
    /(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]|\[[0-9;]{0,8}m))00(?=[a-z0-9_-]{0,38}[A-Z])[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])/,
  ],
  [
    'firebase-messaging',
    'beside',
    ':',
    /(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]|\[[0-9;]{0,8}m))AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{100,}/,
  ],
  ['twilio', 'within', 'SK', /(?:(?<![A-Za-z0-9])|(?<=\\[nrt]|\[[0-9;]{0,8}m))SK[0-9a-f]{32}(?![0-9a-f])/],
  ['twilio-account', 'within', 'AC', /(?:(?<![A-Za-z0-9])|(?<=\\[nrt]|\[[0-9;]{0,8}m))AC[0-9a-f]{32}(?![0-9a-f])/],
  [
    'vault-legacy',
    'beside',
    's.',
    /(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]|\[[0-9;]{0,8}m))s\.(?=[A-Za-z]{0,23}[0-9])(?=[0-9a-z]{0,23}[A-Z])[A-Za-z0-9]{24}(?![A-Za-z0-9])/,
  ],
]

/**
 * Kinds whose find is a secret wherever it is. Any other is one because of the words before it, which the author of the text
 * may choose.
 */
export function isFormatKind(kind: string): boolean {
  return (
    [...PREFIX_KINDS, ...SHAPE_KINDS].some(([name]) => name === kind) ||
    PATTERN_KINDS.some(([name, , pattern]) => name === kind && !hasGroup(pattern))
  )
}

function hasGroup({ source }: RegExp): boolean {
  return new RegExp(`${source}|`).exec('')!.length > 1
}
