/** `cordon hook`: what the agents people already use call before each of their tools. */

import { constants, fstatSync, openSync, read, readFileSync, readSync } from 'node:fs'
import { errorCode, messageOf } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { ancestorArguments, thisMachine } from '../../../../system/machine.ts'
import { answerHook, blocked, type HookAnswer } from '../../../hook/answer-hook.ts'
import { ANSWER_SECONDS } from '../../../hook/host/hook-command.ts'
import { findHost, HOST_NAMES } from '../../../hook/hosts/hosts.ts'
import { parseArguments, textFlag } from '../../arguments.ts'
import { cordonWords } from '../../cordon-words.ts'
import { type CommandContext, commandRow, EXIT, UsageError } from '../../usage.ts'

/** A tool call with a whole file in it is big; more than this is not one. */
const MAX_INPUT = 64 * 1024 * 1024
/** A host has written its input before it waits. */
const INPUT_MS = 10_000

/** Runs `cordon hook HOST` and `cordon hook run`. */
export async function run({ terminal, argv, untouched }: CommandContext): Promise<number> {
  const args = parseArguments(commandRow('hook')!, argv)
  const [name = '', command, ...rest] = args.words
  const root = textFlag(args, 'root') ?? null
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

/** All of stdin as text; null when it is too much or no UTF-8. Read directly, because `process.stdin` takes time to make. */
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
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    return null
  }
}

/** Reads the next of stdin. What a host has written is there before we are; a thread that waits for it is only made for the rest. */
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

/** Stdin without waiting: a file, or a pipe that is opened once more, since how it was opened belongs to the host too. */
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

/** Ends the process when this takes too long: a host that has waited for its own limit runs the tool. */
async function withDeadline<T>(ms: number, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => {
    const sorry = 'cordon: the call could not be judged in time, so it was blocked.'
    // A read of stdin that never returns would keep `process.exit` waiting for its thread; another program does not wait.
    process.execve?.('/bin/sh', ['sh', '-c', `echo "${sorry}" >&2; exit ${EXIT.usage}`], {})
    process.kill(process.pid, 'SIGKILL')
  }, ms)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

/** How the sandbox's init was started: by a descriptor, with the numbers of others and no word beside them. */
const INIT = /^\/proc\/self\/fd\/\d+\0(?:[a-z]?\d+\0){2,8}$/

/**
 * True only where all of it holds: pid 1 is Cordon's init, without new privileges and without capabilities, but for the one by which
 * the broker reads a path; this process has none, and is under a filter; no user namespace can be made. A program outside cannot
 * choose its pid 1.
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
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
