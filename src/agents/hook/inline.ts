/** Skills and commands of a project that run programs outside the sandbox when called. */

import { relative } from 'node:path'
import { type InlineCommands, inlineCommandFiles } from '../../custom/inline-commands.ts'
import { denial } from '../../policy/decision.ts'
import type { Machine } from '../../system/machine.ts'
import type { ReadCall } from './judge.ts'

/** A host's setting for such commands: off, on, or off against a project that changes its person's choice. */
export type InlineSetting =
  | { readonly kind: 'withheld' }
  | { readonly kind: 'open' }
  | { readonly kind: 'overridden'; readonly file: string; readonly line: string }

export interface InlineCall {
  readonly names: readonly string[]
  readonly root: string
  readonly folders: readonly string[]
  /** Null for a host without such a setting. */
  readonly setting: InlineSetting | null
}

export function inlineDenials({ names, root, folders, setting }: InlineCall, machine: Machine): readonly ReadCall[] {
  const [name] = names
  if (name === undefined) return []
  if (setting?.kind === 'overridden') return [overriddenSetting(name, setting)]
  // A host with the setting finds skills in every folder it visits.
  const files = inlineCommandFiles(root, machine, setting?.kind === 'open' ? 'anywhere' : folders)
  return files
    .filter((file) => file.status !== 'ok' && names.some((one) => isCalled(file, one)))
    .map((file) => inlineDenial(file, root))
}

/** Skills and agents whose headers name programs. Matched without names: workflows or settings can start them. */
export function armedDenials(root: string, folders: readonly string[], machine: Machine): readonly ReadCall[] {
  if (folders.length === 0) return []
  return inlineCommandFiles(root, machine, folders)
    .filter(({ isArmed, status }) => isArmed && status !== 'ok')
    .map((file) => inlineDenial(file, root))
}

/** The words of a person that call a skill or command: `/name words`. */
export function typedCommand(said: string): readonly string[] {
  const name = /^\s*\/([^\s/]+)(?=\s|$)/.exec(said)?.[1]
  return name === undefined ? [] : [name]
}

function isCalled({ names }: InlineCommands, called: string): boolean {
  const forms = (name: string): readonly string[] => {
    const parts = name.toLowerCase().split(':')
    return parts.map((_, at) => parts.slice(at).join(':'))
  }
  const own = names?.flatMap(forms)
  return own === undefined || forms(called).some((form) => own.includes(form))
}

export function inlineDenial({ names, path, commands, status, unread }: InlineCommands, root: string): ReadCall {
  const name = names?.[0] ?? relative(root, path)
  const why = status === 'MISMATCH' ? 'has changed since they were approved' : 'they are not approved'
  return denied(
    name,
    unread === null
      ? `“${name}” runs commands by itself, outside the sandbox (${commands[0]}), and ${why}: ${path}.`
      : `${path} ${unread}, and a skill or command there could run anything by itself, outside the sandbox.`,
    unread === null
      ? `The user can read them (cordon skills) and approve them: cordon skills approve ${name}`
      : 'The user can move it away, or have the agent’s program run no such commands (in Claude Code: cordon install claude-code).',
  )
}

function overriddenSetting(name: string, { file, line }: InlineSetting & { readonly kind: 'overridden' }): ReadCall {
  return denied(
    name,
    `${file} contains ${line}, which overrides the user’s settings: skills and commands could run programs outside the sandbox.`,
    `The user can remove ${line} from ${file}.`,
  )
}

function denied(name: string, message: string, remedy: string): ReadCall {
  return {
    call: { kind: 'tool', tool: 'skill', input: { name } },
    facts: null,
    subject: name,
    labels: ['execute'],
    touches: { denied: denial(name, { code: 'unapproved-script', message, remedy }) },
  }
}
