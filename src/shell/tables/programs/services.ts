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
    'cf pscale turso neonctl neon xata fauna nats etcdctl rabbitmqctl rabbitmqadmin s3cmd s5cmd temporal airflow dagster prefect':
      {
        partial: true,
        verbs: {
          at: 'a service',
          local: 'version help completion config context dev server',
          reads: 'sub',
          groups: 'kv stream consumer db database branch app space dags tasks connections pools',
        },
      },
    'kafka-topics kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh kafka-configs kafka-configs.sh kafka-acls kafka-acls.sh':
      {
        partial: true,
        effects: `
  remote-read  | * |  | reads a broker
  remote-write | * | --create --alter --add | changes a broker
  destructive  | * | --delete --remove --reset-offsets | deletes from a broker`,
      },
    'kafka-delete-records kafka-delete-records.sh': {
      partial: true,
      effects: `
  destructive  | * |  | deletes from a broker`,
    },
    'lvremove vgremove pvremove hdparm blkdiscard': {
      partial: true,
      effects: `
  destructive  | * |  | destroys data on a disk`,
    },
  }
}
