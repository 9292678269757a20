/** What loads and is still unwise: the warnings of `cordon policy lint`. */

import type { RuleRef } from '../../policy/policy.ts'
import type { CommandEntry, Item, Manifest, PathEntry } from '../schema/manifest.ts'
import { itemsOf } from '../schema/manifest.ts'
import { type Finding, type Problem, problemAt } from '../toml/problem.ts'
import { quoteShort } from '../toml/tree.ts'

/** Programs of many trades: a grant of the bare name grants the worst of them. The text says what to write instead. */
const BROAD_GRANTS: Readonly<Record<string, string>> = {
  git: 'name the subcommand, such as "git status:*"',
  gh: 'name the subcommand, such as "gh pr view:*"',
  glab: 'name the subcommand, such as "glab mr view:*"',
  'npm run': 'name the script, such as "npm run test:*"',
  'pnpm run': 'name the script, such as "pnpm run test:*"',
  'yarn run': 'name the script, such as "yarn run test:*"',
  'bun run': 'name the script, such as "bun run test:*"',
  npm: 'name the subcommand, such as "npm test:*"',
  pnpm: 'name the subcommand, such as "pnpm test:*"',
  yarn: 'name the subcommand, such as "yarn test:*"',
  bun: 'name the subcommand, such as "bun test:*"',
  npx: 'name the program, such as "npx vitest:*"',
  bunx: 'name the program, such as "bunx vitest:*"',
  uvx: 'name the program, such as "uvx ruff:*"',
  cargo: 'name the subcommand, such as "cargo test:*"',
  go: 'name the subcommand, such as "go test:*"',
  make: 'name the target, such as "make test"',
  just: 'name the recipe, such as "just test"',
  docker: 'name the subcommand, such as "docker ps:*"; a container can mount the whole machine',
  podman: 'name the subcommand, such as "podman ps:*"; a container can mount the whole machine',
  kubectl: 'name the subcommand, such as "kubectl get:*"',
  terraform: 'name the subcommand, such as "terraform plan:*"',
  aws: 'name the service and the operation, such as "aws s3 ls:*"',
  gcloud: 'name the group and the operation',
  az: 'name the group and the operation',
  rm: 'name the directory, such as "rm -r dist"',
  chmod: 'let it ask',
  chown: 'let it ask',
  dd: 'let it ask',
  curl: 'let the agent use its webfetch tool, or set domains on the grant',
  wget: 'let the agent use its webfetch tool, or set domains on the grant',
  ssh: 'name the host, such as "ssh build.example.org uptime"',
  scp: 'let it ask',
  rsync: 'let it ask',
  find: 'let it ask for -exec and -delete: grant "ls:*" and "rg:*" instead',
  sed: 'let the agent use its edit tool',
  tee: 'let the agent use its write tool',
}

const SECRET_GLOB =
  /^(?:\*\*\/)?(?:\.env.*[*?]|.*\*.*(?:\.(?:key|pem|seed|pfx|p12|jks|keystore)|_rsa|_ed25519)$|\.(?:npm|pypi|net)rc[*?])/
const PROGRAM_VARIABLES =
  /^(?:LD_|DYLD_|BASH_ENV|ENV$|NODE_OPTIONS|PYTHON(?:PATH|STARTUP|HOME)|PERL5?(?:LIB|OPT)|RUBY(?:OPT|LIB)|GIT_(?:SSH|PAGER|EDITOR|EXTERNAL)|JAVA_TOOL_OPTIONS)/

/** Dangerous values of scalars, and why. `compile.ts` reports those that warn at every load. */
const DANGEROUS: readonly {
  readonly path: string
  readonly value: unknown
  readonly why: string
  readonly instead: string
}[] = [
  {
    path: 'permission.mode',
    value: 'auto',
    why: 'mode "auto" runs everything that no deny rule stops',
    instead: 'use mode = "contained"',
  },
  {
    path: 'permission.auto_accept',
    value: true,
    why: 'every ask is answered with yes',
    instead: 'use mode = "contained" and auto_accept = false',
  },
  {
    path: 'security.system_python',
    value: true,
    why: 'interpreters can be granted, and run anything',
    instead: 'let the agent use python_exec and code_exec',
  },
  {
    path: 'http.allow_private_hosts',
    value: true,
    why: 'the web tools reach services on this machine and in its network',
    instead: 'delete it, or name the hosts under allowed_hosts',
  },
  {
    path: 'sandbox.os.command_mask_secrets',
    value: false,
    why: 'commands can read keys and credentials',
    instead: 'grant the one secret by its name under [capabilities.allow.read]',
  },
  {
    path: 'sandbox.os.command_fs',
    value: 'all',
    why: 'commands can read the whole disk',
    instead: 'grant the directories they need',
  },
  {
    path: 'sandbox.os.command_fs',
    value: 'permissive',
    why: 'commands can read your whole home directory',
    instead: 'grant the directories they need',
  },
  {
    path: 'audit.arguments',
    value: true,
    why: 'the audit keeps the arguments of every call',
    instead: 'delete it when you no longer need them',
  },
]

/** Warnings about a manifest that loaded, in its own order. */
export function lintManifest(manifest: Manifest): Problem[] {
  const warnings: Problem[] = []
  const warn = (at: RuleRef, finding: Finding): void => {
    warnings.push(problemAt('warning', at, finding))
  }
  lintSettings(manifest, warn)
  lintCommands(manifest, warn)
  lintPaths(manifest, warn)
  lintUnused(manifest, warn)
  return warnings.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
}

type Warn = (at: RuleRef, finding: Finding) => void

function lintSettings(manifest: Manifest, warn: Warn): void {
  for (const { path, value, why, instead } of DANGEROUS) {
    const setting = manifest.settings.get(path)
    if (setting !== undefined && setting.value === value)
      warn(setting, { code: 'dangerous-setting', message: why, suggestion: instead })
  }
  for (const item of itemsOf<string>(manifest, 'capabilities.allow.additional_directories')) {
    if (!/^(?:\/|~|~\/|\/home|\/root|\/Users|\/etc)\/?$/.test(item.value)) continue
    const message = `${quoteShort(item.value)} makes far more than a project a root`
    warn(item, { code: 'broad-grant', message, suggestion: 'name the directory you mean' })
  }
  for (const item of itemsOf<string>(manifest, 'shell_policy.allow')) {
    if (item.value.trim().length >= 3) continue
    const message = `${quoteShort(item.value)} is part of nearly every command`
    warn(item, { code: 'broad-grant', message, suggestion: 'write a longer part of the command' })
  }
}

/** What to write instead of granting all that this program can do; null when its open grant is nothing special. */
export function broadGrant(command: string): string | null {
  return Object.hasOwn(BROAD_GRANTS, command) ? BROAD_GRANTS[command]! : null
}

function lintCommands(manifest: Manifest, warn: Warn): void {
  for (const item of itemsOf<CommandEntry>(manifest, 'capabilities.allow.commands.patterns')) {
    const { command, prompt, env_vars: variables = [] } = item.value
    const bare = /^(.*?)\s*:\*\s*$/.exec(command)?.[1]?.trim().replace(/\s+/g, ' ')
    const instead = bare === undefined ? null : broadGrant(bare)
    if (instead !== null && !prompt) {
      const message = `${quoteShort(command)} grants everything the program can do`
      warn(item, { code: 'broad-grant', message, suggestion: instead })
    }
    for (const variable of variables) lintVariable(variable, warn)
  }
  for (const item of itemsOf<string>(manifest, 'capabilities.allow.commands.default_env_vars')) lintVariable(item, warn)
  for (const item of itemsOf<string>(manifest, 'sandbox.os.env_allowlist')) lintVariable(item, warn)
}

function lintVariable(item: Item<string>, warn: Warn): void {
  if (!PROGRAM_VARIABLES.test(item.value)) return
  const message = `${item.value} makes a program run other code`
  warn(item, { code: 'dangerous-setting', message, suggestion: 'delete it' })
}

function lintPaths(manifest: Manifest, warn: Warn): void {
  for (const verb of ['read', 'write']) {
    for (const item of itemsOf<PathEntry>(manifest, `capabilities.allow.${verb}.paths`)) {
      const { path, files } = item.value
      if (/^(?:\/|~|~\/)(?:\*\*?)?$/.test(path) || path === '/**') {
        const message = `${quoteShort(path)} grants far more than the project`
        warn(item, { code: 'broad-grant', message, suggestion: 'name the directory you mean' })
      }
      const glob = (files ?? [path.slice(path.lastIndexOf('/') + 1)]).find((name) => SECRET_GLOB.test(name))
      if (glob !== undefined) {
        const message = `${quoteShort(glob)} opens every secret of that shape`
        warn(item, { code: 'broad-grant', message, suggestion: 'name the one file you mean' })
      }
    }
  }
}

function lintUnused(manifest: Manifest, warn: Warn): void {
  const patterns = itemsOf<CommandEntry>(manifest, 'capabilities.allow.commands.patterns')
  const unused = (path: string, why: string): void => {
    const setting = manifest.settings.get(path)
    if (setting !== undefined && (setting.value as readonly Item[]).length > 0) {
      warn(setting, { code: 'unused', message: why, suggestion: 'delete it' })
    }
  }
  if (patterns.every((item) => item.value.inherit_default_domains === false)) {
    unused('capabilities.allow.commands.default_domains', 'no pattern inherits these hosts')
  }
  if (patterns.length === 0) unused('capabilities.allow.commands.default_env_vars', 'no pattern gets these variables')
  for (const verb of ['read', 'write']) {
    if (itemsOf(manifest, `capabilities.allow.${verb}.paths`).length > 0) continue
    unused(`capabilities.allow.${verb}.default_files`, 'there are no paths for these file names')
  }
  if (itemsOf(manifest, 'sandbox.os.command_tools').length === 0) {
    unused('sandbox.os.wrappers', 'there are no bundles for these wrappers')
  }
}
