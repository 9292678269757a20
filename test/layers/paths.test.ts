/** What the documents for those who work on Cordon call a file or a folder of its sources is there, under that name. */

import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const sources = globSync('{src,native,test,scripts,bench}/**/*').map((path) => `/${path}`)
const PATH = /`((?:[\w-]+\/)*[\w.-]+\.(?:ts|c|h|txt)|(?:src|native|test|scripts|bench)\/[\w/-]+)`/g

it.each(['CONTRIBUTING.md', ...globSync('docs/{how-it-works,decisions}/*.md')])('%s', (document) => {
  const named = [...readFileSync(document, 'utf8').matchAll(PATH)].map((match) => match[1]!.replace(/\/$/, ''))
  expect(named.filter((path) => !sources.some((source) => source.endsWith(`/${path}`)))).toEqual([])
})
