/** The table of protected files: what programs run unasked, in projects and outside. */

import { words } from './glob.ts'

/** Whose setting a protected file is. */
export type ProtectedKind =
  | 'cordon'
  | 'manifest'
  | 'git'
  | 'hooks'
  | 'shell'
  | 'editor'
  | 'agent'
  | 'packages'
  | 'debugger'
  | 'start-up'
  | 'path'
  | 'keys'

/** `run`: the real program was seen to run code from the file. `documented`: its manual says so. */
type Evidence = 'run' | 'documented'

/** A protected name: its segments match themselves and everything below. */
export interface ProtectedName {
  /** `.vscode/tasks.json`: at any depth; `~/.bashrc`: under the home directory; `/etc/cron.d`: this very place. */
  readonly path: string
  readonly kind: ProtectedKind
  readonly reason: string
  /** The program that reads the file unasked. */
  readonly tool: string
  readonly seen: Evidence
}

/** Rows that share all but their name. */
function rows(
  kind: ProtectedKind,
  reason: string,
  tool: string,
  seen: Evidence,
  paths: readonly string[],
): ProtectedName[] {
  return paths.map((path) => ({ path, kind, reason, tool, seen }))
}

/** Under the home directory (`~/`) or at one absolute place. */
const protectedMachineNames: readonly ProtectedName[] = [
  ...rows(
    'shell',
    'a shell start-up file',
    'shells',
    'documented',
    words(`
      ~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.bash_completion
      ~/.bashrc.d ~/.profile ~/.login ~/.cshrc ~/.tcshrc ~/.kshrc ~/.mkshrc ~/.zshrc ~/.zshenv
      ~/.zprofile ~/.zlogin ~/.zlogout ~/.zsh ~/.zfunc ~/.oh-my-zsh ~/.config/zsh ~/.config/bash
      ~/.config/fish ~/.config/nushell ~/.config/elvish ~/.config/xonsh ~/.xonshrc
      ~/.config/powershell ~/.config/starship.toml ~/.config/direnv ~/.config/mise ~/.inputrc
      ~/.hushlogin ~/.pam_environment ~/.config/environment.d /etc/profile /etc/profile.d
      /etc/bash.bashrc /etc/bashrc /etc/zsh /etc/zshenv /etc/environment /etc/ld.so.preload`),
  ),
  ...rows(
    'start-up',
    'something that the system starts by itself',
    'the system',
    'documented',
    words(`
      ~/.config/autostart ~/.config/autostart-scripts ~/.config/systemd ~/.local/share/systemd
      ~/.local/share/dbus-1 ~/.local/share/applications ~/.config/plasma-workspace ~/.config/i3
      ~/.config/sway ~/.config/hypr ~/.xinitrc ~/.xsession ~/.xsessionrc ~/.xprofile ~/.Xresources
      ~/.crontab ~/Library/LaunchAgents ~/Library/Scripts /Library/LaunchAgents
      /Library/LaunchDaemons /etc/crontab /etc/anacrontab /etc/cron.d /etc/cron.hourly
      /etc/cron.daily /etc/cron.weekly /etc/cron.monthly /etc/systemd /etc/init.d /etc/rc.local
      /etc/udev /etc/xdg/autostart /var/spool/cron /var/spool/at`),
  ),
  ...rows('editor', 'a setting of a program that can run code', 'its program', 'documented', [
    ...words(`
      ~/.gitconfig ~/.config/git ~/.config/jj ~/.jjconfig.toml ~/.hgrc ~/.config/hg ~/.vim
      ~/.config/vim ~/.config/nvim ~/.emacs ~/.emacs.d ~/.config/emacs ~/.config/helix
      ~/.config/zed ~/.config/Code/User ~/.config/VSCodium/User ~/.config/Cursor/User
      ~/.vscode-server/data/Machine`),
    '~/Library/Application Support/Code/User',
    '~/Library/Application Support/Cursor/User',
    ...words(`
      ~/.tmux.conf ~/.config/tmux ~/.screenrc ~/.config/kitty ~/.config/alacritty
      ~/.config/wezterm ~/.config/ghostty ~/.claude.json ~/.config/claude ~/.config/opencode
      ~/.config/kilo ~/.config/crush ~/.config/goose ~/.config/amp ~/.config/gh/config.yml ~/.cursor ~/.pythonrc
      ~/.pdbrc ~/.irbrc ~/.psqlrc ~/.sqliterc ~/.Rprofile`),
  ]),
  ...rows(
    'packages',
    'a setting that decides where code and credentials come from or go to',
    'package managers',
    'documented',
    words(`
        ~/.npmrc ~/.yarnrc ~/.yarnrc.yml ~/.config/pnpm ~/.bunfig.toml ~/.cargo/config
        ~/.cargo/config.toml ~/.cargo/env ~/.config/pip ~/.pip ~/.config/uv ~/.config/pypoetry
        ~/.condarc ~/.m2/settings.xml ~/.m2/extensions.xml ~/.mavenrc ~/.gradle/init.gradle
        ~/.gradle/init.d ~/.gradle/gradle.properties ~/.gemrc ~/.bundle/config
        ~/.config/composer/auth.json ~/.config/composer/config.json ~/.nuget/NuGet/NuGet.Config
        ~/.config/go/env ~/.tool-versions ~/.asdfrc ~/.docker/cli-plugins ~/.docker/config.json
        ~/.curlrc ~/.wgetrc ~/.ansible.cfg ~/.terraformrc ~/.bazelrc ~/.gdbinit ~/.lldbinit
        ~/.ghci ~/.iex.exs ~/.pryrc ~/.ipython ~/.jupyter ~/.local/bin ~/bin /etc/gitconfig
        /etc/npmrc`),
  ),
  ...rows('keys', 'a directory of keys and logins', 'ssh and GnuPG', 'documented', ['~/.ssh', '~/.gnupg']),
]

/** A name matches the file, or the folder and everything in it; case is ignored. */
const protectedProjectNames: readonly ProtectedName[] = [
  ...rows(
    'git',
    'a git repository itself, whose pointer, hooks or configuration would change with it',
    'git',
    'documented',
    ['.git'],
  ),
  ...group('git', 'configuration of another version control system, which can name programs to run', [
    ['Jujutsu', 'documented', '.jj/repo/config.toml .jj/workspace-config.toml .jj/repo/workspace-config.toml'],
    ['Mercurial', 'run', '.hg/hgrc .hg/hgrc-not-shared .hg/sharedpath .hg/requires'],
    ['Sapling', 'documented', '.sl/config .sl/sharedpath'],
    ['Breezy', 'documented', '.bzr/branch/branch.conf'],
    ['darcs', 'documented', '_darcs/prefs/defaults _darcs/prefs/prefs'],
    ['Pijul', 'documented', '.pijul/config'],
    ['repo', 'documented', '.repo/repo .repo/manifests .repo/project-objects'],
  ]),
  ...group('hooks', 'a git hook by another name, which git runs outside the sandbox', [
    ['husky', 'run', '.husky'],
    [
      'lefthook',
      'documented',
      `
      lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook .lefthook-local
      .lefthook.yml .lefthook.yaml .lefthook.toml .lefthook.json lefthook-local.yml
      lefthook-local.yaml lefthook-local.toml lefthook-local.json .lefthook-local.yml
      .config/lefthook.yml .config/lefthook.yaml .config/lefthook-local.yml`,
    ],
    ['pre-commit', 'documented', '.pre-commit-config.yaml .pre-commit-config.yml'],
    ['prek', 'documented', 'prek.toml'],
    ['simple-git-hooks', 'run', '.simple-git-hooks.cjs'],
    [
      'simple-git-hooks',
      'documented',
      `
      .simple-git-hooks.js .simple-git-hooks.json simple-git-hooks.js simple-git-hooks.cjs
      simple-git-hooks.json`,
    ],
    ['Overcommit', 'documented', '.overcommit.yml .git-hooks'],
    ['git, by core.hooksPath', 'documented', '.githooks'],
    ['CaptainHook', 'documented', 'captainhook.json'],
    ['GrumPHP', 'documented', 'grumphp.yml grumphp.yml.dist'],
    ['lazygit', 'documented', '.lazygit.yml .git/lazygit.yml'],
  ]),
  ...group('editor', 'an editor setting that can run code', [
    [
      'VS Code',
      'documented',
      `
      .vscode/settings.json .vscode/tasks.json .vscode/launch.json .vscode/mcp.json
      .vscode/c_cpp_properties.json .vscode/cmake-kits.json *.code-workspace`,
    ],
    ['JetBrains', 'documented', '.idea .fleet .run/*.run.xml'],
    ['Eclipse', 'documented', '.externalToolBuilders'],
    ['Lite XL', 'documented', '.lite_project.lua'],
    ['rust-analyzer', 'documented', 'rust-analyzer.toml'],
    ['clojure-lsp', 'documented', '.lsp/config.edn'],
    ['Phpactor', 'documented', '.phpactor.json .phpactor.yml'],
    ['Zed', 'documented', '.zed'],
    ['Helix', 'documented', '.helix'],
    ['Lapce', 'documented', '.lapce'],
    ['Theia', 'documented', '.theia'],
    ['Visual Studio', 'documented', '.vs'],
    ['dev containers', 'documented', '.devcontainer .devcontainer.json'],
    ['Sublime Text', 'documented', '*.sublime-project'],
    ['Vim', 'run', '.exrc .vimrc'],
    ['Vim', 'documented', '.lvimrc .local.vimrc .vimrc.local .vim .ycm_extra_conf.py'],
    ['Neovim', 'run', '.nvimrc'],
    ['Neovim', 'documented', '.nvim.lua .lazy.lua .nvim .neoconf.json .nlsp-settings'],
    ['Emacs', 'run', '.dir-locals.el .dir-locals-2.el'],
    ['Emacs', 'documented', '.emacs.desktop'],
    ['Yarn editor SDKs', 'documented', '.yarn/sdks'],
    ['Solargraph', 'documented', '.solargraph.yml'],
  ]),
  ...group('debugger', 'a start-up file of a debugger or an interpreter, read from the folder it is started in', [
    ['gdb', 'run', '.gdbinit'],
    ['lldb', 'documented', '.lldbinit'],
    ['pdb', 'run', '.pdbrc'],
    ['irb', 'run', '.irbrc'],
    ['pry', 'documented', '.pryrc'],
    ['byebug', 'documented', '.byebugrc'],
    ['rdbg', 'documented', '.rdbgrc .rdbgrc.rb'],
    ['perl', 'documented', '.perldb'],
    ['jdb', 'documented', '.jdbrc jdb.ini'],
    ['R', 'documented', '.Rprofile .Renviron .RData'],
    ['OCaml', 'documented', '.ocamlinit'],
    ['GHCi', 'documented', '.ghci'],
    ['IEx', 'documented', '.iex.exs'],
    ['Erlang', 'documented', '.erlang'],
    ['Octave', 'documented', '.octaverc'],
    ['gnuplot', 'documented', '.gnuplot'],
    ['PsySH', 'documented', '.psysh.php'],
    ['Jupyter', 'documented', 'jupyter_config.* jupyter_*_config.*'],
  ]),
  ...group(
    'packages',
    'a setting of a package manager that runs code or decides where code and credentials come from or go to',
    [
      ['npm', 'run', '.npmrc'],
      ['Yarn', 'run', '.yarnrc.yml'],
      ['Yarn', 'documented', '.yarn/releases .yarnrc .yarn/plugins .corepack.env'],
      ['pnpm', 'run', '.pnpmfile.cjs'],
      ['pnpm', 'documented', '.pnpmfile.mjs pnpmfile.js .pnpmfile.js'],
      ['Bun', 'run', 'bunfig.toml'],
      ['Bower', 'documented', '.bowerrc'],
      ['cargo', 'run', '.cargo/config.toml .cargo/config'],
      ['cargo', 'documented', '.cargo/credentials.toml .cargo/credentials'],
      ['rustup', 'run', 'rust-toolchain.toml rust-toolchain'],
      ['mise', 'run', 'mise.toml .mise.toml'],
      [
        'mise',
        'documented',
        `
        .tool-versions mise.local.toml .mise.local.toml .mise .config/mise.toml .config/mise
        mise.*.toml .mise.*.toml .rtx.toml mise/config.toml`,
      ],
      ['proto', 'documented', '.prototools'],
      ['Devbox', 'documented', 'devbox.json'],
      ['pip', 'documented', 'pip.conf pip.ini'],
      ['uv', 'documented', 'uv.toml'],
      ['Poetry', 'documented', 'poetry.toml'],
      ['PDM', 'documented', 'pdm.toml .pdm.toml'],
      ['conda', 'documented', '.condarc'],
      ['pixi', 'documented', '.pixi/config.toml'],
      ['twine', 'documented', '.pypirc'],
      ['Bundler', 'documented', '.bundle/config'],
      ['rbenv', 'documented', '.rbenv-vars .rvmrc'],
      ['NuGet', 'documented', 'nuget.config'],
      ['Maven', 'documented', '.mvn'],
      ['Gradle', 'documented', 'gradle/wrapper'],
      ['sbt', 'documented', '.sbtopts .jvmopts'],
      ['Bazel', 'documented', '.bazelrc .bazelversion .bazeliskrc tools/bazel'],
      ['Buck', 'documented', '.buckconfig .buckconfig.local'],
      ['git-lfs', 'documented', '.lfsconfig'],
      ['Ansible', 'documented', 'ansible.cfg .ansible.cfg'],
    ],
  ),
  ...group('agent', 'an agent setting that can run code', [
    ['Cordon', 'documented', '.cordon'],
    ['Claude Code', 'documented', '.claude .mcp.json mcp.json'],
    ['Codex', 'documented', '.codex'],
    ['Gemini CLI', 'documented', '.gemini'],
    [
      'Cursor',
      'documented',
      `
      .cursor/hooks.json .cursor/hooks .cursor/mcp.json .cursor/cli.json .cursor/environment.json
      .cursor/sandbox.json .cursor/worktrees.json`,
    ],
    ['opencode', 'documented', '.opencode opencode.json opencode.jsonc'],
    ['Windsurf', 'documented', '.windsurf/hooks.json .windsurf/mcp_config.json'],
    ['Continue', 'documented', '.continue'],
    ['Kiro', 'documented', '.kiro/settings .kiro/hooks .kiro/agents'],
    ['Roo Code', 'documented', '.roo/mcp.json'],
    ['Kilo Code', 'run', '.kilo .kilocode kilo.json kilo.jsonc'],
    ['Amazon Q', 'documented', '.amazonq/mcp.json .amazonq/cli-agents'],
    // A custom agent names servers, and Copilot CLI starts them itself, in a folder that it does not trust as well.
    ['GitHub Copilot', 'run', '.github/hooks .copilot/hooks .github/agents .copilot/agents'],
    [
      'GitHub Copilot',
      'documented',
      `
      .copilot/config.json .copilot/mcp-config.json .copilot/settings.json .copilot/extensions
      .copilot/lsp-config.json .copilot/installed-plugins .github/copilot .github/mcp.json
      .github/lsp.json .github/extensions .github/plugin .github/plugin.json`,
    ],
    ['Aider', 'documented', '.aider.conf.yml'],
    ['Qwen Code', 'run', '.qwen'],
    ['Crush', 'documented', '.crush.json crush.json'],
    ['OpenHands', 'documented', '.openhands'],
    ['Amp', 'documented', '.amp'],
    ['Factory', 'run', '.factory'],
    ['Grok', 'run', '.grok'],
    ['Augment', 'documented', '.augment/settings.json'],
    ['Junie', 'documented', '.junie/mcp'],
    ['Trae', 'documented', '.trae/mcp.json'],
    ['Pi', 'run', '.pi/agent/extensions'],
    ['Pi', 'documented', '.pi/settings.json .pi/extensions .pi/agent/settings.json .pi/agent/models.json'],
    ['Cline', 'run', '.cline/hooks'],
    ['Cline', 'documented', '.clinerules/hooks .cline/data/settings .cline/plugins .cline/cron'],
    ['Goose', 'documented', '.goose'],
    ['Qoder', 'documented', '.qoder'],
    ['CodeBuddy', 'documented', '.codebuddy'],
    ['Mistral Vibe', 'documented', '.vibe'],
    ['Command Code', 'run', '.commandcode'],
    ['Oh My Pi', 'documented', '.omp'],
    ['Kimi Code', 'run', '.kimi-code'],
    ['Kimi CLI', 'documented', '.kimi'],
    ['OpenClaw', 'documented', '.openclaw'],
    ['Hermes', 'documented', '.hermes'],
    ['Antigravity', 'documented', '.antigravity .agy'],
    ['Augment', 'documented', '.augment/hooks .augment/mcp.json .augment/settings.local.json'],
  ]),
  ...group('shell', 'a file that a shell or a tool runs when a person enters the folder', [
    // Files that an allowed `.envrc` sources need no further approval, and neither does
    // nix-direnv's cache.
    ['direnv', 'run', '.envrc .envrc.*'],
    ['nix-direnv', 'documented', '.direnv/*.rc'],
    ['autoenv', 'documented', '.autoenv.zsh .autoenv_leave.zsh .autoenv'],
    ['shadowenv', 'documented', '.shadowenv.d'],
  ]),
]

function group(
  kind: ProtectedKind,
  reason: string,
  tools: readonly (readonly [tool: string, seen: Evidence, paths: string])[],
): ProtectedName[] {
  return tools.flatMap(([tool, seen, paths]) => rows(kind, reason, tool, seen, words(paths)))
}

/** Names protected at any depth, under the home directory, or at one absolute place. */
export const protectedNames: readonly ProtectedName[] = [...protectedProjectNames, ...protectedMachineNames]

/** Folders of installed packages: tools do not read settings there. Rows about git still apply. */
export const packageFolders: readonly string[] = ['node_modules', 'site-packages', 'dist-packages']

/** Whether a path, given by its folded segments below a root, lies in an installed package. */
export function isOfPackage(segments: readonly string[]): boolean {
  const at = segments.findIndex((segment) => packageFolders.includes(segment))
  return at >= 0 && at < segments.length - 1
}

/** Agents' folders, in the project or the home, below which each creates working trees: separate projects. */
export const worktreeFolders: readonly string[] = words(
  '.claude .gemini .kilo .kilocode .qoder .codex .commandcode .factory .grok',
)
/** The folder of the working trees in each of them. */
export const WORKTREES = 'worktrees'

/** Whether the name of a protected folder is only on the way to a working tree: `.claude/worktrees/w/src`. Segments are folded. */
export function isOnWayToWorktree(segments: readonly string[], index: number): boolean {
  return segments[index + 1] === WORKTREES && worktreeFolders.includes(segments[index]!)
}
