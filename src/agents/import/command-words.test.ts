/** Every form in which an agent host writes a rule about commands, and what the hook makes of it. */

import { describe, expect, it } from 'vitest'
import { bashCall, policyOf, sessionOf, sourced } from '../../../test/cases/policy-fixture.ts'
import { evaluate } from '../../policy/evaluate/evaluate.ts'
import { parseToml } from '../settings/toml-text.ts'
import { claudeCommands, copilotCommands, cursorCommands, qwenCommands } from './bracket-rules.ts'
import { codexCommands } from './codex.ts'
import { type CommandWord, denialsOf } from './command-words.ts'
import { geminiCommands } from './gemini.ts'
import { opencodeCommands } from './opencode.ts'
import { pathDenialsOf } from './path-words.ts'

/** What becomes of a command that the policy itself allows. */
function decide(words: readonly CommandWord[], lastWins: boolean, command: string): string {
  const base = policyOf({
    mode: sourced('contained', 'permission.mode'),
    flags: { ...policyOf().flags, command_substitution: sourced(true), redirects: sourced('all') },
  })
  const { reads, writes, unread } = pathDenialsOf(words, '/home/u/rules', { home: base.home, folders: [base.root] })
  const policy = {
    ...base,
    reads: { ...base.reads, deny: reads },
    writes: { ...base.writes, deny: writes },
    commands: { ...base.commands, deny: denialsOf([...words, ...unread], '/home/u/rules', lastWins) },
  }
  return evaluate(policy, sessionOf(), bashCall(command)).decision
}

type Rows = readonly (readonly [rules: unknown, command: string, becomes: 'allow' | 'ask' | 'deny'])[]

function table(name: string, read: (rules: unknown) => readonly CommandWord[], lastWins: boolean, rows: Rows): void {
  describe(name, () => {
    it.each(rows)('%j: %s is %s', (rules, command, becomes) => {
      expect(decide(read(rules), lastWins, command)).toBe(becomes)
    })
  })
}

const deny = (...rules: readonly unknown[]): object => ({ permissions: { deny: rules } })
const asks = (...rules: readonly unknown[]): object => ({ permissions: { ask: rules } })

table('Claude Code', claudeCommands, false, [
  [deny('Bash(mkdir:*)'), 'mkdir x', 'deny'],
  [deny('Bash(mkdir:*)'), 'mkdirhier x', 'allow'],
  [deny('Bash(mkdir:*)'), 'ls', 'allow'],
  [deny('Bash(mkdir *)'), 'mkdir x', 'deny'],
  [deny('Bash(mkdir*)'), 'mkdirhier x', 'deny'],
  [deny('Bash(mkdir*)'), 'mkdir', 'deny'],
  [deny('Bash(git push:*)'), 'git -C . push origin', 'deny'],
  [deny('Bash(git push:*)'), 'git status', 'allow'],
  [deny('Bash(git * main)'), 'git merge main', 'deny'],
  [deny('Bash(git * main)'), 'git merge other', 'allow'],
  [deny('Bash(git * main)'), 'git merge "$x"', 'ask'],
  [deny('Bash(*mkdir*)'), 'ls', 'allow'],
  [deny('Bash(*mkdir*)'), 'mkdir x', 'deny'],
  [deny('Bash(python3)'), 'python3', 'deny'],
  [deny('Bash(python3)'), 'python3 a.py', 'allow'],
  [deny('Bash(npm run "test":*)'), 'npm run test', 'deny'],
  [deny('Bash(CI=1 mkdir:*)'), 'CI=1 mkdir x', 'deny'],
  [deny('Monitor(mkdir:*)'), 'mkdir x', 'deny'],
  // What joins commands is not a word of one: what it begins with asks.
  [deny('Bash(mkdir x && ls:*)'), 'mkdir x', 'ask'],
  [deny('Bash(mkdir x && ls:*)'), 'ls', 'allow'],
  [asks('Bash(mkdir:*)'), 'mkdir x', 'ask'],
  [asks('Bash(mkdir:*)'), 'ls', 'allow'],
  [{ permissions: { ask: ['Bash(mkdir:*)'], deny: ['Bash(mkdir x:*)'] } }, 'mkdir x', 'deny'],
  // An allow opens nothing and takes nothing back.
  [{ permissions: { allow: ['Bash(mkdir:*)'], deny: ['Bash(mkdir:*)'] } }, 'mkdir x', 'deny'],
  [{ permissions: { allow: ['Bash(sudo:*)'] } }, 'sudo ls', 'deny'],
  // About every command: Claude Code finds the wrapped one too.
  [deny('Bash', 'Bash(*)', 'Bash(:*)'), 'ls', 'allow'],
  // Rules about files hold for the commands that name them.
  [deny('Read(./src/kept.txt)'), 'cat src/kept.txt', 'deny'],
  [deny('Read(./src/kept.txt)'), 'cat < src/kept.txt', 'deny'],
  [deny('Read(./src/kept.txt)'), 'echo x > src/kept.txt', 'deny'],
  [deny('Read(kept.*)'), 'head -1 src/kept.txt', 'deny'],
  [deny('Read(//p/src/**)', 'Read(/src/**)'), 'cat src/kept.txt', 'deny'],
  [deny('Read(src/*.{txt,md})'), 'cat src/kept.txt', 'deny'],
  [deny('Read(src/*.{txt,md})'), 'cat src/kept.ts', 'allow'],
  [deny('Edit(./src/kept.txt)'), 'cat src/kept.txt', 'allow'],
  [deny('Edit(./src/kept.txt)'), 'rm src/kept.txt', 'deny'],
  [asks('Read(./src/kept.txt)'), 'cat src/kept.txt', 'ask'],
  [asks('Read(./src/kept.txt)'), 'cat src/other.txt', 'allow'],
  [deny('Read(!src/kept.txt)'), 'ls', 'ask'],
  [deny('Read', 'Edit(*)'), 'cat src/kept.txt', 'allow'],
  [deny('mcp__x__y', 'WebFetch(domain:a.example)'), 'ls', 'allow'],
  // What cannot be understood closes.
  [deny('Bash(mkdir'), 'ls', 'ask'],
  [deny(5), 'ls', 'ask'],
  [{ permissions: { deny: 'Bash(mkdir:*)' } }, 'ls', 'ask'],
  [{ permissions: {} }, 'mkdir x', 'allow'],
  [[], 'mkdir x', 'allow'],
])

table('Codex', codexCommands, false, [
  ['prefix_rule(pattern = ["mkdir"], decision = "forbidden")', 'mkdir x', 'deny'],
  ['prefix_rule(pattern = ["mkdir"], decision = "prompt")', 'mkdir x', 'ask'],
  ['prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "forbidden")', 'git fetch', 'deny'],
  ['prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "forbidden")', 'git status', 'allow'],
  ['prefix_rule(pattern = ["mkdir"], decision = "forbidden", justification = "(no)")', 'mkdir x', 'deny'],
  ['prefix_rule(pattern = ["mkdir"])', 'mkdir x', 'allow'],
  ['# prefix_rule(pattern = ["mkdir"], decision = "forbidden")', 'mkdir x', 'allow'],
  ['network_rule(host = "a.example", decision = "deny")', 'mkdir x', 'allow'],
  ['for x in ["mkdir"]: prefix_rule(pattern = [x], decision = "forbidden")', 'ls', 'ask'],
])

const policyFile = (text: string): unknown => parseToml(text, 'own.toml')
const rule = (more: string): unknown => policyFile(`[[rule]]\ntoolName = "run_shell_command"\n${more}`)

table('Gemini CLI', geminiCommands, true, [
  [{ tools: { exclude: ['run_shell_command(mkdir)'] } }, 'mkdir x', 'deny'],
  [{ excludeTools: ['ShellTool(git push)'] }, 'git push', 'deny'],
  [{ tools: { exclude: ['run_shell_command', 'write_file'] } }, 'mkdir x', 'allow'],
  [rule('commandPrefix = "mkdir"\ndecision = "deny"'), 'mkdir x', 'deny'],
  [rule('commandPrefix = ["rm", "mkdir"]\ndecision = "ask_user"'), 'mkdir x', 'ask'],
  [rule('commandRegex = "git (commit|push)"\ndecision = "deny"'), 'git push', 'deny'],
  [rule('commandRegex = "git (commit|push)"\ndecision = "deny"'), 'git status', 'allow'],
  [rule('commandRegex = "("\ndecision = "deny"'), 'ls', 'ask'],
  [rule(`argsPattern = '"command":"(mkdir|rm)'\ndecision = "deny"`), 'mkdir x', 'deny'],
  [rule('commandPrefix = "mkdir"\ndecision = "never"'), 'ls', 'ask'],
  [rule('commandPrefix = "mkdir"\ndecision = "deny"\nmodes = ["plan"]'), 'mkdir x', 'deny'],
  [policyFile('[[rule]]\ntoolName = "write_file"\ndecision = "deny"'), 'mkdir x', 'allow'],
  // The highest priority wins there, and of two alike the stricter one.
  ...(
    [
      [200, 'git status', 'allow'],
      [200, 'git push', 'deny'],
      [200, 'git status && git push', 'deny'],
      [100, 'git status', 'deny'],
      [50, 'git status', 'deny'],
    ] as const
  ).map(
    ([priority, command, becomes]) =>
      [
        policyFile(
          `[[rule]]\ncommandPrefix = "git"\ndecision = "deny"\npriority = 100\n[[rule]]\ncommandPrefix = "git status"\ndecision = "allow"\npriority = ${priority}\n`,
        ),
        command,
        becomes,
      ] as const,
  ),
])

const bash = (levels: unknown): object => ({ permission: { bash: levels } })

table('opencode', opencodeCommands, true, [
  [bash({ '*': 'allow', 'mkdir *': 'deny' }), 'mkdir x', 'deny'],
  [bash({ '*': 'allow', 'mkdir *': 'deny' }), 'mkdir', 'deny'],
  [bash({ '*': 'allow', 'mkdir*': 'ask' }), 'mkdirhier x', 'ask'],
  [bash({ 'git *': 'ask', 'git status*': 'allow' }), 'git status --short', 'allow'],
  [bash({ 'git *': 'ask', 'git status*': 'allow' }), 'git push', 'ask'],
  [bash({ 'git *': 'ask', 'git status*': 'allow' }), 'git status; git push', 'ask'],
  [bash({ 'git *': 'ask', 'git status*': 'allow' }), 'git -c alias.status=push status', 'ask'],
  [bash({ 'git status*': 'allow', 'git *': 'deny' }), 'git status', 'deny'],
  [bash({ 'rm *': 'deny', '*': 'ask' }), 'rm x', 'allow'],
  // About every command: opencode finds the wrapped one too, and asks.
  [bash('ask'), 'ls', 'allow'],
  [{ permission: 'ask' }, 'ls', 'allow'],
  [{ permission: { '*': { 'mkdir *': 'deny' } } }, 'mkdir x', 'deny'],
  [{ permission: { edit: { 'mkdir *': 'deny' } } }, 'mkdir x', 'allow'],
  [{ agent: { review: bash({ 'mkdir *': 'deny' }) } }, 'mkdir x', 'deny'],
  [bash({ 'mkdir *': 'no' }), 'mkdir x', 'ask'],
  ['---\ndescription: x\npermission:\n  edit: deny\n  bash:\n    "mkdir *": deny\n---\nText', 'mkdir x', 'deny'],
  ['---\npermission: {bash: {"mkdir *": deny}}\n---\n', 'ls', 'ask'],
  ['---\ndescription: x\n---\nmkdir: deny\n', 'mkdir x', 'allow'],
])

table('Copilot CLI', copilotCommands, false, [
  ['shell(mkdir)', 'mkdir x', 'deny'],
  ['shell(git push)', 'git push origin', 'deny'],
  ['shell(git:*)', 'git status', 'deny'],
  ['shell(git:*)', 'gitea', 'allow'],
  ['write,shell(mkdir)', 'mkdir x', 'deny'],
  ['shell', 'mkdir x', 'allow'],
  ['write(.env)', 'mkdir x', 'allow'],
])

table('Qwen Code', qwenCommands, false, [
  [deny('Bash(mkdir *)'), 'mkdir x', 'deny'],
  [deny('run_shell_command(git push *)'), 'git push', 'deny'],
  [asks('ShellTool(mkdir *)'), 'mkdir x', 'ask'],
  [{ tools: { exclude: ['run_shell_command(mkdir)'] } }, 'mkdir x', 'deny'],
  [deny('read_file(src/kept.txt)'), 'cat src/kept.txt', 'deny'],
  [deny('Read(.env)', 'Edit'), 'mkdir x', 'allow'],
])

table('Cursor', cursorCommands, false, [
  [deny('Shell(mkdir)'), 'mkdir x', 'deny'],
  [deny('Shell(npm:install*)'), 'npm install x', 'deny'],
  [deny('Shell(npm:install*)'), 'npm test', 'allow'],
  [deny('Shell(git:*)'), 'git status', 'deny'],
  [deny('Read(.env)'), 'mkdir x', 'allow'],
])

/** By other ways to the same program: Cordon's own words for a denial hold for a host's too. */
describe('attacks on a denial', () => {
  const words = claudeCommands(deny('Bash(mkdir:*)'))
  it.each([
    'm""kdir x',
    "'mkdir' x",
    'mk\\dir x',
    '/bin/mkdir x',
    '/usr/bin/../bin/mkdir x',
    'sh -c "mkdir x"',
    "bash -lc 'ls && mkdir x'",
    'env A=1 mkdir x',
    'A=1 mkdir x',
    'command mkdir x',
    'ls | xargs mkdir',
    'ls; mkdir x',
    'ls &&mkdir x',
    '(mkdir x)',
    '{ mkdir x; }',
    'echo $(mkdir x)',
    'f() { mkdir x; }; f',
    'timeout 5 mkdir x',
    'nohup mkdir x &',
    'find . -exec mkdir x \\;',
    'if true; then mkdir x; fi',
    'x=mkdir; $x y',
    'eval "mkdir x"',
    'busybox mkdir x',
  ])('%s does not run', (command) => {
    expect(decide(words, false, command)).not.toBe('allow')
    // Without the rule it does, or asks for its own reason.
    expect(decide([], false, command)).not.toBe('deny')
  })
})
