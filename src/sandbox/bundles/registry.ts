/** Finds a tool's registries in the user's own configuration, when a manifest is signed (O5). */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../system/fault.ts'
import type { Bundle, RegistryFact, RegistryFacts } from './bundle.ts'

/** How the machine is asked; a command runs outside the project, with the user's environment less the project's. */
export interface RegistryPort {
  /** The output of the command, or null if it is missing or failed. */
  readonly run: (command: readonly string[]) => string | null
  /** The text of a file under the home directory, or null. */
  readonly read: (path: string) => string | null
}

/** Asks for the registries of the bundles; those of tools that are not installed are simply missing. */
export function findRegistries(
  bundles: readonly Bundle[],
  places: { readonly home: string; readonly project: string | null },
  port: RegistryPort,
): RegistryFacts {
  const found: Record<string, readonly RegistryFact[]> = {}
  for (const bundle of bundles) {
    const facts = new Map<string, RegistryFact>()
    // The project's own come last, so that the tool uses them instead of the public ones.
    const sources = bundle.registries.toSorted((a, b) => Number(a.project !== null) - Number(b.project !== null))
    for (const source of sources) {
      const text = textOf(source, places, port)
      for (const match of (text ?? '').matchAll(new RegExp(source.match, 'gm'))) {
        const fact = registryFact(match[1] ?? '', source.subdomains, source.variable)
        if (fact && (source.project !== null || !facts.has(fact.url))) {
          facts.delete(fact.url)
          facts.set(fact.url, fact)
        }
      }
    }
    if (facts.size > 0) found[bundle.tool] = [...facts.values()]
  }
  return found
}

function textOf(
  { command, file, project }: Bundle['registries'][number],
  places: { readonly home: string; readonly project: string | null },
  port: RegistryPort,
): string | null {
  if (command) return port.run(command)
  if (file) return port.read(places.home + file.slice(1))
  return project === null || places.project === null ? null : port.read(join(places.project, project))
}

/**
 * Asks this machine. Commands run in the root directory and see PATH and HOME alone, so that neither a file of a project
 * nor a variable set for one has a say; `path` is a PATH without directories that an agent can write.
 */
export function machineRegistries(home: string, path: string): RegistryPort {
  return {
    run: (command) => {
      const [program, ...args] = command
      try {
        const env = { PATH: path, HOME: home, LC_ALL: 'C' }
        return execFileSync(program!, args, {
          cwd: '/',
          env,
          encoding: 'utf8',
          stdio: 'pipe',
          timeout: ANSWER_WITHIN_MS,
        })
      } catch {
        return null
      }
    },
    read: (file) => {
      return attempt(() => readFileSync(file, 'utf8'), null)
    },
  }
}

const ANSWER_WITHIN_MS = 15_000

// Credentials in a URL stay where they are: neither the hash of a manifest nor a sandbox needs them.
function registryFact(text: string, subdomains: boolean, variable: string | null): RegistryFact | null {
  const spelled = text.replace(/^sparse\+/, '').replace(/^["'<]+|[>"',|]+$/g, '')
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(spelled) ? spelled : `https://${spelled}`)
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return null
    url.username = ''
    url.password = ''
    url.search = ''
    url.hash = ''
    const host = url.port === '' ? url.hostname : `${url.hostname}:${url.port}`
    return host.includes('.') || host.startsWith('localhost') ? { url: url.href, host, subdomains, variable } : null
  } catch {
    return null
  }
}
