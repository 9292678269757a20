/** Command lines of code forges and trackers. */

import { kindRules } from '../kinds.ts'
import { containerRules } from '../rules/containers.ts'
import type { Program, ProgramTable } from '../spec.ts'

export function forgePrograms(): ProgramTable {
  const ghKind: Program = {
    abbreviates: false,
    everywhere: true,
    options: `
  -R --repo --json -q --jq --template -b --body -t --title -B --base -H --head --label -l --assignee -a --milestone <text>
  --reviewer --state -L --limit --author -A --search -S --sort --order --env --org --user --hostname --ref --comment <text>
  --message --description --notes --target --method --header --cache --preview --job --workflow --interval --subject <text>
  --match-head-commit --author-email --commit --branch --project <text>
  --color --log-failed [text]
  --input --body-file --notes-file --env-file <send>
  -D --dir --output <output>
  --clobber
  --web !run # starts a browser
  --editor !run # opens an editor`,
    subcommands: {
      alias: {
        subcommands: {
          list: {},
          set: { always: ['system', 'adds a command that can run a shell'], operands: 'text*' },
          import: { always: ['system', 'adds commands that can run a shell'], operands: 'read' },
        },
        operands: 'text*',
      },
      extension: {
        subcommands: { list: {}, search: { operands: 'text*' } },
        always: ['load', 'changes or runs extensions'],
        operands: 'text*',
      },
      config: {
        subcommands: {
          get: { operands: 'text*' },
          list: {},
          set: { always: ['system', 'changes configuration that can run programs'], operands: 'text*' },
        },
      },
      auth: {
        subcommands: {
          status: { options: '\n  -t --show-token !system # prints a credential' },
          token: { always: ['system', 'prints a credential'] },
        },
        always: ['system', 'changes or shows credentials'],
        operands: 'text*',
      },
      'ssh-key': { operands: 'text auto*' },
      gist: {
        subcommands: {
          create: { always: ['send', 'uploads files'], operands: 'read*' },
          edit: { operands: 'text*', options: '\n  --add -a <send>' },
        },
        operands: 'text*',
      },
      release: {
        subcommands: {
          upload: { operands: 'text read*' },
          create: {
            operands: 'text read*',
            options: '\n  -F --notes-file <send>\n  -n --notes -t --title --target <text>',
          },
          download: { operands: 'text*', options: '\n  -O --output <output>\n  -p --pattern -A <text>' },
        },
        operands: 'text*',
      },
      secret: { operands: 'text*', options: '\n  -f --env-file <send>\n  -b --body -a --app -e --env <text>' },
      attestation: { operands: 'text auto*' },
      browse: { always: ['run', 'starts a browser'], operands: 'text*' },
      codespace: { always: ['route', 'opens a session on another machine'], operands: 'text*' },
      cs: { always: ['route', 'opens a session on another machine'], operands: 'text*' },
      repo: { subcommands: { clone: { operands: 'text grow' } }, operands: 'text*' },
      pr: { operands: 'text*', options: '\n  -F --body-file <read>\n  -w --web !run # starts a browser' },
      mr: { operands: 'text*' },
      issue: {
        operands: 'text*',
        options: '\n  -F --body-file <read>\n  -w --web !run # starts a browser\n  -e --editor !run # opens an editor',
      },
      run: { operands: 'text*', options: '\n  -n --name <text>\n  -D --dir <write>' },
      api: {
        operands: 'text*',
        options:
          '\n  -F --field <form>\n  -f --raw-field <text>\n  -X --method -H --header -p --preview -q --jq -t --template <text>',
      },
      workflow: { operands: 'text*', options: '\n  -F --field <form>\n  -f --raw-field <text>' },
    },
    otherwise: { operands: 'text*' },
  }

  return {
    gh: {
      ...ghKind,
      effects: `
  local        | auth, config, alias, completion, help, extension |  |
  remote-write | auth token |  | prints a token
  remote-read  | pr checkout, pr checks, pr diff, run watch, search, ruleset, status, attestation, browse, licenses |  | reads from the forge
  remote-read  | repo clone, gist clone, project item-list, project field-list, repo license, repo gitignore, repo autolink list |  | reads from the forge
  remote-write | api, pr merge, pr ready, pr lock, issue lock, issue pin, issue transfer, issue develop |  | changes something at the forge`,
      verbs: {
        at: 'the forge',
        groups: 'pr issue repo run release workflow gist label cache variable project codespace cs org auth',
        reads: 'logs ports',
        writes: 'jupyter ssh code cp create-for rebuild close merge ready',
      },
      rules: [containerRules, kindRules],
    },
    glab: {
      ...ghKind,
      effects: `
  local        | auth, config, alias, completion, help |  |
  remote-read  | mr checkout, mr issues, mr approvers, mr diff, repo clone, ci trace, ci lint, ci artifact, ci get |  | reads from the forge
  remote-write | api |  | changes something at the forge`,
      verbs: { at: 'the forge', groups: 'mr issue repo ci pipeline release label variable snippet schedule incident' },
      rules: [containerRules, kindRules],
    },
    hub: {
      ...ghKind,
      effects: `
  remote-write | pull-request, create, fork, release create, issue create, merge, push, sync, delete |  | changes something at the forge`,
    },
    'tea jira linear': {
      partial: true,
      verbs: { at: 'the forge', groups: 'issue sprint epic project board me pulls pr' },
    },
  }
}
