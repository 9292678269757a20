/** npm registries: one JSON document per package, with the time of each version. */

import { isRecord } from '../../system/json.ts'
import { compareVersions, isPreRelease, type PackageFacts, type RegistryProtocol, type Release } from './release.ts'
import { timeOf } from './time-of.ts'

const NAME = /^(?:@[^/@]+\/)?[^/@][^/]*$/
const FILE = /(?:^|\/)((?:@[^/]+\/)?([^/]+))\/-\/([^/]+)-(\d[^/]*)\.t(?:ar\.)?gz$/

export const npmProtocol: RegistryProtocol = {
  spot: (path) => {
    if (path === '' || path.startsWith('-/')) return { kind: 'other' }
    const name = npmNameOfFile(path)
    if (name !== null) return { kind: 'file', name }
    if (NAME.test(path)) return { kind: 'metadata', name: path }
    const [, whole, version] = /^((?:@[^/]+\/)?[^/@-][^/]*)\/([^/]+)$/.exec(path) ?? []
    if (whole === undefined || version === undefined) return null
    // A file that other ecosystems or no rule know is judged as a file.
    return /\.(?:tgz|gz|zip|whl|crate)$/.test(version) ? { kind: 'other' } : { kind: 'metadata', name: whole, version }
  },
  nameOfFile: (path, wide) => npmNameOfFile(path) ?? (wide && /\.t(?:ar\.)?gz$/.test(path) ? '' : null),
  metadataPath: (name) => name.replace('/', '%2f'),
  accept: 'application/json',
  brief: 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.5',
  read: (text) => {
    const document: unknown = JSON.parse(text)
    if (!isRecord(document) || !isRecord(document.versions) || typeof document.name !== 'string') return null
    const { name, versions, time, modified } = document
    const times = isRecord(time) ? time : {}
    const isBrief = time === undefined && modified !== undefined
    const releases = Object.entries(versions).map(([version, manifest]) =>
      releaseOf(version, manifest, isBrief ? modified : times[version]),
    )
    return { name, releases, ...(isBrief && { isBrief }) } satisfies PackageFacts
  },
  passesWhole: true,
  render: ({ type, body }, keeps) => {
    const document = JSON.parse(body) as Packument
    const times = document.time ?? {}
    const kept = Object.entries(document.versions).filter(([version, manifest]) =>
      keeps(releaseOf(version, manifest, times[version])),
    )
    const versions = Object.fromEntries(kept)
    const tags = tagsOf(document['dist-tags'] ?? {}, Object.keys(versions))
    const time = Object.fromEntries(
      Object.entries(times).filter(
        ([name]) => Object.hasOwn(versions, name) || !Object.hasOwn(document.versions, name),
      ),
    )
    const rest = document.time === undefined ? {} : { time }
    return { type, body: JSON.stringify({ ...document, versions, ...rest, 'dist-tags': tags }) }
  },
  pick: (body, version) => {
    const { versions, 'dist-tags': tags = {} } = JSON.parse(body) as Packument
    const wanted = Object.hasOwn(tags, version) ? tags[version]! : version
    return Object.hasOwn(versions, wanted) ? JSON.stringify(versions[wanted]) : null
  },
}

interface Packument {
  readonly versions: Readonly<Record<string, unknown>>
  readonly time?: Readonly<Record<string, unknown>>
  readonly 'dist-tags'?: Readonly<Record<string, string>>
}

function npmNameOfFile(path: string): string | null {
  const match = FILE.exec(path)
  return match !== null && match[2] === match[3] ? match[1]! : null
}

const SCRIPTS = ['preinstall', 'install', 'postinstall']

function releaseOf(version: string, manifest: unknown, time: unknown): Release {
  const { dist, scripts, hasInstallScript, gypfile, deprecated } = isRecord(manifest) ? manifest : {}
  const { tarball = null, attestations, signatures: _ } = isRecord(dist) ? dist : {}
  return {
    version,
    file: typeof tarball === 'string' ? tarball : null,
    published: timeOf(time),
    scripts:
      hasInstallScript === true ||
      gypfile === true ||
      (isRecord(scripts) && SCRIPTS.some((name) => Object.hasOwn(scripts, name))),
    withdrawn: typeof deprecated === 'string' && deprecated !== '' ? `deprecated: ${deprecated}` : null,
    provenance: isRecord(attestations) && attestations.provenance !== undefined,
  }
}

/** A tag of a removed version moves to the newest one below it, or is removed. */
function tagsOf(tags: Readonly<Record<string, string>>, kept: readonly string[]): Record<string, string> {
  const known = new Set(kept)
  return Object.fromEntries(
    Object.entries(tags).flatMap(([tag, version]) => {
      if (known.has(version)) return [[tag, version]]
      const below = kept.filter((one) => compareVersions(one, version) < 0 && (tag !== 'latest' || !isPreRelease(one)))
      const newest =
        below.sort(compareVersions).at(-1) ?? (tag === 'latest' ? kept.toSorted(compareVersions).at(-1) : undefined)
      return newest === undefined ? [] : [[tag, newest]]
    }),
  )
}
