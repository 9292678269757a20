/** The command table: one row per command, the source of help, completions and flags. */

import type { CommandRow } from '../usage.ts'
import { firstCommand, flag, json, manifest, oneOff, quiet, root, timeout, withJson } from './first-commands.ts'

const rows: readonly CommandRow[] = [
  firstCommand('check')!,
  firstCommand('explain')!,
  {
    name: 'status',
    load: () => import('../commands/machine/status.ts'),
    summary: 'Show the state of this project: manifest, agents, blocked actions, open questions, undo.',
    usage: 'cordon status [--json]\n  cordon',
    words: 0,
    flags: [json],
    details: 'The same as `cordon` alone. It changes nothing.',
  },
  {
    name: 'try',
    load: () => import('../commands/run/try.ts'),
    summary: 'See it work: a tour in a temporary project, for real, in twenty seconds.',
    usage: 'cordon try [--yes]',
    words: 0,
    flags: [flag('--yes', 'Answer the one question with yes, and do not wait between the steps.')],
    details:
      'A secret, a hook, a write outside and a host are tried and stopped; tests run, you are asked, a deletion is undone.\nExit code 0 when everything came out as promised.',
  },
  {
    name: 'init',
    load: () => import('../commands/policy/init.ts'),
    verbatim: true,
    summary: 'Inspect the project and write a commented cordon.toml.',
    usage: 'cordon init [--force] [--print] [DIR]',
    words: 1,
    flags: [
      flag('--force', 'Replace an existing cordon.toml.'),
      flag('--print', 'Print the manifest instead of writing it.'),
      json,
    ],
    details: 'Writes cordon.toml in DIR (the current directory). It takes effect once you have signed it.',
  },
  {
    name: 'policy',
    load: () => import('../commands/policy/policy.ts'),
    summary: 'Show, test or lint the effective manifest, or replay a history against it.',
    usage:
      'cordon policy show|test|lint [--json] [--manifest FILE] [CASES.jsonl]\n  cordon policy replay [--manifest FILE] AUDIT.jsonl…',
    flags: [json, manifest, root],
    details:
      '`show` prints every effective value with its origin. `test` runs the match and not_match examples of the manifest, and a\nfile of cases: {"command": "…", "expect": "allow"} or {"tool", "input", "expect"} a line. `lint` warns about what loads\nbut is broader than it looks.',
  },
  firstCommand('run')!,
  {
    name: 'shell',
    load: () => import('../commands/run/shell.ts'),
    summary: 'Open a shell in the sandbox, with the manifest’s grants and bundles.',
    usage: 'cordon shell [--read PATH] [--allow-host HOST] …',
    words: 0,
    flags: [manifest, root, ...oneOff, quiet],
    details: 'The same as cordon run -i. The bundles of the manifest apply to all you type; brokered keys do not.',
  },
  {
    name: 'add',
    load: () => import('../commands/policy/add.ts'),
    summary: 'Put a host, a folder, a command, a port or a tool into the manifest, and sign it.',
    usage:
      'cordon add host HOST[:PORT]…\n  cordon add read|write PATH…\n  cordon add command PATTERN…\n  cordon add port N…\n  cordon add tool mcp__SERVER__TOOL…',
    flags: [flag('--yes', 'Do not ask.'), json, root],
    details:
      'Shows what it opens, and asks. The manifest must be signed in its current form: review changes by others with cordon sign.',
  },
  {
    name: 'learn',
    load: () => import('../commands/policy/learn.ts'),
    summary: 'Run a command without grants, watch what it needs, and propose the smallest manifest.',
    usage:
      'cordon learn [--try] [--out FILE] [--json] -- CMD ARG…\n  cordon learn --from AUDIT.jsonl|record [--unused] [--json]',
    flags: [
      flag('--try', 'Run it again under the proposal without asking: what is proposed is open meanwhile.'),
      flag('--from AUDIT…', 'Learn from a recorded history; record: this machine’s own.'),
      flag('--unused', 'With --from: only take out grants that no recorded call used.'),
      flag('--out FILE', 'Write the manifest there instead of offering to sign it.'),
      timeout,
      quiet,
      json,
      root,
    ],
    details:
      'The command runs more than once, without input, each time from the same tree. At a terminal it\nasks about hosts and ports meanwhile, as cordon run does. Secrets are never proposed. Exit code: 0 when it\nworks, as it is or under the proposal, 1 when it does not or was not tried.',
  },
  {
    name: 'sign',
    load: () => import('../commands/policy/sign.ts'),
    summary: 'Show what the manifest opens, and put it in force.',
    usage: 'cordon sign [--yes] [--all] [--json]\n  cordon sign --detached',
    words: 0,
    flags: [
      flag('--yes', 'Do not ask.'),
      flag('--all', 'Show every sentence, however many there are.'),
      flag(
        '--detached',
        'Write cordon.toml.sig by your key, for clones of this repository whose owners trust it (teams).',
      ),
      json,
      root,
    ],
    details: 'The key is created on first use and kept in your keychain; signatures are in your state directory.',
  },
  {
    name: 'verify',
    load: () => import('../commands/policy/verify.ts'),
    summary: 'Report whether the manifest is signed, by whom, and what changed.',
    usage: 'cordon verify [--json]',
    words: 0,
    flags: [json, root],
    details: 'Exit code 0 when it is signed or there is none, 1 otherwise.',
  },
  {
    name: 'tools',
    load: () => import('../commands/policy/tools.ts'),
    summary: 'List, show, trust and run custom tools.',
    usage:
      'cordon tools list|trust-status [--json]\n  cordon tools show|trust|untrust NAME\n  cordon tools run NAME --input JSON',
    words: 3,
    flags: [json, manifest, root, flag('--yes', 'Do not ask.'), flag('--input JSON', 'The tool’s input.')],
    details: 'A tool runs only while its manifest and script are the bytes you trusted.',
  },
  {
    name: 'skills',
    load: () => import('../commands/policy/skills.ts'),
    summary: 'List the scripts and inline commands of skills, and approve those that a project brings along.',
    usage: 'cordon skills [list] [--json]\n  cordon skills approve NAME [SCRIPT]',
    words: 3,
    flags: [json],
    details:
      'Your own skills need no approval. A script of a project’s skill asks until its bytes are approved; a skill that runs commands by itself (!`cmd`) is not loaded by a guarded agent before they are.',
  },
  {
    name: 'keys',
    load: () => import('../commands/machine/keys.ts'),
    verbatim: true,
    summary: 'Show your key, and trust or untrust the keys of others.',
    usage:
      'cordon keys [list] [--json]\n  cordon keys trust ed25519:BASE64 COMMENT…\n  cordon keys untrust KEY\n  cordon keys reset',
    flags: [json, flag('--yes', 'Do not ask.')],
    details:
      'A cordon.toml.sig by a trusted key puts a manifest in force. In CI, CORDON_TRUSTED_KEYS names a file of keys.',
  },
  {
    name: 'secrets',
    load: () => import('../commands/machine/secrets.ts'),
    summary: 'Store, list and remove the values of secrets that a manifest names.',
    usage: 'cordon secrets [list] [--json]\n  cordon secrets set NAME\n  cordon secrets remove NAME',
    words: 2,
    flags: [json],
    details:
      'The value is typed without being shown, or read from stdin, and kept in your keychain, else in a file for you alone.\nA manifest names it with source = "keychain:NAME" under [[secrets]]; commands never see it.',
  },
  {
    name: 'log',
    load: () => import('../commands/run/log.ts'),
    verbatim: true,
    summary: 'Show what ran here, by session: commands, files, hosts, questions and answers.',
    usage: 'cordon log [--hours N] [--all] [--json]',
    words: 0,
    flags: [
      json,
      flag('--hours N', 'How far back; 24 unless you say so.'),
      flag('--all', 'Every project, not only this one.'),
    ],
    details:
      'The record keeps programs and subcommands. It keeps arguments only with [audit] arguments = true.\nTo search, verify or export it: cordon audit.',
  },
  {
    name: 'audit',
    load: () => import('../commands/run/audit.ts'),
    verbatim: true,
    summary: 'Show, search, verify and report the record.',
    usage:
      'cordon audit tail [--follow] [--session ID]\n  cordon audit query [FILTERS] [--json]\n  cordon audit verify [--session ID | --from FILES] [--json]\n  cordon audit report [--out FILE] [FILTERS] [--json]',
    words: 1,
    flags: [
      json,
      flag('--follow', 'Keep printing new lines.'),
      flag('--session ID', 'One session; without it the newest (tail) or all.'),
      flag('--type TYPE', 'begin, end, denied, approval, grant …'),
      flag('--tool TOOL', 'Calls of this tool.'),
      flag('--agent NAME', 'Calls of this agent.'),
      flag('--verdict VERDICT', 'allow, ask or deny.'),
      flag('--since TIME', 'From this ISO time on.'),
      flag('--until TIME', 'Before this ISO time.'),
      flag('--host TEXT', 'Part of a host.'),
      flag('--file TEXT', 'Part of a file name.'),
      flag('--text TEXT', 'Text anywhere in the line.'),
      flag('--limit N', 'The newest N.'),
      flag('--ocsf', 'With query: print OCSF events, for a SIEM.'),
      flag(
        '--from FILES',
        'With verify: records that machines of a fleet shipped, as a receiver keeps them; nats for its servers.',
      ),
      flag('--key KEYS', 'With --from: the keys whose checkpoints count, beside those you trust.'),
      flag('--out FILE', 'Where the report goes (cordon-audit.html; JSON goes to the terminal otherwise).'),
    ],
    details: '`verify` finds any edit, cut, insertion or reorder, and says where; exit code 1 when there is damage.',
  },
  {
    name: 'grants',
    load: () => import('../commands/policy/grants.ts'),
    summary: 'List, revoke and clear up what was granted for a session, a time or a project.',
    usage:
      'cordon grants [list] [--json]\n  cordon grants suggest [--json]\n  cordon grants revoke ID…\n  cordon grants prune',
    flags: [json],
    details:
      '`suggest` names what you said yes to five times in a row, each time only once, and how to grant it.\n`revoke` takes whole ids or their first letters, several at once. `prune` revokes grants that were not used in 14 days.\nGrants in a manifest are not listed here: see cordon policy show.',
  },
  {
    name: 'quarantine',
    load: () => import('../commands/run/quarantine.ts'),
    summary: 'Show and restore files that commands left and that could run code.',
    usage: 'cordon quarantine [list] [--json]\n  cordon quarantine diff ID\n  cordon quarantine restore ID [--force]',
    words: 2,
    flags: [json, flag('--force', 'Replace the file that is there now.')],
    details: 'Nothing in it can run. Read it before you restore it: a program would run it by itself.',
  },
  {
    name: 'redact',
    load: () => import('../commands/policy/redact.ts'),
    verbatim: true,
    summary: 'Mask secrets in text from stdin.',
    usage: 'cordon redact < app.log',
    words: 0,
    flags: [],
    details: 'Line by line; well-known formats of keys and tokens, and assignments to names that hold them.',
  },
  {
    name: 'scan',
    load: () => import('../commands/policy/scan.ts'),
    summary: 'Look for instructions aimed at an agent in a text.',
    usage: 'cordon scan < page.md\n  cordon scan --batch < texts.jsonl',
    words: 0,
    flags: [flag('--batch', 'One {id, text} a line in, one {id, injection, score, findings} a line out.'), json],
    details:
      'Prints {"injection": bool, "score": number, "findings": […]}. A tripwire, not a wall: docs/guides/scan.md says what it can do.',
  },
  {
    name: 'doctor',
    load: () => import('../commands/machine/doctor.ts'),
    summary: 'Probe this machine by running a sandbox, and report which protections work.',
    usage: 'cordon doctor [--engines] [--json]\n  cordon doctor --fix [--yes]',
    words: 0,
    flags: [
      json,
      flag('--fix', 'Show what would repair this machine, do it after a yes (as root, or by sudo), and probe again.'),
      flag('--yes', 'With --fix: do not ask.'),
      flag('--engines', 'Try every container engine that sandbox_run could use, and report what each enforces.'),
    ],
    details:
      'Exit code 0 when all is well, 1 when an installed hook does not answer, 125 when no command can run in a sandbox here.',
  },
  {
    name: 'setup',
    load: () => import('../commands/machine/setup.ts'),
    summary: 'Put cordon on PATH and completions into your shell.',
    usage: 'cordon setup [--yes] [--json]',
    words: 0,
    flags: [flag('--yes', 'Do not ask.'), json],
    details:
      'Shows what it writes, and asks: a link in ~/.local/bin, and a file in which your shell looks for completions. It never changes\na start-up file; it prints the line that is missing. Exit code 1 when a file is in the way or was not written.',
  },
  {
    name: 'uninstall',
    load: () => import('../commands/machine/uninstall.ts'),
    summary: 'Remove Cordon from your account: hooks, resident, keys, state, settings.',
    usage: 'cordon uninstall [--keep-record] [--yes] [--json]',
    words: 0,
    flags: [
      flag('--keep-record', 'Keep the audit record, which cordon audit verify can still check.'),
      flag('--yes', 'Do not ask.'),
      json,
    ],
    details:
      'Shows what goes and what stays, and asks. Agents run without Cordon afterwards. Manifests in projects stay, and so does the\nprogram itself. To remove one hook: cordon install AGENT --uninstall.',
  },
  {
    name: 'resident',
    load: () => import('../commands/machine/resident.ts'),
    summary: 'Show or stop the process that answers hooks and runs commands without starting Node.',
    usage: 'cordon resident [status] [--json]\n  cordon resident stop',
    words: 1,
    flags: [json],
    details:
      'The first hook or command starts it; it ends after ten idle minutes. CORDON_RESIDENT=off disables it: decisions\nand protections stay the same. `stop` ends those of this Cordon; a command that runs goes on to its end.',
  },
  {
    name: 'undo',
    load: () => import('../commands/run/undo.ts'),
    summary: 'Undo what a call changed: files, modes, times, links, folders.',
    usage:
      'cordon undo --list\n  cordon undo --last | CALL [--since] [--force]\n  cordon undo --diff [CALL]\n  cordon undo --redo [CALL]\n  cordon undo --prune',
    words: 1,
    flags: [
      flag('--list', 'List the calls that can be undone, the last one first.'),
      flag('--last', 'The last call.'),
      flag('--since', 'This call and all after it in the same folders.'),
      flag('--diff', 'Show what the call changed, text as a diff, and change nothing.'),
      flag('--redo', 'Redo what was undone: the last undo, or that of this call.'),
      flag('--force', 'Restore even what was changed since.'),
      {
        name: '--prune',
        about:
          'Remove what is kept for longer than a week, or beyond two gigabytes; sessions and runs do so once an hour.',
      },
      json,
    ],
    details:
      'Commands in the sandbox and the file tools keep what they would lose, on the same file system, for you alone. Files over 64 MB that are written in place are not kept, and neither is what happens elsewhere. Exit code 1 when something was changed since and --force was not given.',
  },
  {
    name: 'bundles',
    load: () => import('../commands/policy/bundles.ts'),
    summary: 'List and explain what development tools get in the sandbox.',
    usage: 'cordon bundles [NAME] [--json]',
    words: 1,
    flags: [json],
    details: 'Name bundles under [sandbox.os] command_tools.',
  },
  firstCommand('hook')!,
  {
    name: 'install',
    load: () => import('../commands/machine/install.ts'),
    summary: 'Put Cordon in front of an agent, and test that its hook fires.',
    usage: 'cordon install {agents} [--project|--user]\n    [--uninstall] [--yes]',
    words: 1,
    flags: [
      flag('--project', 'For this project only, where the agent can miss it.'),
      flag('--user', 'For every project of this user; the default.'),
      flag('--uninstall', 'Remove it again.'),
      flag('--print', 'Show what would change, and change nothing.'),
      flag('--yes', 'Do not ask.'),
      json,
    ],
    details:
      'Says what changes (d or --print shows the diff), keeps a backup beside the file (FILE.cordon-backup), and can be run again at any time.',
  },
  {
    name: 'approvals',
    load: () => import('../commands/run/approvals.ts'),
    summary: 'Answer waiting questions, also those that hooks could not ask.',
    usage:
      'cordon approvals [list] [--json]\n  cordon approvals answer [ID]\n  cordon approvals show ID\n  cordon approvals allow ID [--minutes N] [--choice N] [--yes]\n  cordon approvals drop ID',
    words: 2,
    flags: [
      flag('--minutes N', 'For how many minutes (60).'),
      flag('--choice N', 'Which suggestion to grant (1, the narrowest).'),
      flag('--yes', 'Grant without showing what it is and asking.'),
      json,
    ],
    details:
      '`answer` asks you as a session would, with every answer; `allow` grants one choice for a time. A grant never beats a deny;\ncordon grants lists and revokes it. What a session waits for is allowed once, unless --choice names what to save.',
  },
  {
    name: 'review',
    load: () => import('../commands/policy/review.ts'),
    summary: 'Show what your reviewer answered, and test it on what you answered.',
    usage:
      'cordon review [log] [--last N] [--json]\n  cordon review replay [--last N] [--json]\n  cordon review model PROFILE',
    words: 2,
    flags: [flag('--last N', 'How many answers (20).'), root, json],
    details:
      '`replay` puts your own recorded answers to the reviewer of [review] once more, and says where it differs. `model` is a reviewer:\nit reads a question on stdin and asks a model that cordon login has set up.',
  },
  {
    name: 'ui',
    load: () => import('../commands/agents/ui.ts'),
    summary: 'Watch agents and answer their questions, on a page served by this machine.',
    usage: 'cordon ui [--root DIR] [--port N]\n  cordon ui --webhook-key',
    words: 0,
    flags: [
      root,
      flag('--port N', 'The port (any free one).'),
      flag('--webhook-key', 'Print the key that notices to your webhook are signed with.'),
    ],
    details:
      'Prints a link that is good until it ends with Ctrl-C; keep it to yourself. Questions of every session on this machine are\nanswered there; what outlives the question needs a code that is shown in this terminal.',
  },
  {
    name: 'fleet',
    load: () => import('../commands/agents/fleet.ts'),
    summary: 'One signed policy for many machines: join, publish, and see what it changes.',
    usage:
      'cordon fleet [status|sync [--follow]] [--json]\n  cordon fleet join URL CODE|--code-file FILE [--name NAME] [--if-needed]\n  cordon fleet asks [--follow]|answer ID yes|no [--message TEXT]\n  cordon fleet init NAME [--policy PLACE] [--nats SERVERS] [--otlp URL]\n  cordon fleet invite [--role ROLE] [--groups NAMES]\n  cordon fleet machines|revoke ID|serve|nats|streams\n  cordon fleet diff|publish DRAFT.json [--records FILES] [--out FILE]\n  cordon fleet rollout|rollback [VERSION]\n  cordon fleet login URL [--device]\n  cordon fleet break-glass [sign|take FILE] [--reason TEXT --for TIME --groups NAMES] [--out FILE]',
    words: 3,
    flags: [
      flag('--follow', 'With sync and asks: go on until it is stopped.'),
      flag('--message TEXT', 'With answer ID no: the message for the agent.'),
      flag('--name NAME', 'The name of this machine in the fleet (its host name).'),
      flag('--code-file FILE', 'With join: read the code from there.'),
      flag('--if-needed', 'With join: do nothing on a machine that has joined.'),
      flag('--policy PLACE', 'Where machines fetch the policy: a path, an https URL, or nats.'),
      flag('--nats SERVERS', 'NATS servers, with commas: tls://a:4222,tls://b:4222.'),
      flag('--otlp URL', 'An OTLP/HTTP endpoint for records.'),
      flag('--desk URL', 'Where cordon fleet serve is reached, for the health of machines of a fleet without NATS.'),
      flag('--device', 'With login: show a code to type on another device.'),
      flag('--reason TEXT', 'With break-glass: why. Everybody sees it.'),
      flag('--for TIME', 'With break-glass: how long, such as 30m.'),
      flag('--asks SECONDS', 'Send asks that no one here answers to the fleet, for this long.'),
      flag('--signers N', 'How many of the team’s keys must sign a policy.'),
      flag('--key KEYS', 'Further keys of the team, with commas.'),
      flag('--role ROLE', 'With invite: machine, approver or admin.'),
      flag('--groups NAMES', 'Groups, with commas: of the invited machine, or to look at.'),
      flag('--hours N', 'With invite: how many hours the code works (24).'),
      flag('--port N', 'With serve: the port (any free one).'),
      flag('--replicas N', 'With streams: on how many servers each message is kept (3, or 1 where there is one).'),
      flag('--dir DIR', 'With nats: where each server keeps tokens (/var/lib/nats/cordon).'),
      flag('--records FILES', 'With diff and publish: shipped records or audit files to replay.'),
      flag('--out FILE', 'With publish and break-glass: write the file there.'),
      flag('--yes', 'With publish and rollback: do not ask.'),
      json,
    ],
    details:
      'A machine in no fleet reaches nothing and waits for nothing. `sync` fetches the policy and ships records once; run\n`cordon fleet sync --follow` as a service. Publishing shows what a draft opens and closes, and by replay what it would\nhave decided. docs/guides/fleet.md explains all of it.',
  },
  {
    name: 'import',
    load: () => import('../commands/policy/import.ts'),
    verbatim: true,
    summary: 'Turn the permission settings of an agent into a manifest.',
    usage: 'cordon import claude-code|codex|gemini|opencode|srt [FILE] [--out FILE]',
    words: 2,
    flags: [flag('--out FILE', 'Write the manifest there instead of printing it.'), json],
    details: 'What has no equivalent is said on stderr; nothing is ever wider than it was.',
  },
  {
    name: 'mcp',
    load: () => import('../commands/agents/mcp.ts'),
    verbatim: true,
    summary: 'Serve the guarded tools over MCP, or put a guard around other MCP servers.',
    usage:
      'cordon mcp [--root DIR]\n  cordon mcp --http [--port N] [--token-file FILE]\n  cordon mcp wrap [--name NAME] -- SERVER ARG…\n  cordon mcp wrap [--name NAME] [--config FILE]\n  cordon mcp wrap [--name NAME] --url URL\n  cordon mcp add NAME [--client CLIENT]… [--user] [-- SERVER ARG…]\n  cordon mcp add NAME [--client CLIENT]… [--user] --url URL\n  cordon mcp remove NAME [--client CLIENT]… [--user]\n  cordon mcp list\n  cordon mcp status [NAME…]\n  cordon mcp logs NAME\n  cordon mcp login|logout NAME [--url URL]',
    flags: [
      root,
      flag('--http', 'Streamable HTTP on loopback instead of stdio.'),
      flag('--port N', 'The port (any free one).'),
      flag('--token-file FILE', 'With --http: the token to ask for, instead of a new one.'),
      flag('--name NAME', 'The name that a wrapped server’s tools are put under; of several, the one meant.'),
      flag('--url URL', 'The address of a server elsewhere (streamable HTTP).'),
      flag('--config FILE', 'Wrap the servers of a file with "mcpServers", as MCP clients use.'),
      flag('--plain', 'One wrapped server whose tools keep their names, for a client that has it by its name.'),
      flag('--client CLIENT…', 'The clients; by default each that has a configuration.'),
      flag('--user', 'Your own configurations and cordon.toml, instead of the project’s.'),
      flag('--read PATH…', 'With add: what the server may read.'),
      flag('--write PATH…', 'With add: what it may write.'),
      flag('--host HOST…', 'With add: a host it may reach.'),
      flag('--env NAME…', 'With add: a variable that it sees.'),
      flag('--header HEADER…', 'With add --url: a header and the source of its value, “x-api-key: keychain:NAME”.'),
      flag(
        '--reads',
        'With add: believe what it says of its tools, and let those that only read run without a question.',
      ),
      flag('--yes', 'With add: do not ask.'),
      json,
      flag('--ui', 'Serve the page of cordon ui as long as it runs.'),
      flag('--accept', 'Take a wrapped server’s tools as they are now, whatever was pinned.'),
    ],
    details:
      'The project’s manifest must be signed. Approvals are asked by elicitation where the client has it. `wrap` without a\nserver runs those of the manifest, [mcp_servers.NAME], each with its own grants. `add` without a server takes the one that\nthe manifest or a client has under this name, and `remove` restores what was there before.',
  },
  {
    name: 'chat',
    load: () => import('../commands/agents/chat.ts'),
    verbatim: true,
    summary: 'Work with Cordon’s own agent: every action goes through Cordon.',
    usage:
      'cordon chat [--resume [ID]] [--provider NAME] [--model NAME]\n  cordon chat -p TEXT [--json | --output FORM] [--max-turns N] [--budget DOLLARS]',
    words: 1,
    flags: [
      flag('--prompt TEXT', 'One task without a prompt, also -p; “-” reads it from stdin.'),
      flag('--json', 'With -p: print one JSON object at the end.'),
      flag('--output FORM', 'With -p: text, json, or stream-json, the lines that Claude Code prints.'),
      flag('--resume', 'Go on with the newest conversation of this project, or with the one whose ID follows.'),
      flag('--provider NAME', 'The API profile.'),
      flag('--model NAME', 'Another model than the profile’s.'),
      flag('--mode MODE', 'The mode to start in.'),
      flag('--agent NAME', 'The agent to start as: build, plan or one of the manifest.'),
      flag('--max-turns N', 'Stop after so many answers of the model to one message.'),
      flag('--budget DOLLARS', 'Stop when the conversation has cost so much.'),
      flag('--ui', 'Serve the page of cordon ui as long as it runs.'),
      flag('--vscode', 'Take the key from CORDON_API_KEY alone.'),
      manifest,
      root,
    ],
    details:
      'Without a provider a wizard asks for one. With -p an ask is a refusal.\nExit code of -p: 0 done, 1 stopped by a limit or refused, 125 the model or the machine failed, 130 interrupted.',
  },
  {
    name: 'agent',
    load: () => import('../commands/agents/agent.ts'),
    summary: 'Build and run agents that are WASM components: they reach the guarded tools and nothing else.',
    usage:
      'cordon agent build FILE.ts [--output FILE.wasm]\n  cordon agent run FILE.wasm TASK [--timeout SECONDS]\n  cordon agent wit',
    words: 3,
    flags: [
      flag('--output FILE', 'Where the component is written.'),
      flag('--timeout SECONDS', 'Time limit of the component itself (60).'),
      manifest,
      root,
    ],
    details:
      'A component runs when the signed manifest names its hash: [components.NAME]. One that imports more than the package\ncordon:agent (`cordon agent wit` prints it) does not load.',
  },
  {
    name: 'login',
    load: () => import('../commands/agents/login.ts'),
    summary: 'Set a model provider up and store its key.',
    usage: 'cordon login [PROVIDER]\n  cordon login --forget PROVIDER',
    words: 1,
    flags: [flag('--forget', 'Remove the stored key.')],
    details:
      'The key goes into the system’s keychain, or into a file for you alone, with a warning. It is checked with one request.',
  },
  {
    name: 'acp',
    load: () => import('../commands/agents/acp.ts'),
    verbatim: true,
    summary: 'Serve as an agent in an editor (ACP), or guard another agent there.',
    usage: 'cordon acp [--provider NAME] [--model NAME]\n  cordon acp [--root DIR] -- AGENT ARG…',
    flags: [
      flag('--provider NAME', 'The API profile of Cordon’s own agent.'),
      flag('--model NAME', 'Another model than the profile’s.'),
      flag('--ui', 'Serve the page of cordon ui as long as it runs.'),
      flag('--vscode', 'Take the key from CORDON_API_KEY alone.'),
      root,
    ],
    details:
      'For Zed, JetBrains, Neovim and whatever else speaks the Agent Client Protocol. With an agent after -- that runs in the\nsandbox: its files and terminals are Cordon’s, under the signed manifest, and Cordon’s asks are in the editor’s dialog.',
  },
  {
    name: 'completions',
    load: () => import('./completions.ts'),
    verbatim: true,
    summary: 'Print a completion script for your shell.',
    usage: 'cordon completions bash|zsh|fish',
    words: 1,
    flags: [],
    details: 'For bash: source <(cordon completions bash)',
  },
]

/** The commands, each with `--json`. */
export const commands: readonly CommandRow[] = rows.map(withJson)

/** The row of a command, or null. */
export function commandRow(name: string): CommandRow | null {
  return commands.find((row) => row.name === name) ?? null
}
