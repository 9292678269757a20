/** Database clients and migration tools. */

import { databaseRules } from '../rules/databases.ts'
import type { Program, ProgramTable, Verbs } from '../spec.ts'

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

/** Migration tools: what changes a database, and what only writes or reads files of the project. */
export function migrationPrograms(): ProgramTable {
  const database: Verbs = {
    at: 'a database',
    local:
      'generate format validate lint fmt studio init new make create revision version help completion hash check edit merge splice',
    groups: 'db database migration migrations schema cloud',
    reads:
      'history info current heads branches pending dump snapshot generate create new make revision revisions list_migrations hash lint add prepare wait',
  }
  const migration: Program = {
    abbreviates: false,
    options: `
  --schema -c --config <read>
  -n --name -x -dir -m --message <text>
  --url -u -d --database-url --dev-url --to --from --sql -s --tag --changelog-file --username --password <text>`,
    operands: 'text*',
    verbs: database,
  }
  const goStyle: Program = {
    ...migration,
    style: 'word',
    options: '\n  -path -source -database -prefetch -lock-timeout -dir -table -certfile -ssl-cert -ssl-key -s <text>',
  }

  return {
    prisma: {
      ...migration,
      effects: `
  remote-write | migrate dev, migrate deploy, migrate resolve, db push, db seed, db execute |  | changes a database
  remote-read  | db pull, migrate status, migrate diff |  | reads a database
  destructive  | migrate reset |  | deletes a database
  destructive  | db push | --force-reset --accept-data-loss | deletes data in a database`,
    },
    'drizzle-kit': {
      ...migration,
      effects: `
  remote-write | push, migrate, up |  | changes a database
  remote-read  | pull, introspect |  | reads a database`,
    },
    knex: {
      ...migration,
      effects: `
  remote-write | migrate:latest, migrate:up, seed:run |  | changes a database
  destructive  | migrate:rollback, migrate:down |  | deletes data in a database`,
    },
    sequelize: {
      ...migration,
      dryRuns: '',
      effects: `
  remote-write | db:migrate, db:seed, db:seed:all |  | changes a database
  destructive  | db:drop, db:migrate:undo, db:migrate:undo:all |  | deletes data in a database`,
    },
    typeorm: {
      ...migration,
      effects: `
  remote-write | migration:run, schema:sync |  | changes a database
  destructive  | schema:drop, migration:revert |  | deletes data in a database`,
    },
    alembic: {
      ...migration,
      effects: `
  remote-write | upgrade, stamp |  | changes a database
  destructive  | downgrade |  | deletes data in a database`,
    },
    flyway: {
      ...migration,
      effects: `
  remote-write | migrate, baseline, repair |  | changes a database
  destructive  | clean, undo |  | deletes data in a database`,
    },
    liquibase: {
      ...migration,
      effects: `
  remote-write | update |  | changes a database
  destructive  | rollback, drop-all |  | deletes data in a database`,
    },
    dbmate: {
      ...migration,
      effects: `
  remote-write | up, migrate, create |  | changes a database
  destructive  | down, rollback, drop |  | deletes data in a database`,
    },
    goose: {
      ...goStyle,
      effects: `
  remote-write | up, up-by-one, up-to |  | changes a database
  destructive  | down, down-to, reset, redo |  | deletes data in a database`,
    },
    migrate: {
      ...goStyle,
      effects: `
  remote-write | up, goto, force |  | changes a database
  destructive  | down, drop |  | deletes data in a database`,
    },
    atlas: {
      ...migration,
      effects: `
  remote-write | migrate apply, schema apply |  | changes a database`,
    },
    diesel: {
      ...migration,
      effects: `
  remote-write | migration run, setup |  | changes a database
  destructive  | migration revert, migration redo, database reset |  | deletes data in a database`,
    },
    sqlx: {
      ...migration,
      effects: `
  remote-write | migrate run, database create, database setup |  | changes a database
  destructive  | database drop, database reset, migrate revert |  | deletes data in a database`,
    },
    'sea-orm-cli': {
      ...migration,
      effects: `
  remote-write | migrate up |  | changes a database
  destructive  | migrate fresh, migrate reset |  | deletes data in a database`,
    },
    flask: {
      options: '\n  -A --app -e --env-file <read>\n  --debug\n  -d --directory -m --message -x --x-arg --rev-id <text>',
      operands: 'text*',
      subcommands: {
        run: { always: ['system', 'serves the application'], operands: 'text*' },
        shell: { always: ['code', 'starts a Python shell'] },
      },
      effects: `
  local        | db init, db migrate, db revision, db merge, db edit |  |`,
      verbs: { ...database, under: 'db$', local: '' },
    },
    'dotnet-ef': {
      ...migration,
      effects: `
  local        | migrations, dbcontext |  |`,
    },
    'kysely node-pg-migrate db-migrate umzug mikro-orm phinx yoyo pgroll bytebase skeema pgmigrate': migration,
    'sequelize-cli': { ...migration, dryRuns: '' },
  }
}
