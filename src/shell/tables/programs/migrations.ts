/** Migration tools: what changes a database, and what only writes or reads files of the project. */

import type { Program, ProgramTable, Verbs } from '../spec.ts'

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
    'kysely node-pg-migrate db-migrate umzug mikro-orm sequelize-cli phinx yoyo pgroll bytebase skeema pgmigrate':
      migration,
  }
}
