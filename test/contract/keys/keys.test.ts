/** Every key of the schema has an effect, on every surface where it means something: a key without a case fails here. */

import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import type { ValueType } from '../../../src/manifest/schema/key.ts'
import { schemaKeys } from '../../../src/manifest/schema/manifest.ts'
import { DECISION_ROWS } from './decision-rows.ts'
import type { KeyRow } from './key-row.ts'
import { KeyWorld, type ManifestObject, SURFACES, type Surface } from './key-world.ts'
import { SANDBOX_ROWS } from './sandbox-rows.ts'
import { SILENT } from './silent-surfaces.ts'
import { TESTED_ROWS } from './tested-rows.ts'

const ROWS: readonly KeyRow[] = [...DECISION_ROWS, ...SANDBOX_ROWS, ...TESTED_ROWS]

const PROBE = `#!/bin/bash
echo "home=$(cat "$HOME/note.txt" 2>/dev/null)"
echo "secret=$(cat .env 2>/dev/null)"
echo "denied=$(cat db/x.sqlite 2>/dev/null)"
echo "aside=$(cat ../aside/x.txt 2>/dev/null)"
echo "carried=$(cat ../carried/x.txt 2>/dev/null)"
echo "listed=$LISTED"
echo "defaulted=$DEFAULTED"
echo "granted=$GRANTED"
echo "cpu=$(ulimit -t)"
`

const world = new KeyWorld(
  {
    'a.txt': 'hello\n',
    'src/b.txt': 'b\n',
    'src/c.txt': 'c\n',
    '.env': 'TOKEN=1\n',
    'db/x.sqlite': 'rows\n',
    'brief.json': '{"in_scope_files":["src/b.txt"]}',
    'probe.sh': PROBE,
    'crowd.sh': '#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.3 & done\necho all\n',
    // Whichever of them is ended at the limit, the script fails.
    'eat.sh': '#!/bin/bash\ntail -c 60000000 <(head -c 60000000 /dev/zero) >/dev/null && echo eaten\n',
    'talk.sh': "#!/bin/bash\nprintf '#%.0s' {1..500}\n",
    'install.sh':
      '#!/bin/sh\ncd "$HOME/.cargo/bin" && test -e old || exit 1\ntouch new 2>/dev/null && echo installed || echo read-only\n',
    '$H/.cargo/bin/old': 'old\n',
    '$H/note.txt': 'note\n',
    '$H/go/pkg/mod/one.go': 'package\n',
    '$B/aside/x.txt': 'aside\n',
    '$B/carried/x.txt': 'carried\n',
  },
  { LISTED: 'listed', DEFAULTED: 'defaulted', GRANTED: 'granted' },
)

afterAll(() => world.close())

const BARE = { schema_version: 1 }
const whole = (manifest: ManifestObject = {}): ManifestObject => ({ ...BARE, ...manifest })

async function observe(row: KeyRow, surface: Surface, manifest: ManifestObject): Promise<string> {
  if ('call' in row) return world.verdict(surface, manifest, row.call, row.times)
  if ('hosts' in row) return world.hosts(surface, manifest, row.hosts)
  if ('hashes' in row) return String((await world.seen(surface, manifest, row.hashes)).match(/#/g)?.length ?? 0)
  // A limit that was reached names itself behind what the command printed.
  if ('runs' in row) return (await world.seen(surface, manifest, row.runs)).replace(/\n\[observed: [^\n]*\]$/, '')
  if ('sees' in row) {
    const text = await world.seen(surface, manifest, ['./probe.sh'])
    return new RegExp(`^${row.sees}=(.*)$`, 'm').exec(text)?.[1] ?? text
  }
  throw new Error('its own test shows it')
}

describe.each(SURFACES)('on the surface %s', (surface) => {
  const rows = ROWS.filter((row) => row.on.includes(surface) && !('test' in row))
  it.each(rows.map((row) => [row.key, row.note, row] as const))('%s: %s', async (_, __, row) => {
    const expected = row.says?.[surface] ?? row.gives!
    expect(await observe(row, surface, whole(row.base))).toBe(expected[0])
    expect(await observe(row, surface, whole(row.set))).toBe(expected[1])
    expect(expected[0]).not.toBe(expected[1])
  })
})

it.each(TESTED_ROWS.map((row) => [row.key, row] as const))('%s is in the test that shows it', (key, row) => {
  const name = key.split(/[.[\]]+/).findLast((part) => part !== '' && part !== '*')!
  const text = readFileSync(new URL(`../../../${row.test}`, import.meta.url), 'utf8')
  expect(text).toMatch(new RegExp(`(?:\\b|\\\\n)${name}\\b`))
})

it.each(everyKey())('%s has a case for every surface, or a reason why not', (key) => {
  const shown = new Set(ROWS.filter((row) => row.key === key).flatMap((row) => row.on))
  const silent = SILENT.filter(({ keys }) => keys.test(key)).flatMap(({ surfaces }) => surfaces)
  expect(shown.size, `no case shows ${key}`).toBeGreaterThan(0)
  expect(SURFACES.filter((surface) => !shown.has(surface) && !silent.includes(surface))).toEqual([])
})

it('has no case of a key that is not there, and no reason that nothing needs', () => {
  const keys = new Set(everyKey())
  expect(ROWS.map((row) => row.key).filter((key) => !keys.has(key))).toEqual([])
  expect(SILENT.filter(({ keys: pattern }) => ![...keys].some((key) => pattern.test(key)))).toEqual([])
})

/** Every key by its path, with the fields of entries in lists. */
function everyKey(): string[] {
  return schemaKeys()
    .filter(({ path }) => path !== 'schema_version')
    .flatMap(({ path, key }) => [path, ...fieldsOf(path, key.type)])
}

function fieldsOf(path: string, type: ValueType): string[] {
  const entry = type.kind === 'list' ? type.of : type
  if (entry.kind !== 'entry') return []
  return entry.fields.flatMap((field) => {
    const here = `${path}[].${field.name}`
    return [here, ...fieldsOf(here, field.type)]
  })
}
