/** `cordon chat`: Cordon's own agent at the terminal, or one task of it for a script. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { thisMachine } from '../../../../system/machine.ts'
import type { ChatOptions } from '../../../chat/start.ts'
import { isTerminalDevice } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, parseArguments, textFlag } from '../../arguments.ts'
import { rootFlag } from '../../open-policy.ts'
import { type CommandContext, UsageError } from '../../usage.ts'

const FORMS = ['text', 'json', 'stream-json'] as const
const MODES = ['default', 'auto_accept', 'plan', 'auto', 'contained', 'custom'] as const

export async function run({ terminal, argv, row }: CommandContext): Promise<number> {
  const args = parseArguments(
    row,
    argv.map((word) => (word === '-p' ? '--prompt' : word)),
  )
  const options = optionsOf(args)
  const prompt = textFlag(args, 'prompt')
  if (prompt !== undefined) {
    const { runPrint } = await import('../../../chat/print.ts')
    const text = prompt === '-' ? readFileSync(0, 'utf8') : prompt
    const form = textFlag(args, 'output') ?? (args.flags.json ? 'json' : 'text')
    return runPrint(text, { ...options, output: oneOf(FORMS, form, '--output takes') }, terminal)
  }
  if (args.flags.json || args.flags.output) throw new UsageError('--json and --output go with -p')
  if (!isTerminalDevice(0) || !isTerminalDevice(1))
    throw new UsageError('there is no terminal; say cordon chat -p TEXT')
  if (!options.fromEditor && options.profile === undefined && !hasConfig()) {
    const { setUp } = await import('./login.ts')
    if (!(await setUp(null))) return 1
  }
  const { startChat } = await import('../../../chat/start.ts')
  return startChat(options)
}

function hasConfig(): boolean {
  return existsSync(join(thisMachine().configDir, 'config.json'))
}

function optionsOf(args: Arguments): ChatOptions {
  const { flags, words } = args
  if (words.length > 0 && !flags.resume)
    throw new UsageError(`a task is given with -p: cordon chat -p ${JSON.stringify(words[0])}`)
  const texts = { manifest: 'manifest', profile: 'provider', model: 'model', agent: 'agent' } as const
  const given = Object.entries(texts).flatMap(([key, flag]) => {
    const value = textFlag(args, flag)
    return value === undefined ? [] : [[key, value] as const]
  })
  const mode = textFlag(args, 'mode')
  return {
    root: rootFlag(args) ?? process.cwd(),
    fromEditor: flags.vscode === true,
    ...(flags.ui && { page: pageFor(rootFlag(args) ?? process.cwd()) }),
    ...Object.fromEntries(given),
    ...(mode !== undefined && { mode: oneOf(MODES, mode, '--mode takes') }),
    ...(flags.resume && { resume: words[0] ?? 'latest' }),
    ...numberFlag(args, 'max-turns', 'maxTurns', /^[1-9]\d{0,5}$/),
    ...numberFlag(args, 'budget', 'budget', /^\d{1,6}(?:\.\d{1,6})?$/),
  }
}

function pageFor(root: string): NonNullable<ChatOptions['page']> {
  return async (say) => {
    const { startPage } = await import('./ui.ts')
    return startPage({ root, port: 0, show: (text) => say(text) === undefined, warn: say })
  }
}

function numberFlag(args: Arguments, flag: string, key: 'maxTurns' | 'budget', form: RegExp): Partial<ChatOptions> {
  const text = textFlag(args, flag)
  if (text === undefined) return {}
  if (!form.test(text)) throw new UsageError(`--${flag} takes a number, not “${text}”`)
  return { [key]: Number(text) }
}
