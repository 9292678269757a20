/** The ProxyCommand for ssh: bash alone asks the proxy for a tunnel, since nothing else is sure to be in the sandbox. */

export const SSH_CONNECT = `#!/bin/bash
# ssh-connect HOST PORT: a tunnel through the proxy on standard input and output.
exec 3<>"/dev/tcp/$CORDON_PROXY_HOST/$CORDON_PROXY_PORT" || exit 1
printf 'CONNECT %s:%s HTTP/1.1\\r\\nHost: %s:%s\\r\\n\\r\\n' "$1" "$2" "$1" "$2" >&3
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
