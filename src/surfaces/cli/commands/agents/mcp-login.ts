/** `cordon mcp login|logout`: your accounts at remote MCP servers. */

import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openGatewayJudge } from '../../../../agents/mcp/judge.ts'
import { foreignLogin, remoteFetch } from '../../../../agents/mcp/remote.ts'
import { RemoteLogin } from '../../../../agents/mcp/remote-login.ts'
import {
  isRemoteUrl,
  manifestServers,
  remoteServer,
  type ServerSpec,
  withHeaders,
} from '../../../../agents/mcp/servers.ts'
import { Fault } from '../../../../system/fault.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { type Terminal, visible } from '../../../terminal/terminal.ts'
import { EXIT, UsageError } from '../../usage.ts'

export interface ServersRequest {
  readonly terminal: Terminal
  readonly root: string
  readonly words: readonly string[]
  readonly url: string | null
}

const LOGIN_MS = 10 * 60_000

export async function mcpLogout(request: ServersRequest): Promise<number> {
  const machine = thisMachine()
  const { name, remote } = await wanted(request, machine)
  const known = new RemoteLogin(machine.stateDir, name, remote.url).forget()
  request.terminal.out(known ? `the login at ${visible(name)} is gone\n` : `there was no login at ${visible(name)}\n`)
  return EXIT.ok
}

export async function mcpLogin(request: ServersRequest): Promise<number> {
  const { terminal, root } = request
  const machine = thisMachine()
  const { name, remote } = await wanted(request, machine)
  const { answered } = await openGatewayJudge(root, machine)
  const answer = await listenForCode()
  try {
    let at: URL | null = null
    const open = (address: URL): void => {
      const foreign = foreignLogin({ server: { name, ...remote }, loaded: answered.loaded, machine }, address)
      if (foreign !== null)
        throw new Fault('login-needed', foreign, {
          remedy: `If you know that host, add it to domains of [mcp_servers.${name}] and sign that.`,
        })
      at = address
      terminal.err(`cordon: log in to ${visible(name)} in your browser:\n  ${visible(address.href)}\n`)
      openBrowser(machine, address)
    }
    const login = new RemoteLogin(machine.stateDir, name, remote.url, { url: answer.url, open })
    const signal = AbortSignal.timeout(LOGIN_MS)
    const parts = { server: { name, ...remote }, loaded: answered.loaded, machine, login }
    const { auth } = await import('@modelcontextprotocol/sdk/client/auth.js')
    const options = { serverUrl: remote.url, fetchFn: remoteFetch(parts, signal) }
    const code = answer.code(login.state(), () => at, signal)
    code.catch(() => {})
    if ((await auth(login, options)) === 'REDIRECT') await auth(login, { ...options, authorizationCode: await code })
    terminal.err(`cordon: logged in to ${visible(name)}\n`)
    return EXIT.ok
  } finally {
    answer.close()
  }
}

type RemoteSpec = ServerSpec & { readonly remote: NonNullable<ServerSpec['remote']> }

async function wanted({ root, words, url }: ServersRequest, machine: Machine): Promise<RemoteSpec> {
  const [name = url === null ? undefined : 'remote', ...more] = words
  if (name === undefined || more.length > 0) throw new UsageError('say which server: cordon mcp login NAME')
  if (url !== null && !isRemoteUrl(url)) throw new UsageError('--url takes https://HOST/PATH')
  const { answered } = await openGatewayJudge(root, machine)
  const found =
    url !== null ? remoteServer(name, url) : manifestServers(answered.loaded).find((one) => one.name === name)
  const ready = found && withHeaders(found, machine)
  if (ready?.remote) return { ...ready, remote: ready.remote }
  throw new Fault('no-servers', `there is no MCP server “${name}” with a url`, {
    remedy: `Write [mcp_servers.${name}] with url = "https://…", sign it, or give --url.`,
  })
}

/** Listens on loopback for one browser redirect with the right state. */
async function listenForCode(): Promise<{
  readonly url: string
  readonly code: (state: string, at: () => URL | null, signal: AbortSignal) => Promise<string>
  readonly close: () => void
}> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const code = (state: string, at: () => URL | null, signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Fault('login-needed', 'nobody logged in in time')), {
        once: true,
      })
      server.on('request', (message, response) => {
        const { pathname, searchParams } = new URL(message.url ?? '/', 'http://127.0.0.1')
        const given = searchParams.get('code')
        // Ignore other requests of the page.
        const issuer = searchParams.get('iss')
        const isOther = issuer !== null && URL.parse(issuer)?.origin !== at()?.origin
        const isOurs = pathname === '/callback' && searchParams.get('state') === state && !isOther
        const text = !isOurs ? 'Not found' : given ? 'You are logged in. Close this page.' : 'The login was refused.'
        response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' }).end(`${text}\n`)
        if (isOurs && given) resolve(given)
        else if (isOurs)
          reject(new Fault('login-needed', `the login was refused (${searchParams.get('error') ?? 'no code'})`))
      })
    })
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}/callback`, code, close }
}

/** Cordon opens the browser itself, never an agent. Without a browser, the person uses the printed address. */
function openBrowser(machine: Machine, address: URL): void {
  const isOwn = address.hostname === '127.0.0.1' || address.hostname === 'localhost'
  if (address.protocol !== 'https:' && !(address.protocol === 'http:' && isOwn)) return
  const program = machine.env.BROWSER ?? (process.platform === 'darwin' ? 'open' : 'xdg-open')
  spawn(program, [address.href], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}
