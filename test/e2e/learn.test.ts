/** `cordon learn` for what people run: the proposal works, and every line of it is needed. */

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from './cordon.ts'

interface Case {
  readonly name: string
  readonly command: readonly string[]
  readonly project: Readonly<Record<string, string>>
  /** Files below the home directory. */
  readonly home: Readonly<Record<string, string>>
  readonly make?: (project: Project) => void
  /** Put before the folders of PATH. */
  readonly path?: (project: Project) => string
  /** Kind and value as the manifest has it. */
  readonly lines: readonly (readonly [kind: string, value: string])[]
  /** Part of what it says it does not propose. */
  readonly withheld?: readonly string[]
  /** What the command leaves, to be cleared away before it runs again. */
  readonly leaves: readonly string[]
}

const inFolder = (folder: string, program: string, args: readonly string[]) =>
  execFileSync(program, args, { cwd: folder, stdio: 'pipe' })

const WHEEL = `import zipfile
w = zipfile.ZipFile('demo-1.0-py3-none-any.whl', 'w')
w.writestr('demo.py', 'x = 1\\n')
w.writestr('demo-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n')
w.writestr('demo-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
w.writestr('demo-1.0.dist-info/RECORD', '')
w.close()
`

const NODE_MODULES = join(import.meta.dirname, '../../node_modules')
/** What the person granted by hand: the tools of the project lie beside it. */
const WITH_TOOLS = `schema_version = 1\n[capabilities.allow.read]\npaths = ["**", ${JSON.stringify(`${NODE_MODULES}/**`)}]\n`

/** The toolchain of this machine; without one its row falls away, and where the system has its own cargo nothing needs to be granted. */
const SYSROOT = spawnSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' }).stdout?.trim() ?? ''
const CRATE = (name: string, more = '') => `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n${more}`
const CARGO: Case = {
  name: 'cargo build with a crate beside the project',
  command: ['cargo', 'build', '--quiet', '--offline'],
  project: {
    'Cargo.toml': CRATE('p', '[dependencies]\ndep = { path = "../home/crates/dep" }\n'),
    'src/main.rs': 'fn main() { println!("{}", dep::x()) }\n',
  },
  home: {
    'crates/dep/Cargo.toml': CRATE('dep'),
    'crates/dep/src/lib.rs': 'pub fn x() -> u8 { 1 }\n',
    'crates/other/Cargo.toml': CRATE('other'),
  },
  // As rustup leaves it: programs below ~/.cargo/bin, the rest below ~/.rustup.
  make: ({ home }) => {
    const toolchain = join(home, '.rustup/toolchains/here')
    mkdirSync(toolchain, { recursive: true })
    mkdirSync(join(home, '.cargo/bin'), { recursive: true })
    for (const part of ['bin', 'lib'])
      inFolder(home, 'cp', ['-a', '--reflink=auto', '-l', join(SYSROOT, part), toolchain])
    for (const program of ['cargo', 'rustc'])
      symlinkSync(join(toolchain, 'bin', program), join(home, '.cargo/bin', program))
  },
  path: ({ home }) => join(home, '.cargo/bin'),
  // The toolchain needs no line: commands that name cargo see where rustup put it.
  lines: [
    ['read', '~/crates/dep/Cargo.toml'],
    ['read', '~/crates/dep/src/lib.rs'],
  ],
  leaves: ['target', 'Cargo.lock'],
}

const CASES: readonly Case[] = [
  {
    name: 'a virtual environment whose python is a link to an installation elsewhere',
    command: ['.venv/bin/tests'],
    project: { '.venv/pyvenv.cfg': '' },
    home: { 'opt/py/lib/data': 'x\n', 'opt/other/data': '' },
    make: ({ directory, home }) => {
      mkdirSync(join(home, 'opt/py/bin'))
      inFolder(home, 'cp', ['-L', '/bin/sh', join(home, 'opt/py/bin/python3')])
      mkdirSync(join(directory, '.venv/bin'))
      symlinkSync(join(home, 'opt/py/bin/python3'), join(directory, '.venv/bin/python'))
      const text = `#!${directory}/.venv/bin/python\nset -e\ncat ${home}/opt/py/lib/data\n`
      writeFileSync(join(directory, '.venv/bin/tests'), text, { mode: 0o755 })
    },
    lines: [['read', '~/opt/py/**']],
    leaves: [],
  },
  ...(existsSync(join(SYSROOT, 'bin/cargo')) && !existsSync('/usr/bin/cargo') ? [CARGO] : []),
  {
    name: 'vitest with a fixture beside the project',
    command: ['node_modules/.bin/vitest', 'run'],
    project: {
      'cordon.toml': WITH_TOOLS,
      'package.json': '{"name":"p","type":"module"}',
      'sum.test.mjs': `import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { expect, it } from 'vitest'
it('adds', () => expect(readFileSync(homedir() + '/fixtures/sum.txt', 'utf8')).toBe('3'))
`,
    },
    home: { 'fixtures/sum.txt': '3', 'fixtures/other.txt': '4' },
    make: ({ directory }) => symlinkSync(NODE_MODULES, join(directory, 'node_modules')),
    lines: [['read', '~/fixtures/sum.txt']],
    leaves: [],
  },
  {
    name: 'vite build with a module beside the project',
    command: ['node_modules/.bin/vite', 'build'],
    project: {
      'cordon.toml': WITH_TOOLS,
      'index.html': '<!doctype html><script type="module" src="/main.js"></script>',
      'main.js': "import { theme } from '../home/shared/theme.js'\ndocument.title = theme\n",
    },
    home: { 'shared/theme.js': 'export const theme = "t"\n', 'shared/unrelated.js': '' },
    make: ({ directory }) => symlinkSync(NODE_MODULES, join(directory, 'node_modules')),
    lines: [['read', '~/shared/theme.js']],
    leaves: ['dist'],
  },
  {
    name: 'npm ci, from a tarball beside the project',
    command: ['npm', 'ci'],
    project: {
      'package.json': JSON.stringify({ name: 'p', dependencies: { dep: 'file:../home/pkgs/dep-1.0.0.tgz' } }),
      'package-lock.json': JSON.stringify({
        name: 'p',
        lockfileVersion: 3,
        packages: {
          '': { name: 'p', dependencies: { dep: 'file:../home/pkgs/dep-1.0.0.tgz' } },
          'node_modules/dep': { version: '1.0.0', resolved: 'file:../home/pkgs/dep-1.0.0.tgz' },
        },
      }),
    },
    home: { 'pkgs/package/package.json': '{"name":"dep","version":"1.0.0"}', 'pkgs/other.txt': 'x' },
    make: ({ home }) => void inFolder(join(home, 'pkgs'), 'tar', ['czf', 'dep-1.0.0.tgz', 'package']),
    lines: [['read', '~/pkgs/dep-1.0.0.tgz']],
    leaves: ['node_modules'],
  },
  {
    name: 'a build that imports its configuration and assets from elsewhere, and a file that it can do without',
    command: ['node', 'build.mjs'],
    project: {
      'build.mjs': `import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { theme } from '../home/shared/config.mjs'
const at = homedir() + '/assets/'
if (existsSync(homedir() + '/notes/optional.json')) console.log('optional')
mkdirSync('dist', { recursive: true })
writeFileSync('dist/out.css', theme + ['a', 'b', 'c'].map((name) => readFileSync(at + name + '.css', 'utf8')).join(''))
`,
    },
    home: {
      'shared/config.mjs': 'export const theme = "t"\n',
      'shared/unrelated.mjs': '',
      'assets/a.css': 'a',
      'assets/b.css': 'b',
      'assets/c.css': 'c',
      'notes/optional.json': '{}',
    },
    lines: [
      ['read', '~/shared/config.mjs'],
      ['read', '~/assets/**'],
    ],
    leaves: ['dist'],
  },
  {
    name: 'git clone from a folder',
    command: ['git', 'clone', '-q', '../home/repos/x.git', 'out'],
    project: {},
    home: { 'repos/y/readme': 'y' },
    make: ({ home }) => void inFolder(join(home, 'repos'), 'git', ['init', '-q', '--bare', 'x.git']),
    lines: [['read', '~/repos/x.git/**']],
    leaves: ['out'],
  },
  {
    name: 'pip install from a folder of wheels',
    command: [
      '/usr/bin/python3',
      '-m',
      'pip',
      'install',
      '-q',
      '--no-index',
      '--find-links',
      '../home/wheels',
      '--target',
      'vendor',
      'demo',
    ],
    project: {},
    home: { 'wheels/make.py': WHEEL },
    make: ({ home }) => void inFolder(join(home, 'wheels'), '/usr/bin/python3', ['make.py']),
    lines: [['read', '~/wheels/**']],
    leaves: ['vendor'],
  },
  {
    name: 'a Makefile that includes rules and installs into a folder',
    command: ['make', 'install'],
    project: { Makefile: 'include ../home/mk/rules.mk\ninstall:\n\tcp Makefile $(DEST)/installed\n' },
    home: { 'mk/rules.mk': 'DEST = ../home/out\n', 'out/keep': '' },
    lines: [
      ['read', '~/mk/rules.mk'],
      ['directory', '~/out'],
    ],
    leaves: ['../home/out/installed'],
  },
  {
    name: 'a script that wants secrets',
    command: ['sh', 'deploy.sh'],
    project: {
      'deploy.sh':
        'cat .env; cat ~/.aws/credentials; cat ~/.ssh/id_ed25519; set -e; cat ~/plans/today.txt > plan.txt\n',
      '.env': 'TOKEN=hunter2-from-env\n',
    },
    home: {
      '.aws/credentials': 'aws_secret_access_key = hunter2-from-aws\n',
      '.ssh/id_ed25519': 'hunter2-from-ssh\n',
      'plans/today.txt': 'go',
      'plans/other.txt': 'stay',
    },
    lines: [['read', '~/plans/today.txt']],
    withheld: ['.env', '~/.aws/credentials', '~/.ssh/id_ed25519'],
    leaves: ['plan.txt'],
  },
]

describe.each(CASES)('$name', ({ command, project: files, home, make, path, lines, withheld = [], leaves }) => {
  let project: Project
  let learned: {
    proof: string
    lines: { kind: string; value: string }[]
    withheld: { subject: string }[]
    text: string
  }
  let said = ''
  const clear = () => {
    for (const path of leaves) rmSync(join(project.directory, path), { recursive: true, force: true })
  }
  const works = (text: string): boolean => {
    clear()
    writeFileSync(join(dirname(project.directory), 'tried.toml'), text)
    return project.cordon(['run', '--quiet', '--manifest', '../tried.toml', '--', ...command], { env }).code === 0
  }
  let env: Record<string, string> = {}
  beforeAll(() => {
    project = new Project(files)
    for (const [path, text] of Object.entries(home)) {
      mkdirSync(dirname(join(project.home, path)), { recursive: true })
      writeFileSync(join(project.home, path), text)
    }
    make?.(project)
    if (path) env = { PATH: `${path(project)}:${process.env.PATH}` }
    if (files['cordon.toml'] !== undefined) project.cordon(['sign', '--yes'])
    const ran = project.cordon(['learn', '--try', '--json', '--', ...command], { env })
    said = ran.out + ran.err
    learned = JSON.parse(ran.out)
  })
  afterAll(() => project.remove())

  it('is proven, and says what it withholds', () => {
    expect(learned.proof, said).toBe('proven')
    expect(learned.lines.length).toBe(lines.length)
    for (const [, value] of lines) expect(learned.text).toContain(JSON.stringify(value))
    const kept = learned.withheld.map(({ subject }) => subject)
    for (const subject of withheld)
      expect(
        kept.some((one) => one.endsWith(subject)),
        subject,
      ).toBe(true)
    expect(said).not.toContain('hunter2')
    // What the last run created is there, once.
    for (const path of leaves) expect(existsSync(join(project.directory, path)), path).toBe(true)
  })

  it('works as a manifest, and without any line it does not', () => {
    expect(works(learned.text)).toBe(true)
    for (const [, value] of lines) {
      const without = learned.text.replace(
        new RegExp(`(, )?${JSON.stringify(value).replace(/[.*+?^$|()[\]\\]/g, '\\$&')}`),
        '',
      )
      expect(without).not.toBe(learned.text)
      expect(works(without), value).toBe(false)
    }
  })
})

describe('what it does not do', () => {
  let project: Project
  beforeAll(() => {
    project = new Project({
      'cordon.toml': 'schema_version = 1\n# mine\n[sandbox.os]\ncommand_fs = "system" # as it was\n',
    })
    mkdirSync(join(project.home, 'lib'))
    writeFileSync(join(project.home, 'lib/a.txt'), 'a')
    project.cordon(['sign', '--yes'])
  })
  afterAll(() => project.remove())

  it('without a yes it runs once, closed, and changes nothing', () => {
    const before = readFileSync(join(project.directory, 'cordon.toml'), 'utf8')
    const { code, out } = project.cordon(['learn', '--', 'sh', '-c', 'cat ~/lib/a.txt > copy.txt'])
    expect(code).toBe(1)
    expect(out).toContain('they were not tested')
    expect(out).toContain('+ read ~/lib/a.txt')
    expect(readFileSync(join(project.directory, 'cordon.toml'), 'utf8')).toBe(before)
  })

  it('a command that works as it is needs nothing, whatever it probed', () => {
    const { code, out } = project.cordon(['learn', '--try', '--json', '--', 'sh', '-c', 'cat ~/lib/a.txt; true'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ proof: 'nothing-needed', lines: [], runs: 1 })
  })

  it('a host is named by what the command asked for, and the lines go into the manifest that is there', () => {
    const ask = "fetch('https://pkg.example.org/x').catch(() => process.exit(3))"
    const { code, out } = project.cordon(['learn', '--json', '--', 'node', '-e', ask])
    const { lines, diff, text } = JSON.parse(out)
    expect(code).toBe(1)
    expect(lines).toMatchObject([{ kind: 'host', value: 'pkg.example.org' }])
    expect(diff).toEqual(['+ [capabilities.allow.commands]', '+ default_domains = ["pkg.example.org"]'])
    expect(text).toContain('command_fs = "system" # as it was')
  })

  it('a variable and a host are granted to the command that wants them', () => {
    const script = '#!/bin/sh\nnode -e "fetch(\'https://pkg.example.org/x\')" 2>/dev/null\n: ${BUILD_TARGET:?}\n'
    project.write('need.sh', script)
    chmodSync(join(project.directory, 'need.sh'), 0o755)
    const learn = (...options: string[]) => {
      const words = ['learn', ...options, '--json', '--', './need.sh']
      return JSON.parse(project.cordon(words, { env: { BUILD_TARGET: 'x' } }).out)
    }
    expect(learn().diff).toContain(
      '+ patterns = [{ command = "./need.sh", domains = ["pkg.example.org"], env_vars = ["BUILD_TARGET"] }]',
    )
    // It does without the host.
    const { proof, diff } = learn('--try')
    expect(proof).toBe('proven')
    expect(diff).toContain('+ patterns = [{ command = "./need.sh", env_vars = ["BUILD_TARGET"] }]')
  })

  it('a record shows what was refused', () => {
    project.cordon(['run', '--', 'node', '-e', "fetch('https://wanted.example.org/').catch(() => {})"])
    const { out } = project.cordon(['learn', '--from', 'record', '--json'])
    const { lines, proof, diff } = JSON.parse(out)
    expect(proof).toBe('recorded')
    expect(lines.map(({ value }: { value: string }) => value)).toContain('wanted.example.org')
    // What the runs before were refused is in it too.
    expect(diff).toContain('+ default_domains = ["pkg.example.org", "wanted.example.org"]')
  })
})

describe.each([{ args: true }, { args: false }])('after an import, arguments recorded: $args', ({ args }) => {
  const settings = {
    permissions: { allow: ['Bash(node used.js)', 'Bash(node unused.js:*)', 'Read(~/notes/**)'] },
    sandbox: { network: { allowedDomains: ['never.example.org'] } },
  }

  it('what nobody used is offered for removal, and the rest still works', () => {
    const project = new Project({ '.claude/settings.json': JSON.stringify(settings), 'used.js': '' })
    try {
      project.cordon(['import', 'claude-code', '--out', 'cordon.toml'])
      const imported = readFileSync(join(project.directory, 'cordon.toml'), 'utf8')
      writeFileSync(join(project.directory, 'cordon.toml'), `${imported}\n[audit]\narguments = ${args}\n`)
      expect(project.cordon(['sign', '--yes']).code).toBe(0)
      const unusedNow = (...from: readonly string[]) => {
        const { out } = project.cordon(['learn', ...from.flatMap((file) => ['--from', file]), '--json'])
        return JSON.parse(out) as { unused: { value: string }[]; text: string | null; diff: string[] }
      }
      // Of a record without calls nothing follows.
      expect(unusedNow('record')).toMatchObject({ unused: [], text: null })
      const call = { tool_name: 'Bash', tool_input: { command: 'node used.js' }, cwd: project.directory }
      const input = JSON.stringify({ ...call, hook_event_name: 'PreToolUse', session_id: 's' })
      const hook = () => project.cordon(['hook', 'claude-code', '--root', project.directory], { input })
      // What the hook put in its place is what the agent runs, and what is recorded.
      const { updatedInput } = JSON.parse(hook().out).hookSpecificOutput
      const env = { PATH: process.env.PATH, HOME: project.home }
      execFileSync('sh', ['-c', updatedInput.command], { cwd: project.directory, env, stdio: 'pipe' })
      const file = join(project.home, '.local/state/cordon/audit/claude-code-s.0.jsonl')
      for (const from of ['record', file]) {
        const { unused, text, diff } = unusedNow(from)
        expect(unused.map(({ value }) => value)).toEqual(['node unused.js:*', 'never.example.org'])
        expect(diff.filter((row) => row.startsWith('-')).map((row) => row.slice(2).trim())).toEqual([
          '"node unused.js:*",',
          '"never.example.org",',
        ])
        expect(text).toContain('"node used.js"')
      }
      // Only what closes: nothing that was refused is added.
      const thin = project.cordon(['learn', '--from', 'record', '--unused', '--json'])
      expect(JSON.parse(thin.out)).toMatchObject({ lines: [] })
      const { code } = project.cordon(['learn', '--from', 'record', '--unused', '--out', 'thinner.toml'])
      expect(code).toBe(0)
      renameSync(join(project.directory, 'thinner.toml'), join(project.directory, 'cordon.toml'))
      expect(project.cordon(['sign', '--yes']).code).toBe(0)
      expect(hook().out).toContain('"allow"')
    } finally {
      project.remove()
    }
  })
})

it.each([
  { every: true, left: ['shred:*'] },
  { every: false, left: ['touch:*', 'shred:*'] },
])('a grant that a started program needed is used, with every_program = $every', ({ every, left }) => {
  const manifest = `schema_version = 1\n[security]\nevery_program = ${every}\n[audit]\narguments = true\n[capabilities.allow.commands]\npatterns = ["./build.sh", "touch:*", "shred:*"]\n`
  const project = new Project({ 'cordon.toml': manifest, 'build.sh': '#!/bin/sh\ntouch output\n' })
  try {
    chmodSync(join(project.directory, 'build.sh'), 0o755)
    expect(project.cordon(['sign', '--yes']).code).toBe(0)
    const call = { tool_name: 'Bash', tool_input: { command: './build.sh' }, cwd: project.directory }
    const input = JSON.stringify({ ...call, hook_event_name: 'PreToolUse', session_id: 's' })
    const { out } = project.cordon(['hook', 'claude-code', '--root', project.directory], { input })
    const { updatedInput } = JSON.parse(out).hookSpecificOutput
    const env = { PATH: process.env.PATH, HOME: project.home }
    execFileSync('sh', ['-c', updatedInput.command], { cwd: project.directory, env, stdio: 'pipe' })
    const learned = JSON.parse(project.cordon(['learn', '--from', 'record', '--unused', '--json']).out)
    expect(learned.unused.map(({ value }: { value: string }) => value)).toEqual(left)
  } finally {
    project.remove()
  }
})
