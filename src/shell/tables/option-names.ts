/** What an option that no table lists most likely takes, by its name: programs agree on these more than on anything else. */

/** `write`: a place to write; `module`: code when it is a file; `run`: a program when it is written as a path or a command line. */
export type GuessedRole = 'write' | 'module' | 'run'

const places = 'file|dir|directory|path|folder|root|destination'
const written =
  'out|output|dest|destination|report|reports|results|log|logs|coverage|cache|scratch|artifact|artifacts|dump|trace|profile|install|export|save'

/** Full names, in lower case with dashes between the words. */
const guesses: readonly (readonly [names: RegExp, role: GuessedRole])[] = [
  [new RegExp(`^(.*-)?(${written})-?(${places})$`), 'write'],
  [
    /^(o|out|output|dest|destination|destdir|write-to|save|save-to|save-as|to-file|junit-?xml|target-dir|build-dir|.*-out)$/,
    'write',
  ],
  [
    /^(.*-)?(require|preload|loader|plugins?|plugin-(dir|path)|extensions?|bootstrap|prepend|init-(script|file|hook)|adapter-path|rules-?dir)$/,
    'module',
  ],
  [/^(import|load|load-plugins?|inject|transform|formatter|reporter|runner|processor|agent)$/, 'module'],
  [
    /^(.*-)?(exec|execute|executable|command|cmd|shell|pager|editor|browser|viewer|interpreter|wrapper|launcher|helper|program|prog|linker|compiler|askpass|client|rsh)$/,
    'run',
  ],
  [
    /^(on|pre|post)-?(success|failure|error|change|complete|build|process|hook|renderer|run|start|exit|first-success|.*-complete)$/,
    'run',
  ],
]

const guessed = new Map<string, GuessedRole | null>()

/** The role of an unlisted option, by its name with its dashes; null when the name says nothing. */
export function guessRole(name: string): GuessedRole | null {
  const known = guessed.get(name)
  if (known !== undefined) return known
  const words = name
    .replace(/^[-/]+/, '')
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .replace(/[_.]/g, '-')
    .toLowerCase()
  const role = guesses.find(([names]) => names.test(words))?.[1] ?? null
  // Bounded: a process that lives long meets any number of names.
  if (guessed.size < 500) guessed.set(name, role)
  return role
}

/** True for names whose value is always a command line: `--exec`, `--on-success`. */
export function takesCommand(name: string): boolean {
  return /^--?(exec|execute|on[-A-Z]?(success|Success)|onSuccess|onFailure|on-failure|on-change|.+-(cmd|command))$/.test(
    name,
  )
}
