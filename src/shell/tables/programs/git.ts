/** git: options and subcommands that run programs, write files or reach elsewhere. */

import { kindRules } from '../kinds.ts'
import { gitHistoryRules, gitRules } from '../rules/git.ts'
import type { ProgramTable, Spec } from '../spec.ts'

/** Options of git itself, before its subcommands. */
const before = `
  -C -c <text>
  -p -P -v -h
  --git-dir --work-tree --namespace --super-prefix --config-env --attr-source <text>
  --no-pager --paginate --bare --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --literal-pathspecs
  --glob-pathspecs --noglob-pathspecs --icase-pathspecs --html-path --man-path --info-path --version --help
  --exec-path [text]`

export function gitPrograms(): ProgramTable {
  /** Options of diff that log, show and their relatives share. */
  const diffOptions = `
  --output <output>
  --output-indicator-new --output-indicator-old --output-indicator-context <text>
  --ext-diff !run # runs the diff program that the configuration names
  --textconv !run # runs the text converters that the configuration names
  --text -a
  -O <read>
  -S -G -L -U --unified <text>
  -l [text]
  -n --max-count --skip --since --after --until --before --author --committer --grep --date --format --diff-filter <text>
  --diff-algorithm --inter-hunk-context --src-prefix --dst-prefix --line-prefix --ws-error-highlight --anchored <text>
  --pretty --color --color-words --word-diff --word-diff-regex --stat --dirstat --submodule --decorate --abbrev [text]
  --ignore-submodules --color-moved --show-notes --notes --branches --tags --remotes --relative --show-signature [text]
  -M -C -B --find-renames --find-copies --break-rewrites [text]
  --glob --exclude --max-age --min-age --min-parents --max-parents --encoding --decorate-refs <text>
  --merge-base
`

  const viewing: Spec = { options: diffOptions }

  const transport = `
  --upload-pack --exec <run> # runs a program as the other side
  -o --server-option --depth --deepen --shallow-since --shallow-exclude --refmap --negotiation-tip -j --jobs <text>
  --filter --sort <text>
  --recurse-submodules [text]
`

  const merging = `
  -m --message <text>
  -F --file <read>
  -s --strategy -X --strategy-option --cleanup --into-name --empty <text>
  -S --gpg-sign --log [text]
  --no-verify !skip # skips the repository's hooks
`

  const pathspecs = `
  --pathspec-from-file <list>
`

  const runsAnything = (note: string): Spec => ({ always: ['run', note], operands: 'text*' })

  const patchFiles: Spec = {
    operands: 'read*',
    options: `
  -p -C --directory --include --exclude --whitespace --patch-format <text>
  -n --no-verify !skip # skips the repository's hooks`,
  }

  const subcommands: Readonly<Record<string, Spec>> = {
    diff: viewing,
    log: viewing,
    show: viewing,
    whatchanged: viewing,
    'diff-tree': viewing,
    'diff-index': viewing,
    'diff-files': viewing,
    'range-diff': viewing,
    'rev-list': viewing,
    shortlog: { options: `${diffOptions}  --group <text>\n  -n --numbered\n  -s --summary\n  -e --email` },
    'format-patch': {
      options: `${diffOptions}
  -o --output-directory <write>
  -n --numbered
  -v --reroll-count <text>
  --to --cc --from --in-reply-to --subject-prefix --start-number --suffix --signature --base --rfc <text>
  --signature-file <read>`,
    },
    status: { options: '\n  -u --untracked-files --porcelain --ignored --column [text]' },
    add: {
      options: `${pathspecs}  --chmod <text>\n  -e --edit !run # opens the configured editor`,
      operands: 'read*',
    },
    rm: { options: pathspecs, operands: 'write*' },
    mv: { operands: 'change* write' },
    commit: {
      options: `${pathspecs}
  -c --reedit-message <run> # opens the configured editor
  -m --message -C --reuse-message --fixup --squash --author --date --cleanup --trailer <text>
  -F --file -t --template <read>
  -S --gpg-sign -u --untracked-files [text]
  -n --no-verify !skip # skips the repository's hooks
  -e --edit !run # opens the configured editor
  --no-edit
  --no-status
  --no-post-rewrite`,
    },
    push: {
      options: `
  --receive-pack --exec <run> # runs a program as the other side
  --repo <remote>
  -o --push-option <text>
  --force-with-lease --recurse-submodules --signed [text]
  --force
  --follow-tags
  --no-verify !skip # skips the repository's hooks`,
      operands: 'remote text*',
    },
    fetch: { options: transport, operands: 'remote text*' },
    pull: { options: transport + merging, operands: 'remote text*' },
    'ls-remote': { options: transport, operands: 'remote text*' },
    'fetch-pack': { options: transport, operands: 'remote text*' },
    'send-pack': { options: '\n  --receive-pack --exec <run>', operands: 'remote text*' },
    clone: {
      options: `
  -u --upload-pack <run> # runs a program as the other side
  -c --config <config> # sets configuration that can run programs
  --template <load> # installs hooks from a directory
  -o --origin -b --branch --depth --shallow-since --shallow-exclude -j --jobs --filter --server-option --ref-format <text>
  --reference --reference-if-able <tree>
  --separate-git-dir <grow>
  --bundle-uri <url>
  --recurse-submodules --recursive [text]`,
      operands: 'remote grow',
    },
    init: {
      options: `
  --template <load> # installs hooks from a directory
  --separate-git-dir <grow>
  -b --initial-branch --object-format --ref-format <text>
  --shared [text]`,
      operands: 'grow',
    },
    config: {
      options: `
  -f --file <read>
  --blob -t --type --default --comment --value --url <text>
  --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list -l --name-only --show-origin --show-scope
  -e --edit !run # opens the configured editor`,
      operands: 'text*',
      wary: true,
    },
    grep: {
      options: `
  -O --open-files-in-pager [run] # opens the matches in a program
  --ext-grep !run
  --textconv !run # runs the text converters that the configuration names
  --text -a
  -f <read>
  -e -A -B -C --after-context --before-context --context -m --max-count --max-depth --threads <text>
  --color --column [text]`,
      operands: 'text auto*',
      operandsWith: { '-e -f': 'auto*' },
    },
    blame: {
      options: `${diffOptions}
  --contents <read>
  --ignore-revs-file -S <read>
  --ignore-rev <text>`,
    },
    annotate: { options: '\n  --contents --ignore-revs-file -S <read>\n  -L --since --date --ignore-rev <text>' },
    rebase: {
      options: `
  -s --strategy -X --strategy-option --empty <text>
  -S --gpg-sign --rebase-merges [text]
  -m --merge
  --no-verify !skip # skips the repository's hooks
  -x --exec <run> # runs a command after every commit
  -i --interactive !run # opens the list of commits in an editor
  --edit-todo !run # opens the list of commits in an editor
  --onto -C --whitespace <text>`,
    },
    bisect: {
      subcommands: {
        run: runsAnything('runs the command that follows'),
        visualize: runsAnything('starts a viewer'),
        view: runsAnything('starts a viewer'),
        replay: { operands: 'config' },
      },
    },
    submodule: {
      subcommands: {
        foreach: runsAnything('runs a command in every submodule'),
        add: { options: '\n  -b --branch --name --depth <text>\n  --reference <tree>', operands: 'remote write' },
        update: { options: '\n  --depth -j --jobs --filter <text>\n  --reference <tree>' },
        'set-url': { operands: 'text remote' },
      },
    },
    difftool: { always: ['run', 'starts a diff program'] },
    mergetool: { always: ['run', 'starts a merge program'] },
    'filter-branch': runsAnything('runs commands over the whole history'),
    'filter-repo': runsAnything('runs code over the whole history'),
    archive: {
      options: `
  --exec <run> # runs a program as the other side
  --remote <remote>
  -o --output <write>
  --format --prefix --add-virtual-file --mtime <text>
  --add-file <read>`,
    },
    apply: {
      options: `
  --directory -p -C --include --exclude --whitespace <text>
  --build-fake-ancestor <output>
  --unsafe-paths !output # lets the patch write outside the working tree`,
      operands: 'read*',
    },
    am: patchFiles,
    mailinfo: { operands: 'output output' },
    mailsplit: { options: '\n  -o [write]\n  -d -f [text]', operands: 'read*' },
    'checkout-index': { options: '\n  --prefix <write>\n  --stage <text>' },
    'read-tree': {
      options: '\n  --index-output <write>\n  --prefix --exclude-per-directory <text>',
      operands: 'text*',
    },
    'interpret-trailers': {
      options: '\n  --in-place\n  --trailer --where --if-exists --if-missing <text>',
      operands: 'read*',
      operandsWith: { '--in-place': 'write*' },
    },
    'merge-file': {
      options: '\n  -L --marker-size --diff-algorithm <text>\n  -p --stdout',
      operands: 'write read read',
      operandsWith: { '-p': 'read*' },
    },
    lfs: { subcommands: { install: { always: ['system', 'installs hooks and configuration'] } }, operands: 'text*' },
    'request-pull': { operands: 'text remote text' },
    'send-email': { always: ['send', 'mails files away'], operands: 'read*' },
    'imap-send': { always: ['send', 'uploads messages'] },
    hook: { subcommands: { run: runsAnything('runs a hook') } },
    credential: { always: ['system', 'hands out or changes stored passwords'], operands: 'text*' },
    'credential-store': { always: ['system', 'hands out or changes stored passwords'], operands: 'text*' },
    'credential-cache': { always: ['system', 'hands out or changes stored passwords'], operands: 'text*' },
    daemon: { always: ['system', 'serves repositories to the network'] },
    instaweb: runsAnything('starts a web server and a browser'),
    'web--browse': runsAnything('starts a browser'),
    gui: runsAnything('starts a program with windows'),
    citool: runsAnything('starts a program with windows'),
    shell: runsAnything('starts a shell'),
    'for-each-repo': runsAnything('runs a command in many repositories'),
    'remote-ext': runsAnything('runs a command as a transport'),
    'remote-fd': runsAnything('takes over open descriptors'),
    'upload-pack': { operands: 'tree' },
    'receive-pack': { operands: 'grow' },
    'http-backend': runsAnything('serves a repository'),
    maintenance: {
      subcommands: {
        start: { always: ['system', 'installs a scheduled job'] },
        register: { always: ['system', 'changes the global configuration'] },
        unregister: { always: ['system', 'changes the global configuration'] },
        stop: { always: ['system', 'changes scheduled jobs'] },
      },
    },
    help: { options: '\n  -w --web !run # starts a browser\n  -m --man\n  -i --info', operands: 'text*' },
    worktree: {
      subcommands: {
        add: { options: '\n  -b -B --reason <text>', operands: 'grow text' },
        move: { operands: 'text grow' },
        list: {},
        remove: { operands: 'grow' },
        prune: {},
      },
    },
    reflog: {
      options: diffOptions,
      subcommands: { show: viewing, expire: { operands: 'text*' }, delete: { operands: 'text*' } },
    },
    stash: {
      subcommands: {
        show: viewing,
        list: viewing,
        push: { options: `${pathspecs}  -m --message <text>` },
        save: { operands: 'text*' },
      },
    },
    branch: {
      options: `
  --edit-description !run # opens the configured editor
  -u --set-upstream-to --sort --format --points-at <text>
  --contains --no-contains --merged --no-merged --color --column --abbrev -t --track [text]`,
      operands: 'text*',
    },
    tag: {
      options: `
  -e --edit !run # opens the configured editor
  -m --message -u --local-user --sort --format --points-at --cleanup <text>
  -F --file <read>
  -n --contains --no-contains --merged --no-merged --column --color [text]`,
      operands: 'text*',
    },
    checkout: { options: `${pathspecs}  -b -B --orphan --conflict <text>` },
    switch: { options: '\n  -c -C --create --force-create --orphan --conflict <text>', operands: 'text*' },
    restore: { options: `${pathspecs}  -s --source --conflict <text>`, operands: 'write*' },
    reset: { options: pathspecs },
    clean: { options: '\n  -e --exclude <text>', operands: 'grow*' },
    merge: { options: merging, operands: 'text*' },
    'cherry-pick': {
      options:
        '\n  -e --edit !run # opens the configured editor\n  -m --mainline -X --strategy-option --strategy --cleanup --empty <text>\n  -S [text]',
      operands: 'text*',
    },
    revert: {
      options:
        '\n  -e --edit !run # opens the configured editor\n  -m --mainline -X --strategy-option --strategy --cleanup <text>\n  -S [text]',
      operands: 'text*',
    },
    notes: {
      subcommands: {
        edit: runsAnything('opens the configured editor'),
        add: { options: '\n  -m --message -C -c <text>\n  -F --file <read>', operands: 'text*' },
        append: { options: '\n  -m --message -C -c <text>\n  -F --file <read>', operands: 'text*' },
      },
    },
    'cat-file': {
      options:
        '\n  --textconv !run # runs a text converter\n  --filters !run # runs a filter\n  --batch --batch-check [text]',
      operands: 'text*',
    },
    'hash-object': { options: '\n  --stdin-paths !list\n  -t --path <text>', operands: 'read*' },
    replace: { options: '\n  --edit !run # opens the configured editor\n  -e !run\n  --graft', operands: 'text*' },
    bundle: {
      subcommands: {
        create: { operands: 'write auto*' },
        verify: { operands: 'read' },
        unbundle: { operands: 'read text*' },
        'list-heads': { operands: 'read text*' },
      },
    },
    remote: {
      subcommands: {
        add: { options: '\n  -t -m <text>\n  --mirror [text]', operands: 'text remote' },
        'set-url': { operands: 'text remote text' },
      },
      operands: 'text*',
    },
    'rev-parse': { operands: 'text*' },
    'ls-files': {
      options: '\n  -x --exclude --exclude-per-directory --format --abbrev <text>\n  -X --exclude-from <read>',
    },
    'for-each-ref': { options: '\n  --format --sort --count --points-at --contains <text>', operands: 'text*' },
    describe: { options: '\n  --match --exclude --candidates <text>\n  --dirty --abbrev [text]', operands: 'text*' },
    'merge-base': { operands: 'text*' },
    'symbolic-ref': { options: '\n  -m <text>', operands: 'text*' },
    'update-ref': { options: '\n  -m <text>', operands: 'text*' },
    'fast-export': { options: '\n  --export-marks <output>\n  --import-marks <read>' },
    'fast-import': { options: '\n  --export-marks --export-pack-edges <output>\n  --import-marks <read>' },
    bugreport: { options: '\n  -o --output-directory <output>\n  -s --suffix <text>' },
    diagnose: { options: '\n  -o --output-directory <output>\n  -s --suffix <text>' },
    column: { options: '\n  --command --mode --width --indent --nl --padding <text>' },
    var: { operands: 'text*' },
  }

  return {
    git: {
      wraps: [
        {
          sub: 'bisect run',
          before,
          inspect: true,
          run: 'words',
        },
        {
          sub: 'submodule foreach',
          before,
          options: `
  -q
  --recursive --quiet`,
          inspect: true,
          run: 'joined',
        },
        {
          sub: 'rebase',
          before,
          options: `
  -x <shell>
  -i -q -v -f -n -p -m -r
  -s -X -C <text>
  -S [text]
  --exec <shell>
  --onto --strategy --strategy-option --empty --whitespace <text>
  --interactive --continue --abort --skip --quit --edit-todo --show-current-patch --root --autosquash --no-autosquash --autostash --no-autostash --keep-base --fork-point
  --no-fork-point --merge --apply --quiet --verbose --stat --no-stat --force-rebase --no-ff --signoff --reset-author-date --ignore-date --committer-date-is-author-date --update-refs
  --no-update-refs --no-gpg-sign --reapply-cherry-picks --no-reapply-cherry-picks --verify --no-verify
  --rebase-merges --gpg-sign [text]`,
          permutes: true,
          inspect: true,
          run: 'text',
        },
        {
          sub: 'merge-index',
          before,
          options: `
  -o -q`,
          operands: 0,
          inspect: true,
          run: 'words',
        },
      ],
      effects: `
  remote-read  | fetch, pull, clone, ls-remote, remote update, remote show, remote prune, submodule update, submodule add, submodule sync, lfs pull, lfs clone, lfs locks |  | talks to a remote
  remote-read  | lfs fetch, fetch-pack, http-fetch, svn clone, svn fetch, svn rebase, svn init |  | talks to a remote
  remote-read  | remote add | -f | talks to a remote
  remote-read  | archive | --remote | talks to a remote
  remote-write | push, lfs push, send-email, imap-send, svn, p4 submit, send-pack, http-push, lfs lock, lfs unlock, subtree push, annex sync, annex copy |  | sends commits to a remote
  destructive  | push | --force -f --force-with-lease --force-if-includes --mirror --delete -d --prune | rewrites or deletes content of a remote
  loss         | rm | -f --force | deletes files with their uncommitted changes
  loss         | reset | --hard --merge --keep | throws away uncommitted changes
  loss         | clean | -f --force -x -X -d | deletes untracked files
  loss         | checkout, checkout-index | -f --force | throws away uncommitted changes
  loss         | checkout | -B --pathspec-from-file --patch --ours --theirs | throws away changes or moves a branch
  loss         | switch | -f --force --discard-changes --force-create | throws away uncommitted changes or moves a branch
  loss         | restore |  | throws away uncommitted changes
  loss         | stash drop, stash clear |  | deletes stashed changes
  loss         | branch | -D -M | deletes or overwrites a branch that may not be merged
  loss         | branch | -f --force | moves a branch away from its commits
  loss         | tag | -d --delete -f --force | deletes or moves a tag
  loss         | fetch, pull | -f --force | overwrites branches of this repository
  loss         | rebase, filter-branch, filter-repo, fast-import, replay |  | rewrites history
  loss         | reflog expire, reflog delete, reflog drop, prune, prune-packed |  | deletes what could bring commits back
  loss         | gc, repack, maintenance run | --prune -d -a --unpack-unreachable --expire-to --cruft-expiration | deletes what could bring commits back
  loss         | update-ref, symbolic-ref | -d --delete --stdin | deletes a reference
  loss         | notes remove, notes prune, replace, lfs prune, bisect reset | -d --delete -f --force | deletes content of the repository
  loss         | worktree remove | -f --force | deletes a working tree with its changes
  loss         | worktree add | -B | moves a branch away from its commits
  loss         | submodule deinit | -f --force --all | deletes a submodule with its changes
  loss         | submodule update | -f --force | throws away the changes of submodules
  loss         | read-tree | --reset -u | throws away uncommitted changes
  loss         | apply | --reverse -R | takes changes back`,
      rules: [gitRules, gitHistoryRules, kindRules],
      stops: true,
      options: `
  -c <text>
  --config-env <config> # sets configuration that can run programs
  --exec-path [run] # runs git's own programs from another directory
  -C <tree>
  --git-dir <config> # uses another repository's configuration, which can run programs
  --work-tree <tree>
  -p --paginate !run # runs the pager that the configuration names
  --namespace --super-prefix --attr-source --list-cmds <text>
  --html-path
  --no-pager -P
  --bare
  --version`,
      subcommands,
      otherwise: {},
    },
    'git-lfs': {
      effects: `
  remote-read  | fetch, pull, clone, locks |  | talks to a remote
  remote-write | push, lock, unlock |  | sends files to a remote
  loss         | prune |  | deletes content of the repository`,
      operands: 'text*',
    },
    'gitk tig lazygit': { always: ['run', 'can run any command from its own screen'] },
    'git-upload-pack git-receive-pack git-upload-archive git-shell': { always: ['run', 'serves a repository'] },
  }
}
