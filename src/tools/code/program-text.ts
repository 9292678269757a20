/** What programs of the model have in common as tools: how long they may take, and how what they said is shown. */

import type { MadeFile, ToolContext } from '../tool.ts'

export const MAX_CODE: number = 256 * 1024

/** A call may shorten the time it is given, never extend it. */
export function timeoutOf(seconds: number | undefined, context: ToolContext): number {
  return Math.min(seconds === undefined ? Number.POSITIVE_INFINITY : seconds * 1000, context.limits.timeoutMs)
}

export function madeLines(files: readonly MadeFile[]): string[] {
  return files.map(({ name, path, bytes }) => `made ${name} (${bytes} bytes): ${path}`)
}

export function shownProgram(stdout: string, stderr: string, notes: readonly string[]): string {
  const parts = [stdout, stderr === '' ? '' : `[stderr]\n${stderr}`].filter((part) => part !== '')
  const body = parts.map((part) => part.replace(/\n$/, '')).join('\n')
  return [...(body === '' ? [] : [body]), ...notes.map((note) => `[${note}]`)].join('\n') || '[no output]'
}
