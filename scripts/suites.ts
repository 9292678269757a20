/** The suites of `npm test -- SUITE`: what is not part of every run, because it needs programs, hours or its own machine. */

export interface Suite {
  readonly name: string
  readonly what: string
  /** What has to be there beyond a checkout and its packages. */
  readonly needs?: string
  /** Debian packages that `scripts/set-up.sh` installs first, or names to an ordinary user. */
  readonly packages?: readonly string[]
  /** What `scripts/set-up.sh` prepares first. */
  readonly setUp: 'native' | 'build' | 'test'
  /** Words of the caller are added at its end. */
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const vitest = (config: string): readonly string[] => ['vitest', 'run', '--config', `test/${config}/vitest.config.ts`]

export const SUITES: readonly Suite[] = [
  {
    name: 'as-user',
    what: 'every test again, as an ordinary user with a home of mode 0700, in a copy of this checkout',
    needs: 'root',
    setUp: 'test',
    command: ['bash', 'scripts/test-as-user.sh'],
  },
  {
    name: 'engines',
    what: 'code execution and commands in every container engine, and the attacks on them',
    needs: 'runc, crun, podman, docker, gVisor (as root on Debian they are installed)',
    setUp: 'test',
    command: ['bash', 'scripts/test-engines.sh'],
  },
  {
    name: 'components',
    what: 'agents as WASM components, built and attacked with the real tools',
    needs: '380 MB of npm packages, which it installs',
    setUp: 'build',
    command: ['bash', 'scripts/test-components.sh'],
  },
  {
    name: 'fleet',
    what: 'fleets on real NATS servers, a real Prometheus, and 50,000 records to a receiver that fails',
    packages: ['nats-server', 'prometheus'],
    setUp: 'build',
    command: ['bash', 'scripts/test-fleet.sh'],
  },
  {
    name: 'cluster',
    what: 'a cluster of three NATS servers under random kills: MACHINES SECONDS SEED',
    packages: ['nats-server'],
    setUp: 'test',
    command: ['bash', 'scripts/test-fleet.sh', 'cluster'],
  },
  {
    name: 'load',
    what: 'one process that speaks for 10,000 machines to three NATS servers: [MACHINES]',
    packages: ['nats-server'],
    setUp: 'test',
    command: ['bash', 'scripts/test-fleet.sh', 'load'],
  },
  {
    name: 'places',
    what: 'Cordon in containers and in Pods, one of them a machine of a fleet',
    needs: 'root, a registry',
    packages: ['podman', 'runc', 'catatonit', 'golang-go', 'golang-github-masterminds-sprig-dev'],
    setUp: 'build',
    command: ['bash', 'scripts/test-places.sh'],
  },
  {
    name: 'vm',
    what: 'doctor and the tour on Debian kernels in qemu, with and without namespaces and Landlock',
    needs: 'root, 10 GB',
    packages: ['qemu-system-x86', 'debootstrap'],
    setUp: 'build',
    command: ['bash', 'scripts/test-vm.sh'],
  },
  {
    name: 'projects',
    what: 'vite, express, pnpm, pip, go and cargo projects with what `cordon init` wrote',
    needs: 'a registry',
    packages: ['golang-go', 'cargo'],
    setUp: 'test',
    command: vitest('projects'),
  },
  {
    name: 'soak',
    what: 'thousands of commands through hook, run and resident, and what they leave: [COMMANDS [FOLDER]]; a folder is kept for the next part',
    setUp: 'build',
    command: ['node', 'scripts/soak.ts'],
  },
  {
    name: 'models',
    what: 'the protocols of providers, spoken with a real model server',
    needs: 'llama-server',
    setUp: 'build',
    command: ['node', 'scripts/test-models.ts'],
  },
  {
    name: 'conformance',
    what: 'the published MCP conformance suite, alone and behind the gateway',
    needs: 'a registry',
    setUp: 'build',
    command: ['node', 'scripts/test-conformance.ts'],
  },
  {
    name: 'suites',
    what: 'public test suites outside, in bubblewrap and in `cordon run`: --dir DIR [--only NAME] [--every N] [--write]',
    needs: 'the suites in DIR, which it names; root for RedCode',
    setUp: 'test',
    command: ['node', 'scripts/test-suites.ts'],
  },
  {
    name: 'clients',
    what: 'HTTP libraries, package managers, databases and ssh through the proxy',
    needs: 'a registry',
    packages: ['default-jdk-headless', 'postgresql', 'redis-server', 'openssh-server'],
    setUp: 'build',
    command: ['node', 'scripts/test-clients.ts'],
  },
  {
    name: 'macos',
    what: 'the corpus of shell texts as macOS’s own bash reads them',
    setUp: 'native',
    command: ['vitest', 'run', 'test/cases/shell.test.ts', '-t', 'macOS'],
    env: { CORDON_CORPUS: 'whole' },
  },
  {
    name: 'tools',
    what: 'git, npm, make, cmake, sqlite3, tar, vim … with the file broker and without it: the same results; [NAME]',
    needs: 'those programs; a missing one is reported',
    setUp: 'build',
    command: ['node', 'scripts/test-tools.ts'],
  },
  {
    name: 'site',
    what: 'the documentation site in Chromium: links, console errors, accessibility, search',
    packages: ['chromium'],
    setUp: 'native',
    command: vitest('site'),
  },
  {
    name: 'arm64',
    what: 'the arm64 files of the package under qemu-user',
    packages: ['qemu-user', 'gcc-aarch64-linux-gnu', 'libc6-dev-arm64-cross'],
    setUp: 'build',
    command: ['node', 'scripts/test-arm64.ts'],
  },
  {
    name: 'agents',
    what: 'real agents through Cordon with a scripted model: [AGENT…] [--control] [--row=ROW…] [--as-user]; --latest [--record] reports what today’s versions have that Cordon does not know',
    needs: 'a registry',
    setUp: 'build',
    command: ['node', 'scripts/test-agents.ts'],
  },
  {
    name: 'fuzz-shell',
    what: 'the shell analysis against real bash: [--count N] [--seed N]',
    setUp: 'native',
    command: ['node', 'scripts/fuzz-shell.ts'],
  },
  {
    name: 'fuzz-changes',
    what: 'random system calls through the file broker, against the kernel’s own answers: [ROUNDS [SEED]]',
    setUp: 'native',
    command: ['node', 'scripts/fuzz-changes.ts'],
  },
  {
    name: 'sanitizers',
    what: 'the init built with AddressSanitizer and UndefinedBehaviorSanitizer, and random texts for its parsers: [SECONDS [SEED]]',
    needs: 'libasan, libubsan (gcc brings them)',
    setUp: 'build',
    command: ['bash', 'scripts/test-sanitizers.sh'],
  },
  {
    name: 'fuzz-programs',
    what: 'words and paths of program starts that change while they are judged: [SECONDS]',
    setUp: 'build',
    command: ['node', 'scripts/fuzz-programs.ts'],
  },
  {
    name: 'fuzz-undo',
    what: 'random calls that are undone and done again, and undone while others change the tree: [ROUNDS [FIRST_SEED]]',
    setUp: 'native',
    command: ['node', 'scripts/fuzz-undo.ts'],
  },
  {
    name: 'races',
    what: 'two commands that bring a protected name about together, a minute for each way',
    setUp: 'native',
    command: ['vitest', 'run', 'test/attacks/changes/windows.test.ts', '-t', 'two commands'],
    env: { CORDON_RACE_SECONDS: '60' },
  },
  {
    name: 'fuzz-kills',
    what: 'kill -9 at many moments of a command; undo must restore everything: [POINTS [FIRST]]',
    setUp: 'native',
    command: ['node', 'scripts/kill-changes.ts'],
  },
  {
    name: 'fuzz-egress',
    what: 'broken connections against the proxy: [SEEDS] [CONNECTIONS]',
    setUp: 'native',
    command: ['node', 'scripts/fuzz-egress.ts'],
  },
]

/** The list as `npm test -- --list` prints it. */
export function listSuites(): string {
  const wide = Math.max(...SUITES.map(({ name }) => name.length))
  const rows = SUITES.map(({ name, what, needs, packages }) => {
    const more = [needs && `needs ${needs}`, packages && `installs ${packages.join(', ')} (on Debian, as root)`]
    return [`  ${name.padEnd(wide)}  ${what}`, ...more.filter(Boolean)].join(`\n${' '.repeat(wide + 4)}`)
  })
  return `npm test                       every test of every run
npm test -- PATH…              the files whose path contains one of these
npm test -- --changed[=REF]    what is related to files changed since REF (or since main), in under a minute
npm test -- SUITE [WORD…]      one of these:
${rows.join('\n')}`
}
