/** A result as the model reads it: of a length that fits, and the whole of it in a file that the agent may read. */

import { join } from 'node:path'
import { resultText, type ToolResult } from '../call/tool-result.ts'
import { writeMade } from '../system/made-file.ts'
import { makeDirectories } from '../system/state.ts'
import { uniqueName } from '../system/unique-name.ts'

const MAX_CHARACTERS = 60_000

/** The text of a result; what does not fit is spilled into the session's own directory for that. */
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
    // The model is told what is missing all the same.
  }
  const start = text.slice(0, half).toWellFormed()
  return `${start}\n[cordon] ${left} characters are left out here${where}\n${text.slice(-half).toWellFormed()}`
}
