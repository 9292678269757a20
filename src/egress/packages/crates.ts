/** Crate registries: a sparse index with one line of JSON per version. */

import { isRecord } from '../../system/json.ts'
import type { RegistryProtocol, Release } from './release.ts'
import { timeOf } from './time-of.ts'

const INDEX = /^(?:1\/[^/]|2\/[^/]{2}|3\/[^/]\/[^/]{3}|[^/]{2}\/[^/]{2}\/[^/]{4,})$/
/** The file paths of public registries and common mirrors; the index gives any other. */
const FILE = /(?:^|\/)crates\/(?:([\w-]+)\/)?(?:([\w-]+?)-(\d[^/]*)\.crate|\d[^/]*\/download)$/

export const cratesProtocol: RegistryProtocol = {
  spot: (path) => {
    if (path === '' || path === 'config.json') return { kind: 'other' }
    const name = crateOfFile(path)
    if (name !== null) return { kind: 'file', name }
    if (INDEX.test(path)) return { kind: 'metadata', name: path.slice(path.lastIndexOf('/') + 1) }
    return path.startsWith('api/') || path === 'me' ? { kind: 'other' } : null
  },
  nameOfFile: (path) => crateOfFile(path) ?? (path.endsWith('.crate') ? '' : null),
  metadataPath: (name) => indexPath(name.toLowerCase()),
  accept: 'text/plain, */*',
  read: (text, _type, _url, name) => {
    const releases = linesOf(text).map(({ entry }) => releaseOf(entry))
    return releases.length === 0 ? null : { name, releases }
  },
  render: ({ body }, keeps) => {
    const kept = linesOf(body).filter(({ entry }) => keeps(releaseOf(entry)))
    return { type: 'text/plain', body: kept.map(({ line }) => `${line}\n`).join('') }
  },
}

export function indexPath(name: string): string {
  if (name.length < 3) return `${name.length}/${name}`
  return name.length === 3 ? `3/${name[0]}/${name}` : `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`
}

/** The address of a version's file, by the template of `config.json`. */
export function crateFile(dl: string, name: string, version: string, checksum: string): string {
  if (!/\{(?:crate|version|prefix|lowerprefix|sha256-checksum)\}/.test(dl)) return `${dl}/${name}/${version}/download`
  const prefix = indexPath(name).split('/').slice(0, -1).join('/')
  return dl
    .replaceAll('{crate}', name)
    .replaceAll('{version}', version)
    .replaceAll('{prefix}', prefix)
    .replaceAll('{lowerprefix}', prefix.toLowerCase())
    .replaceAll('{sha256-checksum}', checksum)
}

function crateOfFile(path: string): string | null {
  const match = FILE.exec(path)
  return match === null ? null : (match[2] ?? match[1] ?? null)
}

function linesOf(text: string): { readonly line: string; readonly entry: Readonly<Record<string, unknown>> }[] {
  return text.split('\n').flatMap((line) => {
    const entry: unknown = line.trim() === '' ? null : JSON.parse(line)
    return isRecord(entry) ? [{ line, entry }] : []
  })
}

function releaseOf(entry: Readonly<Record<string, unknown>>): Release {
  return {
    version: String(entry.vers),
    file: null,
    published: timeOf(entry.pubtime),
    // The index does not list build scripts.
    scripts: false,
    withdrawn: entry.yanked === true ? 'yanked' : null,
    provenance: false,
  }
}

/** Checksums by version, for templates that name them. */
export function checksumsOf(text: string): ReadonlyMap<string, string> {
  return new Map(linesOf(text).map(({ entry }) => [String(entry.vers), String(entry.cksum)]))
}
