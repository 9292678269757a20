/** No import gets wider: whatever settings say, what an agent asked about or denied is not allowed by the resulting manifest. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openChecker } from '../../call/decide/check-call.ts'
import { loadPolicy } from '../../project/load/load.ts'
import { machineFiles } from '../../system/files.ts'
import { thisMachine } from '../../system/machine.ts'
import { parseToml } from '../settings/toml-text.ts'
import { IMPORTERS, mergeSettings } from './agents.ts'
import { RULE_FILES } from './codex.ts'
import { importManifest } from './manifest.ts'

type Verdict = 'allow' | 'ask' | 'deny'
type Settings = Record<string, unknown>

const machine = { ...thisMachine(), cwd: '/srv/project', home: '/home/someone' }
const RANK = { allow: 0, ask: 1, deny: 2 }

async function checkerOf(agent: string, settings: Settings) {
  const { text, notes } = await importManifest(IMPORTERS[agent]!(settings), machine, machineFiles)
  const object = parseToml(text, 'test')
  const choice = { kind: 'object', object } as const
  const outcome = await loadPolicy({ machine, files: machineFiles, root: '/srv/project', choice })
  if ('problems' in outcome) throw new Error(`${text}\n${JSON.stringify(outcome.problems)}`)
  const checker = await openChecker(outcome.loaded, machine, machineFiles)
  return {
    text,
    notes,
    decide: (tool: string, input: unknown): Verdict =>
      checker.check({ tool, input, cwd: '/srv/project' }).decision.decision,
  }
}

/** Text matching as the agents do it: `*` matches any run of characters. */
function globs(pattern: string, text: string): boolean {
  const source = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${source.join('.*')}$`, 's').test(text)
}

function claudeMatches(inside: string, command: string): boolean {
  if (inside === '*' || inside === ':*') return true
  if (inside.endsWith(':*')) {
    const prefix = inside.slice(0, -2)
    return command === prefix || command.startsWith(`${prefix} `)
  }
  return inside.endsWith(' *') && command === inside.slice(0, -2) ? true : globs(inside, command)
}

const COMMANDS = [
  'git',
  'git status',
  'git push',
  'git push origin main',
  'git push --force',
  'rm a',
  'rmdir a',
  'npm test',
  'npm test x',
  'ls',
]
const PATTERNS = [
  '*',
  'git:*',
  'git *',
  'git*',
  'git status',
  'git push:*',
  'git push origin *',
  'git * --force',
  '* --force',
  'rm:*',
  'rm*',
  'rmdir:*',
  'npm test',
  'npm test:*',
  'npm t*',
  'ls',
  "echo 'x'",
]
const PATHS = ['src/a.ts', 'src/b.ts', 'secret/key.txt', 'docs/x.md', 'a.ts']
const PATH_RULES = [
  'src/**',
  'src/*.ts',
  'src/a.ts',
  'src/[ab].ts',
  'src/{a,b}.ts',
  '{secret,docs}/**',
  'secret/**',
  '**/*.ts',
  '**',
  'docs/*',
  '[x',
  '!src/**',
]

const some = <T>(items: readonly T[], maxLength = 4) => fc.subarray([...items], { maxLength })

it('Claude Code: commands', async () => {
  const rules = some(PATTERNS).map((patterns) => patterns.map((pattern) => `Bash(${pattern})`))
  const tool = fc.constantFrom<readonly string[]>([], [], [], ['Bash'])
  const list = fc.tuple(rules, tool).map(([inside, whole]) => [...inside, ...whole])
  await fc.assert(
    fc.asyncProperty(list, list, list, async (allow, ask, deny) => {
      const { text, notes, decide } = await checkerOf('claude-code', { permissions: { allow, ask, deny } })
      for (const command of COMMANDS) {
        const matches = (rule: string): boolean =>
          rule === 'Bash' || claudeMatches(/^Bash\((.*)\)$/.exec(rule)![1]!, command)
        const there: Verdict = deny.some(matches) ? 'deny' : ask.some(matches) || !allow.some(matches) ? 'ask' : 'allow'
        const here = decide('bash', { command })
        const narrow = RANK[here] >= RANK[there] || (here === 'ask' && there === 'deny' && notes.length > 0)
        if (!narrow) throw new Error(`${command}: ${there} there, ${here} here\n${text}\n${notes.join('\n')}`)
      }
    }),
    { numRuns: 100 },
  )
})

it('Claude Code: files', async () => {
  const rule = (tool: string) => some(PATH_RULES, 3).map((paths) => paths.map((path) => `${tool}(${path})`))
  const list = fc.tuple(rule('Read'), rule('Edit')).map(([reads, edits]) => [...reads, ...edits])
  await fc.assert(
    fc.asyncProperty(list, list, list, async (allow, ask, deny) => {
      const { text, notes, decide } = await checkerOf('claude-code', { permissions: { allow, ask, deny } })
      for (const path of PATHS) {
        for (const [tool, name, input] of [
          ['Read', 'read', { path }],
          ['Edit', 'write', { path, content: '' }],
        ] as const) {
          const matches = (given: string): boolean => {
            const [, of, glob] = /^(\w+)\((.*)\)$/.exec(given)!
            return of === tool && pathMatches(glob!, path)
          }
          const fallback: Verdict = tool === 'Read' ? 'allow' : 'ask'
          const there: Verdict = deny.some(matches)
            ? 'deny'
            : ask.some(matches)
              ? 'ask'
              : allow.some(matches)
                ? 'allow'
                : fallback
          const here = decide(name, input)
          const narrow = RANK[here] >= RANK[there] || (here === 'ask' && there === 'deny' && notes.length > 0)
          if (!narrow) throw new Error(`${tool} ${path}: ${there} there, ${here} here\n${text}\n${notes.join('\n')}`)
        }
      }
    }),
    { numRuns: 100 },
  )
})

/** The globs of the rules above, as the agents read them. */
function pathMatches(glob: string, path: string): boolean {
  if (glob.startsWith('!') || glob === '[x') return false
  const source = glob
    .replace(/[.+^$()|\\]/g, '\\$&')
    .replace(/\{([^}]*)\}/g, (_, list: string) => `(?:${list.replaceAll(',', '|')})`)
    .replace(/\*\*\/|\*\*|\*/g, (star) => (star === '**/' ? '(?:.*/)?' : star === '**' ? '.*' : '[^/]*'))
  return new RegExp(`^${source}$`).test(path)
}

/** Words at the end may be missing; `:*` means nothing there. */
function lastMatches(pattern: string, command: string): boolean {
  return globs(pattern, command) || (pattern.endsWith(' *') && globs(pattern.slice(0, -2), command))
}

it('opencode: the last rule that matches', async () => {
  const rules = fc.uniqueArray(
    fc.tuple(fc.constantFrom(...PATTERNS), fc.constantFrom<Verdict>('allow', 'ask', 'deny')),
    {
      selector: ([pattern]) => pattern,
      maxLength: 5,
    },
  )
  const all = fc.option(fc.constantFrom<Verdict>('allow', 'ask', 'deny'), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(rules, all, fc.boolean(), async (bash, everything, first) => {
      const own = { bash: Object.fromEntries(bash) }
      const rest = everything === undefined ? {} : { '*': everything }
      const permission = first ? { ...rest, ...own } : { ...own, ...rest }
      const { text, notes, decide } = await checkerOf('opencode', { permission })
      const order = first
        ? [...(everything ? [['*', everything] as const] : []), ...bash]
        : [...bash, ...(everything ? [['*', everything] as const] : [])]
      for (const command of COMMANDS) {
        const there = order.findLast(([pattern]) => lastMatches(pattern, command))?.[1] ?? 'ask'
        const here = decide('bash', { command })
        const narrow = RANK[here] >= RANK[there] || (here === 'ask' && there === 'deny' && notes.length > 0)
        if (!narrow) throw new Error(`${command}: ${there} there, ${here} here\n${text}\n${notes.join('\n')}`)
      }
    }),
    { numRuns: 100 },
  )
})

it('sandbox-runtime: hosts and files', async () => {
  const hosts = some(['example.com', '*.example.com', '*.com', 'api.example.com', 'bad host'], 3)
  const paths = some(['src', './docs', 'secret', '[x', 'a.ts'], 3)
  await fc.assert(
    fc.asyncProperty(
      hosts,
      hosts,
      paths,
      paths,
      paths,
      async (allowedDomains, deniedDomains, allowWrite, denyWrite, denyRead) => {
        const settings = { network: { allowedDomains, deniedDomains }, filesystem: { allowWrite, denyWrite, denyRead } }
        const { text, notes, decide } = await checkerOf('srt', settings)
        const inHosts = (list: readonly string[], host: string): boolean => list.some((rule) => globs(rule, host))
        for (const host of ['example.com', 'api.example.com', 'other.org']) {
          const there: Verdict = !inHosts(deniedDomains, host) && inHosts(allowedDomains, host) ? 'allow' : 'deny'
          const here = decide('webfetch', { url: `https://${host}/` })
          const narrow = RANK[here] >= RANK[there] || (here === 'ask' && notes.length > 0)
          if (!narrow) throw new Error(`${host}: ${there} there, ${here} here\n${text}\n${notes.join('\n')}`)
        }
        const below = (list: readonly string[], path: string): boolean =>
          list.map((rule) => rule.replace('./', '')).some((rule) => path === rule || path.startsWith(`${rule}/`))
        for (const path of PATHS) {
          const write: Verdict = below(allowWrite, path) && !below(denyWrite, path) ? 'allow' : 'deny'
          const here = decide('write', { path, content: '' })
          if (write === 'deny' && here === 'allow') throw new Error(`write ${path}\n${text}\n${notes.join('\n')}`)
          if (below(denyRead, path) && decide('read', { path }) === 'allow') throw new Error(`read ${path}\n${text}`)
        }
      },
    ),
    { numRuns: 100 },
  )
})

it('Gemini CLI: lists of tools', async () => {
  const names = [
    'run_shell_command',
    'run_shell_command(git)',
    'run_shell_command(git push)',
    'read_file',
    'write_file',
    'replace',
    'web_fetch',
    'glob',
  ]
  const core = fc.option(some(names), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(some(names), some(names), core, async (allowed, exclude, only) => {
      const tools = { allowed, exclude, ...(only && { core: only }) }
      const { text, notes, decide } = await checkerOf('gemini', { tools })
      const matches = (list: readonly string[], tool: string, command: string | null): boolean =>
        list.some(
          (rule) =>
            rule === tool ||
            (command !== null &&
              rule.startsWith(`${tool}(`) &&
              `${command} `.startsWith(`${rule.slice(tool.length + 1, -1)} `)),
        )
      for (const [tool, command, name, input] of [
        ['run_shell_command', 'git push x', 'bash', { command: 'git push x' }],
        ['run_shell_command', 'git status', 'bash', { command: 'git status' }],
        ['run_shell_command', 'ls', 'bash', { command: 'ls' }],
        ['read_file', null, 'read', { path: 'a' }],
        ['write_file', null, 'write', { path: 'a', content: '' }],
      ] as const) {
        const gone = matches(exclude, tool, command) || (only !== undefined && !matches(only, tool, command))
        const there: Verdict = gone ? 'deny' : tool === 'read_file' || matches(allowed, tool, command) ? 'allow' : 'ask'
        const here = decide(name, input)
        const narrow = RANK[here] >= RANK[there] || (here === 'ask' && there === 'deny' && notes.length > 0)
        if (!narrow) throw new Error(`${tool} ${command}: ${there} there, ${here} here\n${text}\n${notes.join('\n')}`)
      }
    }),
    { numRuns: 100 },
  )
})

it.each([
  ['a forbidden prefix', 'prefix_rule(pattern = ["npm", "test"], decision = "forbidden")', 'npm test x', 'deny'],
  ['one of several', 'prefix_rule(pattern = ["npm", ["test", "run"]], decision = "forbidden")', 'npm run x', 'deny'],
  ['a prompt', 'prefix_rule(\n  pattern = ["npm", "test"],\n  decision = "prompt",\n)', 'npm test', 'ask'],
  ['a comment', '# prefix_rule(pattern = ["ls"], decision = "forbidden")\n', 'ls', 'allow'],
  [
    'an allow that a prompt is about',
    'prefix_rule(pattern = ["npm"], decision = "prompt")\nprefix_rule(pattern = ["npm", "test"])',
    'npm test',
    'ask',
  ],
  [
    'anything but a plain rule',
    'forbidden = ["ls"]\nprefix_rule(pattern = forbidden, decision = "forbidden")',
    'ls',
    'ask',
  ],
  ['a function', 'def x():\n  prefix_rule(pattern = ["ls"], decision = "forbidden")\nx()', 'ls', 'ask'],
])('Codex: %s', async (_, rules, command, expected) => {
  const { decide } = await checkerOf('codex', { sandbox_mode: 'workspace-write', [RULE_FILES]: [rules] })
  const here = decide('bash', { command })
  expect(RANK[here]).toBeGreaterThanOrEqual(RANK[expected as Verdict])
  if (expected === 'allow') expect(here).toBe('allow')
})

it.each([
  [
    'the profile that is in force',
    { sandbox_mode: 'workspace-write', profile: 'safe', profiles: { safe: { sandbox_mode: 'read-only' } } },
  ],
  ['a mode of the future', { sandbox_mode: 'later' }],
  ['permission profiles', { sandbox_mode: 'workspace-write', default_permissions: ':read-only' }],
])('Codex: %s', async (_, settings) => {
  const { decide } = await checkerOf('codex', settings)
  expect(decide('write', { path: 'a', content: '' })).toBe('deny')
})

it('keeps the denials of every file', async () => {
  const near = { permissions: { allow: ['Bash(git push:*)'], defaultMode: 'acceptEdits' } }
  const far = { permissions: { deny: ['Bash(git push:*)'], defaultMode: 'default', allow: ['Bash(ls)'] } }
  const { decide } = await checkerOf('claude-code', mergeSettings('claude-code', [near, far]))
  expect([decide('bash', { command: 'git push' }), decide('bash', { command: 'ls' })]).toEqual(['deny', 'allow'])
  expect(decide('write', { path: 'a', content: '' })).toBe('allow')
})

const WEB = { url: 'https://q.example/' }
it.each([
  [
    'claude-code',
    'a page that asks beside an allow of all',
    { allow: ['WebFetch'], ask: ['WebFetch(domain:q.example)'] },
    'webfetch',
    WEB,
    'ask',
  ],
  ['claude-code', 'one subagent', { deny: ['Task(Explore)'] }, 'task', { prompt: 'x' }, 'ask'],
  [
    'claude-code',
    'one subagent beside an allow of all',
    { allow: ['Task'], deny: ['Task(Explore)'] },
    'task',
    { prompt: 'x' },
    'ask',
  ],
  ['claude-code', 'subagents by their new name', { deny: ['Agent'] }, 'task', { prompt: 'x' }, 'deny'],
  ['claude-code', 'one skill', { ask: ['Skill(deploy)'] }, 'skill', { name: 'deploy' }, 'ask'],
  ['claude-code', 'names of files', { deny: ['Glob(secret/**)'] }, 'glob', { pattern: 'secret/*' }, 'ask'],
  [
    'claude-code',
    'a command that is watched',
    { deny: ['Monitor'], allow: ['Bash(ls)'] },
    'bash',
    { command: 'ls' },
    'deny',
  ],
  ['claude-code', 'its own tool', { deny: ['CronCreate'] }, 'CronCreate', {}, 'deny'],
  ['gemini', 'its own tool', { tools: { exclude: ['save_memory'] } }, 'save_memory', {}, 'deny'],
  ['opencode', 'tools by a wildcard', { permission: { 'web*': 'deny' } }, 'webfetch', WEB, 'deny'],
  ['opencode', 'tools that ask by a wildcard', { permission: { '?ead': 'ask' } }, 'read', { path: 'a' }, 'ask'],
  ['opencode', 'all tools switched off', { tools: { '*': false } }, 'read', { path: 'a' }, 'deny'],
  ['opencode', 'some of them', { tools: { 'web*': false } }, 'websearch', { query: 'x' }, 'deny'],
  [
    'opencode',
    'patches',
    { tools: { patch: false } },
    'apply_patch',
    { patch: '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch' },
    'deny',
  ],
  [
    'opencode',
    'a tool called like a part of every object',
    { tools: { constructor: false, read: false } },
    'read',
    { path: 'a' },
    'deny',
  ],
  ['gemini', 'a tool by its class', { excludeTools: ['ReadFileTool'] }, 'read', { path: 'a' }, 'deny'],
  ['gemini', 'the web by its class', { tools: { exclude: ['WebSearchTool'] } }, 'websearch', { query: 'x' }, 'deny'],
  ['gemini', 'a part of a tool', { tools: { allowed: ['web_fetch(https://a.example)'] } }, 'webfetch', WEB, 'ask'],
] as const)('%s: %s', async (agent, _, settings, tool, input, expected) => {
  const given = agent === 'claude-code' ? { permissions: settings } : settings
  const { decide, text } = await checkerOf(agent, given)
  expect(decide(tool, input), text).toBe(expected)
})

it('accepts any value instead of a rule', async () => {
  const odd = fc.jsonValue({ maxDepth: 3 })
  const name = fc.constantFrom(
    'permissions',
    'permission',
    'tools',
    'allow',
    'deny',
    'ask',
    '*',
    'bash',
    '__proto__',
    'agent',
    'build',
    'sandbox',
    'network',
    'filesystem',
    'exclude',
    'core',
  )
  const tree = fc.dictionary(name, fc.oneof(odd, fc.dictionary(name, fc.oneof(odd, fc.array(fc.string())))))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(IMPORTERS)), tree, async (agent, settings) => {
      const { decide } = await checkerOf(agent, settings)
      expect(decide('bash', { command: 'git push' })).not.toBe('allow')
      expect(decide('write', { path: '/etc/x', content: '' })).not.toBe('allow')
    }),
    { numRuns: 150 },
  )
})
