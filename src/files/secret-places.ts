/** Secret places outside the project: keys, credentials, histories, browser profiles. */

/** A secret place outside the project; a directory includes everything below it. */
export interface SecretPlace {
  /** Absolute, or under the home directory with `~/`; `*` matches within one level. */
  readonly path: string
  readonly what: string
}

/** Places that are hidden under every baseline, whether or not they exist on this machine. */
export const secretPlaces: readonly SecretPlace[] = [
  ...places('password hashes', ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-']),
  ...places('password hashes', ['/etc/security/opasswd', '/etc/master.passwd', '/var/db/shadow', '/var/db/dslocal']),
  ...places('privilege rules', ['/etc/sudoers', '/etc/sudoers.d', '/etc/doas.conf']),
  ...places('SSH host keys', ['/etc/ssh/ssh_host_*_key']),
  ...places('private TLS keys', ['/etc/ssl/private', '/etc/pki/tls/private', '/etc/letsencrypt', '/etc/wireguard']),
  ...places('network passwords', ['/etc/NetworkManager/system-connections', '/etc/wpa_supplicant', '/etc/ppp']),
  ...places('network passwords', ['/etc/netplan', '/etc/openvpn', '/etc/ipsec.secrets', '/etc/krb5.keytab']),
  ...places('cluster credentials', ['/etc/kubernetes', '/etc/rancher', '/var/run/secrets', '/run/secrets']),
  ...places('system credentials', [
    '/etc/credstore',
    '/etc/credstore.encrypted',
    '/etc/cups/ssl',
    '/etc/docker/key.json',
  ]),
  ...places('SSH keys', ['~/.ssh']),
  ...places('GnuPG keys', ['~/.gnupg', '~/.config/gnupg', '~/.local/share/gnupg']),
  ...places('password stores', ['~/.config/op', '~/.op', '~/.password-store', '~/.local/share/password-store']),
  ...places('password stores', [
    '~/.config/Bitwarden',
    '~/.config/Bitwarden CLI',
    '~/.config/keepassxc',
    '~/.lastpass',
  ]),
  ...places('password stores', ['~/.config/sops', '~/.config/age', '~/.age', '~/.vault-token', '~/.config/lastpass']),
  ...places('keyrings', [
    '~/.local/share/keyrings',
    '~/.gnome2/keyrings',
    '~/.local/share/kwalletd',
    '~/Library/Keychains',
  ]),
  ...places('AWS credentials', ['~/.aws/credentials', '~/.aws/config', '~/.aws/sso', '~/.aws/cli/cache', '~/.boto']),
  ...places('Google Cloud credentials', ['~/.config/gcloud', '~/.gsutil', '~/.s3cfg']),
  ...places('Azure credentials', ['~/.azure', '~/.config/azure']),
  ...places('cloud credentials', [
    '~/.oci',
    '~/.config/doctl',
    '~/.config/hcloud',
    '~/.config/linode-cli',
    '~/.bluemix',
  ]),
  ...places('cloud credentials', ['~/.config/scw', '~/.config/rclone', '~/.aliyun', '~/.tencentcloud', '~/.fly']),
  ...places('cloud credentials', ['~/.config/netlify', '~/.vercel', '~/.local/share/com.vercel.cli', '~/.wrangler']),
  ...places('cloud credentials', ['~/.config/.wrangler', '~/.config/heroku', '~/.config/openstack', '~/.railway']),
  ...places('cluster credentials', ['~/.kube', '~/.minikube/profiles', '~/.config/helm/registry', '~/.config/argocd']),
  ...places('container registry credentials', [
    '~/.docker/config.json',
    '~/.config/containers/auth.json',
    '~/.dockercfg',
  ]),
  ...places('container registry credentials', ['~/.docker/contexts', '~/.docker/trust']),
  ...places('infrastructure credentials', [
    '~/.terraform.d/credentials.tfrc.json',
    '~/.terraformrc',
    '~/.pulumi/credentials.json',
  ]),
  ...places('forge credentials', ['~/.config/gh/hosts.yml', '~/.config/hub', '~/.config/glab-cli', '~/.config/tea']),
  ...places('git credentials', [
    '~/.git-credentials',
    '~/.config/git/credentials',
    '~/.cache/git/credential',
    '~/.git-credential-cache',
  ]),
  ...places('network logins', ['~/.netrc', '~/_netrc', '~/.authinfo', '~/.authinfo.gpg', '~/.wgetrc', '~/.curlrc']),
  ...places('package registry tokens', [
    '~/.npmrc',
    '~/.yarnrc',
    '~/.yarnrc.yml',
    '~/.config/pnpm/auth.ini',
    '~/.config/pnpm/rc',
  ]),
  ...places('package registry tokens', ['~/.pypirc', '~/.config/pypoetry/auth.toml', '~/.local/share/uv/credentials']),
  ...places('package registry tokens', ['~/.cargo/credentials', '~/.cargo/credentials.toml', '~/.gem/credentials']),
  ...places('package registry tokens', [
    '~/.local/share/gem/credentials',
    '~/.bundle/config',
    '~/.hex',
    '~/.nuget/NuGet/NuGet.Config',
  ]),
  ...places('package registry tokens', ['~/.composer/auth.json', '~/.config/composer/auth.json', '~/.config/NuGet']),
  ...places('package registry tokens', [
    '~/.m2/settings.xml',
    '~/.m2/settings-security.xml',
    '~/.gradle/gradle.properties',
  ]),
  ...places('package registry tokens', [
    '~/.ivy2/.credentials',
    '~/.sbt/.credentials',
    '~/.pub-cache/credentials.json',
  ]),
  ...places('model provider tokens', [
    '~/.cache/huggingface/token',
    '~/.huggingface/token',
    '~/.kaggle',
    '~/.config/openai',
  ]),
  ...places('agent logins', [
    '~/.claude/.credentials.json',
    '~/.claude.json',
    '~/.codex/auth.json',
    '~/.gemini/oauth_creds.json',
  ]),
  ...places('agent logins', [
    '~/.pi/agent/auth.json',
    '~/.qwen/oauth_creds.json',
    '~/.cline/data/settings/providers.json',
  ]),
  ...places('agent logins', ['~/.continue/auth.json', '~/.local/share/amp', '~/.config/goose/secrets.yaml']),
  ...places('agent logins', [
    '~/.local/share/opencode/auth.json',
    '~/.config/github-copilot',
    '~/.copilot/config.json',
  ]),
  ...places('agent logins', ['~/.cursor/auth.json']),
  ...places('database logins', [
    '~/.pgpass',
    '~/.my.cnf',
    '~/.mylogin.cnf',
    '~/.config/redis',
    '~/.dbshell',
    '~/.snowsql',
  ]),
  ...places('shell history', ['~/.bash_history', '~/.zsh_history', '~/.zhistory', '~/.sh_history', '~/.history']),
  ...places('shell history', ['~/.local/share/fish/fish_history', '~/.config/fish/fish_history', '~/.zsh_sessions']),
  ...places('shell history', ['~/.python_history', '~/.node_repl_history', '~/.psql_history', '~/.mysql_history']),
  ...places('shell history', [
    '~/.rediscli_history',
    '~/.sqlite_history',
    '~/.irb_history',
    '~/.lesshst',
    '~/.viminfo',
  ]),
  ...places('shell history', [
    '~/.local/share/atuin',
    '~/.local/state/bash',
    '~/.local/share/nvim/shada',
    '~/.local/state/nvim/shada',
  ]),
  ...places('browser profiles', [
    '~/.mozilla',
    '~/.librewolf',
    '~/.waterfox',
    '~/.config/google-chrome',
    '~/.config/chromium',
  ]),
  ...places('browser profiles', [
    '~/.config/google-chrome-beta',
    '~/.config/google-chrome-unstable',
    '~/.config/BraveSoftware',
  ]),
  ...places('browser profiles', [
    '~/.config/microsoft-edge',
    '~/.config/vivaldi',
    '~/.config/opera',
    '~/.cache/mozilla',
  ]),
  ...places('browser profiles', [
    '~/snap/firefox',
    '~/snap/chromium',
    '~/.var/app/org.mozilla.firefox',
    '~/.var/app/com.google.Chrome',
  ]),
  ...places('browser profiles', ['~/.var/app/org.chromium.Chromium', '~/.var/app/com.brave.Browser', '~/.thunderbird']),
  ...places('browser profiles', [
    '~/Library/Application Support/Google/Chrome',
    '~/Library/Application Support/Firefox',
  ]),
  ...places('browser profiles', [
    '~/Library/Application Support/BraveSoftware',
    '~/Library/Application Support/Microsoft Edge',
  ]),
  ...places('browser profiles', ['~/Library/Cookies', '~/Library/Safari', '~/Library/Containers/com.apple.Safari']),
  ...places('messenger data', [
    '~/.config/Slack',
    '~/.config/discord',
    '~/.config/Signal',
    '~/.local/share/TelegramDesktop',
  ]),
  ...places('wallets', ['~/.bitcoin', '~/.ethereum', '~/.config/solana', '~/.electrum', '~/.monero']),
  ...places('certificates and keys', ['~/.pki', '~/.local/share/pki', '~/.step', '~/.putty', '~/.config/pulse/cookie']),
  ...places('display access', ['~/.Xauthority', '~/.ICEauthority', '~/.local/share/sddm']),
  ...places('tunnel credentials', [
    '~/.ngrok2',
    '~/.config/ngrok',
    '~/.cloudflared',
    '~/.config/tailscale',
    '/var/lib/tailscale',
  ]),
]

function places(what: string, paths: readonly string[]): SecretPlace[] {
  return paths.map((path) => ({ path, what }))
}
