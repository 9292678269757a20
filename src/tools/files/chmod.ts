/** `chmod`: the permission bits of a file, never the special ones. */

import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'

export interface ChmodInput {
  readonly path: string
  readonly mode: string
}

export async function chmod(input: ChmodInput, context: ToolContext): Promise<ToolOutput> {
  const target = context.checked(input.path)
  const { mode } = input
  if (!/^0?[0-7]{3}$/.test(mode)) {
    throw new InputError(
      `"mode" of chmod is ${JSON.stringify(mode.slice(0, 20))}; give three octal digits such as "755" (setuid, setgid and sticky bits are not set)`,
    )
  }
  const before = context.files.stat(target)
  context.files.changeMode(target, Number.parseInt(mode, 8))
  const was = before ? ` (was ${(before.mode & 0o777).toString(8).padStart(3, '0')})` : ''
  return {
    text: `Changed the mode of ${input.path} to ${mode}${was}.`,
    data: { path: target, mode },
    files: { read: [], written: [target] },
  }
}
