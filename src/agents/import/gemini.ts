/** Converts Gemini CLI's tool lists to a draft of a manifest. */

import { recordOf } from '../../system/json.ts'
import { excludedCommands } from './bracket-rules.ts'
import { type CommandWord, unreadable } from './command-words.ts'
import { type Draft, DraftWriter, type Entry, type Finding, note, texts } from './draft.ts'
import { commandRule, type Settings, unknownTool, unnamed, type Verdict } from './rules.ts'

const GEMINI_TOOLS: Readonly<Record<string, readonly string[]>> = {
  run_shell_command: ['bash'],
  ShellTool: ['bash'],
  read_file: ['read'],
  read_many_files: ['read', 'grep'],
  write_file: ['write'],
  replace: ['edit', 'apply_patch'],
  glob: ['glob'],
  grep_search: ['grep'],
  search_file_content: ['grep'],
  list_directory: ['list'],
  web_fetch: ['webfetch', 'http'],
  google_web_search: ['websearch'],
  // Class names of tools are accepted too.
  ReadFileTool: ['read'],
  ReadManyFilesTool: ['read', 'grep'],
  WriteFileTool: ['write'],
  EditTool: ['edit', 'apply_patch'],
  GlobTool: ['glob'],
  GrepTool: ['grep'],
  RipGrepTool: ['grep'],
  LSTool: ['list'],
  WebFetchTool: ['webfetch', 'http'],
  WebSearchTool: ['websearch'],
}

/** Reads settings.json. */
export function importGemini(settings: Settings): Draft {
  const out = new DraftWriter()
  const tools = recordOf(settings.tools)
  const lists = [
    ['deny', [...texts(tools.exclude, 'tools.exclude', out), ...texts(settings.excludeTools, 'excludeTools', out)]],
    ['allow', [...texts(tools.allowed, 'tools.allowed', out), ...texts(settings.allowedTools, 'allowedTools', out)]],
  ] as const
  for (const [verdict, rules] of lists) {
    for (const rule of rules) {
      const [, tool = '', inside] = /^(\w+)(?:\((.*)\))?$/s.exec(rule) ?? []
      const known = Object.hasOwn(GEMINI_TOOLS, tool) ? GEMINI_TOOLS[tool]! : null
      if (!known) out.add(...unknownTool(tool, inside !== undefined, verdict, rule))
      // Text in brackets is a prefix there.
      else if (inside !== undefined && known.includes('bash')) out.add(...commandRule(`${inside}:*`, verdict, rule))
      else if (inside !== undefined && verdict === 'allow') out.note(`allow "${rule}" has no equivalent`)
      else if (verdict === 'allow' && (known.includes('bash') || known.includes('write'))) {
        out.note(`allow "${rule}" allows everything; it was not taken over: grant what is really used`)
      } else out.add(...known.map((own): Entry => ({ kind: 'level', tool: own, verdict })))
    }
  }
  const core = tools.core ?? settings.coreTools
  if (core !== undefined) out.add(...outsideCore(texts(core, 'tools.core', out)))
  for (const path of texts(recordOf(settings.context).includeDirectories, 'context.includeDirectories', out)) {
    out.add({ kind: 'directory', path })
  }
  const mode = recordOf(settings.general).defaultApprovalMode
  if (mode === 'auto_edit') out.add({ kind: 'mode', mode: 'auto_accept' })
  else if (mode === 'plan') out.add({ kind: 'mode', mode: 'plan' })
  else out.add({ kind: 'mode', mode: 'default' })
  out.add(...unnamed(out.draft(), ['webfetch', 'http'], 'ask'))
  return out.draft()
}

const SHELLS: ReadonlySet<string> = new Set(['run_shell_command', 'ShellTool'])

/** Command rules of one file: a settings.json, or policy rules, of which the highest priority wins. */
export function geminiCommands(file: unknown): readonly CommandWord[] {
  const { tools, excludeTools, rule } = recordOf(file)
  const ruled = rule === undefined ? [] : Array.isArray(rule) ? rule.map(policyRule) : [policyRule(rule)]
  // Among equal priorities the stricter wins, so it comes last.
  const order: readonly Verdict[] = ['allow', 'ask', 'deny']
  const rank = ({ verdict }: CommandWord): number => order.indexOf(verdict)
  return [
    ...ruled
      .flatMap(({ priority, words }) => words.map((word) => ({ priority, word })))
      .sort((a, b) => a.priority - b.priority || rank(a.word) - rank(b.word))
      .map(({ word }) => word),
    ...excludedCommands(recordOf(tools).exclude, SHELLS),
    ...excludedCommands(excludeTools, SHELLS),
  ]
}

const DECISIONS: Readonly<Record<string, Verdict>> = { allow: 'allow', ask_user: 'ask', deny: 'deny' }
/** These limit when a rule applies. The conditions are ignored: a denial then always applies, an allow never. */
const CONDITIONS = ['modes', 'interactive', 'subagent', 'toolAnnotations', 'mcpName'] as const

function policyRule(value: unknown): { readonly priority: number; readonly words: readonly CommandWord[] } {
  const rule = recordOf(value)
  const said = `[[rule]] ${String(rule.commandPrefix ?? rule.commandRegex ?? rule.argsPattern ?? rule.toolName ?? '')}`
  const priority = typeof rule.priority === 'number' ? rule.priority : 0
  const verdict = DECISIONS[String(rule.decision)]
  const ofShell = [rule.toolName ?? 'run_shell_command'].flat().some((name) => SHELLS.has(String(name)) || name === '*')
  if (!ofShell || rule.mcpName !== undefined) return { priority, words: [] }
  if (verdict === undefined) return { priority, words: [unreadable(said)] }
  if (verdict === 'allow' && CONDITIONS.some((name) => rule[name] !== undefined)) return { priority, words: [] }
  const word = (form: CommandWord['form'], text: unknown): CommandWord =>
    typeof text === 'string' ? { verdict, form, text, said } : unreadable(said)
  if (rule.commandPrefix !== undefined)
    return { priority, words: [rule.commandPrefix].flat().map((text: unknown) => word('words', text)) }
  // The regex matches `"command":"…`, so it begins with the command.
  if (rule.commandRegex !== undefined) return { priority, words: [word('regex', `^(?:${rule.commandRegex})`)] }
  return { priority, words: [rule.argsPattern === undefined ? word('every', '') : word('regex', rule.argsPattern)] }
}

/** Tools that a core list leaves out; with commands in brackets, the others ask. */
function outsideCore(core: readonly string[]): readonly Finding[] {
  const named = (tool: string): boolean => core.some((rule) => rule === tool || rule.startsWith(`${tool}(`))
  const mapped = Object.entries(GEMINI_TOOLS)
  const kept = new Set(mapped.filter(([tool]) => named(tool)).flatMap(([, own]) => own))
  const gone = [...new Set(mapped.flatMap(([, own]) => own))].filter((own) => !kept.has(own))
  const partly = core.some((rule) => /^(?:run_shell_command|ShellTool)\(/.test(rule))
  return [
    ...gone.map((tool): Finding => ({ kind: 'level', tool, verdict: 'deny' })),
    ...(partly
      ? [
          note('tools.core names single commands; commands ask'),
          { kind: 'doubt', about: 'command', start: '' } as const,
        ]
      : []),
  ]
}
