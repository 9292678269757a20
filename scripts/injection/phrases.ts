/** Texts that the classifier learns from, generated: instructions to an agent, and people's ordinary requests. */

import { readFileSync } from 'node:fs'

/** Numbers by chance, the same in every run. */
export type Chance = (below: number) => number

export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 4294967296) * below)
  }
}

/** Alternatives by name; `{name}` in a text is replaced by one of them. */
type Grammar = Readonly<Record<string, readonly string[]>>

/** A text of a grammar. */
function write(grammar: Grammar, start: string, chance: Chance): string {
  let text = `{${start}}`
  for (let round = 0; round < 12 && text.includes('{'); round++)
    text = text.replace(/\{(\w+)\}/g, (_, name: string) => {
      const among = grammar[name]
      if (among === undefined) throw new Error(`the grammar has no ${name}`)
      return among[chance(among.length)]!
    })
  return text
}

/** A grammar that is written in files beside this one. */
function grammarOf(...files: readonly string[]): Grammar {
  const text = files.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\n')
  const entries = text.replace(/^#.*$/gm, '').matchAll(/^(\w+) =((?:.*\n?)(?: {4}.*\n?)*)/gm)
  return Object.fromEntries(
    [...entries].map(([, name, among]) => [
      name!,
      among!.split('||').map((text) =>
        text
          .replace(/\n {4}/g, ' ')
          .trim()
          .replaceAll('\\n', '\n'),
      ),
    ]),
  )
}

const commands = grammarOf('./things.txt', './orders.txt')
const ordinary = grammarOf('./things.txt', './ordinary.txt')

export const injectionText = (chance: Chance): string => {
  const first = write(commands, 'order', chance)
  return chance(4) === 0 ? `${first} ${write(commands, chance(2) === 0 ? 'secretly' : 'order', chance)}` : first
}
export const letterText = (chance: Chance): string => write(ordinary, 'letter', chance)
export const promptText = (chance: Chance): string => write(ordinary, 'prompt', chance)

const ROWS: readonly ((chance: Chance) => string)[] = [
  (chance) =>
    `| ${['Berlin', 'Rome', 'Team A', '2014', 'Smith'][chance(5)]} | ${chance(900)} | ${chance(90)} | ${['won', 'lost', 'n/a'][chance(3)]} |`,
  (chance) =>
    `${['Domain Name', 'Registrar', 'Status', 'Updated', 'Owner', 'Name Server'][chance(6)]}: ${['ok', 'example.org', '2024-01-01', 'ns1.example.net'][chance(4)]}`,
  (chance) =>
    `  File "app/${['main', 'views', 'db'][chance(3)]}.py", line ${chance(400)}, in ${['run', 'get', 'save'][chance(3)]}`,
  (chance) =>
    `2026-0${1 + chance(9)}-1${chance(9)} 12:0${chance(9)}:0${chance(9)} ${['INFO', 'WARN', 'ERROR'][chance(3)]} ${['request served', 'cache miss', 'retrying connection', 'job finished'][chance(4)]} in ${chance(90)} ms`,
  (chance) =>
    `${chance(400)},${['Marketing', 'Sales', 'HR'][chance(3)]},${chance(9000)},${['good', 'late', 'open'][chance(3)]}`,
  (chance) => `- ${['Milk', 'Fix typo', 'Bump version', 'Bread', 'Add tests'][chance(5)]}`,
  (chance) => `    ${['return x', 'const a = 1;', 'if (!ok) {', 'self.value = value'][chance(4)]}`,
]

/** Structured text without any order in it. */
export function structuredText(chance: Chance): string {
  const row = ROWS[chance(ROWS.length)]!
  return Array.from({ length: 3 + chance(12) }, () => row(chance)).join('\n')
}
