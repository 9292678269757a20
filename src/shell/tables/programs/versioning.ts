/** Version control beside git. */

import { commandsIn } from '../embedded.ts'
import type { ProgramTable } from '../spec.ts'
import { type Rule, type Use, usesOf } from '../use.ts'

export function versioningPrograms(): ProgramTable {
  return {
    'hg sl chg': {
      everywhere: true,
      options: `
  --config <text>
  -R --repository --cwd <tree>
  --debugger !run # starts a debugger
  -e --ssh --remotecmd <run>
  -t --tool <run>
  -r --rev -m --message -l --logfile -u --user -d --date -B --bookmark -b --branch -I --include -X --exclude -T --template -o --output <text>`,
      subcommands: {
        archive: { operands: 'write' },
        bisect: { options: '\n  -c --command <run>', operands: 'text*' },
        clone: { operands: 'remote grow' },
        debugshell: { always: ['code', 'starts a Python shell'] },
        serve: { always: ['system', 'serves the repository to the network'] },
        import: { operands: 'read*' },
        bundle: { operands: 'write remote' },
      },
      effects: `
  remote-read  | pull, clone, incoming, in, outgoing, out, identify, fetch |  | talks to a remote
  remote-write | push, email, serve |  | sends commits to a remote
  destructive  | push | -f --force --new-branch-force | rewrites commits on a remote
  loss         | update, up, checkout, co, goto, merge | -C --clean | throws away uncommitted changes
  loss         | revert, rollback, strip, histedit, rebase, prune, purge, clean, uncommit, unamend, hide, undo, debugstrip |  | throws away changes or history
  loss         | remove, rm, forget | -f --force | deletes files with their changes
  loss         | shelve, unshelve | -d --delete --cleanup | deletes shelved changes
  loss         | bookmark, bookmarks, tag, branch | -d --delete --remove -f --force | deletes or moves a name`,
      rules: [versioningRules],
    },
    svn: {
      options: `
  --config-option <config>
  --config-dir <config>
  --diff-cmd --diff3-cmd --editor-cmd <run>
  -F --file <read>
  -m --message -r --revision --username --password --depth -c --change <text>`,
      operands: 'auto*',
      subcommands: { checkout: { operands: 'remote grow' }, co: { operands: 'remote grow' } },
      effects: `
  remote-read  | checkout, co, update, up, list, ls, log, info, cat, status, export |  | talks to a repository
  remote-write | commit, ci, import, lock, unlock, propset, mkdir, copy, cp, switch |  | changes a repository
  loss         | revert, cleanup, relocate |  | throws away uncommitted changes
  loss         | switch, update, up, merge, delete, rm, remove | --force --accept | throws away uncommitted changes`,
      rules: [versioningRules],
    },
    jj: {
      everywhere: true,
      options: `
  --config --config-toml <text>
  --config-file <config>
  -R --repository <tree>
  --tool <run>
  -r --revision --revisions -m --message -d --destination -o -b --bookmark --remote -T --template <text>`,
      effects: `
  remote-read  | git fetch, git clone |  | talks to a remote
  remote-write | git push, gerrit upload |  | sends commits to a remote
  destructive  | git push | --deleted --delete --all | deletes branches of a remote
  loss         | abandon, restore, undo, redo, op undo, op restore, op revert, op abandon, operation restore, operation undo |  | throws away changes
  loss         | bookmark delete, bookmark forget, bookmark set, tag delete, workspace forget, util gc, squash, rebase, split, metaedit |  | rewrites or deletes history`,
      rules: [versioningRules],
    },
    'bzr brz fossil cvs p4 darcs pijul': {
      partial: true,
      effects: `
  remote-write | push, send, commit, ci, submit, sync, checkin |  | sends commits to a remote
  remote-read  | pull, clone, update, up, branch, checkout |  | talks to a remote
  loss         | revert, uncommit, clean, clean-tree, undo, unrecord, obliterate, stash drop, purge, shun, scrub |  | throws away changes or history`,
    },
  }
}

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

const versioningRules: Readonly<Record<string, Rule>> = {
  'hg, sl, chg, jj': settings,
  'svn delete, svn rm, svn remove, svn move, svn mv, svn mkdir': atOnce,
}
