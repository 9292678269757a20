// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are bash, where ${…} is an expansion.
/** Generates command texts from a grammar of bash: quoting, expansions, wrappers, here-documents, functions, loops, cases. */

/** A generated text. */
export interface Generated {
  readonly text: string
  /** False when a word depends on something only the run can tell (files, output, unset variables). */
  readonly static: boolean
}

const NAMES = ['git', 'ls', 'rm', 'cat', 'grep', 'make', 'node', 'npm', 'tool', 'cp', 'curl', 'sed']
const PLAIN = [
  'a',
  'b',
  '-n',
  '--x=y',
  'src/c.ts',
  '.',
  '/w/lib',
  'x=1',
  '-',
  '--',
  'a:b',
  '@',
  '+',
  '%',
  'é',
  '1',
  '0',
  'if',
  'do',
  '}',
  'a=b=c',
  'A,B',
  'foo#bar',
  '~',
  '~/x',
  'v=~/y',
  '--p=~',
  'a~',
  '^',
  '!',
  '{}',
  'x{y}',
  '{,',
  'a}',
  ']',
  '=',
]
const VARIABLES = ['x', 'y', 'z']

/** A small seeded generator, so that a failure can be repeated. */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0 || 1
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Makes one command text. Texts are finite and small: loops run a bounded number of times. */
export function generate(seed: number): Generated {
  return new Generator(seed).make()
}

const FRAGMENTS = [
  ...'$(){}[]<>|&;\'"`\\#~*?!=,: \n\t',
  ...[
    '$(',
    '${',
    '$((',
    '))',
    '`git q`',
    '$(git q)',
    '\\\n',
    "$'",
    '$"',
    '<<E\n',
    '\nE\n',
    '<(',
    '>(',
    '&&',
    '||',
    ';;',
    '|&',
    '&>',
    '[[',
    ']]',
  ],
  ...[
    ' then ',
    ' do ',
    ' done',
    ' fi',
    ' in ',
    ' if ',
    '{ ',
    '; }',
    '()',
    'x=',
    '$x',
    '${x',
    ':-',
    '@',
    '#',
    '%',
    '..',
    '{a,b}',
    '\\',
    '"$(',
    ')"',
  ],
]

/** Damages a text in a few places: what bash still runs must still be predicted, or the text refused. */
export function mutate(text: string, seed: number): string {
  const random = randomSource(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  let result = text
  for (let count = 1 + below(3); count > 0; count--) {
    const at = below(result.length + 1)
    const kind = below(4)
    if (kind === 0) result = result.slice(0, at) + result.slice(at + 1 + below(3))
    else if (kind === 1 && result.length > 4) {
      const from = below(result.length)
      result = result.slice(0, at) + result.slice(from, from + 1 + below(12)) + result.slice(at)
    } else result = result.slice(0, at) + FRAGMENTS[below(FRAGMENTS.length)] + result.slice(at)
  }
  return result.replaceAll('\0', '')
}

class Generator {
  readonly #random: () => number
  #static = true
  #depth = 0
  #heredocs: string[] = []
  #functions: string[] = []
  /** The text starts by setting x, y and z. */
  #defined = false
  /** Inside which quotes new text is placed: here-documents cannot start inside them. */
  #inline = false

  constructor(seed: number) {
    this.#random = randomSource(seed)
  }

  make(): Generated {
    this.#defined = this.#chance(0.75)
    const start = this.#defined ? `x=${this.#known()} y=${this.#known()}; z=${this.#known()}\n` : ''
    const text = start + this.#list(1 + this.#below(4))
    // `~name` asks the user database, and bash doubles this one control character in places.
    const open = /~[^\s/;|&)]|\\cA|\{01\.\.|\$ya/.test(text)
    return { text, static: this.#static && !open }
  }

  #unsure(text: string): string {
    this.#static = false
    return text
  }

  #known(): string {
    return this.#pick(['a', "'a b'", '""', 'q', '"-r f"', 'src', '1'])
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #chance(probability: number): boolean {
    return this.#random() < probability
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T
  }

  #one(options: readonly (readonly [number, () => string])[]): string {
    let at = this.#random() * options.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, make] of options) {
      at -= weight
      if (at < 0) return make()
    }
    return (options[0] as readonly [number, () => string])[1]()
  }

  /** Statements joined by separators; here-document bodies follow the line that starts them. */
  #list(count: number): string {
    let text = ''
    for (let i = 0; i < count; i++) {
      text += this.#andOr()
      const bodies = this.#heredocs.splice(0).join('')
      if (bodies !== '') text += `\n${bodies}`
      else if (i < count - 1) text += this.#pick(['; ', '\n', ' ; ', ' # note\n', ';\t', ' & wait\n', '\n\n'])
    }
    return text
  }

  #andOr(): string {
    let text = this.#pipeline()
    while (this.#chance(0.15)) text += this.#pick([' && ', '||', ' || ', '&&', ' &&\n', ' \\\n&& ']) + this.#pipeline()
    return text
  }

  #pipeline(): string {
    const prefix = this.#chance(0.05) ? this.#pick(['! ', 'time ', 'time -p ', '! ! ']) : ''
    let text = prefix + this.#command()
    while (this.#chance(0.12)) text += this.#pick([' | ', '|', ' |& ', ' |\n', ' \\\n| ']) + this.#command()
    return text
  }

  #command(): string {
    if (this.#depth > 3) return this.#simple()
    this.#depth++
    const text = this.#one([
      [40, () => this.#simple()],
      [8, () => this.#wrapped()],
      [5, () => this.#assignment()],
      [2, () => `(${this.#space()}${this.#block()})`],
      [2, () => `{ ${this.#block()}${this.#end()}}${this.#chance(0.2) ? ' >/dev/null' : ''}`],
      [2, () => `if ${this.#block()}${this.#end()}then ${this.#block()}${this.#end()}${this.#else()}fi`],
      [3, () => this.#for()],
      [1, () => this.#while()],
      [2, () => this.#case()],
      [2, () => this.#function()],
      [2, () => this.#shellText()],
      [2, () => this.#builtin()],
      [1, () => this.#test()],
      [1, () => this.#arithmetic()],
    ])
    this.#depth--
    return text
  }

  #space(): string {
    return this.#chance(0.5) ? ' ' : ''
  }

  #end(): string {
    return this.#pick(['; ', '\n'])
  }

  /** A list that is between keywords: its here-documents must end before the next one. */
  #block(): string {
    return this.#list(1 + this.#below(2)).replace(/\n$/, '\n:')
  }

  #else(): string {
    if (this.#chance(0.6)) return ''
    if (this.#chance(0.3)) return `elif ${this.#block()}${this.#end()}then ${this.#block()}${this.#end()}`
    return `else ${this.#block()}${this.#end()}`
  }

  #simple(): string {
    let text = ''
    while (this.#chance(0.08)) text += `${this.#pick(['A', 'B', 'x'])}=${this.#word(1)} `
    if (this.#chance(0.03)) text += `${this.#redirect()} `
    text += this.#name()
    const count = this.#below(4)
    for (let i = 0; i < count; i++) text += this.#gap() + this.#word(0)
    while (this.#chance(0.1)) text += ` ${this.#redirect()}`
    return text
  }

  #gap(): string {
    return this.#one([
      [30, () => ' '],
      [2, () => '  '],
      [1, () => '\t'],
      [2, () => ' \\\n '],
    ])
  }

  #name(): string {
    if (this.#functions.length > 0 && this.#chance(0.3)) return this.#pick(this.#functions)
    const name = this.#pick(NAMES)
    return this.#one([
      [30, () => name],
      [2, () => `'${name}'`],
      [2, () => `"${name}"`],
      [2, () => `\\${name}`],
      [1, () => `${name.slice(0, 1)}''${name.slice(1)}`],
      [1, () => `${name.slice(0, 1)}\\\n${name.slice(1)}`],
      [1, () => `$'${name.replace(/./g, (c) => `\\x${c.charCodeAt(0).toString(16)}`)}'`],
      [1, () => `$'\\${name.charCodeAt(0).toString(8)}${name.slice(1)}'`],
      [1, () => `{${name},${this.#pick(PLAIN.slice(0, 5))}}`],
      [1, () => this.#variable(false)],
      [1, () => 'fail'],
      [1, () => 'gen'],
      [1, () => 'echo'],
    ])
  }

  /** `context` 1: the value of an assignment. */
  #word(context: 0 | 1): string {
    let text = this.#part(context)
    while (this.#chance(0.2)) text += this.#part(context)
    return text
  }

  #part(context: 0 | 1): string {
    return this.#one([
      [20, () => this.#pick(PLAIN)],
      [6, () => this.#singleQuoted()],
      [8, () => this.#doubleQuoted()],
      [
        2,
        () =>
          this.#pick(["$'a\\tb'", "$'\\''", "$'\\101\\x42'", "$'a\\\\b'", '$"hi"', "$'q\\0r'", "$'\\e['", "$'\\cA'"]),
      ],
      [3, () => this.#pick(['\\ ', '\\$x', '\\"', "\\'", '\\\\', '\\*', '\\;', '\\&', '\\~', '\\{a,b\\}', '\\n'])],
      [4, () => this.#variable(false)],
      [2, () => this.#substitution()],
      [context === 0 ? 3 : 1, () => this.#braces()],
      [context === 0 ? 1 : 0, () => this.#glob()],
      [1, () => this.#arithmeticExpansion()],
      [context === 0 ? 0.5 : 0, () => this.#processSubstitution()],
    ])
  }

  #singleQuoted(): string {
    return `'${this.#pick(['', 'a b', '$x', '$(rm q)', '`rm q`', '"', '*', '\\', 'a\nb', '#c', '{a,b}', '~', ';', '&&'])}'`
  }

  #doubleQuoted(): string {
    let inner = ''
    const count = this.#below(4)
    for (let i = 0; i < count; i++) {
      inner += this.#one([
        [
          10,
          () =>
            this.#pick([
              'a',
              ' ',
              "'",
              '*',
              '#',
              '~',
              '{a,b}',
              '\\$',
              '\\"',
              '\\\\',
              '\\`',
              '\\n',
              ';',
              '$ ',
              '\n',
              '!',
              '\\\n',
              '%s',
            ]),
        ],
        [5, () => this.#variable(true)],
        [2, () => this.#substitution()],
        [1, () => this.#arithmeticExpansion()],
      ])
    }
    return `"${inner}${inner.endsWith('$') ? ' ' : ''}"`
  }

  #variable(quoted: boolean): string {
    const name = this.#pick(VARIABLES)
    const unknown = (text: string): string => {
      this.#static = false
      return text
    }
    return this.#one([
      [10, () => (this.#defined ? `$${name}` : unknown(`$${name}`))],
      [8, () => (this.#defined ? `\${${name}}` : unknown(`\${${name}}`))],
      [1, () => unknown(`\${${name}:-${this.#operand(quoted)}}`)],
      [1, () => unknown(`\${${name}:+${this.#operand(quoted)}}`)],
      [1, () => unknown(`\${${name}-${this.#operand(quoted)}}`)],
      [1, () => unknown(`\${${name}:=${this.#operand(quoted)}}`)],
      [1, () => unknown(`\${${name}#${this.#pick(['a', '*', '?', '"a"', '\\*'])}}`)],
      [1, () => unknown(`\${${name}%%${this.#pick(['b', '/*', "'b'"])}}`)],
      [1, () => unknown(`\${${name}/${this.#pick(['a', '"a"'])}/${this.#pick(['b', '$y', ''])}}`)],
      [1, () => unknown(`\${#${name}}`)],
      [1, () => unknown(`\${${name}^^}`)],
      [1, () => unknown(`\${${name}:0:1}`)],
      [
        1,
        () =>
          unknown(this.#pick(['$1', '$@', '$*', '$#', '$?', '$$', '$_', '$-', '$0', '"$@"'].slice(0, quoted ? 9 : 10))),
      ],
      [1, () => unknown(`\${${name}[0]}`)],
      [0.5, () => unknown(`\${!${name}}`)],
    ])
  }

  #operand(quoted: boolean): string {
    return this.#one([
      [6, () => this.#pick(['a', 'a b', '', '~', '/x', '{a,b}'])],
      [2, () => (quoted ? 'q' : this.#pick(["'a b'", '"a b"', "'$(rm q)'", '\\}', '"$y"', "'}'"]))],
      [2, () => this.#substitution()],
      [1, () => `$${this.#pick(VARIABLES)}`],
      [1, () => `\${${this.#pick(VARIABLES)}:-${this.#pick(['u', '$(git n)'])}}`],
      [1, () => this.#pick(["'`git q`'", '"$(git q)"', "'$(git q)'"])],
    ])
  }

  /** Text that runs inside a substitution: no here-documents that could reach the outer line. */
  #inner(): string {
    const outer = this.#inline
    this.#inline = true
    this.#depth++
    const text = this.#depth > 4 ? this.#simple() : this.#andOr()
    this.#depth--
    this.#inline = outer
    return text
  }

  #substitution(): string {
    this.#static = false
    if (this.#depth > 4) return '$(gen)'
    return this.#one([
      [6, () => `$(${this.#inner()})`],
      [1, () => `$( (${this.#inner()}) )`],
      [1, () => '$(gen)'],
      [2, () => `\`${this.#pick(['git q', 'gen', 'echo \\$x', 'git \\`gen\\`', 'git "a b"', "rm '$x'"])}\``],
      [1, () => '$(<a.ts)'],
      [1, () => `$(cat <<'E'\nit's $x\nE\n)`],
      [
        1,
        () =>
          `$(${this.#pick(['', '', '! ', 'time ', 'coproc ', 'x=1; ', 'ls | ', '{ :; }; '])}case a in a) ${this.#simple()};; esac)`,
      ],
      [1, () => `$(# note )\n${this.#simple()})`],
    ])
  }

  #processSubstitution(): string {
    this.#static = false
    return `${this.#pick(['<', '>'])}(${this.#inner()})`
  }

  #braces(): string {
    const text = this.#braceText()
    if (/[$*?]/.test(text)) this.#static = false
    return text
  }

  #braceText(): string {
    return this.#one([
      [
        3,
        () =>
          `{${this.#pick(['a', 'b c', '-rf', '$x', "'q r'", '""'].filter((s) => s !== 'b c'))},${this.#pick(['b', '~', '*q', '{c,d}', '$y'])}}`,
      ],
      [
        2,
        () =>
          this.#pick([
            '{1..3}',
            '{c..a}',
            '{1..9..4}',
            '{-1..1}',
            'p{a,b}s',
            '{a,b}{c,d}',
            '{a}',
            '{a,b',
            'a,b}',
            '{,a}',
            '{a,}',
            '{{a,b},c}',
            '{a}b,c}',
            '{x,{y,z}',
            '{01..03}',
            '{a..}',
            '{}',
            '{},a',
            '{{1,2}}',
            '${x}{a,b}',
            '{a,b}$x',
            '"{a,b}"',
            "{'a,b',c}",
            '{a\\,b,c}',
            '{$x,$y}',
            'v={a,b}',
            'v={~,b}',
            '{$,a}x',
            '{$x,b}1',
            "{$,}'q'",
            '{a,b}"$x"',
            '{~,a}',
            '{a,~/b}',
          ]),
      ],
    ])
  }

  #glob(): string {
    this.#static = false
    return this.#pick([
      '*',
      '*.ts',
      'src/*',
      '?.ts',
      '[ab].ts',
      '"a"*',
      'no*match',
      '[!a].ts',
      'a[',
      '[]',
      '[a',
      '*/c.ts',
      '"*".ts',
      '[a"]"b',
    ])
  }

  #arithmeticExpansion(): string {
    this.#static = false
    return `$((${this.#arith()}))`
  }

  #arith(): string {
    return this.#pick([
      '1+2',
      '3*4',
      'i',
      'i+1',
      '$i',
      '(1+2)*3',
      '1<2',
      'i++',
      'i=5',
      '1?2:3',
      '0x10',
      ' 7 ',
      '-1',
      '$(gen)',
      '${#x}',
      '$#',
      '2**3',
      '1,2',
      'a[0]',
      "'1'",
      '"1"',
      'x',
      '`gen`',
    ])
  }

  #arithmetic(): string {
    this.#static = false
    return this.#one([
      [3, () => `((${this.#arith()}))`],
      [2, () => `i=0; while ((i<2)); do ${this.#simpleLine()}; ((i++)); done`],
      [2, () => `for ((i=0;i<2;i++)); do ${this.#simpleLine()}; done`],
      [1, () => `let ${this.#pick(['i=1', '"i = i + 1"', 'i++', "'j=2'"])}`],
    ])
  }

  #simpleLine(): string {
    return `${this.#pick(NAMES)} ${this.#pick(['a', '$i', '"$i"', '$x', '"$x"', 'b c'])}`
  }

  #assignment(): string {
    const name = this.#pick(VARIABLES)
    return this.#one([
      [10, () => `${name}=${this.#word(1)}`],
      [4, () => `${name}=${this.#pick(['a', "'a b'", '', '"*"', 'rm', 'ls', "'a  b '", '~', 'a:~', '{a,b}'])}`],
      [1, () => `${name}+=${this.#pick(['q', '" r"'])}`],
      [1, () => `x=${this.#pick(['a', 'rm'])} y=$x`],
      [1, () => `${name}=(${this.#word(0)} b)`],
      [1, () => `${name}[0]=v`],
    ])
  }

  #for(): string {
    const name = this.#pick([...VARIABLES, 'i'])
    const count = this.#below(3)
    let words = ''
    for (let i = 0; i <= count; i++)
      words += ` ${this.#chance(0.7) ? this.#pick(['a', 'b', 'rm', 'ls', "'c d'", '-x']) : this.#word(0)}`
    if (/[ $*]/.test(words.trim().replace(/ /g, words.includes("'") ? ' ' : ''))) this.#static = false
    return `for ${name} in${words}${this.#pick([';', '\n'])} do ${this.#chance(0.5) ? `${this.#pick(NAMES)} ${this.#pick([`$${name}`, `"$${name}"`, `p"$${name}"s`])}` : this.#block()}${this.#end()}done`
  }

  #while(): string {
    this.#static = false
    return this.#one([
      [2, () => `n=0; while [ $n -lt 2 ]; do ${this.#simple()}; n=$((n+1)); done`.replace(/<<.*/, '')],
      [
        2,
        () =>
          `gen | while read ${this.#pick(['-r l', 'x', 'x y'])}; do ${this.#pick(NAMES)} "$${this.#pick(['l', 'x', 'y'])}"; done`,
      ],
      [1, () => `until ${this.#pick(['true', 'ls', ':'])}; do ${this.#pick(NAMES)}; done`],
    ])
  }

  #case(): string {
    const item = (): string =>
      `${this.#pick(['a', '*', 'a|b', '(a', '"$x"', '[ab]', '$x', "'*'"])}) ${this.#block()}${this.#pick([' ;;', '\n;;', ' ;&', ' ;;&'])}`
    return `case ${this.#pick(['a', '$x', '"a"', 'b'])} in ${item()} ${this.#chance(0.5) ? item() : ''} ${this.#pick(['*) ls z;;', ''])} esac`
  }

  #function(): string {
    this.#static = false
    const name = this.#pick(['f', 'g', 'h', 'ls'])
    const body = this.#pick([
      `${this.#pick(NAMES)} "$1"`,
      `${this.#pick(NAMES)} "$@"`,
      `local x=q; ${this.#pick(NAMES)} $x`,
      `x=changed; ${this.#pick(NAMES)} v`,
      `cd src; ${this.#pick(NAMES)} w`,
      `${this.#pick(['git', 'rm'])} k`,
    ])
    const head = this.#pick([`${name}() { `, `function ${name} { `, `${name} () { `, `${name}()\n{ `])
    this.#functions.push(name)
    return `${head}${body}; }${this.#chance(0.7) ? `; ${name} ${this.#pick(['a', 'a b', '$x', ''])}` : ''}`
  }

  #redirect(): string {
    return this.#one([
      [
        4,
        () =>
          this.#pick([
            '>/dev/null',
            '2>&1',
            '2>/dev/null',
            '&>/dev/null',
            '<a.ts',
            '>>out',
            '> out',
            '>|out',
            '<>out',
            '2>&-',
            '>&2',
            '3<a.ts',
            '{fd}>out',
            '&>>out',
            '<&-',
          ]),
      ],
      [1, () => `> "${this.#pick(['o p', '$x', 'q'])}"`],
      [1, () => `<<<${this.#word(1)}`],
      [2, () => this.#hereDocument()],
    ])
  }

  #hereDocument(): string {
    if (this.#inline || this.#depth > 1) return '</dev/null'
    const body = this.#pick([
      'text\n',
      'a $x b\n',
      '$(git here)\n',
      '`git tick`\n',
      "it's \\$(rm q)\n",
      "${x:-'$(git w)'}\n",
      '${x:-$(git v)}\n',
      '\\`rm q\\`\n',
      '',
      '$((1+1))\n',
      '"$(git dq)"\n',
      "'$(git sq)'\n",
      '$\n',
      'a\\\nb\n',
      '\tt\n',
      '${x:-"$(git z)"}\n',
    ])
    const [mark, end] = this.#pick(
      [
        ['E', 'E'],
        ["'E'", 'E'],
        ['"E"', 'E'],
        ['\\E', 'E'],
        ['E F', 'E'],
      ].slice(0, 4) as [string, string][],
    )
    const dash = this.#chance(0.2)
    if (mark === 'E' && /[$`]/.test(body)) this.#static = false
    this.#heredocs.push(`${body}${dash ? '\t' : ''}${end}\n`)
    return `<<${dash ? '-' : ''}${mark}`
  }

  #wrapped(): string {
    if (!this.#defined || this.#chance(0.3)) this.#static = false
    const command = (): string => `${this.#pick(NAMES)} ${this.#pick(['a', "'b c'", '-x', '"$x"', '$x', '', '~'])}`
    return this.#one([
      [
        3,
        () =>
          `env ${this.#pick(['', 'A=1 ', '-u B ', 'A=1 B=2 ', '-- ', '-C src ', '--chdir=src ', '--unset=A ', '-i PATH=/recorders ', '--uns=Q '])}${command()}`,
      ],
      [
        2,
        () =>
          `timeout ${this.#pick(['5', '-k 1 5', '--signal=KILL 5', '-s9 5', '--foreground 5', '-v 5s'])} ${command()}`,
      ],
      [1, () => `nice ${this.#pick(['', '-n 5', '-5', '--adjustment=3', '-n5'])} ${command()}`],
      [1, () => `nohup ${command()}`],
      [1, () => `setsid ${this.#pick(['', '-w', '--wait'])} ${command()}`],
      [1, () => `stdbuf -oL ${command()}`],
      [1, () => `command ${this.#pick(['', '-- '])}${command()}`],
      [1, () => `exec ${this.#pick(['', '-a zero ', '-c '])}${command()}`.replace('-c ', '')],
      [1, () => `( exec ${command()} )`],
      [1, () => `builtin echo ${this.#pick(PLAIN)}`],
      [
        2,
        () =>
          `${this.#unsure('gen')} | xargs ${this.#pick(['', '-n1', '-I{} ', '-n 1 -t', '-0', '-r', '--max-args=1', '-P2 -n1', '-I % '])} ${this.#pick(NAMES)} ${this.#pick(['a', '-f', '{}', 'p{}s', '%'])}`,
      ],
      [
        2,
        () =>
          `${this.#unsure('find')} . -maxdepth 1 ${this.#pick(["-name '*.ts'", '-type l', ''])} ${this.#pick(['-exec', '-execdir', '-ok'])} ${this.#pick(NAMES)} ${this.#pick(['{}', 'x {}', 'p{}'])} ${this.#pick(['\\;', '+', "';'"])}`,
      ],
      [
        1,
        () =>
          `flock ${this.#pick(['/tmp/l', '-n /tmp/l', '-w 1 /tmp/l'])} ${this.#pick([command(), "-c 'git locked; ls'"])}`,
      ],
      [
        1,
        () =>
          `eval ${this.#pick([`'${this.#pick(NAMES)} a'`, `${this.#pick(NAMES)} b`, '"git $x"', '\'git "$x"\'', "'x=q; git $x'", '"ls" "a;rm b"'])}`,
      ],
      [1, () => `trap '${this.#pick(NAMES)} trapped' EXIT`],
      [1, () => `env timeout 5 nice env A=1 ${command()}`],
      [1, () => `chrt -o 0 ${command()}`],
      [0.5, () => `env -S '${this.#pick(NAMES)} a b'`],
      [1, () => `A=1 env B=2 ${command()}`],
    ])
  }

  #shellText(): string {
    this.#static = false
    const shell = this.#pick(['sh', 'bash', 'bash', 'dash'])
    const inner = this.#pick([
      `${this.#pick(NAMES)} a; ${this.#pick(NAMES)} b`,
      `${this.#pick(NAMES)} "$1"`,
      `${this.#pick(NAMES)} $x`,
      `cd src && ${this.#pick(NAMES)} .`,
      `for i in 1 2; do ${this.#pick(NAMES)} $i; done`,
      `${this.#pick(NAMES)} $(gen)`,
      `x=k; ${this.#pick(NAMES)} $x ~`,
      `${this.#pick(NAMES)} "$@"`,
    ])
    return this.#one([
      [4, () => `${shell} -c '${inner}'${this.#pick(['', ' z a b', ' -- q'])}`],
      [1, () => `bash -ec '${inner}'`],
      [1, () => `bash -e -u -c '${inner}'`],
      [1, () => `${shell} -c "git $x \\$x"`.replace('$x', '${x}')],
      [1, () => `bash <<<'${inner}'`],
      [1, () => `echo '${this.#pick(NAMES)} piped' | ${shell}`],
    ])
  }

  #builtin(): string {
    this.#static = false
    const use = `${this.#pick(NAMES)} "$x" $y`
    return this.#one([
      [1, () => `export x=${this.#word(1)}; ${use}`],
      [1, () => `declare x=${this.#word(1)}; ${use}`],
      [1, () => `readonly z=q; z=r; ls $z`],
      [1, () => `unset x; ${use}`],
      [1, () => `read x <<<'in put'; ${use}`],
      [1, () => `printf -v x '%s' hello; ${use}`],
      [1, () => `set -- p 'q r'; ${this.#pick(NAMES)} "$1" "$@"`],
      [1, () => `set -- p q; shift; ls "$1"`],
      [1, () => `cd ${this.#pick(['src', '/tmp', '..', '-', '"$x"', ''])}; ${use}`],
      [1, () => `pushd src; ls; popd; ${use}`],
      [1, () => `IFS=${this.#pick([':', ',', "''"])}; x=a:b,c; ls $x`],
      [1, () => `mapfile -t x <a.ts; ${use}`],
      [1, () => `shopt -s nullglob; ls *.none`],
      [1, () => `set -f; ls *.ts`],
      [1, () => `set +B; ls {a,b}`],
      [1, () => `x=a; unset -v x; ${use}`],
      [1, () => `alias ls='rm q'; ls`],
      [1, () => `shopt -s expand_aliases\nalias ls='rm q'\nls`],
      [1, () => `declare -n r=x; r=val; ${use}`],
      [1, () => `declare -i x=1+1; ${use}`],
      [1, () => `declare -u x=abc; ls $x`],
      [1, () => `x=1; local x=2; ls $x`],
      [1, () => `true && exit; ls after`],
      [1, () => `hash -p /recorders/rm ls; ls`],
      [1, () => `getopts ab: x -a; ls "$x"`],
      [1, () => `x=a; (x=b; ls $x); ls $x`],
      [1, () => `x=a; { x=b; } | cat; ls $x`],
      [1, () => `x=a; x=b true; ls $x`],
      [1, () => `x=a; x=b & wait; ls $x`],
      [1, () => `HOME=/q; ls ~ ~/r`],
      [1, () => `x=a; ls \${x:=b} \${x:+c}`],
      [1, () => `x='a b'; for i in $x; do ls $i; done`],
      [1, () => `f() { ls $x; }; x=late; f; x=a; f`],
    ])
  }

  #test(): string {
    this.#static = false
    return this.#pick([
      '[ -f a.ts ]',
      'test -n "$x"',
      '[[ -f a.ts ]]',
      '[[ $x == a* ]]',
      '[[ $x =~ ^a ]]',
      '[[ 1 -eq 1 ]]',
      '[[ $x -eq 1 ]]',
      '[[ -n $(git t) && ! -f q ]]',
      '[ "$x" = a ]',
      '[[ a < b || ( c > d ) ]]',
      '[ -v x ]',
      '[[ a == @(a|b) ]]',
    ])
  }
}
