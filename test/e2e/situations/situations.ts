/** What does not work most often: what one sees, why, and what to do. The table is the page docs/guides/troubleshooting.md. */

export interface Situation {
  readonly title: string
  /** The words behind `cordon`; `$H` is the home directory. */
  readonly command: readonly string[]
  readonly manifest?: string
  readonly files?: Readonly<Record<string, string>>
  /** Below the home. */
  readonly home?: Readonly<Record<string, string>>
  /** Runs before it. */
  readonly before?: readonly (readonly string[])[]
  readonly at?: 'home'
  /** The manifest is not signed. */
  readonly unsigned?: true
  /** A part of what is printed, as it is on the page. */
  readonly says: string
  /** Why, and what to do. */
  readonly answer: string
}

const GIT = 'schema_version = 1\n[sandbox.os]\ncommand_tools = ["git"]\n'
const NAMED = { '.gitconfig': '[user]\nname = A\nemail = a@example.org\n' }

export const SITUATIONS: readonly Situation[] = [
  {
    title: 'A host is refused',
    command: ['run', '--', 'curl', '-sS', '-m', '5', 'http://blocked.example/'],
    says: 'cordon add host blocked.example',
    answer:
      'No grant names the host. `cordon run --allow-host HOST -- …` allows it once, `cordon add host HOST` for good. At a terminal `cordon run` asks.',
  },
  {
    title: 'The manifest is not signed',
    command: ['run', '--', 'true'],
    manifest: 'schema_version = 1\n[permission]\nmode = "auto"\n',
    unsigned: true,
    says: '[unsigned-manifest]',
    answer:
      'Somebody changed `cordon.toml`, perhaps an agent. Read it. `cordon sign` shows what it opens and asks you.',
  },
  {
    title: 'The manifest does not load',
    command: ['check', '--', 'ls'],
    manifest: 'schema_version = 1\n[permision]\nmode = "auto"\n',
    unsigned: true,
    says: 'did you mean permission?',
    answer: 'Nothing runs on a manifest with an error. The message names line, column and the likely key.',
  },
  {
    title: 'A file outside the project is missing',
    command: ['run', '--', 'cat', '$H/lib/a.txt'],
    home: { 'lib/a.txt': 'a\n' },
    says: 'cordon run --read ~/lib/a.txt',
    answer: 'Commands see the project and the system. `--read` shows a place once, `cordon add read PATH` for good.',
  },
  {
    title: 'What a command wrote to the home directory is gone',
    command: ['run', '--', 'sh', '-c', 'mkdir -p ~/out && echo x > ~/out/report.txt'],
    says: 'cordon run --write ~/out',
    answer: 'The home directory of a command is its own and temporary. Name the place with `--write`.',
  },
  {
    title: 'A secret file is empty',
    command: ['run', '--', 'cat', '.env'],
    files: { '.env': 'TOKEN=a\n' },
    says: 'is a secret: the command opened it and saw an empty file',
    answer:
      'Secrets are hidden, in the project too. To show one, name it: `[capabilities.allow.read] paths = ["**", ".env"]`. Better, [keep the value outside](secrets.md).',
  },
  {
    title: 'A file of the project cannot be changed',
    command: ['run', '--', 'sh', '-c', 'mkdir -p .vscode && echo {} > .vscode/tasks.json'],
    says: 'is protected, so the write was blocked',
    answer:
      'Programs run it outside the sandbox. Change it yourself, or name it under `[capabilities.allow.write] paths`.',
  },
  {
    title: 'husky, lefthook or pre-commit cannot install a hook',
    command: ['run', '--', 'sh', '-c', 'echo x > .git/hooks/pre-commit'],
    before: [['git', 'init', '-q']],
    says: 'npx husky, lefthook install, pre-commit install',
    answer: 'git runs hooks outside the sandbox. Set them up yourself, once, outside.',
  },
  {
    title: 'A program is not found',
    command: ['run', '--', 'no-such-program'],
    says: 'It is not installed',
    answer: 'It is nowhere on your PATH either. Install it outside, or check the spelling.',
  },
  {
    title: 'A program is in a folder that is not shown',
    command: ['run', '--', 'mine'],
    home: { 'tools/mine': '#!/bin/sh\necho mine\n' },
    says: 'cordon run --read ~/tools',
    answer:
      'Programs of [known installers](run.md#grants-for-one-run) are found. Others need `--read`, or `cordon add read`.',
  },
  {
    title: 'Several words were quoted as one',
    command: ['run', '--', 'ls -la'],
    says: 'Without the quotes: cordon run -- ls -la',
    answer: "Give the words one by one. For pipes and redirects use `cordon run -- sh -c '…'`.",
  },
  {
    title: 'A package manager has no network',
    command: ['run', '--', 'git', 'fetch', 'https://github.com/a/b'],
    before: [['git', 'init', '-q']],
    says: 'Add "git" to command_tools',
    answer:
      'A bundle gives a tool its hosts, settings and caches. `cordon run --tool NAME -- …` applies one once; `cordon bundles` lists them.',
  },
  {
    title: 'git does not know your name',
    command: ['run', '--', 'git', 'commit', '--allow-empty', '-m', 'x'],
    before: [['git', 'init', '-q']],
    home: NAMED,
    says: 'git does not know your name inside the sandbox',
    answer: 'Your name is in `~/.gitconfig`, which the bundle `git` shows. `cordon init` adds the bundle.',
  },
  {
    title: 'A commit cannot be signed',
    command: ['run', '--', 'git', 'commit', '--allow-empty', '-m', 'x'],
    before: [['git', 'init', '-q']],
    manifest: GIT,
    home: { '.gitconfig': `${NAMED['.gitconfig']}[commit]\ngpgsign = true\n[gpg]\nformat = ssh\n` },
    says: 'git signs, and private keys stay outside',
    answer: 'Let your agent sign: [signed commits](network.md#signed-commits).',
  },
  {
    title: 'A new working tree is refused',
    command: ['run', '--', 'git', 'worktree', 'add', '$H/tree'],
    before: [['git', 'init', '-q']],
    says: 'mkdir -p ~/tree && cordon run --write ~/tree',
    answer:
      'Beside the project, its files would be lost with the temporary home, and its branch would stay. Name the place with `--write`, or choose a folder in the project.',
  },
  {
    title: 'A program that sends UDP reaches no one',
    command: [
      'run',
      '--',
      'python3',
      '-c',
      "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))",
    ],
    says: 'Network is unreachable',
    answer:
      'Hosts are reached over TCP, through the proxy. UDP and unix sockets, datagrams too, connect processes of one command only.',
  },
  {
    title: 'cordon mcp add finds no client',
    command: ['mcp', 'add', 'issues', '--url', 'https://mcp.example.com/mcp', '--yes'],
    says: 'no client has a configuration here: say which, --client claude-code',
    answer:
      'It writes to the clients that are set up. Name the one that you use; [MCP](mcp.md) lists what a server may do.',
  },
  {
    title: 'A variable is missing',
    command: ['run', '--env', 'NOT_SET_HERE', '--', 'true'],
    says: 'there is no such variable here',
    answer:
      'Commands see few variables. `--env NAME` passes one that is set; `cordon run -- env NAME=value CMD` sets one.',
  },
  {
    title: 'A command takes too long',
    command: ['run', '--timeout', '1', '--', 'sleep', '30'],
    says: 'stopped: the time limit of 1 s',
    answer: '`--timeout` limits one run, `command_timeout` under `[limits]` every command.',
  },
  {
    title: 'sudo is denied',
    command: ['check', '--', 'sudo apt-get update'],
    says: 'sudo',
    answer: 'A sandbox has no privileges to give. Run such a command yourself, outside.',
  },
  {
    title: 'The folder is not a project',
    command: ['run', '--', 'true'],
    at: 'home',
    says: '[not-a-project]',
    answer: 'The home directory and folders above it are refused as a root. Change to a project.',
  },
  {
    title: 'A question seems wrong',
    command: ['explain', '--', 'git push --force'],
    says: 'Grant it under [capabilities.allow.commands] patterns',
    answer: "`cordon explain -- 'COMMAND'` shows every part, every rule with its line, and what would allow it.",
  },
  {
    title: 'The state is of a newer Cordon',
    command: ['run', '--', 'true'],
    home: { '.local/state/cordon/version': '99\n' },
    says: '[state-newer]',
    answer: 'An older program could open what a newer one closed. Use the newer one.',
  },
  {
    title: 'A command deleted something',
    command: ['undo', '--last'],
    files: { 'a.txt': 'kept\n' },
    before: [['cordon', 'run', '--', 'rm', 'a.txt']],
    says: 'Redo with: cordon undo --redo',
    answer: '`cordon undo --list` shows calls that can be undone, `cordon undo --last` restores the last one.',
  },
]

/** The page. */
export function renderSituations(): string {
  const rows = SITUATIONS.map(({ title, command, says, answer }) => {
    const shown = command.map((word) => word.replaceAll('$H', '~'))
    const words = shown.map((word) => (/^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word}'`)).join(' ')
    return `## ${title}\n\n\`\`\`text\n$ cordon ${words}\n… ${says} …\n\`\`\`\n\n${wrapped(answer)}\n`
  })
  return `# When something does not work

The situations people meet most, each with a part of what Cordon prints. Every one is run by a test.
If yours is not here, \`cordon doctor\` checks the machine, \`cordon\` shows what was stopped in this
project, and \`cordon explain -- 'COMMAND'\` shows how a command is decided.

${rows.join('\n')}`
}

/** Lines of at most 100 columns, as documents have them. */
function wrapped(text: string): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < 100) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}
