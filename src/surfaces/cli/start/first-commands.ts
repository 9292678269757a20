/** The commands that must start fast, with what their rows share with others. */

import type { CommandRow, FlagRow } from '../usage.ts'

/** A flag by its usage: `--quiet`, `-q --quiet`, `--out FILE`, or `--read PATH…` if it may be repeated. */
export function flag(usage: string, about: string): FlagRow {
  const [, short, name = '', value, repeats] = /^(?:(-\w) )?(--[\w-]+)(?: ([^…]+)(…)?)?$/.exec(usage)!
  return { name, ...(short && { short }), ...(value && { value }), ...(repeats && { repeats: true }), about }
}

export const json: FlagRow = flag('--json', 'Print JSON for programs.')
export const manifest: FlagRow = flag('--manifest FILE', 'Use this manifest instead of the project’s.')
export const root: FlagRow = flag('--root DIR', 'Judge against this project root.')

const plan: FlagRow = flag('--plan', 'Print what the sandbox would be, and do not run.')
const planJson = flag('--json', 'With --plan: print it as JSON.')
const observe = flag('--observe', 'Ask nothing: the sandbox blocks what no grant names, and the record lists it.')

export const quiet: FlagRow = flag(
  '-q --quiet',
  'Print no messages and ask nothing; the command’s output and exit code stay.',
)
export const timeout: FlagRow = flag('--timeout SECONDS', 'Stop it after this time.')
const interactive = flag('-i --interactive', 'At a terminal; without a command, open a shell.')

export const oneOff: readonly FlagRow[] = [
  flag('--read PATH…', 'Also show it this file or folder, this time.'),
  flag('--write PATH…', 'Also let it change this file or folder, this time.'),
  flag('--allow-host HOST…', 'Also let it reach this host, this time; several with commas.'),
  flag('--port N…', 'Also open the port it serves on to this machine; several with commas.'),
  flag('--env NAME…', 'Also pass this variable on; several with commas.'),
  flag('--tool BUNDLE…', 'Also give it what this bundle gives; several with commas.'),
]

const RUN_DETAILS = `Grants given with a run apply to that run only. Denials, secrets and protected files stay as they are; cordon add puts a grant
into the manifest. At a terminal it asks where something is missing.
The command’s exit code passes through; one that a signal ends, ends cordon by the same signal (128+n to a shell); 125 is
Cordon’s fault, 126 not executable, 127 not found.`

const rows: readonly CommandRow[] = [
  {
    name: 'check',
    load: () => import('../commands/policy/check.ts'),
    summary: 'Decide a call without running it.',
    usage:
      "cordon check [--json] [--manifest FILE] -- 'COMMAND'\n  cordon check --tool TOOL --input JSON\n  cordon check --batch < calls.jsonl",
    flags: [
      json,
      manifest,
      root,
      flag('--tool TOOL', 'A tool other than bash, with --input.'),
      flag('--input JSON', 'The tool’s input, such as {"path":"src/a.ts"}.'),
      flag('--batch', 'One JSON object a line on stdin: {id, tool, input, manifest?, root?, cwd?}.'),
    ],
    details: 'Exit code: 0 allow, 3 ask, 4 deny, 2 usage or load error.',
  },
  {
    name: 'explain',
    load: () => import('../commands/policy/explain.ts'),
    summary: 'Show how a call is decided: every part, every rule, every step.',
    usage: "cordon explain [--json] [--manifest FILE] -- 'COMMAND'\n  cordon explain --tool TOOL --input JSON",
    flags: [
      json,
      manifest,
      root,
      flag('--tool TOOL', 'A tool other than bash, with --input.'),
      flag('--input JSON', 'The tool’s input.'),
    ],
    details: 'The same decision as `cordon check`, drawn as a tree. Exit code as in `cordon check`.',
  },
  {
    name: 'run',
    load: () => import('../commands/run/run.ts'),
    summary: 'Run a command in the sandbox, with the manifest’s grants.',
    usage: 'cordon run [--read PATH] [--allow-host HOST] … [--] CMD ARG…\n  cordon run -i',
    flags: [manifest, root, ...oneOff, plan, planJson, observe, quiet, timeout, interactive],
    details: RUN_DETAILS,
  },
  {
    name: 'hook',
    load: () => import('../commands/machine/hook.ts'),
    verbatim: true,
    summary: 'Answer the hook that cordon install placed in an agent.',
    usage: 'cordon hook {agents} [--root DIR] < call.json',
    flags: [
      flag('--root DIR', 'The project that the hook was installed for.'),
      flag('--key KEY', 'For `cordon hook run`: whose command it is, as its hook wrote it down.'),
      flag('--host NAME', 'For `cordon hook run`: the host whose command it is.'),
      flag('--session ID', 'For `cordon hook run`: the host’s session.'),
      flag('--in DIR', 'For `cordon hook run`: where the command starts, if not here.'),
      flag('--undo', 'For `cordon hook run`: no one was asked, because undo covers it; without undo it does not run.'),
    ],
    details:
      'Hosts call it; cordon install puts it in place. It answers in the host’s own form, and blocks with exit code 2 when it\ncannot judge a call.',
  },
]

const WITHOUT_JSON: ReadonlySet<string> = new Set(['shell', 'hook', 'mcp', 'acp'])

const wrapped: FlagRow = { name: '--json', about: 'Print what it printed and its exit code as JSON.', wraps: true }

/** The row with `--json`. */
export function withJson(row: CommandRow): CommandRow {
  return WITHOUT_JSON.has(row.name) || row.flags.some(({ name }) => name === '--json')
    ? row
    : { ...row, flags: [...row.flags, wrapped] }
}

/** The row of a command that must start fast, or null. */
export function firstCommand(name: string): CommandRow | null {
  const row = rows.find((one) => one.name === name)
  return row ? withJson(row) : null
}
