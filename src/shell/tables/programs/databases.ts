/** Database clients. */

import { databaseRules } from '../rules/databases.ts'
import type { Program, ProgramTable } from '../spec.ts'

export function databasePrograms(): ProgramTable {
  const psqlKind: Program = {
    options: `
  -c --command <text>
  -f --file <load>
  -o --output -L --log-file <output>
  -h --host <host>
  -v --set --variable -p --port -U --username -d --dbname -P --pset -F --field-separator -R --record-separator -T <text>`,
    operands: 'text*',
    wary: true,
  }
  const mongoshKind: Program = {
    always: ['code', 'runs JavaScript'],
    options: '\n  --eval <code>\n  -f --file <load>\n  --host <host>',
    operands: 'text*',
  }
  const mongodumpKind: Program = {
    options:
      '\n  -o --out --archive <write>\n  --file <auto>\n  --config <config>\n  -h --host --uri <host>\n  -d --db -c --collection -u -p -q <text>',
    operands: 'auto*',
  }
  const clickhouseClientKind: Program = {
    always: ['code', 'runs statements'],
    operands: 'text*',
  }

  return {
    psql: { ...psqlKind, rules: [databaseRules] },
    pgcli: {
      ...psqlKind,
      effects: `
  remote-write | * |  | changes a database`,
      rules: [databaseRules],
    },
    'sqlite3 sqlite sqlcipher duckdb': {
      rules: [databaseRules],
      style: 'word',
      options:
        '\n  -init -f <load>\n  -cmd -c -s <text>\n  -separator -newline -nullvalue -mmap -vfs -maxsize <text>\n  -A !output # packs or unpacks files\n  -readonly -json -csv -header -column -line -list -markdown -html -table -box -batch -bail',
      operands: 'text*',
      wary: true,
    },
    'mysql mariadb': {
      rules: [databaseRules],
      options: `
  -e --execute --init-command <text>
  --defaults-file --defaults-extra-file --login-path <config>
  --pager <run>
  --tee <output>
  --plugin-dir --plugin-load <load>
  -h --host <host>
  -u --user -P --port -D --database -S --socket --protocol --default-character-set --delimiter --prompt <text>
  -p --password --ssl-mode [text]
  --local-infile [send]`,
      operands: 'text*',
      wary: true,
    },
    'redis-cli valkey-cli': {
      rules: [databaseRules],
      options:
        '\n  --eval <load>\n  -h <host>\n  -p -a -n -u -r -i --user --pass <text>\n  --rdb <output>\n  --cert --key --cacert <read>',
      operands: 'text*',
    },
    mongosh: {
      ...mongoshKind,
      effects: `
  remote-write | * |  | changes a database
  destructive  | drop |  | deletes a database`,
    },
    mongo: {
      ...mongoshKind,
      effects: `
  remote-write | * |  | changes a database`,
    },
    'mongosh-cli': mongoshKind,
    'mongodump mongoexport': {
      ...mongodumpKind,
      effects: `
  remote-read  | * |  | reads a database`,
    },
    'mongorestore mongoimport': {
      ...mongodumpKind,
      effects: `
  remote-write | * |  | changes a database`,
    },
    'pg_dump pg_dumpall': {
      effects: `
  remote-read  | * |  | reads a database`,
      options:
        '\n  -f --file <write>\n  -h --host <host>\n  -U -p -d -t -n -T -F -j -Z --format --table --schema <text>',
      operands: 'text*',
    },
    pg_restore: {
      effects: `
  remote-write | * |  | changes a database`,
      options: '\n  -f --file <write>\n  -L --use-list <read>\n  -h --host <host>\n  -U -p -d -t -n -j -F <text>',
      operands: 'read',
    },
    mysqldump: {
      effects: `
  remote-read  | * |  | reads a database`,
      options:
        '\n  -r --result-file --tab -T --log-error <output>\n  --defaults-file --defaults-extra-file <config>\n  --plugin-dir <load>\n  -h --host <host>\n  -u -P -S --where -w --ignore-table <text>\n  -p [text]',
      operands: 'text*',
    },
    'clickhouse-client cqlsh influx snowsql usql': {
      ...clickhouseClientKind,
      effects: `
  remote-write | * |  | changes a database`,
    },
    clickhouse: clickhouseClientKind,
  }
}
