/** Attacks on the page: from other pages, other names, other tabs, stolen links, and by every text that an agent can choose. */

import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askView } from '../../../src/approval/ask-view.ts'
import { keepAsk, openAsks } from '../../../src/questions/asks.ts'
import { sharedPrompter } from '../../../src/questions/shared-prompter.ts'
import { postAsk } from '../../../src/questions/waiting.ts'
import { openAuditTrail } from '../../../src/report/audit-trail.ts'
import { terminalConsent } from '../../../src/surfaces/page/consent.ts'
import { PageClient, type Sent } from '../../contract/page/page-client.ts'
import {
  openBrowser,
  openPageWorld,
  openTab,
  type PageWorld,
  QUIET,
  writeLines,
  writeRecord,
} from '../../contract/page/page-world.ts'
import { HOSTILE } from './hostile-strings.ts'

let world: PageWorld
beforeAll(async () => {
  world = await openPageWorld()
})
afterAll(() => world?.close())

const send = (to: PageWorld, sent: Sent) => new PageClient(to.server.link).send(sent)

const decision = (message: string) => {
  const part = {
    kind: 'command',
    text: message,
    decision: 'ask',
    reason: { code: 'not-granted', message },
    rules: [],
    step: 4,
  }
  return { decision: 'ask', reason: { code: 'not-granted', message }, rules: [], segments: [part] }
}

/** A question of this very process, as any session posts it. */
function ask(to: PageWorld, subject: string, from: { host?: string; project?: string; tool?: string } = {}): string {
  const { host = 'chat', project = to.sessions.root, tool = 'bash' } = from
  const { segments } = decision(subject)
  const call = { input: { command: subject, [subject]: subject }, call: 'hash', facts: null, worst: { text: subject } }
  const asks = [...segments, { ...segments[0], kind: 'host' }]
  const suggestions = from.tool === undefined ? [] : [{ kind: 'command', value: subject, admits: subject }]
  const request = { tool, subject, ...call, decision: decision(subject), asks, suggestions }
  const view = askView(request as unknown as Parameters<typeof askView>[0])
  return postAsk(to.sessions.machine, { host, project, tool, view }, Date.now())
}

const requests: readonly (Sent & { name: string; status: number })[] = [
  { name: 'the page itself: the control', status: 200 },
  { name: 'no token', headers: { authorization: undefined }, status: 401 },
  { name: 'a wrong token', headers: { authorization: `Bearer ${'A'.repeat(43)}` }, status: 401 },
  { name: 'a token in a cookie', headers: { authorization: undefined, cookie: 'token=x' }, status: 401 },
  { name: 'another host: a name that was bound again', headers: { host: 'evil.example' }, status: 403 },
  { name: 'another port of this host', headers: { host: '127.0.0.1:1' }, status: 403 },
  { name: 'a host that only begins like ours', headers: { host: '127.0.0.1.evil.example' }, status: 403 },
  { name: 'an origin of elsewhere', headers: { origin: 'https://evil.example' }, status: 403 },
  { name: 'the origin of a file or a sandboxed frame', headers: { origin: 'null' }, status: 403 },
  { name: 'fetched by another site', headers: { 'sec-fetch-site': 'cross-site' }, status: 403 },
  { name: 'fetched by another port of this machine', headers: { 'sec-fetch-site': 'same-site' }, status: 403 },
  { name: 'not fetched by a page at all', headers: { 'sec-fetch-site': undefined }, status: 403 },
  {
    name: 'an action without an origin',
    method: 'POST',
    path: '/api/undo',
    headers: { origin: undefined },
    body: '{}',
    status: 403,
  },
  {
    name: 'an action as a form sends it',
    method: 'POST',
    path: '/api/undo',
    headers: { 'content-type': 'text/plain' },
    body: '{}',
    status: 400,
  },
  { name: 'an action by GET', path: '/api/answer', status: 404 },
  {
    name: 'a body without an end',
    method: 'POST',
    path: '/api/explain',
    body: `{"command":"${'x'.repeat(80_000)}"}`,
    status: 400,
  },
  { name: 'no JSON', method: 'POST', path: '/api/explain', body: 'command=ls', status: 400 },
  { name: 'names of an object’s own', path: '/constructor', status: 404 },
  { name: 'a way out of the folder', path: '/..%2f..%2fpackage.json', status: 404 },
  { name: 'an invalid address', path: 'http://[', status: 400 },
  { name: 'an address of elsewhere, whole', path: 'http://evil.example/api/about', status: 200 },
  { name: 'the same without a token', path: 'http://x/api/about', headers: { authorization: undefined }, status: 401 },
  { name: 'a word too many in the token', headers: { authorization: 'Bearer a b' }, status: 401 },
  { name: 'two hosts in one', headers: { host: '127.0.0.1:1, evil.example' }, status: 403 },
  {
    name: 'a worker that would outlive the server',
    path: '/page.js',
    headers: { 'service-worker': 'script', 'sec-fetch-dest': 'serviceworker', 'sec-fetch-site': 'same-origin' },
    status: 403,
  },
  { name: 'an action that is not known', method: 'POST', path: '/api/constructor', body: '{}', status: 404 },
  {
    name: 'a grant to take back that is a no',
    method: 'POST',
    path: '/api/revoke',
    body: '{"grant":"x"}',
    status: 404,
  },
  { name: 'another method', method: 'PUT', path: '/api/answer', status: 404 },
  { name: 'the live stream without a token', path: '/api/live', headers: { authorization: undefined }, status: 401 },
  {
    name: 'the page under another name',
    path: '/',
    headers: { host: 'evil.example', authorization: undefined },
    status: 403,
  },
  {
    name: 'the page in a frame',
    path: '/',
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    status: 403,
  },
  {
    name: 'the script for another site',
    path: '/page.js',
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
    status: 403,
  },
]

it.each(requests)('$name', async ({ status, ...sent }) => {
  const answer = await send(world, sent)
  expect([answer.status, answer.status === 200 ? '' : answer.text.includes(world.sessions.root)]).toEqual([
    status,
    status === 200 ? '' : false,
  ])
  expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(answer.headers).not.toHaveProperty('set-cookie')
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
})

/** What comes back for these very bytes until the connection ends, or for a moment. */
function raw(bytes: string, patience = 3000): Promise<string> {
  return new Promise((resolve) => {
    let got = ''
    const socket = connect(world.server.port, '127.0.0.1', () => socket.write(bytes))
    const timer = setTimeout(() => socket.destroy(), patience)
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(got)
    })
  })
}

describe('bytes that are read in two ways', () => {
  const head = () =>
    `POST /api/explain HTTP/1.1\r\nHost: 127.0.0.1:${world.server.port}\r\nAuthorization: Bearer ${world.token}\r\nOrigin: ${world.origin}\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\n`
  const second = 'GET /api/about HTTP/1.1\r\nHost: x\r\n\r\n'
  const rows = [
    {
      name: 'a length and chunks',
      bytes: () => `${head()}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${second}`,
    },
    { name: 'two lengths', bytes: () => `${head()}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}${second}` },
    {
      name: 'an encoding with a blank in its name',
      bytes: () => `${head()}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    },
    { name: 'a folded header', bytes: () => `${head()}X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}` },
    { name: 'a bare line feed', bytes: () => `GET / HTTP/1.1\nHost: 127.0.0.1:${world.server.port}\n\n` },
    {
      name: 'two hosts',
      bytes: () => `GET /api/about HTTP/1.1\r\nHost: 127.0.0.1:${world.server.port}\r\nHost: evil.example\r\n\r\n`,
    },
    { name: 'no host', bytes: () => 'GET / HTTP/1.1\r\n\r\n' },
    { name: 'no end of headers', bytes: () => `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n` },
  ]
  it.each(rows)('$name: refused, and the rest is not read', async ({ bytes }) => {
    const got = await raw(bytes())
    const answers = got.match(/^HTTP\/1\.1 \d+/gm) ?? []
    expect(answers.length).toBeLessThanOrEqual(1)
    expect(answers.join()).not.toContain(' 200')
  })

  it('those who only hold connections are let go, and hold up nobody', async () => {
    const kept = Array.from({ length: 60 }, () => connect(world.server.port, '127.0.0.1'))
    for (const socket of kept) socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: ')
    try {
      expect((await send(world, {})).status).toBe(200)
    } finally {
      for (const socket of kept) socket.destroy()
    }
  })
})

it('what a page offers for a terminal is one line of plain words, whatever the pattern is', async () => {
  const grant = async (value: string, kind = 'command') => {
    const { status, text } = await new PageClient(world.server.link).send({
      ...{ method: 'POST', path: '/api/what-if', body: JSON.stringify({ kind, value }) },
    })
    return status === 200 ? (JSON.parse(text) as { terminal: string }).terminal : status
  }
  expect(await grant('npm test')).toBe("cordon add command 'npm test'")
  expect(await grant("a'; rm -rf $HOME #`id`", 'read')).toBe(`cordon add read 'a'\\''; rm -rf $HOME #\`id\`'`)
  for (const hidden of ['ls\nrm -rf ~', 'ls \u202e x', 'ls\u001b[2J', 'ls\r'])
    expect([hidden, await grant(hidden)]).toEqual([hidden, 400])
})

it('an exported report is data to the page’s own origin', async () => {
  const { status, headers } = await send(world, { path: '/api/report' })
  expect([status, headers['content-type'], headers['x-content-type-options']]).toEqual([
    ...[200, 'text/plain; charset=utf-8', 'nosniff'],
  ])
  expect((await send(world, { path: '/api/report', headers: { authorization: undefined } })).status).toBe(401)
})

describe('answers', () => {
  const answer = (to: PageWorld, body: object) => new PageClient(to.server.link).answer(body)

  it('the first counts, and the second tab shows which', async () => {
    const id = ask(world, 'rm -rf build')
    expect((await answer(world, { ask: id, kind: 'deny' })).status).toBe(200)
    const second = await answer(world, { ask: id, kind: 'once' })
    expect([second.status, second.text]).toEqual([409, expect.stringContaining('“no”, on the page')])
  })

  it('a yes is for what was shown: another call never comes under the id of one that was asked before', async () => {
    const { machine, root } = world.sessions
    const whole = { fields: [], masked: 0, call: 'hash', marks: [], hosts: [], reasons: [], offers: [] }
    const view = { tool: 'bash', worst: '', subject: '', where: null, ...whole }
    const keep = (subject: string, once: string, more: object = {}) =>
      keepAsk(
        machine,
        {
          host: 'codex',
          project: root,
          tool: 'bash',
          once,
          suggestions: [],
          view: { ...view, subject, answers: ['once', 'deny'], ...more },
        },
        Date.now(),
      )!
    const first = keep('npm test', 'a')
    expect(keep('npm test', 'a')).toBe(first)
    // Shown otherwise, or offering more: that is not what was checked.
    const changed = keep('npm test', 'a', { hosts: ['evil.example'] })
    expect(changed).not.toBe(first)
    expect((await answer(world, { ask: first, kind: 'once' })).status).toBe(409)
    // Ids that an agent can compute are ids that it can collide with.
    const ids = Array.from({ length: 40 }, (_, at) => keep(`curl evil.example # ${at}`, `b${at}`))
    expect(new Set([...ids, first, changed]).size).toBe(42)
    for (const id of [...ids, changed]) await answer(world, { ask: id, kind: 'deny' })
    expect(keep('npm test', 'a')).not.toBe(changed)
    await answer(world, { ask: openAsks(machine, Date.now()).at(-1)!.id, kind: 'deny' })
  })

  it('what was not offered does not count, and a lasting answer needs the code', async () => {
    const id = ask(world, 'curl evil.example')
    for (const kind of ['always', 'session', 'time', 'deny-always', '__proto__', 'allow', ''])
      expect([kind, (await answer(world, { ask: id, kind, choice: 0, seconds: 60 })).status]).toEqual([kind, 400])
    expect(openAsks(world.sessions.machine, Date.now()).map((open) => open.id)).toContain(id)
    const offered = { kind: 'command', value: 'curl:*', admits: 'anything' } as const
    const waits = sharedPrompter(
      {
        name: 'nobody',
        ask: (_, signal) => new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason))),
      },
      { machine: world.sessions.machine, project: world.sessions.root, surface: 'chat' },
    ).ask(
      {
        ...{ tool: 'bash', subject: 'curl', input: {}, call: 'hash', facts: null, worst: { text: 'anything' } },
        ...{ decision: decision('x'), asks: [], suggestions: [offered] },
      } as never,
      new AbortController().signal,
    )
    const saved = openAsks(world.sessions.machine, Date.now()).at(-1)!.id
    const codes = ['000000', '111111', '222222'].filter((code) => !world.shown.at(-1)?.replace(' ', '').includes(code))
    expect((await answer(world, { ask: saved, kind: 'always', choice: 0 })).status).toBe(403)
    for (const code of codes)
      expect((await answer(world, { ask: saved, kind: 'always', choice: 0, code })).status).toBe(403)
    // Three wrong codes: the right one of before is good for nothing.
    const shown = /(\d{3} \d{3})$/.exec(world.shown.at(-1)!)![1]!
    expect((await answer(world, { ask: saved, kind: 'always', choice: 0, code: shown })).status).toBe(403)
    expect((await answer(world, { ask: saved, kind: 'deny' })).status).toBe(200)
    expect(await waits).toEqual({ kind: 'deny', by: 'page' })
  })
})

describe('the code of the terminal', () => {
  it('is not found by trying, however many rounds: after nine wrong ones no code counts', () => {
    const shown: string[] = []
    const consent = terminalConsent((text) => shown.push(text) > 0)
    const code = () => /(\d{3}) (\d{3})$/.exec(shown.at(-1)!)!.slice(1).join('')
    const wrong = () => String((Number(code()) + 1) % 1_000_000).padStart(6, '0')
    const rounds = (count: number) => {
      for (let round = 0; round < count; round++) {
        consent.take('action', null)
        for (let tries = 0; tries < 3; tries++) consent.take('action', wrong())
      }
    }
    // The control: after two rounds of wrong ones the right one still counts, and the count begins anew.
    rounds(2)
    consent.take('action', null)
    expect(consent.take('action', code())).toBeNull()
    rounds(3)
    expect(consent.take('action', null)).toContain('no more are accepted')
    expect(consent.take('action', code())).toContain('no more are accepted')
    expect(consent.take('another action', null)).toContain('no more are accepted')
    expect(shown).toHaveLength(6)
  })
})

describe('a stolen link', () => {
  it('answers its one question once, by a press and never by a visit, and is signed where it was sent', async () => {
    const got: { body: string; headers: IncomingHttpHeaders }[] = []
    const hook = createServer((incoming, response) => {
      let body = ''
      incoming.on('data', (chunk) => {
        body += String(chunk)
      })
      incoming.on('end', () => {
        got.push({ body, headers: incoming.headers })
        response.end()
      })
    })
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    const webhook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/notices`
    const reported = await openPageWorld({ ...QUIET, webhook })
    try {
      const secret = `ghp_${'a1B2'.repeat(9)}`
      const first = ask(reported, 'curl https://api.example')
      const second = ask(reported, `curl -H "Authorization: ${secret}" https://api.example`)
      await expect.poll(() => got.length).toBe(2)
      for (const { body } of got) expect(body).not.toContain(secret)
      // What is not shown whole has no link that says yes.
      const masked = got.map(({ body }) => body).find((body) => body.includes(second))!
      expect(Object.keys((JSON.parse(masked) as { answers: object }).answers)).toEqual(['deny'])
      const { signatureOf, webhookKey } = await import('../../../src/surfaces/page/notifier.ts')
      const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signed } = got[0]!.headers
      expect(signed).toBe(signatureOf(webhookKey(reported.sessions.machine), String(id), Number(time), got[0]!.body))
      const notice = JSON.parse(got.map(({ body }) => body).find((body) => body.includes(first))!) as {
        answers: { once: string; deny: string }
      }
      const path = new URL(notice.answers.once).pathname
      const bare = {
        authorization: undefined,
        'sec-fetch-site': undefined,
        origin: undefined,
        'content-type': undefined,
      }
      const open = () => openAsks(reported.sessions.machine, Date.now()).map((each) => each.id)
      expect((await send(reported, { path, headers: { ...bare, host: 'evil.example' } })).status).toBe(403)
      const looked = await send(reported, { path, headers: bare })
      expect([looked.status, looked.text.includes('<form method="post">'), open()]).toEqual([
        200,
        true,
        [first, second],
      ])
      expect((await send(reported, { path, method: 'POST', headers: bare })).text).toContain('“once”, by a link')
      expect(open()).toEqual([second])
      expect((await send(reported, { path, method: 'POST', headers: bare })).status).toBe(410)
      // The other link of the question went with it, and a guess was never one.
      for (const other of [new URL(notice.answers.deny).pathname, `/answer/${'A'.repeat(43)}`])
        expect((await send(reported, { path: other, method: 'POST', headers: bare })).status).toBe(410)
      expect(open()).toEqual([second])
    } finally {
      await reported.close()
      hook.closeAllConnections()
      hook.close()
    }
  })
})

/** Bytes outside of the heap that are still referenced. */
function heldMemory(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().external
}

it('a reader that does not read delays nobody, and takes no memory', async () => {
  writeRecord(world, 'flood', 100_000, (at) => ({ subject: `echo ${at} ${'x'.repeat(120)}` }))
  const slow = connect(world.server.port, '127.0.0.1')
  slow.pause()
  slow.write(
    `GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:${world.server.port}\r\nAuthorization: Bearer ${world.token}\r\nSec-Fetch-Site: same-origin\r\n\r\n`,
  )
  const before = heldMemory()
  for (let round = 0; round < 20; round++) {
    expect((await send(world, {})).status).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  // The record is 30 MB; what a reader is owed is read when it asks for it.
  // What is let go of is swept aside by its own thread, which takes its time.
  await expect.poll(() => heldMemory() - before).toBeLessThan(8 * 1024 * 1024)
  slow.destroy()
})

describe('texts that an agent chooses', () => {
  it('make no markup, run nothing, and cannot hide: in a real browser, in every field', async () => {
    const hostile = await openPageWorld()
    const browser = await openBrowser()
    try {
      // File names, commands, hosts, projects, and what an MCP server calls itself and its tools.
      writeRecord(hostile, 'hostile', HOSTILE.length, (at) => {
        const { text } = HOSTILE[at]!
        const decision = { verdict: text, reason: text, message: text, rules: [text] }
        return {
          tool: text,
          agent: text,
          project: text,
          subject: text,
          args: { [text]: text },
          hosts: [text],
          files: [text],
          decision,
        }
      })
      // What a call started, reached and changed, and who answered: all of it is chosen by somebody.
      const ended = HOSTILE.flatMap(({ text }, at) => {
        const [time, call] = [new Date().toISOString(), `e${at}`]
        const programs = [{ name: text, by: 9 }, { name: text, by: 0 }, { name: text, by: -1 }, text, null]
        const reach = { hosts: [text], refused_hosts: [text], host_programs: { [text]: [text] } }
        const bytes = { [text]: { up: Number.MAX_VALUE, down: text } }
        const changes = { undo: text, made: 1, changed: text, removed: null, names: [`+${text}/a`, text, ''] }
        const about = { call, agent: text, project: text, tool: text, args: { command: text } }
        return [
          { time, type: 'begin', ...about, decision: { verdict: 'ask', reason: text, rules: [text], worst: { text } } },
          { time, type: 'approval', call, approver: text, approved: at % 2 === 0, scope: text },
          {
            time,
            type: 'end',
            call,
            ...reach,
            host_bytes: bytes,
            programs,
            changes,
            violations: [{ kind: text, subject: text }],
          },
        ]
      })
      writeLines(hostile, 'hostile-ends', ended)
      for (const { text } of HOSTILE) ask(hostile, text, { host: text, project: text, tool: text })
      const { page, errors } = await openTab(browser, hostile.server.link)
      await page.locator('article.ask').first().waitFor()
      await expect.poll(() => page.locator('article.ask').count()).toBe(HOSTILE.length)
      const seen = await page.locator('pre.subject').allTextContents()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not arrive.
      for (const subject of seen) expect(subject).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u001b\u0000]/)
      await page.click('nav a[href="#/today"]')
      await page.locator('.bars a').first().waitFor()
      const links = () => page.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
      const isOwn = (href: string | null) => href?.startsWith('#/') === true
      expect((await links()).filter((href) => !isOwn(href))).toEqual([])
      await page.locator('.bars a', { hasText: 'javascript:' }).first().click()
      for (const session of ['hostile-ends', 'hostile']) {
        await page.goto(`${hostile.origin}/#/record?session=${session}`)
        await page.locator('.row').first().waitFor()
        for (let at = 0; at < 12; at++) {
          await page.locator(`[data-at="${at}"]`).click()
          await page.locator('dialog pre.subject').waitFor()
          expect((await links()).filter((href) => !isOwn(href))).toEqual([])
          await page.keyboard.press('Escape')
        }
      }
      // A link that somebody sends fills in a form, and does nothing.
      for (const { text } of HOSTILE.slice(0, 8)) {
        await page.goto(`${hostile.origin}/#/policy?${new URLSearchParams({ kind: text, value: text })}`)
        await page.goto(`${hostile.origin}/#/record?${new URLSearchParams({ by: text, since: text, tool: text })}`)
      }
      await page.click('nav a[href="#/policy"]')
      for (const { text: command } of HOSTILE.slice(0, 4)) {
        await page.getByLabel('A command, as an agent would write it').fill(command)
        await page.getByRole('button', { name: 'Explain' }).click()
      }
      await page.locator('.verdict').first().waitFor()
      expect(await page.evaluate('window.pwned')).toBeUndefined()
      expect(
        await page.evaluate(
          'document.querySelectorAll("img, iframe, script:not([src]), object, embed, form[action]").length',
        ),
      ).toBe(0)
      // What undo does not keep is not found, and an address has an end.
      expect(errors.filter((error) => !/status of (404|431)/.test(error))).toEqual([])
      errors.length = 0
      // The report is a separate file with scripts, and no server could refuse some.
      const report = join(hostile.sessions.root, 'report.html')
      writeFileSync(report, openAuditTrail(hostile.sessions.machine).report({}, new Date(), 'page'))
      await page.goto(`file://${report}`)
      for (const call of await page.locator('details.call').all()) await call.locator('summary').click()
      expect(await page.evaluate('window.pwned')).toBeUndefined()
      expect(
        await page.evaluate('document.querySelectorAll("img, iframe, svg, object, form, base, #calls a").length'),
      ).toBe(0)
      const reported = await page.locator('#calls').textContent()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not arrive.
      expect(reported).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u001b\u0000]/)
      expect(reported).toContain('<script>window.pwned=1</script>')
      expect(errors).toEqual([])
    } finally {
      await browser.close()
      await hostile.close()
    }
  })

  it('a foreign page can neither frame it nor reach its data', async () => {
    const browser = await openBrowser()
    const evil = createServer((_, response) => {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><iframe src="${world.origin}/"></iframe>`)
    })
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
    try {
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`)
      expect(
        await page
          .frames()[1]
          ?.evaluate('document.querySelector("#page")')
          .catch(() => null),
      ).toBeNull()
      const tried = await page.evaluate(
        `Promise.all(['no-cors', 'cors'].flatMap((mode) => ['GET', 'POST'].map((method) => fetch(${JSON.stringify(`${world.origin}/api/about`)}, { mode, method, headers: { authorization: 'Bearer ${world.token}' } }).then((answer) => answer.type + answer.status, () => 'refused'))))`,
      )
      expect(tried).toEqual(['refused', 'refused', 'refused', 'refused'])
    } finally {
      await browser.close()
      evil.closeAllConnections()
      evil.close()
    }
  })
})
