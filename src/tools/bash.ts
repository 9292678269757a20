/** `bash`: a command in the sandbox, in the foreground or with a handle in the background. */

import { type BackgroundCommand, InputError, type ToolContext, type ToolInput, type ToolOutput } from './tool.ts'

export async function bash(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  switch (input.action) {
    case 'list':
      return listed(context.commands.list())
    case 'read':
      return readOutput(input.handle as string, context)
    case 'kill':
      return kill(input.handle as string, context)
    default:
      return input.background === true ? start(input, context) : run(input, context)
  }
}

async function run(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const result = await context.commands.run(input.command as string, optionsOf(input, context))
  context.signal.throwIfAborted()
  const { exitCode, timedOut, truncated, spill } = result
  const notes = [
    ...(timedOut ? [`stopped after ${timeoutOf(input, context) / 1000} s`] : []),
    ...(truncated ? [spill === null ? 'output was cut' : `output was cut; all of it is in ${spill}`] : []),
    ...(exitCode !== 0 && !timedOut ? [`exit code ${exitCode}`] : []),
    ...result.notes,
  ]
  return {
    text: shown(result.stdout, result.stderr, notes),
    data: { exitCode, stdout: result.stdout, stderr: result.stderr, timedOut, spill, notes: result.notes },
    exitCode,
    ...((exitCode !== 0 || timedOut) && { isError: true }),
    ...(truncated && {
      truncated: {
        shown: Buffer.byteLength(result.stdout) + Buffer.byteLength(result.stderr),
        total: null,
        unit: 'bytes',
        remedy: spill === null ? 'run it again with less output' : `read ${spill}`,
      },
    }),
  }
}

async function start(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const handle = await context.commands.start(input.command as string, optionsOf(input, context))
  return {
    text: `Started in the background as ${handle}. Read its output with { "action": "read", "handle": "${handle}" }.`,
    data: { handle },
  }
}

function listed(commands: readonly BackgroundCommand[]): ToolOutput {
  const lines = commands.map((one) => `${one.handle}: ${stateOf(one)}: ${one.command}`)
  return { text: lines.join('\n') || 'No command runs in the background.', data: { commands } }
}

function readOutput(handle: string, context: ToolContext): ToolOutput {
  const output = context.commands.read(handle)
  if (!output) throw unknownHandle(handle, context)
  const notes = [stateOf(output), ...(output.truncated ? ['older output was dropped'] : []), ...output.notes]
  return {
    text: shown(output.stdout, output.stderr, notes),
    data: output,
    ...(output.exitCode !== null && { exitCode: output.exitCode }),
  }
}

async function kill(handle: string, context: ToolContext): Promise<ToolOutput> {
  if (!(await context.commands.kill(handle))) throw unknownHandle(handle, context)
  return { text: `Ended ${handle}.`, data: { handle } }
}

function optionsOf(input: ToolInput, context: ToolContext) {
  return {
    cwd: input.cwd === undefined ? context.cwd : context.checked(input.cwd as string),
    timeoutMs: timeoutOf(input, context),
    signal: context.signal,
  }
}

/** A call may shorten the time it is given, never extend it. */
function timeoutOf(input: ToolInput, context: ToolContext): number {
  const asked = input.timeout === undefined ? Number.POSITIVE_INFINITY : (input.timeout as number) * 1000
  const { timeoutMs, backgroundMs = timeoutMs } = context.limits
  return Math.min(asked, input.background === true ? backgroundMs : timeoutMs)
}

function stateOf(command: BackgroundCommand): string {
  return command.running ? 'running' : `ended with exit code ${command.exitCode}`
}

function shown(stdout: string, stderr: string, notes: readonly string[]): string {
  const parts = [stdout, stderr === '' ? '' : `[stderr]\n${stderr}`].filter((part) => part !== '')
  const body = parts.map((part) => part.replace(/\n$/, '')).join('\n')
  const lines = [...(body === '' ? [] : [body]), ...notes.map((note) => `[${note}]`)]
  return lines.join('\n') || '[no output]'
}

function unknownHandle(handle: string, context: ToolContext): InputError {
  const known = context.commands.list().map((one) => one.handle)
  return new InputError(
    `there is no background command ${JSON.stringify(handle.slice(0, 40))}; ${known.length > 0 ? `there are ${known.join(', ')}` : 'none was started'}`,
  )
}
