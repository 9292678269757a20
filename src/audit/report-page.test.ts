import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { PAGE_SCRIPT, reportedCalls } from './report.ts'

/** As much of a document as the page's script touches. */
class FakeElement {
  readonly children: FakeElement[] = []
  readonly style: Record<string, string> = {}
  readonly listeners: Record<string, () => void> = {}
  readonly attributes: Record<string, unknown> = {}
  className = ''
  textContent = ''
  hidden = false
  open = false
  clientWidth = 900
  value = ''
  title = ''
  onclick: (() => void) | null = null
  oninput: ((event: { target: { value: string } }) => void) | null = null
  onchange: ((event: { target: { value: string } }) => void) | null = null
  get options(): FakeElement[] {
    return this.children
  }
  append(...nodes: FakeElement[]): void {
    this.children.push(...nodes)
  }
  replaceChildren(...nodes: FakeElement[]): void {
    this.children.splice(0, this.children.length, ...nodes)
  }
  setAttribute(name: string, value: unknown): void {
    this.attributes[name] = value
  }
  addEventListener(name: string, listener: () => void): void {
    this.listeners[name] = listener
  }
  get text(): string {
    return this.textContent + this.children.map((child) => child.text).join(' ')
  }
}

function openPage(data: object): (id: string) => FakeElement {
  const elements = new Map<string, FakeElement>()
  const byId = (id: string): FakeElement => {
    const known = elements.get(id) ?? new FakeElement()
    elements.set(id, known)
    return known
  }
  byId('data').textContent = JSON.stringify(data)
  const document = { getElementById: byId, createElement: () => new FakeElement() }
  class Option extends FakeElement {}
  runInNewContext(PAGE_SCRIPT, { document, Option, addEventListener: () => undefined, setTimeout, clearTimeout })
  return byId
}

const line = (seq: number, fields: object) => ({
  v: 1,
  seq,
  time: `2026-01-01T00:00:0${seq}.000Z`,
  session: 's',
  type: '',
  prev: '',
  ...fields,
})

const calls = reportedCalls([
  line(1, {
    type: 'begin',
    call: 'a',
    tool: 'bash',
    subject: 'git status',
    decision: { verdict: 'allow', reason: 'granted' },
    hosts: ['x.com'],
    files: ['/p/a'],
  }),
  line(2, { type: 'end', call: 'a', outcome: 'ok', duration_ms: 1500 }),
  line(3, {
    type: 'denied',
    call: 'b',
    tool: 'http',
    subject: 'evil\u202etxt',
    decision: { verdict: 'deny', reason: 'host-denied' },
  }),
])

it('the page draws calls, hosts and what was stopped, and filters them', () => {
  const byId = openPage({ calls, notes: [], damage: [] })
  expect(byId('calls').children).toHaveLength(2)
  expect(byId('hosts').text).toContain('x.com')
  expect(byId('stopped').text).toContain('host-denied')
  expect(byId('calls').text).toContain('1.5 s')
  byId('search').oninput!({ target: { value: 'git' } })
  expect(byId('calls').children).toHaveLength(1)
  expect(byId('hosts').text).toContain('x.com')
  byId('search').oninput!({ target: { value: 'nothing like this' } })
  expect(byId('empty').hidden).toBe(false)
})

it('opens the details of a call, and shows what hides itself', () => {
  const byId = openPage({ calls, notes: [], damage: [] })
  const denied = byId('calls').children[1]!
  denied.open = true
  denied.listeners.toggle!()
  expect(denied.text).toContain('deny: host-denied')
  expect(denied.text).toContain('evil\\u{202e}txt')
  expect(denied.text).not.toContain('\u202e')
})

it('shows damage and notes where there are any', () => {
  const damage = [{ kind: 'cut', file: 'f', line: 3, message: 'the tail was cut off' }]
  const notes = [{ time: '2026-01-01T00:00:00Z', type: 'taint', rest: { rule: 'x' } }]
  const byId = openPage({ calls: [], notes, damage })
  expect(byId('damage').text).toContain('the tail was cut off')
  expect(byId('notes').text).toContain('taint')
  expect(byId('timeline').text).toContain('No calls.')
})
