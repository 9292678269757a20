/** A session of the library on another system: makes the calls of its argument, one after another, and prints their results. */

import './platform.ts'

const { createCordon } = await import('../../../../src/session/cordon.ts')
const [project, calls] = process.argv.slice(2) as [string, string]
const cordon = await createCordon({
  project,
  manifest: {
    object: {
      schema_version: 1,
      permission: { tools: { bash: 'allow', write: 'allow' } },
      capabilities: {
        allow: { read: { paths: ['**'] }, write: { paths: ['**'] }, commands: { patterns: ['cat:*', 'ls:*'] } },
      },
    },
  },
})
const session = cordon.openSession()
for (const { tool, input } of JSON.parse(calls) as { tool: string; input: Record<string, unknown> }[]) {
  const result = await session.call(tool, input)
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
await cordon.close()
