/** Programs that talk to other machines. */

import { kindRules } from '../kinds.ts'
import { networkRules } from '../rules/network.ts'
import type { Program, ProgramTable } from '../spec.ts'
import type { Wrap } from '../wrap.ts'
import { controls, remote } from '../wrap.ts'

/** Runs words by the shell of another machine. */
const sshRun: Wrap = {
  options: `
  -4 -6 -A -a -C -f -G -g -K -k -M -N -n -q
  -s -T -t -V -v -X -x -Y -y
  -B -b -c -D -e -i -L -l -m -O -p -P -Q -R <text>
  -W -w <text>
  -E -F -I -J -o -S <wary>`,
  operands: 1,
  inspect: true,
  elsewhere: true,
  hazard: remote('ssh'),
  run: 'joined',
}

export function networkPrograms(): ProgramTable {
  const sshOptions = `
  -F <config>
  -o <text>
  -I -D <load>
  -J <route>
  -i <read>
  -S <run>
  -P -c -l -X <text>
`

  const wgetOptions = `
  -O --output-document -o --output-file -a --append-output -P --directory-prefix <write>
  --save-cookies --warc-file --warc-tempdir --rejected-log --hsts-file --dot-style <output>
  --post-file --body-file <send>
  --use-askpass <run>
  -e --execute <config> # sets configuration that can run programs
  --config <config>
  -i --input-file <list>
  --load-cookies --ca-certificate --ca-directory --certificate --private-key --crl-file --random-file --egd-file <read>
  --post-data --body-data --method --header -U --user-agent --user --password --http-user --http-password --referer <text>
  -T --timeout -t --tries -w --wait --waitretry -Q --quota -l --level -A --accept -R --reject -D --domains -I -X <text>
  --exclude-domains --exclude-directories --include-directories --limit-rate --progress --compression --cut-dirs <text>
  --secure-protocol --prefer-family --restrict-file-names --max-redirect --dns-timeout --connect-timeout --read-timeout <text>
  --default-page --ftp-user --ftp-password --accept-regex --reject-regex --regex-type --start-pos --report-speed <text>
  --bind-address --dns-servers --proxy-user --proxy-password <text>
  -B --base <url>
  --use-proxy
  -nc -nd -nv -nH -np
`

  const httpKind: Program = {
    options: `
  -o --output <output>
  -d --download !output
  --session --session-read-only <output>
  --cert --cert-key --verify <auto>
  --proxy --unix-socket --resolve <route>
  -a --auth -A --auth-type -p --print -s --style --timeout --pretty --format-options --max-redirects --raw <text>`,
    operands: 'text*',
  }
  const socatKind: Program = {
    always: ['route', 'opens a raw connection'],
    options:
      '\n  -e -c --exec --sh-exec --lua-exec <run>\n  -o --output <output>\n  -p -s -w -q -i -x -X -I -O -T -V <text>',
    operands: 'host text*',
  }
  const ftpKind: Program = {
    always: ['route', 'transfers files by its own commands'],
    options: '\n  -c -e <run>\n  -f <list>\n  -u -p <text>',
    operands: 'host text*',
  }
  const sshAddKind: Program = { always: ['system', 'changes which keys are in use'], operands: 'auto*' }
  const sshfsKind: Program = { always: ['route', 'opens a session on another machine'], operands: 'text*' }
  const reading: Program = { operands: 'text*' }
  const resticKind: Program = {
    options:
      '\n  --password-command --rsh -o <run>\n  -r --repo <remote>\n  --password-file --files-from <read>\n  --target <grow>',
  }

  return {
    curl: {
      effects: `
  remote-read  | * |  | talks to another machine`,
      rules: [networkRules],
      options: `
  -o --output --output-dir <write>
  -O --remote-name --remote-name-all !output # writes a file named by the address
  -J --remote-header-name !output # writes a file named by the other side
  -c --cookie-jar -D --dump-header --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc --ssl-sessions <output>
  -d --data --data-ascii --data-binary --data-urlencode --json --url-query <at>
  -H --header --proxy-header -w --write-out <at>
  --head -I
  --ssl --ssl-reqd
  -F --form <form>
  -T --upload-file <send>
  -K --config <config>
  -n --netrc --netrc-optional !send # sends the passwords of ~/.netrc
  --netrc-file <send>
  -x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --proxy1.0 <route>
  --unix-socket --abstract-unix-socket --resolve --connect-to --interface --doh-url --dns-servers --dns-interface <route>
  --engine <load>
  -E --cert --key --cacert --capath --crlfile --pubkey --proxy-cert --proxy-key --proxy-cacert --etag-compare <read>
  --random-file --egd-file <read>
  -b --cookie <text>
  -X --request --request-target -A --user-agent -e --referer -u --user -U --proxy-user -m --max-time -r --range <text>
  -C --continue-at -t --telnet-option -Q --quote -P --ftp-port -y --speed-time -Y --speed-limit -z --time-cond <text>
  --retry --retry-delay --retry-max-time --connect-timeout --limit-rate --max-redirs --max-filesize --ciphers <text>
  --tls-max --tls13-ciphers --proto --proto-default --proto-redir --local-port --form-string --rate --parallel-max <text>
  --variable --expand-variable <text>
  --aws-sigv4 --oauth2-bearer --pass --pinnedpubkey --noproxy --keepalive-time --expect100-timeout <text>
  --mail-from --mail-rcpt --mail-auth --login-options --sasl-authzid --service-name --cert-type --key-type --curves <text>
  --happy-eyeballs-timeout-ms --create-file-mode --ftp-method --ftp-account --delegation --krb --tlsuser --tlspassword <text>
  --url --ipfs-gateway <url>
  --retry-all-errors --retry-connrefused
  --data-raw <text>
  --location --location-trusted -L
  --fail --fail-with-body --fail-early -f
  --include -i
  --user-agent <text>
  --get -G
  --no-progress-meter`,
      operands: 'url*',
    },
    'wget wget2': {
      effects: `
  remote-read  | * |  | talks to another machine`,
      rules: [networkRules],
      options: wgetOptions,
      operands: 'url*',
    },
    'http https xh': {
      ...httpKind,
      effects: `
  remote-read  | * |  | talks to another machine`,
      rules: [networkRules],
    },
    'xhs httpie': { ...httpKind, rules: [networkRules] },
    aria2c: {
      effects: `
  remote-read  | * |  | talks to another machine`,
      options: `
  --on-download-complete --on-download-start --on-download-error --on-bt-download-complete --on-download-stop <run>
  --conf-path <config>
  -i --input-file <list>
  -o --out -d --dir -l --log --save-session <output>
  -x -s -j -k --header --user-agent --max-tries --timeout <text>
  --all-proxy --http-proxy --https-proxy <route>
  --enable-rpc !system`,
      operands: 'url*',
    },
    ssh: {
      wraps: [sshRun],
      effects: `
  remote-write | * |  | talks to another machine, which it can change`,
      rules: [networkRules, kindRules],
      stops: true,
      options: `
  -F -S <config>
  -o <text>
  -I <load>
  -J -L -R -D -W -w <route>
  -E <output>
  -i <read>
  -l -p -b -c -m -B -e -O -Q -P <text>`,
      operands: 'host text*',
    },
    scp: { rules: [networkRules], options: sshOptions, operands: 'text*' },
    sftp: {
      effects: `
  remote-write | * |  | talks to another machine, which it can change`,
      rules: [networkRules],
      options: `${sshOptions}  -b <list>\n  -s <run>\n  -B -R <text>\n`,
      operands: 'text*',
    },
    rsync: {
      rules: [networkRules],
      options: `
  -e --rsh <text>
  --rsync-path <run>
  -M --remote-option <run>
  --files-from <list>
  --config <config>
  --daemon !system
  --backup -b
  --include-from --exclude-from --password-file --read-batch --compare-dest --copy-dest --link-dest <read>
  --log-file --write-batch --only-write-batch <output>
  -T --temp-dir --backup-dir --partial-dir <write>
  -f --filter --exclude --include -B --block-size --bwlimit --timeout --contimeout --max-size --min-size --chmod <text>
  --chown --info --debug --out-format --log-file-format --port --suffix --modify-window --iconv <text>
  --usermap --groupmap --max-delete --skip-compress --compress-level --sockopts --protocol --stop-after --address <text>
  --delete --delete-before --delete-after --delete-during --delete-delay --delete-excluded --del`,
      operands: 'text*',
    },
    'nc ncat netcat': {
      effects: `
  remote-write | * |  | talks to another machine, which it can change`,
      rules: [networkRules],
      options:
        '\n  -e -c --exec --sh-exec --lua-exec <run>\n  -o --output <output>\n  -p -s -w -q -i -x -X -I -O -T -V <text>',
      operands: 'host text*',
    },
    'socat telnet': {
      ...socatKind,
      effects: `
  remote-write | * |  | talks to another machine, which it can change`,
    },
    'rsh rlogin cryptcat': socatKind,
    'ftp lftp tftp': {
      ...ftpKind,
      effects: `
  remote-write | * |  | talks to another machine, which it can change`,
    },
    ncftp: ftpKind,
    'ping ping6 traceroute tracepath mtr': {
      effects: `
  remote-read  | * |  | talks to another machine`,
      options: '\n  -c -i -w -W -s -t -I -m -p <text>',
      operands: 'host text*',
    },
    whois: {
      effects: `
  remote-read  | * |  | talks to another machine`,
      options: '\n  -h --host <host> # the server that is asked\n  -p --port <text>\n  -i -s -T -t -v -q <text>',
      operands: 'host text*',
    },
    'dig host nslookup drill': {
      effects: `
  remote-read  | * |  | talks to another machine`,
      options: '\n  + <text>\n  -f <list>\n  -k <read>\n  -t -c -p -q -y -b -h <text>',
      operands: 'host text*',
    },
    nmap: {
      effects: `
  remote-read  | * |  | talks to another machine`,
      style: 'word',
      options: `
  -script -datadir -servicedb -versiondb <load>
  -interactive !run
  -iL -excludefile <list>
  -oN -oX -oG -oA -oS <output>
  -p -T -S -e -D <text>`,
      operands: 'host*',
    },
    tcpdump: {
      options: '\n  -z <run>\n  -w <output>\n  -r -F -V <read>\n  -i -c -s -C -G -W -y -Z <text>',
      operands: 'text*',
    },
    'tshark wireshark': { options: '\n  -w <output>\n  -r <read>\n  -X <load>\n  -i -f -Y -c -T -e <text>' },
    'ssh-keygen': {
      always: ['system', 'makes or changes keys'],
      options: '\n  -D -w <load>\n  -f <change>\n  -t -b -C -N -P -m -O -s -I -n -V <text>',
      operands: 'text*',
    },
    'ssh-add': sshAddKind,
    'ssh-agent': { ...sshAddKind, wraps: controls },
    'ssh-copy-id': {
      ...sshAddKind,
      effects: `
  remote-write | * |  | talks to another machine, which it can change`,
    },
    'ssh-keyscan': {
      effects: `
  remote-read  | * |  | talks to another machine`,
      options: '\n  -f <list>\n  -p -T -t <text>',
      operands: 'host*',
    },
    'sshfs mosh': {
      ...sshfsKind,
      effects: `
  remote-write | * |  | talks to another machine, which it can change`,
    },
    autossh: {
      ...sshfsKind,
      wraps: [sshRun],
      effects: `
  remote-write | * |  | talks to another machine, which it can change`,
    },
    sshpass: {
      ...sshfsKind,
      wraps: [{ options: '\n  -v -e -h -V\n  -p -d -P <text>\n  -f <read>', run: 'words' }],
    },
    openssl: {
      effects: `
  remote-read  | s_client |  | talks to another machine`,
      style: 'word',
      options: `
  -engine -provider -provider-path -keyform_engine <load>
  -config -extfile -propquery <config>
  -out -keyout -writerand -sess_out -msgfile -trace_file <output>
  -in -inkey -key -cert -CAfile -CA -CAkey -certfile -certs -kfile -rand -sigfile -signature -verify -prverify -file <read>
  -CApath <tree>
  -connect -proxy <route>
  -pass -passin -passout -subj -days -addext -name -newkey -servername -md -k -K -iv -S -iter <text>
  -accept <system>`,
      operands: 'text auto*',
    },
    'mail mailx sendmail mutt msmtp swaks': {
      effects: `
  remote-write | * |  | talks to another machine, which it can change`,
      always: ['send', 'mails text or files away'],
      operands: 'text*',
    },
    rclone: {
      effects: `
  local        | listremotes, version, help, completion |  |
  remote-read  | ls, lsd, lsl, lsf, lsjson, size, cat, check, about, tree, md5sum, sha1sum, hashsum |  | reads remote storage
  remote-write | * |  | changes remote storage
  destructive  | delete, purge, sync, deletefile, cleanup |  | deletes from remote storage`,
      abbreviates: false,
      options: `
  --config <config>
  --password-command <run>
  --files-from --include-from --exclude-from --filter-from <list>
  --log-file <output>
  --include --exclude --filter --transfers --checkers --bwlimit -P <text>`,
      operands: 'text remote*',
    },
    restic: {
      ...resticKind,
      effects: `
  remote-write | * |  | changes remote storage
  local        | version, help, generate |  |
  remote-read  | snapshots, stats, ls, find, diff, check, list, key list |  | reads from remote storage
  destructive  | forget, prune, rewrite, key remove, unlock, repair |  | deletes from remote storage`,
    },
    borg: {
      ...resticKind,
      effects: `
  remote-write | * |  | changes remote storage
  local        | help |  |
  remote-read  | list, info, check, diff |  | reads from remote storage
  destructive  | delete, prune, compact, recreate, break-lock |  | deletes from remote storage
  destructive  | check | --repair | deletes from remote storage`,
    },
    kopia: {
      ...resticKind,
      verbs: { at: 'remote storage', groups: 'snapshot repository policy maintenance', local: 'help version' },
    },
    'ngrok cloudflared localtunnel lt bore': {
      effects: `
  remote-write | * |  | talks to another machine, which it can change
  local        | version, help |  |`,
      always: ['route', 'opens a port to the network'],
      operands: 'text*',
    },
    tailscale: {
      effects: `
  remote-write | * |  | talks to another machine, which it can change
  remote-read  | status, ip, netcheck, ping, whois |  | asks another machine
  local        | version, help, completion |  |`,
      operands: 'text*',
      subcommands: { status: reading, ip: reading, netcheck: reading, ping: reading, whois: reading, version: reading },
      always: ['route', 'opens a port to the network'],
    },
  }
}
