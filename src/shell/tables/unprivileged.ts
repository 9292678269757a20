/** The way without privileges, by the program that was to have them (S4): rows of names and what to do instead. */

import type { CommandFact } from '../facts.ts'

const SYSTEM_PACKAGE =
  'what the project needs can often be had without it (a language’s own package manager, a binary in the project)'

const WAYS: readonly (readonly [programs: string, way: string])[] = [
  [
    'pip pip2 pip3 python python2 python3',
    'install into a virtual environment (`python3 -m venv .venv && .venv/bin/pip install …`), or with `pip install --user`',
  ],
  [
    'npm pnpm yarn bun',
    'install into the project (without -g), run tools with `npx`, or set a prefix in your home directory',
  ],
  ['npx node deno', 'run it without sudo: it writes into the project and your cache alone'],
  ['gem bundle bundler', 'use `gem install --user-install`, or `bundle config set --local path vendor/bundle`'],
  ['cargo rustup go', 'it installs into your home directory and needs no privileges: run it without sudo'],
  ['uv poetry pipx conda mamba', 'it works in the project or your home directory: run it without sudo'],
  ['apt apt-get aptitude dpkg dnf yum rpm zypper pacman apk emerge snap flatpak brew nix-env', SYSTEM_PACKAGE],
  [
    'systemctl journalctl loginctl',
    'use a service of the user (`systemctl --user`), or start the program directly in the background',
  ],
  ['service rc-service', 'start the program directly in the background, on a port above 1023'],
  ['docker podman nerdctl', 'use rootless containers (`podman` as this user), or `sandbox_run`'],
  [
    'make cmake ninja meson',
    'install below your own prefix (`PREFIX=$HOME/.local`, `--prefix`, or `DESTDIR` in the project)',
  ],
  ['chown chgrp', 'files that you make are yours already: work in the project'],
  [
    'chmod cp mv rm mkdir rmdir ln tee touch install rsync tar unzip sed dd',
    'work on files of the project, which need no privileges',
  ],
  ['cat less more head tail ls find grep', 'read what this user can read; system secrets are not readable'],
  ['kill killall pkill', 'stop processes that this session started, which needs no privileges'],
  ['tcpdump nmap ss netstat lsof', 'look at this user’s own processes and ports alone'],
]

const WAY: ReadonlyMap<string, string> = new Map(
  WAYS.flatMap(([programs, way]) => programs.split(' ').map((name) => [name, way] as const)),
)

const GENERAL = 'work in the project or your home directory, or use a service of the user'

/** What to do instead of `sudo …`: by the first of its words that is a program of the table. */
export function unprivilegedWay({ argv }: Pick<CommandFact, 'argv'>): string {
  for (const { text } of argv.slice(1)) {
    const way = WAY.get(text.slice(text.lastIndexOf('/') + 1))
    if (way !== undefined) return way
  }
  return GENERAL
}
