/** Codex's rules: by one of them it starts a wrapped command outside its own sandbox, because that makes one of Cordon's. */

import { join } from 'node:path'
import type { Machine } from '../../../system/machine.ts'
import type { RulePlace } from '../host/host.ts'

/** Where Codex keeps its own. */
export function codexHome({ home, env }: Pick<Machine, 'home' | 'env'>): string {
  return env.CODEX_HOME ?? join(home, '.codex')
}

/** The folders of its rules: the project's, the person's, the machine's. */
export function codexRuleFolders({ folders, ...at }: Pick<RulePlace, 'folders' | 'home' | 'env'>): readonly string[] {
  return [...folders.map((folder) => join(folder, '.codex/rules')), join(codexHome(at), 'rules'), '/etc/codex/rules']
}

/** The file with the rule, beside Codex's other settings. */
export const CODEX_RULES = 'rules/cordon.rules'

const MARK = '# Written by cordon install.'

/** The rule for the program of the short form, wherever it stands alone. */
export function codexRules(program: string): string {
  return `${MARK} A command in this form runs in Cordon's sandbox, which cannot be made inside Codex's.
prefix_rule(pattern = [${JSON.stringify(program)}], decision = "allow")
`
}

export function isCodexRules(text: string): boolean {
  return text.startsWith(MARK)
}
