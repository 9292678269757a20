/** The conversation by itself: every malformed message has its answer, and cancelling is heard on both sides. */

import { expect, it } from 'vitest'
import { ERROR, type Json, RpcError, RpcPeer } from './json-rpc.ts'

function peer(request: (method: string, signal: AbortSignal) => Promise<unknown> = async () => ({})): {
  peer: RpcPeer
  sent: Json[]
} {
  const sent: Json[] = []
  return {
    sent,
    peer: new RpcPeer((message) => void sent.push(message), {
      request: ({ method, signal }) => request(method, signal),
      notification: () => {},
    }),
  }
}

it.each([
  ['no JSON', '{', ERROR.parse, null],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', ERROR.request, null],
  ['no version', '{"id":1,"method":"ping"}', ERROR.request, null],
  ['params as a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', ERROR.params, 1],
  ['an id of another type', '{"jsonrpc":"2.0","id":{},"method":"ping"}', ERROR.request, null],
  ['neither request nor answer', '{"jsonrpc":"2.0","id":1}', ERROR.request, 1],
])('answers %s with an error', async (_, text, code, id) => {
  const { peer: own, sent } = peer()
  await own.receive(text)
  expect(sent).toEqual([expect.objectContaining({ id, error: expect.objectContaining({ code }) })])
})

it('distinguishes errors of handlers', async () => {
  const { peer: own, sent } = peer(async (method) => {
    throw method === 'a' ? new RpcError(-5, 'mine') : new Error('other')
  })
  await own.accept({ jsonrpc: '2.0', id: 1, method: 'a' })
  await own.accept({ jsonrpc: '2.0', id: 2, method: 'b' })
  expect(sent.map((message) => (message.error as { code: number }).code)).toEqual([-5, ERROR.internal])
})

it('cancels a running request, and answers it no more', async () => {
  const { peer: own, sent } = peer(
    (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('late'))),
  )
  const running = own.accept({ jsonrpc: '2.0', id: 7, method: 'slow' })
  await own.accept({ jsonrpc: '2.0', id: 7, method: 'again' })
  expect(sent).toHaveLength(1)
  await own.accept({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
  await running
  expect(sent).toHaveLength(1)
})

it('asks, hears the answer, and fails what is open when the other side goes', async () => {
  const { peer: own, sent } = peer()
  const { signal } = new AbortController()
  const first = own.request('x', {}, signal)
  const second = own.request('y', {}, signal)
  await own.accept({ jsonrpc: '2.0', id: sent[0]!.id, result: { a: 1 } })
  expect(await first).toEqual({ a: 1 })
  own.close()
  await expect(second).rejects.toThrow('disconnected')
  await expect(own.request('z', {}, signal)).rejects.toThrow()
})
