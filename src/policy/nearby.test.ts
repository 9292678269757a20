import { describe, expect, test } from 'vitest'
import {
  bashCall,
  callOf,
  fileFact,
  HOME,
  pathRule,
  policyOf,
  sessionOf,
  sourced,
} from '../../test/cases/policy-fixture.ts'
import { parseHostPattern } from '../hosts/pattern.ts'
import type { SessionFacts } from './call.ts'
import { evaluate } from './evaluate/evaluate.ts'
import type { HostRule, Policy } from './policy.ts'

const OTHER = `${HOME}/other`
const PACKAGE = `${HOME}/go/pkg/mod/one`
const session = (changes: Partial<SessionFacts> = {}): SessionFacts =>
  sessionOf({
    nearby: (path) =>
      path === OTHER || path.startsWith(`${OTHER}/`)
        ? sourced('repositories' as const)
        : path.startsWith(PACKAGE)
          ? sourced('packages' as const)
          : null,
    ...changes,
  })
const contained = policyOf({
  mode: sourced('contained'),
  outsideRoots: sourced('ask'),
  flags: { ...policyOf().flags, redirects: sourced('all'), command_substitution: sourced(true) },
})
const judge = (command: string, policy: Policy = contained, facts = session()): string => {
  const { decision, reason } = evaluate(policy, facts, bashCall(command))
  return decision === 'allow' ? 'allow' : `${decision} ${reason.code}`
}

describe('ordinary source near the project', () => {
  test.each([
    [`cat ${OTHER}/src/a.ts`, 'a file that is named'],
    ['cat ../other/src/a.ts', 'by a way that climbs'],
    [`rg x ${OTHER}`, 'a whole repository'],
    [`cat < ${OTHER}/a.ts`, 'by a redirect'],
    [`cat ${OTHER}/src/*.ts`, 'by a pattern'],
    [`find ${OTHER} -name x`, 'names alone'],
    [`git -C ${OTHER} log`, 'what git reads there'],
    [`git -C ${OTHER} branch -a`, 'what it lists'],
    [`cd ${OTHER} && rg x && git status`, 'looking around there'],
    [`cp ${OTHER}/a.ts src/`, 'a copy into the project'],
    [`git fetch && cat ${PACKAGE}/one.go`, 'a package, which anybody has'],
  ])('%s: %s', (command) => expect(judge(command)).toBe('allow'))

  test.each([
    [`cat ${OTHER}/.env`, 'ask secret', 'a secret in it'],
    [`cat ${OTHER}/keys/server.pem`, 'ask secret', 'a key in it'],
    [`cp src/a.ts ${OTHER}/`, 'ask outside-roots', 'a write'],
    [`echo x > ${OTHER}/a.ts`, 'ask outside-roots', 'a write by a redirect'],
    [`rm -rf ${OTHER}`, 'ask', 'a loss'],
    [`git -C ${OTHER} commit -m x`, 'ask outside-roots', 'git that writes there'],
    [`git -C ${OTHER} branch x`, 'ask outside-roots', 'a list that is given something to change'],
    [`cd ${OTHER} && git commit -m x`, 'ask outside-cwd', 'the same from inside'],
    [`cd ${OTHER} && make`, 'ask outside-cwd', 'what may write anything'],
    [`cd ${OTHER} && touch x`, 'ask outside-roots', 'a write from inside'],
    [`cat ${OTHER}/a.ts; curl https://example.org`, 'ask outside-roots', 'a text that names a host'],
    [`git fetch && cat ${OTHER}/a.ts`, 'ask outside-roots', 'a text that talks to a remote'],
    [`ssh host cat x; cat ${OTHER}/a.ts`, 'ask', 'a text that works on another machine'],
    [`cat ${HOME}/third/a.ts`, 'ask outside-roots', 'what is not near'],
  ])('%s is %s: %s', (command, answer) => expect(judge(command)).toMatch(new RegExp(`^${answer}`)))

  test('code that nobody can read has it only without a host to send it to', () => {
    const parsed = parseHostPattern('example.org', null)
    if (!parsed || !('pattern' in parsed)) throw new Error('a pattern')
    const host: HostRule = { pattern: parsed.pattern, rule: 'test', source: 'test' }
    const online = { ...contained, commands: { ...contained.commands, defaultDomains: [host] } }
    expect(judge(`python3 count.py ${OTHER}/a.ts`)).toBe('allow')
    expect(judge(`python3 count.py ${OTHER}/a.ts`, online)).toBe('ask outside-roots')
    expect(judge(`wc -l ${OTHER}/a.ts`, online)).toBe('allow')
    expect(judge(`python3 count.py ${PACKAGE}/one.go`, online)).toBe('allow')
  })

  test('an agent that somebody tries to steer is asked about', () => {
    const read = (path: string) => callOf('read', { reads: [fileFact(path)] })
    const tainted = session({ labels: new Map([['instructions', 'a page']]) })
    expect(evaluate(contained, tainted, read(`${OTHER}/a.ts`)).decision).toBe('ask')
    expect(evaluate(contained, tainted, read(`${PACKAGE}/one.go`)).decision).toBe('allow')
  })

  test('a denial applies', () => {
    const denied = { ...contained, reads: { ...contained.reads, deny: [pathRule(`${OTHER}/src/**`)] } }
    expect(judge(`cat ${OTHER}/src/a.ts`, denied)).toBe('deny denied-by-rule')
  })

  test('a file tool reads it, and its level applies', () => {
    const read = callOf('read', { reads: [fileFact(`${OTHER}/a.ts`)] })
    expect(evaluate(contained, session(), read).decision).toBe('allow')
    expect(evaluate(contained, sessionOf(), read).decision).toBe('ask')
    const closed = { ...contained, tools: new Map([['read', sourced<'deny'>('deny')]]) }
    expect(evaluate(closed, session(), read).decision).toBe('deny')
    const write = callOf('write', { writes: [fileFact(`${OTHER}/a.ts`)] })
    expect(evaluate(contained, session(), write).decision).toBe('ask')
  })
})

describe('git and a secret of the project', () => {
  test.each([
    'git diff .env',
    'git diff --stat .env',
    'git diff --cached --name-only -- .env',
    'git status .env',
    'git check-ignore -v .env',
    'git ls-files .env',
    'git log -- .env',
    'git log --oneline -5 --stat .env',
    'git rev-parse HEAD:.env',
    'git log -L1,9:src/a.ts',
    'git show "$rev:src/a.ts"',
    'git grep "x:.env*" -- src',
    'git commit -m "docs:.env"',
    "git diff main -- . ':(exclude).env' ':!*.pem'",
    "git log -p -- '*.ts'",
    'hg diff src',
  ])('%s reveals nothing of its content', (command) => expect(judge(command)).toBe('allow'))

  test.each([
    'git add .env',
    'git stash push .env',
    'git show HEAD:.env',
    'git diff --cached .env',
    'git diff HEAD~5 -- .env',
    'git diff HEAD .env',
    'git diff --stat -p .env',
    'git diff --stat --patc .env',
    'git status -v .env',
    'git status -sv .env',
    'git status --verb -- .env',
    'git log -p .env',
    'git log --patch-with-stat -- .env',
    'git log "$x" -- .env',
    'git diff --no-index /dev/null .env',
    'git diff --no-ind /dev/null .env',
    'git diff /dev/null .env',
    'git hash-object -w .env',
    'git status; cat .env',
    'git log -L1,9:.env',
    'git log -L :main:config/.env',
    'git log "-L/a/,/b/:.env"',
    'git blame .env',
    'git annotate HEAD -- .env',
    'git show :0:.env',
    'git show "$rev:.env"',
    'git show $(git stash create):.env',
    'git show stash@{0}:config/.env',
    'git cat-file blob HEAD~3:.env',
    'git cat-file --batch <<< HEAD:.env',
    'git grep x HEAD -- .env',
    "git log -p -- '.e*'",
    "git log -p -- ':(top,glob)**/.env'",
    'git archive HEAD .env',
    'git unpack-file HEAD:.env',
    'git fast-export HEAD -- .env',
    'git checkout-index --temp .env',
    'git config --blob HEAD:.env --list',
    'git config --blo HEAD:.env --list',
    'git difftool -y HEAD -- .env',
    'git read-tree --prefix=x/ HEAD:.ssh/id_rsa',
    'hg cat -r 3 .env',
    'hg ann .env',
    'jj file show -r x .env',
  ])('%s asks', (command) => expect(judge(command)).toMatch(/^ask/))
})
