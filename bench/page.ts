/** The page with 50,000 recorded calls, in a real browser: how long until they are there, and from a key in the filter to the next picture. */

import { openBrowser, openPageWorld, openTab, writeRecord } from '../test/contract/page/page-world.ts'
import { median, printTable } from './measure.ts'

const CALLS = 50_000
const WORDS = ['echo 4', 'bash', 'nothing like it', 'echo 49999']

/** Prints the table. */
export async function benchPage(): Promise<void> {
  const world = await openPageWorld()
  const browser = await openBrowser()
  try {
    writeRecord(world, 'many', CALLS)
    const start = performance.now()
    const { page } = await openTab(browser, world.server.link)
    await page.click('nav a[href="#/record"]')
    await page.getByText(new RegExp(`of ${CALLS}$`)).waitFor()
    const filled = performance.now() - start
    // From the key to the frame after the one that shows what it found.
    await page.evaluate(`
      window.keyed = []
      document.querySelector('input[type=search]').addEventListener('input', () => {
        const at = performance.now()
        requestAnimationFrame(() => requestAnimationFrame(() => window.keyed.push(performance.now() - at)))
      }, true)`)
    for (const words of WORDS) {
      await page.getByLabel('Words').pressSequentially(words, { delay: 60 })
      await page.getByLabel('Words').fill('')
    }
    await page.waitForTimeout(200)
    const keyed = (await page.evaluate('window.keyed')) as number[]
    printTable(`the page with ${CALLS} calls`, [
      ['', ''],
      ['from the link until they are all there', `${filled.toFixed(0)} ms`],
      ['from a key to the picture, median', `${median(keyed).toFixed(0)} ms`],
      ['the slowest', `${Math.max(...keyed).toFixed(0)} ms`],
    ])
  } finally {
    await browser.close()
    await world.close()
  }
}
