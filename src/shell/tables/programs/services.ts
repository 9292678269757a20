/** Programs that change databases and disks. */

import type { ProgramTable } from '../spec.ts'

export function servicePrograms(): ProgramTable {
  return {
    'createdb createuser mysqlimport mysqladmin': {
      partial: true,
      effects: `
  remote-write | * |  | changes a database`,
    },
    pg_isready: {
      partial: true,
      effects: `
  remote-read  | * |  | reads a database`,
    },
    'dropdb dropuser': {
      partial: true,
      effects: `
  destructive  | * |  | deletes a database`,
    },
    console: {
      partial: true,
      effects: `
  remote-write | doctrine:migrations:migrate |  | changes a database
  destructive  | doctrine:database:drop, doctrine:schema:drop |  | deletes data in a database`,
    },
    'lvremove vgremove pvremove hdparm blkdiscard': {
      partial: true,
      effects: `
  destructive  | * |  | destroys data on a disk`,
    },
  }
}
