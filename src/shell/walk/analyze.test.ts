// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are bash, where ${…} is an expansion.
import { describe, expect, test } from 'vitest'
import type { ShellFacts, Word } from '../facts.ts'
import { analyze } from './analyze.ts'

const context = { cwd: '/p', home: '/home/u', variables: { HOME: '/home/u' } }

function facts(text: string): ShellFacts {
  const analysis = analyze(text, context)
  if ('rejection' in analysis) throw new Error(`refused: ${analysis.rejection.message}`)
  return analysis.facts
}

/** Known words as they are, sets in braces, unknown ones as `<reason>`, with `…` when they may split. */
function show(word: Word): string {
  if (word.values === null) return `${word.prefix}<${word.dynamic.join('+')}>${word.splits ? '…' : ''}`
  return word.values.length === 1 ? (word.values[0] as string) : `{${word.values.toSorted().join(',')}}`
}

function commands(text: string): string[] {
  return facts(text)
    .commands.filter((command) => command.argv.length > 0)
    .map((command) => command.argv.map(show).join(' '))
}

function hazards(text: string): string[] {
  const found = facts(text)
  return [
    ...new Set([...found.hazards, ...found.commands.flatMap((command) => command.hazards)].map((one) => one.code)),
  ]
}

const words = [
  { name: 'quotes', text: `r'm' "a b" c\\ d`, argv: ['rm a b c d'], note: '' },
  { name: 'ANSI-C quotes', text: "$'\\x72\\155' $'a\\tb'", argv: ['rm a\tb'], note: 'hex and octal' },
  { name: 'bytes beyond ASCII', text: "ls $'\\xc3'", argv: ['ls <transform>'], note: 'depends on the locale' },
  { name: 'line continuation', text: 'r\\\nm a', argv: ['rm a'], note: '' },
  {
    name: 'a dollar before a backslash',
    text: 'echo "a$\\|b" "$\\`id\\`" "$\\$(id)"',
    argv: ['echo a$\\|b $`id` $$(id)'],
    note: 'nothing is run',
  },
  {
    name: 'two backslashes after a dollar',
    text: 'echo "$\\\\$(id)"',
    argv: ['id', 'echo $\\<substitution>'],
    note: 'the second one is data',
  },
  { name: 'braces as a command', text: '{rm,-rf,~}', argv: ['rm -rf /home/u'], note: '' },
  { name: 'ranges', text: 'ls {1..3} {c..a}', argv: ['ls 1 2 3 c b a'], note: '' },
  { name: 'empty alternative', text: 'ls {a,}', argv: ['ls a'], note: 'an empty unquoted word vanishes' },
  { name: 'braces that lengthen a name', text: 'x=a; ls {$x,b}1', argv: ['ls <glob>…'], note: 'bash reads $x1' },
  { name: 'no braces in assignments', text: 'x={a,b}; ls "$x"', argv: ['ls {a,b}'], note: '' },
  { name: 'tilde', text: 'ls ~ ~/a "~" a~ ~root', argv: ['ls /home/u /home/u/a ~ a~ <tilde>'], note: '' },
  {
    name: 'tilde in arguments like assignments',
    text: 'ls a=~ a=b:~ --a=~',
    argv: ['ls a=/home/u a=b:/home/u --a=~'],
    note: '',
  },
  { name: 'HOME changed', text: 'HOME=/q; ls ~', argv: ['ls /q'], note: '' },
  {
    name: 'unset variable',
    text: 'ls "$x" $x',
    argv: ['ls <variable> <variable>…'],
    note: 'the environment may hold it',
  },
  { name: 'known variable', text: 'x=rm; $x "$x"', argv: ['rm rm'], note: '' },
  { name: 'splitting', text: 'x="a  b"; ls $x "$x"', argv: ['ls a b a  b'], note: '' },
  { name: 'splitting glues', text: 'x="a b"; ls p$x"q"', argv: ['ls pa bq'], note: '' },
  { name: 'empty values vanish', text: 'x=; ls $x "$x"', argv: ['ls '], note: '' },
  { name: 'IFS changed', text: 'IFS=,; x=a,b; ls $x', argv: ['ls a,b<variable>…'], note: '' },
  { name: 'glob', text: 'ls src/*.ts "a"?', argv: ['ls src/<glob>… a<glob>…'], note: '' },
  { name: 'glob from a value', text: 'x=\'*\'; ls $x "$x"', argv: ['ls <glob>… *'], note: '' },
  { name: 'default', text: 'x=; ls ${x:-a} ${y:-b}', argv: ['ls a <variable>…'], note: '' },
  { name: 'removal', text: 'x=rmm; ${x%m} a', argv: ['rm a'], note: '' },
  { name: 'lower case', text: 'x=RM; ${x,,}', argv: ['rm'], note: '' },
  { name: 'constant arithmetic', text: 'x=5; ls $((x+1))', argv: ['ls 6'], note: '' },
  { name: 'positional', text: 'ls "$1" $#', argv: ['ls <positional> <positional>'], note: 'a number does not split' },
  { name: 'set --', text: 'set -- a "b c"; ls "$2" "$@"', argv: ['set -- a b c', 'ls b c a b c'], note: '' },
] as const

test.each(words)('words: $name', ({ text, argv }) => {
  expect(commands(text)).toEqual([...argv])
})

const flows = [
  { name: 'finite loop', text: 'for i in a b; do rm "$i"; done', argv: ['rm {a,b}'] },
  { name: 'names from a loop', text: 'for c in ls rm; do $c x; done', argv: ['ls x', 'rm x'] },
  { name: 'changed in a loop', text: 'x=a; for i in 1 2; do ls "$x"; x=b; done', argv: ['ls <variable>'] },
  { name: 'branches', text: 'x=a; if true; then x=b; fi; ls "$x"', argv: ['true', 'ls {a,b}'] },
  { name: 'case', text: 'x=a; case q in q) x=b;; esac; ls "$x"', argv: ['ls {a,b}'] },
  { name: 'and-list', text: 'x=a; true && x=b; ls "$x"', argv: ['true', 'ls {a,b}'] },
  { name: 'subshell', text: 'x=a; (x=b); ls $x', argv: ['ls a'] },
  { name: 'pipeline', text: 'x=a; x=b | cat; ls $x', argv: ['cat', 'ls a'] },
  { name: 'background', text: 'x=a; x=b & ls $x', argv: ['ls a'] },
  { name: 'function call', text: 'x=a; f() { x=b; }; f; ls "$x"', argv: ['f', 'ls <variable>'] },
  {
    name: 'function defined later',
    text: 'f() { g; }; g() { x=b; }; x=a; f; ls "$x"',
    argv: ['g', 'f', 'ls <variable>'],
  },
  { name: 'command assignment', text: 'x=a; x=b true; ls $x', argv: ['true', 'ls a'] },
  { name: 'read', text: 'x=a; read x; ls "$x"', argv: ['read x', 'ls <variable>'] },
  { name: 'printf -v', text: 'x=a; printf -v x b; ls "$x"', argv: ['printf -v x b', 'ls <variable>'] },
  { name: 'eval', text: 'x=a; eval x=b; ls "$x"', argv: ['eval x=b', 'ls b'] },
  {
    name: 'readonly',
    text: 'readonly x=a; export x=b; ls "$x"',
    argv: ['readonly x=a', 'export x=b', 'ls <variable>'],
  },
  { name: 'self-willed', text: 'RANDOM=5; ls "$RANDOM"', argv: ['ls <variable>'] },
  { name: 'local outside a function', text: 'x=a; local x=b; ls "$x"', argv: ['local x=b', 'ls {a,b}'] },
] as const

test.each(flows)('values: $name', ({ text, argv }) => {
  expect(commands(text)).toEqual([...argv])
})

const places = [
  'a; rm q',
  'a && rm q',
  'a | rm q',
  'a & rm q',
  'a\nrm q',
  '! rm q',
  'time rm q',
  '(rm q)',
  '{ rm q; }',
  'if rm q; then :; fi',
  'if :; then :; elif rm q; then :; fi',
  'if :; then :; else rm q; fi',
  'while rm q; do :; done',
  'until :; do rm q; done',
  'for i in 1; do rm q; done',
  'for i in $(rm q); do :; done',
  'for ((;;)); do rm q; done',
  'select i in a; do rm q; done',
  'case x in x) rm q;; esac',
  'case $(rm q) in x) ;; esac',
  'case x in $(rm q)) ;; esac',
  'f() { rm q; }',
  'function f { rm q; }',
  'coproc rm q',
  'coproc N { rm q; }',
  'echo $(rm q)',
  'echo `rm q`',
  'echo "$(rm q)"',
  'echo "`rm q`"',
  'cat <(rm q)',
  'tee >(rm q)',
  'echo ${x:-$(rm q)}',
  'echo "${x:-$(rm q)}"',
  'echo ${x/a/$(rm q)}',
  'echo $(($(rm q)))',
  'x=$(rm q)',
  'x=$(rm q) ls',
  'x=($(rm q))',
  'export x=$(rm q)',
  'ls > $(rm q)',
  'ls <<< $(rm q)',
  'cat <<E\n$(rm q)\nE',
  '[[ $(rm q) ]]',
  '[[ a == $(rm q) ]]',
  '(( $(rm q) ))',
  'trap "rm q" EXIT',
  'eval rm q',
  "eval 'rm q'",
  "sh -c 'rm q'",
  "bash -ec 'rm q'",
  "bash <<< 'rm q'",
  "bash <<'E'\nrm q\nE",
  'bash -c \'"$@"\' _ rm q',
  'x=rm; $x q',
  '{ :; rm q; } > f',
]

test.each(places)('lists rm in: %s', (text) => {
  expect(commands(text)).toContain('rm q')
})

const directories = [
  { text: 'cd src && ls', cwd: '/p/src', note: 'runs only if cd succeeded' },
  { text: 'cd src; ls', cwd: '/p/src', note: 'documented: a failing cd stays in a place that was granted, too' },
  { text: 'cd /a/../b; ls', cwd: '/b', note: '' },
  { text: 'cd; ls', cwd: '/home/u', note: '' },
  { text: 'cd ~/x; ls', cwd: '/home/u/x', note: '' },
  { text: 'cd -; ls', cwd: null, note: '' },
  { text: 'cd "$x"; ls', cwd: null, note: '' },
  { text: 'cd -P src; ls', cwd: null, note: 'physical' },
  { text: 'cd src || exit 1; ls', cwd: '/p/src', note: 'the branch that ends does not count' },
  { text: 'cd src || ls', cwd: null, note: 'runs only if cd failed' },
  { text: '! cd src && ls', cwd: null, note: '' },
  { text: '(cd src); ls', cwd: '/p', note: '' },
  { text: 'cd src | cat; ls', cwd: '/p', note: '' },
  { text: 'cd src & ls', cwd: '/p', note: '' },
  { text: 'true && cd src; ls', cwd: null, note: 'perhaps' },
  { text: 'x=src && cd "$x" && true; ls', cwd: '/p/src', note: 'an assignment does not fail' },
  { text: 'x=$(false) && cd src; ls', cwd: null, note: 'but a substitution may' },
  { text: 'if true; then cd src; fi; ls', cwd: null, note: '' },
  { text: 'for i in 1 2; do cd src; done; ls', cwd: null, note: '' },
  { text: 'pushd src; popd; ls', cwd: '/p', note: '' },
  { text: 'pushd src; ls', cwd: '/p/src', note: '' },
  { text: 'cd() { :; }; cd src; ls', cwd: '/p', note: 'a function that does nothing' },
  { text: 'f() { cd /; }; f; ls', cwd: null, note: '' },
  { text: 'CDPATH=/x; cd src; ls', cwd: null, note: '' },
  { text: 'HOME=/x cd; ls', cwd: null, note: 'a builtin sees the assignment' },
  { text: 'CDPATH=/x cd src; ls', cwd: null, note: '' },
  { text: '$x; ls', cwd: null, note: 'it may have been cd' },
  { text: 'env -C src ls', cwd: '/p/src', note: '' },
  { text: 'eval cd src; ls', cwd: '/p/src', note: '' },
  { text: "bash -c 'cd /'; ls", cwd: '/p', note: '' },
]

test.each(directories)('directory: $text', ({ text, cwd }) => {
  const last = facts(text).commands.findLast((command) => command.argv[0]?.text === 'ls')
  expect(last?.cwd).toBe(cwd)
})

const dangers = [
  { text: '$x a', code: 'dynamic-name' },
  { text: '* a', code: 'dynamic-name' },
  { text: '"" a', code: 'odd-name' },
  { text: 'echo ${x@P}', code: 'prompt-transform' },
  { text: 'echo ${!x}', code: 'transform' },
  { text: 'eval "$x"', code: 'eval' },
  { text: 'source f', code: 'source' },
  { text: '. f', code: 'source' },
  { text: 'trap "$x" EXIT', code: 'hook' },
  { text: "trap 'PATH=/x' DEBUG", code: 'hook' },
  { text: 'alias ls=rm', code: 'alias' },
  { text: 'shopt -s expand_aliases', code: 'shell-option' },
  { text: 'set -o posix', code: 'shell-option' },
  { text: 'set -k', code: 'shell-option' },
  { text: 'hash -p /x ls', code: 'command-lookup' },
  { text: 'enable -f /x y', code: 'command-lookup' },
  { text: 'complete -C x y', code: 'hook' },
  { text: "compgen -W '$(id)'", code: 'hook' },
  { text: 'mapfile -C x a', code: 'hook' },
  { text: 'bind -x a', code: 'hook' },
  { text: 'command_not_found_handle() { :; }', code: 'hook' },
  { text: 'ls > /dev/tcp/h/80', code: 'network-device' },
  { text: 'exec 3<>/dev/udp/h/80', code: 'network-device' },
  { text: '[[ $x -eq 1 ]]', code: 'arithmetic-eval' },
  { text: '(( x ))', code: 'arithmetic-eval' },
  { text: 'echo $(( $x ))', code: 'arithmetic-eval' },
  { text: 'let "y=x"', code: 'arithmetic-eval' },
  { text: 'echo ${a[$x]}', code: 'arithmetic-eval' },
  { text: 'echo ${a:$x}', code: 'arithmetic-eval' },
  { text: 'a[$x]=1', code: 'arithmetic-eval' },
  { text: "unset 'a[$(id)]'", code: 'arithmetic-eval' },
  { text: "test -v 'a[$(id)]'", code: 'arithmetic-eval' },
  { text: '[ -v "$x" ]', code: 'arithmetic-eval' },
  { text: "printf -v 'a[$(id)]' x", code: 'arithmetic-eval' },
  { text: "read 'a[$(id)]'", code: 'arithmetic-eval' },
  { text: 'declare -i x', code: 'arithmetic-eval' },
  { text: 'declare -n x=y', code: 'nameref' },
  { text: 'export -f f', code: 'exported-function' },
  { text: 'read "$x"', code: 'dynamic-assignment' },
  { text: 'export "$x"', code: 'dynamic-assignment' },
  { text: 'if x; then git() { :; }; fi; git', code: 'maybe-function' },
  { text: 'f() { :; }; unset -f f', code: 'function-removed' },
  { text: 'curl u | sh', code: 'script-from-input' },
  { text: 'sh -c "$x"', code: 'script-from-input' },
  { text: 'bash -i -c ls', code: 'shell-option' },
  { text: 'bash --rcfile f -c ls', code: 'shell-option' },
  { text: "zsh -c 'ls'", code: 'other-shell' },
  { text: "sh -c 'ls {a,b}'", code: 'other-shell' },
  { text: 'export PATH=/x', code: 'env-changes-program' },
  { text: 'for PATH in /x; do :; done', code: 'env-changes-program' },
  { text: 'read PATH', code: 'env-changes-program' },
  { text: 'printf -v LD_PRELOAD x', code: 'env-changes-program' },
  { text: 'LD_PRELOAD=x ls', code: 'env-changes-program' },
  { text: 'env LD_PRELOAD=x ls', code: 'env-changes-program' },
  { text: '((PATH=1))', code: 'env-changes-program' },
  { text: ': ${PATH:=x}', code: 'env-changes-program' },
  { text: 'unset PATH', code: 'env-changes-program' },
  { text: 'ls {IFS}>f', code: 'env-changes-program' },
]

test.each(dangers)('hazard $code: $text', ({ text, code }) => {
  expect(hazards(text)).toContain(code)
})

const harmless = [
  'i=0; while ((i<3)); do ((i++)); done',
  'for ((i=0;i<3;i++)); do echo $i; done',
  'i=0; while [ $i -lt 3 ]; do i=$((i+1)); done',
  '[[ ${#x} -gt 3 ]]',
  '[[ $# -eq 0 && $? -eq 0 ]]',
  'set -euo pipefail; ls',
  'FOO=1; ls',
  'x=a; unset x; ls',
  'PAGER=cat git log',
  'while IFS= read -r line; do echo "$line"; done < f',
  'echo ${x:0:3}',
]

test.each(harmless)('no hazard: %s', (text) => {
  expect(hazards(text)).toEqual([])
})

describe('a change of the shell reaches what follows', () => {
  test.each(['PATH=/x', 'export PATH=/x', 'source f', 'eval "$x"', 'declare -n r=y', 'shopt -s extglob'])(
    '%s',
    (text) => {
      const [after] = facts(`${text}; git status`).commands.slice(-1)
      expect(after?.hazards.length).toBeGreaterThan(0)
    },
  )

  test('but not out of a subshell', () => {
    expect(facts('(PATH=/x); git status').commands.at(-1)?.hazards).toEqual([])
  })
})

describe('keys of associative arrays are text', () => {
  test.each([
    'declare -A m=([a]=1); ls "${m[a]}"',
    'declare -A m; m[$k]=1; ls "${m[$k]}"',
    'f() { local -A m; m[a]=1; ls "${m[a]}"; }; f',
  ])('%s', (text) => {
    expect(hazards(text)).not.toContain('arithmetic-eval')
  })

  test.each([
    ['m=(1); declare -A m; ls "${m[a]}"', 'an ordinary array stays one'],
    ['if x; then declare -A m; fi; ls "${m[a]}"', 'perhaps not declared'],
    ['declare -A m; unset m; ls "${m[a]}"', 'taken away'],
    ['declare -A m; for i in 1; do unset m; done; ls "${m[a]}"', 'taken away in a loop'],
    ['(declare -A m); ls "${m[a]}"', 'in another shell'],
    ['local -A m; ls "${m[a]}"', 'fails outside a function'],
    ['declare -A m; ((m[k]++))', 'arithmetic reads the key once more'],
  ])('%s: %s', (text) => {
    expect(hazards(text)).toContain('arithmetic-eval')
  })
})

describe('data that bash evaluates as arithmetic', () => {
  test.each([
    "x='a[$(rm y)]'; echo $((x))",
    "x=b; b='a[`rm y`]'; ((x))",
    "x='a[$(rm y)]'; echo ${v:x} ${w[x]}",
    "x='a[$(rm y)]'; [[ 0 -lt $x ]]",
    "typeset -i x; x='a[$(rm y)]'",
    "declare -i x='a[$(rm y)]'",
    "declare -i x; for x in 'a[$(rm y)]'; do :; done",
    "let 'x=a[$(rm y)]'",
    "test -v 'a[$(rm y)]'",
    "[[ -v 'a[$(rm y)]' ]]",
    "unset 'a[$(rm y)]'",
    "read 'a[$(rm y)]'",
    "SECONDS='a[$(rm y)]'",
  ])('lists what it runs: %s', (text) => {
    expect(commands(text)).toContain('rm y')
  })

  test.each(['x=x; ((x))', 'x=y; y=x; ((x))', "x='hello world'; ((x))", "x='a[$(('; ((x))"])(
    'stays in doubt, and is not refused: %s',
    (text) => {
      expect(hazards(text)).toContain('arithmetic-eval')
    },
  )
})

describe('what a name resolves to', () => {
  test.each([
    ['ls', 'program'],
    ['echo a', 'builtin'],
    ['/bin/echo a', 'program'],
    ['f() { :; }; f', 'function'],
    ['git() { :; }; git push', 'function'],
    ['(git() { :; }); git push', 'program'],
    ['$x', 'unknown'],
    ['x=1', 'none'],
  ])('%s', (text, resolves) => {
    expect(facts(text).commands.at(-1)?.resolves).toBe(resolves)
  })

  test('a function does not hide from `command`', () => {
    expect(facts('git() { :; }; command git push').commands.at(-1)).toMatchObject({ resolves: 'program', parent: 1 })
  })
})

describe('redirects', () => {
  test.each([
    ['ls > f', 'file', 'write', 'f'],
    ['ls >> f', 'file', 'write', 'f'],
    ['ls &> f', 'file', 'write', 'f'],
    ['ls >& f', 'file', 'write', 'f'],
    ['ls < f', 'file', 'read', 'f'],
    ['ls <> f', 'file', 'read-write', 'f'],
    ['ls > ~/f', 'file', 'write', '/home/u/f'],
    ['ls > /dev/null', 'stream', 'write', '/dev/null'],
  ])('%s', (text, kind, access, target) => {
    expect(facts(text).commands[0]?.redirects[0]).toMatchObject({ kind, access, target: { text: target }, cwd: '/p' })
  })

  test.each(['ls 2>&1', 'ls >&-', 'ls <<E\nE', 'ls <<< a'])('%s opens no file', (text) => {
    expect(facts(text).commands[0]?.redirects[0]).toMatchObject({ kind: 'stream', target: null })
  })

  test('of a compound command stand with the text', () => {
    expect(facts('while read l; do :; done < f').redirects).toMatchObject([{ target: { text: 'f' }, access: 'read' }])
  })

  test('an unknown target has no values', () => {
    expect(facts('ls > $x').commands[0]?.redirects[0]?.target?.values).toBeNull()
  })
})

describe('syntax', () => {
  test.each([
    ['ls', []],
    ['ls &', ['background']],
    ['ls; ls', ['compound']],
    ['ls;', ['compound']],
    ['ls\nls', ['compound']],
    ['a && b', ['compound']],
    ['a | b', ['pipes']],
    ['echo $x', ['parameter_expansion']],
    ['echo $(a)', ['command_substitution']],
    ['cat <(a)', ['command_substitution']],
    ['case x in x) a;; esac', ['compound', 'case_terminator']],
    ["sh -c 'a | b'", ['pipes']],
  ])('%s', (text, kinds) => {
    expect(facts(text).syntax.map((use) => use.kind)).toEqual(kinds)
  })

  test.each([
    ['git status', false],
    ['git log | head -n 3 && ls "$x" > f 2>&1', false],
    ['FOO="a b" npm test; ls *.ts', false],
    ['git ( status', true],
    ['ls # note', true],
    ['cat <<E\nE', true],
    ['echo $(a)', true],
  ])('second gate: %s', (text, check) => {
    expect(facts(text).needsSyntaxCheck).toBe(check)
  })
})
