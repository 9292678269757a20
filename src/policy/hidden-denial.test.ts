/** A denied command holds where only bash would see it: text that is evaluated later, unknown text, words that name it. */

import { describe, expect, it } from 'vitest'
import { bashCall, commandRule, policyOf, sessionOf, sourced } from '../../test/cases/policy-fixture.ts'
import { evaluate } from './evaluate.ts'

const policy = policyOf({
  mode: sourced('contained', 'permission.mode'),
  flags: { ...policyOf().flags, command_substitution: sourced(true), redirects: sourced('all') },
  commands: { ...policyOf().commands, deny: [commandRule('rm'), commandRule('git push')] },
})

const decide = (command: string): string => evaluate(policy, sessionOf(), bashCall(command)).decision

describe('denied commands in contained mode', () => {
  it.each([
    'eval "$(echo rm x)"',
    'eval "$X"',
    '. <(echo rm x)',
    "alias ls='rm x'",
    "PS4='$(rm x)'; set -x; ls",
    "let 'x=a[$(rm x)]'",
    "[[ 'a[$(rm x)]' -eq 0 ]]",
    'cat <<E | sh\nrm x\nE',
    'python3 -c \'import os; os.system("git push")\'',
    'awk \'BEGIN{system("rm x")}\'',
    "nodemon --exec 'git push'",
    'git -c alias.p=push p',
    '/b?n/rm x',
    'sh',
  ])('asks: %s', (command) => {
    expect(decide(command)).not.toBe('allow')
  })

  it.each([
    "echo 'git push'",
    'grep -rn rm src',
    'git status',
    'bash scripts/test.sh',
    'source .venv/bin/activate',
    "python3 -c 'print(1)'",
  ])('allows: %s', (command) => {
    expect(decide(command)).toBe('allow')
  })
})
