/**
 * The ssh settings of a sandbox: a ProxyCommand in plain bash, because no other program is certain
 * to exist, and a configuration. PURE.
 */

export const SSH_CONNECT = `#!/bin/bash
# ssh-connect HOST PORT [SERVICE]: a tunnel, or the stream of a git service, through the proxy on standard input and output.
exec 3<>"/dev/tcp/$CORDON_PROXY_HOST/$CORDON_PROXY_PORT" || exit 1
case $1 in
  *:*) target="[$1]:$2" ;;
  *) target="$1:$2" ;;
esac
service=
[ -n "$3" ] && service="Cordon-Git: $3"$'\\r\\n'
[ -n "$CORDON_PROXY_AUTH" ] && service="Proxy-Authorization: Basic $CORDON_PROXY_AUTH"$'\\r\\n'"$service"
printf 'CONNECT %s HTTP/1.1\\r\\nHost: %s\\r\\n%s\\r\\n' "$target" "$target" "$service" >&3
IFS= read -r status <&3
while IFS= read -r line <&3 && [ "$line" != $'\\r' ]; do :; done
case $status in
  'HTTP/1.1 200 '*) ;;
  *) cat <&3 >&2; exit 1 ;;
esac
cat <&3 &
# Only the reader may hold standard output, or ssh would never see the end.
exec >&3
cat
wait
`

/**
 * Replaces ssh for git: for hosts where Cordon logs in, sends git's request to the proxy; otherwise
 * runs ssh. `hosts` are `host:port` globs.
 */
export function gitSsh(connect: string, config: string, hosts: readonly string[]): string {
  return `#!/bin/bash
all=("$@") port=22 user=
while [ $# -gt 0 ]; do
  case $1 in
    -p) port=$2; shift 2 ;;
    -o) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
host=$1; shift
case $host in *@*) user=\${host%@*} host=\${host##*@} ;; esac
host=\${host#[} host=\${host%]}
case \${host,,}:$port in
  ${hosts.join('|') || "''"})
    exec '${connect}' "$host" "$port" "$(printf '%s\\n%s\\n%s' "$user" "$GIT_PROTOCOL" "$*" | base64 -w0)" ;;
esac
exec ssh -F '${config}' "\${all[@]}"
`
}

/** The file that every OpenSSH reads after the person's own. */
export const MACHINE_SSH_CONFIG = '/etc/ssh/ssh_config'

/**
 * The ssh configuration inside, instead of the machine's. In a user namespace ssh would refuse the
 * files that the machine's includes, because their owner is unmapped. The first value that ssh
 * finds wins.
 */
export function sshConfig(
  connect: string,
  knownHosts: string,
  facts: { readonly home?: string; readonly proxiedLoopback?: readonly string[] },
): string {
  const local = ['localhost', '127.0.0.1', '::1'].filter((name) => !facts.proxiedLoopback?.includes(name))
  const lines = [
    // A server inside the sandbox is reached without the proxy.
    ...(local.length === 0 ? [] : [`Host ${local.join(' ')}`, 'ProxyCommand none', 'Host *']),
    `ProxyCommand '${connect}' %h %p`,
    `UserKnownHostsFile "${knownHosts}" ~/.ssh/known_hosts`,
    // Shared connections use unix sockets, which are refused inside.
    'ControlPath none',
    'ControlMaster no',
    ...(facts.home === undefined ? [] : [`Include "${facts.home}/.ssh/config"`]),
  ]
  return lines.map((line) => `${line}\n`).join('')
}
