/** What Cordon itself shows goes through the one redactor: decisions, errors, questions, crashes (A2, A5). */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from './cordon.ts'

const TOKEN = 'q8Rk2vXw7LmT4nZs9BcD1fGh'
const SHORT = 'hunt2'
const COMMAND = `curl -H 'Authorization: Bearer ${TOKEN}' https://x.example; mysql --password ${SHORT} -u root; GITHUB_TOKEN=${TOKEN} gh pr list`
const MANIFEST = `schema_version = 1
[permission]
mode = "contained"
[capabilities.deny.commands]
patterns = ["touch:*"]
`

let project: Project
beforeAll(() => {
  project = new Project({ 'cordon.toml': MANIFEST })
  project.cordon(['sign', '--yes'])
})
afterAll(() => project.remove())

const rows: readonly (readonly [note: string, args: readonly string[]])[] = [
  ['check', ['check', '--', COMMAND]],
  ['check as JSON', ['check', '--json', '--', COMMAND]],
  ['explain', ['explain', '--', COMMAND]],
  ['explain as JSON', ['explain', '--json', '--', COMMAND]],
  ['explain of another tool', ['explain', '--tool', 'webfetch', '--input', `{"url":"https://u:${TOKEN}@x.example/"}`]],
  ['a denial of cordon run', ['run', '--', 'touch', `--token=${TOKEN}`, `--password=${SHORT}`]],
  [
    'a host that cordon run stopped',
    ['run', '--', 'curl', '-sH', `Authorization: Bearer ${TOKEN}`, 'http://x.example'],
  ],
  ['a command that is not there', ['run', '--', `nothing-here-token=${TOKEN}`]],
  ['a command of cordon that is not there', [`token=${TOKEN}`]],
  ['an error as JSON', ['check', '--json', '--tool', 'read', '--input', `{"token":"${TOKEN}",`]],
  ['a root that is not there', ['check', '--root', `token=${TOKEN}`, '--', 'ls']],
]

describe('no secret is shown by', () => {
  it.each(rows)('%s', (_, args) => {
    const { out, err } = project.cordon(args)
    expect(out + err).not.toBe('')
    expect(out + err).not.toContain(TOKEN)
    expect(out + err).not.toContain(SHORT)
    if (args.includes('--json')) expect(() => JSON.parse(out)).not.toThrow()
  })

  it('check --batch', () => {
    const { out } = project.cordon(['check', '--batch'], {
      input: `${JSON.stringify({ id: 1, tool: 'bash', input: { command: COMMAND } })}\n`,
    })
    expect(JSON.parse(out)).toMatchObject({ id: 1 })
    expect(out).not.toContain(TOKEN)
  })

  it('a hook’s reason, while the command it hands on is whole', () => {
    const hook = (command: string) => {
      const call = { session_id: 's', cwd: project.directory, hook_event_name: 'PreToolUse', tool_name: 'Bash' }
      const input = JSON.stringify({ ...call, tool_input: { command } })
      return project.cordon(['hook', 'claude-code', '--root', project.directory], { input }).out
    }
    const denied = hook(`touch --token=${TOKEN}`)
    expect(denied).toContain('touch')
    expect(denied).not.toContain(TOKEN)
    expect(hook(`echo --token=${TOKEN}`)).toContain(TOKEN)
  })
})

it('what is public stays whole: the key to be trusted by others, and the source that explain underlines', () => {
  expect(project.cordon(['keys']).out).toMatch(/^yours {4}ed25519:[A-Za-z0-9+/]{43}=$/m)
  const { out } = project.cordon(['explain', '--', COMMAND])
  const source = out.split('\n').find((line) => line.includes('••••'))!
  expect(source.replaceAll(/>>|<</g, '').trim()).toHaveLength(COMMAND.length)
})

describe('a crash', () => {
  const crash = (text: string) => {
    project.write('crash.cjs', text)
    const ran = project.cordon(['mcp'], {
      env: { NODE_OPTIONS: `--require ${join(project.directory, 'crash.cjs')}` },
      input: '{}\n'.repeat(10_000),
    })
    const path = /report without keys or session content is in (\S+)/.exec(ran.err)?.[1]
    return { ...ran, report: path === undefined ? null : JSON.parse(readFileSync(path, 'utf8')) }
  }

  it.each([
    ['a timer', `setTimeout(() => { throw ERROR }, 1)`],
    ['a promise', `setTimeout(() => Promise.reject(ERROR), 1)`],
  ])('in %s leaves a report with every member, masked', (_, when) => {
    const error = `new AggregateError([new Error('first'), new Error('second, token=${TOKEN}', { cause: new Error('deep') })], 'all of them, password: ${SHORT}ers')`
    const { code, err, report } = crash(when.replace('ERROR', error))
    expect(code).toBe(125)
    expect(err).toContain('internal error: all of them')
    expect(report.errors.map((each: { message: string }) => each.message)).toEqual([
      'all of them, password: [REDACTED]',
      'first',
      'second, token=[REDACTED]',
      'deep',
    ])
    expect(err + JSON.stringify(report)).not.toContain(TOKEN)
    expect(err + JSON.stringify(report)).not.toContain(SHORT)
  })

  it('is what leaves a report: a usage error and a denial do not', () => {
    const place = join(project.home, '.local/state/cordon/crashdump')
    const before = readdirSync(place)
    project.cordon(['run', '--', 'touch', 'x'])
    project.cordon(['nonsense'])
    expect(readdirSync(place)).toEqual(before)
  })
})
