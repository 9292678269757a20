/** Database clients: statements that run programs, open files, or lose data. */

import type { Arg } from '../options.ts'
import { has, type Rule, type Use, usesOf } from '../use.ts'

const runsPrograms: readonly (readonly [pattern: RegExp, code: string, message: string])[] = [
  [
    /\\!|\bPROGRAM\s+(['$]|E')|\\(o|g|gx|w|watch|copy\b.*)\s*\|/i,
    'script-runs-program',
    'the statements run a program',
  ],
  [/(^|[;\n])\s*(system|pager|edit|\\e|\\ef|\\ev|\\setenv)\b/i, 'script-runs-program', 'the statements run a program'],
  [
    /(^|[;\n\s])\\(o|w|g|gx|out|copy|i|ir|include|lo_import|lo_export|cd)\s+\S/i,
    'script-writes-file',
    'the statements open files',
  ],
  [/(^|[;\n])\s*(source|tee|\\\.)\s+\S/i, 'script-reads-file', 'the statements open files'],
  [
    /\b(INTO\s+(OUT|DUMP)FILE|LOAD_FILE\s*(?=\()|LOAD\s+DATA|pg_read_file|pg_write|lo_import|lo_export)\b/i,
    'script-writes-file',
    'the statements open files of the server',
  ],
  [/\bCOPY\b[^;]*\b(FROM|TO)\s+'/i, 'script-writes-file', 'the statements open files of the server'],
  [
    /\b(CREATE\s+EXTENSION|LOAD\s+'|INSTALL\s+PLUGIN|CREATE\s+FUNCTION[^;]*\b(SONAME|LANGUAGE\s+'?(c|plpython|plperl|plsh)))/i,
    'script-loads-code',
    'the statements load code',
  ],
]

const sqliteDangers: readonly (readonly [pattern: RegExp, code: string, message: string])[] = [
  [/(^|[;\n])\s*\.(sh|she|shel|shell|sys|syst|syste|system)\b/i, 'script-runs-program', 'the statements run a program'],
  [
    /(^|[;\n])\s*\.(once|output|o|out|on|excel|www|log|trace|import|backup|save|clone|dump\s*>|archive|ar|cd|open|edit)\b/i,
    'script-writes-file',
    'the statements open files',
  ],
  [/(^|[;\n])\s*\.(read|load|init|restore)\b/i, 'script-loads-code', 'the statements load code or statements'],
  [
    /\b(readfile|writefile|edit|load_extension|fts3_tokenizer|fsdir|zipfile)\s*\(/i,
    'script-writes-file',
    'the statements open files or load code',
  ],
  [/\bATTACH\b|\bVACUUM\s+INTO\b/i, 'script-writes-file', 'the statements open another database'],
  [
    /\b(read_csv|read_text|read_blob|read_json|read_parquet)\w*\s*\(|\bCOPY\b[^;]*\b(TO|FROM)\s+['"]|\bINSTALL\b|\bLOAD\s+\w/i,
    'script-reads-file',
    'the statements open files or load code',
  ],
]

const destroys = /\b(DROP|TRUNCATE|PURGE|DELETE\s+(FROM\b|\w+\s+FROM\b)|ALTER\s+TABLE\b[^;]*\bDROP)\b/i
const changes =
  /\b(INSERT|UPDATE|MERGE|REPLACE|CREATE|ALTER|GRANT|REVOKE|CALL|DO|EXECUTE|COPY|VACUUM|REINDEX|SET\s+ROLE|RENAME|IMPORT|LOCK|COMMENT|REFRESH|LOAD\s+(DATA|XML)|INTO\s+(OUT|DUMP)FILE|SHUTDOWN|KILL|RESET|FLUSH|OPTIMIZE|ATTACH|DETACH|INSTALL)\b/i

/** What statements do to the data they are about. */
export function statementsOf(sql: string): 'reads' | 'changes' | 'destroys' {
  const text = withoutStrings(sql)
  if (destroys.test(text)) return 'destroys'
  return changes.test(text) ? 'changes' : 'reads'
}

/** The statements with string contents blanked, so that a word in a text is not a statement. */
function withoutStrings(sql: string): string {
  return sql.replace(/--[^\n]*/g, ' ').replace(/'(?:[^']|'')*'/g, "''")
}

function reportStatements(use: Use, args: readonly Arg[], table: typeof runsPrograms): void {
  for (const arg of args) {
    if (arg.text === null) {
      use.found.hazard(
        'dynamic-argument',
        `the statements for \`${use.program}\` are not known beforehand`,
        arg.word.span,
      )
      continue
    }
    for (const [pattern, code, message] of table)
      if (pattern.test(arg.text)) use.found.hazard(code, message, arg.word.span)
  }
}

const server: Rule = (use) => {
  for (const option of usesOf(use, '-P', '--pset', '-v'))
    if (
      /^(pager|editor)/i.test(option.value?.text ?? '') &&
      !/^pager=(off|on|0|1|always)?$/i.test(option.value?.text ?? '')
    )
      use.found.hazard('option-runs-program', `\`${use.program} ${option.name}\` names a program`, option.span)
  const args = usesOf(use, '-c', '-e', '--init-command').flatMap((option) =>
    option.value === null ? [] : [option.value],
  )
  reportStatements(use, args, runsPrograms)
  for (const arg of use.operands) {
    const text = arg.text ?? ''
    if (/^[a-z]+:\/\//.test(text)) use.found.host(text, arg.word.span)
  }
  if (args.length === 0 && !has(use, '--version', '-V', '--help', '-l', '--list', '-f')) {
    use.found.hazard('interpreter-code', `\`${use.program}\` runs the statements that it reads`, use.span)
    use.setEffect('remote-write', 'runs statements on a database')
    return
  }
  const text = withoutStrings(args.map((arg) => arg.text ?? 'DROP').join(';\n'))
  if (has(use, '-f')) use.setEffect('remote-write', 'runs a file of statements on a database')
  else if (destroys.test(text)) use.setEffect('destructive', 'deletes data in a database')
  else if (changes.test(text)) use.setEffect('remote-write', 'changes a database')
  else use.setEffect('remote-read', 'reads a database')
}

/** Rows and columns that are there no longer as they were; new ones lose nothing. */
function overwritesRows(args: readonly Arg[], read: string): boolean {
  return /\b(UPDATE|REPLACE|ALTER)\b/i.test(withoutStrings([...args.map((arg) => arg.text ?? ''), read].join(';\n')))
}

const sqlite: Rule = (use) => {
  const [database, ...statements] = use.operands
  const options = usesOf(use, '-cmd', '-c', '-s').flatMap((option) => (option.value === null ? [] : [option.value]))
  const all = [...options, ...statements]
  reportStatements(use, all, sqliteDangers)
  // Statements come from the words, or from input: a here-document is known, a file or a pipe is not.
  const read = all.length === 0 && use.place.stdin !== 'none' ? (use.place.input ?? 'DROP') : ''
  // Another file may contain anything.
  const known = (text: string | null): string =>
    text === null || /^\s*\.(?:read|restore)\b/i.test(text) ? 'DROP' : text
  const done = statementsOf([...all.map((arg) => known(arg.text)), read].join(';\n'))
  const writes = (all.length === 0 && read === '') || done !== 'reads'
  if (database !== undefined) {
    const file = database.text === null ? null : database.text.replace(/^file:(\/\/)?/, '').replace(/\?.*$/, '')
    const access = writes && !has(use, '-readonly') && !/mode=ro/.test(database.text ?? '') ? 'write' : 'read'
    if (file === null) use.found.unknownPath(database.word, database.prefix, access, false)
    else if (file !== ':memory:' && file !== '') use.found.file(file, access, database.word.span)
  }
  const memory = database === undefined || /^(file:)?:memory:/.test(database.text ?? '')
  if ((done === 'destroys' || overwritesRows(all, read)) && !memory && !has(use, '-readonly'))
    use.setEffect('loss', 'changes or deletes data in a database')
  if (all.length === 0 && !has(use, '-version', '-help'))
    use.found.hazard('interpreter-code', `\`${use.program}\` runs the statements that it reads`, use.span)
}

const redisReads =
  /^(get|mget|hget|hgetall|hkeys|hlen|exists|keys|scan|sscan|hscan|zscan|type|ttl|pttl|llen|lrange|smembers|scard|zrange|zcard|zscore|info|ping|dbsize|echo|time|memory|strlen|getrange|object|lastsave|role|xlen|xrange|xinfo)$/i
const redisCode = /^(eval|evalsha|script|module|config|debug|function|fcall|slaveof|replicaof|migrate|acl)$/i
const redisLoses = /^(flushall|flushdb|del|unlink|shutdown|rename)$/i

const redis: Rule = (use) => {
  const verb = use.operands[0]?.text
  if (verb != null && redisCode.test(verb))
    use.found.hazard(
      'script-runs-program',
      `\`redis-cli ${verb}\` runs code or changes the server`,
      use.operands[0]?.word.span ?? use.span,
    )
  if (verb == null) use.setEffect('remote-write', 'runs commands on a database')
  else if (redisLoses.test(verb)) use.setEffect('destructive', 'deletes data in a database')
  else if (redisReads.test(verb)) use.setEffect('remote-read', 'reads a database')
  else use.setEffect('remote-write', 'changes a database')
}

export const databaseRules: Readonly<Record<string, Rule>> = {
  'psql, pgcli, mysql, mariadb': server,
  'sqlite3, sqlite, sqlcipher, duckdb': sqlite,
  'redis-cli, valkey-cli': redis,
}
