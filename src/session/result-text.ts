/** A result as a model or a client reads it: cut to fit, with all of it in a file that the agent may read. */

import { join } from 'node:path'
import { resultText, type ToolResult } from '../call/tool-result.ts'
import { uniqueName, writeMade } from '../system/made-file.ts'
import { makeDirectories } from '../system/state.ts'

const MAX_CHARACTERS = 60_000

/** The text of a result; a long one is cut and spilled to a file. */
export function cappedText(result: ToolResult, spillDirectory: string): string {
  const text = resultText(result)
  if (text.length <= MAX_CHARACTERS) return text
  const half = MAX_CHARACTERS / 2
  const left = text.length - MAX_CHARACTERS
  let where = ''
  try {
    makeDirectories(spillDirectory)
    const file = join(spillDirectory, `result-${uniqueName()}.txt`)
    writeMade(file, text, { flag: 'wx' })
    where = `; all of it is in ${file}`
  } catch {
    // The model still learns what is missing.
  }
  const start = text.slice(0, half).toWellFormed()
  return `${start}\n[cordon] ${left} characters are left out here${where}\n${text.slice(-half).toWellFormed()}`
}
