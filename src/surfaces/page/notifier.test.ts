import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Notice, type NoticeSettings, notifyDesktop, postNotice, signatureOf } from './notifier.ts'

const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const NOTICE: Notice = {
  id: 'a1',
  project: '/p',
  from: 'claude-code',
  tool: 'bash',
  subject: 'git push <origin>',
  reason: 'it sends commits to a remote',
  text: 'cordon asks: bash\n│ git push <origin>\nwhy  it sends commits to a remote',
  whole: true,
  answers: { once: 'https://phone.example/answer/yes', deny: 'https://phone.example/answer/no' },
}

let server: Server
let webhook: string
const got: { path: string; body: string; headers: Record<string, unknown> }[] = []
let status = 200
beforeEach(async () => {
  got.length = 0
  status = 200
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      got.push({ path: request.url!, body, headers: request.headers })
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  webhook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/my-topic`
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

const settings = (format: NoticeSettings['format']): NoticeSettings => ({
  webhook,
  format,
  answerUrl: null,
  desktop: false,
})

describe('a webhook', () => {
  it('is given the question as JSON, signed', async () => {
    expect(await postNotice(NOTICE, settings('json'), KEY)).toBeNull()
    const [{ path, body, headers }] = got as [(typeof got)[number]]
    expect([path, JSON.parse(body)]).toEqual(['/my-topic', NOTICE])
    const time = Number(headers['webhook-timestamp'])
    expect(headers['webhook-signature']).toBe(signatureOf(KEY, 'ask_a1', time, body))
  })

  it('of ntfy is given a message with two buttons', async () => {
    expect(await postNotice(NOTICE, settings('ntfy'), KEY)).toBeNull()
    const [{ path, body }] = got as [(typeof got)[number]]
    const message = JSON.parse(body)
    expect([path, message.topic]).toEqual(['/', 'my-topic'])
    expect(message.actions.map(({ url }: { url: string }) => url)).toEqual([NOTICE.answers.once, NOTICE.answers.deny])
  })

  it.each([302, 500])('that answers %d is reported, and nothing follows it', async (answer) => {
    status = answer
    expect(await postNotice(NOTICE, settings('json'), KEY)).toMatch(/the webhook/)
    expect(got.map(({ path }) => path)).toEqual(['/my-topic'])
  })
})

it('the desktop shows a question as text, not as markup, and only where there is one', async () => {
  const base = mkdtempSync(join(tmpdir(), 'cordon-notify-'))
  const before = process.env.PATH
  try {
    const [program, shown] = [join(base, 'notify-send'), join(base, 'shown')]
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${shown}.new' && mv '${shown}.new' '${shown}'\n`)
    chmodSync(program, 0o755)
    process.env.PATH = `${base}:${before}`
    notifyDesktop(NOTICE, {})
    notifyDesktop(NOTICE, { DISPLAY: ':0' })
    await expect.poll(() => existsSync(shown)).toBe(true)
    const lines = readFileSync(shown, 'utf8').trim().split('\n')
    expect(lines).toEqual(['--app-name=Cordon', '--', 'Cordon asks: bash', 'git push &#60;origin&#62;'])
  } finally {
    process.env.PATH = before
    rmSync(base, { recursive: true, force: true })
  }
})
