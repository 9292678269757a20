/** Keeps spare sandboxes for a process that serves one command after another. */

export { keepSpares, prepareSpare, secondsAhead } from '../sandbox/bwrap/launch-blocking.ts'
