/** Mercurial and jj: settings that make another command of a verb, or run a program. */

import { commandsIn } from '../embedded.ts'
import { type Rule, type Use, usesOf } from '../use.ts'

/** Sections of a configuration whose values name programs or code. */
const running =
  /^(alias|hooks|extensions|ui\.(ssh|editor|merge|pager|remotecmd)|merge-tools|diff-tools|extdiff|pager|web|aliases|fix\.tools|signing)\b/i

const settings: Rule = (use) => {
  for (const option of usesOf(use, '--config', '--config-toml')) {
    const setting = option.value?.text
    if (setting != null && !running.test(setting)) continue
    use.found.hazard(
      'changes-config',
      `\`${use.program} ${option.name}\` sets what can make it run programs`,
      option.span,
    )
    if (setting != null) obey(use, setting)
  }
}

function obey(use: Use, setting: string): void {
  const value = setting.slice(setting.indexOf('=') + 1).replace(/^["'[]+|["'\]]+$/g, '')
  if (value.startsWith('!')) use.delegateTexts(commandsIn(value.slice(1)))
  else if (/^alias/i.test(setting)) use.delegateTexts(commandsIn(`${use.program} ${value}`))
  else use.delegateTexts(commandsIn(value))
}

/** `svn delete https://…` is done at the repository at once. */
const atOnce: Rule = (use) => {
  if (use.operands.some((arg) => /^\w+:\/\//.test(arg.text ?? '')))
    use.setEffect('destructive', 'changes a repository at once')
}

export const versioningRules: Readonly<Record<string, Rule>> = {
  'hg, sl, chg, jj': settings,
  'svn delete, svn rm, svn remove, svn move, svn mv, svn mkdir': atOnce,
}
