// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are bash, where ${…} is an expansion.
/**
 * Generates command texts whose quoting is hard to read: marks of all kinds inside expansions inside quotes, backquotes, names
 * of coprocesses, numbers before redirects, braces around assignments, messages and charsets of a locale.
 */

import { randomSource } from './generator.ts'

/** A text, with `W` for a word, `S` for marks, `V` for an expansion that assigns, `N` for what may be a number. */
const STATEMENTS = [
  ...[
    'ls W',
    'ls W W',
    'W',
    'git "W"',
    ': W; ls $x',
    'ls "W"S',
    'echo S"W"',
    'cat W | W',
    '{ ls W; }',
    'f() { ls W; }; f W',
  ],
  ...['ls "${x:-W}"', 'ls "${x:-`: S`}"', 'ls "`: S`"', 'ls `: S`', 'ls "$(: S)"S', 'ls "${x:-$(: S)}"', 'ls ${x:-S}S'],
  ...[
    'ls "${x:-`: "S"`}"',
    "ls `: 'S'`",
    'ls "${x:-`: \'S\'S`}"',
    'ls "`: "S"S`"',
    'ls "${x:-`: S`S}"',
    'ls "${x:-`: "S"S`}"',
  ],
  ...[
    'coproc W { :; }',
    'coproc W(ls)',
    'coproc W',
    'coproc C W',
    'coproc W while false; do :; done',
    'coproc W ((1))',
  ],
  ...[
    'ls WN>W W',
    'ls N>&W',
    "ls $'S'N>&'S'",
    'ls WN<W',
    '{ ls; } N>&W',
    'ls N>|W; ls',
    'ls WN&>W',
    'ls {x}>W',
    'ls N<&W',
  ],
  ...[
    'ls N<<E W\nW\nE',
    'ls <<E\n`: S`W\nE',
    'ls <<-E\n\tW\n\tE\nls',
    "ls <<'E'\nW\nE\nls W",
    'ls <<E\n${x:-S}\nE',
    'ls <<<W',
  ],
  ...[
    'x=V{a,W}; ls "$x"',
    'n=0; ls V{a,b}; ls $n',
    'n=0; export x={a,b}V; ls $n',
    'n=0; ls {x,y}=V; ls $n',
    'n=0; ls V; ls $n',
  ],
  ...[
    'n=0; declare x{1,2}=V; ls $n',
    'n=0; ls {a,V}{b,V}; ls $n',
    'n=0; x=(V{1..3}); ls $n',
    'n=0; for x in V{a,b}; do ls $n; done',
  ],
  ...[
    'n=0; ls ${x:-V}; ls $n',
    'n=0 x=1; ls ${x:-V} ${x#V} ${x:+V}; ls $n',
    'n=0; [[ a && -n V ]]; ls $n',
    'n=0; (V); ls $n',
  ],
  ...[
    'case W in W) ls;; esac',
    '[[ W == W ]]',
    '[[ a =~ W ]]',
    '[[ W -eq 1 ]]',
    'x[S]=W',
    'ls ${x[S]}',
    'ls $((S))',
    'ls "$[S]"',
  ],
  ...[
    'eval W',
    'eval "W"',
    'x=W; eval "ls $x"',
    'bash -c W',
    'for x in W; do ls "$x"; done',
    'A=W ls',
    'x=W ls S',
    'ls ${y:=W}; ls $y',
  ],
  ...[
    'L\nls W',
    'L\nls $"f"',
    'L\nls "$"f"W"',
    'L\nls ${x:-$"f"}',
    'L; eval "ls W"',
    'L bash -c "ls 中\\\\;rm q"',
    'L\nls 中\\;rm q',
  ],
  ...[
    'L\nls 中\\',
    'L ls $"f"',
    '{ L; }\nls é\\;rm q',
    'L\nx=$"f"; ls "$x"',
    'L\n: $((1+"$"f""))',
    'L\nls <<E\n${x:-$"f"}\nE',
  ],
]
/** How a word is put into another; `W` is the word inside. */
const WRAPPERS = [
  ...[
    '"W"',
    '"W"',
    "'S'",
    "$'S'",
    '$"W"',
    '`: W`',
    '`: S`',
    '$(: W)',
    '${x:-W}',
    '${x#W}',
    '${x/W/W}',
    '${x:=W}',
    '${x+W}',
  ],
  ...[
    '$((W))',
    '$[W]',
    '<(: W)',
    '{W,W}',
    '${x[W]}',
    '"${x:-W}"',
    '"`: W`"',
    '$(ls W)',
    '`ls W`',
    '${!x}',
    '${x:W}',
    '${x@W}',
  ],
]
/** Quotes, and what shows that they were read wrongly: often enough they balance. */
const QUOTES = [
  '"',
  '"',
  '\\"',
  '\\"',
  "'",
  "'",
  '\\',
  "\\'",
  '\\\n',
  '{',
  '}',
  ' ',
  ':',
  'a',
  ';rm q;',
  '\nrm q\n',
  '$x',
  '#',
]
/** Marks of all kinds. */
const MARKS = [
  ...[
    ...QUOTES,
    '\\\\',
    '(',
    ')',
    '`',
    '\\`',
    '\\$',
    '$',
    '\n',
    'b',
    '1',
    '2',
    '~',
    '*',
    ',',
    '=',
    '-',
    '中',
    '$(rm q)',
    '`rm q`',
  ],
]
const PLAIN = ['a', 'b', '1', '-n', '/', '.', 'x=1', '$x', '"$x"', "'c d'", '$1', '中', '%', '+', '!', '?', '[a]']
const ASSIGNING = [
  '$((n++))',
  '$((n=n+1))',
  '"$((n=n+1))"',
  '${y:=a}',
  '$[n++]',
  '$((n+=2))a',
  '${n:=1}',
  '`rm q`',
  'a',
  '$n',
]
const NUMBERS = ['', '', '1', '2', '10', "''1", '\\1', '"1"', '$x', '1\\\n', '{fd}', "$'a'1"]
const LOCALES = ['LC_ALL', 'LC_CTYPE', 'LANG'].flatMap((name) =>
  ['zh_CN.gbk', 'C.UTF-8', 'C'].flatMap((locale) => [`${name}=${locale}`, `export ${name}=${locale}`]),
)
const MESSAGES = ['', 'TEXTDOMAIN=m TEXTDOMAINDIR=/messages\n', 'export TEXTDOMAINDIR=/messages TEXTDOMAIN=m\n']

/** Makes one text of nested quoting. Texts are small and end by themselves. */
export function nest(seed: number): string {
  const random = randomSource(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  const pick = (items: readonly string[]): string => items[below(items.length)]!
  const marks = (): string => {
    const kind = below(2) === 0 ? QUOTES : MARKS
    return Array.from({ length: 1 + below(8) }, () => pick(kind)).join('')
  }
  const word = (depth: number): string => {
    const parts = Array.from({ length: 1 + below(3) }, () => {
      const kind = below(10)
      if (kind < 3 || depth === 0) return pick(PLAIN)
      return kind < 5 ? marks() : fill(pick(WRAPPERS), depth - 1)
    })
    return parts.join('')
  }
  const fill = (text: string, depth: number): string =>
    text.replace(/[WSVNL](?![A-Za-z_])/g, (hole) => {
      if (hole === 'W') return word(depth)
      if (hole === 'S') return marks()
      if (hole === 'V') return pick(ASSIGNING)
      return hole === 'N' ? pick(NUMBERS) : pick(MESSAGES) + pick(LOCALES)
    })
  const text = fill(pick(STATEMENTS), 1 + below(3))
  return below(8) === 0 ? `${text}\n${fill(pick(STATEMENTS), 1)}` : text
}
