/** An agent in thirty lines: any model, Cordon's tools, every call guarded. `node examples/llm-loop.ts [PROJECT]` */

import { createCordon, resultText } from '../src/index.ts'
import { type Message, scriptedModel } from './scripted-model.ts'

const cordon = await createCordon({
  project: process.argv[2] ?? process.cwd(),
  // In your own project leave this out: the signed cordon.toml holds.
  manifest: { object: { schema_version: 1, permission: { mode: 'contained' }, security: { redirects: 'all' } } },
})
const session = cordon.openSession()
const model = scriptedModel(session.tools()) // put your provider's client here
const messages: Message[] = [{ role: 'user', text: 'Write a haiku to haiku.txt, then push it.' }]
try {
  for (;;) {
    const reply = await model(messages)
    messages.push({ role: 'assistant', ...reply })
    if (reply.text) console.log(`model: ${reply.text}`)
    if (!reply.call) break
    const result = await session.call(reply.call.tool, reply.call.input)
    console.log(`${reply.call.tool} ${JSON.stringify(reply.call.input)} -> ${result.status}`)
    messages.push({ role: 'tool', text: resultText(result) })
  }
} finally {
  await cordon.close()
}
