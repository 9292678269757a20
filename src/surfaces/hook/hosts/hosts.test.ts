/** A host is its own file, a line of the list and a row of the contract: no other code knows it by its name. */

import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { protectedPath } from '../../../files/protected-paths.ts'
import { findHost, HOST_NAMES, installOf } from './hosts.ts'

/** Where such a word is something else than a host of hooks: models, settings that can be imported, protected files, the cursor of a line. */
const ELSEWHERE =
  /^src\/(?:providers|scan|agents\/import|chat|files\/protected-names|surfaces\/(?:chat|hook\/hosts|cli\/commands\/policy\/import))\b/
const SOURCES = globSync('src/**/*.ts')
  .filter((file) => !/\.(test|generated|fixture)\.ts$/.test(file) && !ELSEWHERE.test(file))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }))

/** Files that contain the name as a word. */
const naming = (name: string): readonly string[] => {
  const word = new RegExp(`['"]${name}['"]|^ *${name}: `, 'm')
  return SOURCES.flatMap(({ file, text }) => (word.test(text) ? [file] : []))
}

it.each(HOST_NAMES)('%s is known in its own files alone, and has a guide', (name) => {
  expect(findHost(name)?.name).toBe(name)
  const own = `src/surfaces/hook/hosts/${name.split('-')[0]}-`
  // As clients of MCP servers they are in that table as well.
  const elsewhere = naming(name).filter((file) => !file.startsWith(own) && file !== 'src/agents/mcp/clients.ts')
  expect(elsewhere).toEqual([])
  expect(globSync(`docs/agents/${name}.md`)).toHaveLength(1)
})

const facts = {
  root: '/w/p',
  home: '/h',
  configDir: '/h/.config/cordon',
  stateDir: '/h/.state',
  manifestPath: '/w/p/cordon.toml',
}

it.each(HOST_NAMES)('%s: no agent may write the file of its hook', async (name) => {
  const host = await installOf(name)
  for (const scope of ['project', 'user'] as const) {
    const place = { scope, root: '/w/p', home: '/h', env: {}, cordon: [], wrapper: '' }
    for (const { file } of [host, ...(host.second ? [host.second] : [])])
      expect([file(place), protectedPath(file(place), facts)?.kind]).toEqual([file(place), expect.any(String)])
  }
})
