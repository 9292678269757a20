/** The lines in which two texts differ, with their common beginning and end left out. */

export interface DiffLine {
  readonly sign: '+' | '-' | ' '
  readonly text: string
}

/** Settings change in one place, so what lies between the common ends is the change. */
export function lineDiff(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++
  const line =
    (sign: DiffLine['sign']) =>
    (text: string): DiffLine => ({ sign, text })
  return [
    ...before.slice(Math.max(0, start - 2), start).map(line(' ')),
    ...before.slice(start, before.length - end).map(line('-')),
    ...after.slice(start, after.length - end).map(line('+')),
    ...before.slice(before.length - end, before.length - end + 2).map(line(' ')),
  ]
}
