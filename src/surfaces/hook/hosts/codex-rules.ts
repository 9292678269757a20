/** Codex's rules: one of them starts wrapped commands outside its own sandbox, because they create Cordon's. */

import { join } from 'node:path'
import type { Machine } from '../../../system/machine.ts'
import type { RulePlace } from '../host/host.ts'

export function codexHome({ home, env }: Pick<Machine, 'home' | 'env'>): string {
  return env.CODEX_HOME ?? join(home, '.codex')
}

/** The folders of its rules: the project's, the person's, the machine's. */
export function codexRuleFolders({ folders, ...at }: Pick<RulePlace, 'folders' | 'home' | 'env'>): readonly string[] {
  return [...folders.map((folder) => join(folder, '.codex/rules')), join(codexHome(at), 'rules'), '/etc/codex/rules']
}

/** Our rule's file, beside Codex's other settings. */
export const CODEX_RULES = 'rules/cordon.rules'

const MARK = '# Written by cordon install.'

/** The rule for the program of the short form, if it is the whole command. */
export function codexRules(program: string): string {
  return `${MARK} A command in this form runs in Cordon's sandbox, which cannot be made inside Codex's.
prefix_rule(pattern = [${JSON.stringify(program)}], decision = "allow")
`
}

export function isCodexRules(text: string): boolean {
  return text.startsWith(MARK)
}
