/** Tools that run the model's programs: sandbox_run, python_exec, code_exec. */

import { basename } from 'node:path'
import { defineTool, toolHints } from '../define-tool.ts'
import { count, flag, takes, text, texts } from '../input-schema.ts'
import {
  type CodeFile,
  InputError,
  type MadeFile,
  type ProgramAnswer,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from '../tool.ts'

const MAX_FILES = 16
const MAX_FILE_BYTES: number = 8 * 1024 ** 2
/** `.env` matches; `..` and options do not. */
const PLAIN_NAME = /^\.?\w[\w. +-]{0,99}$/

export const sandboxRun: Tool = defineTool({
  name: 'sandbox_run',
  description:
    'Runs a program in a fresh container without network: python, node, bash, perl and others that this machine has. It sees nothing of the project but the files that are named; files that it creates come back if they are named.',
  input: takes(
    { language: text('python, node, bash, ruby, perl, php, lua, r or awk.'), code: text('The program.') },
    {
      files: texts('Files of the project that it finds in its working directory, by their last names.'),
      outputs: texts('Names of files in its working directory that are handed back.'),
      stdin: text('Its input.'),
      timeout: count('Seconds until it is stopped.'),
    },
  ),
  labels: ['execute', 'filesystem'],
  hints: { title: 'Run a program in a container', ...toolHints.runs, openWorld: false },
  actions: (input) => ({ reads: input.files ?? [] }),
  run: async (input, context) => {
    const { language, code, files = [], outputs = [], stdin = '' } = input
    if (Buffer.byteLength(code) > MAX_CODE) throw new InputError(`"code" takes at most ${MAX_CODE} bytes`)
    const known = context.code.languages()
    if (!known.includes(language)) {
      throw new InputError(
        `there is no language ${JSON.stringify(language.slice(0, 40))} here; there are ${known.join(', ')}`,
      )
    }
    if (files.length > MAX_FILES || outputs.length > MAX_FILES) {
      throw new InputError(`at most ${MAX_FILES} files go in and out`)
    }
    const odd = outputs.find((name) => !PLAIN_NAME.test(name))
    if (odd !== undefined) throw new InputError(`"outputs" are plain names, not ${JSON.stringify(odd.slice(0, 60))}`)
    const answer = await context.code.container({
      language,
      code,
      stdin,
      files: handedIn(files, context),
      outputs,
      timeoutMs: timeoutOf(input.timeout, context),
      signal: context.signal,
    })
    const { exitCode, hit, engine, wall, notHeld } = answer
    const renamed = files.filter((given) => given !== basename(given))
    const notes = [
      ...renamed.map((given) => `${given} was given as ${basename(given)}`),
      ...(hit ? [`stopped by its limit of ${hit.limit}${hit.certainty === 'inferred' ? ' (inferred)' : ''}`] : []),
      ...(exitCode !== 0 && hit === null ? [`exit code ${exitCode}`] : []),
      ...(answer.truncated ? ['output was cut'] : []),
      ...madeLines(answer.files),
      ...outputs
        .filter((name) => !answer.files.some((file) => file.name === name))
        .map((name) => `${name} was not created`),
      `ran in ${engine}: ${wall}`,
      ...notHeld,
    ]
    return {
      text: shownProgram(answer.stdout, answer.stderr, notes),
      data: {
        exitCode,
        stdout: answer.stdout,
        stderr: answer.stderr,
        limit: hit?.limit ?? null,
        files: answer.files,
        engine,
        notHeld,
      },
      exitCode,
      ...((exitCode !== 0 || hit !== null) && { isError: true }),
      files: { read: files.map((given) => context.checked(given)), written: [] },
    }
  },
})

function handedIn(given: readonly string[], context: ToolContext): CodeFile[] {
  const seen = new Set<string>()
  return given.map((path) => {
    const name = basename(path)
    if (!PLAIN_NAME.test(name)) throw new InputError(`${JSON.stringify(name.slice(0, 60))} is not a plain file name`)
    if (seen.has(name)) throw new InputError(`two files are called ${name}`)
    seen.add(name)
    return { name, bytes: context.files.read(context.checked(path), MAX_FILE_BYTES).bytes }
  })
}

export const MAX_CODE: number = 256 * 1024

/** A call may only shorten its time limit. */
export function timeoutOf(seconds: number | undefined, context: ToolContext): number {
  return Math.min(seconds === undefined ? Number.POSITIVE_INFINITY : seconds * 1000, context.limits.timeoutMs)
}

export function madeLines(files: readonly MadeFile[]): string[] {
  return files.map(({ name, path, bytes }) => `created ${name} (${bytes} bytes): ${path}`)
}

export function shownProgram(stdout: string, stderr: string, notes: readonly string[]): string {
  const parts = [stdout, stderr === '' ? '' : `[stderr]\n${stderr}`].filter((part) => part !== '')
  const body = parts.map((part) => part.replace(/\n$/, '')).join('\n')
  return [...(body === '' ? [] : [body]), ...notes.map((note) => `[${note}]`)].join('\n') || '[no output]'
}

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
  if (Buffer.byteLength(code) > MAX_CODE) throw new InputError(`"code" takes at most ${MAX_CODE} bytes`)
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
