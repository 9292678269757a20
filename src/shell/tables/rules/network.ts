/** curl, wget, ssh, scp and rsync: what they send where. */

import { isRemotePath } from '../places.ts'
import { has, type Rule, type Use, usesOf } from '../use.ts'

const reading = /^(GET|HEAD|OPTIONS|TRACE)$/i

/** True when every address is this machine: inside the sandbox that is the sandbox itself. */
function staysHere(use: Use): boolean {
  const own = /^(?:[a-z]+:\/\/)?(?:localhost|[\w-]+\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])(?=[:/?#]|$)/i
  const urls = [...use.operands, ...usesOf(use, '--url').flatMap((option) => option.value ?? [])]
  return (
    urls.length > 0 &&
    urls.every((arg) => own.test(arg.text ?? arg.prefix)) &&
    !has(use, '-x', '--preproxy', '--connect-to')
  )
}

const curl: Rule = (use) => {
  for (const option of usesOf(use, '-b')) {
    const text = option.value?.text
    if (text != null && !text.includes('=') && text !== '') use.found.file(text, 'read', option.span)
  }
  for (const option of usesOf(use, '--data-urlencode')) {
    const text = option.value?.text
    const file = option.name === '--data-urlencode' && text != null ? /^[^=@]*@(.+)$/.exec(text)?.[1] : undefined
    if (file !== undefined && !text?.startsWith('@')) {
      use.found.hazard('option-sends-file', '`curl --data-urlencode` sends a file away', option.span)
      use.found.file(file, 'read', option.span)
    }
  }
  for (const option of usesOf(use, '--variable')) {
    const file = /^[^=@]*@(.+)$/.exec(option.value?.text ?? '')?.[1]
    if (file === undefined) continue
    use.found.hazard('option-sends-file', '`curl --variable` reads a file into the request', option.span)
    use.found.file(file, 'read', option.span)
  }
  for (const option of usesOf(use, '-w'))
    if (/%output\{/.test(option.value?.text ?? ''))
      use.found.hazard('option-writes-file', '`curl -w %output{…}` writes a file', option.span)
  for (const option of usesOf(use, '--proto-default'))
    if (!/^(https?|ftps?)$/i.test(option.value?.text ?? ''))
      use.found.hazard('option-changes-route', '`curl --proto-default` changes what an address means', option.span)
  for (const arg of use.operands)
    if (/^(?!https?:|ftps?:|wss?:|file:)[a-z][a-z0-9+.-]*:\/\//i.test(arg.text ?? ''))
      use.found.hazard('option-changes-route', '`curl` speaks another protocol than the web', arg.word.span)
  const method = usesOf(use, '-X').at(-1)?.value?.text
  const sends =
    has(use, '-F', '--form-string', '-T') ||
    (use.options.some((option) => /^(-d|--data.*|--json)$/.test(option.row?.name ?? '')) && !has(use, '-G'))
  if (staysHere(use)) use.setEffect('local', '')
  else if (method != null ? !reading.test(method) : sends) use.setEffect('remote-write', 'sends data to a server')
  else if (has(use, '-X') && method == null) use.setEffect('remote-write', 'sends a request whose method is not known')
}

const wget: Rule = (use) => {
  const method = usesOf(use, '--method').at(-1)?.value?.text
  const sends = use.options.some((option) => /^--(post|body)-/.test(option.name))
  if (staysHere(use)) use.setEffect('local', '')
  else if (sends || (method != null && !reading.test(method))) use.setEffect('remote-write', 'sends data to a server')
}

const httpie: Rule = (use) => {
  const [first, second] = use.operands
  const method = /^[A-Z]+$/.test(first?.text ?? '') ? first?.text : null
  const url = method === null ? first : second
  if (url !== undefined) use.found.hostOf(url)
  const items = use.operands.slice(method === null ? 1 : 2)
  for (const item of items) {
    const file = /^[^=@:]*(?:=|:=)?@(.+)$/.exec(item.text ?? '')?.[1]
    if (file === undefined) continue
    use.found.hazard('option-sends-file', `\`${use.program}\` sends a file away`, item.word.span)
    use.found.file(file, 'read', item.word.span)
  }
  const writes = method == null ? items.some((item) => /=|@/.test(item.text ?? '=')) : !reading.test(method)
  if (writes) use.setEffect('remote-write', 'sends data to a server')
}

/** ssh settings that start programs, open ways in, or read further configuration. */
const dangerousSetting =
  /^\s*(ProxyCommand|LocalCommand|PermitLocalCommand|KnownHostsCommand|ProxyJump|PKCS11Provider|SecurityKeyProvider|Include|Match|RemoteCommand|LocalForward|RemoteForward|DynamicForward|ControlPath|IdentityAgent|XAuthLocation|SendEnv|SetEnv|ForwardAgent|ForwardX11|UserKnownHostsFile|IdentityFile|CertificateFile|ProxyUseFdpass|Tunnel)\b/i

function sshSettings(use: Use): void {
  for (const option of usesOf(use, '-o')) {
    const text = option.value?.text
    if (text == null || dangerousSetting.test(text))
      use.found.hazard(
        'option-runs-program',
        `\`${use.program} -o ${text ?? '…'}\` can run a program or open another way`,
        option.span,
      )
  }
}

const ssh: Rule = (use) => {
  sshSettings(use)
  const host = use.operands[0]?.text
  if (host?.startsWith('-'))
    use.found.hazard('option-runs-program', 'the host name is read as an option of ssh', use.span)
}

/** Plain ssh as the transport of rsync, with a port or a key at most. */
const plainShell =
  /^(\/usr\/bin\/)?ssh( -p ?\d+| -i \S+| -[46CqTx]| -o (StrictHostKeyChecking|BatchMode|ConnectTimeout|Compression)=\S+)*$/

const copies: Rule = (use) => {
  for (const option of usesOf(use, '-e'))
    if (use.program === 'rsync' && !plainShell.test(option.value?.text ?? ''))
      use.found.hazard('option-runs-program', `\`rsync ${option.name}\` runs another program`, option.span)
  if (use.program !== 'rsync') sshSettings(use)
  const last = use.operands.length - 1
  let remote = false
  use.operands.forEach((arg, index) => {
    const text = arg.text ?? arg.prefix
    if (isRemotePath(text) || /^(ssh|sftp|scp|rsync):\/\//.test(text)) {
      remote = true
      use.found.hostOf(arg)
    } else use.found.path(arg, index === last && last > 0 ? 'write' : 'read', true)
  })
  if (use.program === 'sftp') use.found.hazard('remote-command', '`sftp` opens a session on another machine', use.span)
  if (remote || use.program === 'sftp') {
    if (has(use, '-n', '--dry-run') && use.program === 'rsync')
      use.setEffect('remote-read', 'compares files with another machine')
    else use.setEffect('remote-write', 'copies files to or from another machine')
  } else if (use.program === 'rsync' && has(use, '-n', '--dry-run')) use.setEffect('local', '')
  else if (use.program === 'rsync' && use.options.some((option) => /^--(del|remove-s)/.test(option.name)))
    use.setEffect('loss', 'deletes files that are not in the source')
  else use.setEffect('local', '')
}

/** `nc -z` only asks whether a port is open. */
const probe: Rule = (use) => {
  if (has(use, '-z') && !has(use, '-e', '-c', '-l')) use.setEffect('remote-read', 'asks whether a port is open')
  else use.found.hazard('option-changes-route', `\`${use.program}\` opens a raw connection`, use.span)
}

export const networkRules: Readonly<Record<string, Rule>> = {
  curl,
  'wget, wget2': wget,
  'http, https, xh, xhs, httpie': httpie,
  ssh,
  'scp, sftp, rsync': copies,
  'nc, ncat, netcat': probe,
}
