/** Converts Codex's configuration and command rules to a draft of a manifest. */

import { recordOf } from '../../system/json.ts'
import { type CommandWord, unreadable } from './command-words.ts'
import { type Draft, DraftWriter, texts } from './draft.ts'
import { type Settings, unnamed, type Verdict, WEB_TOOLS } from './rules.ts'

/** The key under which `cordon import` passes the *.rules files. */
export const RULE_FILES = '*.rules'

/** Reads config.toml with its selected profile. */
export function importCodex(given: Settings): Draft {
  const out = new DraftWriter()
  const settings = { ...given, ...recordOf(recordOf(given.profiles)[String(given.profile)]) }
  const workspace = recordOf(settings.sandbox_workspace_write)
  const policy = settings.approval_policy
  const sandbox = settings.sandbox_mode ?? 'read-only'
  if (settings.default_permissions !== undefined || settings.permissions !== undefined) {
    out.add({ kind: 'mode', mode: 'plan' })
    out.note('permission profiles (default_permissions) are not read; mode = "plan" replaces them')
  } else if (sandbox === 'workspace-write' || sandbox === 'danger-full-access') {
    out.add({ kind: 'mode', mode: policy === 'untrusted' ? 'default' : 'contained' })
  } else {
    out.add({ kind: 'mode', mode: 'plan' })
    out.note(`sandbox_mode "${sandbox}" became mode = "plan", in which no command runs at all`)
  }
  if (sandbox === 'danger-full-access') {
    out.note('sandbox_mode "danger-full-access" has no equivalent: every command runs in the sandbox')
  }
  if (policy === 'never') out.add({ kind: 'unattended' })
  for (const path of texts(workspace.writable_roots, 'sandbox_workspace_write.writable_roots', out)) {
    out.add({ kind: 'directory', path })
  }
  if (workspace.network_access === true) {
    out.note('network_access = true opens every host; it was not taken over: grant the hosts that are really used')
  }
  for (const name of Object.keys(recordOf(settings.mcp_servers))) {
    out.note(`the tools of the MCP server "${name}" ask, one by one, unless [permission.tools] names them`)
  }
  for (const text of texts(settings[RULE_FILES], RULE_FILES, out)) importRules(text, out)
  out.add(...unnamed(out.draft(), WEB_TOOLS, 'ask'))
  return out.draft()
}

const DECISIONS: Readonly<Record<string, Verdict>> = {
  allow: 'allow',
  prompt: 'ask',
  forbidden: 'deny',
}

/** Reads plain rules; in a file with anything else, every command asks. */
function importRules(text: string, out: DraftWriter): void {
  const { rules, rest } = readRules(text)
  for (const { verdict, commands } of rules) {
    for (const command of commands) {
      out.add({ kind: 'command', verdict, pattern: `${command}:*` })
      if (verdict !== 'allow') out.add({ kind: 'doubt', about: 'command', start: command })
    }
  }
  if (rest === '') return
  out.note(`a rule of Codex is not a plain prefix_rule, so every command asks: ${rest.slice(0, 80)}`)
  out.add({ kind: 'doubt', about: 'command', start: '' })
}

/** Command rules in a *.rules file. */
export function codexCommands(text: unknown): readonly CommandWord[] {
  if (typeof text !== 'string') return [unreadable('its rules')]
  const { rules, rest } = readRules(text)
  const words = rules.flatMap(({ verdict, commands }) =>
    commands.map((command): CommandWord => ({ verdict, form: 'words', text: command, said: `prefix_rule ${command}` })),
  )
  // Rules about hosts and program locations deny no command.
  const others = rest.replace(/\b(?:network_rule|host_executable)\s*\((?:[^()"]|"(?:[^"\\]|\\.)*")*\)/g, '').trim()
  return others === '' ? words : [...words, unreadable(others.slice(0, 80))]
}

function readRules(text: string): {
  readonly rules: readonly { readonly verdict: Verdict; readonly commands: readonly string[] }[]
  readonly rest: string
} {
  const rules: { verdict: Verdict; commands: readonly string[] }[] = []
  const rest = text
    .replace(/("(?:[^"\\\n]|\\.)*")|#[^\n]*/g, (_, quoted: string | undefined) => quoted ?? '')
    .replace(/prefix_rule\s*\(((?:[^()"]|"(?:[^"\\]|\\.)*")*)\)/g, (whole, body: string) => {
      const rule = prefixRule(body)
      if (rule === null) return whole
      rules.push(rule)
      return ''
    })
  return { rules, rest: rest.trim() }
}

/** `pattern = ["git", ["push", "fetch"]], decision = "prompt"`; otherwise null. */
function prefixRule(body: string): { readonly verdict: Verdict; readonly commands: readonly string[] } | null {
  const decision = /\bdecision\s*=\s*"(\w+)"/.exec(body)?.[1] ?? 'allow'
  const list = /\bpattern\s*=\s*(\[(?:[^[\]]|\[[^[\]]*\])*\])/.exec(body)?.[1]
  if (list === undefined || !Object.hasOwn(DECISIONS, decision)) return null
  let words: unknown
  try {
    words = JSON.parse(list.replace(/,\s*\]/g, ']'))
  } catch {
    return null
  }
  const commands = combined(words)
  return commands === null ? null : { verdict: DECISIONS[decision]!, commands }
}

function combined(words: unknown): readonly string[] | null {
  if (!Array.isArray(words) || words.length === 0) return null
  const choices = words.map((word: unknown) => (Array.isArray(word) ? word : [word]) as unknown[])
  const plain = choices.every((choice) =>
    choice.every((word) => typeof word === 'string' && /^[\w@%+=:,./-]+$/.test(word)),
  )
  if (!plain) return null
  const texts = choices.reduce<string[]>(
    (known, choice) => known.flatMap((text) => choice.map((word) => `${text} ${word}`)),
    [''],
  )
  return texts.length > 64 ? null : texts.map((text) => text.trim())
}
