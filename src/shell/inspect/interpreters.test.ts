/** Which grants hand out an interpreter or another user's rights. */

import { describe, expect, test } from 'vitest'
import { grantRefusal, interpreterOf } from './interpreters.ts'

const refused = [
  ['python', 'the bare interpreter'],
  ['python3', 'the bare interpreter'],
  ['python3.11', 'a version in the name'],
  ['python3.11 -c', 'inline code'],
  ['python3 -m', 'any module'],
  ['python3 -m code', 'a module that runs code'],
  ['python3 -u', 'an option is not a script'],
  ['/usr/bin/python3', 'by its path'],
  ['env python3', 'behind env'],
  ['env FOO=1 python3', 'behind env with an assignment'],
  ['timeout 5 python3', 'behind timeout'],
  ['node', 'the bare interpreter'],
  ['node -e', 'inline code'],
  ['node -r ./x scripts/gen.js', 'loads code first'],
  ['deno', 'any code'],
  ['deno eval', 'inline code'],
  ['deno run', 'any script'],
  ['bun', 'any code'],
  ['bun -e', 'inline code'],
  ['perl', 'the bare interpreter'],
  ['perl -ne', 'inline code'],
  ['ruby', 'the bare interpreter'],
  ['php', 'the bare interpreter'],
  ['php -r', 'inline code'],
  ['bash', 'a shell'],
  ['sh -c', 'a shell with text'],
  ['zsh', 'a shell'],
  ['busybox', 'a shell among others'],
  ['uv run', 'any program of the environment'],
  ['uv run python', 'an interpreter behind a runner'],
  ['poetry run', 'any program of the environment'],
  ['poetry run python', 'an interpreter behind a runner'],
  ['pipenv run', 'any program of the environment'],
  ['npx tsx', 'an interpreter behind npx'],
  ['ts-node', 'the bare interpreter'],
  ['osascript', 'scripts other programs'],
  ['Rscript', 'the bare interpreter'],
  ['lua5.4', 'a version in the name'],
  ['clj', 'a small interpreter'],
  ['java', 'any class'],
] as const

const accepted = [
  ['python3 scripts/build.py', 'a pinned script'],
  ['python3 -u scripts/build.py', 'a pinned script behind an option'],
  ['python3 -m pytest', 'a pinned module'],
  ['python3 --version', 'only prints its version'],
  ['node scripts/gen.js', 'a pinned script'],
  ['node --test', 'the test runner; inline code is a separate hazard'],
  ['bash scripts/x.sh', 'a pinned script'],
  ['deno test', 'a fixed job'],
  ['deno run main.ts', 'a pinned script'],
  ['bun run', 'scripts of package.json'],
  ['bun test', 'a fixed job'],
  ['bun scripts/x.ts', 'a pinned script'],
  ['uv run pytest', 'a program by name'],
  ['uv run python scripts/x.py', 'a pinned script behind a runner'],
  ['poetry run pytest', 'a program by name'],
  ['npx vitest', 'a program by name'],
  ['npx tsx scripts/x.ts', 'a pinned script behind npx'],
  ['java -jar target/x.jar', 'a pinned program'],
  ['git status', 'no interpreter'],
  ['awk', 'judged by its program text'],
  ['sqlite3', 'judged by its statements'],
  ['env', 'wrappers are unwrapped'],
  ['timeout', 'wrappers are unwrapped'],
  ['xargs', 'wrappers are unwrapped'],
  ['find', 'wrappers are unwrapped'],
  ['cargo run', 'code of the project'],
] as const

describe('grants of interpreters', () => {
  test.each(refused)('%s is refused: %s', (text) => {
    expect(grantRefusal(text.split(' '))).toMatchObject({ flag: 'system_python' })
  })
  test.each(accepted)('%s is accepted: %s', (text) => expect(grantRefusal(text.split(' '))).toBeNull())
})

describe('grants of other rights', () => {
  test.each(['sudo', 'sudo ls', 'doas', 'su', 'pkexec', 'run0', '/usr/bin/sudo', 'env sudo', 'nsenter', 'chroot x'])(
    '%s is refused',
    (text) => expect(grantRefusal(text.split(' '))).toMatchObject({ flag: 'privilege_wrappers' }),
  )
})

describe('families', () => {
  test.each([
    ['python3.12', 'python'],
    ['/usr/bin/node', 'javascript'],
    ['perl5.36', 'perl'],
    ['dash', 'shell'],
    ['psql', 'database'],
    ['hy', 'other'],
  ])('%s is %s', (name, family) => expect(interpreterOf(name)).toEqual({ family }))
  test.each(['git', 'awk', 'make', 'npx'])('%s is not one', (name) => expect(interpreterOf(name)).toBeNull())
})
