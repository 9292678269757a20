import { describe, expect, test } from 'vitest'
import { parsePathPattern } from './path-pattern.ts'
import {
  compileShapes,
  deniedShapes,
  holdsOnlyCertificates,
  openedByGrant,
  secretOf,
  secretPlace,
  secretShape,
} from './secret-shapes.ts'

const HOME = '/home/u'
const ROOT = '/home/u/project'

const shapes: readonly [path: string, shape: string | null, note: string][] = [
  ['/p/.env', '.env', 'the plain one'],
  ['/p/a/b/.env.local', '.env.*', 'a variant'],
  ['/p/.env.example', null, 'nobody writes a secret into it'],
  ['/p/.DS_Store', null, 'how a folder is shown, and the names in it'],
  ['/p/.env.local.sample', null, ''],
  ['/p/.env.template', null, ''],
  ['/p/.env.example.local', '.env.*', 'an example of nothing'],
  ['/p/.env~', '.env', 'what an editor left'],
  ['/p/.env_old', '.env_*', ''],
  ['/p/id_rsa.bak', 'id_rsa', ''],
  ['/p/id_rsa.pub', null, 'a public key'],
  ['/p/server.key.old', '*.key', ''],
  ['/p/.server.key.swp', '*.key', 'what Vim has open'],
  ['/p/.pgpass', '.pgpass', ''],
  ['/p/.boto', '.boto', ''],
  ['/p/.git-credentials', '.git-credentials', ''],
  ['/p/credentials.json', 'credentials.json', ''],
  ['/p/x/.aws/credentials', '.aws/', 'the folder as a whole'],
  ['/p/.kube/config', '.kube/', ''],
  ['/p/.KUBE/cache/x', '.kube/', 'at any depth'],
  ['/p/.docker/config.json', '.docker/config.json', ''],
  ['/p/.docker/daemon.json', null, 'no login in it'],
  ['/p/docker/config.json', null, 'another folder'],
  ['/p/.dev.vars', '.dev.vars', ''],
  ['/p/AuthKey.p8', '*.p8', ''],
  ['/p/service-account-prod.json', 'service-account*.json', ''],
  ['/p/app-firebase-adminsdk-x1.json', '*-firebase-adminsdk-*.json', ''],
  ['/p/terraform.tfstate.1700.backup', '*.tfstate.*', 'what terraform keeps'],
  ['/p/prod.auto.tfvars', '*.tfvars', ''],
  ['/p/terraform.tfvars.example', null, ''],
  ['/p/x/aws/credentials', null, 'another folder'],
  ['/p/.ssh/config', '.ssh/', 'the folder as a whole'],
  ['/p/.envrc', '.envrc', 'a script that sets variables, with keys among them'],
  ['/p/env', null, 'no dot'],
  ['/p/prod.env', '*.env', ''],
  ['/p/server.key', '*.key', 'a key'],
  ['/p/Server.KEY', '*.key', 'upper case is the same file to its owner'],
  ['/p/.key', '*.key', 'nothing before the dot'],
  ['/p/monkey', null, 'ends in key but has no dot'],
  ['/p/key', null, 'the bare word'],
  ['/p/a.pem', '*.pem', 'judged by content elsewhere'],
  ['/p/a.pem.bak', '*.pem', 'a copy'],
  ['/p/wallet.seed', '*.seed', ''],
  ['/p/a.pfx', '*.pfx', ''],
  ['/p/a.p12', '*.p12', ''],
  ['/p/a.jks', '*.jks', ''],
  ['/p/a.keystore', '*.keystore', ''],
  ['/p/id_rsa', 'id_rsa', ''],
  ['/p/id_rsa.pub', null, 'a public key'],
  ['/p/id_ed25519', 'id_ed25519', ''],
  ['/p/id_ecdsa', 'id_ecdsa', ''],
  ['/p/id_dsa', 'id_dsa', ''],
  ['/p/deploy_rsa', '*_rsa', ''],
  ['/p/deploy_ed25519', '*_ed25519', ''],
  ['/p/.npmrc', '.npmrc', ''],
  ['/p/.pypirc', '.pypirc', ''],
  ['/p/.netrc', '.netrc', ''],
  ['/p/.htpasswd', '.htpasswd', ''],
  ['/p/src/index.ts', null, 'an ordinary file'],
  ['/p/.env (copy)', '.env', 'how file managers name a copy'],
  ['/p/id_rsa copy 2', 'id_rsa', ''],
  ['/p/Copy of .netrc', '.netrc', ''],
  ['/p/id_rsa (1)', 'id_rsa', 'loaded twice'],
  ['/p/.env ', '.env', 'a blank behind it'],
  ['/p/.env\n', '.env', ''],
  ['/p/.npmrc.20260101', '.npmrc', 'with a date'],
  ['/p/.ssh.bak/id', '.ssh/', 'a copy of a folder'],
  ['/p/.aws copy/credentials', '.aws/', ''],
  ['/p/.sshd/id', null, 'another name'],
  ['/p/.docker/config.json.bak', '.docker/config.json', ''],
  ['/p/.config/gh/hosts.yml', 'gh/hosts.yml', ''],
  ['/p/.config/gcloud/application_default_credentials.json', 'gcloud/application_default_credentials.json', ''],
  ['/p/.cargo/credentials.toml', '.cargo/credentials.toml', ''],
  ['/p/.cargo/config.toml', null, 'no login in it'],
  ['/p/hosts.yml', null, ''],
  ['/p/kubeconfig.yaml', 'kubeconfig.yaml', ''],
  ['/p/kubeconfig.go', null, 'source code'],
  ['/p/credentials.ts', null, ''],
  ['/p/.vault_pass.txt', '.vault_pass*', ''],
  ['/p/fixed (copy).ts', null, ''],
  ['/p/20260101', null, ''],
  ['/p/constructor', null, 'names of object members are names'],
]

test.each(shapes)('shape of %s is %s (%s)', (path, shape) => {
  expect(secretShape(path)).toBe(shape)
})

test('extensions that the manifest denies join, and nothing else of it does', () => {
  expect(deniedShapes(['*.sqlite', 'data', '*', '**', 'a*.b', '*.tar.gz', 'x/*.y'])).toEqual(['*.sqlite', '*.tar.gz'])
  const shapeOf = compileShapes(['*.sqlite', '*.tar.gz'])
  expect(shapeOf('a.SQLITE')).toBe('*.sqlite')
  expect(shapeOf('a.tar.gz')).toBe('*.tar.gz')
  expect(shapeOf('a.gz')).toBeNull()
  expect(shapeOf('.env')).toBe('.env')
})

const placed: readonly [path: string, place: string | null, note: string][] = [
  ['/etc/shadow', '/etc/shadow', ''],
  ['/etc/shadow.d', null, 'another name'],
  ['/etc/sudoers.d/admin', '/etc/sudoers.d', 'below a directory'],
  ['/etc/ssh/ssh_host_ed25519_key', '/etc/ssh/ssh_host_*_key', 'a pattern'],
  ['/etc/ssh/ssh_host_ed25519_key.pub', null, 'the public half'],
  ['/home/u/.ssh', '~/.ssh', 'the directory itself'],
  ['/home/u/.ssh/known_hosts', '~/.ssh', 'everything in it'],
  ['/home/u/.SSH/id', '~/.ssh', 'file systems that ignore case'],
  ['/home/v/.ssh/id', null, 'not this home'],
  ['/home/u/.aws/credentials', '~/.aws/credentials', ''],
  ['/home/u/.config/gcloud/application_default_credentials.json', '~/.config/gcloud', ''],
  ['/home/u/.bash_history', '~/.bash_history', ''],
  ['/home/u/project/.ssh/x', null, 'a place is a place, not a name'],
]

test.each(placed)('place of %s is %s (%s)', (path, place) => {
  expect(secretPlace(path, HOME)?.path ?? null).toBe(place)
})

function grant(text: string, files: readonly string[] | null = null) {
  const parsed = parsePathPattern(text, { root: ROOT, home: HOME, files })
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.pattern
}

const openings: readonly [path: string, grants: ReturnType<typeof grant>[], opened: boolean, note: string][] = [
  ['.env', [grant('**')], false, 'a catch-all never opens'],
  ['.env', [grant('*')], false, 'nor does one level of it'],
  ['.env', [grant('**/*')], false, 'however it is written'],
  ['.env', [grant('**', ['*'])], false, 'as files'],
  ['.env', [grant('.')], false, 'nor does the directory'],
  ['.env', [grant('.env')], true, 'its own path'],
  ['.env', [grant('.', ['.env'])], true, 'its basename'],
  ['.env', [grant('**', ['.env', '*'])], true, 'its basename beside a catch-all'],
  ['.env.local', [grant('**', ['.env'])], false, 'another basename'],
  ['.env.local', [grant('**', ['.env.*'])], true, 'a glob that writes the secret part out'],
  ['.env.local', [grant('**', ['.env*'])], true, 'likewise'],
  ['.env.json', [grant('**', ['*.json'])], false, 'a glob that only happens to match'],
  ['.env', [grant('**', ['.*'])], false, 'every dot file is not this one'],
  ['.env', [grant('**', ['?env'])], false, 'a letter short of naming it'],
  ['server.key', [grant('**', ['*.key'])], true, 'the extension'],
  ['server.key', [grant('certs/**', ['*.key'])], false, 'elsewhere'],
  ['certs/server.key', [grant('certs/*.key')], true, 'in the path itself'],
  ['certs/server.key', [grant('certs')], false, 'its directory'],
  ['src/a.ts', [], true, 'not a secret at all'],
  ['~/.ssh/known_hosts', [grant('~/**')], false, 'everything is not this'],
  ['~/.ssh/known_hosts', [grant('~/.ssh/known_hosts')], true, 'the very file'],
  ['~/.ssh/id_rsa', [grant('~/.ssh/known_hosts')], false, 'another file'],
  ['~/.ssh/known_hosts', [grant('~/.ssh')], true, 'the place by name'],
  ['~/.ssh/a/b', [grant('~/.ssh/**')], true, 'everything in the place, by its name'],
  ['~/.config/op/x', [grant('~/.config/**')], false, 'a parent of the place does not name it'],
]

test.each(openings)('%s with %j is opened: %s (%s)', (path, grants, opened) => {
  const absolute = path.startsWith('~/') ? HOME + path.slice(1) : `${ROOT}/${path}`
  expect(openedByGrant(absolute, grants, { home: HOME })).toBe(opened)
})

test('a secret is recognised by place before name', () => {
  expect(secretOf(`${HOME}/.ssh/id_rsa`, { home: HOME })).toMatchObject({ kind: 'place', shape: '~/.ssh' })
  expect(secretOf(`${ROOT}/id_rsa`, { home: HOME })).toMatchObject({ kind: 'name', shape: 'id_rsa' })
})

const block = (label: string) => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`

describe('PEM files', () => {
  test.each([
    [block('CERTIFICATE'), true, 'one certificate'],
    [`# Issuer: X\n${block('CERTIFICATE')}${block('TRUSTED CERTIFICATE')}`, true, 'a bundle with comments'],
    [block('X509 CRL'), true, 'a revocation list'],
    [block('CERTIFICATE') + block('PRIVATE KEY'), false, 'both'],
    [block('CERTIFICATE') + block('RSA PRIVATE KEY'), false, 'an old label'],
    [block('CERTIFICATE') + block('ENCRYPTED SECRET'), false, 'a block of another kind'],
    [`${block('CERTIFICATE')}private key follows`, false, 'talk of one'],
    ['', false, 'nothing'],
    ['AAAA', false, 'no block'],
    [block('PUBLIC KEY'), false, 'not a certificate'],
  ])('%j contains only certificates: %s (%s)', (text, plain) => {
    expect(holdsOnlyCertificates(text)).toBe(plain)
  })
})
