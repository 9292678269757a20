/** The rules of `[packages]`, and the judgement of a release. PURE. */

import { matchSegment } from '../../files/glob.ts'
import type { Verdict } from '../../policy/order.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import type { Ecosystem, Registry, Release } from './release.ts'

export interface PackageRules {
  /** In seconds; null: any age. */
  readonly minimumAge: number | null
  /** Names in no committed lock file. */
  readonly newDependencies: Verdict
  readonly installScripts: Verdict
  readonly lookAlikes: Verdict
  /** Names, globs and address prefixes that are exempt. */
  readonly trusted: readonly string[]
  readonly registries: readonly Registry[]
  /**
   * The command is one of these package managers: files from elsewhere are packages too, whatever
   * their ending.
   */
  readonly managers: readonly Ecosystem[]
  /** The folder of the project's lock files. */
  readonly root: string
}

/** The remedy for a private registry without times. */
export const NO_TIMES =
  'If the registry is your own, list package names or its address under trusted in [packages], such as "@acme/*" or "https://HOST/PATH/"'

/** A concern that a person may accept, once per `key`. */
export interface PackageConcern {
  readonly key: string
  readonly verdict: Exclude<Verdict, 'allow'>
  readonly message: string
}

export function isTrusted(rules: PackageRules, name: string): boolean {
  return rules.trusted.some((pattern) => {
    const [globs, parts] = [pattern.split('/'), name.split('/')]
    return globs.length === parts.length && globs.every((glob, at) => matchSegment(glob, parts[at]!))
  })
}

/** Whether an address without its query is below a trusted one; an entry must end at a segment's end. */
export function isTrustedPlace({ trusted }: PackageRules, address: string): boolean {
  return trusted.some(
    (entry) =>
      // Plain HTTP only where no one on the network can answer: a registry of this machine.
      /^https:\/\/|^http:\/\/(?:127\.0\.0\.1|localhost)[:/]/.test(entry) &&
      address.startsWith(entry.replace(/\/?\**$/, '/')),
  )
}

/** Why a release is too young to be offered; null if it is old enough. */
export function ageProblem(
  { minimumAge }: PackageRules,
  name: string,
  { version, published }: Pick<Release, 'version' | 'published'>,
  now: number,
): EgressDenial | null {
  if (minimumAge === null) return null
  const subject = `${name} ${version}`
  if (published === null)
    return {
      code: 'package-undated',
      message: `${subject}: the registry does not say when it was published. ${NO_TIMES}`,
    }
  const age = (now - published) / 1000
  if (age >= minimumAge) return null
  const message = `${subject} was published ${duration(age)} ago, and minimum_age is ${duration(minimumAge)}`
  return { code: 'package-young', message }
}

/**
 * The other concerns about a fetched release. `known`: names in committed lock files; null if not
 * read.
 */
export function concernsOf(
  rules: PackageRules,
  ecosystem: Ecosystem,
  name: string,
  release: Release,
  known: ReadonlySet<string> | null,
): readonly PackageConcern[] {
  const { newDependencies, lookAlikes, installScripts } = rules
  const concerns: PackageConcern[] = []
  const add = (verdict: Verdict, key: string, message: string): void => {
    if (verdict !== 'allow') concerns.push({ key, verdict, message })
  }
  const isKnown = known?.has(name) === true
  const like = isKnown ? null : lookAlike(ecosystem, name)
  const proof = release.provenance ? ' The registry has its provenance.' : ''
  if (like !== null)
    add(lookAlikes, `like ${name}`, `The package ${name} is one edit away from ${like}, which is popular.`)
  if (!isKnown)
    add(
      newDependencies,
      'new',
      `${name} ${release.version} is in no committed lock file.${proof} A yes covers the new packages of this run.`,
    )
  if (release.scripts)
    add(
      installScripts,
      `scripts ${name} ${release.version}`,
      `${name} ${release.version} runs its own code when it is installed.${proof}`,
    )
  return concerns
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
]

export function duration(seconds: number): string {
  if (seconds <= 0) return '0 seconds'
  const [size, name] = UNITS.find(([unit]) => seconds >= unit) ?? UNITS.at(-1)!
  const count = Math.floor(seconds / size)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/** Shorter names are nearly all close to another one. */
const SHORTEST = 4

/** The popular package that a name imitates by one edit, or by separators alone; otherwise null. */
export function lookAlike(ecosystem: Ecosystem, name: string): string | null {
  const popular = POPULAR[ecosystem]
  const plain = name.toLowerCase()
  if (popular.has(plain)) return null
  const folded = fold(plain)
  for (const known of popular) {
    if (known.length < SHORTEST) continue
    if (fold(known) === folded || isOneEdit(plain, known)) return known
  }
  return null
}

/** Without scope marks and separators, and with digits as the letters that they imitate. */
function fold(name: string): string {
  return name
    .replace(/^@/, '')
    .replace(/[-_./]/g, '')
    .replaceAll('0', 'o')
    .replaceAll('1', 'l')
    .replaceAll('rn', 'm')
}

/** One letter added, removed or changed, or two neighbours swapped. */
function isOneEdit(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const [left, right] = [a.slice(at), b.slice(at)]
  if (left.length > right.length) return left.slice(1) === right
  if (left.length < right.length) return left === right.slice(1)
  if (left.slice(1) === right.slice(1)) return true
  return left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2)
}

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

const POPULAR: Readonly<Record<Ecosystem, ReadonlySet<string>>> = {
  npm: names(`
    lodash react react-dom preact express axios chalk commander debug moment request async underscore bluebird uuid
    webpack babel-core babel-loader typescript eslint prettier jest mocha chai sinon vitest vite rollup esbuild terser
    tslib rxjs vue vuex vue-router svelte angular next nuxt gatsby redux react-redux react-router react-router-dom
    styled-components tailwindcss postcss autoprefixer sass less glob minimist yargs semver inquirer ora colors
    cross-env dotenv nodemon ts-node tsx rimraf mkdirp fs-extra graceful-fs body-parser cookie-parser cors helmet
    morgan passport jsonwebtoken bcrypt bcryptjs mongoose mongodb mysql mysql2 sequelize knex prisma typeorm redis
    ioredis socket.io socket.io-client graphql apollo-server node-fetch cross-fetch got superagent supertest puppeteer
    playwright cheerio jsdom jquery bootstrap d3 three chart.js date-fns dayjs luxon immer zod yup joi ajv nanoid
    classnames clsx prop-types lodash.merge lodash-es ramda validator winston pino bunyan aws-sdk firebase stripe
    electron husky lint-staged concurrently npm-run-all serve http-server ws ms qs event-stream coffee-script
    @babel/core mquery dargs enquirer pend color ulid rambda
    left-pad is-odd is-even is-number kind-of strip-ansi ansi-styles ansi-regex supports-color color-convert
    color-name wrap-ansi string-width emoji-regex has-flag escape-string-regexp picocolors picomatch micromatch
    minimatch brace-expansion braces fill-range to-regex-range cross-spawn which execa signal-exit readable-stream
    string_decoder safe-buffer safer-buffer inherits once wrappy source-map source-map-support acorn esprima estraverse
    mime mime-types mime-db content-type accepts negotiator vary etag fresh send serve-static finalhandler
    form-data follow-redirects proxy-from-env agent-base https-proxy-agent http-proxy-agent tough-cookie
    webpack-cli webpack-dev-server html-webpack-plugin css-loader style-loader file-loader ts-loader core-js
    regenerator-runtime handlebars ejs pug mustache marked highlight.js formik swr zustand jotai recoil
    fastify koa hapi nest hono multer sharp canvas bufferutil argon2 pg pg-promise sqlite3 better-sqlite3
    openai langchain ethers web3 hardhat nodemailer twilio discord.js telegraf`),
  pypi: names(`
    requests urllib3 numpy pandas scipy matplotlib seaborn scikit-learn tensorflow torch torchvision keras jax
    transformers datasets tokenizers huggingface-hub openai anthropic langchain flask django fastapi starlette uvicorn
    gunicorn tornado aiohttp httpx httpcore certifi idna charset-normalizer chardet setuptools pip wheel virtualenv
    pipenv poetry tox nox pytest pytest-cov coverage hypothesis mock black isort flake8 pylint mypy ruff bandit
    pyyaml toml tomli jinja2 markupsafe werkzeug itsdangerous click typer rich colorama tqdm termcolor python-dateutil
    pytz tzdata six attrs pydantic pydantic-core marshmallow sqlalchemy alembic psycopg2 psycopg2-binary psycopg
    pymysql mysqlclient redis celery kombu billiard boto3 botocore boto s3transfer awscli google-auth google-api-core
    azure-core azure-identity cryptography pyopenssl paramiko bcrypt passlib pyjwt oauthlib requests-oauthlib
    beautifulsoup4 lxml html5lib selenium playwright scrapy pillow opencv-python imageio jupyter jupyterlab notebook
    ipython ipykernel nltk spacy gensim networkx sympy statsmodels plotly bokeh dash streamlit gradio psutil docker
    kubernetes ansible fabric invoke jsonschema simplejson orjson ujson protobuf grpcio packaging filelock platformdirs
    pyparsing regex cffi pycparser cython numba llvmlite pyarrow polars duckdb openpyxl xlrd xlsxwriter markdown
    pygments sphinx docutils mkdocs python-dotenv loguru structlog sentry-sdk websocket-client websockets zipp
    importlib-metadata typing-extensions decorator wrapt greenlet gevent twisted zope-interface pyasn1 rsa`),
  crates: names(`
    serde serde_json serde_derive tokio rand libc syn quote proc_macro2 regex log bitflags clap anyhow thiserror
    futures async_trait bytes hyper reqwest tracing tracing_subscriber chrono time once_cell lazy_static itertools
    hashbrown indexmap memchr base64 cfg_if num_traits parking_lot smallvec crossbeam crossbeam_channel rayon uuid url
    http tower axum actix_web warp rocket tonic prost diesel sqlx rusqlite redis mio socket2 nom pest toml serde_yaml
    semver env_logger tempfile walkdir glob dirs which nix rustix winapi windows_sys cc cmake bindgen pkg_config
    openssl rustls ring sha2 sha1 md5 hmac aes digest rand_core getrandom ahash either byteorder flate2 zip tar
    criterion proptest mockall insta assert_cmd predicates colored console indicatif dialoguer crossterm ratatui
    wasm_bindgen js_sys web_sys image ndarray nalgebra polars arrow dashmap arc_swap strum derive_more paste
    mime libm sha3 dtoa ulid structopt rustc_version autocfg version_check unicode_ident ryu itoa aho_corasick pin_project pin_project_lite`),
}
