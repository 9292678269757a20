/** The vocabulary of the tables: what the value of an option, or an operand, means to the program that takes it. */

/** What a value is. The tables name these in `<…>`, `[…]` and `!…`. */
export type Role =
  | 'text' // a pattern, a message, a number: nothing that opens a file
  | 'auto' // a file if it looks like one
  | 'read' // a file that is read
  | 'tree' // a directory that is read with everything below it
  | 'meta' // a file that is only listed, counted or tested
  | 'write' // a file that the program is known to write: its ordinary work
  | 'change' // a file that is read and written again, or under another name
  | 'grow' // a directory written with everything below it
  | 'output' // a file written by a program that otherwise only reads
  | 'run' // a program or a command line
  | 'module' // code when it is written as a path; a well-known package by its name
  | 'load' // code: a plugin, a module, a script
  | 'config' // configuration from elsewhere, which can name programs
  | 'list' // a file that lists further files, options or addresses
  | 'send' // a file that is sent away
  | 'at' // text, or a file to send when it starts with `@`
  | 'form' // name=text, or name=@file
  | 'url' // an address
  | 'host' // a machine's name
  | 'route' // sends or takes data another way: a proxy, a mirror, a socket
  | 'way' // names a way to another machine by a name of its own: a context, a profile
  | 'mount' // source:target of a container
  | 'remote' // an address or a local directory (git, rsync, scp)
  | 'skip' // switches a check off
  | 'system' // changes the machine or the account rather than the project
  | 'widen' // opens a container to the machine
  | 'code' // program text of an interpreter
  // Options of wrappers, which `wrap/unwrap.ts` reads.
  | 'idle' // with it no command is run
  | 'wary' // reaches further than running the command
  | 'shell' // text that a shell runs
  | 'split' // split into words in front of the command
  | 'mark' // the placeholder for arguments from input
  | 'chdir' // the directory that the command runs in
  | 'unset' // a variable taken out of the environment
  | 'script' // the file that holds the commands

/** How a role is reported. */
export interface RoleMeaning {
  readonly access: 'read' | 'write' | null
  readonly recursive: boolean
  /** Code of the hazard that using it raises; null when the path alone decides. */
  readonly hazard: string | null
  /** Completes "`program option` …". */
  readonly says: string
}

const harmless: RoleMeaning = { access: null, recursive: false, hazard: null, says: '' }

export const roles: Readonly<Record<Role, RoleMeaning>> = {
  text: harmless,
  auto: harmless,
  read: { ...harmless, access: 'read' },
  tree: { ...harmless, access: 'read', recursive: true },
  meta: { ...harmless, access: 'read' },
  write: { ...harmless, access: 'write' },
  change: { ...harmless, access: 'write' },
  grow: { ...harmless, access: 'write', recursive: true },
  output: { access: 'write', recursive: false, hazard: 'option-writes-file', says: 'writes a file' },
  run: { ...harmless, hazard: 'option-runs-program', says: 'runs another program' },
  load: { ...harmless, hazard: 'option-loads-code', says: 'loads code' },
  config: {
    access: 'read',
    recursive: false,
    hazard: 'option-reads-config',
    says: 'takes its configuration from elsewhere',
  },
  list: {
    access: 'read',
    recursive: false,
    hazard: 'option-reads-list',
    says: 'takes file names or options from a file',
  },
  send: { access: 'read', recursive: false, hazard: 'option-sends-file', says: 'sends a file away' },
  at: harmless,
  form: harmless,
  module: harmless,
  url: harmless,
  host: harmless,
  mount: harmless,
  route: { ...harmless, hazard: 'option-changes-route', says: 'sends or fetches data by another way' },
  remote: harmless,
  way: { ...harmless, hazard: 'option-changes-route', says: 'works on another machine' },
  skip: { ...harmless, hazard: 'option-skips-checks', says: 'switches a check off' },
  system: { ...harmless, hazard: 'changes-system', says: 'changes the machine or the account' },
  widen: { ...harmless, hazard: 'widens-container', says: 'opens the container to the machine' },
  code: { ...harmless, hazard: 'interpreter-code', says: 'runs text as code' },
  idle: harmless,
  wary: harmless,
  shell: harmless,
  split: harmless,
  mark: harmless,
  chdir: harmless,
  unset: harmless,
  script: harmless,
}

/** Roles whose values can do harm by themselves: a program that has one must not get unknown words. */
export function isRisky(role: Role): boolean {
  return roles[role].hazard !== null || role === 'at' || role === 'form' || role === 'module'
}
