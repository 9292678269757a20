/** Names the bundle that a command went without: a tool that is not there, or reaches nothing, looks broken to its user. */

import { basename } from 'node:path'
import { type Bundle, type BundleChoice, selectBundles } from '../../sandbox/bundles/bundle.ts'
import { builtInBundles } from '../../sandbox/bundles/bundles.generated.ts'
import { SandboxFault } from '../../sandbox/sandbox-fault.ts'

/** What package managers call fetching. */
const FETCHES = /^(?:i|install|ci|add|update|upgrade|fetch|get|sync|download|restore|require)$/

/** The fault of a command that was not found, with the bundle that would have shown it. */
export function explainMissing(error: unknown, command: readonly string[], chosen: readonly BundleChoice[]): unknown {
  if (!(error instanceof SandboxFault) || error.code !== 'command-not-found') return error
  const { code, message } = error
  const remedy = hint(command, chosen)
  return remedy === null ? error : new SandboxFault(code, message, { cause: error, remedy })
}

/** Why a command that failed had no network, where a bundle would have given it some; null when that is not it. */
export function explainOffline(command: readonly string[], chosen: readonly BundleChoice[]): string | null {
  const fetches = command.some((word) => FETCHES.test(word))
  const remedy = fetches ? (asModule(command, chosen) ?? hint(command, chosen)) : null
  return remedy === null ? null : `it had no network. ${remedy}`
}

/** `python -m pip` is Python to the bundles. */
function asModule([program, option, module]: readonly string[], chosen: readonly BundleChoice[]): string | null {
  const bundle = option === '-m' ? chosen.find(({ tool }) => tool === module) : undefined
  return bundle
    ? `The bundle "${bundle.tool}" is for ${bundle.tool} itself: call that instead of ${program} -m ${module}.`
    : null
}

function hint(command: readonly string[], chosen: readonly BundleChoice[]): string | null {
  const bundles = builtInBundles()
  const [program = ''] = command
  if (selectBundles(chosen, command, bundles).length > 0) return null
  const bundle = bundles.find(({ programs }) => programs.includes(basename(program)))
  if (!bundle) return null
  return chosen.some(({ tool }) => tool === bundle.tool) ? spelledOtherwise(program, bundle) : unnamed(bundle)
}

function unnamed({ tool }: Bundle): string {
  return `Add "${tool}" to command_tools under [sandbox.os] in cordon.toml: it gives ${tool} its files and hosts (cordon bundles ${tool}).`
}

/** What lies in the project can be written by the agent, so a person has to name it. */
function spelledOtherwise(program: string, { tool }: Bundle): string {
  return `The bundle "${tool}" is for the one in your PATH. For this one too, write { tool = "${tool}", wrappers = [${JSON.stringify(program)}] } in command_tools under [sandbox.os].`
}
