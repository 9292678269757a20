/** A program that answers for a person: yes to tests for this session, a message for the rest. `node examples/approve.ts [PROJECT]` */

import { createCordon, programmaticPrompter, resultText } from '../src/index.ts'

const cordon = await createCordon({
  project: process.argv[2] ?? process.cwd(),
  manifest: { object: { schema_version: 1 } },
  prompter: programmaticPrompter(({ subject, decision, suggestions: [grant] }) => {
    console.log(`asked: ${subject} (${decision.reason.code})`)
    return subject.startsWith('ls') && grant
      ? { kind: 'session', grant }
      : { kind: 'deny-message', message: 'Only listings, please.' }
  }),
})
const session = cordon.openSession()
const stop = session.subscribe((event) => console.log(`event: ${event.type}`))
try {
  for (const command of ['ls', 'ls', 'rm -rf build']) {
    console.log(resultText(await session.call('bash', { command })))
  }
} finally {
  stop()
  await cordon.close()
}
