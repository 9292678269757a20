/** `cordon mcp`: the guarded tools for any MCP client, over stdio or HTTP; `wrap` puts a guard around another server. */

import { resolve } from 'node:path'
import { openFleetPrompter } from '../../../../organisation/prompter.ts'
import { waitForPage } from '../../../../questions/open-pages.ts'
import { createCordon } from '../../../../session/cordon.ts'
import { machineFiles } from '../../../../system/files.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { keepQuestion } from '../../../mcp/elicitation.ts'
import type { ServerOptions } from '../../../mcp/served-project.ts'
import { serveStdio } from '../../../mcp/stdio.ts'
import { type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, textFlag } from '../../arguments.ts'
import { rootFlag } from '../../open-policy.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export async function run({ terminal, args, bare }: CommandContext): Promise<number> {
  const root = rootFlag(args) ?? process.cwd()
  const [verb, ...server] = args.words
  if (verb === 'wrap') {
    const config = textFlag(args, 'config') ?? null
    if (server.length > 0 && config !== null) throw new UsageError('--config names the servers: omit the command')
    const url = textFlag(args, 'url') ?? null
    const { isRemoteUrl } = await import('../../../../agents/mcp/servers.ts')
    if (url !== null && (server.length > 0 || config !== null || !isRemoteUrl(url)))
      throw new UsageError('--url takes https://HOST/PATH and cannot be combined with a command')
    const { wrapServers } = await import('../../../mcp/gateway/gateway.ts')
    return wrapServers({
      root,
      server,
      url,
      config,
      name: textFlag(args, 'name') ?? null,
      isPlain: args.flags.plain === true,
      accept: args.flags.accept === true,
      terminal,
    })
  }
  if (verb === 'login' || verb === 'logout') {
    // The printed address must be opened, so nothing in it is masked.
    const { mcpLogin, mcpLogout } = await import('./mcp-login.ts')
    const run = verb === 'login' ? mcpLogin : mcpLogout
    return run({ terminal: bare, root, words: server, url: textFlag(args, 'url') ?? null })
  }
  const catalogue = {
    add: 'mcpAdd',
    remove: 'mcpRemove',
    list: 'mcpList',
    status: 'mcpStatus',
    logs: 'mcpLogs',
  } as const
  if (verb !== undefined && Object.hasOwn(catalogue, verb)) {
    const own = await import('./mcp-catalogue.ts')
    return own[catalogue[verb as keyof typeof catalogue]]({ terminal, args, root, words: server })
  }
  if (verb !== undefined) oneOf(['wrap', 'login', 'logout', ...Object.keys(catalogue)], verb, 'name an action')
  if (args.flags.port !== undefined && !args.flags.http) throw new UsageError('--port goes with --http')
  if (args.flags['token-file'] !== undefined && !args.flags.http) throw new UsageError('--token-file goes with --http')
  const options = serverOptions(root, terminal)
  // Fail here on an unsigned manifest: a person sees this error, unlike the client's first request.
  await (await createCordon({ project: root })).close()
  const page = args.flags.ui ? await openPage(root, bare) : null
  try {
    if (args.flags.http) return await overHttp(bare, options, args)
    await serveStdio(options)
    return EXIT.ok
  } finally {
    await page?.close()
  }
}

/** Clients start it without a terminal, so usually nobody can read a code, and such actions are refused. */
async function openPage(root: string, terminal: Terminal): Promise<{ close(): Promise<void> }> {
  const { startPage, terminalShow } = await import('./ui.ts')
  const warn = (text: string) => terminal.err(`cordon: ${visible(text)}\n`)
  const page = await startPage({ root, port: 0, show: terminalShow(terminal), warn })
  terminal.err(`cordon: the page is at ${page.link}\n`)
  return page
}

function serverOptions(root: string, terminal: Terminal): ServerOptions {
  const machine = thisMachine()
  let reported = false
  return {
    open: async (prompter) => {
      const cordon = await createCordon({ project: root, machine, prompter, answeredElsewhere: 'mcp' })
      for (const note of reported ? [] : cordon.notes) terminal.err(`cordon: ${visible(note)}\n`)
      reported = true
      return cordon
    },
    fallback: {
      name: 'terminal',
      ask: async (request, signal) => {
        // If the page answers first, nobody waits here any more.
        await waitForPage(machine, signal)
        signal.throwIfAborted()
        const project = machineFiles.canonical(root)
        const fleet = await openFleetPrompter(machine, project)
        if (fleet) return fleet.ask(request, signal)
        throw new Error(keepQuestion(machine, project, 'mcp', request))
      },
    },
  }
}

async function overHttp(terminal: Terminal, options: ServerOptions, args: Arguments): Promise<number> {
  const port = textFlag(args, 'port') ?? '0'
  const file = textFlag(args, 'token-file')
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new UsageError('--port takes a number up to 65535')
  const { serveHttp, TOKEN } = await import('../../../mcp/http.ts')
  const server = await serveHttp(options, Number(port), file === undefined ? undefined : readToken(file, TOKEN))
  const shown = file === undefined ? server.token : `(the token in ${visible(file)})`
  terminal.err(`cordon: serving ${visible(server.url)}\n  Authorization: Bearer ${shown}\n`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await server.close()
  return EXIT.ok
}

/** A token shared with the client, such as a mounted Secret. Tokens that can be guessed are refused. */
function readToken(file: string, fits: RegExp): string {
  const token = machineFiles.readText(resolve(file)).trim()
  if (!fits.test(token)) throw new UsageError(`${file} must contain one token: 32 to 512 letters, digits and -._~+/=`)
  return token
}
