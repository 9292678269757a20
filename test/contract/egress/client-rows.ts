/** The real clients and what each is asked to do; a client that is not on the machine is skipped by name. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LARGE, REGISTRY_HOST } from './registry.ts'

export interface RealClient {
  readonly client: string
  /** The program; `{extra}` is the folder of clients that are not installed system-wide. */
  readonly program: string
  readonly args: readonly string[]
  /** Words with which the program ends well where a library that the row is about is there. */
  readonly probe?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Writes what the client needs into its working directory. */
  readonly prepare?: (directory: string) => void
  readonly stdin?: string
  /** It ends with an error here, after what is expected. */
  readonly fails?: boolean
  readonly expect: RegExp
  readonly note: string
}

const ORIGIN = `https://${REGISTRY_HOST}`
const HELLO = /hello from the host/
const FETCH = `fetch('${ORIGIN}/hello').then(async (r) => console.log(r.status, await r.text()))`
const NODE_BOTH = `require('https').get('${ORIGIN}/hello', (r) => r.on('data', (d) => { console.log('get', String(d)); ${FETCH} }))`
const NODE_EXPECT = /get hello[\s\S]*200 hello from the host/

const JAVA = `
import java.net.*; import java.net.http.*;
class Fetch {
  public static void main(String[] args) throws Exception {
    try (var in = new URL("${ORIGIN}/hello").openStream()) { System.out.print("url " + new String(in.readAllBytes())); }
    var request = HttpRequest.newBuilder(URI.create("${ORIGIN}/hello")).build();
    System.out.print("client " + HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
    try (var in = new URL("http://${REGISTRY_HOST}/hello").openStream()) { System.out.print("plain " + new String(in.readAllBytes())); }
  }
}`

const CARGO = `[package]
name = "probe"
version = "0.1.0"
edition = "2021"
[lib]
path = "lib.rs"
[dependencies]
tiny = { version = "1", registry = "test" }
`

const packageJson = (directory: string) =>
  writeFileSync(join(directory, 'package.json'), '{"name":"probe","version":"1.0.0"}')

/** A library of Python, in whichever of the machine's Pythons has it. */
function python(name: string, code: string): RealClient[] {
  const probe = ['-c', `import ${name}`]
  const row = { args: ['-c', code], probe, expect: HELLO, note: 'a library of Python' }
  return ['python3', '/usr/bin/python3'].map((program) => ({ ...row, client: `${name} (${program})`, program }))
}

export const realClients: readonly RealClient[] = [
  { client: 'curl', program: 'curl', args: ['-sS', `${ORIGIN}/hello`], expect: HELLO, note: 'CURL_CA_BUNDLE' },
  {
    client: 'curl http',
    program: 'curl',
    args: ['-sS', `http://${REGISTRY_HOST}/hello`],
    expect: HELLO,
    note: 'absolute form',
  },
  {
    client: 'curl h2',
    program: 'curl',
    args: ['-sS', '--http2', `${ORIGIN}/hello`],
    expect: HELLO,
    note: 'offers h2 and http/1.1',
  },
  {
    client: 'curl -0',
    program: 'curl',
    args: ['-sS', '-0', `${ORIGIN}/hello`],
    expect: HELLO,
    note: 'offers http/1.0 alone',
  },
  {
    client: 'curl upload',
    program: 'curl',
    args: ['-sS', '-T', '-', `${ORIGIN}/upload`],
    stdin: 'a body',
    expect: /uploaded/,
    note: 'chunked',
  },
  { client: 'wget', program: 'wget', args: ['-qO-', `${ORIGIN}/hello`], expect: HELLO, note: 'WGETRC' },
  {
    client: 'git',
    program: 'git',
    args: ['clone', `${ORIGIN}/tiny.git`, 'cloned'],
    environment: { GIT_CONFIG_NOSYSTEM: '1', GIT_CURL_VERBOSE: '0' },
    expect: /Cloning into 'cloned'[\s\S]*$/,
    note: 'over https',
  },
  {
    client: 'npm',
    program: 'npm',
    args: ['install', 'left', '--no-audit', '--no-fund', '--registry', `${ORIGIN}/`],
    prepare: packageJson,
    expect: /added 1 package/,
    note: 'npm_config_*',
  },
  {
    client: 'pnpm',
    program: '{extra}/node_modules/.bin/pnpm',
    args: ['add', 'left', '--registry', `${ORIGIN}/`],
    prepare: packageJson,
    expect: /\+ left 1\.0\.0/,
    note: 'environment alone',
  },
  {
    client: 'yarn 1',
    program: '{extra}/node_modules/yarn/bin/yarn.js',
    args: ['add', 'left', '--registry', `${ORIGIN}/`, '--non-interactive'],
    prepare: packageJson,
    expect: /left@1\.0\.0/,
    note: 'classic',
  },
  {
    client: 'yarn 4',
    program: '{extra}/node_modules/@yarnpkg/cli-dist/bin/yarn.js',
    args: ['add', 'left'],
    environment: {
      YARN_NPM_REGISTRY_SERVER: ORIGIN,
      YARN_ENABLE_TELEMETRY: '0',
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
    },
    prepare: (directory) => {
      packageJson(directory)
      writeFileSync(join(directory, 'yarn.lock'), '')
    },
    expect: /left@npm:[\s\S]*Done/,
    note: 'YARN_*_PROXY',
  },
  {
    client: 'pip',
    program: 'pip',
    args: ['download', '--no-deps', '--index-url', `${ORIGIN}/simple/`, 'tiny'],
    environment: { PIP_CONFIG_FILE: '/dev/null' },
    expect: /Successfully downloaded tiny/,
    note: 'PIP_CERT',
  },
  {
    client: 'python',
    program: 'python3',
    args: ['-c', `import urllib.request as u; print(u.urlopen('${ORIGIN}/hello').read())`],
    expect: HELLO,
    note: 'SSL_CERT_FILE through OpenSSL',
  },
  ...python('requests', `import requests; print(requests.get('${ORIGIN}/hello').text)`),
  ...python('httpx', `import httpx; print(httpx.get('${ORIGIN}/hello').text)`),
  ...python(
    'aiohttp',
    `import aiohttp, asyncio
async def main():
  async with aiohttp.ClientSession(trust_env=True) as session:
    async with session.get('${ORIGIN}/hello') as answer: print(await answer.text())
asyncio.run(main())`,
  ),
  {
    client: 'curl 64 MB up',
    program: 'curl',
    args: ['-sS', '-T', '-', `${ORIGIN}/upload`],
    stdin: 'x'.repeat(LARGE),
    expect: new RegExp(`uploaded ${LARGE}`),
    note: 'counted by the host',
  },
  {
    client: 'curl 64 MB down',
    program: 'curl',
    args: ['-sS', '-o', '/dev/null', '-w', 'got %{size_download}', `${ORIGIN}/large`],
    expect: new RegExp(`got ${LARGE}`),
    note: 'counted by the client',
  },
  {
    client: 'cargo',
    program: 'cargo',
    // Debian's of 2022 has no registries over HTTP; what has this command has them.
    probe: ['remove', '--help'],
    args: ['fetch'],
    environment: { CARGO_REGISTRIES_TEST_INDEX: `sparse+${ORIGIN}/index/`, CARGO_HOME: '{home}/cargo' },
    prepare: (directory) => {
      writeFileSync(join(directory, 'Cargo.toml'), CARGO)
      writeFileSync(join(directory, 'lib.rs'), '')
    },
    expect: /Downloaded tiny v1\.0\.0/,
    note: 'libcurl, h2 offered',
  },
  {
    client: 'go',
    program: process.env.CORDON_TEST_GO ?? '{extra}/bin/go',
    args: ['list', '-m', '-versions', 'example.org/tiny'],
    environment: {
      GOPROXY: `${ORIGIN}/go`,
      GONOSUMDB: '*',
      GOFLAGS: '-mod=mod',
      GOPATH: '{home}/go',
      GOCACHE: '{home}/gocache',
    },
    prepare: (directory) => writeFileSync(join(directory, 'go.mod'), 'module probe\n'),
    expect: /example\.org\/tiny v1\.0\.0/,
    note: 'SSL_CERT_FILE, HTTPS_PROXY',
  },
  { client: 'node 20', program: '/usr/bin/node', args: ['-e', NODE_BOTH], expect: NODE_EXPECT, note: 'the preload' },
  {
    client: 'node 24',
    program: process.execPath,
    args: ['-e', NODE_BOTH],
    expect: NODE_EXPECT,
    note: 'NODE_USE_ENV_PROXY',
  },
  {
    client: 'java',
    program: 'java',
    args: ['Fetch.java'],
    prepare: (directory) => writeFileSync(join(directory, 'Fetch.java'), JAVA),
    expect: /url hello[\s\S]*client hello[\s\S]*plain hello/,
    note: 'a PKCS#12 trust store written by hand',
  },
  {
    client: 'deno',
    program: '{extra}/node_modules/.bin/deno',
    args: ['eval', FETCH],
    environment: { DENO_DIR: '{home}/deno', DENO_NO_UPDATE_CHECK: '1' },
    expect: HELLO,
    note: 'DENO_CERT',
  },
  {
    client: 'bun',
    program: '{extra}/node_modules/.bin/bun',
    args: ['-e', FETCH],
    expect: HELLO,
    note: 'NODE_EXTRA_CA_CERTS',
  },
  {
    client: 'openssl',
    program: 'openssl',
    args: ['s_client', '-brief', '-proxy', '{proxy}', '-connect', `${REGISTRY_HOST}:443`, '-verify_return_error'],
    expect: /Verification: OK/,
    note: 'SSL_CERT_FILE',
  },
  {
    client: 'ssh',
    program: 'ssh',
    args: ['-v', '-F', '{directory}/ssh-config', '-o', 'BatchMode=yes', REGISTRY_HOST],
    expect: /Remote protocol version 2\.0, remote software version CordonTest/,
    fails: true,
    note: 'the tunnel of GIT_SSH_COMMAND, as far as the banners',
  },
]
