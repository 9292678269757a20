/** What agents would read or run on their own in a project, for `cordon doctor`. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openHookJudge } from '../../agents/hook/judge.ts'
import { unknownTools } from '../../agents/hook/unknown-tools.ts'
import { promptDenials } from '../../agents/hook/unseen.ts'
import { attempt } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import { parseSettings, recordOf } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import type { Json } from './host/host.ts'
import { unseenPlace } from './host/host.ts'
import type { HostInstall, Read } from './host/host-install.ts'
import type { InstallPlace } from './host/install-place.ts'
import { findHost, type HostName, installOf } from './hosts/hosts.ts'
import { isOwnText } from './install/host-settings.ts'
import { installedHook } from './install/installed-hooks.ts'
import { unguardedLine, unguardedSessions } from './install/open-sessions.ts'

export interface Unseen {
  readonly agent: HostName
  readonly detail: string
  readonly remedy: string
}

/** The findings for these agents; empty without a policy in force, which every call reports. */
export async function unseenIn(
  agents: readonly HostName[],
  place: InstallPlace,
  at: { readonly machine: Machine; readonly files: Files; readonly read: Read },
): Promise<readonly Unseen[]> {
  const { machine, files, read } = at
  const found = await Promise.all(
    agents.map(async (agent): Promise<readonly Unseen[]> => {
      const host = findHost(agent)!
      const install = await installOf(agent)
      const inside = `cordon run -- ${install.program}`
      const programs = await broughtPrograms(install, place, read)
      const brought = {
        agent,
        detail: `the project brings ${programs.join(' and ')}, which ${install.program} runs outside the sandbox once you trust the project`,
        remedy: `Read that first, or run the whole agent in the sandbox: ${inside}`,
      }
      const rows: Unseen[] = programs.length === 0 ? [] : [brought]
      const names = unknownTools(machine.stateDir, agent)
      if (names.length > 0) rows.push(unknownRow(agent, names))
      const open = unguardedLine(install.program, unguardedSessions(install, installedAt(agent, place, machine)))
      if (open !== null) rows.push({ agent, detail: open, remedy: 'End that session, and start it again.' })
      if (!host.expands) return rows
      const opened = await openHookJudge({
        ...{ machine, files, root: place.root, exact: true, cwd: machine.cwd },
        ...{ host: agent, session: null, shell: false },
      })
      if ('closed' in opened) return rows
      const where = unseenPlace(host, opened.judge.loaded.root, machine.cwd, at)
      const reasons = await promptDenials(opened.judge, {}, host.expands, where)
      const setting = await where.setting?.()
      const taken =
        setting?.kind === 'overridden'
          ? [
              {
                agent,
                detail: `${setting.file} says ${setting.line}: skills and what you type with / are refused`,
                remedy: 'Remove that line.',
              },
            ]
          : []
      const withheld = host.prompts ? '' : ` No hook of ${install.program} can stop it at the start: ${inside}`
      return [
        ...rows,
        ...taken,
        ...reasons.map(({ message, remedy = '' }) => ({ agent, detail: message, remedy: `${remedy}${withheld}` })),
      ]
    }),
  )
  return found.flat()
}

function installedAt(agent: HostName, { root }: InstallPlace, { stateDir }: Machine): number | null {
  const times = ['user', 'project'].flatMap((scope) => installedHook(stateDir, { agent, scope, root })?.since ?? [])
  return times.length === 0 ? null : Math.min(...times)
}

function unknownRow(agent: HostName, names: readonly string[]): Unseen {
  return {
    agent,
    detail: `it called tools that Cordon does not know, and each call asks: ${names.join(', ')}`,
    remedy: `A newer Cordon may know them. To allow one: [permission.tools] ${JSON.stringify(names[0])} = "allow"`,
  }
}

/** Each file with the part of it that runs something, except our own hooks. */
async function broughtPrograms(host: HostInstall, place: InstallPlace, read: Read): Promise<readonly string[]> {
  const own = host.file({ ...place, scope: 'project' })
  const found = await Promise.all(
    Object.entries(host.brings ?? {}).map(async ([name, keys]) => {
      const path = join(place.root, name)
      const [before, after] = name.split('*')
      if (after !== undefined) {
        return namesIn(join(place.root, before!))
          .map((folder) => `${before}${folder}${after}`)
          .filter((file) => readText(join(place.root, file), read) !== null)
      }
      if (name.endsWith('/')) {
        return namesIn(path)
          .filter((file) => !isOwnText(readText(join(path, file), read) ?? ''))
          .map((file) => `${name}${file}`)
      }
      const text = readText(path, read)
      if (text === null) return []
      const settings = await settingsOf(text, name)
      if (settings === null) return [`${name} (which cannot be understood)`]
      const set = keys.filter((key) => hasKey(settings, key.split('.')) && !(path === own && key === 'hooks'))
      return set.length === 0 ? [] : [`${name} (${set.join(', ')})`]
    }),
  )
  return found.flat()
}

async function settingsOf(text: string, name: string): Promise<unknown> {
  try {
    if (/^\.env(?:\.|$)/.test(name)) return variablesOf(text)
    if (!name.endsWith('.toml')) return parseSettings(text)
    return (await import('../../agents/settings/toml-text.ts')).parseToml(text, name)
  } catch {
    return null
  }
}

function variablesOf(text: string): Json {
  const names = text.matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*[=:]/gm)
  return Object.fromEntries([...names].map(([, name]) => [name, true]))
}

function hasKey(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return value !== undefined && value !== null
  const table = recordOf(value)
  return Object.hasOwn(table, key) && hasKey(table[key], rest)
}

function readText(path: string, read: Read): string | null {
  return attempt(() => read(path), null)
}

function namesIn(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder).sort(), [])
}
