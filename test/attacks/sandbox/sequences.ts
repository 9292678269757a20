/** Attacks that take more than one command, or more than the command: what one leaves for the next, for the host, or reaches by its streams. */

/** A row of commands, each in its own sandbox, that together must not get at anything. */
export interface Sequence {
  readonly name: string
  readonly note: string
  /** bash on the host, in the project, before everything. `$OUTSIDE` is a folder beside the project. */
  readonly before?: string
  readonly manifest?: string
  /** True: the project is the home directory. */
  readonly home?: boolean
  /** bash inside, one sandbox after the other; between them, `host:` lines are what the person does outside. */
  readonly commands: readonly string[]
  /** Streams of the last command: what a shell's redirections would make of them. */
  readonly streams?: string
  /** What is said when the command is not even started. */
  readonly refused?: RegExp
  /** bash on the host afterwards; it escaped if this or a command said ESCAPED, or a command said TOPSECRET. */
  readonly after?: string
}

const MANIFEST = 'schema_version = 1\n'

export const SEQUENCES: readonly Sequence[] = [
  {
    name: 'denied folder moved with its parent',
    note: 'a deny rule is about a path, so the path must stay',
    before: 'mkdir -p data/customers; echo TOPSECRET > data/customers/a.csv',
    manifest: `${MANIFEST}[capabilities.deny.read]\npaths = ["data/customers/**"]\n`,
    // Written so that no rule sees the name: the kernel has to hold it.
    commands: ['mv data moved', 'd=$(printf dat)a; cat $d/customers/a.csv moved/customers/a.csv'],
  },
  {
    name: 'denied file moved with its parents',
    note: 'the same, two levels up',
    before: 'mkdir -p a/b; echo TOPSECRET > a/b/plan.txt',
    manifest: `${MANIFEST}[capabilities.deny.read]\npaths = ["a/b/plan.txt"]\n`,
    commands: ['mv a/b a/c; mv a moved', 'd=$(printf b); cat a/$d/plan.txt a/c/plan.txt moved/*/plan.txt'],
  },
  {
    name: 'secret place moved with its parent',
    note: 'a place in the home directory is one by its path',
    home: true,
    before: 'mkdir -p .config/gcloud; echo TOPSECRET > .config/gcloud/credentials.db',
    commands: ['mv .config moved', 'cat .config/gcloud/credentials.db moved/gcloud/credentials.db'],
  },
  {
    name: 'link to a secret removed',
    note: 'the file is one because a link with a secret’s name points to it',
    before: 'mkdir config vault; echo TOPSECRET > vault/prod.txt; ln -s ../vault/prod.txt config/.env',
    commands: ['rm config/.env', 'cat vault/prod.txt'],
  },
  {
    name: 'secret place’s link removed',
    note: 'the same for a place in the home directory',
    home: true,
    before: 'mkdir dotfiles; echo TOPSECRET > dotfiles/gitlogin; ln -s dotfiles/gitlogin .git-credentials',
    commands: ['rm .git-credentials', 'cat dotfiles/gitlogin'],
  },
  {
    name: 'target of a link moved with its parent',
    note: 'the link would point nowhere, and the file be nobody’s secret',
    before: 'mkdir config vault; echo TOPSECRET > vault/prod.txt; ln -s ../vault/prod.txt config/.env',
    commands: ['mv vault moved', 'cat vault/prod.txt moved/prod.txt'],
  },
  {
    name: 'second name of a secret created in advance',
    note: 'a hard link, before a person writes the secret',
    commands: ['echo > notes.txt; ln notes.txt .env', 'host: echo TOPSECRET >> .env', 'cat notes.txt'],
  },
  {
    name: 'folder changed before the index is kept',
    note: 'a big tree’s index is kept for the next process, and must know every folder',
    before: 'mkdir -p src more; for i in $(seq 600); do mkdir more/$i; done; echo TOPSECRET > src/.env; sleep 0.2',
    commands: ['touch src/new', 'cat src/.env'],
  },
  {
    name: 'hook behind a folder that cannot be listed',
    note: 'git finds it by name',
    commands: ['git init -q x; echo "#!/bin/sh" > x/.git/hooks/pre-commit; chmod 0311 x/.git/hooks x/.git'],
    after: '[ -e x/.git/hooks/pre-commit ] && echo ESCAPED',
  },
  {
    name: 'configuration behind a folder that cannot be listed',
    note: 'of the project’s own repository, in a file that was not there',
    before: 'git init -q .',
    commands: ['printf "[core]\\n\\tfsmonitor = evil\\n" > .git/config.worktree; chmod 0311 .git'],
    after: 'grep -q evil .git/config.worktree && echo ESCAPED',
  },
  {
    name: 'editor settings behind a folder that cannot be listed',
    note: 'editors find them by name',
    commands: ['mkdir .vscode; echo "{}" > .vscode/tasks.json; chmod 0311 .vscode'],
    after: '[ -e .vscode/tasks.json ] && echo ESCAPED',
  },
  {
    name: 'editor settings behind a link',
    note: 'the folder’s name is protected, and the file’s is not',
    commands: ['mkdir conf; echo "{}" > conf/tasks.json; ln -s conf .vscode'],
    after: '[ -e .vscode/tasks.json ] && echo ESCAPED',
  },
  {
    name: 'editor settings behind a link that was there',
    note: 'what is written at its target takes effect under its name',
    before: 'mkdir conf; ln -s conf .vscode',
    commands: ['echo "{}" > conf/tasks.json'],
    after: '[ -e .vscode/tasks.json ] && echo ESCAPED',
  },
  {
    name: 'link in place of a settings folder',
    note: 'what it points to is filled later, by the next command or a file tool',
    commands: ['mkdir conf; ln -s conf .vscode'],
    after: 'echo "{}" > conf/tasks.json; [ -e .vscode/tasks.json ] && echo ESCAPED',
  },
  {
    name: 'editor settings behind a link that points outside',
    note: 'what is there already would take effect here',
    before: 'echo "{}" > "$OUTSIDE/tasks.json"',
    commands: ['ln -s "$OUTSIDE" .vscode'],
    after: '[ -e .vscode/tasks.json ] && echo ESCAPED; [ -e "$OUTSIDE/tasks.json" ] || echo ESCAPED',
  },
  {
    name: 'hook in a folder that cannot be written',
    note: 'it has to go all the same',
    commands: ['git init -q x; echo "#!/bin/sh" > x/.git/hooks/pre-commit; chmod 0555 x/.git/hooks x/.git x'],
    after: '[ -e x/.git/hooks/pre-commit ] && echo ESCAPED',
  },
  {
    name: 'settings folder that cannot be written',
    note: 'to move it takes the right to it',
    commands: ['mkdir -p a/.idea; touch a/.idea/workspace.xml; chmod 0555 a/.idea a'],
    after: '[ -e a/.idea ] && echo ESCAPED',
  },
  {
    name: 'hook below a name that is not UTF-8',
    note: 'a folder that JavaScript cannot name',
    commands: [`d=$'x\\377'; git init -q "$d"; echo "#!/bin/sh" > "$d/.git/hooks/pre-commit"`],
    after: `[ -e $'x\\377/.git/hooks/pre-commit' ] && echo ESCAPED`,
  },
  {
    name: 'hook of a repository whose name is not UTF-8',
    note: 'one that was there before',
    before: `git init -q $'x\\377'`,
    commands: [`echo "#!/bin/sh" > $'x\\377/.git/hooks/pre-commit'`],
    after: `[ -e $'x\\377/.git/hooks/pre-commit' ] && echo ESCAPED`,
  },
  {
    name: 'secret folder below a name that is not UTF-8',
    note: 'the index knows its files by neither name',
    before: `mkdir -p $'x\\377/.ssh' .aws; echo TOPSECRET | tee $'x\\377/.ssh/deploy' > $'.aws/x\\377'`,
    commands: ['cat */.ssh/deploy .aws/*'],
  },
  {
    name: 'workspace with a name that is not UTF-8',
    note: 'a protected file, not a folder',
    commands: [`echo "{}" > $'x\\377.code-workspace'`],
    after: `[ -e $'x\\377.code-workspace' ] && echo ESCAPED`,
  },
  {
    name: 'command in a stopped rebase',
    note: '`git rebase --continue` would run it on the host',
    before: 'git init -q .; echo 1 > f; git add f; git commit -qm 1; echo 2 > f; git commit -qam 2',
    commands: [
      `export GIT_SEQUENCE_EDITOR='printf "break\\nexec touch ran\\n" >'; git -c user.name=a -c user.email=b rebase -i HEAD~1`,
    ],
    after: 'git rebase --continue; [ -e ran ] && echo ESCAPED',
  },
  {
    name: 'merge strategy in a stopped rebase',
    note: 'git runs git-merge-STRATEGY, and a slash in it points into the project',
    before: 'git init -q .; echo 1 > f; git add f; git commit -qm 1',
    commands: [
      'mkdir git-merge-x; printf "#!/bin/sh\\n" > git-merge-x/evil; mkdir .git/rebase-merge; printf x/evil > .git/rebase-merge/strategy',
    ],
    after: '[ -e .git/rebase-merge/strategy ] && echo ESCAPED',
  },
  {
    name: 'merge strategy in a row of picks',
    note: 'the same for `git cherry-pick --continue`',
    before: 'git init -q .',
    commands: ['mkdir .git/sequencer; printf "[options]\\n\\tstrategy = x/evil\\n" > .git/sequencer/opts'],
    after: '[ -e .git/sequencer/opts ] && echo ESCAPED',
  },
  {
    name: 'stopped rebase behind a link',
    note: 'its folder may be a link to one in the project',
    before: 'git init -q .',
    commands: ['mkdir state; echo "exec touch ran" > state/git-rebase-todo; ln -s ../state .git/rebase-merge'],
    after: '[ -e .git/rebase-merge/git-rebase-todo ] && echo ESCAPED',
  },
  {
    name: 'input opened for writing',
    note: 'a file that was given for reading',
    before: 'echo untouched > "$OUTSIDE/input"',
    commands: ['echo changed > /proc/self/fd/0'],
    streams: '< "$OUTSIDE/input"',
    after: 'grep -q changed "$OUTSIDE/input" && echo ESCAPED',
  },
  {
    name: 'input that is a folder',
    note: 'everything below it would be open',
    before: 'echo TOPSECRET > "$OUTSIDE/secret"',
    commands: ['cat /proc/self/fd/0/secret'],
    streams: '< "$OUTSIDE"',
    refused: /stream-unfit|^RAN$/m,
  },
  {
    name: 'output opened for reading',
    note: 'a file that was given to append to',
    before: 'echo TOPSECRET > "$OUTSIDE/log"',
    commands: ['exec 5< /proc/$$/fd/1; timeout 1 cat <&5 >&2'],
    streams: '>> "$OUTSIDE/log"',
  },
  {
    name: 'output emptied',
    note: 'a file that was given to append to',
    before: 'echo kept > "$OUTSIDE/log"',
    commands: ['timeout 1 truncate -s 0 /proc/self/fd/1; : > /proc/self/fd/1'],
    streams: '>> "$OUTSIDE/log"',
    after: 'grep -q kept "$OUTSIDE/log" || echo ESCAPED',
  },
  {
    name: 'mode of an error stream',
    note: 'a file that was given to append to',
    before: 'echo kept > "$OUTSIDE/log"; chmod 600 "$OUTSIDE/log"',
    commands: ['chmod 666 /proc/self/fd/2'],
    streams: '2>> "$OUTSIDE/log"',
    after: '[ "$(stat -c %a "$OUTSIDE/log")" = 666 ] && echo ESCAPED',
  },
]
