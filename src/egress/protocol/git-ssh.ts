/**
 * git over ssh with the person's own keys: ssh runs and logs in outside; the command gets the
 * stream of one git service.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Admission } from '../route/gate.ts'
import { judgeGit } from '../route/rules.ts'
import type { Dialer } from '../route/upstream.ts'
import { type GitCall, readGitCall } from '../wire/git-call.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { authorityOf } from '../wire/target.ts'
import { type Passage, recordAllowed, recordRefused, refuseSocket, startRecord } from './passage.ts'

/** The person's ssh settings. */
export interface GitSsh {
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly dialer: Dialer
}

/** Variables that ssh needs to find its agent, and to ask for a passphrase. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'SSH_AUTH_SOCK', 'SSH_ASKPASS', 'DISPLAY', 'WAYLAND_DISPLAY']
const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n'
const MAX_WORDS = 4_096

/** Serves a CONNECT request for a git service. */
export function carryGit(passage: Passage, socket: Socket, admission: Admission, header: string): void {
  const { target } = admission.route
  const record = startRecord(passage, { kind: 'tunnel', target, method: 'GIT' })
  const refuse = (refusal: EgressDenial) => {
    recordRefused(passage, record, refusal)
    refuseSocket(passage, socket, refusal, target)
  }
  const call = readGitCall(header)
  if ('problem' in call) return void refuse({ code: 'malformed-request', message: call.problem })
  const refusal = judgeGit(admission.rules, target, call)
  if (refusal !== null) return void refuse(refusal)
  if (passage.git === null || admission.route.parent !== undefined) {
    const message = `${authorityOf(target, null)} cannot be reached by ssh through a parent proxy; name it in no_proxy`
    return void refuse({ code: 'upstream-unreachable', message })
  }
  const child = start(passage.git, admission, call)
  const [input, output, errors] = [child.stdin!, child.stdout!, child.stderr!]
  let words = ''
  let [up, down] = [0, 0]
  let open = false
  errors.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString('utf8')).slice(-MAX_WORDS)
  })
  socket.once('close', () => child.kill())
  for (const stream of [input, output, errors]) stream.on('error', () => child.kill())
  child.once('error', (error) => {
    words = error.message
  })
  // Confirm only after the far side has answered: until then the host's refusal can still be
  // reported.
  output.once('data', (first: Buffer) => {
    open = true
    socket.write(ESTABLISHED)
    socket.write(first)
    output.pipe(socket)
    socket.pipe(input)
  })
  output.on('data', (chunk: Buffer) => {
    down += chunk.length
  })
  socket.on('data', (chunk: Buffer) => {
    up += chunk.length
  })
  socket.pause()
  child.once('close', () => {
    const { addresses } = admission.route
    if (open) return recordAllowed(passage, record, { up, down, address: addresses[0] ?? null })
    const said = words.trim().split('\n').at(-1)?.trim().slice(0, 300) || 'it ended without a word'
    refuse({ code: 'upstream-unreachable', message: `your ssh to ${authorityOf(target, null)}: ${said}` })
  })
}

function start(git: GitSsh, { route }: Admission, call: GitCall): ChildProcess {
  const { target } = route
  const place = git.dialer({ target, addresses: route.addresses.slice(0, 1) })
  const env = Object.fromEntries(PASSED.flatMap((name) => (git.env[name] ? [[name, git.env[name]]] : [])))
  const config = join(git.home, '.ssh', 'config')
  const known = join(git.home, '.ssh', 'known_hosts')
  const asks = env.SSH_ASKPASS !== undefined
  const options = [
    `HostName=${place.host}`,
    // The key must be the known one for the name, at any of its addresses.
    `HostKeyAlias=${target.port === 22 ? target.host : `[${target.host}]:${target.port}`}`,
    `UserKnownHostsFile="${known}"`,
    'StrictHostKeyChecking=yes',
    'CheckHostIP=no',
    // Only known_hosts counts, not DNS records of keys.
    'VerifyHostKeyDNS=no',
    'UpdateHostKeys=no',
    // The person's configuration must not redirect, run programs, or open more than the one stream.
    'ProxyCommand=none',
    'ProxyJump=none',
    'ControlMaster=no',
    'ControlPath=none',
    'PermitLocalCommand=no',
    'RemoteCommand=none',
    'ClearAllForwardings=yes',
    'ForwardAgent=no',
    'ForwardX11=no',
    'Tunnel=no',
    'SendEnv=-*',
    'PasswordAuthentication=no',
    'KbdInteractiveAuthentication=no',
    `BatchMode=${asks ? 'no' : 'yes'}`,
    'ConnectTimeout=20',
    ...(call.protocol === null ? [] : [`SetEnv=GIT_PROTOCOL=${call.protocol}`]),
  ]
  const words = [
    '-T',
    ...(existsSync(config) ? ['-F', config] : []),
    ...options.flatMap((option) => ['-o', option]),
    '-p',
    String(place.port),
    ...(call.user === null ? [] : ['-l', call.user]),
    '--',
    target.host,
    `git-${call.service} '${call.path}'`,
  ]
  return spawn('ssh', words, {
    env: { ...env, ...(asks && { SSH_ASKPASS_REQUIRE: 'force' }) },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}
