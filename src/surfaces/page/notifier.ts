/** Notifies a person of questions: a signed webhook and a desktop notification. */

import { spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { OpenAsk } from '../../questions/asks.ts'
import { visible } from '../../scan/visible-text.ts'
import { askText } from '../../session/cordon.ts'
import { messageOf } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, readOwnFile, writeOwnFile } from '../../system/state.ts'
import type { AnswerLinks } from './answer-page.ts'

/** How to notify the person. */
export interface NoticeSettings {
  readonly webhook: string | null
  readonly format: 'json' | 'ntfy'
  readonly answerUrl: string | null
  readonly desktop: boolean
}

const TIMEOUT_MS = 10_000

/** The signing key for notices, created on first use. */
export function webhookKey(machine: Machine): string {
  const path = join(openOwnDirectory(machine.stateDir), 'webhook.key')
  const known = readOwnFile(path)
  if (known) return Buffer.from(known).toString('utf8').trim()
  const fresh = `whsec_${randomBytes(32).toString('base64')}`
  writeOwnFile(path, `${fresh}\n`)
  return fresh
}

/** The signature of Standard Webhooks. */
export function signatureOf(key: string, id: string, time: number, body: string): string {
  const secret = Buffer.from(key.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest('base64')}`
}

/** A question to send: masked, with its answer links. */
export interface Notice {
  readonly id: string
  readonly project: string
  readonly from: string
  readonly tool: string
  readonly subject: string
  /** All its reasons. */
  readonly reason: string
  /** The question as every surface shows it. */
  readonly text: string
  /** Whether `text` is complete. If not, there is no link for a yes. */
  readonly whole: boolean
  readonly answers: { readonly once?: string; readonly deny: string }
}

/** ntfy turns longer messages into attachments, which nobody reads before answering. */
const MAX_BYTES = 3500

/** A question's notice. A lost notice allows nothing. */
export function noticeOf(ask: OpenAsk, links: AnswerLinks, base: string): Notice {
  const url = (kind: 'once' | 'deny') => `${base.replace(/\/$/, '')}/answer/${links.make({ ask: ask.id, kind })}`
  const { view } = ask
  const all = askText(view, { whole: true })
  const whole =
    Buffer.byteLength(all) <= MAX_BYTES && view.masked === 0 && view.fields.every(({ hidden }) => hidden === 0)
  const reasons = view.reasons.flatMap(({ messages }) => messages.map(({ text }) => visible(text)))
  return {
    id: ask.id,
    project: visible(ask.project),
    from: visible(ask.host),
    tool: visible(ask.tool),
    subject: cut(visible(view.subject)),
    reason: cut(reasons.join(' ')),
    text: whole ? all : `${cut(all)}\nNot all of it is shown here: answer with cordon ui or cordon approvals.`,
    whole,
    answers: { ...(whole && view.answers.includes('once') && { once: url('once') }), deny: url('deny') },
  }
}

/** The start of a text, and how much is missing. */
function cut(text: string): string {
  if (Buffer.byteLength(text) <= MAX_BYTES) return text
  const kept = Buffer.from(text)
    .subarray(0, MAX_BYTES - 500)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
  return `${kept} … (${(text.length - kept.length).toLocaleString('en')} more characters)`
}

/** Posts a notice; returns null or the problem. Redirects are not followed. */
export async function postNotice(notice: Notice, settings: NoticeSettings, key: string): Promise<string | null> {
  const { webhook, format } = settings
  if (webhook === null) return null
  const { url, body } =
    format === 'ntfy' ? ntfyMessage(notice, webhook) : { url: webhook, body: JSON.stringify(notice) }
  const time = Math.floor(Date.now() / 1000)
  const id = `ask_${notice.id}`
  try {
    const answer = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(time),
        'webhook-signature': signatureOf(key, id, time, body),
      },
    })
    await answer.body?.cancel()
    return answer.ok ? null : `the webhook answered ${answer.status}`
  } catch (error) {
    const cause = error instanceof Error && error.cause ? ` (${messageOf(error.cause)})` : ''
    return `the webhook was not reached: ${messageOf(error)}${cause}`
  }
}

/** ntfy takes JSON at its root, with the topic in it. */
function ntfyMessage({ tool, text, project, answers }: Notice, webhook: string) {
  const { origin, pathname } = new URL(webhook)
  const button = (label: string, url: string) => ({ action: 'http', label, url, method: 'POST', clear: true })
  const body = {
    topic: decodeURIComponent(pathname.split('/').filter(Boolean).at(-1) ?? ''),
    title: `Cordon asks: ${tool}`,
    message: `${text}\n${project}`,
    priority: 4,
    actions: [...(answers.once === undefined ? [] : [button('Yes, once', answers.once)]), button('No', answers.deny)],
  }
  return { url: `${origin}/`, body: JSON.stringify(body) }
}

/** Shows a desktop notification if a program for it exists. */
export function notifyDesktop({ tool, subject }: Notice, env: Readonly<Record<string, string | undefined>>): void {
  if (!env.DBUS_SESSION_BUS_ADDRESS && !env.DISPLAY && !env.WAYLAND_DISPLAY) return
  // The body is markup.
  const short = subject.length > 300 ? `${subject.slice(0, 300).toWellFormed()} …` : subject
  const text = short.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  const child = spawn('notify-send', ['--app-name=Cordon', '--', `Cordon asks: ${tool}`, text], { stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
}
