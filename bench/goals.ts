/** What each row should take, and the floor: what a perfect implementation would take. */

interface Goal {
  /** Matches `TITLE: ROW`. */
  readonly row: RegExp
  readonly goal: string
  readonly floor?: string
}

/** The first match counts. A row that the others are measured by has the goal `base`. */
const GOALS: readonly Goal[] = [
  { row: /: (?:node -e 0|bubblewrap|`node -e 0` until|the library$)/, goal: 'base' },
  { row: /^Start-up.*: cordon --version/, goal: '<= 1.10x', floor: '1.00x' },
  { row: /^Start-up.*: cordon (?:check|hook)/, goal: '<= 1.50x', floor: '1.10x, as --version' },
  { row: /^Importing the library.*: time/, goal: '<= 150 ms' },
  { row: /^Importing the library.*: modules/, goal: '<= 250', floor: '1' },
  { row: /^Hooks with a resident/, goal: '<= 0.30x', floor: '0.05x, a program in C that connects' },
  { row: /^One command.*: sandbox-runtime/, goal: '<= 0.20x' },
  { row: /^One command.*cold.*: codex/, goal: '<= 0.90x' },
  { row: /^One command.*: codex/, goal: '<= 0.50x' },
  { row: /^One command.*cold/, goal: 'base', floor: 'node and bubblewrap' },
  { row: /^One command/, goal: 'base' },
  { row: /^The resident/, goal: '<= 60 MB' },
  { row: /^Decisions.*: (?:file|host)/, goal: '>= 20000 /s' },
  { row: /^Decisions.*: shell analysis/, goal: '<= 40 µs' },
  { row: /^Decisions.*500 rules, first/, goal: '<= 30 ms' },
  { row: /^Decisions.*500 rules/, goal: '<= 10 ms' },
  { row: /^Decisions/, goal: '<= 100 µs' },
  { row: /^One launch.*prepared/, goal: '<= 0.75', floor: '0.4, the command alone' },
  { row: /^One launch.*: with 3000 masks/, goal: '<= 12' },
  { row: /^One launch.*: with 1000 masks/, goal: '<= 4' },
  { row: /^One launch.*: with 200 masks/, goal: '<= 1.6' },
  { row: /^One launch.*memory/, goal: 'no growth', floor: 'no growth' },
  { row: /^One launch/, goal: '<= 1.3', floor: '1' },
  { row: /^A guarded call: read/, goal: '<= 0.5 ms over', floor: '0, without a scan' },
  { row: /^A guarded call: {3}of it/, goal: '<= 0.4 ms' },
  { row: /^A guarded call: stat/, goal: '<= 0.2 ms' },
  { row: /^A guarded call: bash true/, goal: '<= 1.00', floor: '0.4, the command alone' },
  { row: /sessions at once/, goal: 'no growth' },
  { row: /^A session of .*: Codex/i, goal: '<= 1.20x', floor: 'the row before' },
  { row: /^A session of/, goal: '<= 1.30x', floor: 'the row before' },
  { row: /^changes through.*: compile/, goal: '1.01' },
  { row: /^changes through.*: npm ci/, goal: '1.3' },
  { row: /^changes through.*: git clone/, goal: '1.08' },
  { row: /^changes through.*: rm -rf/, goal: '2.2' },
  { row: /^changes through.*: cp -r/, goal: '1.05' },
  { row: /^the same in processor time/, goal: 'as by the clock' },
  { row: /^Masks.*: (?:folders|masks at the end|first index|index kept)/, goal: 'none' },
  { row: /^Masks.*: first run/, goal: '<= 500 ms' },
  { row: /^Masks/, goal: '<= 15 ms', floor: '1 ms, no folder has changed' },
  { row: /^The proxy: (?:first|new connection)/, goal: '<= 0.5' },
  { row: /^The proxy: the same after/, goal: '<= 0.5' },
  { row: /^The proxy: (?:one download|requests)/, goal: '>= 1.5' },
  { row: /^The proxy: of 1,000/, goal: '1000', floor: '1000' },
  { row: /^The proxy: .*heap/, goal: '0 MB', floor: '0 MB' },
  { row: /^The proxy: memory/, goal: '<= 5 MB', floor: '0 MB' },
  { row: /first proxied byte/, goal: '<= 1.30x' },
  { row: /^npm ci.*: ratio/, goal: '<= 1.03', floor: '1' },
  { row: /^npm ci/, goal: 'base' },
  { row: /^File tools: (?:grep|glob)/, goal: '<= 20 ms' },
  { row: /^File tools: resolving/, goal: '<= 0.02 ms' },
  { row: /^File tools/, goal: '<= 0.3 ms over', floor: '0' },
  { row: /^code of a model.*fifty calls of/, goal: '<= 1.3', floor: '1' },
  { row: /^code of a model.*(?:kept|warm|fifty programs)/, goal: '<= 0.1' },
  { row: /^code of a model/, goal: '<= 1.3', floor: '1' },
  { row: /reads each.*HTTP/, goal: '<= 0.7 ms over' },
  { row: /reads each/, goal: '<= 0.2 ms over' },
  { row: /^The chat: .*resumed/, goal: '<= 300 ms' },
  { row: /^The chat: .*streamed|^The chat: 1 MB/, goal: '<= 1000 ms' },
  { row: /^The chat/, goal: '<= 1.8x of node', floor: '1x' },
  { row: /^the page.*until they are all there/, goal: '<= 2000 ms' },
  { row: /^the page.*median/, goal: '<= 50 ms', floor: '16 ms, a frame' },
  { row: /^the page/, goal: '<= 200 ms', floor: '16 ms, a frame' },
  { row: /^Events.*shared/, goal: '>= 10,000' },
  { row: /^Events.*every line/, goal: 'as the disk', floor: 'as the disk' },
  { row: /^Events/, goal: '>= 50,000' },
  { row: /^The redactor.*ordinary/, goal: '>= 50 MB/s' },
  { row: /^The redactor/, goal: '>= 10 MB/s' },
]

/** The rows with two more columns; a goal that the part itself gives stays. Throws for a row without one. */
export function withGoals(title: string, rows: readonly (readonly string[])[]): string[][] {
  const [header = [], ...lines] = rows
  const own = header.findIndex((name) => /^(?:goal|target)/.test(name))
  const floorOf = header.includes('floor')
  const rest = (cells: readonly string[]): string[] => header.flatMap((_, at) => (at === own ? [] : [cells[at] ?? '']))
  const columns = floorOf ? ['goal'] : ['goal', 'floor']
  return [
    [...rest(header), ...columns],
    ...lines.map((cells) => {
      const known = GOALS.find(({ row }) => row.test(`${title}: ${cells[0]}`))
      const given = own < 0 ? '' : (cells[own] ?? '')
      if (given === '' && known === undefined) throw new Error(`bench/goals.ts has no goal for "${title}: ${cells[0]}"`)
      return [...rest(cells), known?.goal ?? given, ...(floorOf ? [] : [known?.floor ?? ''])]
    }),
  ]
}
