// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are bash, where ${…} is an expansion.
import { describe, expect, test } from 'vitest'
import type { ShellFacts } from '../facts.ts'
import { analyze } from '../walk/analyze.ts'

function facts(text: string): ShellFacts {
  const analysis = analyze(text, { cwd: '/p', home: '/home/u' })
  if ('rejection' in analysis) throw new Error(`refused: ${analysis.rejection.message}`)
  return analysis.facts
}

const full = [
  'env rm q',
  'env -i -- A=1 rm q',
  'env -u A -C src rm q',
  'env --unset=A --chdir src rm q',
  'env --uns=A rm q',
  "env -S 'rm q'",
  "env -vS'rm q'",
  '/usr/bin/env rm q',
  'timeout 5 rm q',
  'timeout -k 1 -s KILL 5 rm q',
  'timeout --kill-after=1 --sig KILL 5 rm q',
  'nice rm q',
  'nice -n 5 rm q',
  'nice -5 rm q',
  'ionice -c3 rm q',
  'nohup rm q',
  'arch rm q',
  'arch -arm64 rm q',
  'arch -x86_64 -arm64 /bin/sh -c "rm q"',
  'stdbuf -oL rm q',
  'setsid -w rm q',
  'command rm q',
  'command -- rm q',
  'exec rm q',
  'jobs -x rm q',
  'exec -a x rm q',
  '\\time rm q',
  'flock /l rm q',
  "flock /l -c 'rm q'",
  "flock -c 'rm q' /l",
  'watch -n1 rm q',
  'watch -x rm q',
  'busybox rm q',
  'chrt -o 0 rm q',
  'taskset 1 rm q',
  'bundle exec rm q',
  'poetry run rm q',
  'uv run rm q',
  'conda run -n e rm q',
  'mise exec -- rm q',
  'rtk rm q',
  'git -C d bisect run rm q',
  "git submodule foreach 'rm q'",
  "git rebase -x 'rm q' main",
  "npm exec -c 'rm q'",
  "sh -c 'rm q'",
  "/bin/sh -c 'rm q'",
  "bash -euc 'rm q'",
  "bash -o pipefail -c 'rm q'",
  "bash --norc -c 'rm q'",
  'bash -c \'rm "$1"\' _ q',
  'find . -exec rm q \\;',
  'find . -exec ls {} + -exec rm q \\;',
  'fd -x ls \\; -x rm q',
  'env timeout 5 nice -n 1 nohup rm q',
  "at now <<< 'rm q'",
  "batch <<'E'\nrm q\nE",
  "crontab - <<'E'\nMAILTO=x\n# daily\n@daily rm q\nE",
  "crontab <<< '*/5 * * * 1-5 rm q % input'",
  'hatch run rm q',
  'hatch run dev:rm q',
  'hatch -e dev run +py=3.12 test:rm q',
  "hatch run 'rm q'",
  'hatch env run -e dev -- rm q',
  'pdm run rm q',
  'tox exec -e py -- rm q',
  'mise x node@20 -- rm q',
  'mise -C d exec -- rm q',
  'pnpm --filter a exec rm q',
  'pnpm -r exec rm q',
  'yarn workspaces foreach -A exec rm q',
  "sops exec-env f 'rm q'",
  'git merge-index rm q',
  'nx exec -- rm q',
  'ccache rm q',
  'bear -- rm q',
  "lksh -c 'rm q'",
] as const

test.each(full)('takes rm out of: %s', (text) => {
  const found = facts(text)
  const inner = found.commands.find((command) => command.argv[0]?.text === 'rm')
  expect(inner?.argv.slice(0, 2).map((word) => word.text)).toEqual(['rm', 'q'])
  expect(inner?.via.length).toBeGreaterThan(0)
  expect(inner?.parent).not.toBeNull()
  expect(found.commands[0]?.unwrapped).toBe('all')
})

describe('input becomes arguments', () => {
  test.each(['xargs rm q', 'xargs -n 1 -0 rm q', 'xargs -a f -P2 rm q', 'xargs --max-args=1 -- rm q'])('%s', (text) => {
    const inner = facts(text).commands[1]
    expect(inner?.argv.map((word) => word.text)).toEqual(['rm', 'q', '(input)'])
    expect(inner?.argv.at(-1)).toMatchObject({ dynamic: ['input'], splits: true, values: null })
  })

  test.each(['xargs -I{} rm a{}b', 'xargs -i rm a{}b', 'xargs --replace=X rm aXb', 'find . -exec rm a{}b \\;'])(
    '%s',
    (text) => {
      expect(facts(text).commands[1]?.argv).toMatchObject([
        { text: 'rm' },
        { dynamic: ['input'], prefix: 'a', splits: false },
      ])
    },
  )

  test('parallel takes its arguments from the line as well', () => {
    expect(facts('parallel rm a{} ::: x y').commands[1]?.argv).toMatchObject([
      { text: 'rm' },
      { dynamic: ['input'], prefix: 'a' },
    ])
  })

  test('xargs alone runs echo', () => {
    expect(facts('xargs').commands[1]?.argv[0]?.text).toBe('echo')
  })

  test('input as the program is unknown', () => {
    expect(
      facts('xargs env')
        .commands.at(-1)
        ?.hazards.map((one) => one.code),
    ).toContain('dynamic-name')
  })
})

const privileged = [
  'sudo rm q',
  '/usr/bin/sudo rm q',
  'doas rm q',
  'env sudo rm q',
  'sudo -u x -- rm q',
  'sudo A=1 rm q',
  "su -c 'rm q'",
  "su x -c 'rm q'",
  'pkexec rm q',
  'run0 rm q',
  'chroot /x rm q',
  'unshare -r rm q',
  'nsenter -t 1 rm q',
  'setpriv --nnp rm q',
  "sh -c 'sudo rm q'",
  's\\udo rm q',
  'x=sudo; $x rm q',
  'xargs sudo rm q',
] as const

test.each(privileged)('privilege is denied, and what it runs is listed: %s', (text) => {
  const found = facts(text).commands
  expect(found.flatMap((command) => command.hazards)).toContainEqual(
    expect.objectContaining({ code: 'privilege', verdict: 'deny' }),
  )
  expect(found.map((command) => command.argv[0]?.text)).toContain('rm')
})

const partial = [
  { text: 'env --new-option rm q', code: 'wrapper-option', note: 'an option the table does not know' },
  { text: 'env $x rm q', code: 'wrapper-option', note: 'could be options or assignments' },
  { text: 'timeout $x rm q', code: 'wrapper-option', note: '' },
  { text: 'find $x -name a', code: 'wrapper-option', note: 'could be -exec' },
  { text: 'xargs $x rm', code: 'wrapper-option', note: '' },
  { text: 'xargs sh', code: 'shell-option', note: '' },
  { text: "env -S 'rm ${x}'", code: 'wrapper-option', note: 'expanded by env' },
  { text: 'ssh h rm q', code: 'remote-command', note: '' },
  { text: 'docker run i rm q', code: 'remote-command', note: '' },
  { text: 'watch "$x"', code: 'eval', note: '' },
  { text: 'sudo -c', code: 'privilege', note: '' },
]

test.each(partial)('is not certain about: $text', ({ text, code }) => {
  expect(facts(text).commands.flatMap((command) => command.hazards.map((one) => one.code))).toContain(code)
})

test.each([
  './env rm q',
  '/tmp/env rm q',
  'command -v rm',
  'env',
  'find . -name -exec',
  'bash script.sh',
  'timeout --help',
])('is not a wrapper here: %s', (text) => {
  expect(facts(text).commands).toHaveLength(1)
  expect(facts(text).commands[0]?.unwrapped).toBe('none')
})
