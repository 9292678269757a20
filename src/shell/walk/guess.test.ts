import { describe, expect, test } from 'vitest'
import type { Effect } from '../facts.ts'
import { strongest } from '../inspect/effect.ts'
import { analyze } from './analyze.ts'

const context = { cwd: '/p', home: '/home/u', roots: ['/p'] }

/** The strongest effect of a text; a text that is refused fails the test. */
function effectOf(command: string): Effect {
  const analysis = analyze(command, context)
  if ('rejection' in analysis) throw new Error(analysis.rejection.message)
  return analysis.facts.commands.reduce<Effect>((worst, { effect }) => strongest(worst, effect), 'local')
}

describe('a command in a text that a program reads by its own syntax', () => {
  test.each([
    [`awk 'BEGIN{system("git push --force")}'`, 'a call of awk'],
    [`sed -n '1e git push -f' x`, 'a command of sed'],
    [`vim -c ':!git push --force' -c :q`, 'a command of vim'],
    [`ex -sc '!git push -f' x`, 'the same in ex mode'],
    [`less '+!git push -f' x`, 'a command of a pager'],
    [`ed <<< '!git push -f'`, 'standard input of an editor'],
    [`make -f - <<< 'x:; git push -f'`, 'a makefile of the text'],
    [`make SHELL='git push -f'`, 'a variable that names a program'],
    [`cmake -DCMAKE_C_COMPILER_LAUNCHER='git push -f' .`, 'the same by a definition'],
    [`cargo run --config 'target.x.runner="git push -f"'`, 'a setting by option'],
    [`tmux new-session -d 'git push -f'`, 'a terminal'],
    ['screen -dm git push -f', 'the same, word by word'],
    ['nix develop -c git push -f', 'an environment'],
    [`expect -c 'spawn git push -f'`, 'a language that is hardly one'],
    [`gdb -batch -ex 'shell git push -f'`, 'a debugger'],
    [`hyperfine 'git push -f'`, 'a measuring program'],
    ['perf stat git push -f', 'the same, after an extra word'],
    ['faketime x git push -f', 'a program that changes the clock'],
    ['corepack yarn npm publish', 'a program that chooses a version'],
    [`alias ls='git push -f'; ls`, 'another name'],
    ['hash -p /usr/bin/git ls; ls push -f', 'another place'],
    ['IFS=,; c=git,push,-f; $c', 'words that are cut elsewhere'],
    [`\${x:-git} push -f`, 'a default value of a variable'],
    [`mapfile -C 'git push -f' -c1 < x`, 'a callback'],
    ['sh <(echo git push -f)', 'a process substitution as a script'],
    ['source <(echo git push -f)', 'the same in this shell'],
    ['base64 -d <<< Z2l0IHB1c2ggLWY= | sh', 'a text that is decoded from a here-string'],
    ['cat <<E | sh\ngit push -f\nE', 'a here-document behind cat'],
  ])('%s (%s)', (command) => expect(effectOf(command)).toMatch(/^(?:destructive|remote-write)$/))
})

describe('a name in a text that runs nothing', () => {
  test.each([
    [`echo 'git push --force'`, 'printed'],
    [`grep -rn "git push -f" .`, 'looked for'],
    [`git commit -m "no git push -f here"`, 'a message'],
    [`python3 -c "print('git push -f')"`, 'a string of a language'],
    [`node -e "console.log('npm publish')"`, 'the same'],
    [`tee x.md <<< 'git push -f'`, 'a file'],
    [`tmux new-session -d -s web 'npm run dev'`, 'a terminal with an ordinary command'],
    [`vim -c 'set number' src/git.ts`, 'a setting of an editor'],
    [`awk '{print "git push"}' x`, 'what awk prints'],
    [`make CC=gcc test`, 'an ordinary compiler'],
  ])('%s (%s)', (command) => expect(effectOf(command)).toBe('local'))
})
