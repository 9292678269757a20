/** `chmod`: the permission bits of a file, never the special ones. */

import { InputError, type ToolContext, type ToolInput, type ToolOutput } from '../tool.ts'

export async function chmod(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const path = context.checked(input.path as string)
  const text = input.mode as string
  if (!/^0?[0-7]{3}$/.test(text)) {
    throw new InputError(
      `"mode" of chmod is ${JSON.stringify(text.slice(0, 20))}; give three octal digits such as "755" (setuid, setgid and sticky bits are not set)`,
    )
  }
  const before = context.files.stat(path)
  context.files.changeMode(path, Number.parseInt(text, 8))
  const was = before ? ` (was ${(before.mode & 0o777).toString(8).padStart(3, '0')})` : ''
  return {
    text: `Changed the mode of ${input.path} to ${text}${was}.`,
    data: { path, mode: text },
    files: { read: [], written: [path] },
  }
}
