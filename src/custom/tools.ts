/** Custom tools in a session (T2, T3): trusted bytes in a sandbox that enforces labels. */

import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { entitleOwn } from '../confine/entitlement.ts'
import { containsHost, parseHostPattern } from '../hosts/pattern.ts'
import { tldtsSuffixes } from '../hosts/suffix.ts'
import type { CustomToolSettings } from '../manifest/schema/settings.ts'
import { parseToml } from '../manifest/toml/toml.ts'
import { plainNode } from '../manifest/toml/tree.ts'
import type { HostRule } from '../policy/policy.ts'
import { builtInTools as builtInNames } from '../policy/tool-kind.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { outcomeNotes } from '../run/outcome-notes.ts'
import type { SessionCommands } from '../run/port.ts'
import type { RunOutcome } from '../run/runner.ts'
import { errorCode, Fault, messageOf } from '../system/fault.ts'
import type { Machine } from '../system/machine.ts'
import { isAlive } from '../system/processes.ts'
import { makeDirectories, openOwnDirectory } from '../system/state.ts'
import {
  type CustomTool,
  type Discovery,
  discoverTools,
  revokeChanged,
  type ToolPlaces,
  toolForCall,
  toolTrust,
} from '../tools/custom/discover.ts'
import type { CustomToolManifest } from '../tools/custom/tool-manifest.ts'
import { createTrustStore, type TrustStore } from '../tools/custom/trust.ts'
import { toolHints, touchesNothing } from '../tools/define-tool.ts'
import type { Tool, ToolContext, ToolInput, ToolOutput } from '../tools/tool.ts'

interface StagedScript {
  /** A private, read-only, executable copy for the sandbox. */
  readonly path: string
  dispose(): void
}

const STALE_MS = 24 * 3600 * 1000

/** Copies a script into its own directory in the state directory. */
export function stageScript(stateDir: string, name: string, script: Uint8Array): StagedScript {
  const base = join(openOwnDirectory(stateDir), 'run')
  const directory = join(base, `${process.pid}-${randomBytes(8).toString('hex')}`)
  const path = join(directory, name)
  const dispose = (): void => rmSync(directory, { recursive: true, force: true })
  try {
    makeDirectories(directory)
    const fd = openSync(path, 'wx', 0o500)
    try {
      writeFileSync(fd, script)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    chmodSync(path, 0o500)
  } catch (error) {
    dispose()
    throw new Fault('tool-staging', `the script ${name} cannot be prepared (${errorCode(error) ?? 'unknown'})`, {
      cause: error,
    })
  }
  return { path, dispose }
}

/** Removes copies of killed processes. */
export function reapStaged(stateDir: string, now: number): void {
  const base = join(stateDir, 'run')
  let names: string[]
  try {
    names = readdirSync(base)
  } catch {
    return
  }
  for (const name of names) {
    const path = join(base, name)
    const pid = Number.parseInt(name, 10)
    try {
      if (!isAlive(pid) || now - statSync(path).mtimeMs > STALE_MS) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another process was faster.
    }
  }
}

/** Facts about a custom tool for the decision and the record. */
export interface CustomFacts {
  readonly requireConfirmation: boolean
  readonly output: CustomToolManifest['output']
}

/** A call in a session; every command is recorded. */
export interface SessionContext extends ToolContext {
  readonly heard: (outcome: RunOutcome) => void
}

export type SessionTool = Omit<Tool, 'run'> & {
  readonly custom?: CustomFacts
  readonly run: (input: ToolInput, context: SessionContext) => Promise<ToolOutput>
}

/** The session as seen by programs that Cordon starts. */
export interface CustomToolHost {
  readonly commands: Pick<SessionCommands, 'confine' | 'run'>
  /** The policy in force. */
  readonly loaded: () => LoadedPolicy
}

/** The custom tools found at start-up. */
export interface CustomTools {
  readonly discovery: Discovery
  readonly store: TrustStore
  readonly places: ToolPlaces
  /** Notes for the person: tools that lost trust, are untrusted, or do not load. */
  readonly notes: readonly string[]
  forSession(host: CustomToolHost): readonly SessionTool[]
}

/** Finds the tools. A tool whose bytes changed loses its trust, and that is saved. */
export function openCustomTools(
  loaded: LoadedPolicy,
  machine: Machine,
  now: () => Date,
  ofProgram: readonly Tool[] = [],
): CustomTools {
  const places = toolPlaces(loaded, machine, ofProgram)
  const store = createTrustStore(machine.stateDir)
  reapStaged(machine.stateDir, now().getTime())
  const discovery = discoverTools(places)
  const revoked = revokeChanged(discovery.tools, store, now().toISOString())
  const enabled = ({ manifest }: CustomTool) => loaded.session.tools.get(manifest.name)?.enabled.value ?? true
  const known = toolTrust(discovery.tools, store)
  const trusted = known.filter(({ status, tool }) => status === 'ok' && enabled(tool)).map(({ tool }) => tool)
  return {
    discovery,
    store,
    places,
    notes: [
      ...revoked.map(({ manifest }) => `the tool ${manifest.name} has changed and is no longer trusted`),
      ...known
        .filter(({ status, tool }) => status === 'no stored hash' && enabled(tool))
        .map(
          ({ tool }) =>
            `the tool ${tool.manifest.name} is not trusted and does not run (cordon tools trust ${tool.manifest.name})`,
        ),
      ...discovery.failed.map(
        ({ path, problems }) => `${path} is not a valid tool: ${problems.map(sentenceOf).join('; ')}`,
      ),
    ],
    forSession: (host) => trusted.map((tool) => sessionTool(tool, { host, machine, store, places, now })),
  }
}

/** Where custom tools are found, and names they may not use. */
export function toolPlaces(loaded: LoadedPolicy, machine: Machine, ofProgram: readonly Tool[] = []): ToolPlaces {
  return {
    root: loaded.root,
    configDir: machine.configDir,
    reserved: new Set([...builtInNames, ...ofProgram.map(({ name }) => name)]),
    parseToml: plainToml,
  }
}

interface Surroundings {
  readonly host: CustomToolHost
  readonly machine: Machine
  readonly store: TrustStore
  readonly places: ToolPlaces
  readonly now: () => Date
}

function sessionTool(known: CustomTool, around: Surroundings): SessionTool {
  const { manifest } = known
  const settings = around.host.loaded().session.tools.get(manifest.name) ?? null
  return {
    name: manifest.name,
    description: manifest.description,
    input: manifest.input,
    labels: manifest.labels,
    hints: toolHints.runs,
    actions: touchesNothing,
    custom: {
      // Settings can add a confirmation but not remove the tool's own.
      requireConfirmation: manifest.requireConfirmation || settings?.requireConfirmation.value === true,
      output: manifest.output,
    },
    run: (input, context) => runTool(known, settings, input, context, around),
  }
}

async function runTool(
  known: CustomTool,
  settings: CustomToolSettings | null,
  input: ToolInput,
  context: SessionContext,
  { host, machine, store, places, now }: Surroundings,
): Promise<ToolOutput> {
  const { name } = known.manifest
  const found = toolForCall(known, places, store, now().toISOString())
  // The decision was about the manifest as found; other bytes were not decided, even if trusted.
  if (found?.status !== 'ok' || found.tool.hash !== known.hash) {
    throw new Fault('tool-untrusted', `the tool ${name} is not what was trusted: its manifest or script has changed`, {
      remedy: `The user can read it and run: cordon tools trust ${name}; then open a new session.`,
    })
  }
  const { manifest, script } = found.tool
  const staged = stageScript(machine.stateDir, manifest.script, script)
  try {
    const directory = dirname(staged.path)
    const { labels } = manifest
    const timeout = Math.min(manifest.timeout, settings?.timeout ?? manifest.timeout) * 1000
    const entitlement = entitleOwn(name, {
      envVars: manifest.env.filter((name) => settings?.envVars?.includes(name) ?? true),
      hosts: labels.includes('network') ? hostsOf(manifest, settings) : [],
      suffixes: tldtsSuffixes,
    })
    const cwd = labels.includes('filesystem') ? context.cwd : '/tmp'
    const confinement = host.commands.confine({ command: entitlement, cwd }, [
      {
        kind: 'labels',
        labels: {
          script: directory,
          filesystem: labels.includes('filesystem'),
          execute: labels.includes('execute'),
          outputBytes: Math.min(manifest.maxOutputBytes, settings?.maxOutputBytes ?? manifest.maxOutputBytes),
        },
      },
      { kind: 'time', ms: Math.min(timeout, context.limits.timeoutMs), by: `the timeout of ${name}` },
    ])
    const argv = startsItself(script) ? [staged.path] : ['/bin/sh', staged.path]
    const io = { stdin: `${JSON.stringify(input)}\n`, stdout: 'capture', stderr: 'capture' } as const
    const outcome = await host.commands.run(confinement, argv, { ...io, signal: context.signal })
    context.heard(outcome)
    context.signal.throwIfAborted()
    return outputOf(manifest, outcome)
  } finally {
    staged.dispose()
  }
}

/** True for `#!` and executables; anything else is a script for sh. */
function startsItself(script: Uint8Array): boolean {
  const start = Buffer.from(script.subarray(0, 4)).toString('latin1')
  return start.startsWith('#!') || start === '\x7fELF'
}

function hostsOf(manifest: CustomToolManifest, settings: CustomToolSettings | null): HostRule[] {
  const own = manifest.domains.flatMap((text): HostRule[] => {
    const parsed = parseHostPattern(text, tldtsSuffixes)
    return 'pattern' in parsed ? [{ pattern: parsed.pattern, rule: 'domains', source: 'tool manifest' }] : []
  })
  const narrowed = settings?.domains ?? null
  if (narrowed === null) return own
  // Both must contain a host, so the narrower pattern of two remains.
  return own.flatMap((rule) =>
    narrowed.flatMap((other) => {
      if (containsHost(rule.pattern, other.pattern)) return [other]
      return containsHost(other.pattern, rule.pattern) ? [{ ...other, pattern: rule.pattern }] : []
    }),
  )
}

function outputOf(manifest: CustomToolManifest, outcome: RunOutcome): ToolOutput {
  const { stdout, stderr, exitCode, timedOut } = outcome.result
  const text = stdout?.bytes.toString('utf8') ?? ''
  const errors = stderr?.bytes.toString('utf8') ?? ''
  const parsed = timedOut || exitCode !== 0 ? { data: null } : parseOutput(manifest.output, text)
  const notes = [
    ...(timedOut || exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...('problem' in parsed ? [parsed.problem] : []),
    ...(stdout?.truncated ? ['output was cut'] : []),
    ...outcomeNotes(outcome),
  ]
  const shown = [text, errors === '' ? '' : `[stderr]\n${errors}`, ...new Set(notes.map((note) => `[${note}]`))]
  return {
    text: shown.filter((part) => part !== '').join('\n') || '[no output]',
    ...('data' in parsed && parsed.data !== null && { data: parsed.data }),
    exitCode,
    ...((timedOut || exitCode !== 0 || 'problem' in parsed) && { isError: true }),
    ...(stdout?.truncated && {
      truncated: { shown: stdout.bytes.length, total: stdout.total, unit: 'bytes', remedy: 'ask the tool for less' },
    }),
  }
}

function parseOutput(
  output: CustomToolManifest['output'],
  text: string,
): { readonly data: unknown } | { readonly problem: string } {
  if (output === 'text') return { data: text }
  if (output === 'lines') return { data: text.replace(/\n$/, '').split('\n') }
  try {
    return { data: JSON.parse(text) }
  } catch (error) {
    return { problem: `the tool declares JSON, but its output is not JSON: ${messageOf(error)}` }
  }
}

/** Converts TOML to plain values. */
function plainToml(text: string): unknown {
  const { root, problems } = parseToml(text)
  if (problems.length > 0) throw new Error(`is not TOML: ${problems[0]!.message}`)
  return plainNode(root)
}

function sentenceOf({ key, message }: { readonly key: string; readonly message: string }): string {
  return key === '' ? message : `${key} ${message}`
}
