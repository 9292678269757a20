/** What package-lock.json says of optional packages, and what it leaves out. */

/** An entry of the lock file, as far as it is checked here. */
export interface LockedPackage {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly integrity?: string
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/

type Packages = Readonly<Record<string, LockedPackage>>

const SYSTEMS: readonly string[] = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32', 'wasm32']
const PROCESSORS: Readonly<Record<string, string>> = {
  arm: 'arm',
  arm64: 'arm64',
  ia32: 'ia32',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  x64: 'x64',
}

/** Optional packages that a package names and the lock file lacks, with the entries that they get. */
export function missingPlatforms(packages: Packages): readonly (readonly [place: string, entry: LockedPackage])[] {
  return Object.entries(packages).flatMap(([parent, { optionalDependencies, dev }]) =>
    Object.entries(optionalDependencies ?? {}).flatMap(([name, version]) => {
      const found = versionFrom(packages, parent, name)
      if (found !== null && (found === version || !EXACT.test(version))) return []
      // Beside its parent: where npm puts it when another version is at the top.
      const beside = parent.slice(0, parent.lastIndexOf('node_modules/'))
      return [[`${beside}node_modules/${name}`, entryOf(name, version, dev ?? false)] as const]
    }),
  )
}

/** The version that Node would find from another package, by the lock file. */
function versionFrom(packages: Packages, from: string, name: string): string | null {
  const place = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`
  const found = packages[place]?.version
  if (found !== undefined || from === '') return found ?? null
  const above = from.lastIndexOf('/node_modules/')
  return versionFrom(packages, above < 0 ? '' : from.slice(0, above), name)
}

function entryOf(name: string, version: string, dev: boolean): LockedPackage {
  const words = name.slice(name.indexOf('/') + 1).split('-')
  const os = SYSTEMS.find((system) => words.includes(system))
  const cpu = words.map((word) => PROCESSORS[word]).find((found) => found !== undefined)
  if (!EXACT.test(version) || os === undefined) {
    throw new Error(`${name}@${version}: not a package of a platform, so it must be in the registry`)
  }
  const libc = words.includes('musl') ? 'musl' : words.includes('gnu') ? 'glibc' : undefined
  return {
    version,
    ...(os === 'wasm32' ? { cpu: ['wasm32'] } : { ...(cpu !== undefined && { cpu: [cpu] }), os: [os] }),
    ...(libc !== undefined && { libc: [libc] }),
    ...(dev && { dev }),
    optional: true,
  }
}
