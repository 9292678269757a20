/** The published conformance suite against `cordon mcp --http`: the scenarios that need no tools of the suite. */

import { spawn } from 'node:child_process'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { HttpTarget } from './mcp-clients.ts'

export const CONFORMANCE_PACKAGE = '@modelcontextprotocol/conformance'

/** It speaks the handshake era only, in the version that is published. */
const SCENARIOS: readonly string[] = [
  'server-initialize',
  'ping',
  'tools-list',
  'dns-rebinding-protection',
  'server-sse-multiple-streams',
]

/** Runs the scenarios; the problems, none when all pass. */
export async function runConformance(
  target: { url: string; token: string },
  cache: string,
): Promise<readonly string[]> {
  const proxy = await withToken(target)
  try {
    const url = `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`
    const problems: string[] = []
    for (const scenario of SCENARIOS) {
      const said = await run(join(cache, 'node_modules', CONFORMANCE_PACKAGE, 'dist/index.js'), url, scenario)
      const [, passed, all, failed] = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(said) ?? []
      if (passed === undefined || passed !== all || failed !== '0' || all === '0')
        problems.push(`${scenario} did not pass`)
    }
    return problems
  } finally {
    proxy.close()
    proxy.closeAllConnections()
  }
}

/** The suite cannot send a token, so this puts it in, and its own address out of the headers that name it. */
async function withToken({ url, token }: HttpTarget): Promise<Server> {
  const { port } = new URL(url)
  const proxy = createServer((incoming, outgoing) => {
    const own = String((proxy.address() as AddressInfo).port)
    const renamed = (value: string | undefined): string | undefined => value?.replace(`:${own}`, `:${port}`)
    const headers = {
      ...incoming.headers,
      authorization: `Bearer ${token}`,
      host: renamed(incoming.headers.host),
      ...(incoming.headers.origin && { origin: renamed(incoming.headers.origin) }),
    }
    const options = { host: '127.0.0.1', port, path: incoming.url, method: incoming.method, headers }
    const sent = request(options, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    sent.on('error', () => outgoing.destroy())
    outgoing.on('close', () => sent.destroy())
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return proxy
}

function run(program: string, url: string, scenario: string): Promise<string> {
  return new Promise((resolve) => {
    const args = [program, 'server', '--url', url, '--scenario', scenario]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    let said = ''
    child.stdout.on('data', (data) => {
      said += data
    })
    child.on('close', () => resolve(said))
  })
}
