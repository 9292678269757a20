/** Which option or word of which program contains a secret, as data. */

/** Where a program takes a secret. */
export interface OptionRow {
  readonly programs: string
  /** Words of which one comes before: `login` for `docker login -p V`. */
  readonly sub?: string
  /** Options that take a secret: `-p` as the next word or glued to it, `-p*` glued only. */
  readonly options?: string
  /** One-letter options without a value, which may come before in one word: `-su` is `-s -u`. */
  readonly flags?: string
  /** The secret is a plain word, where an option of the row is given: the first (0), second … after `sub`. */
  readonly word?: number | 'last' | 'each'
  /** The secret comes on standard input: from a here-string, or from the `echo` in front of the pipe. */
  readonly stdin?: true
  /** The secret is what follows the first such mark: `user:secret`. */
  readonly after?: string
  /** The value says where the secret is: `pass:V` contains it, `env:NAME` and `file:PATH` name it. */
  readonly sources?: true
  /** The shortest value that is masked. */
  readonly least?: number
}

/** Every program whose words can hold a secret. A plain word counts only where it does not read like prose. */
export const OPTION_ROWS: readonly OptionRow[] = [
  {
    programs: 'curl',
    options: '-u -U --user --proxy-user -E --cert',
    flags: 'sSfkLvgiIqNajGnBJOMRVZpl0123456#',
    after: ':',
  },
  { programs: 'curl', options: '--pass --proxy-pass' },
  { programs: 'curl', options: '-b --cookie', flags: 'sSfkLvgiI', after: '=' },
  { programs: 'http https xh xhs', options: '-a --auth', flags: 'vhbdFfj', after: ':' },
  { programs: 'http https xh xhs', sub: 'bearer', options: '-a --auth' },
  { programs: 'wget aria2c', options: '--http-passwd --ftp-passwd' },
  { programs: 'mysql mysqldump mysqladmin mysqlimport mysqlsh mariadb mariadb-dump', options: '-p*' },
  { programs: 'mongo mongosh mongodump mongorestore mongoexport mongoimport', options: '-p' },
  { programs: 'redis-cli redis-benchmark valkey-cli', options: '-a --pass' },
  { programs: 'sqlcmd bcp osql mssql-cli ipmitool mosquitto_pub mosquitto_sub mosquitto_rr', options: '-P' },
  { programs: 'cqlsh rabbitmqadmin hydra yt-dlp youtube-dl rdesktop evil-winrm useradd usermod', options: '-p' },
  { programs: 'sqlplus expdp impdp', word: 0, after: '/' },
  { programs: 'etcdctl nats', options: '--user', after: ':' },
  { programs: 'ssh-keygen', options: '-N -P', least: 1 },
  { programs: 'sshpass', options: '-p' },
  {
    programs: 'keytool jarsigner apksigner',
    options: '-storepass -keypass -srcstorepass -deststorepass -srckeypass -destkeypass -new',
  },
  { programs: 'openssl', options: '-k -K -passin -passout -pass -password', sources: true },
  { programs: 'openssl', sub: 'passwd', word: 0 },
  { programs: 'zip unzip zipcloak', options: '-P', flags: 'rqojvnfu' },
  { programs: '7z 7za 7zr 7zz', options: '-p*' },
  { programs: 'rar unrar', options: '-p* -hp*' },
  { programs: 'pdftk', sub: 'user_pw', word: 0 },
  { programs: 'qpdf', options: '--password' },
  { programs: 'pdftotext pdfinfo pdftoppm pdfimages', options: '-upw -opw' },
  { programs: 'composer', sub: 'http-basic', word: 2 },
  { programs: 'composer', sub: '--auth', word: 1 },
  { programs: 'bundle', sub: 'config set', word: 'last', after: ':' },
  { programs: 'terraform tofu wandb', sub: 'login', word: 0 },
  { programs: 'lpass', sub: 'login', word: 1 },
  { programs: 'ansible-vault', sub: 'encrypt_string', word: 0 },
  { programs: 'sendemail sendEmail', options: '-xp' },
  { programs: 'expo eas npm hub', sub: 'login', options: '-p' },
  { programs: 'supabase', sub: 'link', options: '-p' },
  { programs: 'turso', sub: 'token', word: 0 },
  { programs: 'rclone', sub: 'obscure', word: 0 },
  { programs: 'mkpasswd', word: 0 },
  { programs: 'caddy', sub: 'hash-password', options: '--plaintext' },
  { programs: 'gitlab-runner', sub: 'register', options: '-r' },
  { programs: 'codecov', options: '-t' },
  { programs: 'iwconfig', sub: 'key', word: 0 },
  { programs: 'iw', sub: 'key', word: 0 },
  { programs: 'mullvad', sub: 'login', word: 0 },
  { programs: 'cf', sub: 'set-env', word: 2 },
  { programs: 'dokku', sub: 'config:set', word: 'each', after: '=' },
  { programs: 'cvs', options: '-d', after: ':' },
  {
    programs: 'ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldapcompare ldapmodrdn ldapexop',
    options: '-w',
    flags: 'xvnZHLcd',
  },
  { programs: 'ldappasswd', options: '-w -s -a', flags: 'xvnZAS' },
  ...['docker podman buildah skopeo nerdctl oras helm', 'az gh glab doctl oc argocd tkn ibmcloud cf'].map(
    (programs) => ({
      programs,
      sub: 'login',
      options: '-p --password --token -t',
    }),
  ),
  { programs: 'helm twine', options: '-p' },
  { programs: 'poetry', sub: 'publish', options: '-p' },
  { programs: 'poetry', sub: 'config', word: 2 },
  { programs: 'gh', sub: 'secret', options: '-b --body' },
  { programs: 'az', sub: 'secret', options: '--value' },
  { programs: 'az', sub: 'appsettings', options: '--settings', after: '=' },
  { programs: 'aws', sub: 'put-parameter', options: '--value' },
  { programs: 'gcloud', sub: 'activate-refresh-token', word: 1 },
  { programs: 'kubectl oc', options: '--from-literal', after: '=' },
  { programs: 'vault', sub: 'put write patch', word: 'each', after: '=' },
  { programs: 'fly flyctl supabase doppler railway', sub: 'set variables', word: 'each', after: '=' },
  { programs: 'heroku', sub: 'config:set', word: 'each', after: '=' },
  { programs: 'dotnet', sub: 'set', word: 1 },
  { programs: 'netlify', sub: 'env:set', word: 1 },
  { programs: 'netlify', options: '--auth' },
  { programs: 'dotnet', sub: 'nuget', options: '-k' },
  { programs: 'nuget', sub: 'setapikey setApiKey', word: 0 },
  { programs: 'pulumi', sub: 'set', options: '--secret', word: 1 },
  { programs: 'vault cargo', sub: 'login', word: 0 },
  { programs: 'vault', sub: 'unwrap', word: 0 },
  { programs: 'snyk', sub: 'auth', word: 0 },
  { programs: 'bw', sub: 'unlock', word: 0 },
  { programs: 'bw', sub: 'login', word: 1 },
  { programs: 'ngrok', sub: 'authtoken add-authtoken', word: 0 },
  { programs: 'doctl vercel', options: '-t' },
  { programs: 'mc mcli', sub: 'set', word: 3 },
  { programs: 'sonar-scanner mvn gradle', options: '-Dsonar.login=*' },
  { programs: 'security', options: '-p -w' },
  { programs: 'ConvertTo-SecureString', options: '-AsPlainText -asplaintext', word: 0 },
  { programs: 'net', sub: 'user', word: 1 },
  { programs: 'htpasswd', options: '-b', flags: 'cnmdspBi2', word: 'last' },
  { programs: 'smbclient smbget rpcclient net mount.cifs', options: '-U --user', after: '%' },
  { programs: 'lftp', options: '-u --user', after: ',' },
  { programs: 'xfreerdp wlfreerdp', options: '/p:*' },
  { programs: 'snmpwalk snmpget snmpset snmpbulkwalk', options: '-A -X' },
  { programs: 'swaks', options: '-ap --auth-password' },
  { programs: 'nmcli', sub: 'password', word: 0 },
  { programs: 'wpa_passphrase', word: 1 },
  { programs: 'rabbitmqctl', sub: 'add_user change_password', word: 1 },
  { programs: 'sudo doas', options: '-S --stdin', flags: 'AbEHknPi', stdin: true },
  { programs: 'chpasswd', stdin: true, after: ':' },
  {
    programs: 'passwd docker podman buildah skopeo nerdctl oras helm',
    options: '--stdin --password-stdin',
    stdin: true,
  },
  { programs: 'gh glab', sub: 'login', options: '--with-token --stdin', stdin: true },
  { programs: 'p4 oc op bw cargo', sub: 'login signin unlock', stdin: true },
  { programs: 'wrangler gh gcloud heroku vercel docker', sub: 'secret secrets env secret:put', stdin: true },
  { programs: 'su', stdin: true },
  { programs: 'pass', sub: 'insert', stdin: true },
  { programs: 'kinit smbpasswd cryptsetup ssh-add ansible-vault', stdin: true },
  { programs: 'gpg gpg2', options: '--passphrase-fd', stdin: true },
  { programs: 'openssl', options: '-passin -passout -pass', stdin: true },
]

/** `npm config set KEY V`, `set -x KEY V` of fish, `ENV KEY V`: the key says whether the value is a secret. */
export const SETTERS: ReadonlySet<string> = new Set(
  'npm pnpm yarn aws git gcloud pulumi poetry composer bundle rclone wg set setenv setx ENV'.split(' '),
)
