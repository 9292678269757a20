/** Typical mistakes, each with what a person reads: what happened, where, and the next step. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from './cordon.ts'

let project: Project
const env = { CORDON_KEYCHAIN: 'off' }

beforeAll(() => {
  project = new Project({ 'cordon.toml': 'schema_version = 1\n', 'a.txt': 'a\n' })
  project.cordon(['sign', '--yes'], { env })
  mkdirSync(join(project.home, 'lib'))
  writeFileSync(join(project.home, 'lib/a.txt'), 'a\n')
  mkdirSync(join(project.home, '.ssh'))
  writeFileSync(join(project.home, '.ssh/id_rsa'), 'KEY\n')
  writeFileSync(join(project.home, '.bashrc'), '\n')
  writeFileSync(join(project.home, '.gitconfig'), '[user]\n  name = A\n  email = a@b.c\n')
})
afterAll(() => project.remove())

const rows: readonly {
  readonly note: string
  readonly args: readonly string[]
  readonly code: number
  readonly says: readonly string[]
}[] = [
  {
    note: 'quotes around the whole command',
    args: ['run', '--', 'ls -la'],
    code: 127,
    says: ['one word with blanks', 'cordon run -- ls -la'],
  },
  {
    note: 'an agent that is not installed',
    args: ['run', '--', 'no-such-agent', 'chat'],
    code: 127,
    says: ['not installed', 'PATH'],
  },
  {
    note: 'a file outside the project',
    args: ['run', '--', 'cat', '~/lib/a.txt'],
    code: 1,
    says: ['the command does not see it', 'cordon run --read ~/lib/a.txt …'],
  },
  {
    note: 'a secret outside, in a shell’s text',
    args: ['run', '--', 'sh', '-c', 'cat ~/.ssh/id_rsa'],
    code: 1,
    says: ['~/.ssh/id_rsa', 'SSH keys'],
  },
  {
    note: 'a grant for something that is not there',
    args: ['run', '--read', '~/lbi', '--', 'true'],
    code: 125,
    says: ['~/lbi does not exist', 'Name what exists'],
  },
  {
    note: 'a grant of a secret',
    args: ['run', '--read', '~/.ssh', '--', 'true'],
    code: 125,
    says: ['--read does not open', 'SSH keys', 'Only the manifest opens a secret'],
  },
  {
    note: 'an address where a host is meant',
    args: ['run', '--allow-host', 'https://api.example.org/v1', '--', 'true'],
    code: 2,
    says: ['not “https://api.example.org/v1”', 'did you mean api.example.org?'],
  },
  {
    note: 'a bundle that is misspelled',
    args: ['run', '--tool', 'crago', '--', 'true'],
    code: 2,
    says: ['no bundle “crago”', 'did you mean cargo?'],
  },
  {
    note: 'a variable with its value',
    args: ['run', '--env', 'A=1', '--', 'true'],
    code: 2,
    says: ['--env A', 'cordon run -- env A='],
  },
  {
    note: 'a package manager behind a shell',
    args: ['run', '--', 'bash', '-c', 'npm install left-pad; exit 1'],
    code: 1,
    says: ['A shell gets no bundle', 'cordon run --tool npm'],
  },
  {
    note: 'git without a name',
    args: ['run', '--', 'sh', '-c', 'git init -q r && cd r && git commit --allow-empty -m x'],
    code: 128,
    says: ['git does not know your name', '~/.gitconfig', '--tool git'],
  },
  {
    note: 'a manifest for the home directory',
    args: ['init', '~'],
    code: 125,
    says: ['is not accepted as a project: it is your home directory', 'Go to the folder of the project'],
  },
  {
    note: 'writing to a file outside: shown is not enough',
    args: ['run', '--', 'sh', '-c', 'touch ~/lib/new.txt; echo x >> ~/lib/a.txt'],
    code: 2,
    says: ['~/lib/a.txt is outside the project', 'to let it change it: cordon run --write ~/lib/a.txt'],
  },
  {
    note: 'writing to a start-up file: no option opens it',
    args: ['run', '--', 'sh', '-c', 'echo x >> ~/.bashrc; false'],
    code: 1,
    says: ['~/.bashrc is outside the project, and the command does not see it: it is'],
  },
  {
    note: 'an option of cordon that does not exist',
    args: ['run', '--reed', '~/lib', '--', 'true'],
    code: 2,
    says: ['unknown option --reed', 'did you mean --read?'],
  },
  {
    note: 'adding to a manifest what is not a host',
    args: ['add', 'host', 'not a host'],
    code: 2,
    says: ['a host is a name such as'],
  },
  {
    note: 'a shell without a terminal',
    args: ['shell'],
    code: 2,
    says: ['a shell needs a terminal'],
  },
]

describe('a typical mistake', () => {
  it.each(rows)('$note', ({ args, code, says }) => {
    const typed = args.map((word) =>
      args[0] === 'run' ? word.replace(/^~\//, `${project.home}/`) : word.replace(/^~$/, project.home),
    )
    const ran = project.cordon(typed, { env: { ...env, GIT_CONFIG_NOSYSTEM: '1' } })
    expect(ran.code, ran.err).toBe(code)
    for (const text of says) {
      // The shell expands ~ before Cordon reads it; Cordon's own messages write ~ again.
      const either = [text, text.replace('~/', `${project.home}/`)]
      expect(
        either.some((one) => ran.err.includes(one)),
        `${text}\nin\n${ran.err}`,
      ).toBe(true)
    }
    expect(ran.err).not.toContain('internal error')
  })
})
