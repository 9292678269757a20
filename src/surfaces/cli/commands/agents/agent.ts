/** `cordon agent`: builds and runs agents that are WASM components. */

import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { BUILT_IN_BACKEND, openBackend } from '../../../../run/open-backend.ts'
import { createCordon, terminalPrompter } from '../../../../session/cordon.ts'
import { Fault, messageOf } from '../../../../system/fault.ts'
import { requirePlainOutput } from '../../../../system/files.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { visible } from '../../../terminal/terminal.ts'
import { textFlag } from '../../arguments.ts'
import { rootFlag } from '../../open-policy.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

const DEFAULT_SECONDS = 60

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [action, file, task] = args.words
  const components = await import('../../../../chat/component/component.ts')
  const { AGENT_WIT, buildComponent, requireOwnImports } = await import('../../../../chat/component/files.ts')
  if (action === 'wit') {
    terminal.out(AGENT_WIT)
    return EXIT.ok
  }
  if (file === undefined || (action !== 'build' && action !== 'run')) {
    throw new UsageError('say cordon agent build FILE.ts, cordon agent run FILE.wasm TASK or cordon agent wit')
  }
  const machine = thisMachine()
  if (action === 'build') {
    const output = resolve(textFlag(args, 'output') ?? file.replace(/\.[cm]?[jt]s$/, '.wasm'))
    if (output === resolve(file)) throw new UsageError('give the component another name: --output FILE.wasm')
    requirePlainOutput(output)
    const component = await buildComponent(machine, await openBackend(BUILT_IN_BACKEND, machine), resolve(file))
    writeFileSync(output, component)
    const hash = components.hashOf(component)
    terminal.out(`${output}: ${component.length} bytes\n[components.NAME]\nsha256 = "${hash}"\ntools = []\n`)
    return EXIT.ok
  }
  if (task === undefined) throw new UsageError('a component is given a task: cordon agent run FILE.wasm TASK')
  const bytes = readComponent(resolve(file))
  requireOwnImports(bytes)
  const manifest = textFlag(args, 'manifest')
  const cordon = await createCordon({
    project: rootFlag(args) ?? process.cwd(),
    machine,
    ...(manifest !== undefined && { manifest: { file: manifest } }),
    ...(process.stdin.isTTY && { prompter: terminalPrompter() }),
  })
  try {
    const entry = components.entryOf(cordon.loaded().session.components, bytes)
    const session = cordon.openSession()
    const complete = entry.model
      ? (await import('../../../../chat/component/model.ts')).modelFor(machine, () => cordon.loaded(), session)
      : null
    const result = await components.runComponent({
      bytes,
      entry,
      task,
      session,
      root: cordon.root,
      machine,
      backend: await openBackend(cordon.loaded().sandbox, machine),
      milliseconds: secondsOf(textFlag(args, 'timeout')) * 1000,
      complete,
      signal: new AbortController().signal,
    })
    for (const line of result.stderr.split('\n').filter((one) => one !== '')) terminal.err(`${visible(line)}\n`)
    if (result.value !== null) terminal.out(`${visible(result.value)}\n`)
    if (result.limit !== null) terminal.err(`stopped by its limit of ${result.limit}\n`)
    if (result.error !== null) terminal.err(`${visible(result.error)}\n`)
    return result.error === null && result.limit === null ? EXIT.ok : EXIT.failed
  } finally {
    await cordon.close()
  }
}

function readComponent(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Fault('bad-component', `${path} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

function secondsOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SECONDS
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new UsageError('--timeout takes whole seconds')
  return Number(text)
}
