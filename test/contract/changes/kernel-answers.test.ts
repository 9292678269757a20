/** The broker answers like the kernel, where public test suites found that it did not. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eachUser, giveTo } from '../../users.ts'
import { makePlace, runInside } from './sandbox.ts'

/** A folder in which unix sockets have longer paths than an address takes. */
const DEEP = `${'d'.repeat(60)}/${'e'.repeat(60)}`

/** Binds and connects by a name in the current directory, and prints what it sees of it. */
const SERVE = `import os, socket, stat, sys
name = sys.argv[1]
try:
  server = socket.socket(socket.AF_UNIX); server.bind(name); server.listen()
  client = socket.socket(socket.AF_UNIX); client.connect(name)
  server.accept()[0].send(b'hello')
  print(client.recv(5).decode(), stat.S_ISSOCK(os.lstat(name).st_mode), sorted(os.listdir('.')))
except OSError as error: print(error.strerror)`

const ROWS: readonly (readonly [note: string, folder: string, name: string, shows: string])[] = [
  ['in the project', '.', 's', "hello True ['.git', 'd', 's']"],
  ['in a folder whose path is longer than an address', DEEP, 's', "hello True ['s']"],
  ['a name as long as an address', DEEP, 'n'.repeat(107), `hello True ['${'n'.repeat(107)}']`],
  ['a name that ends in a slash', DEEP, 's/', 'No such file or directory'],
  ['where git listens to its monitor', `.git/${DEEP}`, 's', 'Permission denied'],
]

/** What a descriptor may change that was opened with O_PATH: nothing, as in the kernel. The last one is opened for reading. */
const BY_DESCRIPTOR = `import os, socket
open('f', 'w').close()
def tried(work):
  try: work(); return 'done'
  except OSError as error: return error.strerror
for how in (os.O_PATH, os.O_RDONLY):
  fd = os.open('f', how)
  print([tried(work) for work in (lambda: os.fchmod(fd, 0o640), lambda: os.chown(fd, -1, os.getgid()),
    lambda: os.utime(fd, (1, 1)), lambda: os.setxattr(fd, 'user.x', b'1'), lambda: os.chmod('/proc/self/fd/%d' % fd, 0o600))])
inet = socket.socket(socket.AF_INET)
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.bind(inet.fileno(), b'\\1\\0f'.ljust(110, b'\\0'), 110), os.strerror(ctypes.get_errno()))`

const BAD = 'Bad file descriptor'

eachUser(describe)('as $name', ({ uid }) => {
  const inPlace = (work: (inside: (argv: readonly string[]) => string) => void): void => {
    const place = makePlace(uid)
    try {
      for (const one of [DEEP, `.git/${DEEP}`]) mkdirSync(join(place.project, one), { recursive: true })
      const { folder } = place.store.begin({ roots: [place.project], what: 'answers' })
      giveTo(uid, place.base)
      work((argv) => {
        const { out, errors } = runInside(place, argv, { mediated: true, folder, uid })
        return out + errors
      })
    } finally {
      place.remove()
    }
  }

  it.each(ROWS)('a unix socket %s', (_, folder, name, shows) => {
    inPlace((inside) => {
      const said = inside(['/bin/sh', '-c', `cd ${folder} && python3 -c "$1" ${name}`, 'sh', SERVE])
      expect(said).toBe(`${shows.replaceAll("'d'", `'${'d'.repeat(60)}'`)}\n`)
    })
  })

  it('changes nothing by a descriptor of a path alone, and binds no other socket to a path', () => {
    inPlace((inside) => {
      const lines = inside(['python3', '-c', BY_DESCRIPTOR]).split('\n')
      expect(lines[0]).toBe(`['${BAD}', '${BAD}', '${BAD}', '${BAD}', 'done']`)
      expect(lines[1]).toBe("['done', 'done', 'done', 'done', 'done']")
      expect(lines[2]).toBe('-1 Address family not supported by protocol')
    })
  })
})
