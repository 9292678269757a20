/** Programs that keep passwords and keys: what prints one asks, although the sandbox hides the store. */

import type { Program, ProgramTable } from '../spec.ts'
import { traced } from '../wrap.ts'

export function secretStorePrograms(): ProgramTable {
  const always: Program['always'] = ['system', 'works with keys and passwords']
  const store: Program = {
    always,
    abbreviates: false,
    everywhere: true,
    operands: 'text*',
    verbs: { at: 'a vault' },
  }
  /** `op run -- CMD`: passes the secrets to the command. */
  const runs = (name: string): Program['wraps'] => [
    {
      sub: 'run',
      options: '\n  -p -c --project --config --env --env-file --path --token --command --vault <text>',
      inspect: true,
      hazard: traced(`${name} run`),
      run: 'words',
    },
  ]
  const prints = '|  | prints a secret'

  return {
    op: {
      ...store,
      wraps: runs('op'),
      effects: `
  local        | completion, whoami, --version |  |
  remote-read  | item list, vault list, account list, user list, group list |  | reads from a vault
  remote-write | run, read, inject, item get, document get ${prints}`,
    },
    doppler: {
      ...store,
      wraps: runs('doppler'),
      effects: `
  remote-write | run, secrets ${prints}
  local        | configure, setup, completion |  |`,
    },
    infisical: {
      ...store,
      wraps: runs('infisical'),
      effects: `
  remote-write | run, export, secrets, user get ${prints}
  local        | init, scan, completion |  |`,
    },
    'aws-vault chamber teller': {
      ...store,
      wraps: [
        {
          sub: 'exec',
          options: '\n  -d -n --duration --region --backend <text>',
          operands: 1,
          inspect: true,
          hazard: traced('a vault'),
          run: 'words',
        },
        {
          sub: 'run',
          options: '\n  -c --config <text>',
          inspect: true,
          hazard: traced('a vault'),
          run: 'words',
        },
      ],
      effects: `
  remote-write | exec, run, env, export, read, show, sh, yaml, template, import ${prints}
  remote-read  | list, list-services, history |  | reads from a vault`,
    },
    bw: {
      ...store,
      effects: `
  remote-write | get, export, unlock, list items ${prints}
  local        | generate, encode, completion, config |  |`,
    },
    'lpass gopass rbw dashlane keepassxc-cli': {
      ...store,
      effects: `
  remote-write | show, export, get, read, clip, code, cat, password, inject ${prints}
  local        | generate, diceware, estimate, completion |  |`,
    },
    'pass passage': {
      ...store,
      effects: `
  remote-write | * ${prints}
  local        | ls, list, find, search, generate, init, git, help, version |  |`,
    },
    'secret-tool keyring keyctl': {
      ...store,
      effects: `
  remote-write | lookup, search, get, read, print, pipe ${prints}
  local        | list, show |  |`,
    },
    security: {
      ...store,
      effects: `
  remote-write | find-generic-password, find-internet-password | -w -g | prints a secret
  remote-write | dump-keychain, export ${prints}
  local        | find-generic-password, find-internet-password, find-identity, find-certificate, list-keychains, verify-cert |  |`,
    },
    'gpg2 gpg-agent gpgconf gpg-connect-agent age-keygen kinit': {
      always,
      operands: 'auto*',
      effects: `
  remote-write | * | --export-secret-keys --export-secret-subkeys | prints secret keys`,
    },
    'ansible-vault': {
      ...store,
      options: '\n  --vault-password-file --vault-id <read>\n  --output <output>',
      operands: 'text read*',
      effects: `
  remote-write | view, decrypt, edit ${prints}
  local        | encrypt, encrypt_string, create, rekey |  |`,
    },
  }
}
