import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { moveKeys, openKeyStore } from './keychain.ts'

it('moves plain keys out of a configuration, once', () => {
  const base = mkdtempSync(join(tmpdir(), 'cordon-move-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  mkdirSync(join(base, 'state'))
  const path = join(base, 'config.json')
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a variable is not a key.
  const kept = { model: 'large', apiKey: '${ANTHROPIC_API_KEY}' }
  writeFileSync(
    path,
    JSON.stringify({ endpoint: 'https://x', apiKey: 'k-1', profiles: { work: { api_key: 'k-2' }, home: kept } }),
    { mode: 0o600 },
  )
  const values = new Map<string, string>()
  const store = openKeyStore(join(base, 'state'), {
    get: (name) => values.get(name) ?? null,
    set: (name, value) => void values.set(name, value),
    delete: () => undefined,
  })
  expect(moveKeys(path, store)).toEqual({ moved: ['api-key', 'api-key.profiles.work'], warnings: [] })
  expect([...values]).toEqual([
    ['api-key', 'k-1'],
    ['api-key.profiles.work', 'k-2'],
  ])
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ endpoint: 'https://x', profiles: { work: {}, home: kept } })
  expect(moveKeys(path, store).moved).toEqual([])
})
