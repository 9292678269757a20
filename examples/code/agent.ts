// For `cordon agent build`: a component that reaches cordon:agent and nothing else.
// @ts-expect-error The component's host gives this.
import { log } from 'cordon:agent/console@0.1.0'
// @ts-expect-error The component's host gives this.
import { get, set } from 'cordon:agent/storage@0.1.0'
// @ts-expect-error The component's host gives this.
import { call } from 'cordon:agent/tools@0.1.0'

/** Counts its runs, and reads a file that the task names. */
export function run(task: string): string {
  const runs = Number(get('runs') ?? 0) + 1
  set('runs', String(runs))
  log(`run ${runs}: ${task}`)
  const answer = JSON.parse(call('read', JSON.stringify({ path: task }))) as { text: string }
  return answer.text.split('\n')[0] ?? ''
}
