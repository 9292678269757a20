/** Effects of git. */

export const gitEffects: string = `
remote-read  | git fetch, git pull, git clone, git ls-remote, git remote update, git remote show, git remote prune, git submodule update, git submodule add, git lfs pull, git lfs fetch, git fetch-pack | | talks to a remote
remote-read  | git archive | --remote | talks to a remote
remote-write | git push, git lfs push, git send-email, git imap-send, git svn dcommit, git p4 submit, git send-pack, git subtree push | | sends commits to a remote
remote-write | git annex sync, git annex copy, hg push, svn commit, svn ci, jj git push, bzr push, fossil push, sl push | | sends commits to a remote
destructive  | git rm | -f --force | deletes files with their uncommitted changes
destructive  | git push | --force -f --force-with-lease --force-if-includes --mirror --delete -d --prune | rewrites or deletes what a remote holds
destructive  | git reset | --hard --merge --keep | throws away uncommitted changes
destructive  | git clean | -f --force -x -X -d | deletes untracked files
destructive  | git checkout | -f --force | throws away uncommitted changes
destructive  | git switch | -f --force --discard-changes | throws away uncommitted changes
destructive  | git stash drop, git stash clear | | deletes stashed changes
destructive  | git branch | -D | deletes a branch that may not be merged
destructive  | git branch | -f --force | moves a branch away from its commits
destructive  | git tag | -d --delete -f --force | deletes or moves a tag
destructive  | git rebase, git filter-branch, git filter-repo, git fast-import | | rewrites history
destructive  | git reflog expire, git reflog delete, git prune | | deletes what could bring commits back
destructive  | git gc | --prune | deletes what could bring commits back
destructive  | git update-ref | -d --delete | deletes a reference
destructive  | git worktree remove | -f --force | deletes a working tree with its changes
destructive  | git submodule deinit | -f --force | deletes a submodule with its changes
destructive  | git read-tree | --reset | throws away uncommitted changes
destructive  | git checkout-index | -f --force | throws away uncommitted changes
`
