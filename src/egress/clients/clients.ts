/**
 * The variables and files by which each client in the sandbox finds the proxy and trusts the
 * session's CA. Java reads the CA from a PKCS#12 trust store.
 */

import { fromPem } from '../tls/certificate.ts'
import { bmp, explicit, integer, objectId, octets, sequence, setOf } from '../tls/der.ts'
import { NODE_PRELOAD } from './node-preload.ts'
import { gitSsh, MACHINE_SSH_CONFIG, SSH_CONNECT, sshConfig } from './ssh-connect.ts'

export interface ClientFacts {
  /** The address of the proxy inside the sandbox. */
  readonly proxyHost: string
  readonly proxyPort: number
  /** The token for the proxy, if other processes of the machine can reach it too. */
  readonly proxyToken?: string
  /** A directory inside the sandbox for the files, read-only to the command. */
  readonly directory: string
  readonly caPem: string
  /** The machine's roots in PEM, to verify passed-through hosts. */
  readonly roots: string
  /**
   * Names and addresses of this machine behind the proxy. Other loopback addresses belong to the
   * sandbox.
   */
  readonly proxiedLoopback?: readonly string[]
  /**
   * Whether TLS to some hosts is passed through, so that clients see the hosts' own certificates.
   */
  readonly passthrough?: boolean
  /** The person's home, for granted ssh settings. */
  readonly home?: string
  /** Lines of known_hosts for the hosts reachable by ssh. */
  readonly knownHosts?: string
  /** `host:port` globs of hosts where Cordon logs in for git. */
  readonly gitHosts?: readonly string[]
  /** The command's `NODE_OPTIONS`, if any; Cordon's come first. */
  readonly nodeOptions?: string
}

export interface ClientFile {
  readonly path: string
  readonly content: string | Buffer
  readonly mode: number
}

export interface ClientSettings {
  readonly environment: Readonly<Record<string, string>>
  readonly files: readonly ClientFile[]
  /** Files of the machine that the command sees replaced by one of `files`. */
  readonly standIns: readonly { readonly path: string; readonly source: string }[]
}

/** A row of the table; `{…}` in a value is replaced by a place of `ClientPlaces`. */
export interface ClientRow {
  readonly client: string
  readonly environment: Readonly<Record<string, string>>
  readonly why: string
}

interface ClientPlaces {
  readonly proxy: string
  readonly host: string
  readonly port: string
  readonly bypass: string
  readonly javaBypass: string
  readonly ca: string
  readonly bundle: string
  readonly wgetrc: string
  readonly trustStore: string
  readonly preload: string
  readonly ssh: string
  readonly sshConfig: string
  readonly gitSsh: string
  readonly knownHosts: string
  readonly nodeOptions: string
}

const LOOPBACK: readonly string[] = ['localhost', '.localhost', '127.0.0.1', '::1']

export const CLIENTS: readonly ClientRow[] = [
  {
    client: 'everything',
    environment: {
      http_proxy: '{proxy}',
      https_proxy: '{proxy}',
      all_proxy: '{proxy}',
      no_proxy: '{bypass}',
      HTTP_PROXY: '{proxy}',
      HTTPS_PROXY: '{proxy}',
      ALL_PROXY: '{proxy}',
      NO_PROXY: '{bypass}',
      SSL_CERT_FILE: '{bundle}',
      CORDON_PROXY_HOST: '{host}',
      CORDON_PROXY_PORT: '{port}',
    },
    why: 'some read the lower-case names, some the upper-case ones; OpenSSL, Go, Ruby and rustls read SSL_CERT_FILE',
  },
  { client: 'curl', environment: { CURL_CA_BUNDLE: '{bundle}' }, why: 'its own variable comes before SSL_CERT_FILE' },
  { client: 'wget', environment: { WGETRC: '{wgetrc}' }, why: 'it ignores SSL_CERT_FILE' },
  {
    client: 'git',
    environment: { GIT_SSL_CAINFO: '{bundle}', GIT_SSH_COMMAND: "'{gitSsh}'", GIT_SSH_VARIANT: 'ssh' },
    why: 'http.sslCAInfo of the user would come before SSL_CERT_FILE; ssh knows no proxy variables',
  },
  {
    client: 'ssh',
    environment: {},
    why: 'no variable names a configuration to ssh, scp, sftp and what starts them: ours replaces the machine-wide one',
  },
  {
    client: 'npm',
    environment: { npm_config_cafile: '{bundle}', npm_config_https_proxy: '{proxy}', npm_config_proxy: '{proxy}' },
    why: 'a .npmrc of the user could name others',
  },
  { client: 'pnpm', environment: {}, why: 'reads npm_config_* and NODE_EXTRA_CA_CERTS' },
  {
    client: 'yarn',
    environment: { YARN_HTTP_PROXY: '{proxy}', YARN_HTTPS_PROXY: '{proxy}' },
    why: 'from version 2 on it reads no common proxy variables; trust comes by NODE_EXTRA_CA_CERTS',
  },
  {
    client: 'pip',
    environment: { PIP_CERT: '{bundle}', REQUESTS_CA_BUNDLE: '{bundle}' },
    why: 'it brings its own roots (certifi); requests does too',
  },
  { client: 'uv', environment: {}, why: 'reads SSL_CERT_FILE' },
  {
    client: 'cargo',
    environment: { CARGO_HTTP_CAINFO: '{bundle}', CARGO_HTTP_PROXY: '{proxy}' },
    why: 'http.cainfo of the user would come first',
  },
  { client: 'go', environment: {}, why: 'reads SSL_CERT_FILE and HTTPS_PROXY' },
  {
    client: 'node',
    environment: { NODE_EXTRA_CA_CERTS: '{ca}', NODE_USE_ENV_PROXY: '1', NODE_OPTIONS: '{nodeOptions}' },
    why: 'from 22.21 on it reads the proxy variables when asked to; older ones need the preload',
  },
  {
    client: 'java',
    environment: {
      JAVA_TOOL_OPTIONS: [
        '-Dhttp.proxyHost={host} -Dhttp.proxyPort={port}',
        '-Dhttps.proxyHost={host} -Dhttps.proxyPort={port}',
        '-Dhttp.nonProxyHosts={javaBypass}',
        '"-Djavax.net.ssl.trustStore={trustStore}" -Djavax.net.ssl.trustStoreType=PKCS12',
      ].join(' '),
    },
    why: 'it reads system properties only; Maven and Gradle run on it',
  },
  { client: 'deno', environment: { DENO_CERT: '{ca}' }, why: 'reads HTTPS_PROXY' },
  { client: 'bun', environment: {}, why: 'reads HTTPS_PROXY and NODE_EXTRA_CA_CERTS' },
  { client: 'aws', environment: { AWS_CA_BUNDLE: '{bundle}' }, why: 'botocore brings its own roots' },
  { client: 'grpc', environment: { GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: '{bundle}' }, why: 'gRPC core has its own roots' },
  {
    client: 'grpc, ftp, gcloud',
    environment: {
      grpc_proxy: '{proxy}',
      GRPC_PROXY: '{proxy}',
      ftp_proxy: '{proxy}',
      FTP_PROXY: '{proxy}',
      CLOUDSDK_PROXY_TYPE: 'http',
      CLOUDSDK_PROXY_ADDRESS: '{host}',
      CLOUDSDK_PROXY_PORT: '{port}',
      CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE: '{bundle}',
    },
    why: 'each has its own names for the same',
  },
  { client: 'nix', environment: { NIX_SSL_CERT_FILE: '{bundle}' }, why: 'comes before SSL_CERT_FILE' },
]

/** The variables and files of every row: a command may start any of these clients. */
export function clientSettings(facts: ClientFacts): ClientSettings {
  const places = placesOf(facts)
  const environment: Record<string, string> = {}
  for (const row of CLIENTS) {
    for (const [name, value] of Object.entries(row.environment)) environment[name] = fill(value, places)
  }
  if (facts.proxyToken !== undefined)
    environment.CORDON_PROXY_AUTH = Buffer.from(`cordon:${facts.proxyToken}`).toString('base64')
  const bundle = `${facts.roots.trimEnd()}\n${facts.caPem}`
  const files: ClientFile[] = [
    { path: places.ca, content: facts.caPem, mode: 0o444 },
    { path: places.bundle, content: bundle, mode: 0o444 },
    { path: places.wgetrc, content: `ca_certificate = ${places.bundle}\n`, mode: 0o444 },
    // Without passed-through hosts, Java only needs the session's CA; packing every root takes
    // milliseconds.
    { path: places.trustStore, content: trustStore(fromPem(facts.passthrough ? bundle : facts.caPem)), mode: 0o444 },
    { path: places.preload, content: NODE_PRELOAD, mode: 0o444 },
    { path: places.ssh, content: SSH_CONNECT, mode: 0o555 },
    { path: places.gitSsh, content: gitSsh(places.ssh, places.sshConfig, facts.gitHosts ?? []), mode: 0o555 },
    { path: places.sshConfig, content: sshConfig(places.ssh, places.knownHosts, facts), mode: 0o444 },
    { path: places.knownHosts, content: facts.knownHosts ?? '', mode: 0o444 },
  ]
  return { environment, files, standIns: [{ path: MACHINE_SSH_CONFIG, source: places.sshConfig }] }
}

function placesOf(facts: ClientFacts): ClientPlaces {
  const { proxyHost: host, directory } = facts
  const port = String(facts.proxyPort)
  const preload = `${directory}/node-proxy.cjs`
  const local = LOOPBACK.filter((name) => !facts.proxiedLoopback?.includes(name.replace(/^\./, '')))
  return {
    proxy: `http://${facts.proxyToken === undefined ? '' : `cordon:${facts.proxyToken}@`}${host}:${port}`,
    host,
    port,
    bypass: local.join(','),
    javaBypass: local.map((name) => (name === '::1' ? '[::1]' : name)).join('|'),
    ca: `${directory}/ca.pem`,
    bundle: `${directory}/ca-bundle.pem`,
    wgetrc: `${directory}/wgetrc`,
    trustStore: `${directory}/trust.p12`,
    preload,
    ssh: `${directory}/ssh-connect`,
    sshConfig: `${directory}/ssh-config`,
    gitSsh: `${directory}/git-ssh`,
    knownHosts: `${directory}/ssh-known-hosts`,
    nodeOptions: [`--require="${preload}"`, facts.nodeOptions ?? ''].join(' ').trim(),
  }
}

function fill(value: string, places: ClientPlaces): string {
  return value.replace(/\{(\w+)\}/g, (_, name: keyof ClientPlaces) => places[name])
}

const DATA = objectId('1.2.840.113549.1.7.1')
const CERT_BAG = objectId('1.2.840.113549.1.12.10.1.3')
const X509_CERTIFICATE = objectId('1.2.840.113549.1.9.22.1')
const FRIENDLY_NAME = objectId('1.2.840.113549.1.9.20')
/** Java only trusts a certificate with this attribute of Oracle's. */
const TRUSTED_KEY_USAGE = objectId('2.16.840.1.113894.746875.1.1')
const ANY_USAGE = objectId('2.5.29.37.0')

/** The store's bytes; certificates in DER. */
function trustStore(certificates: readonly Uint8Array[]): Buffer {
  const bags = certificates.map((certificate, index) =>
    sequence(
      CERT_BAG,
      explicit(0, sequence(X509_CERTIFICATE, explicit(0, octets(certificate)))),
      setOf(sequence(FRIENDLY_NAME, setOf(bmp(`cordon-${index}`))), sequence(TRUSTED_KEY_USAGE, setOf(ANY_USAGE))),
    ),
  )
  const safe = sequence(contentInfo(sequence(...bags)))
  return sequence(integer(3), contentInfo(safe))
}

function contentInfo(content: Buffer): Buffer {
  return sequence(DATA, explicit(0, octets(content)))
}
