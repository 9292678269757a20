/** The documentation site in a browser: no dead link, no error on the console, nothing that axe finds, and a search that works. */

import { readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildSite } from '../../scripts/site/build.ts'
import { openBrowser } from '../contract/page/page-world.ts'

const axe = readFileSync(join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

const DARK = [
  'index.html',
  'guides/network.html',
  'reference/manifest.html',
  'reference/cli.html',
  'reference/api.html',
]

const folder = join(tmpdir(), `cordon-site-${process.pid}`)
const pages = buildSite(folder)
const ids = new Map<string, ReadonlySet<string>>()
let server: Server
let browser: Browser
let origin: string

beforeAll(async () => {
  server = createServer(({ url = '/' }, response) => {
    try {
      const path = join(folder, new URL(url, 'http://site').pathname)
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain' }).end(readFileSync(path))
    } catch {
      response.writeHead(404).end()
    }
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  server?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The anchors of a page of the site, or null if there is no such page. */
function anchorsOf(path: string): ReadonlySet<string> | null {
  try {
    const text = readFileSync(join(folder, path), 'utf8')
    if (!ids.has(path)) ids.set(path, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)))
    return ids.get(path)!
  } catch {
    return null
  }
}

async function open(path: string, scheme: 'light' | 'dark' = 'light'): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage({ colorScheme: scheme })
  const errors: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('requestfailed', (request) => errors.push(request.url()))
  page.on('response', (response) => {
    if (response.status() >= 400) errors.push(`${response.status()} ${response.url()}`)
  })
  await page.goto(`${origin}/${path}`)
  return { page, errors }
}

describe.each(pages)('%s', (path) => {
  it('has links that lead somewhere', () => {
    const text = readFileSync(join(folder, path), 'utf8')
    const targets = [...text.matchAll(/(?:href|src)="(?!https?:|data:)([^"]*)"/g)].map(([, target]) => target!)
    const dead = targets.filter((target) => {
      const { pathname, hash } = new URL(target, `http://site/${path}`)
      const anchors = anchorsOf(pathname.slice(1))
      return anchors === null || (hash !== '' && !anchors.has(decodeURIComponent(hash.slice(1))))
    })
    expect(dead).toEqual([])
  })

  // The style sheet is the same everywhere: a few pages have everything that a dark page can show.
  const schemes = DARK.includes(path) ? (['light', 'dark'] as const) : (['light'] as const)
  it.each(schemes)('has no error and no barrier, %s', async (scheme) => {
    const { page, errors } = await open(path, scheme)
    await page.addScriptTag({ content: axe })
    const found = await page.evaluate<readonly AxeViolation[]>('axe.run().then(({ violations }) => violations)')
    const shown = found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).slice(0, 3)}`)
    expect([...shown, ...errors]).toEqual([])
    await page.close()
  })
})

interface AxeViolation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

it('finds a page by its words, from the keyboard', async () => {
  const { page, errors } = await open('guides/network.html')
  await page.keyboard.press('/')
  await page.keyboard.type('dev_server_ports')
  await page.locator('#results a').first().waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/dev_server_ports/)
  expect(errors).toEqual([])
  await page.close()
})

it('keeps the chosen theme', async () => {
  const { page } = await open('index.html')
  const theme = (): Promise<string> => page.evaluate('getComputedStyle(document.documentElement).colorScheme')
  expect(await theme()).toBe('light')
  await page.click('.theme')
  expect(await theme()).toBe('dark')
  await page.reload()
  expect(await theme()).toBe('dark')
  await page.close()
})
