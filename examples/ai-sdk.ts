/** Cordon's tools for the AI SDK: `generateText({ model, tools, prompt })`. Here they are only called by hand. */

import { aiSdkTools } from '../src/adapters/ai-sdk.ts'
import { createCordon } from '../src/index.ts'

const cordon = await createCordon({
  project: process.argv[2] ?? process.cwd(),
  manifest: { object: { schema_version: 1, permission: { mode: 'contained' } } },
})
try {
  const tools = aiSdkTools(cordon.openSession(), { only: ['bash', 'read', 'write', 'edit', 'grep', 'glob'] })
  console.log(Object.keys(tools).join(' '))
  console.log(await tools.write!.execute({ path: 'note.txt', content: 'hello' }))
  console.log(await tools.bash!.execute({ command: 'cat note.txt' }))
  console.log(await tools.bash!.execute({ command: 'sudo id' }))
} finally {
  await cordon.close()
}
