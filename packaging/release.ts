/**
 * Makes every package of a release into release/: the npm tarball, Debian packages and self-contained archives for x64 and
 * arm64, install.sh, a bill of materials and signed checksums. Two runs on one commit give the same bytes.
 *   npm run release [-- --dirty] [--platform x64|arm64]
 * CORDON_RELEASE_KEY names a PEM file with the ed25519 key that signs; without it nothing is signed, and install.sh is left
 * out because it could not check anything.
 */

import { spawnSync } from 'node:child_process'
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { commands } from '../src/surfaces/cli/start/commands.ts'
import { usageOf } from '../src/surfaces/cli/start/completions.ts'

const PLATFORMS = { x64: 'amd64', arm64: 'arm64' } as const
type Platform = keyof typeof PLATFORMS

const { values: options } = parseArgs({ options: { dirty: { type: 'boolean' }, platform: { type: 'string' } } })
process.chdir(resolve(import.meta.dirname, '..'))
process.umask(0o022)

const { version, dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
/** The time of the commit: the only time that a package knows. */
const epoch = Number(output('git', ['log', '-1', '--format=%ct']))
const work = mkdtempSync(join(tmpdir(), 'cordon-release-'))
const out = 'release'
const control = readFileSync('packaging/debian/control', 'utf8')

try {
  const dirty = output('git', ['status', '--porcelain'])
  if (dirty !== '' && !options.dirty) stop(`the tree has changes; commit them, or pass --dirty:\n${dirty}`)
  const platforms = (Object.keys(PLATFORMS) as Platform[]).filter((name) => name === (options.platform ?? name))
  if (platforms.length === 0) stop(`--platform: expected x64 or arm64, found ${options.platform}`)
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out)
  say('the npm tarball')
  run('npm', ['pack', '--pack-destination', out, '--loglevel=error'])
  for (const platform of platforms) {
    say(`the archive and the Debian package for ${platform}`)
    const folder = stage(platform)
    pack(dirname(folder), 'cordon', `cordon-linux-${platform}.tar.gz`)
    debianPackage(folder, platform)
  }
  say('the bill of materials and the checksums')
  writeBillOfMaterials()
  finish()
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** The installed program: what the Debian package and the archive hold. */
function stage(platform: Platform): string {
  const folder = join(work, platform, 'cordon')
  mkdirSync(join(folder, 'dist/native'), { recursive: true })
  cpSync('bin/cordon', join(folder, 'bin/cordon'))
  for (const part of ['cordon.cjs', 'chunks', 'inside', 'page'])
    cpSync(`dist/${part}`, join(folder, 'dist', part), { recursive: true })
  // bin/cordon starts it with the Node beside it; by itself it would take any.
  const entry = join(folder, 'dist/cordon.cjs')
  writeFileSync(entry, readFileSync(entry, 'utf8').replace(/^#!.*\n/, ''))
  chmodSync(entry, 0o644)
  for (const name of ['client', 'init', 'launch', 'serve'])
    cpSync(`dist/native/cordon-${name}-${platform}`, join(folder, `dist/native/cordon-${name}-${platform}`))
  run('sh', ['packaging/bubblewrap.sh', platform, join(work, 'bubblewrap')])
  cpSync(join(work, 'bubblewrap', `bwrap-${platform}`), join(folder, `dist/native/bwrap-${platform}`))
  const native = join(folder, 'dist/native')
  writeFileSync(join(native, 'SHA256SUMS'), checksums(native))
  const node = unpackPackage(`node-linux-${platform}`, devDependencies.node)
  cpSync(join(node, 'bin/node'), join(folder, 'node'))
  run(platform === 'x64' ? 'x86_64-linux-gnu-strip' : 'aarch64-linux-gnu-strip', [join(folder, 'node')])
  // The keychain is the one package that cannot be bundled: it is native.
  for (const name of ['@napi-rs/keyring', `@napi-rs/keyring-linux-${platform}-gnu`])
    cpSync(unpackPackage(name, dependencies['@napi-rs/keyring']), join(folder, 'node_modules', name), {
      recursive: true,
    })
  cpSync('package.json', join(folder, 'package.json'))
  cpSync('dist/licences', join(folder, 'licences'), { recursive: true })
  cpSync('LICENSE', join(folder, 'licences/cordon'))
  cpSync(join(node, 'LICENSE'), join(folder, 'licences/node'))
  cpSync(join(work, 'bubblewrap/bubblewrap.licence'), join(folder, 'licences/bubblewrap'))
  return folder
}

/** A package of the registry, unpacked: npm checks its hash against the registry's word. */
function unpackPackage(name: string, packageVersion: string): string {
  const folder = join(work, 'npm', name)
  if (existsSync(folder)) return join(folder, 'package')
  mkdirSync(folder, { recursive: true })
  run('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${packageVersion}`])
  run('tar', ['-xzf', join(folder, readdirSync(folder).find((file) => file.endsWith('.tgz'))!), '-C', folder])
  return join(folder, 'package')
}

/** A compressed archive that depends on nothing but the files in it. */
function pack(folder: string, name: string, file: string): void {
  const tar = join(work, `${file}.tar`)
  const same = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']
  run('tar', [...same, '--mode=u=rwX,go=rX', '-C', folder, '-cf', tar, name])
  writeFileSync(join(out, file), gzipSync(readFileSync(tar), { level: 9 }))
}

function maintainer(): string {
  return /^Maintainer: (.*)$/m.exec(control)![1]!
}

function debianPackage(folder: string, platform: Platform): void {
  const root = join(work, platform, 'debian')
  const place = (path: string, text: string | Buffer, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { mode })
  }
  mkdirSync(join(root, 'usr/lib'), { recursive: true })
  cpSync(folder, join(root, 'usr/lib/cordon'), { recursive: true, preserveTimestamps: true })
  rmSync(join(root, 'usr/lib/cordon/licences'), { recursive: true })
  run('mkdir', ['-p', join(root, 'usr/bin')])
  run('ln', ['-s', '../lib/cordon/bin/cordon', join(root, 'usr/bin/cordon')])
  place('etc/apparmor.d/cordon-bwrap', readFileSync('packaging/debian/cordon-bwrap'))
  place('usr/share/man/man1/cordon.1.gz', gzipSync(manual(), { level: 9 }))
  for (const [shell, path] of [
    ['bash', 'bash-completion/completions/cordon'],
    ['zsh', 'zsh/vendor-completions/_cordon'],
    ['fish', 'fish/vendor_completions.d/cordon.fish'],
  ] as const)
    place(`usr/share/${path}`, `${output(process.execPath, ['dist/cordon.cjs', 'completions', shell])}\n`)
  const documents = 'usr/share/doc/cordon'
  place(`${documents}/copyright`, readFileSync('packaging/debian/copyright'))
  const day = output('date', ['-Ru', `-d@${epoch}`])
  const entry = `cordon (${version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- ${maintainer()}  ${day}\n`
  place(`${documents}/changelog.gz`, gzipSync(entry, { level: 9 }))
  place(`${documents}/CHANGELOG.md.gz`, gzipSync(readFileSync('CHANGELOG.md'), { level: 9 }))
  for (const name of files(join(folder, 'licences')).filter((name) => name !== 'cordon'))
    place(`${documents}/licences/${name}`, readFileSync(join(folder, 'licences', name)))
  place('usr/share/lintian/overrides/cordon', readFileSync('packaging/debian/lintian-overrides'))
  const size = Math.ceil(Number(output('du', ['-sk', '--apparent-size', root]).split('\t')[0]))
  const fields = { version, architecture: PLATFORMS[platform], size: String(size) }
  place('DEBIAN/control', fill(control, fields))
  place('DEBIAN/conffiles', '/etc/apparmor.d/cordon-bwrap\n')
  for (const script of ['postinst', 'postrm'])
    place(`DEBIAN/${script}`, readFileSync(`packaging/debian/${script}`), 0o755)
  place('DEBIAN/md5sums', md5sums(root))
  // The builder's umask and the packages' own odd modes stay out of it.
  run('chmod', ['-R', 'u=rwX,go=rX', root])
  const name = `cordon_${version}_${PLATFORMS[platform]}.deb`
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', root, join(out, name)])
}

function md5sums(root: string): string {
  return files(root)
    .filter((path) => !path.startsWith('DEBIAN/') && !path.startsWith('etc/'))
    .map((path) => `${hash('md5', join(root, path))}  ${path}\n`)
    .join('')
}

/** The manual page, from the same table as the help. */
function manual(): string {
  const escaped = (text: string) =>
    text
      .replaceAll('\\', '\\e')
      .replaceAll('-', '\\-')
      .replace(/^([.'])/gm, '\\&$1')
  const date = new Date(epoch * 1000).toISOString().slice(0, 10)
  const parts = commands.map((row) => {
    const flags = row.flags.map(
      (flag) => `.TP\n.B ${escaped(flag.value ? `${flag.name} ${flag.value}` : flag.name)}\n${escaped(flag.about)}\n`,
    )
    const usage = usageOf(row)
      .split('\n')
      .map((line) => `.br\n${escaped(line.trim())}\n`)
    return `.SS cordon ${row.name}\n${escaped(row.summary)}\n.PP\n${usage.join('')}${flags.join('')}.PP\n${escaped(row.details)}\n`
  })
  return `.TH CORDON 1 "${date}" "cordon ${version}" "User commands"
.SH NAME
cordon \\- permission and sandbox layer for AI agents
.SH SYNOPSIS
.B cordon
.I COMMAND
.RI [ OPTIONS ]
.SH DESCRIPTION
Cordon sits between an AI agent and the machine.
It decides each tool call against a signed manifest, asks a person where it matters, and runs it in a kernel sandbox.
.SH COMMANDS
${parts.join('')}.SH EXIT STATUS
0 done or allowed, 2 usage or load error, 3 ask, 4 denied by check, 125 a fault of Cordon, 126 denied or refused, 127 not found.
.SH FILES
.TP
.I cordon.toml
The manifest of a project.
.TP
.I ~/.config/cordon, ~/.local/state/cordon
Configuration and state, owner\\-only.
`
}

/** A part of the CycloneDX bill. */
interface Part {
  readonly 'bom-ref': string
  readonly properties?: readonly { readonly name: string }[]
}

/** CycloneDX, made by npm, with what the packages bring besides, and without the time and number of this run. */
function writeBillOfMaterials(): void {
  const bill = JSON.parse(output('npm', ['sbom', '--sbom-format', 'cyclonedx']))
  // Development packages whose code is bundled are delivered like the others.
  const bundled = new Set(files('dist/licences'))
  const isDelivered = ({ 'bom-ref': name, properties = [] }: Part) =>
    bundled.has(name) || !properties.some((property) => property.name.endsWith(':development'))
  bill.components = bill.components.filter(isDelivered)
  const delivered = new Set<string>(bill.components.map((part: Part) => part['bom-ref']))
  for (const name of bundled) if (!delivered.has(name)) stop(`${name} is bundled, and npm does not list it`)
  bill.dependencies = bill.dependencies.flatMap(({ ref, dependsOn }: { ref: string; dependsOn: readonly string[] }) =>
    delivered.has(ref) || ref === bill.metadata.component['bom-ref']
      ? [{ ref, dependsOn: dependsOn.filter((name) => delivered.has(name)) }]
      : [],
  )
  // npm lists what is installed here; the other platform's packages have its own.
  const keyring = bill.components.find((part: Part) => part['bom-ref'].startsWith('@napi-rs/keyring-linux-'))
  for (const platform of Object.keys(PLATFORMS)) {
    const ref = `@napi-rs/keyring-linux-${platform}-gnu@${keyring.version}`
    if (delivered.has(ref)) continue
    const { hashes: _, ...rest } = keyring
    const name = ref.slice(0, ref.lastIndexOf('@'))
    bill.components.push({ ...rest, 'bom-ref': ref, name, purl: `pkg:npm/%40${ref.slice(1)}` })
  }
  const bubblewrap = join(work, 'bubblewrap/bubblewrap.version')
  bill.components.push(
    { type: 'application', name: 'node', version: devDependencies.node, licenses: [{ license: { name: 'Node.js' } }] },
    {
      type: 'application',
      name: 'bubblewrap',
      version: readFileSync(bubblewrap, 'utf8').trim(),
      licenses: [{ license: { id: 'LGPL-2.0-or-later' } }],
    },
  )
  // npm names it after the folder of the checkout.
  bill.metadata.component.name = 'cordon'
  bill.metadata.timestamp = new Date(epoch * 1000).toISOString()
  const digest = createHash('sha256').update(JSON.stringify(bill.components)).digest('hex')
  bill.serialNumber = `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`
  // Where a package was downloaded from is a matter of this machine.
  for (const component of bill.components) delete component.externalReferences
  writeFileSync(join(out, 'cordon.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)
}

/** Checksums, their signature, and the installer that checks both. */
function finish(): void {
  const file = process.env.CORDON_RELEASE_KEY
  if (file !== undefined) {
    const key = createPrivateKey(readFileSync(file))
    if (key.asymmetricKeyType !== 'ed25519') stop(`${file}: expected an ed25519 key, found ${key.asymmetricKeyType}`)
    const own = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')
    writeFileSync(join(out, 'install.sh'), fill(readFileSync('packaging/install.sh', 'utf8'), { key: own }), {
      mode: 0o755,
    })
    devcontainerFeature(own)
    const sums = checksums(out)
    writeFileSync(join(out, 'SHA256SUMS'), sums)
    writeFileSync(join(out, 'SHA256SUMS.sig'), sign(null, Buffer.from(sums), key))
  } else {
    writeFileSync(join(out, 'SHA256SUMS'), checksums(out))
    say('not signed, and no install.sh: CORDON_RELEASE_KEY names no key')
  }
  for (const name of readdirSync(out).sort()) {
    chmodSync(join(out, name), name.endsWith('.sh') ? 0o755 : 0o644)
    console.log(`${(statSync(join(out, name)).size / 1e6).toFixed(1).padStart(7)} MB  ${name}`)
  }
}

/** The dev container feature: the installer with its key, and the description that says what the container must allow. */
function devcontainerFeature(key: string): void {
  const folder = join(work, 'feature')
  cpSync('packaging/devcontainer-feature', folder, { recursive: true })
  const about = join(folder, 'devcontainer-feature.json')
  writeFileSync(about, fill(readFileSync(about, 'utf8'), { version }))
  writeFileSync(join(folder, 'install-cordon.sh'), fill(readFileSync('packaging/install.sh', 'utf8'), { key }))
  pack(folder, '.', 'devcontainer-feature-cordon.tgz')
}

function checksums(folder: string): string {
  return files(folder)
    .filter((name) => !name.startsWith('SHA256SUMS'))
    .map((name) => `${hash('sha256', join(folder, name))}  ${name}\n`)
    .join('')
}

function files(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

function hash(algorithm: string, path: string): string {
  return createHash(algorithm).update(readFileSync(path)).digest('hex')
}

function fill(text: string, fields: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name) => fields[name] ?? whole)
}

function run(program: string, args: readonly string[]): void {
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch), TAR_OPTIONS: '' }
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  if (status !== 0) stop(`${program} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`)
}

function output(program: string, args: readonly string[]): string {
  const { status, stdout, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  if (status !== 0) stop(`${program} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`)
  return stdout.trim()
}

function say(text: string): void {
  console.error(`release: ${text}`)
}

function stop(text: string): never {
  rmSync(work, { recursive: true, force: true })
  say(text)
  process.exit(1)
}
