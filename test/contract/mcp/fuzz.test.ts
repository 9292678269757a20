/** Whatever a client or a server says, the gateway and the server answer in form, and nothing gets out that should not. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Json, RpcError, RpcPeer } from '../../../src/system/json-rpc.ts'
import { openWorld, PlayedServer } from './gateway-world.ts'

const TOKEN = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'

/** JSON with the words of the protocol in it, so that it gets somewhere. */
const words = fc.constantFrom(
  'tools',
  'prompts',
  'resources',
  'contents',
  'content',
  'messages',
  'name',
  'uri',
  'type',
  'text',
  'resource',
  'inputSchema',
  'description',
  'structuredContent',
  'nextCursor',
  'completion',
  'values',
  'jsonrpc',
  'id',
  'method',
  'params',
  'result',
  'error',
  '__proto__',
)
const values = fc.constantFrom(
  '2.0',
  'echo',
  'text',
  'resource',
  `token ${TOKEN}`,
  'file:///a',
  'srv__echo',
  '\u202e',
  '',
)
const json: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(values, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(words, tie('value'), { maxKeys: 6 }),
  ),
})).value

it('a peer takes anything', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(json, fc.jsonValue()), async (message) => {
      const sent: Json[] = []
      const peer = new RpcPeer((answer) => void sent.push(answer), {
        request: async () => ({}),
        notification: () => {
          throw new Error('bad')
        },
      })
      await peer.accept(message)
      expect(sent.length).toBeLessThanOrEqual(1)
      for (const answer of sent) expect(answer).toMatchObject({ jsonrpc: '2.0' })
    }),
    { numRuns: 2000, seed: 20261116 },
  )
})

const asks: readonly (readonly [string, Json])[] = [
  ['tools/list', {}],
  ['prompts/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['tools/call', { name: 'srv__echo', arguments: { text: 'x' } }],
  ['prompts/get', { name: 'srv__echo' }],
  ['resources/read', { uri: 'cordon://srv/file:///a' }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'cordon://srv/a' }, argument: {} }],
]
const levels = { mcp__srv__echo: 'allow', mcp_prompts__srv: 'allow', mcp_resources__srv: 'allow' } as const

it.each(['handshake', 'stateless'] as const)('a server may answer anything to a %s client', async (client) => {
  await fc.assert(
    fc.asyncProperty(fc.array(json, { minLength: 8, maxLength: 8 }), async (answers) => {
      const srv = new PlayedServer()
      srv.answer = async (method) => answers[asks.findIndex(([asked]) => asked === method)]
      const [tools, prompts, resources] = answers
      if (Array.isArray(tools)) srv.tools = [...srv.tools, ...(tools as Json[])]
      if (Array.isArray(prompts)) srv.prompts = [{ name: 'echo' }, ...(prompts as Json[])]
      if (Array.isArray(resources)) srv.resources = resources as Json[]
      const at = await openWorld({ servers: { srv }, client, levels })
      for (const [method, params] of asks) {
        const answer = await at.request(method, params).catch((error: unknown): Json => {
          expect(error).toBeInstanceOf(RpcError)
          return {}
        })
        expect(typeof answer).toBe('object')
        if (method.includes('/call') || method.includes('/get') || method.includes('/read')) {
          expect(JSON.stringify(answer)).not.toContain(TOKEN)
        }
        for (const offer of (answer.tools ?? answer.prompts ?? []) as { name: string }[]) {
          expect(offer.name).toMatch(/^srv__/)
        }
        for (const offer of (answer.resources ?? []) as { uri: string }[])
          expect(offer.uri).toMatch(/^cordon:\/\/srv\//)
      }
      await at.gateway.close()
    }),
    { numRuns: 150, seed: 20261116 },
  )
})
