/** `python_exec` and `code_exec`: a program that reaches the tools of this session, each call decided, asked about and recorded by itself. */

import { defineTool, toolHints } from '../define-tool.ts'
import { count, flag, takes, text } from '../input-schema.ts'
import { InputError, type ProgramAnswer, type Tool, type ToolOutput } from '../tool.ts'
import { MAX_CODE, madeLines, shownProgram, timeoutOf } from './program-text.ts'

const TIMEOUT = count('Seconds that the program itself may take; what its calls take is not counted.')

export const pythonExec: Tool = defineTool({
  name: 'python_exec',
  description:
    'Runs Python in a sandbox without network and without the project. `import cordon` reaches the tools of this session: cordon.read("a.txt"), cordon.grep(pattern="x"). The value of the last line comes back; so do files that it makes in its working directory, and open plots.',
  input: takes(
    { code: text('The program.') },
    { keep: flag('Keep the interpreter and its variables for the next call.'), timeout: TIMEOUT },
  ),
  labels: ['execute'],
  hints: { title: 'Run Python', ...toolHints.runs, openWorld: false },
  actions: () => ({}),
  run: async (input, context) => {
    requireShort(input.code)
    const { code, keep = false } = input
    const request = { code, keep, timeoutMs: timeoutOf(input.timeout, context), signal: context.signal }
    return outputOf(await context.code.python(request))
  },
})

export const codeExec: Tool = defineTool({
  name: 'code_exec',
  description:
    'Runs JavaScript or TypeScript in a separate engine that has only `tools`, `console` and timers: one program can make many guarded calls, such as await tools.read("a.txt"), and return one answer. { "declarations": true } answers with the types of the tools.',
  input: takes(
    {},
    { code: text('The program.'), declarations: flag('Answer with the types instead.'), timeout: TIMEOUT },
  ),
  labels: ['execute'],
  hints: { title: 'Run JavaScript', ...toolHints.runs, openWorld: false },
  actions: (input) => (input.declarations === true && input.code === undefined ? { ownOnly: true } : {}),
  run: async (input, context) => {
    if (input.code === undefined) {
      if (input.declarations !== true) throw new InputError('"code" is missing')
      return { text: context.code.declarations() }
    }
    requireShort(input.code)
    const request = { code: input.code, timeoutMs: timeoutOf(input.timeout, context), signal: context.signal }
    return outputOf(await context.code.script(request))
  },
})

function requireShort(code: string): void {
  if (Buffer.byteLength(code) > MAX_CODE) throw new InputError(`"code" holds at most ${MAX_CODE} bytes`)
}

function outputOf(answer: ProgramAnswer): ToolOutput {
  const { value, error, limit, stdout, stderr, files, calls, wall } = answer
  const notes = [
    ...(limit === null ? [] : [`stopped by its limit of ${limit}`]),
    ...(answer.truncated ? ['output was cut'] : []),
    ...madeLines(files),
    ...answer.notes,
    ...(calls > 0 ? [`${calls} guarded calls`] : []),
    `ran in ${wall}`,
  ]
  const said = [stdout, value === null ? '' : value].filter((part) => part !== '').join('\n')
  const errors = [stderr, error ?? ''].filter((part) => part !== '').join('\n')
  return {
    text: shownProgram(said, errors, notes),
    data: { value, error, limit, stdout, stderr, files, calls },
    ...((error !== null || limit !== null) && { isError: true }),
  }
}
