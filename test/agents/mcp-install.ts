/** Installs what the MCP runs need into the ignored cache: published servers, libraries of both generations, clients of others. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONFORMANCE_PACKAGE } from './mcp-conformance.ts'

const PACKAGES: readonly string[] = [
  '@modelcontextprotocol/server-filesystem',
  '@modelcontextprotocol/server-everything',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  '@ai-sdk/mcp',
  CONFORMANCE_PACKAGE,
]
const PYTHON_PACKAGE = 'mcp'

/** Why something is missing; null when all is there. */
export function installMcp(cache: string): string | null {
  return installPackages(cache) ?? installPython(cache)
}

function installPackages(cache: string): string | null {
  const missing = PACKAGES.filter((name) => !existsSync(join(cache, 'node_modules', name)))
  if (missing.length === 0) return null
  mkdirSync(cache, { recursive: true })
  if (!existsSync(join(cache, 'package.json'))) writeFileSync(join(cache, 'package.json'), '{"private":true}\n')
  const run = spawnSync('npm', ['install', '--no-audit', '--no-fund', ...missing], { cwd: cache, encoding: 'utf8' })
  return run.status === 0 ? null : `npm could not install ${missing.join(', ')}: ${run.stderr.slice(-300)}`
}

function installPython(cache: string): string | null {
  const pip = join(cache, 'venv/bin/pip')
  if (spawnSync(pip, ['show', '-q', PYTHON_PACKAGE]).status === 0) return null
  for (const [program, args] of [
    ['python3', ['-m', 'venv', join(cache, 'venv')]],
    [pip, ['install', '-q', PYTHON_PACKAGE]],
  ] as const) {
    const run = spawnSync(program, args, { encoding: 'utf8' })
    if (run.status !== 0) return `Python’s ${PYTHON_PACKAGE} could not be installed: ${(run.stderr ?? '').slice(-300)}`
  }
  return null
}
