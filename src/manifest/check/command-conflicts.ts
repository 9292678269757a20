/** Command rules and levels of one file that contradict: shadowed rules, refused grants. */

import { matchSegment } from '../../files/glob.ts'
import type { CommandPattern } from '../../policy/command-pattern.ts'
import { toolKind } from '../../policy/tool-kind.ts'
import { judgeGrant, programWords } from '../../shell/tables/interpreter-names.ts'
import type { FormatContext } from '../schema/format.ts'
import { type CommandEntry, type Item, itemsOf, type Manifest, type McpToolEntry } from '../schema/manifest.ts'
import type { Report } from '../toml/problem.ts'
import { quoteShort, splitKey } from '../toml/tree.ts'
import { type ParsedEntry, reportDenied, reportDuplicate, warnShadowed } from './reach-conflicts.ts'

/** Whether a pattern matches a command text; the shell analysis that knows is not part of this folder. */
export type CommandMatcher = (pattern: CommandPattern, command: string) => boolean

/** Flags that permit otherwise refused grants. */
export interface GrantFlags {
  readonly system_python: boolean
  readonly privilege_wrappers: boolean
}

/** Checks the command rules of a file. */
export function checkCommands(
  manifest: Manifest,
  formats: FormatContext,
  report: Report,
  flags: GrantFlags,
  matches: CommandMatcher | null,
): void {
  const allow = withCommands(itemsOf<CommandEntry>(manifest, 'capabilities.allow.commands.patterns'), formats)
  const deny = withCommands(itemsOf<CommandEntry>(manifest, 'capabilities.deny.commands.patterns'), formats)
  const allowed = indexCommands(allow, report)
  const denied = indexCommands(deny, report)
  for (const { item, pattern } of allow) {
    checkGrant(item, pattern, formats, report, flags)
    checkVariables(item.value.env_vars ?? [], manifest, report)
    const text = item.value.command.replace(/:\*$/, '').toLowerCase()
    const words = itemsOf<string>(manifest, 'shell_policy.deny').find(({ value }) => text.includes(value.toLowerCase()))
    if (words) reportDenied(report, item, item.value.command, words, false)
    const passing = itemsOf<string>(manifest, 'shell_policy.allow')
    const isClosed = !pattern.open && !pattern.kind && passing.length > 0
    if (isClosed && !passing.some(({ value }) => text.includes(value.toLowerCase()))) {
      report.error(item.at, item.rule, {
        code: 'shadowed',
        message: `${quoteShort(item.value.command)} is allowed, but contains no text that shell_policy.allow lets through`,
        expected: 'a grant that can take effect',
        found: `${passing[0]!.rule} at ${passing[0]!.source}`,
        suggestion: 'delete the grant, or add its text to shell_policy.allow',
      })
    }
    // A denial applies by whatever path and through whatever wrapper the program is named.
    const stop = denied.covering(pattern, false) ?? denied.covering(plain(pattern), false)
    if (stop !== null) {
      reportDenied(report, item, item.value.command, stop.item, sameCommands(stop.pattern, pattern))
      continue
    }
    const broader = allowed.covering(pattern, true)
    if (broader !== null && carried(broader.item.value) === carried(item.value)) {
      warnShadowed(report, item, item.value.command, broader.item)
    }
  }
  for (const { item, pattern } of deny) {
    const broader = denied.covering(pattern, true)
    if (broader !== null) warnShadowed(report, item, item.value.command, broader.item)
  }
  for (const { item, pattern } of [...allow, ...deny]) checkExamples(item, pattern, report, matches)
  checkVariables(itemsOf(manifest, 'capabilities.allow.commands.default_env_vars'), manifest, report)
}

function plain(pattern: CommandPattern): CommandPattern {
  return pattern.kind ? pattern : { ...pattern, words: programWords(pattern.words) }
}

function checkVariables(names: readonly Item<string>[], manifest: Manifest, report: Report): void {
  const denied = itemsOf<string>(manifest, 'capabilities.deny.commands.env_vars')
  for (const item of names) {
    const stop = denied.find(({ value }) => value === item.value)
    if (stop) reportDenied(report, item, item.value, stop, true)
  }
}

function withCommands(
  items: readonly Item<CommandEntry>[],
  formats: FormatContext,
): ParsedEntry<CommandEntry, CommandPattern>[] {
  return items.flatMap((item) => {
    const pattern = formats.commands.get(item.value.command)
    return pattern === undefined ? [] : [{ item, pattern }]
  })
}

/** Command rules by their words, so that finding what covers a pattern costs one step for each of its words. */
class CommandIndex {
  readonly #root = newBranch()

  /** Adds a rule; the rule that already matches the same commands, if there is one. */
  add(rule: ParsedEntry<CommandEntry, CommandPattern>): ParsedEntry<CommandEntry, CommandPattern> | null {
    let branch = this.#root
    for (const word of indexed(rule.pattern)) {
      const next = branch.words.get(word) ?? newBranch()
      branch.words.set(word, next)
      branch = next
    }
    const kind = rule.pattern.open ? 'open' : 'exact'
    const first = branch[kind]
    branch[kind] ??= rule
    return first
  }

  /** The broadest rule that matches all that the pattern matches; with `broader`, not one that matches just the same. */
  covering(pattern: CommandPattern, broader: boolean): ParsedEntry<CommandEntry, CommandPattern> | null {
    let branch: Branch | undefined = this.#root
    const words = indexed(pattern)
    for (const [index, word] of words.entries()) {
      branch = branch.words.get(word)
      if (branch === undefined) return null
      const same = index === words.length - 1
      if (branch.open !== null && !(broader && same && pattern.open)) return branch.open
      if (same && !broader && !pattern.open) return branch.exact
    }
    return null
  }
}

/** A kind of change shares no words with ordinary patterns. */
const indexed = (pattern: CommandPattern): readonly string[] =>
  pattern.kind ? [':kind', ...pattern.words] : pattern.words

interface Branch {
  readonly words: Map<string, Branch>
  open: ParsedEntry<CommandEntry, CommandPattern> | null
  exact: ParsedEntry<CommandEntry, CommandPattern> | null
}

function newBranch(): Branch {
  return { words: new Map(), open: null, exact: null }
}

function indexCommands(rules: readonly ParsedEntry<CommandEntry, CommandPattern>[], report: Report): CommandIndex {
  const index = new CommandIndex()
  for (const rule of rules) {
    const first = index.add(rule)
    if (first !== null) reportDuplicate(report, rule.item, rule.item.value.command, first.item)
  }
  return index
}

/** For two patterns of which one covers the other: whether they match the same commands. */
function sameCommands(a: CommandPattern, b: CommandPattern): boolean {
  return a.open === b.open && a.words.length === b.words.length
}

/** What a grant adds, as a text to compare. */
function carried(entry: CommandEntry): string {
  const { command: _command, match: _match, not_match: _notMatch, ...rest } = entry
  return JSON.stringify(rest, (key, value) => (key === 'rule' || key === 'source' || key === 'at' ? undefined : value))
}

function checkGrant(
  item: Item<CommandEntry>,
  pattern: CommandPattern,
  formats: FormatContext,
  report: Report,
  flags: GrantFlags,
): void {
  const refusal = judgeGrant(pattern.words, formats.pinsScript)
  if (refusal === null || (refusal === 'unknown' && flags.system_python)) return
  const found = quoteShort(item.value.command)
  if (refusal === 'unknown') {
    formats.missesPrograms = true
    report.error(item.at, item.rule, {
      code: 'refused-grant',
      message: 'the program tables, which show whether this grants an interpreter, are not loaded',
      expected: 'a grant of a program that does one thing',
      found,
    })
    return
  }
  if (!flags[refusal.flag]) {
    report.error(item.at, item.rule, {
      code: 'refused-grant',
      message: refusal.message,
      expected: `a grant of a program that does one thing, or [security] ${refusal.flag} = true`,
      found,
    })
  } else if (refusal.flag === 'privilege_wrappers') {
    report.warn(item.at, item.rule, {
      code: 'dangerous-setting',
      message: `${found} is granted; inside the sandbox it gains no rights`,
      suggestion: 'delete the grant and [security] privilege_wrappers',
    })
  }
}

function checkExamples(
  item: Item<CommandEntry>,
  pattern: CommandPattern,
  report: Report,
  matches: CommandMatcher | null,
): void {
  if (item.value.match === undefined && item.value.not_match === undefined) return
  const examples = [
    ...(item.value.match ?? []).map((example) => ({ example, wanted: true })),
    ...(item.value.not_match ?? []).map((example) => ({ example, wanted: false })),
  ]
  if (examples.length > 0 && matches === null) {
    report.warn(item.at, item.rule, { code: 'examples-unchecked', message: 'the examples were not checked here' })
    return
  }
  for (const { example, wanted } of examples) {
    if (matches!(pattern, example.value) === wanted) continue
    report.error(example.at, example.rule, {
      code: 'example-failed',
      message: `${quoteShort(item.value.command)} ${wanted ? 'does not match' : 'matches'} ${quoteShort(example.value)}`,
      expected: wanted ? 'a command that the pattern matches' : 'a command that the pattern does not match',
      found: wanted ? 'no match' : 'a match',
      suggestion: 'correct the pattern or the example',
    })
  }
}

/** Tools of MCP servers that one entry allows and another, or their level, denies altogether. */
function checkServerTools(manifest: Manifest, report: Report): void {
  for (const path of manifest.settings.keys()) {
    const [section, server, list] = splitKey(path)
    if (section !== 'mcp' || list !== 'tools') continue
    const entries = itemsOf<McpToolEntry>(manifest, path)
    const denials = entries.filter(({ value: { level, args } }) => level === 'deny' && !args)
    for (const item of entries.filter(({ value: { level = 'allow' } }) => level === 'allow')) {
      const { tool } = item.value
      const stop = denials.find(({ value }) => matchSegment(value.tool, tool))
      const level = manifest.settings.get(`permission.tools.mcp__${server}__${tool}`)
      if (stop) reportDenied(report, item, tool, stop, stop.value.tool === tool)
      else if (level?.value === 'deny') reportDenied(report, item, tool, { ...item, ...level }, true)
    }
  }
}

/** The plan agent neither writes nor runs (P3), so any other level has no effect. */
export function checkToolLevels(manifest: Manifest, report: Report): void {
  checkServerTools(manifest, report)
  for (const [path, { at, value }] of manifest.settings) {
    const [section, agent, table, tool] = splitKey(path)
    if (section !== 'agents' || agent !== 'plan' || table !== 'tools' || tool === undefined || value === 'deny')
      continue
    const { kind } = toolKind(tool)
    if (kind !== 'write' && kind !== 'command') continue
    report.error(at, path, {
      code: 'unused',
      message: `the plan agent is read-only, so the level of ${tool} has no effect`,
      expected: '"deny", or a tool that reads',
      found: JSON.stringify(value),
      suggestion: 'delete it, or give the level to a custom agent: [agents.NAME.tools]',
    })
  }
}
