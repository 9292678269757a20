/** What commands plant for somebody else to run, one row each: every row has its own folder, and all of them run in one sandbox. */

export interface Plant {
  readonly name: string
  /** What the person has there already. */
  readonly before?: string
  /** A shell script, in the row's folder. */
  readonly script: string
  /** A file that must not be there, or not hold `text`. */
  readonly planted?: string
  readonly text?: string
  /** A path that must not be a link. */
  readonly link?: string
  /** Without this path too, the plant does nothing. */
  readonly needs?: string
  /** A folder in which git must not know the setting `core.fsmonitor`. */
  readonly repository?: string
  /** A git directory whose `core.worktree` must not lead out of the project. */
  readonly workingTree?: string
}

const REPOSITORY = 'git init -q r && cd r &&'
const EVIL = "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = ./evil\\n'"
const MARKS = "mkdir -p objects refs; echo 'ref: refs/heads/main' > HEAD"
/** A repository in which the person has committed. */
const COMMITTED = 'git init -q . && git -c user.name=x -c user.email=x@example.com commit -q --allow-empty -m 1'

const names: readonly Plant[] = [
  { name: 'direnv', script: 'echo evil > .envrc', planted: '.envrc' },
  { name: 'another case', script: 'echo evil > .ENVRC', planted: '.ENVRC' },
  { name: 'a code point that HFS+ ignores', script: "echo evil > '\u200c.envrc'", planted: '\u200c.envrc' },
  { name: 'by a rename', script: 'echo evil > x; mv x .envrc', planted: '.envrc' },
  { name: 'by a hard link', script: 'echo evil > x; ln x .envrc', planted: '.envrc' },
  { name: 'by a symbolic link', script: 'echo evil > x; ln -s x .envrc', planted: '.envrc' },
  { name: 'through a link to its folder', script: 'mkdir d; ln -s d l; echo evil > l/.envrc', planted: 'd/.envrc' },
  { name: 'an editor task', script: 'mkdir -p .vscode; echo evil > .vscode/tasks.json', planted: '.vscode/tasks.json' },
  {
    name: 'a folder that becomes one',
    script: 'mkdir plain; echo evil > plain/tasks.json; mv plain .vscode',
    planted: '.vscode/tasks.json',
  },
  {
    name: 'exchanged folders',
    script:
      "mkdir -p .vscode p; echo e > p/tasks.json; mv --exchange p .vscode || python3 -c \"import ctypes;ctypes.CDLL(None).renameat2(-100,b'p',-100,b'.vscode',2)\"",
    planted: '.vscode/tasks.json',
  },
  { name: 'the manifest', script: 'echo evil > "$TOP/cordon.toml"', planted: '../cordon.toml' },
  {
    name: 'a whiteout in its place',
    script: "echo evil > x; python3 -c \"import ctypes;ctypes.CDLL(None).renameat2(-100,b'x',-100,b'.envrc',4)\"",
    planted: '.envrc',
  },
]

/** Files that tools run or follow by themselves. */
const files: readonly Plant[] = [
  ['.yarnrc.yml', 'yarnPath: ./evil.cjs'],
  ['.pnpmfile.cjs', 'evil'],
  ['.npmrc', 'https-proxy=http://evil.example'],
  ['rust-toolchain.toml', '[toolchain]'],
  ['.cargo/config.toml', '[build]'],
  ['mise.toml', '[tools]'],
  ['.tool-versions', 'node path:/evil'],
  ['.pdbrc', 'import os'],
  ['.hg/sharedpath', '/evil'],
  ['lefthook.yml', 'pre-commit:'],
  ['.envrc.local', 'evil'],
  ['.direnv/flake-profile-1.rc', 'evil'],
  ['jupyter_server_config.py', 'evil'],
  ['.lfsconfig', '[lfs] url = https://evil.example/'],
].map(([path, text]) => ({
  name: path!,
  script: `mkdir -p "$(dirname ${path})"; echo '${text}' > ${path}`,
  planted: path!,
}))

/** Settings that run something, or send credentials elsewhere. */
const settings: readonly Plant[] = [
  ['core.fsmonitor', './evil'],
  ['core.hooksPath', 'evil'],
  ['http.proxy', 'http://evil.example'],
  ['http.sslVerify', 'false'],
  ['http.curloptResolve', 'example.com:443:evil'],
  ['http.extraHeader', 'X: evil'],
  ['url.https://evil.example/.insteadOf', 'https://example.com/'],
  ['remote.origin.pushurl', 'https://evil.example/x'],
  ['remote.pushDefault', 'https://evil.example/x'],
  ['mergetool.x.path', './evil'],
  ['merge.tool', './evil'],
  ['include.path', '../evil'],
  ['core.worktree', '../link'],
].map(([key, value]) => ({
  name: `git config ${key}`,
  script: `${REPOSITORY} ln -s / link; git config '${key}' '${value}'`,
  planted: 'r/.git/config',
  text: key!.slice(key!.lastIndexOf('.') + 1),
}))

const git: readonly Plant[] = [
  { name: 'a git hook', script: `${REPOSITORY} echo evil > .git/hooks/pre-commit`, planted: 'r/.git/hooks/pre-commit' },
  {
    name: 'a sample that becomes a hook',
    script: `${REPOSITORY} mv .git/hooks/pre-commit.sample .git/hooks/pre-commit`,
    planted: 'r/.git/hooks/pre-commit',
  },
  {
    name: 'a folder of hooks',
    script: 'mkdir -p p/hooks; echo evil > p/hooks/pre-commit; mv p .git',
    planted: '.git/hooks/pre-commit',
  },
  {
    name: 'a key appended by hand',
    script: `${REPOSITORY} printf '[core]\\nfsmonitor=./evil\\n' >> .git/config`,
    planted: 'r/.git/config',
    text: 'fsmonitor',
  },
  {
    name: 'a configuration that is still open',
    script: `${REPOSITORY} cp .git/config .git/config.lock; exec 3>>.git/config.lock; mv .git/config.lock .git/config; printf '[core]\\nfsmonitor=./evil\\n' >&3`,
    planted: 'r/.git/config',
    text: 'fsmonitor',
  },
  { name: 'a pointer of git', script: `${REPOSITORY} echo '../evil ' > .git/commondir`, planted: 'r/.git/commondir' },
  {
    name: 'a hook where an existing core.hooksPath points, created only now',
    before: 'git init -q . && git config core.hooksPath .own-hooks',
    script: 'mkdir .own-hooks; echo evil > .own-hooks/pre-commit',
    planted: '.own-hooks/pre-commit',
  },
  {
    name: 'the same in a worktree',
    before: `${COMMITTED} && git config core.hooksPath tools/own-hooks`,
    script: 'git worktree add -q w; mkdir -p w/tools/own-hooks; echo evil > w/tools/own-hooks/pre-commit',
    planted: 'w/tools/own-hooks/pre-commit',
  },
  {
    name: 'a folder of hooks that comes by a rename',
    before: 'git init -q . && git config core.hooksPath tools/own-hooks',
    script: 'mkdir -p p/own-hooks; echo evil > p/own-hooks/pre-commit; mv p tools',
    planted: 'tools/own-hooks/pre-commit',
  },
  {
    name: 'the file of an existing include.path, created only now',
    before: 'git init -q . && git config include.path ../later.inc',
    script: `${EVIL} > later.inc`,
    repository: '.',
  },
  {
    name: 'the same by a rename',
    before: 'git init -q . && git config include.path ../later.inc',
    script: `${EVIL} > x; mv x later.inc`,
    repository: '.',
  },
  {
    name: 'the file that an included file includes',
    before:
      "git init -q . && git config include.path ../one.inc && printf '[include]\\n\\tpath = two.inc\\n' > one.inc",
    script: `${EVIL} > two.inc`,
    repository: '.',
  },
]

/** Folders that git takes for a repository, by any name. */
const repositories: readonly Plant[] = [
  ['settings first', `${EVIL} > config; ${MARKS}`],
  ['settings last', `${MARKS}; ${EVIL} > config`],
  ['settings by a rename', `${MARKS}; ${EVIL} > x; mv x config`],
  ['settings by a hard link', `${MARKS}; ${EVIL} > x; ln x config`],
  ['settings by a link', `${MARKS}; ${EVIL} > x; ln -s x config`],
  ['settings by an open descriptor', `exec 3>config; ${MARKS}; ${EVIL} >&3`],
  ['the last mark by a rename', `${EVIL} > config; mkdir x refs; echo 'ref: refs/heads/main' > HEAD; mv x objects`],
  ['the last mark by a link', `${EVIL} > config; mkdir x refs; echo 'ref: refs/heads/main' > HEAD; ln -s x objects`],
  ['HEAD by a link', `${EVIL} > config; mkdir objects refs; ln -s refs/heads/main HEAD`],
  [
    'HEAD by an exchange',
    `${EVIL} > config; mkdir -p objects refs ../o; echo 'ref: refs/heads/main' > ../o/x; echo > y; mv ../o/x y; ln y HEAD`,
  ],
  [
    'the settings of git init, changed through a second name',
    'git init -q --bare .; ln config x; git config --file x core.fsmonitor ./evil; cp x y; cat y > config',
  ],
].map(([name, script]) => ({ name: `a bare repository: ${name}`, script: `mkdir b; cd b; ${script}`, repository: 'b' }))

const pointers: readonly Plant[] = [
  {
    name: 'a pointer to a folder that is not a repository by its name',
    script: `mkdir -p x s; cd x; ${MARKS}; ${EVIL} > config; echo 'gitdir: ../x' > ../s/.git`,
    repository: 's',
  },
  {
    name: 'a link instead of a pointer',
    script: `mkdir -p x s; cd x; ${MARKS}; ${EVIL} > config; ln -s ../x ../s/.git`,
    repository: 's',
  },
  {
    name: 'a hook of a bare repository',
    script: `mkdir b; cd b; ${MARKS}; mkdir hooks; echo evil > hooks/post-update`,
    planted: 'b/hooks/post-update',
  },
  {
    name: 'a commondir whose name ends in a blank',
    script: `mkdir -p "c " s/.git; cd s/.git; ${MARKS}; cd "../../c "; mkdir objects refs; ${EVIL} > config; echo '../../c ' > ../s/.git/commondir`,
    repository: 's',
  },
  {
    name: 'a commondir before anything else',
    script: `mkdir -p c/objects c/refs x s; ${EVIL} > c/config; echo ../c > x/commondir; echo 'ref: refs/heads/main' > x/HEAD; echo 'gitdir: ../x' > s/.git`,
    repository: 's',
  },
  {
    name: 'the commondir of a worktree, written over',
    before: `${COMMITTED} && git worktree add -q w`,
    script: `mkdir -p c/objects c/refs; ${EVIL} > c/config; echo ../../../c > .git/worktrees/w/commondir`,
    repository: 'w',
  },
  {
    name: 'the commondir of a new worktree',
    before: COMMITTED,
    script: `mkdir -p c/objects c/refs .git/worktrees/n w; ${EVIL} > c/config; cd .git/worktrees/n; echo ../../../c > commondir; echo 'ref: refs/heads/main' > HEAD; echo "gitdir: $PWD" > ../../../w/.git`,
    repository: 'w',
  },
  {
    name: 'the commondir of a new worktree, before its repository is one',
    script: `mkdir -p c/objects c/refs x/objects x/refs x/worktrees/n w; ${EVIL} > c/config; cd x/worktrees/n; echo ../../../c > commondir; cd ../..; echo 'ref: refs/heads/main' | tee HEAD > worktrees/n/HEAD; echo "gitdir: $PWD/worktrees/n" > ../w/.git`,
    repository: 'w',
  },
  {
    name: 'a worktree’s folder that is moved to where its commondir means another',
    before: `${COMMITTED} && git worktree add -q w`,
    script: `mkdir -p a/b a/objects a/refs s; ${EVIL} > a/config; mv .git/worktrees/w a/b/w; echo 'gitdir: ../a/b/w' > s/.git`,
    repository: 's',
  },
  {
    name: 'a shared repository that loses its HEAD',
    script: `git init -q --bare x; mkdir -p x/worktrees/n s; cd x/worktrees/n; echo 'ref: refs/heads/main' > HEAD; echo ../.. > commondir; cd ../..; rm HEAD; ${EVIL} > new; mv new config; echo 'gitdir: ../x/worktrees/n' > ../s/.git`,
    repository: 's',
  },
]

/** A working tree that was judged when it was named, and points elsewhere afterwards: to `/`, or to a folder of it. */
const NAMED = 'git init -q r; mkdir -p d/tmp; git -C r config core.worktree ../../d/tmp;'
const EXCHANGE = 'python3 -c "import ctypes,sys;ctypes.CDLL(None).renameat2(-100,b\'x\',-100,sys.argv[1].encode(),2)"'
const BEHIND = '../../d/e/../../tmp'
const workingTrees: readonly Plant[] = [
  ['a link in its place', `${NAMED} rmdir d/tmp; ln -s / d/tmp`],
  ['a link instead of its folder', `${NAMED} rm -r d; mkdir e; ln -s / e/tmp; ln -s e d`],
  ['a link that is renamed', `${NAMED} rmdir d/tmp; ln -s / x; mv x d/tmp`],
  ['a second name of a link', `${NAMED} rmdir d/tmp; ln -s / x; ln -P x d/tmp`],
  ['a link by an exchange', `${NAMED} ln -s / x; ${EXCHANGE} d/tmp`],
  ['a folder with a link in it', `${NAMED} rm -r d; mkdir x; ln -s / x/tmp; mv x d`],
  ['the same by an exchange', `${NAMED} mkdir x; ln -s / x/tmp; ${EXCHANGE} d`],
  [
    'a link further up',
    'git init -q r; mkdir -p d/a/tmp; git -C r config core.worktree ../../d/a/tmp; rm -r d; mkdir x; ln -s / x/a; mv x d',
  ],
  [
    'after the repository was moved with its tree',
    `mkdir p; cd p; ${NAMED} cd ..; mv p q; rmdir q/d/tmp; ln -s / q/d/tmp`,
    'q/r/.git',
  ],
  [
    'a repository that is moved to where it means a link',
    `mkdir p m; ln -s / m/d; cd p; ${NAMED} cd ..; mv p/r m/r`,
    'm/r/.git',
  ],
  [
    'a repository that is moved up: its path counts from further up',
    'mkdir -p a/b programs; git init -q a/b/r; git -C a/b/r config core.worktree ../../../../programs; mv a/b/r r',
  ],
  [
    '`..` behind a name that becomes a link',
    `git init -q r; mkdir -p d/e tmp; git -C r config core.worktree ${BEHIND}; rm -r d; mkdir d; ln -s / d/e`,
  ],
  [
    'a name that ends with a blank: git keeps it before a backslash',
    `git init -q r; mkdir tmp 'tmp '; printf '\\tworktree = ../../tmp \\\\\\n\\n' >> r/.git/config || { printf '\\tworktree = ../../tmp \\\\\\n\\n' | cat r/.git/config - > r/.git/new; mv r/.git/new r/.git/config; }; rmdir 'tmp '; ln -s / 'tmp '`,
  ],
  [
    'of a submodule',
    'mkdir -p g/modules/s tmp; cd g/modules/s; git init -q --bare .; git config core.bare false; git config core.worktree ../../../tmp; cd ../../..; rmdir tmp; ln -s / tmp',
    'g/modules/s',
  ],
  [
    'that the person named',
    'rmdir out; ln -s / out',
    '.git',
    'git init -q .; mkdir out; git config core.worktree ../out',
  ],
].map(([name, script, workingTree = 'r/.git', before]) => ({
  name: `a working tree: ${name}`,
  script: script!,
  workingTree,
  ...(before !== undefined && { before }),
}))

/** What the person's own settings name, by a link that comes later. */
const laterLinks: readonly Plant[] = [
  {
    name: 'a link where a hooks folder of the person would be, through its folder',
    before: 'git init -q . && git config core.hooksPath tools/own-hooks',
    script: 'mkdir -p x/own-hooks; echo evil > x/own-hooks/pre-commit; ln -s x tools',
    planted: 'tools/own-hooks/pre-commit',
  },
  {
    name: 'a link where an included file would be, through its folder',
    before: 'git init -q . && git config include.path ../conf/later.inc',
    script: `mkdir x; ${EVIL} > x/later.inc; ln -s x conf`,
    repository: '.',
  },
]

/** Links in a git directory: what git writes by itself goes to their targets. */
const HOME_LINK = 'ln -s /etc/../root/.zshenv'
const EXCHANGE_WITH = (path: string) => EXCHANGE.replace('sys.argv[1].encode()', `b'${path}'`)
const gitLinks: readonly Plant[] = [
  ...['logs/HEAD', 'index', 'packed-refs', 'COMMIT_EDITMSG', 'FETCH_HEAD', 'refs/heads/x', 'logs', 'info'].map(
    (name): readonly string[] => [
      `.git/${name}`,
      `rm -rf .git/${name}; mkdir -p $(dirname .git/${name}); ${HOME_LINK} .git/${name}`,
    ],
  ),
  ['.git/index', 'rm -f .git/index; ln -s ../x .git/index', 'by a relative path'],
  ['.git/index', 'rm -f .git/index; ln -s logs/../../x .git/index', 'by `..` behind a name'],
  ['.git/logs/HEAD', 'rm .git/logs/HEAD; ln -s hooks/../../hooks/x .git/logs/HEAD', 'to a hook'],
  ['.git/COMMIT_EDITMSG', 'rm -f .git/COMMIT_EDITMSG; ln -s hooks/pre-commit .git/COMMIT_EDITMSG', 'to its own hook'],
  ['.git/MERGE_MSG', 'ln -s config .git/MERGE_MSG', 'to its own configuration'],
  ['.git/index', `${HOME_LINK} x; mv x .git/index`, 'by a rename'],
  ['.git/orig', `${HOME_LINK} x; ln -P x .git/orig`, 'by a second name'],
  ['.git/index', `git add -A .; ${HOME_LINK} x; ${EXCHANGE_WITH('.git/index')}`, 'by an exchange'],
  ['.git/logs/HEAD', `mkdir l; ${HOME_LINK} l/HEAD; rm -r .git/logs; mv l .git/logs`, 'within a folder that is moved'],
  ['.git/logs/a/HEAD', `mkdir -p x/a; ${HOME_LINK} x/a/HEAD; ${EXCHANGE_WITH('.git/logs')}`, 'the same by an exchange'],
  ['.git/modules/s/logs/HEAD', `mkdir -p .git/modules/s/logs; ${HOME_LINK} .git/modules/s/logs/HEAD`, 'of a submodule'],
  ['.GIT/index', `mkdir -p .GIT; ${HOME_LINK} .GIT/index || ${HOME_LINK} .GIT/x`, 'in another case', ''],
  ['.hg/store/00changelog.i', `mkdir -p .hg/store; ${HOME_LINK} .hg/store/00changelog.i`, 'of Mercurial', ''],
  ['.jj/x', `mkdir x; ${HOME_LINK} x/x; mv x .jj`, 'of Jujutsu', ''],
  [
    's/.git/logs/HEAD',
    `mkdir -p s/p/logs; ${HOME_LINK} s/p/logs/HEAD; mv s/p s/.git`,
    'in a folder that becomes one',
    '',
  ],
  ['b/logs/HEAD', `git init -q --bare b; mkdir b/logs; ${HOME_LINK} b/logs/HEAD`, 'of a bare repository', ''],
  ['b/packed-refs', `mkdir b; cd b; ${HOME_LINK} packed-refs; ${MARKS}`, 'before a folder is a repository', ''],
  ['b/x/y/l', `mkdir -p b/x/y; cd b; ${HOME_LINK} x/y/l; ${MARKS}`, 'the same, further down', ''],
].map(([link, script, note, before = COMMITTED]) => ({
  name: `a link at ${link}${note === undefined ? '' : ` ${note}`}`,
  link: link!,
  script: script!,
  ...(before !== '' && { before }),
  ...(script!.includes(MARKS) && { needs: 'b/HEAD' }),
}))

/** Remotes by files that git reads beside its configuration. */
const remotes: readonly Plant[] = [
  ['.git/remotes/origin', `mkdir -p .git/remotes; echo 'URL: https://evil.example/x' > .git/remotes/origin`],
  ['.git/branches/x', 'mkdir -p .git/branches; echo https://evil.example/x > .git/branches/x'],
  ['.git/branches/y', 'mkdir -p b; echo https://evil.example/x > b/y; rm -rf .git/branches; mv b .git/branches'],
  ['.git/remotes/z', "mkdir -p b .git/remotes; echo 'URL: https://evil.example/x' > b/z; mv b/z .git/remotes/z"],
  ['.git/remotes/l', "mkdir -p .git/remotes; echo 'URL: https://evil.example/x' > l; ln l .git/remotes/l"],
  ['r/branches/x', `mkdir -p r/branches; cd r; echo https://evil.example/x > branches/x; ${MARKS}`, ''],
  ['r/remotes/x', `git init -q --bare r; mkdir -p r/remotes; echo 'URL: https://evil.example/x' > r/remotes/x`, ''],
].map(([planted, script, before = COMMITTED]) => ({
  name: `a remote at ${planted}`,
  planted: planted!,
  script: script!,
  ...(before !== '' && { before }),
  ...(script!.includes(MARKS) && { needs: 'r/HEAD' }),
}))

/** All rows. */
export const plants: readonly Plant[] = [
  ...names,
  ...files,
  ...settings,
  ...git,
  ...repositories,
  ...pointers,
  ...workingTrees,
  ...laterLinks,
  ...gitLinks,
  ...remotes,
]
