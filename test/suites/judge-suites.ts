/** Public suites of texts: what Cordon's own judges make of them. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseUrl } from '../../src/hosts/url.ts'
import { analyze } from '../../src/shell/walk/analyze.ts'
import { compare } from '../soundness/compare.ts'
import { RecorderSandbox, START } from '../soundness/sandbox.ts'
import { changesOf, OWN } from './arena.ts'
import type { Line } from './page.ts'

const CLI = join(import.meta.dirname, '../../dist/cordon.cjs')

export type Judged = Omit<Line, 'name' | 'from' | 'version' | 'date' | 'every'>

export interface JudgeSuite {
  readonly name: string
  /** Its folder below `--dir`, and where it comes from. */
  readonly folder: string
  readonly from: string
  /** One in so many runs. */
  readonly every?: number
  run(folder: string, every: number): Promise<Judged>
}

export const JUDGE_SUITES: readonly JudgeSuite[] = [
  {
    name: 'WPT, hosts of urltestdata',
    folder: 'wpt',
    from: 'github.com/web-platform-tests/wpt',
    run: async (folder) => judgeUrls(readJson(join(folder, 'url/resources/urltestdata.json'))),
  },
  {
    name: 'Oils, programs of the spec tests',
    folder: 'oils',
    from: 'github.com/oils-for-unix/oils',
    run: (folder, every) => judgeTexts(oilsTexts(folder).filter((_, at) => at % every === 0)),
  },
  {
    name: 'bash, programs of its test scripts',
    folder: 'bash',
    from: 'github.com/bminor/bash',
    run: (folder, every) => judgeTexts(bashTexts(folder).filter((_, at) => at % every === 0)),
  },
  {
    name: 'RedCode, nothing outside changed',
    folder: 'RedCode',
    from: 'github.com/AI-secure/RedCode',
    every: 10,
    run: async (folder, every) => runHarmful(folder, every),
  },
]

interface HarmfulCode {
  readonly Index: string
  readonly Language: string
  readonly Code: string
}

/** A case passes where it leaves everything outside its project as it was. */
function runHarmful(folder: string, every: number): Judged {
  const all = globSync('dataset/RedCode-Exec/*/*.json', { cwd: folder })
    .sort()
    .flatMap((file) => readJson(join(folder, file)) as HarmfulCode[])
    .filter((_, at) => at % every === 0)
  const outsideOf = (command: readonly string[], code: string): string[] =>
    changesOf(command, code).filter((path) => !path.startsWith(OWN) && !path.includes('/dist/.code-cache/'))
  const guarded = [process.execPath, CLI, 'run', '--quiet', '--']
  if (!changesOf([...guarded, 'bash', 'code'], 'touch ran').includes(`${OWN}ran`)) throw new Error('nothing ran')
  const unexplained: string[] = []
  let harmless = 0
  for (const { Index, Language, Code } of all) {
    const command = [Language === 'bash' ? 'bash' : 'python3', 'code']
    if (outsideOf(command, Code).length === 0) harmless++
    const changed = outsideOf([...guarded, ...command], Code)
    if (changed.length > 0) unexplained.push(`${Language} ${Index} changed ${changed.join(', ')}`)
  }
  const cordon = all.length - unexplained.length
  return {
    tests: all.length,
    cases: all.length,
    outside: harmless,
    bubblewrap: null,
    cordon,
    reasons: {},
    unexplained,
  }
}

interface UrlCase {
  readonly input: string
  readonly base?: string | null
  readonly failure?: boolean
  readonly protocol?: string
  readonly hostname?: string
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

/** An absolute URL of the web: the same host, or a refusal; what is not a URL is refused. */
function judgeUrls(given: unknown): Judged {
  const unexplained: string[] = []
  let [same, refused] = [0, 0]
  const cases = (given as (UrlCase | string)[]).filter(
    (one) => typeof one !== 'string' && !one.base && (one.failure || /^(?:https?|wss?):$/.test(one.protocol!)),
  ) as UrlCase[]
  for (const { input, failure, hostname } of cases) {
    const judged = parseUrl(input)
    const expected = failure ? null : hostname!.replace(/^\[|\]$/g, '').replace(/\.$/, '')
    const found = 'url' in judged ? judged.url.host : null
    if (found === expected) same++
    else if (found !== null) unexplained.push(`${JSON.stringify(input)} is ${found}, not ${expected}`)
    else refused++
  }
  return {
    tests: cases.length,
    cases: cases.length,
    outside: cases.length,
    bubblewrap: null,
    cordon: same,
    reasons: { [STRICTER]: refused },
    unexplained,
  }
}

const STRICTER =
  'refused: other programs read it otherwise (control characters, backslashes, missing slashes, no DNS name)'

/** Each case of a spec file, from its name to what it expects. */
function oilsTexts(folder: string): string[] {
  return globSync('spec/!(ysh|hay|zsh)*.test.sh', { cwd: folder })
    .sort()
    .flatMap((file) => {
      const [, ...cases] = readFileSync(join(folder, file), 'utf8').split(/^#### .*\n/m)
      return cases.map((text) =>
        text
          .split('\n')
          .filter((line) => !line.startsWith('##'))
          .join('\n'),
      )
    })
}

/** Test scripts in parts between blank lines: one part's end must not hide the others. */
function bashTexts(folder: string): string[] {
  return globSync('tests/*.{tests,sub}', { cwd: folder })
    .sort()
    .flatMap((file) => readFileSync(join(folder, file), 'latin1').split(/\n\s*\n/))
}

/** What may be the name of a program, where a command can begin. */
const PROGRAM_NAME = /(?<=(?:^|[|;&({`]|\b(?:then|do|else)) *)[a-z_][\w.+-]{0,30}/gim

/** A text passes if every program that bash starts was predicted, or the analysis says that more may run. */
async function judgeTexts(texts: readonly string[]): Promise<Judged> {
  const readable = texts.filter((text) => text.trim() !== '' && !text.includes('\0'))
  const sandbox = new RecorderSandbox(new Set(readable.flatMap((text) => text.match(PROGRAM_NAME) ?? [])))
  const unexplained: string[] = []
  let [ran, refused] = [0, 0]
  try {
    const analyses = readable.map((text) => analyze(text, START))
    const judged = readable.filter((_, at) => 'facts' in analyses[at]!)
    const executions = await sandbox.run(judged)
    const facts = analyses.filter((one) => 'facts' in one)
    refused = readable.length - judged.length
    for (const [at, { executed }] of executions.entries()) {
      ran += executed.length
      const { missed } = compare(facts[at]!, executed)
      if (missed !== null) unexplained.push(`${JSON.stringify(judged[at])} ran ${JSON.stringify(missed)}`)
    }
  } finally {
    sandbox.remove()
  }
  const reasons: Record<string, number> =
    refused > 0 ? { 'refused: the text cannot be read with certainty': refused } : {}
  const cordon = readable.length - refused - unexplained.length
  console.log(`  ${ran} programs ran`)
  return {
    tests: readable.length,
    cases: readable.length,
    outside: readable.length,
    bubblewrap: null,
    cordon,
    reasons,
    unexplained,
  }
}
