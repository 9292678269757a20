/** ClientHello messages as an attacker would write them. */

export interface HelloShape {
  readonly serverName?: string
  readonly serverNames?: readonly string[]
  /** A second server_name extension with this name. */
  readonly repeated?: string
  readonly encrypted?: boolean
  readonly protocols?: readonly string[]
}

export function clientHello(shape: HelloShape): Buffer {
  const names = shape.serverNames ?? (shape.serverName === undefined ? [] : [shape.serverName])
  const extensions = [
    ...(names.length > 0 ? [extension(0, vector(2, ...names.map(hostName)))] : []),
    ...(shape.repeated === undefined ? [] : [extension(0, vector(2, hostName(shape.repeated)))]),
    ...(shape.protocols
      ? [extension(16, vector(2, ...shape.protocols.map((name) => vector(1, Buffer.from(name)))))]
      : []),
    extension(10, vector(2, Buffer.from([0, 23]))),
    extension(11, vector(1, Buffer.from([0]))),
    extension(13, vector(2, Buffer.from([4, 3, 8, 4, 4, 1]))),
    ...(shape.encrypted ? [extension(0xfe0d, Buffer.alloc(64, 1))] : []),
  ]
  // TLS 1.2, ECDHE-ECDSA-AES128-GCM-SHA256: a hello that any server can answer.
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    vector(1),
    vector(2, Buffer.from([0xc0, 0x2b])),
    vector(1, Buffer.from([0])),
    vector(2, ...extensions),
  ])
  const message = Buffer.concat([Buffer.from([1]), vector(3, body)])
  return Buffer.concat([Buffer.from([0x16, 3, 1]), vector(2, message)])
}

function hostName(name: string): Buffer {
  return Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(name, 'latin1'))])
}

function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 255]), vector(2, content)])
}

function vector(size: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const length = Buffer.alloc(size)
  length.writeUIntBE(content.length, 0, size)
  return Buffer.concat([length, content])
}
