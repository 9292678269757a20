/** `sandbox_run`: a program in a fresh container, which is gone afterwards; the result says which wall held. */

import { basename } from 'node:path'
import { defineTool, toolHints } from '../define-tool.ts'
import { count, takes, text, texts } from '../input-schema.ts'
import { type CodeFile, InputError, type Tool, type ToolContext } from '../tool.ts'
import { MAX_CODE, madeLines, shownProgram, timeoutOf } from './program-text.ts'

const MAX_FILES = 16
const MAX_FILE_BYTES: number = 8 * 1024 ** 2
/** `.env` is one, `..` and options are none. */
const PLAIN_NAME = /^\.?\w[\w. +-]{0,99}$/

export const sandboxRun: Tool = defineTool({
  name: 'sandbox_run',
  description:
    'Runs a program in a fresh container without network: python, node, bash, perl and others that this machine has. It sees nothing of the project but the files that are named; files that it makes come back when they are named.',
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
    if (Buffer.byteLength(code) > MAX_CODE) throw new InputError(`"code" holds at most ${MAX_CODE} bytes`)
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
    const notes = [
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
