/** How a hook is installed in a host, removed, and tested. */

import type { Json } from './host.ts'
import type { FileChange, InstallPlace } from './install-place.ts'
import type { TrustEntry } from './installed-trust.ts'
import type { ScriptedCall } from './scripted-model.ts'

export type Read = (path: string) => string | null

export interface HookCommands {
  readonly call: string
  readonly result: string
}

/** A file of hooks, or a hook itself. */
export interface HookFile {
  readonly file: (place: InstallPlace) => string
  /** The text with our hooks, or without them (`commands` null); `original` is the text before our first change. */
  readonly edit: Edit
}

export type Edit = (
  text: string | null,
  commands: HookCommands | null,
  place: InstallPlace,
  original: string | null,
) => string | null

export interface HostInstall extends HookFile {
  readonly program: string
  /** Why the host may ignore a project's hook; by default, hooks go to the user's settings. */
  readonly missed: string
  /** A second file: for result hooks, or for exemptions from the host's sandbox. */
  readonly second?: HookFile
  readonly isProgram?: true
  /** Settings of any scope that disable our hook; absent: none known. */
  readonly switchedOff?: (place: InstallPlace, settings: (file: string) => Json) => SwitchedOff | null
  /** Flags and variables that start a session without hooks. */
  readonly withoutHooks?: { readonly flags: readonly string[]; readonly variables: readonly string[] }
  /** Other hooks before a call, in Claude Code's form; absent if the host combines several answers. */
  readonly others?: { readonly event: string; readonly files: (place: InstallPlace) => readonly string[] }
  readonly test: CommandTest | PluginTest
  /** Asks the program itself about the hook, if possible. */
  readonly asked?: (program: string, place: InstallPlace) => Promise<SelfTest>
  /** How to start it with a scripted model; null if it only reaches its maker's. */
  readonly rehearsal: Rehearsed | null
  readonly also?: (place: InstallPlace, read: Read) => readonly FileChange[]
  /** Changes besides hooks, kept for removal. */
  readonly remembered?: (changes: readonly FileChange[], place: InstallPlace) => readonly TrustEntry[]
  /** Trust to write after the hook; each step is written before the next is requested. */
  readonly trust?: (place: InstallPlace, program: string | null, read: Read) => AsyncIterable<TrustStep>
  /**
   * Keys of a settings file, or files (a folder ends in `/`, `*` is any folder), by which a trusted project makes the
   * host run programs outside every hook.
   */
  readonly brings?: Readonly<Record<string, readonly string[]>>
  readonly note?: string
}

/** Why the host does not run the hook, with the remedy. */
export interface SwitchedOff {
  readonly detail: string
  readonly remedy: string
}

export interface TrustStep {
  readonly change: FileChange
  readonly entries: readonly TrustEntry[]
}

export interface SelfTest {
  readonly ok: boolean
  readonly detail: string
}

/** Inputs for the installed command lines. */
export interface CommandTest {
  readonly call: (root: string, command: string) => object
  readonly result: (root: string, text: string) => object
  /** Text in its denial of a command. */
  readonly denial: string
  readonly env?: (root: string) => Readonly<Record<string, string>>
  /** A user's hook must block the test, because the test names no project. */
  readonly blocksUser?: true
}

/** A script that loads our plugin and prints `blocked: ` with the reason, or other text if not blocked. */
export interface PluginTest {
  readonly script: (plugin: string, root: string, command: string, text: string) => string
}

/** How a program finds its model, and which call the model makes. */
export interface Rehearsed {
  readonly args: (port: number, folder: string) => readonly string[]
  readonly env: (port: number, folder: string) => Readonly<Record<string, string>>
  readonly files?: (port: number) => Readonly<Record<string, string>>
  readonly call: (command: string, tools: readonly string[]) => ScriptedCall
}
