/** Python registries: the simple index as JSON with upload times, and as HTML for older clients. */

import { isRecord } from '../../system/json.ts'
import { canonicalName, type Document, type RegistryProtocol, type Release } from './release.ts'
import { timeOf } from './time-of.ts'

const JSON_TYPE = 'application/vnd.pypi.simple.v1+json'
const WHEEL = /(?:^|\/)([^/]+?)-([^/-]+)(?:-\d[^/-]*)?-[^/-]+-[^/-]+-[^/-]+\.whl$/
const SOURCE = /(?:^|\/)([^/]+?)-(\d[^/-]*)\.(?:tar\.(?:gz|bz2|xz)|tgz|zip)$/
/** What pip and uv install, whatever its name. */
const ARCHIVE = /\.(?:zip|whl|egg|tar(?:\.\w+)?|t(?:gz|bz2?|xz|lz|zst))$/
/** Where the public index has its files: below their digest. */
const PUBLIC_FILE = /(?:^|\/)packages\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{60}\/[^/]+$/

export const pypiProtocol: RegistryProtocol = {
  spot: (path) => {
    if (path === '' || path === 'index.html') return { kind: 'other' }
    const name = namedFile(path, true)
    if (name !== null) return { kind: 'file', name }
    const match = /^([A-Za-z0-9][\w.-]*)\/?$/.exec(path)
    return match === null ? null : { kind: 'metadata', name: canonicalName('pypi', match[1]!) }
  },
  nameOfFile: (path, wide) => namedFile(path, wide) ?? (wide && ARCHIVE.test(path) ? '' : null),
  metadataPath: (name) => `${canonicalName('pypi', name)}/`,
  // HTML has no times.
  accept: JSON_TYPE,
  read: (text, type, url, name) => {
    if (!/\bjson\b/.test(type)) return null
    const document: unknown = JSON.parse(text)
    if (!isRecord(document) || !Array.isArray(document.files)) return null
    return { name, releases: document.files.filter(isRecord).map((file) => releaseOf(file, url)) }
  },
  render: ({ body }, keeps, accept, url) => {
    const document = JSON.parse(body) as { name?: string; files: Record<string, unknown>[]; versions?: string[] }
    const files = document.files.filter((file) => isRecord(file) && keeps(releaseOf(file, url)))
    if (!/\bjson\b/.test(accept)) return htmlOf(document.name ?? '', files)
    const left = new Set(files.map((file) => releaseOf(file, url).version))
    const versions = document.versions?.filter((version) => left.has(version))
    return { type: JSON_TYPE, body: JSON.stringify({ ...document, files, ...(versions && { versions }) }) }
  },
}

function namedFile(path: string, wide: boolean): string | null {
  const file = path.replace(/\.metadata$/, '')
  const match = WHEEL.exec(file) ?? (wide || PUBLIC_FILE.test(file) ? SOURCE.exec(file) : null)
  return match === null ? null : canonicalName('pypi', match[1]!)
}

function releaseOf(file: Readonly<Record<string, unknown>>, url: string): Release {
  const name = typeof file.filename === 'string' ? file.filename : ''
  return {
    version: (WHEEL.exec(name) ?? SOURCE.exec(name))?.[2] ?? name,
    file: typeof file.url === 'string' && URL.canParse(file.url, url) ? new URL(file.url, url).href : null,
    published: timeOf(file['upload-time']),
    // Building a source package runs its code.
    scripts: !name.endsWith('.whl'),
    withdrawn:
      file.yanked === undefined || file.yanked === false
        ? null
        : `yanked${typeof file.yanked === 'string' && file.yanked !== '' ? `: ${file.yanked}` : ''}`,
    provenance: typeof file.provenance === 'string',
  }
}

function htmlOf(name: string, files: readonly Readonly<Record<string, unknown>>[]): Document {
  const anchors = files.map((file) => {
    const hashes = isRecord(file.hashes) ? Object.entries(file.hashes) : []
    const hash = hashes.find(([kind]) => kind === 'sha256') ?? hashes[0]
    const href = `${String(file.url)}${hash === undefined ? '' : `#${hash[0]}=${String(hash[1])}`}`
    const requires =
      typeof file['requires-python'] === 'string' ? ` data-requires-python="${escaped(file['requires-python'])}"` : ''
    const yanked =
      file.yanked === undefined || file.yanked === false
        ? ''
        : ` data-yanked="${file.yanked === true ? '' : escaped(String(file.yanked))}"`
    return `<a href="${escaped(href)}"${requires}${yanked}>${escaped(String(file.filename))}</a><br/>`
  })
  const head = `<head><meta name="pypi:repository-version" content="1.0"><title>${escaped(name)}</title></head>`
  return {
    type: 'text/html; charset=utf-8',
    body: `<!DOCTYPE html><html>${head}<body>\n${anchors.join('\n')}\n</body></html>\n`,
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
