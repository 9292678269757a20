/** What every backend must do: run a plan, pass streams and status through exactly, end everything, and fault clearly. */

import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { decodePath } from '../../../src/files/path-bytes.ts'
import {
  type Capability,
  type LaunchIo,
  type LaunchResult,
  requireCapable,
  type SandboxFault,
} from '../../../src/sandbox/backend.ts'
import { planLayout } from '../../../src/sandbox/layout.ts'
import type { SandboxPlan } from '../../../src/sandbox/plan.ts'
import { readHostFacts, readIdentities } from '../../../src/sandbox/session.ts'
import { faultExit } from '../../../src/system/fault.ts'
import { type PlanChange, planIn } from '../../plan-in.ts'
import { BACKENDS, rowsOf } from './backends.ts'

beforeAll(() => {
  execFileSync(fileURLToPath(new URL('../../../native/build.sh', import.meta.url)))
})

let project: string
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'cordon-backend-'))
})
afterEach(() => rmSync(project, { recursive: true, force: true }))

function plan(argv: readonly string[], change: PlanChange = {}): SandboxPlan {
  const env = { PATH: '/usr/bin:/bin', HOME: '/home/somebody' }
  return planIn(project, argv, { env, home: env.HOME, limits: { timeoutMs: 240_000 }, ...change })
}

afterAll(() => {
  for (const { backend } of BACKENDS) backend.release()
})

const sh = (script: string, change: PlanChange = {}) => plan(['bash', '-c', script], change)
const outputOf = (result: LaunchResult) => result.stdout!.bytes.toString('utf8')
const CAPTURE = { stdout: 'capture', stderr: 'capture' } as const

describe.each(BACKENDS)('$name', ({ backend }) => {
  const having = rowsOf(backend)
  const capture = (chosen: SandboxPlan, io: LaunchIo = {}) => backend.launch(chosen, { ...CAPTURE, ...io })
  const faultOf = async (launch: () => Promise<unknown>) => {
    try {
      await launch()
    } catch (error) {
      const { code, message, remedy, path } = error as SandboxFault
      return { code, message, remedy, path, exitCode: faultExit(code) }
    }
    throw new Error('expected a fault, but the command ran')
  }

  describe('a plan that is under way', () => {
    const underway = (complete: () => SandboxPlan) => {
      const layout = () => {
        const request = {
          baseline: 'system',
          home: '/home/somebody',
          cwd: project,
          reads: [],
          writes: [project],
        } as const
        return planLayout({ ...request, limits: {}, facts: readHostFacts({ ...request, unixSockets: false }) })
      }
      return { layout, limits: {}, sockets: false, complete }
    }

    test('is completed before the launch gives its promise, and runs', async () => {
      let completed = 0
      const launch = backend.launch(
        underway(() => {
          completed++
          return sh('echo whole')
        }),
        CAPTURE,
      )
      expect(completed).toBe(1)
      expect(outputOf(await launch)).toBe('whole\n')
      expect(completed).toBe(1)
    })

    test('that cannot be completed runs nothing', async () => {
      const failing = underway(() => {
        throw new Error('no plan')
      })
      await expect(backend.launch(failing, CAPTURE)).rejects.toThrow('no plan')
    })
  })

  test.each([
    { needs: 'listener', plan: () => sh('true', { network: 'listener' }), io: {} },
    { needs: 'servers', plan: () => sh('true', { servers: [8080] }), io: {} },
    {
      needs: 'terminal',
      plan: () => sh('true'),
      io: { terminal: { input: new PassThrough(), output: new PassThrough() } },
    },
    { needs: 'moved-files', plan: () => sh('true'), io: { verify: () => true } },
  ] satisfies { needs: Capability; plan: () => SandboxPlan; io: LaunchIo }[])(
    'without $needs a plan that needs it is refused',
    ({ needs, plan: asked, io }) => {
      const less = { ...backend, capabilities: new Set([...backend.capabilities].filter((one) => one !== needs)) }
      expect(() => requireCapable(less, asked(), io)).toThrow(expect.objectContaining({ code: 'sandbox-unable' }))
      if (backend.capabilities.has(needs)) requireCapable(backend, asked(), io)
    },
  )

  having('stand-ins').test('a file replaces one of the host, read-only, and the host keeps its own', async () => {
    const source = join(project, 'source')
    writeFileSync(source, 'another release\n')
    const own = readFileSync('/etc/os-release', 'utf8')
    const standIns = [
      { path: '/etc/os-release', source },
      { path: '/etc/cordon-nothing-here', source },
    ]
    const script = 'cat /etc/os-release; echo x >> /etc/os-release; rm -f /etc/os-release; ls /etc/cordon-nothing-here'
    const result = await capture(sh(script, { standIns, writes: [], reads: [project] }))
    expect(outputOf(result)).toBe('another release\n')
    expect(result.stderr!.bytes.toString()).toMatch(/Read-only file system|Permission denied/)
    expect(readFileSync(source, 'utf8')).toBe('another release\n')
    expect(readFileSync('/etc/os-release', 'utf8')).toBe(own)
  })

  test.each([
    { name: 'success', script: 'true', code: 0, signal: null, exitCode: 0 },
    { name: 'a code', script: 'exit 7', code: 7, signal: null, exitCode: 7 },
    { name: 'the largest code', script: 'exit 255', code: 255, signal: null, exitCode: 255 },
    { name: 'a signal', script: 'kill -TERM $$', code: null, signal: 'SIGTERM', exitCode: 143 },
    { name: 'a crash', script: 'kill -SEGV $$', code: null, signal: 'SIGSEGV', exitCode: 139 },
    { name: 'a kill', script: 'kill -KILL $$', code: null, signal: 'SIGKILL', exitCode: 137 },
  ])('status passes through: $name', async ({ script, code, signal, exitCode }) => {
    expect(await capture(sh(script))).toMatchObject({ code, signal, exitCode, timedOut: false, cancelled: false })
  })

  test('streams are kept apart', async () => {
    const result = await capture(sh('echo out; echo err >&2'))
    expect([outputOf(result), result.stderr!.bytes.toString()]).toEqual(['out\n', 'err\n'])
  })

  test.each([
    { name: 'text', stdin: 'some text' as const, expected: 'some text' },
    { name: 'bytes', stdin: Buffer.from('bytes'), expected: 'bytes' },
    { name: 'a stream', stdin: Readable.from(['a', 'b']), expected: 'ab' },
    { name: 'none', stdin: 'none' as const, expected: '' },
  ])('stdin: $name', async ({ stdin, expected }) => {
    expect(outputOf(await capture(plan(['cat']), { stdin }))).toBe(expected)
  })

  test('a command that ignores a large stdin ends', async () => {
    expect((await capture(plan(['true']), { stdin: 'x'.repeat(5_000_000) })).exitCode).toBe(0)
  })

  test('output goes to a stream', async () => {
    const stream = new PassThrough()
    await capture(sh('echo hello'), { stdout: stream })
    expect(stream.read().toString()).toBe('hello\n')
  })

  test('the environment is the plan’s and nothing else', async () => {
    const env = { PATH: '/usr/bin', ODD: 'a=b\nc', EMPTY: '' }
    expect(outputOf(await capture(plan(['env', '-0'], { env })))).toBe('PATH=/usr/bin\0ODD=a=b\nc\0EMPTY=\0')
  })

  test('arguments pass through as they are', async () => {
    const words = ['', ' ', '-x', 'a\nb', '$(x)', 'ünïcödé', '"']
    const result = await capture(plan(['printf', '%s\\0', ...words]))
    expect(outputOf(result).split('\0').slice(0, -1)).toEqual(words)
  })

  test('no descriptor but the three', async () => {
    expect(
      outputOf(await capture(plan(['ls', '/proc/self/fd'])))
        .split('\n')
        .slice(0, -1),
    ).toEqual(['0', '1', '2', '3'])
  })

  having('same-user').test('the user is the same inside', async () => {
    expect(outputOf(await capture(sh('id -u; id -g')))).toBe(`${process.getuid!()}\n${process.getgid!()}\n`)
  })

  test('output beyond the cap spills to a file, whole', async () => {
    const spillDirectory = join(project, 'spill')
    mkdirSync(spillDirectory)
    const limits = { outputBytes: 1000 }
    const result = await capture(sh('seq 100000', { limits }), { spillDirectory })
    expect(result.stdout).toMatchObject({ truncated: true, total: 588895 })
    expect(result.stdout!.bytes.length).toBe(1000)
    expect(readFileSync(result.stdout!.spill!, 'utf8')).toBe(execFileSync('seq', ['100000'], { encoding: 'utf8' }))
  })

  test('a timeout ends everything', async () => {
    const result = await capture(sh('trap "" TERM INT; sleep 600 & sleep 600', { limits: { timeoutMs: 300 } }))
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGKILL', exitCode: 137 })
  })

  test('a cancel ends everything', async () => {
    const stop = new AbortController()
    const running = capture(sh('echo started; sleep 600'), {
      signal: stop.signal,
      stdout: new Writable({
        write: (_chunk, _encoding, done) => {
          stop.abort()
          done()
        },
      }),
    })
    expect(await running).toMatchObject({ cancelled: true, signal: 'SIGKILL' })
  })

  having('signals').test('a signal for this process is passed on', async () => {
    const running = capture(sh('trap "echo got it; exit 9" USR2; echo started; while :; do sleep 0.05; done'), {
      forwardSignals: ['SIGUSR2'],
      stdout: new Writable({
        write: (chunk, _encoding, done) => {
          if (String(chunk).includes('started')) process.kill(process.pid, 'SIGUSR2')
          done()
        },
      }),
    })
    expect((await running).code).toBe(9)
  })

  test('background processes do not outlive the command', async () => {
    const result = await capture(sh('setsid sleep 611 & nohup sleep 611 & disown -a; echo done'))
    expect(outputOf(result)).toBe('done\n')
    expect(processesNamed('sleep\x311')).toEqual([])
  })

  test.each([
    { name: 'missing command', argv: ['no-such-command'], code: 'command-not-found', exitCode: 127 },
    { name: 'missing file', argv: ['/no/such/file'], code: 'command-not-found', exitCode: 127 },
    { name: 'not executable', argv: ['/etc/passwd'], code: 'command-not-executable', exitCode: 126 },
    { name: 'a directory', argv: ['/usr'], code: 'command-not-executable', exitCode: 126 },
    { name: 'NUL in an argument', argv: ['echo', 'a\0b'], code: 'sandbox-plan', exitCode: 125 },
  ])('fault: $name', async ({ argv, code, exitCode }) => {
    expect(await faultOf(() => capture(plan(argv)))).toMatchObject({ code, exitCode })
  })

  test('fault: a working directory that vanished', async () => {
    const cwd = join(project, 'gone')
    mkdirSync(cwd)
    const chosen = plan(['true'], { cwd })
    rmSync(cwd, { recursive: true })
    expect(await faultOf(() => capture(chosen))).toMatchObject({ code: 'working-directory', exitCode: 125 })
  })

  having('moved-files').test('fault: a secret that vanished between the scan and the start', async () => {
    const secret = join(project, '.env')
    expect(await faultOf(() => capture(plan(['true'], { masks: [secret] })))).toMatchObject({ code: 'mask-moved' })
  })

  having('moved-files').test('fault: a secret behind a link is not where it was seen', async () => {
    execFileSync('ln', ['-s', '/etc', join(project, 'link')])
    expect(await faultOf(() => capture(plan(['true'], { masks: [join(project, 'link/passwd')] })))).toMatchObject({
      code: 'mask-moved',
    })
  })

  having('moved-files').test(
    'fault: a granted directory that became a link between the scan and the start',
    async () => {
      const [granted, outside] = ['granted', 'outside'].map((name) => join(project, name)) as [string, string]
      for (const folder of [granted, outside]) mkdirSync(folder)
      writeFileSync(join(outside, 'secret'), 'TOPSECRET')
      const chosen = sh('cat granted/secret; touch ran', { writes: [granted], cwd: granted })
      rmSync(granted, { recursive: true })
      symlinkSync(outside, granted)
      expect(await faultOf(() => capture(chosen))).toMatchObject({ code: 'place-moved', exitCode: 125, path: granted })
      expect(readdirSync(outside)).toEqual(['secret'])
    },
  )

  test('fault: 10,000 separate grants', async () => {
    const binds = Array.from({ length: 10_000 }, (_, i) => ({ path: `/grant/${i}`, mode: 'read-only' as const }))
    const fault = await faultOf(() => capture({ ...plan(['true']), binds }))
    expect(fault).toMatchObject({ code: 'sandbox-plan', exitCode: 125 })
    expect(fault.message).toMatch(/1000\d/)
  })

  test('a project with a newline, spaces and quotes in its path', async () => {
    const odd = join(project, 'a\nb "c" \'d\' $e')
    mkdirSync(odd)
    writeFileSync(join(odd, '.env'), 'secret')
    const result = await capture(
      sh('pwd; cat .env; touch new', { cwd: odd, writes: [odd], masks: [join(odd, '.env')] }),
    )
    expect(outputOf(result)).toBe(`${odd}\n`)
    expect(readdirSync(odd).sort()).toEqual(['.env', 'new'])
  })

  test('a read-only project', async () => {
    const result = await capture(sh('touch x', { reads: [project], writes: [] }))
    expect(result.stderr!.bytes.toString()).toContain('Read-only file system')
  })

  test('a missing grant is skipped, named, and not created on the host', async () => {
    const missing = join(project, 'missing')
    const chosen = plan(['true'], { reads: [missing], writes: [missing] })
    expect(chosen.skipped.map(({ reason }) => reason)).toEqual(['missing', 'missing'])
    await capture({ ...chosen, cwd: '/' })
    expect(readdirSync(project)).toEqual([])
  })

  having('observed-masks').test('3,000 masks hide every file, and an open is observed', async () => {
    const masks = Array.from({ length: 3000 }, (_, i) => join(project, `${i}.key`))
    for (const path of masks) writeFileSync(path, 'secret')
    const seen: string[] = []
    const result = await capture(sh('cat *.key | wc -c; cat 1234.key', { masks }), {
      onViolation: (violation) => seen.push(violation.path!),
    })
    expect(outputOf(result)).toBe('0\n')
    expect(new Set(seen)).toEqual(new Set(masks))
    expect(result.violations.every(({ kind, certainty }) => kind === 'mask-opened' && certainty === 'observed')).toBe(
      true,
    )
  })

  having('observed-masks').test('a mask that nobody opens is not a violation', async () => {
    writeFileSync(join(project, '.env'), 'secret')
    const result = await capture(sh('ls -la; stat .env', { masks: [join(project, '.env')] }))
    expect(result).toMatchObject({ violations: [], masksWatched: true })
  })

  having('lifted-masks').test('a secret replaced on the host while the command runs is noticed', async () => {
    const secret = join(project, '.env')
    writeFileSync(secret, 'old')
    const running = capture(sh('echo started; until grep -q new .env; do sleep 0.02; done', { masks: [secret] }), {
      stdout: new Writable({
        write: (_chunk, _encoding, done) => {
          writeFileSync(join(project, 'fresh'), 'new')
          renameSync(join(project, 'fresh'), secret)
          done()
        },
      }),
    })
    expect((await running).violations).toContainEqual(expect.objectContaining({ kind: 'mask-lifted', path: secret }))
  })

  having('moved-files').describe('a secret that is moved while a command starts', () => {
    /** The plan is computed; then a running command swaps the secret's directory for a decoy. */
    const swapped = (identities: boolean) => {
      const folder = join(project, 'deep')
      mkdirSync(folder)
      writeFileSync(join(folder, 'id_rsa'), 'TOPSECRET')
      const masks = [join(folder, 'id_rsa')]
      const chosen = sh('cat */id_rsa', { masks, ...(identities && { maskIdentities: readIdentities(masks) }) })
      renameSync(folder, join(project, 'real'))
      mkdirSync(folder)
      writeFileSync(join(folder, 'id_rsa'), 'decoy')
      return chosen
    }

    test('is a fault when the launch knows which file it was', async () => {
      expect(await faultOf(() => capture(swapped(true)))).toMatchObject({ code: 'mask-moved', exitCode: 125 })
    })

    test('control: by path alone, the decoy is masked and the secret is open', async () => {
      expect(outputOf(await capture(swapped(false)))).toBe('TOPSECRET')
    })

    test.each([
      { name: 'finds something', verify: () => false },
      {
        name: 'fails itself',
        verify: () => {
          throw new Error('cannot look')
        },
      },
    ])('is a fault when the last look $name, and the command never runs', async ({ verify }) => {
      const fault = await faultOf(() => capture(sh('touch ran'), { verify }))
      expect(fault).toMatchObject({ code: 'mask-moved' })
      expect(readdirSync(project)).toEqual([])
    })

    test('runs when the last look finds nothing', async () => {
      const looks: string[][] = []
      const verify = () => looks.push(readdirSync(project)) > 0
      expect((await capture(sh('touch ran'), { verify })).exitCode).toBe(0)
      expect(looks).toEqual([[]])
    })
  })

  having('observed-masks').test('a masked file whose name is not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from(`${project}/`), Buffer.from([0xff, 0xfe]), Buffer.from('.key')])
    writeFileSync(bytes, 'TOPSECRET')
    const masks = [decodePath(bytes)]
    const result = await capture(sh('cat *.key; ls | wc -l', { masks, maskIdentities: readIdentities(masks) }))
    expect(outputOf(result)).toBe('1\n')
    expect(result.violations.map(({ path }) => path)).toEqual(masks)
  })

  having('listener').test('the network listener answers from outside', async () => {
    const chosen = sh('exec 3<>/dev/tcp/127.0.0.1/3128; echo question >&3; cat <&3', { network: 'listener' })
    const result = await capture(chosen, {
      onListener: (server) => {
        server.on('connection', (socket) => socket.once('data', (data) => socket.end(`answer to ${data}`)))
      },
    })
    expect(outputOf(result)).toBe('answer to question\n')
  })

  having('listener').test('two sandboxes have a listener each', async () => {
    const ask = (name: string) =>
      capture(sh('exec 3<>/dev/tcp/127.0.0.1/3128; cat <&3', { network: 'listener' }), {
        onListener: (server) => server.on('connection', (socket) => socket.end(name)),
      })
    const results = await Promise.all([ask('one'), ask('two')])
    expect(results.map(outputOf)).toEqual(['one', 'two'])
  })

  test('git works, and its hooks are protected', async () => {
    execFileSync('git', ['init', '-q', project])
    mkdirSync(join(project, '.git/hooks'), { recursive: true })
    const identity = 'git config user.name a && git config user.email a@b.c'
    const result = await capture(
      sh(
        `${identity} && echo x > f && git add f && git commit -qm one && git remote add o ../x && git log --format=%s`,
        {
          pins: [{ path: join(project, '.git/hooks'), mode: 'read-only' }],
        },
      ),
    )
    expect(outputOf(result)).toBe('one\n')
  })

  having('terminal').describe('its own terminal', () => {
    /** Types each answer when the output shows its cue. */
    async function converse(
      script: string,
      dialogue: readonly (readonly [string, string | (() => void)])[],
    ): Promise<string> {
      const input = new PassThrough()
      const pending = [...dialogue]
      let shown = ''
      const output = Object.assign(
        new Writable({
          write: (chunk, _encoding, done) => {
            shown += String(chunk)
            const next = pending[0]
            if (next && shown.includes(next[0])) {
              pending.shift()
              if (typeof next[1] === 'string') input.write(next[1])
              else next[1]()
            }
            done()
          },
        }),
        { rows: 40, columns: 100 },
      )
      resize = (rows, columns) => {
        output.rows = rows
        output.columns = columns
        output.emit('resize')
      }
      await backend.launch(sh(script, { terminal: { rows: 40, columns: 100 } }), { terminal: { input, output } })
      return shown.replaceAll('\r', '')
    }
    let resize: (rows: number, columns: number) => void

    test('all three streams are it, and it has the size', async () => {
      expect(await converse('[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size && tty', [])).toMatch(
        /^40 100\n\/dev\/pts\/\d+\n$/,
      )
    })

    test('no output is lost at the end', async () => {
      expect((await converse('seq 20000', [])).split('\n').length).toBe(20001)
    })

    test('the clipboard is out of reach, colours are not', async () => {
      const script = String.raw`printf 'a\033]52;c;aGk=\007b\033]52;c;aGk=\033\\c\033[31md'`
      expect(await converse(script, [])).toBe('abc\u001b[31md')
    })

    test('a resize reaches the program', async () => {
      const script = 'trap "stty size; exit" WINCH; echo go; while :; do sleep 0.05; done'
      expect(await converse(script, [['go', () => resize(30, 90)]])).toContain('30 90')
    })

    test('Ctrl-C interrupts the program in front', async () => {
      const script = 'trap "echo interrupted; exit 3" INT; echo go; while :; do sleep 0.05; done'
      expect(await converse(script, [['go', '\x03']])).toContain('interrupted')
    })

    test('Ctrl-D ends the input', async () => {
      expect(await converse('echo go; cat; echo ended', [['go', '\x04']])).toContain('ended')
    })

    test('raw mode passes bytes through', async () => {
      const script = 'stty raw -echo; echo go; head -c 2 | od -An -tx1; stty sane'
      expect(await converse(script, [['go', '\x03\x04']])).toContain('03 04')
    })

    test('job control', async () => {
      const shown = await converse('PS1="ready> " bash --norc -i', [
        ['ready> ', 'bash -c "echo in\'\'front; exec sleep 100"\n'],
        ['infront', '\x1a'],
        ['Stopped', 'kill -9 %1; exec echo fin""ished\n'],
      ])
      expect(shown).toContain('finished')
    })
  })
})

/** Host processes whose command line contains the text; a process that is ending has none. */
function processesNamed(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
}
