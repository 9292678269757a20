import { describe, expect, it } from 'vitest'
import { loadManifest } from '../load.ts'
import { schemaKeys } from '../schema/manifest.ts'
import { canonicalManifest } from './canonical.ts'
import { reachDiff } from './reach-diff.ts'
import { LISTS } from './reach-diff-words.ts'
import { SETTING_WORDS } from './setting-words.ts'

function canonical(toml: string): string {
  const result = loadManifest(`schema_version = 1\n${toml}`, 'cordon.toml')
  if (!('manifest' in result)) throw new Error(JSON.stringify(result.problems))
  return canonicalManifest(result.manifest)
}

const COMMANDS = '[capabilities.allow.commands]\npatterns = '

interface Row {
  readonly name: string
  readonly before: string | null
  readonly after: string
  readonly opens?: readonly string[]
  readonly closes?: readonly string[]
  readonly changes?: readonly string[]
}

const rows: readonly Row[] = [
  {
    name: 'a first manifest is compared with nothing',
    before: null,
    after: `${COMMANDS}["git status"]`,
    opens: ['The command "git status" runs without asking.'],
  },
  {
    name: 'what a command carries along is named',
    before: '',
    after: `${COMMANDS}[{ command = "gh pr view:*", env_vars = ["GH_TOKEN"], domains = ["api.github.com"], prompt = true }]`,
    opens: ['The command "gh pr view:*" may run after asking (reaches api.github.com; sees the variables GH_TOKEN).'],
  },
  {
    name: 'a host where Cordon logs in for git is named as that',
    before: '',
    after: '[capabilities.allow.commands]\ndefault_domains = [{ host = "github.com:22", ssh = "push" }]',
    opens: ['Every granted command may reach "github.com:22" with your ssh keys, to read and write git repositories.'],
  },
  {
    name: 'from reading repositories to writing them is a separate change',
    before: '[capabilities.allow.commands]\ndefault_domains = [{ host = "github.com:22", ssh = "fetch" }]',
    after: '[capabilities.allow.commands]\ndefault_domains = [{ host = "github.com:22", ssh = "push" }]',
    changes: [
      'Changed: Every granted command may reach "github.com:22" with your ssh keys, to read and write git repositories.',
    ],
  },
  {
    name: 'a grant that goes asks again',
    before: `${COMMANDS}["git status", "ls"]`,
    after: `${COMMANDS}["ls"]`,
    closes: ['The command "git status" is no longer granted: it asks.'],
  },
  {
    name: 'a denial that goes opens',
    before: '[capabilities.deny.commands]\npatterns = ["git push:*"]',
    after: '',
    opens: ['The command "git push:*" is no longer denied.'],
  },
  {
    name: 'a further host for a granted command opens',
    before: `${COMMANDS}[{ command = "curl:*", domains = ["a.com"] }]`,
    after: `${COMMANDS}[{ command = "curl:*", domains = ["a.com", "b.com"] }]`,
    opens: ['Changed: The command "curl:*" runs without asking (reaches a.com, b.com).'],
  },
  {
    name: 'the first host of a filter closes, the last one gone opens',
    before: '[http]\nallowed_hosts = ["a.com"]',
    after: '',
    opens: ['The web tools may reach anything: the list of 1 is gone.'],
  },
  {
    name: 'a secret is named with its hosts',
    before: '',
    after: '[[secrets]]\nname = "GH_TOKEN"\nsource = "env:GH"\nhosts = ["api.github.com"]',
    opens: ['"GH_TOKEN" (env:GH) is a secret: it is sent to api.github.com.'],
  },
  {
    name: 'declared reads ask for the rest',
    before: '',
    after: '[capabilities.allow.read]\npaths = ["src/**"]',
    opens: ['"src/**" may be read without asking.'],
    closes: ['Other reads now ask first.'],
  },
  {
    name: 'levels have a direction',
    before: '[permission.tools]\nbash = "deny"',
    after: '[permission.tools]\nbash = "allow"',
    opens: ['The tool "bash" runs without asking.'],
  },
  {
    name: 'a flag that loosens',
    before: '',
    after: '[security]\ncommand_substitution = true',
    opens: ['Substitutions may be used, judged by the commands inside (`$(…)`).'],
  },
  {
    name: 'masks off opens',
    before: '',
    after: '[sandbox.os]\ncommand_mask_secrets = false',
    opens: ['Keys and secret-shaped files are NOT HIDDEN from commands.'],
  },
  {
    name: 'prompt off opens',
    before: `${COMMANDS}[{ command = "ls", prompt = true }]`,
    after: `${COMMANDS}["ls"]`,
    opens: ['Changed: The command "ls" runs without asking.'],
  },
]

describe('reachDiff', () => {
  it.each(rows)('$name', ({ before, after, opens = [], closes = [], changes = [] }) => {
    const diff = reachDiff(before === null ? null : canonical(before), canonical(after))
    expect(diff.opens.map((change) => change.text)).toEqual(opens)
    expect(diff.closes.map((change) => change.text)).toEqual(closes)
    expect(diff.changes.map((change) => change.text)).toEqual(changes)
  })

  it('has words for every setting there is, and a sentence for every value that can be chosen', () => {
    const wordless = schemaKeys().filter(({ path, key }) => {
      if (LISTS[path] !== undefined || path === 'schema_version' || path.endsWith('.default_files')) return false
      const words = SETTING_WORDS[path] ?? SETTING_WORDS[path.replace(/^rings\.\d\./, 'rings.*.')]
      if (typeof words !== 'object') return words === undefined
      const values = key.type.kind === 'choice' ? key.type.values : ['true', 'false']
      return !values.every((value) => words[value] !== undefined)
    })
    expect(wordless.map(({ path }) => path)).toEqual([])
  })

  it('sees nothing in comments and order', () => {
    const diff = reachDiff(canonical(`${COMMANDS}["a", "b"]`), canonical(`# why\n${COMMANDS}["b", "a"]`))
    expect(diff.same).toBe(true)
  })
})

it.each([
  { note: 'a default of what a project can only make stricter', text: '[security]\npipes = true', said: [] },
  {
    note: 'one that overrides the user’s own',
    text: '[permission]\nmode = "custom"',
    said: ['permission.mode is "custom" as before, now whatever ~/.config/cordon/cordon.toml says.'],
  },
])('a default that is written out opens nothing: $note', ({ text, said }) => {
  const { opens, closes, changes } = reachDiff(canonical(''), canonical(text))
  expect([opens, closes, changes.map((change) => change.text)]).toEqual([[], [], said])
})
