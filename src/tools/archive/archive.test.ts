import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pax, type TarItem, tar, tarGz, type ZipItem, zip } from '../../../test/contract/tools/tools-archives.ts'
import { InputError } from '../tool.ts'
import { ARCHIVE_LIMITS, type ArchiveEntry } from './entry.ts'
import { placeEntries } from './extract.ts'
import { gunzip, isGzip, isTar, readTar } from './tar.ts'
import { isZip, readZip } from './zip.ts'

const small = { ...ARCHIVE_LIMITS, ratioFrom: 1000, bytes: 1_000_000, entries: 10 }

function read(bytes: Buffer, limits = ARCHIVE_LIMITS): ArchiveEntry[] {
  if (isZip(bytes)) return readZip(bytes, limits)
  return readTar(isGzip(bytes) ? gunzip(bytes, limits) : bytes, limits)
}

/** Reads, places and unpacks everything, as extract does. */
function contents(bytes: Buffer, limits = ARCHIVE_LIMITS): Record<string, string> {
  return Object.fromEntries(
    placeEntries(read(bytes, limits), '/d').map(({ entry, path }) => [
      path,
      entry.type === 'file'
        ? `${entry.content().toString()}${entry.executable ? ' x' : ''}`
        : entry.type === 'link'
          ? `-> ${entry.target}`
          : '/',
    ]),
  )
}

describe('zip', () => {
  const rows: readonly [note: string, items: ZipItem[], found: Record<string, string>][] = [
    [
      'deflated and stored',
      [
        { name: 'a', content: 'A' },
        { name: 'b', content: 'B', stored: true },
      ],
      { '/d/a': 'A', '/d/b': 'B' },
    ],
    ['directories', [{ name: 'd/' }, { name: 'd/f', content: 'F' }], { '/d/d': '/', '/d/d/f': 'F' }],
    ['zip64 sizes', [{ name: 'a', content: 'A', wide: true }], { '/d/a': 'A' }],
    ['the executable bit, not setuid', [{ name: 'a', content: 'A', mode: 0o104755 }], { '/d/a': 'A x' }],
    ['a link that stays inside', [{ name: 'x/l', content: '../y', mode: 0o120777 }], { '/d/x/l': '-> ../y' }],
    ['names that are not ASCII', [{ name: 'ä/ö', content: 'ü' }], { '/d/ä/ö': 'ü' }],
    ['a dot in front', [{ name: './a', content: 'A' }], { '/d/a': 'A' }],
    ['nothing', [], {}],
  ]
  it.each(rows)('%s', (_note, items, found) => {
    expect(contents(zip(items))).toEqual(found)
  })

  const refused: readonly [note: string, bytes: () => Buffer, message: RegExp][] = [
    ['a name that climbs', () => zip([{ name: '../x' }]), /"\.\."/],
    ['a name that climbs inside', () => zip([{ name: 'a/../../x' }]), /"\.\."/],
    ['an absolute name', () => zip([{ name: '/etc/x' }]), /absolute/],
    ['a drive', () => zip([{ name: 'C:/x' }]), /absolute/],
    ['a backslash', () => zip([{ name: '..\\x' }]), /backslash/],
    ['a NUL', () => zip([{ name: 'a\0b' }]), /control/],
    ['a newline', () => zip([{ name: 'a\nb' }]), /control/],
    ['a link to an absolute path', () => zip([{ name: 'l', content: '/etc', mode: 0o120777 }]), /points outside/],
    ['a link that climbs out', () => zip([{ name: 'a/l', content: '../../x', mode: 0o120777 }]), /points outside/],
    [
      'a link that climbs later',
      () => zip([{ name: 'a/l', content: 'b/../../../x', mode: 0o120777 }]),
      /points outside/,
    ],
    [
      'a link to the top itself, by climbing',
      () => zip([{ name: 'l', content: '..', mode: 0o120777 }]),
      /points outside/,
    ],
    [
      'a file below a link',
      () => zip([{ name: 'l', content: 'x', mode: 0o120777 }, { name: 'l/f' }]),
      /below "l", which is a link/,
    ],
    ['a file below a file', () => zip([{ name: 'f', content: 'x' }, { name: 'f/g' }]), /below "f"/],
    ['a name twice', () => zip([{ name: 'a' }, { name: 'a' }]), /twice/],
    ['a name twice, written differently', () => zip([{ name: 'a/b' }, { name: './a//b' }]), /twice/],
    ['a device', () => zip([{ name: 'a', mode: 0o020666 }]), /device/],
    ['two names for one entry', () => zip([{ name: 'a', localName: 'b' }]), /another name/],
    ['a size that lies low', () => zip([{ name: 'a', content: 'AAAA', size: 2 }]), /broken/],
    ['a size that lies high', () => zip([{ name: 'a', content: 'AAAA', size: 9 }]), /broken/],
    ['encryption', () => zip([{ name: 'a', flags: 1 }]), /encrypted/],
    ['another method', () => zip([{ name: 'a', content: 'A', method: 12 }]), /method 12/],
    ['a cut end', () => zip([{ name: 'a', content: 'A' }]).subarray(0, -5), /cut off/],
    ['a bomb', () => zip([{ name: 'a', content: Buffer.alloc(500_000) }]), /times its size/],
    [
      'too much altogether',
      () => zip([{ name: 'a', content: Buffer.alloc(1_100_000), stored: true }]),
      /at most 1000000/,
    ],
    ['too many', () => zip(Array.from({ length: 11 }, (_, index) => ({ name: `${index}` }))), /11 entries/],
    ['entries that overlap', () => overlapping(), /overlap/],
  ]
  it.each(refused)('refused: %s', (_note, bytes, message) => {
    expect(() => contents(bytes(), small)).toThrow(InputError)
    expect(() => contents(bytes(), small)).toThrow(message)
  })
})

describe('tar', () => {
  const rows: readonly [note: string, items: TarItem[], found: Record<string, string>][] = [
    [
      'files and directories',
      [
        { name: 'd/', type: '5' },
        { name: 'd/f', content: 'F', mode: 0o755 },
      ],
      { '/d/d': '/', '/d/d/f': 'F x' },
    ],
    [
      'a GNU long name',
      [
        { name: '././@LongLink', type: 'L', content: `${'n'.repeat(150)}\0` },
        { name: 'short', content: 'x' },
      ],
      { [`/d/${'n'.repeat(150)}`]: 'x' },
    ],
    [
      'a pax path',
      [
        { name: 'p', type: 'x', content: pax('path', 'long/ä') },
        { name: 'short', content: 'x' },
      ],
      { '/d/long/ä': 'x' },
    ],
    [
      'a hard link is a copy',
      [
        { name: 'a', content: 'A' },
        { name: 'b', type: '1', link: 'a' },
      ],
      { '/d/a': 'A', '/d/b': 'A' },
    ],
    ['a link that stays inside', [{ name: 'l', type: '2', link: 'a/b' }], { '/d/l': '-> a/b' }],
    [
      'a global header changes no names',
      [
        { name: 'g', type: 'g', content: pax('path', 'evil') },
        { name: 'a', content: 'A' },
      ],
      { '/d/a': 'A' },
    ],
  ]
  it.each(rows)('%s', (_note, items, found) => {
    expect(contents(tar(items))).toEqual(found)
    expect(contents(tarGz(items))).toEqual(found)
  })

  const refused: readonly [note: string, bytes: () => Buffer, message: RegExp][] = [
    ['a name that climbs', () => tar([{ name: '../x' }]), /"\.\."/],
    [
      'a pax path that climbs',
      () => tar([{ name: 'p', type: 'x', content: pax('path', '../x') }, { name: 'ok' }]),
      /"\.\."/,
    ],
    [
      'a long name that is absolute',
      () => tar([{ name: 'l', type: 'L', content: '/etc/x\0' }, { name: 'ok' }]),
      /absolute/,
    ],
    ['a hard link to the outside', () => tar([{ name: 'a', type: '1', link: '/etc/passwd' }]), /not in the archive/],
    [
      'a hard link to a link',
      () =>
        tar([
          { name: 'l', type: '2', link: 'x' },
          { name: 'a', type: '1', link: 'l' },
        ]),
      /not in the archive/,
    ],
    ['a link to the outside', () => tar([{ name: 'l', type: '2', link: '../x' }]), /points outside/],
    ['a file through a link', () => tar([{ name: 'l', type: '2', link: 'x' }, { name: 'l/f' }]), /below "l"/],
    ['a character device', () => tar([{ name: 'a', type: '3' }]), /special/],
    ['a FIFO', () => tar([{ name: 'a', type: '6' }]), /special/],
    [
      'a sparse file',
      () => tar([{ name: 'p', type: 'x', content: pax('GNU.sparse.major', '1') }, { name: 'a' }]),
      /sparse/,
    ],
    ['a cut file', () => tar([{ name: 'a', content: 'x'.repeat(2000) }]).subarray(0, 1024), /cut off/],
    [
      'a header that was changed',
      () => Buffer.concat([tar([{ name: 'a' }]).subarray(0, 512), Buffer.alloc(512, 7)]),
      /no valid header/,
    ],
    ['a bomb', () => gzipSync(tar([{ name: 'a', content: '\0'.repeat(500_000) }])), /times its size/],
  ]
  it.each(refused)('refused: %s', (_note, bytes, message) => {
    expect(() => contents(bytes(), small)).toThrow(InputError)
    expect(() => contents(bytes(), small)).toThrow(message)
  })
})

describe('what other programs write', () => {
  it('tar', () => {
    const directory = mkdtempSync(join(tmpdir(), 'cordon-archive-'))
    try {
      const long = `${'deep/'.repeat(30)}file.txt`
      execFileSync('mkdir', ['-p', join(directory, 'in/deep'.concat('/deep'.repeat(29)))])
      writeFileSync(join(directory, 'in', long), 'long')
      writeFileSync(join(directory, 'in/run.sh'), '#!/bin/sh\n', { mode: 0o755 })
      for (const format of ['gnu', 'pax', 'ustar']) {
        execFileSync('tar', [`--format=${format}`, '-czf', 'out.tgz', '-C', 'in', '.'], { cwd: directory })
        const found = contents(readFileSync(join(directory, 'out.tgz')))
        expect(found[`/d/${long}`], format).toBe('long')
        expect(found['/d/run.sh'], format).toBe('#!/bin/sh\n x')
      }
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it.each(spawnSync('python3', ['-V']).error ? [] : ['Python’s zipfile'])('%s', () => {
    const script =
      'import zipfile,sys\nz=zipfile.ZipFile(sys.argv[1],"w",zipfile.ZIP_DEFLATED)\nz.writestr("a/b.txt","hello"*100)\nf=z.open("big.txt","w",force_zip64=True)\nf.write(b"wide")\nf.close()\nz.close()'
    const directory = mkdtempSync(join(tmpdir(), 'cordon-archive-'))
    try {
      execFileSync('python3', ['-c', script, 'out.zip'], { cwd: directory })
      expect(contents(readFileSync(join(directory, 'out.zip')))).toEqual({
        '/d/a/b.txt': 'hello'.repeat(100),
        '/d/big.txt': 'wide',
      })
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

it('answers broken archives with an error for the caller, whatever is broken', () => {
  const good = [
    zip([
      { name: 'a/b', content: 'hello' },
      { name: 'l', content: 'a', mode: 0o120777 },
    ]),
    tar([{ name: 'a', content: 'x' }]),
  ]
  fc.assert(
    fc.property(fc.constantFrom(...good), fc.nat(), fc.nat(255), fc.nat(), (bytes, at, value, length) => {
      const broken = Buffer.from(bytes.subarray(0, bytes.length - (length % 3 === 0 ? length % bytes.length : 0)))
      if (broken.length > 0) broken[at % broken.length] = value
      if (!isZip(broken) && !isTar(broken)) return
      try {
        for (const path of Object.keys(contents(broken, small))) expect(path.startsWith('/d/')).toBe(true)
      } catch (error) {
        if (!(error instanceof InputError)) throw error
      }
    }),
    { numRuns: 3000 },
  )
})

/** Two directory entries that share one body. */
function overlapping(): Buffer {
  const bytes = zip([
    { name: 'a', content: 'AAAA' },
    { name: 'a', content: 'AAAA' },
  ])
  const second = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]))
  bytes.writeUInt32LE(0, second + 42)
  return bytes
}
