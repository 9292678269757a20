/** A denied command is found where only bash would see it: text that is evaluated later, unknown text, words that name it. */

import { describe, expect, it } from 'vitest'
import { bashCall, commandRule, policyOf, sessionOf, sourced } from '../../../test/cases/policy-fixture.ts'
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
    // Data that bash evaluates, wherever the text keeps it.
    "typeset -i x; x='a[$(rm y)]'",
    "x='a[$(rm y)]'; echo $((x))",
    'x=\'a[$(r""m y)]\'; echo $[x]',
    "x='a[$(base64 -d <<< cm0geQ== | sh)]'; [[ x -eq 0 ]]",
    "mapfile -t l <<< 'a[$(rm y)]'; ((l))",
    "f() { (( $1 )); }; f 'a[$(rm y)]'",
    "x='a[$(rm y)]'; unset 'v[x]'",
    "declare -n r; r='a[$(rm y)]'; r=1",
    // Code that a program reads from its input.
    "python3 - <<'E'\nimport subprocess\nsubprocess.run(['rm', 'x'])\nE",
    'echo \'system("rm x")\' | perl',
    "sqlite3 a <<< '.shell rm x'",
    "make -f - <<< 'x:;rm y'",
    "BASH_ENV=/dev/stdin bash -c : <<< 'rm y'",
    // The program under another name.
    'ln -s /bin/rm x; ./x y',
    'cp "$(command -v rm)" x',
    'cat /usr/bin/git > g',
    'cp $(command -v r""m) a; ./a x',
    // Data from outside that bash evaluates.
    'while read -r v; do [[ $v -eq 1 ]]; done < data',
    'read -r v < data; [[ -v $v ]]',
    'read -r v < data; echo ${!v}',
    // Programs that run their input, or put a name together.
    "echo 'rm x' | sed e",
    "echo 'rm x' | sed 's/^//e'",
    "printf '%s' cm0geA== | base64 -d | sed 1e",
    "sed -n 's/a/b/pe' f",
    "awk '{system($0)}' f",
    'awk \'BEGIN{system("r" "m x")}\'',
    'awk \'{print | "r" "m x"}\' f',
    'awk \'BEGIN{c="r"; d="m x"; system(c d)}\'',
    'tar cf t.tar --checkpoint=1 --checkpoint-action=exec="$(printf r%s m) x" data',
    // A script that the text writes.
    "echo 'rm x' > e.sh; bash e.sh",
    "printf 'git push\\n' | tee run; sh ./run",
    "cat > go.sh <<'E'\nrm x\nE\nchmod +x go.sh; ./go.sh",
    // Programs of which nothing is known.
    'watcher rm x',
    "terminal -e 'git push origin'",
    'watcher --quiet -- git -C x push',
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
    "n=$(wc -l < f); echo $((n + 1)); grep -c 'a[0]' f",
    "python3 - <<'E'\nprint(1)\nE",
    'cp docs/rm.md x',
    'awk \'{system("date")}\' f',
    "sed '1e date' f",
    "awk '{print $1}' f | sort",
    "sed -e 's/a/e/' f",
    "cat > go.sh <<'E'\nls\nE\nbash go.sh",
    'n=$(wc -l < f); [[ $n -eq 3 ]]',
    'tar czf a.tgz --checkpoint-action=exec=date src',
    'ls -l /bin/rm',
    'watcher --format rm.txt',
    'git rm x',
    'docker rm x',
  ])('allows: %s', (command) => {
    expect(decide(command)).toBe('allow')
  })
})
