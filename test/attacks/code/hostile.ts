/** Hostile programs for each way to run code. Each is bounded, so that the same program is its own control without the wall. */

/** What of the host a program is aimed at. */
export interface Target {
  /** A file that anybody may read. */
  readonly canary: string
  /** A port on the host's loopback that answers. */
  readonly port: number
  /** In the command line of what should not outlive its call. */
  readonly mark: string
}

export interface Hostile {
  readonly name: string
  readonly code: (target: Target) => string
  /** What it says where it works, as its control shows. */
  readonly works: RegExp
  /** The limits of which one is named; none: it only fails. */
  readonly limits: readonly string[]
  readonly note: string
}

/** Programs in bash and perl, which every Debian has. */
export const IN_CONTAINERS: readonly Hostile[] = [
  {
    name: 'runs on',
    code: () => 'end=$((SECONDS + 3)); while ((SECONDS < end)); do :; done; echo still here',
    works: /still here/,
    limits: ['time'],
    note: 'a loop past its time',
  },
  {
    name: 'takes memory',
    code: () => `perl -e 'my $x = "x" x (700*1024*1024); print "got", " it\\n"'`,
    works: /got it/,
    limits: ['memory'],
    note: '700 MB where 256 are given',
  },
  {
    name: 'starts processes',
    code: ({ mark }) =>
      `for i in {1..400}; do sleep ${mark} & done 2>/dev/null; jobs -p | wc -l; pkill -f "sleep ${mark}" || kill $(jobs -p)`,
    works: /^400$/m,
    limits: ['processes', 'time'],
    note: 'more than a container has',
  },
  {
    name: 'floods its output',
    code: () => 'head -c 100000000 /dev/zero | tr "\\0" x; echo done >&2',
    works: /^done$/m,
    limits: ['output', 'time'],
    note: '100 MB, ended at 64 or by the clock, whichever comes first',
  },
  {
    name: 'fills a file',
    code: () => 'head -c 50000000 /dev/zero >big && rm big && echo written',
    works: /written/,
    limits: ['file size', 'memory'],
    note: '50 MB where 32 are given',
  },
  {
    name: 'reads the host',
    code: ({ canary }) => `cat ${canary} && echo seen`,
    works: /tweet-4711/,
    limits: [],
    note: 'a file of the host that everybody may read',
  },
  {
    name: 'calls the host',
    code: ({ port }) => `exec 3<>/dev/tcp/127.0.0.1/${port} && echo connected`,
    works: /connected/,
    limits: [],
    note: 'a server on the loopback of the host',
  },
  {
    name: 'looks at other calls',
    code: () =>
      'others=$(ls -d /run/cordon-containers/run-* "$HOME"/.cache/cordon/containers/run-* 2>/dev/null | wc -l); [ "$others" -gt 1 ] && echo others; grep -alE "[v]itest|[h]ostile-worker" /proc/[0-9]*/cmdline 2>/dev/null | sed "s/.*/somebody/"',
    works: /^(?:others|somebody)$/m,
    limits: [],
    note: 'directories and processes of others',
  },
  {
    name: 'outlives its call',
    code: ({ mark }) => `setsid sleep ${mark} >/dev/null 2>&1 </dev/null & echo left`,
    works: /left/,
    limits: [],
    note: 'judged by what is left, not by what it says',
  },
]

/** Programs for code_exec. There is no control but the engine's host: Node, where each works. */
export const IN_SCRIPTS: readonly Hostile[] = [
  {
    name: 'runs on',
    code: () => 'const t = Date.now(); while (Date.now() - t < 2300); "still here"',
    works: /still here/,
    limits: ['time'],
    note: 'a loop',
  },
  {
    name: 'runs on in jobs',
    code: () =>
      'const t = Date.now(); const f = () => Date.now() - t < 3000 ? Promise.resolve().then(f) : "still here"; await f()',
    works: /still here/,
    limits: ['time', 'memory'],
    note: 'promises without an end',
  },
  {
    name: 'bombs a pattern',
    code: () => 'String(/^(a+)+$/.test("a".repeat(25) + "b")) + " tried"',
    works: /tried/,
    limits: ['time'],
    note: 'a built-in that does not look at the clock',
  },
  {
    name: 'takes memory',
    code: () => 'const a = []; for (let i = 0; i < 100; i++) a.push(new Float64Array(1e6).fill(i)); "got it"',
    works: /got it/,
    limits: ['memory'],
    note: '800 MB where 64 are given',
  },
  {
    name: 'recurses',
    code: () => 'let n = 0; const f = () => (n++ < 9000 ? f() + 1 : 0); f() > 8000 ? "deep" : ""',
    works: /deep/,
    limits: [],
    note: 'ends as an error of the program',
  },
  {
    name: 'floods its output',
    code: () => 'for (let i = 0; i < 80; i++) console.log("x".repeat(1e6)); "done"',
    works: /done/,
    limits: ['output', 'time'],
    note: '80 MB',
  },
  {
    name: 'imports',
    code: () => '(await import("node:fs")).readdirSync("/").length > 0 ? "seen" : ""',
    works: /seen/,
    limits: [],
    note: 'a module of the host',
  },
  {
    name: 'constructs',
    code: () =>
      'const g = (() => {}).constructor.constructor("return globalThis")(); g.process?.version ? "escaped" : String(Object.keys(g))',
    works: /escaped/,
    limits: [],
    note: 'by the constructor of a function',
  },
  {
    name: 'constructs from a host function',
    code: () =>
      'const p = (globalThis.tools?.read ?? setTimeout).constructor("return globalThis.process")(); p?.version ? "escaped" : "no process"',
    works: /escaped/,
    limits: [],
    note: 'by the constructor of what the host gave',
  },
  {
    name: 'fetches',
    code: ({ port }) => `(await fetch("http://127.0.0.1:${port}/")).status > 0 ? "connected" : ""`,
    works: /connected/,
    limits: [],
    note: 'the network',
  },
  {
    name: 'reads the host',
    code: ({ canary }) => `process.getBuiltinModule("fs").readFileSync(${JSON.stringify(canary)}, "utf8")`,
    works: /tweet-4711/,
    limits: [],
    note: 'without a tool',
  },
]

/** Programs for python_exec; python without the wall is their control. */
export const IN_PYTHON: readonly Hostile[] = [
  {
    name: 'runs on',
    code: () => 'import time\nend = time.time() + 2.3\nwhile time.time() < end: pass\nprint("still here")',
    works: /still here/,
    limits: ['time'],
    note: 'a loop',
  },
  {
    name: 'bombs a pattern',
    code: () => 'import re\nre.match("(a+)+$", "a" * 26 + "b")\nprint("tried")',
    works: /tried/,
    limits: ['time'],
    note: 'no look at signals meanwhile',
  },
  {
    name: 'refuses to end',
    code: () =>
      'import signal, time\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except Exception: pass\ntime.sleep(2.3)\nprint("still here")',
    works: /still here/,
    limits: ['time'],
    note: 'ignores what can be ignored',
  },
  {
    name: 'takes memory',
    code: () => 'x = bytearray(1500 << 20)\nprint("got it")',
    works: /got it/,
    limits: ['memory'],
    note: '1.5 GB where 512 MB are given',
  },
  {
    name: 'starts processes',
    code: ({ mark }) =>
      `import subprocess\nps = []\ntry:\n    for _ in range(300): ps.append(subprocess.Popen(["sleep", "${mark}"]))\nfinally:\n    for p in ps: p.kill()\nprint("all", len(ps))`,
    works: /all 300/,
    limits: [],
    note: 'more than it has',
  },
  {
    name: 'floods its output',
    code: () => 'for _ in range(80): print("x" * 1000000)\nprint("done")',
    works: /done/,
    limits: ['output'],
    note: '80 MB',
  },
  {
    name: 'floods past its streams',
    code: () => 'import os\nfor _ in range(80): os.write(2, b"x" * 1000000)\nprint("done")',
    works: /done/,
    limits: ['output'],
    note: '80 MB by the descriptor',
  },
  {
    name: 'reads the host',
    code: ({ canary }) => `print(open(${JSON.stringify(canary)}).read())`,
    works: /tweet-4711/,
    limits: [],
    note: 'a file of the host',
  },
  {
    name: 'calls the host',
    code: ({ port }) => `import socket\nsocket.create_connection(("127.0.0.1", ${port}), 2)\nprint("connected")`,
    works: /connected/,
    limits: [],
    note: 'the network',
  },
  {
    name: 'undoes the module policy',
    code: ({ canary }) =>
      `import sys\nsys.meta_path[:] = [f for f in sys.meta_path if f.__class__.__name__ != "type" or True]\nimport io\nprint(io.open(${JSON.stringify(canary)}).read())`,
    works: /tweet-4711/,
    limits: [],
    note: 'the sandbox is the boundary',
  },
  {
    name: 'outlives its call',
    code: ({ mark }) => `import subprocess\nsubprocess.Popen(["setsid", "sleep", "${mark}"])\nprint("left")`,
    works: /left/,
    limits: [],
    note: 'judged by what is left',
  },
]
