/** `cordon run` as a person uses it: transparent where it may be, closed where it must be. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../until.ts'
import { CLI, Project } from './cordon.ts'

describe('cordon run', () => {
  let project: Project
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project.directory, encoding: 'utf8' })

  beforeAll(() => {
    project = new Project({
      '.env': 'SECRET=hunter2\n',
      'src/a.txt': 'hello\n',
      'deep/er/id_rsa': 'KEY\n',
      'not-a-program': 'x',
    })
    chmodSync(join(project.directory, 'not-a-program'), 0o644)
    git('init', '-q', '.')
    git('config', 'user.email', 'a@b.c')
    git('config', 'user.name', 'a')
  })
  afterAll(() => project.remove())

  it.each([
    ['passes the exit code through', ['sh', '-c', 'exit 7'], 7],
    ['a signal is 128+n', ['sh', '-c', 'kill -TERM $$'], 143],
    ['not found is 127', ['no-such-program-anywhere'], 127],
    ['an empty name is not found either', [''], 127],
    ['not executable is 126', ['./not-a-program'], 126],
    ['success', ['true'], 0],
  ])('%s', (_, command, code) => {
    expect(project.cordon(['run', '--', ...command]).code).toBe(code)
  })

  it.each([
    ['a setting', 'git config --global user.name x', /^cordon: ~\/\.gitconfig went to a temporary home/m],
    ['several', 'echo > ~/.aliases; mkdir -p ~/.config/tool; echo > ~/.config/tool/x', / and one more file went to/],
    ['caches and histories', 'mkdir -p ~/.cache/x; echo > ~/.cache/x/y; echo > ~/.bash_history', null],
    ['a name with a line break', 'echo > ~/"$(printf "a\\ncordon: signed")"', /~\/a(?!\n)/],
    // More than is read at once; a name begins like the init's last word.
    ['long names', 'for i in {1..64}; do echo > ~/F"$(printf %0200d $i)"; done', / and 63 more files went to/],
    ['nothing', 'true', null],
  ])('says what went with the private home: %s', (_, script, reported) => {
    const { code, err } = project.cordon(['run', '--', 'bash', '-c', script])
    expect(code).toBe(0)
    if (reported) expect(err).toMatch(reported)
    else expect(err).not.toContain('temporary home')
    expect(err).not.toMatch(/^cordon: signed/m)
  })

  it.each([
    ['an agent with its bundle can start its hook', 'claude', ['--tool', 'claude-code'], /"permissionDecision":"deny"/],
    ['an agent without it cannot', 'claude', [], /^$/],
    ['another program cannot', 'other', ['--tool', 'claude-code'], /^$/],
  ])('hooks inside: %s', (_, name, flags, answer) => {
    const call = {
      session_id: 's1',
      cwd: project.directory,
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'sudo ls' },
    }
    const bin = join(project.directory, 'bin')
    const hook = `CLAUDE_PROJECT_DIR='${project.directory}' '${process.execPath}' '${CLI}' hook claude-code`
    project.write(`bin/${name}`, `#!/bin/sh\necho '${JSON.stringify(call)}' | ${hook} 2>/dev/null\n`)
    chmodSync(join(bin, name), 0o755)
    const env = { PATH: `${bin}:${process.env.PATH}` }
    expect(project.cordon(['run', ...flags, '--', name], { env }).out).toMatch(answer)
  })

  it('shows a command what its grant names beside the project', () => {
    const outside = join(project.directory, '../beside')
    mkdirSync(outside)
    const manifest = join(project.directory, '../paths.toml')
    writeFileSync(
      manifest,
      `schema_version = 1\n[capabilities.allow.commands]\npatterns = [{ command = "cp:*", paths = ["${outside}/**"] }]\n`,
    )
    expect(project.cordon(['run', '--manifest', manifest, '--', 'cp', 'src/a.txt', outside]).code).toBe(0)
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('hello\n')
    expect(project.cordon(['run', '--manifest', manifest, '--', 'tee', `${outside}/b`], { input: 'x' }).code).not.toBe(
      0,
    )
    expect(existsSync(join(outside, 'b'))).toBe(false)
  })

  it.each([
    ['the whole machine', () => '/'],
    ['the home directory', () => project.home],
    ['the parent of the home directory', () => join(project.home, '..')],
    ['a folder of the system', () => '/etc'],
  ])('refuses %s as a root, and names the remedy', (_, place) => {
    const ran = project.cordon(['run', '--', 'true'], { cwd: place() })
    expect(ran.code).toBe(125)
    expect(ran.err).toContain('[not-a-project]')
    expect(ran.err).toContain('--root')
    // Naming it is not a consent where no one can be asked.
    expect(project.cordon(['run', '--root', place(), '--', 'true']).code).toBe(125)
  })

  it('passes stdin, stdout and stderr through', () => {
    const ran = project.cordon(['run', '--', 'sh', '-c', 'cat; echo err >&2'], { input: 'in\n' })
    expect(ran).toMatchObject({ code: 0, out: 'in\n' })
    expect(ran.err).toContain('err')
  })

  it.each([
    ['a file as input, from a path too', 'cordon sh -c "cat /dev/stdin" < lines', '1\n2\n3\n'],
    [
      'the caller reads on where the command stopped',
      'while read x; do echo "<$x>"; cordon true; done < lines',
      '<1>\n<2>\n<3>\n',
    ],
    ['what the command has read is gone', '{ cordon head -c 2; cat; } < lines', '1\n2\n3\n'],
    ['appends to a file', 'cordon echo more >> log; cat log', 'first\nmore\n'],
    [
      'lines of both outputs keep their order in one file',
      'cordon sh -c "echo 1; echo 2 >&2; echo 3; echo 4 >&2" >> log 2>&1; cat log',
      'first\n1\n2\n3\n4\n',
    ],
    [
      'more than fits into a pipe',
      'head -c 3000000 /dev/zero > big; cordon cat < big >> log; wc -c < log',
      '3000006\n',
    ],
  ])('%s', (_, script, out) => {
    project.write('lines', '1\n2\n3\n')
    project.write('log', 'first\n')
    const run = `cordon() { "$NODE" "$CLI" run -- "$@"; }; ${script}`
    const env = { PATH: process.env.PATH, HOME: project.home, NODE: process.execPath, CLI }
    const ran = spawnSync('bash', ['-c', run], { cwd: project.directory, env, encoding: 'utf8' })
    expect(ran.stdout, ran.stderr).toBe(out)
  })

  it('at a terminal, errors go where the person sent them', () => {
    const inner = `"$NODE" "$CLI" run -- sh -c 'test -t 1 && echo out; echo err >&2' 2> errors`
    const env = { PATH: process.env.PATH, HOME: project.home, NODE: process.execPath, CLI, SHELL: '/bin/bash' }
    const ran = spawnSync('script', ['-qec', inner, '/dev/null'], { cwd: project.directory, env, encoding: 'utf8' })
    expect(ran.stdout).toContain('out')
    expect(readFileSync(join(project.directory, 'errors'), 'utf8')).toBe('err\n')
  })

  it('at a terminal, what Cordon says can be read whatever the command did to it', () => {
    const inner = `"$NODE" "$CLI" run -- sh -c 'cat .env; printf "\\033[8m\\033]0;unfinished"'`
    const env = { PATH: process.env.PATH, HOME: project.home, NODE: process.execPath, CLI, SHELL: '/bin/bash' }
    const ran = spawnSync('script', ['-qec', inner, '/dev/null'], { cwd: project.directory, env, encoding: 'utf8' })
    const [before, after] = ran.stdout.split('unfinished')
    expect(before).toContain('\u001b[8m')
    const [reset, said] = ['\u0018\u001b[0m', 'cordon:'].map((text) => after?.indexOf(text) ?? -1)
    expect(reset, JSON.stringify(after)).toBeGreaterThanOrEqual(0)
    expect(said).toBeGreaterThan(reset!)
    expect(after).toMatch(/cordon:.*\.env/s)
  })

  it('does not take a manifest that points nowhere, or a home that is not a path, for none', () => {
    const other = new Project()
    try {
      expect(other.cordon(['run', '--', 'true'], { env: { HOME: 'relative', XDG_STATE_HOME: other.home } }).code).toBe(
        0,
      )
      expect(readdirSync(other.directory)).toEqual([])
      symlinkSync('nowhere', join(other.directory, 'cordon.toml'))
      expect(other.cordon(['run', '--', 'true'])).toMatchObject({ code: 125 })
    } finally {
      other.remove()
    }
  })

  it('hides secrets at any depth, and reports that they were opened', () => {
    const ran = project.cordon(['run', '--', 'cat', '.env', 'deep/er/id_rsa', 'src/a.txt'])
    expect(ran.out).toBe('hello\n')
    expect(ran.err).toMatch(/observed: .*\.env/)
  })

  it('has no network, no other processes and no home', () => {
    const script = 'ls /proc | grep -c "^[0-9]"; ls -A "$HOME"; (exec 3<>/dev/tcp/127.0.0.1/1) 2>&1; ls /sys /run 2>&1'
    const ran = project.cordon(['run', '--', 'bash', '-c', script])
    expect(Number(ran.out.split('\n')[0])).toBeLessThan(8)
    expect(ran.out).toMatch(/refused|unreachable/)
    expect(ran.out).toMatch(/\/sys.*No such file/)
  })

  it('does not pass the keys of the environment on', () => {
    const ran = project.cordon(['run', '--', 'env'], { env: { OPENAI_API_KEY: 'sk-1', LANG: 'C.UTF-8' } })
    expect(ran.out).not.toContain('sk-1')
    expect(ran.out).toContain('LANG=C.UTF-8')
  })

  it('lets ordinary git work go on, and nothing that runs on the host stay', () => {
    const script = [
      'git add -A && git commit -qm one && git remote add origin ../origin.git && git checkout -qb topic',
      'git remote add stranger https://example.com/x',
      'git init -q nested && printf "#!/bin/sh\\nid\\n" > nested/.git/hooks/pre-commit && chmod +x nested/.git/hooks/pre-commit',
      'git config core.pager "sh -c id"',
      'mkdir -p .vscode && echo "{}" > .vscode/tasks.json',
      'mv .git .git2 2>/dev/null; echo x > .git/hooks/pre-push 2>/dev/null; true',
    ].join('\n')
    const ran = project.cordon(['run', '--', 'bash', '-c', script])
    expect(ran.code, ran.err).toBe(0)
    expect(git('log', '--oneline')).toContain('one')
    expect(git('config', '--get', 'remote.origin.url')).toContain('origin.git')
    // A host that no one granted is given the person's credentials with the next push.
    expect(git('config', '--get-regexp', '^remote\\..*\\.url$')).not.toContain('example.com')
    expect(spawnSync('git', ['config', '--get', 'core.pager'], { cwd: project.directory }).status).toBe(1)
    expect(existsSync(join(project.directory, 'nested/.git/hooks/pre-commit'))).toBe(false)
    expect(existsSync(join(project.directory, '.vscode/tasks.json'))).toBe(false)
    expect(existsSync(join(project.directory, '.git/hooks/pre-push'))).toBe(false)
    expect(ran.err).toMatch(/pre-commit/)
    expect(ran.err).toMatch(/\.git\/config is protected/)
    expect(ran.err).toMatch(/tasks\.json/)
  })

  it('shows only what read grants name', () => {
    project.write('narrow.toml', 'schema_version = 1\n[capabilities.allow.read]\npaths = ["src/**"]\n')
    const ran = project.cordon(['run', '--manifest', 'narrow.toml', '--', 'ls', '-A', project.directory])
    expect(ran.out.trim().split('\n')).toEqual(['src'])
    rmSync(join(project.directory, 'narrow.toml'))
  })

  it('keeps denied files hidden and frozen', () => {
    project.write('data/customers/a.csv', 'name\n')
    project.write('data/keep.csv', 'keep\n')
    project.write(
      'deny.toml',
      'schema_version = 1\n[capabilities.deny.read]\npaths = ["data/customers/**"]\n[capabilities.deny.write]\npaths = ["data/keep.csv"]\n',
    )
    const script = 'cat data/customers/a.csv 2>&1; echo x > data/keep.csv; cat data/keep.csv'
    const ran = project.cordon(['run', '--manifest', 'deny.toml', '--', 'sh', '-c', script])
    rmSync(join(project.directory, 'data/keep.csv'))
    const created = project.cordon(['run', '--manifest', 'deny.toml', '--', 'sh', '-c', 'echo x > data/keep.csv'])
    expect(created.err).toMatch(/keep\.csv may not be written, by a rule/)
    project.write('data/keep.csv', 'keep\n')
    expect(ran.out).not.toContain('name')
    expect(readFileSync(join(project.directory, 'data/keep.csv'), 'utf8')).toBe('keep\n')
    rmSync(join(project.directory, 'deny.toml'))
  })

  it('prints the plan without running anything', () => {
    const ran = project.cordon(['run', '--plan', '--json', '--', 'touch', 'new'])
    expect(ran.code, ran.err).toBe(0)
    const plan = JSON.parse(ran.out)
    expect(plan.masks).toContain(join(project.directory, '.env'))
    expect(plan.network).toBe('none')
    expect(existsSync(join(project.directory, 'new'))).toBe(false)
  })

  it('says what is wrong with a working directory that vanished', () => {
    const gone = join(project.directory, 'gone')
    mkdirSync(gone)
    const script = `cd ${gone} && rmdir ${gone} && exec "$0" "$@"`
    const ran = spawnSync('sh', ['-c', script, process.execPath, CLI, 'run', '--', 'true'], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: project.home },
    })
    expect(ran.status).toBe(125)
    expect(ran.stderr).toMatch(/directory/)
  })

  it('passes signals on, and the command decides what they mean', async () => {
    const script = 'trap "echo caught; exit 9" TERM; echo ready; while :; do sleep 0.05; done'
    const child = spawn(process.execPath, [CLI, 'run', '--', 'sh', '-c', script], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      if (!out.includes('ready') && `${out}${chunk}`.includes('ready')) child.kill('SIGTERM')
      out += chunk
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(out).toBe('ready\ncaught\n')
    expect(code).toBe(9)
  })

  it('ends what runs too long, whatever it ignores', () => {
    const script = 'trap "" TERM INT; sleep 60 & sleep 60'
    const ran = project.cordon(['run', '--timeout', '0.3', '--', 'sh', '-c', script])
    expect(ran.code).toBe(137)
    expect(ran.err).toContain('time limit')
  })

  it('hands in three descriptors and no more', () => {
    const leak = spawnSync(
      'sh',
      ['-c', 'exec 9</etc/passwd; exec "$0" "$@"', process.execPath, CLI, 'run', '--', 'ls', '/proc/self/fd'],
      {
        cwd: project.directory,
        env: { PATH: process.env.PATH, HOME: project.home },
        encoding: 'utf8',
      },
    )
    // The fourth is the directory that `ls` reads.
    expect(leak.stdout.trim().split('\n')).toEqual(['0', '1', '2', '3'])
  })

  it('half an installation is not consent: a hook blocks, a command does not run', () => {
    const half = join(project.home, 'half')
    cpSync(new URL('../../dist', import.meta.url).pathname, half, {
      recursive: true,
      filter: (path) => !/chunks\/start-|code-cache|\/lib\b/.test(path),
    })
    const options = { cwd: project.directory, env: { PATH: process.env.PATH, HOME: project.home }, input: '{}' }
    const code = (...args: string[]) => spawnSync(process.execPath, [join(half, 'cordon.cjs'), ...args], options).status
    expect(code('hook', 'claude-code', '--root', project.directory)).toBe(2)
    expect(code('run', '--', 'true')).toBe(125)
  })

  it('works the same where the addon is not built', () => {
    const bare = join(project.home, 'bare')
    cpSync(join(import.meta.dirname, '../../dist'), bare, {
      recursive: true,
      filter: (path) => !/cordon-launch|code-cache|\/lib\b/.test(path),
    })
    const sums = join(bare, 'native/SHA256SUMS')
    writeFileSync(sums, readFileSync(sums, 'utf8').replace(/^.*cordon-launch.*\n/gm, ''))
    const ran = spawnSync(
      process.execPath,
      [join(bare, 'cordon.cjs'), 'run', '--', 'sh', '-c', 'cat .env; echo hi; exit 3'],
      {
        cwd: project.directory,
        env: { PATH: process.env.PATH, HOME: project.home },
        encoding: 'utf8',
      },
    )
    expect(ran).toMatchObject({ status: 3, stdout: 'hi\n' })
    expect(ran.stderr).toMatch(/observed: .*\.env/)
  })

  it('says what to do on a full disk and on one that is read-only, runs nothing, and leaves nothing', () => {
    // their own File systems, which end with the process.
    const script = `mount -t tmpfs -o size=512k none "$HOME" && cd "$1" && shift
      head -c 1m /dev/zero > "$HOME/fill" 2>/dev/null
      "$@" run -- echo ran; echo "full $?"
      rm "$HOME/fill"; find "$HOME" -name '*.json' -o -name '*.pem'
      mount -o remount,bind,ro "$HOME"
      "$@" run -- echo ran; echo "read-only $?"`
    const ran = spawnSync(
      'unshare',
      ['-rm', '--', 'sh', '-c', script, 'sh', project.directory, process.execPath, CLI],
      {
        env: { PATH: process.env.PATH, HOME: project.home },
        encoding: 'utf8',
      },
    )
    expect(ran.stdout, ran.stderr).toBe('full 125\nread-only 125\n')
    expect(ran.stderr.match(/\[(?:state|audit)-unwritable\]/g), ran.stderr).toHaveLength(2)
    expect(ran.stderr).toContain('the disk is full')
    expect(ran.stderr).toMatch(/Free (?:some )?space[\s\S]*[Mm]ake it writable/)
  })

  it('reports many hidden files in few lines', () => {
    for (let i = 0; i < 50; i++) project.write(`many/${i}.key`, 'KEY\n')
    const ran = project.cordon(['run', '--', 'sh', '-c', 'cat many/*.key'])
    rmSync(join(project.directory, 'many'), { recursive: true })
    expect(ran).toMatchObject({ code: 0, out: '' })
    expect(ran.err.match(/observed: /g)).toHaveLength(20)
    expect(ran.err).toContain('and 30 more were stopped')
  })

  it('reports what stayed of a folder that could not be removed because of what is hidden in it', () => {
    project.write('node_modules/a/index.js', '')
    project.write('node_modules/a/test/key.pem', '-----BEGIN PRIVATE KEY-----\n')
    const ran = project.cordon(['run', '--', 'rm', '-rf', 'node_modules'])
    expect(ran.code).toBe(1)
    expect(ran.err).toContain('node_modules was emptied but for what is hidden in it as a secret (a/test/key.pem)')
    expect(readFileSync(join(project.directory, 'node_modules/a/test/key.pem'), 'utf8')).toContain('PRIVATE KEY')
    rmSync(join(project.directory, 'node_modules'), { recursive: true })
  })

  it('leaves no process behind when it is killed', async () => {
    const marker = `cordon-test-${process.pid}-${Math.random().toString(36).slice(2)}`
    const child = spawn(
      process.execPath,
      [CLI, 'run', '--', 'bash', '-c', `exec -a ${marker} sleep 300 & exec -a ${marker} sleep 300`],
      {
        cwd: project.directory,
        env: { PATH: process.env.PATH, HOME: project.home },
        stdio: 'ignore',
      },
    )
    const alive = () =>
      readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(marker)).length
    await until('it runs', () => alive() >= 3)
    child.kill('SIGKILL')
    await until('nothing runs', () => alive() === 0)
  })
})

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
