/** The question at a limit, as a session asks it: once, with what it is about, and with nothing that could be saved. */

import { expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import { openSessionWorld } from '../session/session-world.ts'
import { createWorld } from './world.ts'

const HOST = 'api.example.org'

it.each([
  { answer: 'once', reached: 2 },
  { answer: 'deny', reached: 1 },
] as const)('a limit of one request, answered with $answer', async ({ answer, reached }) => {
  const session = openSessionWorld()
  const internet = createWorld()
  const questions: string[] = []
  let served = 0
  try {
    await internet.serveHttp((_, response) => {
      served++
      response.end('here\n')
    })
    const object = {
      schema_version: 1,
      permission: { tools: { bash: 'allow' } },
      capabilities: {
        allow: { commands: { default_domains: [{ host: HOST, max_requests: 1 }], patterns: ['curl:*'] } },
      },
    }
    const { resolver, upstream } = internet
    const prompter = {
      name: 'test',
      ask: async (request: { decision: { reason: { message: string } }; suggestions: readonly unknown[] }) => {
        questions.push(`${request.decision.reason.message} ${request.suggestions.length}`)
        return { kind: answer }
      },
    }
    const cordon = await session.open({ manifest: { object }, resolver, upstream, prompter } as never)
    const agent = cordon.openSession()
    const curl = { command: `curl -sS -m 30 http://${HOST}/` }
    expect(resultText(await agent.call('bash', curl))).toContain('here')
    const second = resultText(await agent.call('bash', curl))
    expect(served).toBe(reached)
    expect(second.includes('limit-reached')).toBe(reached === 1)
    expect(questions).toEqual([
      `A running command reached a limit: max_requests of ${HOST} is 1 a session, and 1 are used. A yes gives it 1 more. 0`,
    ])
  } finally {
    await session.close()
    await internet.close()
  }
})
