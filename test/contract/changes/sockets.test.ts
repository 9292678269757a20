/** Unix sockets that the broker binds for a command: as deep as the kernel allows, and nowhere that a program outside takes orders. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eachUser, giveTo } from '../../users.ts'
import { makePlace, runInside } from './sandbox.ts'

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

eachUser(describe)('as $name', ({ uid }) => {
  it.each(ROWS)('%s', (_, folder, name, shows) => {
    const place = makePlace(uid)
    try {
      for (const one of [DEEP, `.git/${DEEP}`]) mkdirSync(join(place.project, one), { recursive: true })
      const begun = place.store.begin({ roots: [place.project], what: 'sockets' })
      giveTo(uid, place.base)
      const script = `cd ${folder} && python3 -c "$1" ${name}`
      const ran = runInside(place, ['/bin/sh', '-c', script, 'sh', SERVE], { held: true, folder: begun.folder, uid })
      expect(ran.out).toBe(`${shows.replaceAll("'d'", `'${'d'.repeat(60)}'`)}\n`)
    } finally {
      place.remove()
    }
  })
})
