/** Where a key means nothing, and why: every surface that no case shows must be here. */

import type { Surface } from './key-world.ts'

export interface Silence {
  readonly keys: RegExp
  readonly surfaces: readonly Surface[]
  readonly why: string
}

export const SILENT: readonly Silence[] = [
  {
    keys: /^review\./,
    surfaces: ['check', 'run'],
    why: 'check asks nothing, and what a person typed is theirs alone to answer',
  },
  {
    keys: /^http\.allowed_hosts\[\]\.max_/,
    surfaces: ['check', 'hook'],
    why: 'requests are counted where Cordon makes them; a hook judges a host’s own web tool before it does',
  },
  {
    keys: /^mcp\./,
    surfaces: ['session', 'hook', 'run'],
    why: 'the gateway judges tools of servers; in a hook the level of the tool decides',
  },
  {
    keys: /^approvals\./,
    surfaces: ['check', 'hook', 'run'],
    why: 'a question is sent from a page that is open; check, run and hooks have no page',
  },
  {
    keys: /^(permission|agents|rings)\./,
    surfaces: ['run'],
    why: 'typed commands are not an agent’s calls: no level, mode, ring or question is about them',
  },
  {
    keys: /^security\.(?!deny_domains)/,
    surfaces: ['run'],
    why: 'it is about what an agent may ask for; a typed command has been read by who typed it',
  },
  {
    keys: /^(permission\.interactive|security\.runtime_grants)$/,
    surfaces: ['check'],
    why: 'check says that it would be asked; whether anybody is there is the session’s',
  },
  {
    keys: /^security\.(hide_model|filter_listings|taint_asks)$/,
    surfaces: ['check'],
    why: 'check judges one call of a session that has just begun, and runs nothing',
  },
  {
    keys: /^security\.every_program$/,
    surfaces: ['check', 'run'],
    why: 'check runs nothing; what a person types needs no grant, and neither does what it starts',
  },
  {
    keys: /^(security\.hide_model|debug\.|components\.)/,
    surfaces: ['check', 'mcp', 'hook', 'run'],
    why: 'only Cordon’s own agents have a model',
  },
  {
    keys: /^(files\.(read_size_limit|session_directory)|capabilities\.python\.|sandbox\.run\.|tools\.)/,
    surfaces: ['check', 'hook', 'run'],
    why: 'it is about what Cordon’s own tools give back; a host has its own tools',
  },
  { keys: /^rings\./, surfaces: ['check'], why: 'one call has no history, and check runs nothing' },
  { keys: /^rings\.3\.seconds$/, surfaces: ['hook'], why: 'a host’s own tools take the time that they take' },
  {
    keys: /^(sandbox\.os|limits|audit|secrets|network|packages)(\.|\[|$)/,
    surfaces: ['check'],
    why: 'check runs nothing',
  },
  { keys: /^flows\./, surfaces: ['run'], why: 'what a person types has no session whose data could be followed' },
  { keys: /^limits\.max_output_bytes$/, surfaces: ['run'], why: 'what is typed has the person’s own streams' },
  {
    keys: /^capabilities\.allow\.commands\.(default_|patterns\[\]\.(paths|env_vars|domains|inherit))/,
    surfaces: ['check'],
    why: 'it decides what a command finds, not whether it runs',
  },
  { keys: /^capabilities\.deny\.commands\.env_vars$/, surfaces: ['check'], why: 'check runs nothing' },
  {
    keys: /^capabilities\..*\.(match|not_match)$/,
    surfaces: ['run'],
    why: 'a manifest whose examples fail loads nowhere: the other surfaces show it',
  },
  {
    keys: /^capabilities\.allow\.(commands\.patterns\[\]\.prompt|(read|write)\.(default_files|paths\[\]\.(files|prompt)))$/,
    surfaces: ['run'],
    why: 'nobody is asked about what is typed, and a sandbox shows places and not names in them',
  },
  { keys: /^files\.discovery_brief$/, surfaces: ['check'], why: 'a brief is read when a session begins' },
  { keys: /^http\./, surfaces: ['run'], why: 'it is about the web tools; commands have their own domains' },
  {
    keys: /^http\.allowed_hosts\[\]\.(tls|ssh|signs)$/,
    surfaces: ['check', 'hook'],
    why: 'a manifest that says it loads nowhere',
  },
  { keys: /^mcp_servers\./, surfaces: ['check', 'session', 'hook', 'run'], why: 'the gateway alone runs them' },
]
