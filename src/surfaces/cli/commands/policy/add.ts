/** `cordon add`: adds a host, place, command, port or tool to the manifest and signs it. */

import { requireGrantable, typedPlaces } from '../../../../one-off/grants.ts'
import {
  type Addition,
  type AdditionPlaces,
  commandAddition,
  hostAddition,
  pathAddition,
  portAddition,
  toolAddition,
} from '../../../../project/additions.ts'
import { amendProject } from '../../../../project/amend.ts'
import { requireProject } from '../../../../project/place/root.ts'
import { withRegistries } from '../../../../project/registries/hosts.ts'
import { judgeTrust, signProject } from '../../../../project/sign/trust.ts'
import { Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { writeMade } from '../../../../system/made-file.ts'
import { paint, visible } from '../../../terminal/terminal.ts'
import { oneOf } from '../../arguments.ts'
import { confirm } from '../../confirm.ts'
import { typedPort } from '../../one-off-flags.ts'
import { openWritten } from '../../open-policy.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [given, ...values] = args.words
  const kind = oneOf(['host', 'read', 'write', 'command', 'port', 'tool'], given, 'say what to add')
  if (values.length === 0) throw new UsageError(`say which: cordon add ${kind} ${EXAMPLES[kind]}`)
  const opened = await openWritten(args, terminal)
  if (!opened) return EXIT.usage
  const { machine } = opened
  const report = judgeTrust(opened.loaded, machine, machineFiles)
  if (report && report.trust.status !== 'signed')
    throw new Fault('unsigned-manifest', `${opened.loaded.manifestPath}is not signed in its current form`, {
      remedy: 'Read it and run cordon sign first: changes by others are not signed with it.',
    })
  // Sign the manifest with its registries.
  let loaded: AdditionPlaces['loaded'] = report ? withRegistries(opened.loaded, report.registries) : opened.loaded
  const places = { loaded, machine, files: machineFiles }
  const additions = values.map((value) => ({ value, ...additionOf(kind, value, places) }))
  const open = additions.filter(({ grants }) => grants.length > 0)
  if (!args.flags.json) {
    for (const { says, warning, grants } of additions) {
      const head = grants.length > 0 ? paint(terminal, 'yellow', '+ opens ') : paint(terminal, 'dim', '  already')
      terminal.out(`${head} ${visible(says)}\n`)
      if (warning) terminal.out(`${paint(terminal, 'red', '!')}        ${visible(warning)}\n`)
    }
  }
  const answer = (added: boolean): void => {
    const list = additions.map(({ value, says, warning, grants }) => ({ value, says, warning, new: grants.length > 0 }))
    if (args.flags.json) terminal.out(`${JSON.stringify({ added, additions: list })}\n`)
  }
  if (open.length === 0) {
    answer(false)
    return EXIT.ok
  }
  if (!args.flags.yes && !(await confirm(terminal, 'Add it and sign? [y/N] '))) {
    const why = process.stdin.isTTY ? '' : ': there is no terminal to ask on (--yes does not ask)'
    answer(false)
    terminal.err(`nothing was added${why}\n`)
    return EXIT.failed
  }
  if (!report) {
    // The new manifest must not loosen the built-in rules, so the project root must be valid.
    requireProject(loaded.root, machine)
    writeMade(loaded.manifestPath, 'schema_version = 1\n', { flag: 'wx', mode: 0o644 })
    const started = await openWritten(args, terminal)
    if (!started) return EXIT.usage
    signProject(started.loaded, machine, new Date())
    loaded = started.loaded
  }
  for (const { grants } of open) {
    for (const grant of grants) {
      const remembered = { tool: 'bash', grant, verdict: 'allow', scope: 'always', seconds: null } as const
      const amended = await amendProject(loaded, remembered, machine, machineFiles)
      if ('why' in amended)
        throw new Fault('manifest', `${grant.kind} ${grant.value} was not added: ${amended.why}`, {
          remedy: `Write it into ${loaded.manifestPath} by hand, and run cordon sign.`,
        })
      loaded = amended.loaded
    }
  }
  answer(true)
  terminal.err(`${paint(terminal, 'green', 'added and signed')} ${visible(loaded.manifestPath)}\n`)
  return EXIT.ok
}

const EXAMPLES = {
  host: 'api.example.org',
  read: '~/code/lib',
  write: '../out',
  command: '"npm test:*"',
  port: '5173',
  tool: 'mcp__issues__list',
} as const

function additionOf(kind: keyof typeof EXAMPLES, value: string, places: AdditionPlaces): Addition {
  switch (kind) {
    case 'host': {
      const addition = hostAddition(value, places)
      if (addition) return addition
      throw new UsageError(`a host is a name such as api.example.org or db.example.org:5432, not “${value}”`)
    }
    case 'command':
      return commandAddition(value, places)
    case 'tool': {
      const addition = toolAddition(value, places)
      if (addition) return addition
      throw new UsageError(`a tool is mcp__SERVER__TOOL, with conditions such as repo=acme/* behind it, not “${value}”`)
    }
    case 'port':
      return portAddition(typedPort(value, 'port'), places)
    default: {
      const [path, target] = typedPlaces(value, places.machine, machineFiles)
      if (target !== undefined) requireGrantable(target, kind, places.loaded, places.machine)
      return pathAddition(path!, kind, places)
    }
  }
}
