/** The page in a real browser: what a person does there, and that everybody can (X6). */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Cordon } from '../../../src/session/cordon.ts'
import { ASKING, openBrowser, openPageWorld, openTab, type PageWorld, writeRecord } from './page-world.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const VIEWS = ['now', 'record', 'policy', 'timeline', 'health']

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
  // Trusted Types allow no script made from text; the debugger is not held to that.
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
  const ran = cordon.openSession().call('write', { path: 'made.txt', content: 'hello\n' })
  const ask = page.locator('article.ask')
  await ask.waitFor()
  expect(await ask.locator('pre').allTextContents()).toEqual(['made.txt', 'hello\n'])
  expect(await page.title()).toBe('(1) Cordon asks')
  await page.getByText('No session runs.').waitFor({ state: 'hidden' })
  await ask.getByRole('button', { name: 'Yes, once' }).click()
  expect((await ran).status).toBe('done')
  await ask.waitFor({ state: 'hidden' })
  expect(world.sessions.text('made.txt')).toBe('hello\n')
  await show(page, 'record')
  await page.locator('.row', { hasText: 'made.txt' }).filter({ hasText: '1 changed' }).click()
  await page.getByRole('dialog').locator('.plus', { hasText: 'hello' }).waitFor()
  await page.getByRole('button', { name: 'Undo this call' }).click()
  await page.getByRole('button', { name: 'Yes, undo' }).click()
  await page.getByText('Undone: 1 call.').waitFor()
  expect(Object.keys(world.sessions.snapshot())).not.toContain('made.txt')
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
  // The browser tells of every answer that is an error.
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
    await page.locator('h1').waitFor()
    await page.getByText('Looking …').waitFor({ state: 'hidden' })
    const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    expect([view, wide]).toEqual([view, 0])
    expect([view, await violations(page)]).toEqual([view, []])
  }
  await page.emulateMedia({ colorScheme: 'dark' })
  for (const view of VIEWS) {
    await show(page, view)
    await page.getByText('Looking …').waitFor({ state: 'hidden' })
    expect([view, await violations(page)]).toEqual([view, []])
  }
  expect(errors).toEqual([])
  await page.context().close()
})
