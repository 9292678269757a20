/** A first manifest for a project, short and explained: what `cordon init` writes (M4, P10). */

import { grantRefusal } from '../../shell/inspect/interpreters.ts'
import { broadGrant } from '../check/lint.ts'
import { printString } from '../toml/edit.ts'
import type { Kind, ProjectFacts } from './detect.ts'
import { SERVES, type Service } from './servers.ts'

/** Commands that belong together, under one comment. */
interface Group {
  readonly comment: string
  readonly commands: readonly string[]
}

/** Names of scripts that change something outside the project: granted, but asked each time. */
const REACHES_OUT =
  /(?:^|[:._-])(?:deploy|publish|release|ship|push|migrate|destroy|seed|prod|production|upload|provision)(?:$|[:._-])/i

const SERVERS = `# Remove the first # to open servers that the scripts start on these ports, at http://127.0.0.1 of this machine.
# dev_server_ports = [3000, 5173]
`

const HEADER = `# What an AI agent may do in this project. Written by \`cordon init\`, yours to edit.
#
# Every command runs in a sandbox, whatever is written here: it sees the project, the system's programs and
# nothing else of yours, and it has no network unless a line below gives it some.
# The project itself is readable and writable; secrets such as .env and keys are hidden.
#
#   cordon policy lint     points out what is unwise
#   cordon sign            shows what changed and puts it in force
schema_version = 1

[permission]
# What stays inside the sandbox runs without asking. Asked are: a new host, a path outside, a push,
# a publish, a deploy, and what cannot be undone.
mode = "contained"

[security]
redirects = "all"             # \`> file\` is fine where writing the file is
command_substitution = true   # \`$(…)\` is judged by the commands inside it
outside_roots = "ask"         # a path outside the project asks instead of failing
`

/** Folders that agents bring along, read-only: their skills and plugins. */
export const AGENT_READS: readonly string[] = [
  '~/.agents/skills/**',
  '~/.claude/skills/**',
  '~/.claude/plugins/cache/**',
  '~/.codex/skills/**',
  '~/.codex/plugins/cache/**',
  '~/.gemini/extensions/**',
  '~/.config/opencode/skill/**',
  '~/.cursor/skills/**',
]

/** What of the machine a first manifest depends on. */
interface MachineFacts {
  /** Bundles there are; null: any. */
  readonly bundles: readonly string[] | null
  /** Agents that are installed, by the names of their bundles and of their programs. */
  readonly agents: readonly { readonly bundle: string; readonly program: string }[]
  /** Those of `AGENT_READS` that are there. */
  readonly reads: readonly string[]
}

function renderReads({ samples }: ProjectFacts, { reads }: MachineFacts): string {
  const lines = ['**', ...reads, ...samples].map((path) => `  ${printString(path)},`)
  const skills = reads.length > 0 ? ', and what your agents bring along: their skills and plugins, read-only' : ''
  return `[capabilities.allow.read]
# The project${skills}.${samples.length > 0 ? ' A sample is not a secret.' : ''}
paths = [
${lines.join('\n')}
]
# Ordinary source outside that a call names: the git repositories in the same folder of your home, and packages that are
# installed for you. Secrets in it, what calls itself private, and a call that reaches another machine still ask.
nearby = ["repositories", "packages"]
`
}

const ANY_MACHINE: MachineFacts = { bundles: null, agents: [], reads: [] }

/** Writes the manifest. */
export function proposeManifest(facts: ProjectFacts, machine: MachineFacts = ANY_MACHINE): string {
  const { bundles } = machine
  const agents = machine.agents.map(({ bundle, program }): Proposal => [bundle, `cordon run -- ${program}`])
  const tools = [...proposedBundles(facts), ...agents].filter(([name]) => bundles === null || bundles.includes(name))
  return [
    HEADER,
    renderReads(facts, machine),
    renderBundles(tools, facts),
    renderCommands(commandGroups(facts), facts.services),
    fetchesPackages(facts) ? PACKAGES : '',
    HINTS,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** A bundle, why it is there, and what of the project itself is to get the same. */
type Proposal = readonly [name: string, why: string, wrappers?: readonly string[]]

function proposedBundles(facts: ProjectFacts): Proposal[] {
  const found: Proposal[] = []
  const at = (kind: Kind, file: string): string => (facts.below[kind] ? `${facts.below[kind]}/${file}` : file)
  if (facts.git) found.push(['git', '.git'])
  if (facts.github) found.push(['gh', '.github'])
  if (facts.node) {
    found.push(['node', at('node', 'package.json')])
    found.push([facts.node.manager, `${facts.node.manager} installs packages here`])
  }
  if (facts.deno) found.push(['deno', at('deno', 'deno.json')])
  if (facts.rust) found.push(['cargo', at('rust', 'Cargo.toml')])
  if (facts.rust?.toolchain) found.push(['rustup', at('rust', 'rust-toolchain')])
  if (facts.python) {
    const { manager, environment, tools } = facts.python
    const python = facts.below.python ? `${facts.below.python} is a Python project` : 'a Python project'
    // The same as for `python` and `pip`, which also run the project's code.
    const own = (names: readonly string[]) => names.map((name) => `${environment}/bin/${name}`)
    found.push(['python', python, own(['python', 'python3', ...tools])])
    found.push([manager, `${manager} installs packages here`, manager === 'pip' ? own(['pip']) : []])
  }
  if (facts.go) found.push(['go', at('go', 'go.mod')])
  if (facts.java) found.push([facts.java, at('java', facts.java === 'maven' ? 'pom.xml' : 'build.gradle')])
  for (const { bundle, file } of facts.others) found.push([bundle, file])
  if (facts.runners.length > 0) found.push(['make', facts.runners.map((runner) => runner.file).join(', ')])
  return found
}

function renderBundles(tools: readonly Proposal[], facts: ProjectFacts): string {
  if (tools.length === 0) return ''
  const width = Math.max(...tools.map(([name]) => name.length)) + 4
  const lines = tools.map(([name, why, wrappers = []]) => {
    if (wrappers.length === 0) return `  ${`${printString(name)},`.padEnd(width)} # ${why}`
    const list = wrappers.map(printString).join(', ')
    return `  # ${why}, and its virtual environment gets the same\n  { tool = ${printString(name)}, wrappers = [${list}] },`
  })
  const runners = facts.runners.map((runner) => printString(runner.runner))
  const wrappers =
    runners.length === 0 ? '' : `# Run by these, the tools above get the same.\nwrappers = [${runners.join(', ')}]\n`
  return `[sandbox.os]
# What these tools need: their caches, settings and package hosts. \`cordon bundles\` explains each.
command_tools = [
${lines.join('\n')}
]
${wrappers}${renderPorts(facts)}`
}

/** A server inside is seen on this machine's own loopback alone, and only while it runs. */
function renderPorts({ ports, node }: ProjectFacts): string {
  if (ports.length > 0) {
    return `# Servers that the scripts start on these ports, at http://127.0.0.1 of this machine while they run.
dev_server_ports = [${ports.join(', ')}]
`
  }
  return node?.scripts.some((script) => SERVES.test(script)) ? SERVERS : ''
}

function commandGroups(facts: ProjectFacts): Group[] {
  const groups: Group[] = []
  if (facts.node) {
    const { manager, scripts, programs, tools } = facts.node
    groups.push({ comment: 'scripts of package.json', commands: scripts.map((script) => runScript(manager, script)) })
    groups.push({ comment: "the project's own programs", commands: programs })
    const run = manager === 'npm' ? 'npx' : manager === 'bun' ? 'bunx' : `${manager} exec`
    groups.push({ comment: 'its development tools', commands: tools.map((tool) => `${run} ${tool}`) })
  }
  if (facts.rust) {
    const { programs } = facts.rust
    groups.push({
      comment: 'Cargo.toml',
      commands: ['cargo build', 'cargo check', 'cargo test', 'cargo clippy', 'cargo fmt'],
    })
    groups.push({ comment: "the project's own programs", commands: programs.map((name) => `target/debug/${name}`) })
  }
  if (facts.python) {
    // Named by its path, a program is another one to a grant.
    const { environment, tools, programs } = facts.python
    const bothWays = (names: readonly string[]) => [...names, ...names.map((name) => `${environment}/bin/${name}`)]
    groups.push({ comment: 'Python tools of the project', commands: bothWays(tools) })
    groups.push({ comment: "the project's own programs", commands: bothWays(programs) })
  }
  if (facts.go) groups.push({ comment: 'go.mod', commands: ['go build', 'go test', 'go vet', 'go fmt'] })
  if (facts.java === 'maven') groups.push({ comment: 'pom.xml', commands: ['mvn compile', 'mvn test'] })
  if (facts.java === 'gradle') groups.push({ comment: 'build.gradle', commands: ['./gradlew build', './gradlew test'] })
  for (const { runner, file, targets } of facts.runners) {
    groups.push({ comment: `targets of ${file}`, commands: targets.map((target) => `${runner} ${target}`) })
  }
  return groups
}

function runScript(manager: string, script: string): string {
  return manager === 'npm' && script === 'test' ? 'npm test' : `${manager} run ${script}`
}

function renderCommands(groups: readonly Group[], services: readonly Service[]): string {
  const seen = new Set<string>()
  const lines: string[] = []
  for (const { comment, commands } of groups) {
    const fresh = commands.filter((command) => {
      const words = command.split(' ')
      // A project may call its own program `dd`: what would be unwise for that name is not proposed.
      if (seen.has(command) || grantRefusal(words) !== null || broadGrant(command) !== null) return false
      seen.add(command)
      return true
    })
    if (fresh.length > 0) lines.push(`  # ${comment}`, ...fresh.map(renderCommand))
  }
  const databases = renderServices(services)
  if (lines.length === 0) return databases === '' ? '' : `# [capabilities.allow.commands]\n${databases}`
  return `[capabilities.allow.commands]
# What the project itself offers. Other commands run inside the sandbox too, as long as they stay in it.
patterns = [
${lines.join('\n')}
]
${databases}`
}

/** Databases beside the project: only a person opens them. */
function renderServices(services: readonly Service[]): string {
  if (services.length === 0) return ''
  const hosts = services.map(({ port }) => `"localhost:${port}"`).join(', ')
  const named = services.map(({ name, source }) => `${name} of ${source}`).join(', ')
  return `# Remove the first # of these lines to let commands reach these on this machine: ${named}.
# default_domains = [${hosts}]
# [http]
# allow_private_hosts = true   # localhost is one
`
}

function renderCommand(command: string): string {
  const text = printString(`${command}:*`)
  if (!REACHES_OUT.test(command.slice(command.lastIndexOf(' ') + 1))) return `  ${text},`
  return `  { command = ${text}, prompt = true }, # by its name it reaches out, so it asks each time`
}

const fetchesPackages = ({ node, rust, python }: ProjectFacts): boolean => Boolean(node || rust || python)

const PACKAGES = `[packages]
# Most attacks by package arrive in a version that is hours old, and are found within a day: younger versions
# are left out of what the registry offers. "0s" takes them, and trusted = ["@acme/*"] those of such names.
minimum_age = "1d"
`

const HINTS = `# More, when you need it:
#
#   [http]
#   allowed_hosts = ["docs.python.org"]          # the web tools reach these hosts only
#
#   [capabilities.deny.commands]
#   patterns = ["terraform apply:*"]             # never, not even with a yes
#
#   [capabilities.deny.read]
#   paths = ["customers/**"]                     # hidden from the agent and from every command
#
#   [capabilities.allow]
#   additional_directories = ["~/shared-notes"]  # another directory to work in
#
#   [audit]
#   arguments = true                             # the record names commands and paths, with secrets masked
`
