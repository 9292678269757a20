/**
 * Real tools in a sandbox whose changes go through the broker, and in the same one without it: the same output, status and tree.
 * `npm test -- tools [NAME]`. What is not installed is said, and makes the run incomplete (status 2).
 */

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makePlace, type Place, runInside } from '../test/contract/changes/sandbox.ts'
import { lookAtTree } from '../test/contract/changes/tree-look.ts'

interface Tool {
  readonly name: string
  readonly needs: readonly string[]
  readonly script: string
  /** Paths whose content is of the moment: times, process numbers, inodes. */
  readonly varies?: RegExp
}

const GIT = `export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' GIT_EDITOR=true
g() { git -c user.name=x -c user.email=x@example.org -c pack.threads=1 -c protocol.file.allow=always "$@"; }
g init -q -b main r && cd r && for i in 1 2 3; do echo $i > f$i; g add -A; g commit -qm $i; done`
/** What git writes about files on disk and about itself. */
const GIT_VARIES = /\/\.git(\/.*)?\/(index|ORIG_HEAD|FETCH_HEAD|gc\.log)$/
const C = `for i in 1 2 3 4 5 6; do echo "int f$i(int x){return x*$i;}" > f$i.c; done; echo 'int f1(int);int main(void){return f1(0);}' > main.c`

const tools: readonly Tool[] = [
  {
    name: 'git rebase',
    needs: ['git'],
    script: `${GIT} && g checkout -qb side HEAD~1 && echo s > side && g add -A && g commit -qm side && g rebase -q main && echo more >> side && g commit -qam more && GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' g rebase -qi main && g log --format='%H %s' && g status --short && g fsck --strict`,
    varies: GIT_VARIES,
  },
  {
    name: 'git worktree',
    needs: ['git'],
    script: `${GIT} && g worktree add -q ../w -b other && cd ../w && echo w > w && g add -A && g commit -qm w && cd ../r && g merge -q other && g worktree list --porcelain && g worktree remove ../w && g log --format=%H && g status --short`,
    varies: GIT_VARIES,
  },
  {
    name: 'git submodule',
    needs: ['git'],
    script: `${GIT} && cd .. && g init -q -b main s && cd s && echo s > s && g add -A && g commit -qm s && cd ../r && g submodule --quiet add ../s lib && g commit -qm sub && g submodule status && g status --short && g log --format=%H`,
    varies: GIT_VARIES,
  },
  {
    name: 'git stash, gc, clone',
    needs: ['git'],
    script: `${GIT} && echo x >> f1 && echo new > n && g stash -q -u && g stash list --format=%gd && g stash pop -q && g status --short && g commit -qam x && g gc -q --prune=now && g fsck && cd .. && g clone -q r c && g -C c log --format=%H`,
    varies: GIT_VARIES,
  },
  {
    name: 'npm install',
    needs: ['npm'],
    script: `mkdir -p p/lib app && cd p && echo '{"name":"part","version":"1.0.0","bin":{"part":"lib/a.js"}}' > package.json && for i in a b c; do echo "#!/usr/bin/env node" > lib/$i.js; done && tar -czf ../app/part.tgz -C .. --sort=name --mtime=@0 p && cd ../app && echo '{"name":"app","version":"1.0.0","dependencies":{"part":"file:part.tgz"}}' > package.json && npm install --offline --no-audit --no-fund --cache /tmp/npm >/dev/null && npm ci --offline --no-audit --no-fund --cache /tmp/npm >/dev/null && npm ls --parseable`,
    varies: /part\.tgz$|package-lock\.json$/,
  },
  {
    name: 'pnpm install',
    needs: ['pnpm'],
    script: `mkdir -p part app && echo '{"name":"part","version":"1.0.0"}' > part/package.json && cd app && echo '{"name":"app","version":"1.0.0","dependencies":{"part":"file:../part"}}' > package.json && pnpm install --offline --store-dir /tmp/store >/dev/null && ls node_modules`,
    varies: /\.modules\.yaml$|\.pnpm-workspace-state.*$/,
  },
  {
    name: 'make -j',
    needs: ['make', 'cc'],
    script: `${C}; printf 'app: main.o f1.o f2.o f3.o f4.o f5.o f6.o\\n\\tcc -o $@ $^\\nclean:\\n\\trm -f *.o app\\n' > Makefile; make -s -j4 && ./app && make -s clean && make -s -j4 && ./app`,
  },
  {
    name: 'cmake',
    needs: ['cmake', 'make', 'cc'],
    script: `${C}; printf 'cmake_minimum_required(VERSION 3.10)\\nproject(app C)\\nadd_library(parts STATIC f1.c f2.c f3.c)\\nadd_executable(app main.c)\\ntarget_link_libraries(app parts)\\n' > CMakeLists.txt; cmake -S . -B build >/dev/null && cmake --build build -j4 >/dev/null && build/app`,
    varies: /CMakeFiles\/|\.a$/,
  },
  {
    name: 'sqlite3',
    needs: ['sqlite3'],
    script: `sqlite3 x.db 'create table t(a); begin; insert into t values (1),(2); commit;' && sqlite3 w.db 'pragma journal_mode=wal; create table t(a); insert into t values (3); select * from t;' && (for i in 1 2 3 4; do sqlite3 -cmd '.timeout 20000' x.db "insert into t values ($i)" & done; wait) && sqlite3 x.db 'select count(*), sum(a) from t; vacuum; pragma integrity_check'`,
    varies: /\.db(-wal|-shm)?$/,
  },
  {
    name: 'rsync',
    needs: ['rsync'],
    script: `mkdir -p a/b/c && for i in 1 2 3; do echo $i > a/b/$i; done && ln -s 1 a/b/l && ln a/b/1 a/b/c/h && chmod 640 a/b/2 && rsync -aH a/ z && echo new > a/b/1 && rm a/b/3 && rsync -aH --delete --backup --suffix=.old a/ z && rsync -aHin a/ z`,
  },
  {
    name: 'tar',
    needs: ['tar'],
    script: `mkdir -p a/b/c && for i in 1 2 3; do echo $i > a/b/$i; done && ln -s 1 a/b/l && ln a/b/1 a/b/c/h && chmod 600 a/b/2 && touch -d @1000000 a/b/3 && tar --sort=name --mtime=@0 -cf x.tar a && mkdir out && tar -xpf x.tar -C out && tar -xpf x.tar -C out && diff -r a out/a && stat -c '%n %a %h %s' out/a/b/*`,
  },
  {
    name: 'vim -es',
    needs: ['vim'],
    script: `printf 'one\\ntwo\\n' > f; vim -Nu NONE -es -c '%s/one/three/' -c 'set backup backupcopy=yes' -c wq f; vim -Nu NONE -es -c 'normal Gofour' -c 'set backupcopy=no' -c 'w! g' -c 'qa!' f; cat f g; ls -A`,
  },
  {
    name: 'cargo',
    needs: ['cargo'],
    script: `export CARGO_HOME=/tmp/cargo CARGO_INCREMENTAL=0; mkdir -p app/src && cd app && printf '[package]\\nname="app"\\nversion="0.1.0"\\nedition="2021"\\n' > Cargo.toml && echo 'fn main(){println!("hi");}' > src/main.rs && cargo build -q --offline && target/debug/app`,
    varies: /\/target\//,
  },
  {
    name: 'hard links',
    needs: ['cp', 'git'],
    script: `${GIT} && cd .. && g clone -q r c && g -C c gc -q && g -C r gc -q && g -C c fsck && mkdir a && for i in 1 2; do echo $i > a/f$i; done && cp -al a d && echo x >> d/f1 && cat a/f1 && chmod 600 a/f1 && stat -c '%a %h' d/f1 && ln d/f2 d/g && rm d/f2 && echo y >> d/g && cat a/f2 && touch -d @1000 d/g && stat -c %Y a/f2 && tar -cf x.tar a d && mkdir out && tar -xpf x.tar -C out && tar --overwrite -xpf x.tar -C out && stat -c %h out/a/f1`,
    varies: /x\.tar$|\/\.git(\/.*)?\/(index|gc\.log)$/,
  },
  {
    name: 'sed -i, install, truncate, mktemp, shuffled threads',
    needs: ['sed', 'install', 'python3'],
    script: `echo a > f; sed -i.bak s/a/b/ f; install -m 751 f g; truncate -s 100 g; t=$(mktemp -p .); mv $t named; python3 -c "
import concurrent.futures as c, os
def w(i):
    os.makedirs(f'd/{i%7}', exist_ok=True); p=f'd/{i%7}/{i}'; open(p+'.tmp','w').write(str(i)*50); os.replace(p+'.tmp', p)
    if i % 3 == 0: os.remove(p)
list(c.ThreadPoolExecutor(8).map(w, range(400)))"; find d -type f | sort | cksum`,
  },
]

interface Outcome {
  readonly status: number | null
  readonly out: string
  readonly tree: readonly string[]
}

function run(place: Place, { script, varies }: Tool, mediated: boolean): Outcome {
  rmSync(join(place.base, 'project'), { recursive: true, force: true })
  spawnSync('mkdir', [place.project])
  const { folder } = place.store.begin({ roots: [place.project], what: 'tools' })
  const { status, out, errors } = runInside(place, ['/bin/bash', '-c', script], {
    mediated,
    folder,
    reads: toolFolders(),
  })
  const tree = lookAtTree(place.project, 'no times').map((line) => {
    const [path = '', mode = ''] = line.split(' ')
    return varies?.test(path) ? `${path} ${mode}` : line
  })
  return { status, out: status === 0 ? out : `${out}${errors}`, tree }
}

/** Where tools lie that are not the system's. */
function toolFolders(): string[] {
  const found = ['node', 'npm', 'pnpm', 'cargo'].flatMap((name) => {
    const { stdout } = spawnSync('/bin/sh', ['-c', `readlink -f "$(command -v ${name})"`], { encoding: 'utf8' })
    return stdout.trim() === '' ? [] : [dirname(dirname(stdout.trim()))]
  })
  return [...new Set(found)].filter((folder) => folder !== '/usr' && folder !== '/')
}

const isThere = (name: string): boolean => spawnSync(name, ['--version']).status === 0
const wanted = tools.filter(({ name }) => name.startsWith(process.argv[2] ?? ''))
const place = makePlace()
let bad = 0
let missing = 0
try {
  for (const tool of wanted) {
    const absent = tool.needs.filter((name) => !isThere(name))
    if (absent.length > 0) {
      missing++
      console.log(`${tool.name}: not installed: ${absent.join(', ')}`)
      continue
    }
    const [plain, kept] = [run(place, tool, false), run(place, tool, true)]
    const differ = [
      ...(plain.status !== kept.status ? [`status ${plain.status} plain, ${kept.status} through the broker`] : []),
      ...(plain.out !== kept.out ? [`output plain:\n${plain.out}output through the broker:\n${kept.out}`] : []),
      ...plain.tree.filter((line) => !kept.tree.includes(line)).map((line) => `only plain: ${line}`),
      ...kept.tree.filter((line) => !plain.tree.includes(line)).map((line) => `only through the broker: ${line}`),
    ]
    if (differ.length > 0 || plain.status !== 0) bad++
    const verdict =
      differ.length > 0 ? 'DIFFERS' : plain.status === 0 ? 'the same' : `fails on both sides: ${plain.out}`
    console.log(`${tool.name}: ${verdict}`)
    for (const line of differ.slice(0, 20)) console.log(`  ${line}`)
  }
} finally {
  place.remove()
}
console.log(`${wanted.length} tools, ${bad} differ or fail, ${missing} not installed`)
process.exitCode = bad > 0 ? 1 : missing > 0 ? 2 : 0
