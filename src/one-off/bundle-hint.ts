/** Names the bundle that a failed command needed. */

import { basename } from 'node:path'
import { SandboxFault } from '../sandbox/backend.ts'
import { builtInBundle, builtInBundles } from '../sandbox/bundles/built-in.ts'
import { type Bundle, type BundleChoice, selectBundles } from '../sandbox/bundles/bundle.ts'
import { shellText, spokenWords } from './outside-words.ts'

/** Subcommands with which package managers download. */
const FETCHES =
  /^(?:i|install|ci|add|update|upgrade|fetch|get|sync|download|restore|require|view|info|show|search|publish|outdated|audit|clone|pull|push|ls-remote)$/

export interface Outside {
  readonly path: string
  readonly exists: (path: string) => boolean
  /** What the sandbox hides of it, with a remedy; null if nothing. */
  readonly hidden: string | null
}

/** The fault of a command that was not found, with a remedy. */
export function explainMissing(
  error: unknown,
  command: readonly string[],
  chosen: readonly BundleChoice[],
  outside: Outside,
): unknown {
  if (!(error instanceof SandboxFault) || error.code !== 'command-not-found') return error
  const { code, message } = error
  const { hidden } = outside
  // A bundle shows the program in PATH; one that is named by its path lies elsewhere.
  const elsewhere = command[0]?.includes('/') ? hidden : null
  const remedy = oneWord(command) ?? absent(command, outside) ?? elsewhere ?? hint(command, chosen) ?? hidden
  return remedy === null ? error : new SandboxFault(code, message, { cause: error, remedy })
}

/** `cordon run -- "ls -la"`: a name with spaces should be several words. */
function oneWord([program = '', ...rest]: readonly string[]): string | null {
  if (rest.length > 0 || !/\S\s+\S/.test(program)) return null
  const plain = /[;|&<>$*?(){}`"'\\]/.test(program) ? `sh -c ${quoted(program)}` : program.trim()
  return `It is one word with blanks in it. Without the quotes: cordon run -- ${plain}`
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** It does not exist outside either. */
function absent([program = '']: readonly string[], { path, exists }: Outside): string | null {
  if (program.includes('/')) return exists(program) ? null : 'It does not exist outside the sandbox either.'
  const found = path.split(':').some((folder) => folder.startsWith('/') && exists(`${folder}/${program}`))
  return found ? null : 'It is not installed: nothing of that name is in your PATH. Install it, or check the spelling.'
}

/** Why a failed command had no network although a bundle would have given some; null otherwise. */
export function explainOffline(command: readonly string[], chosen: readonly BundleChoice[]): string | null {
  const fetches = spokenWords(command).some((word) => FETCHES.test(word))
  const remedy = fetches ? (behindShell(command) ?? asModule(command, chosen) ?? hint(command, chosen)) : null
  return remedy === null ? null : `it had no network. ${remedy}`
}

/** Bundles never apply behind a shell, which could start anything. */
function behindShell(command: readonly string[]): string | null {
  const text = shellText(command)
  if (text === null) return null
  const words = spokenWords(command).slice(1)
  const bundle = builtInBundles().find(({ programs }) => programs.some((program) => words.includes(program)))
  if (!bundle) return null
  const plain = /[;|&<>$*?(){}`"'\\]/.test(text) ? `cordon run --tool ${bundle.tool} …` : `cordon run -- ${text.trim()}`
  return `A shell gets no bundle, so ${bundle.tool} in it has neither its files nor its hosts: ${plain}`
}

/** `python -m pip` is Python to the bundles. */
function asModule([program, option, module]: readonly string[], chosen: readonly BundleChoice[]): string | null {
  const bundle = option === '-m' ? chosen.find(({ tool }) => tool === module) : undefined
  return bundle
    ? `The bundle "${bundle.tool}" is for ${bundle.tool} itself: call that instead of ${program} -m ${module}.`
    : null
}

function hint(command: readonly string[], chosen: readonly BundleChoice[]): string | null {
  const [program = ''] = command
  if (selectBundles(chosen, command, builtInBundle).length > 0) return null
  const bundle = builtInBundles().find(({ programs }) => programs.includes(basename(program)))
  if (!bundle) return null
  return chosen.some(({ tool }) => tool === bundle.tool) ? spelledOtherwise(program, bundle) : unnamed(bundle)
}

function unnamed({ tool }: Bundle): string {
  return `Add "${tool}" to command_tools under [sandbox.os] in cordon.toml: it gives ${tool} its files and hosts (cordon bundles ${tool}).`
}

/** An agent can write files in the project, so a person has to name the program. */
function spelledOtherwise(program: string, { tool }: Bundle): string {
  return `The bundle "${tool}" is for the one in your PATH. For this one too, write { tool = "${tool}", wrappers = [${JSON.stringify(program)}] } in command_tools under [sandbox.os].`
}
