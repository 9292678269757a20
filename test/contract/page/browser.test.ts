/** The page in a real browser: what a person does there, and that everybody can (X6). */

import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { countAnswer } from '../../../src/project/answer-counts.ts'
import type { Cordon } from '../../../src/session/cordon.ts'
import {
  ASKING,
  openBrowser,
  openPageWorld,
  openTab,
  type PageWorld,
  writeDays,
  writeFleet,
  writeLines,
  writeRecord,
} from './page-world.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const VIEWS = ['now', 'today', 'record', 'policy', 'timeline', 'health']

let browser: Browser
let world: PageWorld
let cordon: Cordon
beforeAll(async () => {
  browser = await openBrowser()
  world = await openPageWorld()
  await world.sessions.sign(ASKING)
  // The person at the terminal does not answer: the process that does is on the page.
  world.sessions.answer = () => new Promise(() => {})
  cordon = await world.sessions.open({ answeredElsewhere: 'chat' })
})
afterAll(async () => {
  await browser?.close()
  await world?.close()
})

const bash = (command: string) => cordon.openSession().call('bash', { command })
const show = (page: Page, view: string) => page.click(`nav a[href="#/${view}"]`)

/** What axe finds wrong with the page as it is. */
async function violations(page: Page): Promise<string[]> {
  // Trusted Types allow no script built from text; the debugger is exempt.
  const client = await page.context().newCDPSession(page)
  await client.send('Runtime.evaluate', { expression: AXE })
  const { result } = await client.send('Runtime.evaluate', {
    expression:
      'axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => id + ": " + nodes[0].html)))',
    awaitPromise: true,
  })
  return JSON.parse(result.value as string) as string[]
}

it('answers an ask, shows what came of it live, opens it with its diff, and puts it back', async () => {
  const { page, errors } = await openTab(browser, world.server.link)
  expect(page.url()).toBe(`${world.origin}/#/now`)
  await page.getByText('No questions are waiting.').waitFor()
  const ran = cordon.openSession().call('write', { path: 'new.txt', content: 'hello\n' })
  const ask = page.locator('article.ask')
  await ask.waitFor()
  expect(await ask.locator('pre').allTextContents()).toEqual(['new.txt', 'hello\n'])
  expect(await page.title()).toBe('(1) Cordon asks')
  await page.getByText('No session runs.').waitFor({ state: 'hidden' })
  await ask.getByRole('button', { name: 'Yes, once' }).click()
  expect((await ran).status).toBe('done')
  await ask.waitFor({ state: 'hidden' })
  expect(world.sessions.text('new.txt')).toBe('hello\n')
  await show(page, 'record')
  await page.locator('.row', { hasText: 'new.txt' }).filter({ hasText: '1 changed' }).click()
  await page.getByRole('dialog').locator('.plus', { hasText: 'hello' }).waitFor()
  await page.getByRole('button', { name: 'Undo this call' }).click()
  await page.getByRole('button', { name: 'Yes, undo' }).click()
  await page.getByText('Undone: 1 call.').waitFor()
  expect(Object.keys(world.sessions.snapshot())).not.toContain('new.txt')
  await page.keyboard.press('Escape')
  await show(page, 'timeline')
  await page.locator('.timeline li', { hasText: 'undone' }).first().waitFor()
  expect(errors).toEqual([])
  await page.context().close()
})

it('undoes to a point, and says first what is not as it was left', async () => {
  const { page, errors } = await openTab(browser, world.server.link)
  for (const [at, content] of ['one', 'two', 'three'].entries()) {
    const ran = cordon.openSession().call('write', { path: `step${at}.txt`, content })
    await page.locator('article.ask').getByRole('button', { name: 'Yes, once' }).click()
    expect((await ran).status).toBe('done')
  }
  await show(page, 'timeline')
  const step = (at: number) => page.locator('.timeline li.card', { hasText: `step${at}.txt` }).first()
  const undo = async (at: number) => {
    await step(at).getByRole('button', { name: 'Undo to before this' }).click()
    await step(at).getByRole('button', { name: 'Yes, undo' }).click()
  }
  const steps = () => Object.keys(world.sessions.snapshot()).filter((name) => name.startsWith('step'))
  await undo(1)
  await page.getByText('Undone: 2 calls.').waitFor()
  expect(steps()).toEqual(['step0.txt'])
  // The person wrote into it since: nothing is lost by a press of one button.
  world.sessions.file('step0.txt', 'mine')
  await undo(0)
  await step(0).getByText('it changed since').waitFor()
  expect(world.sessions.text('step0.txt')).toBe('mine')
  await step(0).getByRole('button', { name: 'Restore the rest anyway' }).click()
  await page.getByText('Undone: 1 call.').waitFor()
  expect(steps()).toEqual([])
  // The browser logs every answer that is an error.
  expect(errors.filter((error) => !error.includes('409'))).toEqual([])
  await page.context().close()
})

it('needs the code of the terminal for what outlives the question', async () => {
  const { page } = await openTab(browser, world.server.link)
  const ran = bash('ls -la')
  const ask = page.locator('article.ask')
  await ask.getByText('Answer for longer').click()
  await ask.getByRole('button', { name: 'Yes, this session' }).click()
  const field = ask.getByLabel('Code from the terminal')
  await field.fill('000 000')
  await ask.getByRole('button', { name: 'Confirm' }).click()
  await ask.getByText('that is not the code').waitFor()
  expect(world.shown.at(-1)).toContain('grant for the session: command ls -la')
  await field.fill(/(\d{3} \d{3})$/.exec(world.shown.at(-1)!)![1]!)
  await ask.getByRole('button', { name: 'Confirm' }).click()
  expect((await ran).status).toBe('done')
  expect(world.sessions.auditLines().find((line) => line.scope === 'session')).toMatchObject({ approver: 'page' })
  await page.context().close()
})

it('explains a call, and says what a grant would have admitted', async () => {
  const { page, errors } = await openTab(browser, world.server.link)
  await show(page, 'policy')
  await page.getByLabel('A command, as an agent would write it').fill('git status && rm -rf /')
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.locator('.tree code', { hasText: 'rm -rf /' }).first().waitFor()
  expect(await page.locator('.tree > li').count()).toBeGreaterThan(1)
  await page.getByLabel('Pattern, as cordon.toml has it').fill('echo:*')
  await page.getByRole('button', { name: 'Try it on the record' }).click()
  await page.getByText(/recorded calls it would have allowed \d+ kinds pass/).waitFor()
  expect(errors).toEqual([])
  await page.context().close()
})

it('shows a day as pictures, and a click on one is a filter of the record', async () => {
  writeDays(world)
  const { page, errors } = await openTab(browser, world.server.link)
  await show(page, 'today')
  await page.getByText('30 days').click()
  await page.locator('.tile', { hasText: 'calls' }).waitFor()
  expect(await page.locator('.columns a').count()).toBe(30)
  await page.locator('.bars a', { hasText: 'telemetry.example.net' }).click()
  expect(new URL(page.url()).hash).toContain('host=telemetry.example.net')
  await page.locator('.row', { hasText: 'npm run lint' }).first().waitFor()
  const shown = /^(\d+) of/.exec((await page.locator('.tools [role=status]').textContent()) ?? '')![1]
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  const rows = readFileSync(await (await saved).path(), 'utf8')
    .trimEnd()
    .split('\n')
  expect(rows.map((row) => (JSON.parse(row) as { end: { refused: string } }).end.refused)).toEqual(
    Array.from({ length: Number(shown) }, () => 'telemetry.example.net'),
  )
  // The time is a part of the filter that a press takes away; the back button brings the pictures back.
  await page.getByRole('button', { name: /^since/ }).click()
  expect(new URL(page.url()).hash).not.toContain('since=')
  await page.goBack()
  await page.getByText('7 days').click()
  await page.locator('.tile', { hasText: 'calls' }).waitFor()
  const report = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  expect(readFileSync(await (await report).path(), 'utf8')).toContain('packages.example')
  expect(errors).toEqual([])
  await page.context().close()
})

it('opens a call: what it was, what it started, reached and changed, and what to do about it', async () => {
  const { page, errors } = await openTab(browser, world.server.link)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const call = { call: 'k', agent: 'codex', project: world.sessions.root, tool: 'bash' }
  const time = new Date().toISOString()
  const rules = ['permission.mode (cordon.toml:3:1)']
  const programs = [{ name: 'npm ci' }, { name: 'node', by: 0 }, { name: 'sh', by: 1 }, { name: 'sh', by: 1 }]
  const hosts = { hosts: ['r.example'], host_bytes: { 'r.example': { up: 512, down: 2048 } } }
  const end = { type: 'end', call: 'k', outcome: 'ok', duration_ms: 1500, exit_code: 0 }
  writeLines(world, 'invented', [
    { ...call, time, type: 'begin', args: { command: 'npm ci' }, decision: { verdict: 'ask', reason: 'x', rules } },
    { time, type: 'approval', call: 'k', approver: 'terminal', approved: true },
    { ...end, time, programs, programs_left_out: 2, ...hosts, host_programs: { 'r.example': ['npm ci'] } },
  ])
  // What `cordon doctor` tries on every hook is not a call of an agent.
  const { SELF_TEST_COMMAND } = await import('../../../src/agents/hook/self-test.ts')
  const tried = createHash('sha256')
    .update(JSON.stringify({ command: SELF_TEST_COMMAND }))
    .digest('hex')
  writeLines(world, 'tried', [{ ...call, time, type: 'denied', subject: 'self-test', args_hash: tried }])
  await page.goto(`${world.origin}/#/record?session=invented`)
  await page.locator('.row', { hasText: 'codex in project' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Answered: yes, once, by terminal').waitFor()
  await dialog.getByText('permission.mode (cordon.toml:3:1)', { exact: true }).waitFor()
  expect(await dialog.locator('.programs code').allTextContents()).toEqual(['npm ci', 'node', 'sh'])
  await dialog.getByText('× 2').waitFor()
  expect(await dialog.locator('td').allTextContents()).toEqual(['r.example', '512 B', '2.0 kB', 'npm ci'])
  await dialog.getByRole('button', { name: 'Copy as a test case' }).click()
  await dialog.getByText('Copied.').waitFor()
  expect(JSON.parse(await page.evaluate('navigator.clipboard.readText()'))).toEqual({
    command: 'npm ci',
    expect: 'ask',
  })
  await dialog.getByRole('button', { name: 'Explain' }).click()
  await dialog.getByText('How it would be decided now').waitFor()
  await dialog.getByRole('button', { name: 'Make a rule' }).click()
  expect(await violations(page)).toEqual([])
  await dialog.getByRole('link', { name: 'command npm ci' }).first().click()
  await page.getByRole('button', { name: 'Try it on the record' }).click()
  await page.getByText(/^cordon add command /).waitFor()
  await page.goto(`${world.origin}/#/record?text=self-test`)
  await page.getByText('Nothing fits this filter.').waitFor()
  expect(errors).toEqual([])
  await page.context().close()
})

it('maps the policy with its use, and offers what was never used as a diff that it does not sign', async () => {
  const grants = '[capabilities.allow.commands]\npatterns = ["npm ci", "never run"]\ndefault_domains = ["r.example"]\n'
  await world.sessions.sign(`${ASKING}${grants}`)
  const { page, errors } = await openTab(browser, world.server.link)
  await show(page, 'policy')
  const row = page.locator('.map tr', { hasText: 'Every call' })
  await row.locator('li', { hasText: 'npm ci' }).locator('.used').waitFor()
  await row.locator('li', { hasText: 'never run' }).getByText('not in 30 days').waitFor()
  await row.locator('li', { hasText: 'r.example' }).locator('.used').waitFor()
  await page.getByRole('button', { name: 'What was never used?' }).click()
  await page.locator('.minus', { hasText: '"never run"' }).waitFor()
  expect(await page.locator('.plus').allTextContents()).toEqual(['+ patterns = ["npm ci"]\n'])
  expect(world.sessions.text('cordon.toml')).toContain('never run')
  await world.sessions.sign(ASKING)
  expect(errors).toEqual([])
  await page.context().close()
})

it('offers what was always answered with yes, while nothing waits', async () => {
  const { machine, root } = world.sessions
  for (let at = 0; at < 5; at++)
    for (const value of ['git push origin:kind', 'npm run x\u202e'])
      countAnswer(machine, root, { kind: 'command', value, admits: '' }, true, Date.now())
  const { page, errors } = await openTab(browser, world.server.link)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByText('5 times yes, never no: command git push origin:kind').waitFor()
  // What would act on a terminal is not offered for one.
  expect(await page.getByText('5 times yes').count()).toBe(1)
  await page.getByRole('button', { name: 'Copy the command' }).click()
  await page.getByText('Copied.').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    `cordon add command 'git push origin:kind' --root ${root}`,
  )
  expect(await violations(page)).toEqual([])
  // Never in the middle of a question, which the record calls open until it is answered.
  const ran = bash('ls -la')
  await page.locator('article.ask').waitFor()
  await page.getByText('5 times yes').waitFor({ state: 'detached' })
  await show(page, 'record')
  await page.locator('.row', { hasText: 'not answered yet' }).waitFor()
  await show(page, 'now')
  await page.locator('article.ask button:enabled', { hasText: /^No$/ }).click()
  expect(await ran).toMatchObject({ status: 'refused' })
  await page.getByText('5 times yes').waitFor()
  await show(page, 'record')
  await page.locator('.row', { hasText: 'no, by' }).first().waitFor()
  expect(await page.locator('.row', { hasText: 'not answered yet' }).count()).toBe(0)
  expect(errors).toEqual([])
  await page.context().close()
})

it('goes by keys, which `?` shows', async () => {
  const { page, errors } = await openTab(browser, world.server.link)
  await page.locator('main.view-now').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('to the filter').waitFor()
  expect(await violations(page)).toEqual([])
  // Keys belong to the dialog while it is open.
  await page.keyboard.press('3')
  expect(await page.locator('main.view-now').count()).toBe(1)
  await page.keyboard.press('Escape')
  await page.keyboard.press('3')
  await page.locator('main.view-record').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('2?')
  expect(await page.getByLabel('Words').inputValue()).toBe('2?')
  expect(errors).toEqual([])
  await page.context().close()
})

it('keeps a record of 50,000 calls to the rows that are seen, also while it is filtered', async () => {
  writeRecord(world, 'many', 50_000)
  const { page, errors } = await openTab(browser, world.server.link)
  await show(page, 'record')
  await page.getByText(/of 5\d{4}$/).waitFor()
  const rows = page.locator('.row')
  expect(await rows.count()).toBeLessThan(60)
  await page.getByRole('combobox', { name: 'Session', exact: true }).selectOption('many')
  await page.getByRole('combobox', { name: 'Verdict', exact: true }).selectOption('deny')
  await page.getByText(/^500 of/).waitFor()
  await page.getByLabel('Words').fill('echo 49900')
  await page.getByText(/^1 of/).waitFor()
  await page.getByLabel('Words').fill('')
  await page.getByRole('combobox', { name: 'Verdict', exact: true }).selectOption('')
  await rows.first().focus()
  await page.keyboard.press('End')
  await page.locator('.row:focus', { hasText: 'echo 0' }).waitFor()
  expect(await rows.count()).toBeLessThan(60)
  expect(await page.locator('[aria-posinset="50000"]').count()).toBe(1)
  await show(page, 'today')
  await page.locator('main.view-today').waitFor()
  expect(errors).toEqual([])
  await page.context().close()
})

it('is for everybody: by keys alone, at the width of a phone, in the dark, for those who hear it', async () => {
  const { page, errors } = await openTab(browser, world.server.link, 360)
  const ran = bash('ls -a')
  await page.locator('article.ask').waitFor()
  expect(await violations(page)).toEqual([])
  // Buttons of a new question take no press for a moment.
  await page.locator('article.ask button:enabled', { hasText: 'Yes, once' }).waitFor()
  // From the top of the page to the answer, without a mouse.
  const reach = async (name: string) => {
    for (let step = 0; step < 30; step++) {
      await page.keyboard.press('Tab')
      const focused = await page.evaluate('document.activeElement?.textContent ?? ""')
      if (String(focused).startsWith(name)) return
    }
    throw new Error(`${name} is not reached by Tab`)
  }
  await reach('Yes, once')
  await page.keyboard.press('n')
  expect(await ran).toMatchObject({ status: 'refused' })
  for (const view of VIEWS) {
    await show(page, view)
    await page.locator(`main.view-${view}`).waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    expect([view, wide]).toEqual([view, 0])
    expect([view, await violations(page)]).toEqual([view, []])
  }
  await page.emulateMedia({ colorScheme: 'dark' })
  for (const view of VIEWS) {
    await show(page, view)
    await page.locator(`main.view-${view}`).waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    expect([view, await violations(page)]).toEqual([view, []])
  }
  expect(errors).toEqual([])
  await page.context().close()
})

it('shows the operator of a fleet its machines, and nobody else a view of one', async () => {
  const alone = await openTab(browser, world.server.link)
  expect(await alone.page.locator('nav a').allTextContents()).not.toContain('Fleet')
  const { machine } = world.sessions
  await writeFleet(world, 210)
  const { page, errors } = await openTab(browser, world.server.link)
  await page.locator('nav a', { hasText: 'Fleet' }).waitFor()
  await page.keyboard.press('7')
  await page.getByRole('heading', { name: 'Machines' }).waitFor()
  // 19 machines have never reported, and 28 of the others have the policy before this one.
  expect(await page.locator('.tile').allTextContents()).toEqual([
    '210 machines',
    '47 drifting',
    '360,778 calls',
    '384 refused',
    '– open questions need NATS',
  ])
  expect(await page.locator('.bars', { hasText: 'Cordon' }).locator('li').allTextContents()).toEqual([
    '0.1.0143',
    '0.0.948',
    'unknown19',
  ])
  await page.getByText('210 of 210, the first 200 are shown').waitFor()
  expect(await page.locator('tbody tr').count()).toBe(200)
  // What drifts comes first.
  await page.locator('tbody tr').first().getByText('it has ').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('k8s-11')
  await page.getByText('5 of 210').waitFor()
  expect(await violations(page)).toEqual([])
  expect(errors).toEqual([])
  rmSync(join(machine.configDir, 'fleet.json'))
  await page.context().close()
  await alone.page.context().close()
})
