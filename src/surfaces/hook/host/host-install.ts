/** What a host says of itself so that a hook can be put into it, taken out, and seen to run. */

import type { Json } from './host.ts'
import type { FileChange, InstallPlace } from './install-place.ts'
import type { TrustEntry } from './installed-trust.ts'
import type { ScriptedCall } from './scripted-model.ts'

/** Reads a file; null when there is none. */
export type Read = (path: string) => string | null

/** The command lines before a call and after it. */
export interface HookCommands {
  readonly call: string
  readonly result: string
}

/** A file that holds hooks, or is one. */
export interface HookFile {
  readonly file: (place: InstallPlace) => string
  /** The text with our hooks in it, or without them (`commands` null); `original` is what stood there before ours. */
  readonly edit: Edit
}

export type Edit = (
  text: string | null,
  commands: HookCommands | null,
  place: InstallPlace,
  original: string | null,
) => string | null

export interface HostInstall extends HookFile {
  /** The program whose hook it is. */
  readonly program: string
  /** How a project's own hook can be missed by the host: the user's settings are where ours goes unless it is said. */
  readonly missed: string
  /** A second file: for results where a host keeps each hook in one, or for what its own sandbox leaves alone. */
  readonly second?: HookFile
  /** The files are programs. */
  readonly isProgram?: true
  /** What in its settings, of any scope, keeps our hook from running, although it is there; absent: nothing that is known. */
  readonly switchedOff?: (place: InstallPlace, settings: (file: string) => Json) => SwitchedOff | null
  /** Flags and variables with which a session of it has no hooks. */
  readonly withoutHooks?: { readonly flags: readonly string[]; readonly variables: readonly string[] }
  /** Where hooks of others before a call are in Claude Code's form; absent where of two hooks each is heard. */
  readonly others?: { readonly event: string; readonly files: (place: InstallPlace) => readonly string[] }
  readonly test: CommandTest | PluginTest
  /** What the program itself says of the hook, where it can be asked. */
  readonly asked?: (program: string, place: InstallPlace) => Promise<SelfTest>
  /** How it is started with a scripted model; null where it talks to its maker's alone. */
  readonly rehearsal: Rehearsed | null
  /** Further files that an installation changes. */
  readonly also?: (place: InstallPlace, read: Read) => readonly FileChange[]
  /** What of the changes is not a hook, and is remembered to be taken back. */
  readonly remembered?: (changes: readonly FileChange[], place: InstallPlace) => readonly TrustEntry[]
  /** What it wants written down once the hook is there; each step is written before the next is asked for. */
  readonly trust?: (place: InstallPlace, program: string | null, read: Read) => AsyncIterable<TrustStep>
  /** By what a project has the host run programs outside every hook once it is trusted: keys of a file of settings, a folder, which ends in `/`, or a file in every folder of one (`*`). */
  readonly brings?: Readonly<Record<string, readonly string[]>>
  /** What the person has to know of an installation. */
  readonly note?: string
}

/** Why the host does not run the hook, and what to do. */
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
  /** What was expected and what came, a sentence. */
  readonly detail: string
}

/** Inputs for the installed command lines. */
export interface CommandTest {
  readonly call: (root: string, command: string) => object
  readonly result: (root: string, text: string) => object
  /** What its denial of a command holds. */
  readonly denial: string
  readonly env?: (root: string) => Readonly<Record<string, string>>
  /** A hook of the user learns its project from what a test has not, and has to block. */
  readonly blocksUser?: true
}

/** A script that loads the hook, a plugin of ours: it prints `blocked: ` and the reason, and anything else where it is not. */
export interface PluginTest {
  readonly script: (plugin: string, root: string, command: string, text: string) => string
}

/** How a program is told where its model is, and which call its model makes. */
export interface Rehearsed {
  readonly args: (port: number, folder: string) => readonly string[]
  readonly env: (port: number, folder: string) => Readonly<Record<string, string>>
  /** Files that say it, in a folder of their own. */
  readonly files?: (port: number) => Readonly<Record<string, string>>
  readonly call: (command: string, tools: readonly string[]) => ScriptedCall
}
