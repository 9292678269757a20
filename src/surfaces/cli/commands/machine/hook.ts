/** `cordon hook`: the program that agent hosts call before each tool. */

import { constants, fstatSync, openSync, read, readFileSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { attempt, errorCode, messageOf } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { ancestorArguments, thisMachine } from '../../../../system/machine.ts'
import { answerHook, blocked, type HookAnswer } from '../../../hook/answer-hook.ts'
import { ANSWER_SECONDS } from '../../../hook/host/hook-command.ts'
import { findHost, HOST_NAMES } from '../../../hook/hosts/hosts.ts'
import { textFlag } from '../../arguments.ts'
import { cordonWords } from '../../cordon-words.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

/** Larger inputs are not tool calls. */
const MAX_INPUT = 64 * 1024 * 1024
const INPUT_MS = 10_000

/** Runs `cordon hook HOST` and `cordon hook run`. */
export async function run({ terminal, args, untouched }: CommandContext): Promise<number> {
  const [name = '', command, ...rest] = args.words
  const named = textFlag(args, 'root')
  const root = named === undefined ? null : resolve(thisMachine().cwd, named)
  if (name === 'run') {
    const key = textFlag(args, 'key')
    if (command === undefined || rest.length > 0 || (root === null) === (key === undefined))
      throw new UsageError('cordon hook run is for hooks: it needs --key or --root, and one command after --')
    const { runInPlace } = await import('../../../hook/run-in-place.ts')
    const start = textFlag(args, 'in')
    if (start !== undefined) process.chdir(start)
    const session = textFlag(args, 'session') ?? null
    const owner = root === null ? key! : { root, session, host: textFlag(args, 'host') ?? 'hook' }
    return runInPlace(terminal, owner, command, args.flags.undo === true)
  }
  const answer = await answered(name, root).catch((error: unknown) => blocked(messageOf(error)))
  if (answer.unread) untouched?.()
  if (answer.stderr) terminal.err(answer.stderr)
  if (answer.stdout) terminal.out(`${answer.stdout}\n`)
  return answer.exitCode
}

async function answered(name: string, root: string | null): Promise<HookAnswer> {
  const host = findHost(name)
  if (!host) return blocked(`there is no hook for “${name}”; there is one for ${HOST_NAMES.join(', ')}`)
  const input = await withDeadline(INPUT_MS, readInput())
  if (input === null) return blocked(`the host’s input could not be read, or has more than ${MAX_INPUT} bytes`)
  // The program is the one that runs now: the rewritten command has to find the same.
  const cordon = cordonWords()
  const inside = isInsideSandbox()
  const machine = thisMachine()
  const setting = { machine, files: machineFiles, root, cordon, inside, commandLines: ancestorArguments }
  return withDeadline(ANSWER_SECONDS * 1000, answerHook(host, input, setting))
}

/** All of stdin as text; null if too long or not UTF-8. Read directly, because `process.stdin` is slow to create. */
async function readInput(): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for (const next = inputReader(); ; ) {
    const chunk = await next()
    if (chunk.length === 0) break
    size += chunk.length
    if (size > MAX_INPUT) return null
    chunks.push(chunk)
  }
  return attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)), null)
}

/** Reads stdin. Hosts usually write their input before we start, so a reader thread is created only for the rest. */
function inputReader(): () => Buffer | Promise<Buffer> {
  const ready = unblockedInput()
  return () => {
    const buffer = Buffer.allocUnsafe(64 * 1024)
    if (ready === null) return awaitInput(buffer)
    try {
      return buffer.subarray(0, readSync(ready, buffer))
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') return awaitInput(buffer)
      throw error
    }
  }
}

/** Reads stdin without blocking. A pipe is reopened, because its flags are shared with the host. */
function unblockedInput(): number | null {
  try {
    const facts = fstatSync(0)
    if (facts.isFile()) return 0
    return facts.isFIFO() ? openSync('/proc/self/fd/0', constants.O_RDONLY | constants.O_NONBLOCK) : null
  } catch {
    return null
  }
}

function awaitInput(buffer: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const attempt = (): void => {
      read(0, buffer, 0, buffer.length, null, (error, bytes) => {
        if (error?.code === 'EAGAIN') setTimeout(attempt, 5)
        else if (error && error.code !== 'EOF') reject(error)
        else resolve(buffer.subarray(0, bytes ?? 0))
      })
    }
    attempt()
  })
}

/** Ends the process after a deadline: a host whose own limit expires runs the tool. */
async function withDeadline<T>(ms: number, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => {
    const sorry = 'cordon: the call could not be judged in time, so it was blocked.'
    // A blocked read of stdin would keep `process.exit` waiting for its thread, so replace the process.
    process.execve?.('/bin/sh', ['sh', '-c', `echo "${sorry}" >&2; exit ${EXIT.usage}`], {})
    process.kill(process.pid, 'SIGKILL')
  }, ms)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

/** The init's command line: started by descriptor, with descriptor numbers as its only words. */
const INIT = /^\/proc\/self\/fd\/\d+\0(?:[a-z]?\d+\0){2,8}$/

/**
 * True only if all of this applies: pid 1 is Cordon's init, without new privileges and with at most the capability by
 * which the broker reads a path; this process has no capabilities, runs under a filter and cannot create a user
 * namespace. A program outside cannot choose its pid 1.
 */
export function isInsideSandbox(read: (path: string) => string = readText): boolean {
  if (!INIT.test(read('/proc/1/cmdline'))) return false
  if (read('/proc/sys/user/max_user_namespaces').trim() !== '0') return false
  const [init, own] = [read('/proc/1/status'), read('/proc/self/status')]
  if (![init, own].every((status) => /^NoNewPrivs:\s+1$/m.test(status) && /^CapBnd:\s+0+$/m.test(status))) return false
  // CAP_SYS_PTRACE, in the sandbox's own user namespace.
  if (!/^CapEff:\s+0{11}[08]0000$/m.test(init)) return false
  return /^Seccomp:\s+2$/m.test(own) && /^CapEff:\s+0+$/m.test(own)
}

function readText(path: string): string {
  return attempt(() => readFileSync(path, 'latin1'), '')
}
