/** The one-off grants of a run: `--read`, `--write`, `--allow-host`, `--port`, `--env`, `--tool`. */

import type { RunGrants } from '../../confine/run-grants.ts'
import { namesUnixSocket, parseHostPattern, parseUnixSocket } from '../../hosts/pattern.ts'
import { typedPlaces } from '../../one-off/grants.ts'
import type { HostRule } from '../../policy/policy.ts'
import { nearest } from '../../project/near-word.ts'
import { bundleNames } from '../../run/open-backend.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { type Arguments, listFlag } from './arguments.ts'
import { UsageError } from './usage.ts'

/** Throws a UsageError for an invalid grant, and a Fault for a path that does not exist. */
export function oneOffGrants(args: Arguments, machine: Machine): RunGrants {
  const paths = (name: string) => listFlag(args, name).flatMap((typed) => typedPlaces(typed, machine, machineFiles))
  return {
    hosts: listFlag(args, 'allow-host', true).map(typedHost),
    reads: paths('read'),
    writes: paths('write'),
    ports: listFlag(args, 'port', true).map((text) => typedPort(text, '--port')),
    env: listFlag(args, 'env', true).map((name) => typedVariable(name, machine)),
    tools: listFlag(args, 'tool', true).map(typedTool),
    registries: {},
  }
}

function typedHost(name: string): HostRule {
  const parsed = namesUnixSocket(name) ? parseUnixSocket(name) : parseHostPattern(name, null)
  if ('pattern' in parsed && !parsed.pattern.wildcard)
    return { pattern: parsed.pattern, rule: '--allow-host', source: 'command line' }
  throw new UsageError(
    `--allow-host takes hosts such as api.example.org or db.example.org:5432, not “${name}”${withoutScheme(name)}`,
  )
}

/** Accept URLs: people paste them. */
function withoutScheme(name: string): string {
  const host = /^[a-z]+:\/\/([^/?#]+)/i.exec(name)?.[1]
  return host === undefined ? '' : `; did you mean ${host}?`
}

export function typedPort(text: string, flag: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new UsageError(`${flag} takes a number from 1 to 65535, not “${text}”`)
  return port
}

function typedVariable(name: string, { env }: Machine): string {
  if (/^[A-Za-z_]\w*$/.test(name)) {
    if (env[name] !== undefined) return name
    throw new UsageError(`--env ${name}: there is no such variable here; to set it: cordon run -- env ${name}=… CMD`)
  }
  const given = /^([A-Za-z_]\w*)=/.exec(name)?.[1]
  throw new UsageError(
    given === undefined
      ? `--env takes the name of a variable, not “${name}”`
      : `--env passes a variable of yours on by its name: --env ${given}; to set it: cordon run -- env ${given}=… CMD`,
  )
}

function typedTool(name: string): string {
  if (bundleNames().includes(name)) return name
  const suggestion = nearest(name, bundleNames())
  throw new UsageError(
    `there is no bundle “${name}”${suggestion ? `; did you mean ${suggestion}?` : ''} (cordon bundles lists them)`,
  )
}
