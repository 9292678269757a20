/** What makes git more than their name says: a hazard code, or a path outside the project, for each line. */

import { describe, expect, test } from 'vitest'
import { findingsOf, rowsOf } from '../../../../test/command-line.ts'

const table = `
option-writes-file | git log --output=x
option-writes-file | git show --output x HEAD
option-writes-file | git diff --outp=x
option-runs-program | git diff --ext-diff
option-runs-program | git log --ext-diff -p
read:/home/u/.ssh/id_rsa | git diff --no-index /dev/null ~/.ssh/id_rsa
option-runs-program | git grep -Ovim foo
option-runs-program | git grep -O foo
option-runs-program | git grep --open-files=sh foo
option-runs-program | git fetch --upload-pack='sh -c id' origin
option-runs-program | git fetch --upload-pa=x origin
option-runs-program | git pull --upload-pack x
option-runs-program | git ls-remote --upload-pack=./evil .
option-runs-program | git clone -u 'sh -c id' host:x
option-runs-program | git clone --upload-pack=./e x y
option-reads-config | git clone -c core.sshCommand=id x
option-reads-config | git clone --config=core.fsmonitor=id x
option-loads-code | git clone --template=/tmp/t x
option-runs-program | git clone ext::sh%20-c%20id
option-runs-program | git remote add x ext::sh
option-runs-program | git fetch ext::sh
option-runs-program | git push --receive-pack=./e origin
option-runs-program | git push --exec=./e origin
option-skips-checks | git push --no-verify
option-runs-program | git archive --remote=ext::sh HEAD
option-runs-program | git archive --exec=./e --remote=. HEAD
changes-config | git config core.pager 'sh -c id'
changes-config | git config --global user.name x
changes-config | git config --add core.hooksPath /tmp/h
changes-config | git config core.fsmonitor ./e
changes-config | git config --file ~/.gitconfig a.b c
option-runs-program | git config -e
changes-config | git config diff.external ./e
changes-config | git config credential.helper '!id'
changes-config | git config url.https://evil/.insteadOf https://github.com/
changes-config | git config include.path /tmp/x
changes-config | git config --replace-all alias.x '!sh'
changes-config | git config set alias.x '!sh'
changes-config | git config filter.x.clean id
option-skips-checks | git commit -n -m x
option-skips-checks | git commit -nm x
option-skips-checks | git commit --no-ver -m x
option-skips-checks | git commit -anm x
read:/home/u/.ssh/id_rsa | git commit -F ~/.ssh/id_rsa
read:/home/u/.bashrc | git commit --template=/home/u/.bashrc
option-runs-program | git rebase -x id HEAD~1
option-runs-program | git rebase --exec=id HEAD~1
option-runs-program | git rebase -i HEAD~2
option-runs-program | git bisect run ./x
option-runs-program | git submodule foreach id
option-runs-program | git submodule add ext::sh x
option-runs-program | git difftool -x id
option-runs-program | git difftool --extcmd=id HEAD
option-runs-program | git mergetool
option-runs-program | git filter-branch --tree-filter id
option-writes-file | git apply --unsafe-paths x.patch
read:/etc/shadow | git blame --contents /etc/shadow f
write:/tmp/w | git worktree add /tmp/w
option-loads-code | git init --template=/tmp/x
option-skips-checks | git am --no-verify x
option-sends-file | git send-email x.patch
option-runs-program | git hook run pre-commit
changes-system | git credential fill
changes-system | git maintenance start
option-runs-program | git help -w log
changes-config | git -c core.pager=id log
changes-config | git -c alias.x='!id' x
option-runs-program | git --exec-path=/tmp/x status
option-reads-config | git --git-dir=/tmp/x status
option-reads-config | git --config-env core.pager=X log
option-runs-program | git -p log
option-writes-file | git log --format=%H --output=/tmp/x
option-runs-program | git cat-file --textconv HEAD:x
option-runs-program | git diff --textconv
option-runs-program | git notes edit
option-runs-program | git branch --edit-description
option-runs-program | git add -e
write:/tmp/x | git bundle create /tmp/x HEAD
write:/tmp/x | git format-patch -o /tmp/x HEAD~1
option-runs-program | git show --textconv HEAD:x
option-writes-file | git shortlog --output=x
option-writes-file | git fast-export --export-marks=/etc/x HEAD
option-reads-list | git stash push --pathspec-from-file=/etc/shadow
option-reads-list | git add --pathspec-from-file=/etc/shadow
dynamic-argument | git log $x
glob-could-be-option | git diff *
option-writes-file | git log --outpu x
option-writes-file | git diff --output=.git/hooks/x
option-runs-program | git log -p --ext-diff
option-runs-program | git stash show --ext-diff
option-writes-file | git stash show --output=x
option-writes-file | git reflog --output=x
option-writes-file | git reflog show --output=x
option-writes-file | git whatchanged --output=x
option-writes-file | git diff-tree --output=x HEAD
option-writes-file | git range-diff --output=x a b
option-skips-checks | git merge --no-verify x
option-runs-program | git cherry-pick --edit x
option-runs-program | git revert -e x
read:/home/u/.ssh/id_rsa | git tag -F ~/.ssh/id_rsa x
read:/home/u/x | git notes add -F /home/u/x
read:/home/u/x | git merge -F /home/u/x y
option-runs-program | git fetch --exec=x origin
option-runs-program | git fetch-pack --exec=x .
read:/etc/x | git clone file:///etc/x y
read:/home/u/x | git clone /home/u/x y
write:/home/u/y | git clone x ~/y
write:/etc/x | git clone --separate-git-dir=/etc/x y z
read:/home/u/x | git clone --reference /home/u/x y z
option-reads-config | git clone --recurse-submodules -c protocol.ext.allow=always x
changes-config | git -c protocol.ext.allow=always clone x
option-runs-program | git pull ext::x
option-runs-program | git push ext::x
read:/home/u/x | git push ~/x
read:/home/u/x | git submodule update --reference /home/u/x
changes-config | git config core.editor vim
changes-config | git config --local core.pager less
changes-config | git config --worktree core.hooksPath x
changes-config | git config --unset core.hooksPath
changes-config | git config core.worktree /etc
changes-config | git config remote.origin.url ext::x
changes-config | git config core.sshCommand 'ssh -i x'
changes-config | git config --global alias.x y
changes-config | git config --system a.b c
changes-config | git config gpg.program ./e
changes-config | git config merge.x.driver id
changes-config | git config protocol.allow always
changes-config | git config http.proxy http://evil
option-reads-list | git checkout -f --pathspec-from-file=x
option-writes-file | git log --format='%(trailers)' --output=x
write:/etc/x | git archive --output=/etc/x HEAD
write:/home/u/x.tar | git archive -o ~/x.tar HEAD
read:/home/u/x | git bundle unbundle ~/x
read:/home/u/x.patch | git apply ~/x.patch
read:/home/u/x.patch | git am ~/x.patch
read:/home/u/a | git diff ~/a ~/b
read:/home/u/x | git add ~/x
read:/home/u/x | git blame -S /home/u/x f
read:/home/u/x | git ls-files -X /home/u/x
read:/home/u/.ssh/id_rsa | git hash-object -w ~/.ssh/id_rsa
read:/home/u/x | git hash-object -w --no-filters ~/x
read:/home/u/x | git update-index --add ~/x
option-writes-file | git mailinfo a b
option-writes-file | git bugreport -o /etc
option-runs-program | git rebase --exec 'id' main
option-runs-program | git rebase --exe=id main
option-reads-list | git stash push -m x --pathspec-from-file=/etc/x
write:/x | git worktree add ../x
write:/home/u/x | git worktree add ~/x -b y
write:/home/u/x | git init ~/x
write:/etc/x | git init --separate-git-dir=/etc/x
option-runs-program | git send-pack --receive-pack=x .
option-runs-program | git gui
changes-system | git daemon --export-all
option-runs-program | git instaweb
option-runs-program | git shell -c x
option-runs-program | git http-backend
read:/home/u/x | git upload-pack ~/x
option-runs-program | git replace -e x
option-runs-program | git commit -e
`

describe('git: options and operands that need a person', () => {
  test.each(rowsOf(table))('%s: %s', (expected, line) => {
    expect(findingsOf(line)).toContain(expected)
  })
})
