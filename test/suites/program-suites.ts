/** Public suites of programs: each test runs outside, in plain bubblewrap and in `cordon run`. */

import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Case, ltpCases, tapCases } from './cases.ts'

export interface ProgramTest {
  readonly name: string
  readonly command: readonly string[]
}

/** A difference that must be, by the text `TEST: RESULT` of a case. */
export interface Known {
  readonly pattern: RegExp
  readonly why: string
}

export interface ProgramSuite {
  readonly name: string
  /** Its folder below `--dir`, and where it comes from. */
  readonly folder: string
  readonly from: string
  /** What one types in the folder before the first run. */
  readonly build: string
  readonly isBuilt: (folder: string) => boolean
  readonly tests: (folder: string) => readonly ProgramTest[]
  /** One in so many runs. */
  readonly every?: number
  readonly env?: Readonly<Record<string, string>>
  readonly cases: (output: string) => readonly Case[]
  /** Its tests mount file systems and try limits of the machine, so it never runs outside a sandbox. */
  readonly mounts?: boolean
  readonly known: readonly Known[]
}

/** The folders of LTP whose tests change or look at files. */
const LTP_CALLS =
  'access chdir chmod chown close creat dup dup2 dup3 faccessat fallocate fchdir fchmod fchmodat fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents getxattr lchown lgetxattr link linkat listxattr llistxattr lremovexattr lseek lstat mkdir mkdirat mknod mknodat open openat openat2 pathconf pread pwrite read readdir readlink readlinkat readv removexattr rename renameat renameat2 rmdir sendfile setxattr stat statfs statx symlink symlinkat truncate umask unlink unlinkat utime utimensat utimes write writev landlock bind'.split(
    ' ',
  )

export const PROGRAM_SUITES: readonly ProgramSuite[] = [
  {
    name: 'pjdfstest',
    folder: 'pjdfstest',
    from: 'github.com/pjd/pjdfstest',
    build: 'autoreconf -ifs && ./configure && make pjdfstest',
    isBuilt: (folder) => existsSync(join(folder, 'pjdfstest')),
    tests: (folder) =>
      globSync('tests/*/*.t', { cwd: folder })
        .sort()
        .map((path) => ({ name: path.slice('tests/'.length), command: ['/bin/sh', join(folder, path)] })),
    cases: tapCases,
    known: [
      {
        pattern: /^\w+\/03\.t|^rename\/02\.t/,
        why: 'a path above 4095 bytes from the root is refused: it could be neither judged nor restored',
      },
      {
        pattern: /^ch(?:mod\/12|own\/00)\.t/,
        why: 'modes that set a user or a group are refused: they would work outside the sandbox',
      },
      {
        pattern: /^rename\/23\.t .*got \w+,2/,
        why: 'undo keeps a replaced file by a further name, which its link count shows',
      },
    ],
  },
  {
    name: 'git',
    folder: 'git',
    from: 'github.com/git/git',
    build: 'make NO_GETTEXT=1 NO_TCLTK=1',
    isBuilt: (folder) => existsSync(join(folder, 't/helper/test-tool')),
    tests: (folder) =>
      globSync('t[0-9][0-9][0-9][0-9]-*.sh', { cwd: join(folder, 't') })
        .sort()
        .map((script) => ({
          name: script,
          command: [
            '/bin/sh',
            '-c',
            `out=$PWD; cd ${join(folder, 't')} && exec /bin/sh ./${script} --root="$out" --no-chain-lint`,
          ],
        })),
    every: 70,
    env: { TEST_NO_MALLOC_CHECK: '1', GIT_TEST_EXT_CHAIN_LINT: '0' },
    cases: tapCases,
    known: [
      {
        pattern: /^t(?:0411|4048)-/,
        why: 'it sets a key that makes git run a program (uploadpack.packObjectsHook, diff.NAME.textconv)',
      },
      {
        pattern: /^t5552-\S+ 1:/,
        why: 'the shell writes .git/config itself: a configuration is judged when git replaces it by a rename',
      },
    ],
  },
  {
    name: 'LTP, file system calls',
    folder: 'ltp',
    from: 'github.com/linux-test-project/ltp',
    build: `make autotools && ./configure && make -C include && make -C lib && make -C libs && for d in ${LTP_CALLS.join(' ')}; do make -C testcases/kernel/syscalls/$d; done`,
    isBuilt: (folder) => existsSync(join(folder, 'testcases/kernel/syscalls/rename/rename01')),
    tests: (folder) =>
      LTP_CALLS.flatMap((call) => {
        const place = join(folder, 'testcases/kernel/syscalls', call)
        return readdirSync(place)
          .filter((name) => /^[a-z0-9_]+\d+(?:_\d+)?$/.test(name) && existsSync(join(place, `${name}.c`)))
          .sort()
          .map((name) => ({ name, command: ['/bin/sh', '-c', `TMPDIR=$PWD exec ${join(place, name)}`] }))
      }),
    env: { LTP_COLORIZE_OUTPUT: 'n' },
    cases: ltpCases,
    mounts: true,
    known: [
      {
        pattern: /^(?:chmod01|fchmod01|fchown02|fcntl32) /,
        why: 'modes that set a user or a group are refused: they would work outside the sandbox',
      },
      { pattern: /^fcntl33 /, why: 'it writes to /proc/sys, which is read-only, also for root' },
      { pattern: /^bind05 /, why: 'it needs UDP-Lite: only the usual protocols can be opened' },
    ],
  },
]

/** The day and the commit of a checkout. */
export function versionOf(folder: string): string {
  const git = ['-C', folder, 'log', '-1', '--format=%h of %cs']
  return existsSync(join(folder, '.git')) ? execFileSync('git', git, { encoding: 'utf8' }).trim() : 'unknown'
}
