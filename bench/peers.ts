/** The peers: installed from npm into an ignored folder, and how each runs a command in its sandbox. */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../.cache/peers')
const PACKAGES = ['@anthropic-ai/sandbox-runtime@0.0.83', '@openai/codex@0.166.0']

export interface Peer {
  readonly name: string
  /** The command line that runs `argv` in the peer's sandbox, with `project` writable. */
  command(argv: readonly string[], place: { readonly project: string; readonly scratch: string }): readonly string[]
}

const BWRAP: Peer = {
  name: 'bubblewrap, plain use',
  command: (argv, { project }) => [
    ...['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', project, project],
    ...['--unshare-all', '--die-with-parent', '--', ...argv],
  ],
}

/** Installs the peers where that is possible; plain bubblewrap is always there. */
export function installPeers(): readonly Peer[] {
  if (!existsSync(join(FOLDER, 'node_modules/.bin'))) {
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(join(FOLDER, 'package.json'), '{ "private": true }\n')
    console.error(`bench: installing ${PACKAGES.join(', ')}`)
    const install = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...PACKAGES], {
      cwd: FOLDER,
      stdio: 'inherit',
    })
    if (install.status !== 0) {
      console.error('bench: the peers could not be installed; only plain bubblewrap is compared')
      return [BWRAP]
    }
  }
  // sandbox-runtime bridges its proxy with socat.
  if (spawnSync('socat', ['-V']).error && process.getuid?.() === 0) {
    execFileSync('apt-get', ['install', '-y', '-qq', 'socat'], { stdio: 'ignore' })
  }
  const srt = join(FOLDER, 'node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js')
  const codex = join(FOLDER, 'node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex')
  return [BWRAP, ...(existsSync(srt) ? [sandboxRuntime(srt)] : []), ...(existsSync(codex) ? [codexSandbox(codex)] : [])]
}

function sandboxRuntime(cli: string): Peer {
  return {
    name: 'sandbox-runtime',
    command: (argv, { project, scratch }) => {
      const settings = join(scratch, 'srt.json')
      writeFileSync(
        settings,
        JSON.stringify({
          network: { allowedDomains: [], deniedDomains: [] },
          filesystem: { denyRead: ['~/.ssh', '~/.aws'], allowWrite: [project], denyWrite: [] },
        }),
      )
      return [process.execPath, cli, '--settings', settings, '--', ...argv]
    },
  }
}

function codexSandbox(program: string): Peer {
  return {
    name: 'codex sandbox',
    command: (argv) => [program, 'sandbox', '-c', 'sandbox_mode="workspace-write"', '--', ...argv],
  }
}
