/** Hostile programs for each way to run code. Each is bounded, so that the same program is its own control without the wall. Output is limited to 64 KiB here, and a flood to 64 times that. */

/** What of the host a program is aimed at. */
export interface Target {
  /** A file that anybody may read. */
  readonly canary: string
  /** A port on the host's loopback that answers. */
  readonly port: number
  /** In the command line of what should not outlive its call. */
  readonly mark: string
  /** What would go on for long in the attack, and just past the limit in its control. */
  readonly span: 'long' | 'short'
}

/** Seconds of work: the attack is never done by itself, and its control goes on past the limit of a second. */
const seconds = ({ span }: Target): number => (span === 'long' ? 60 : 1.2)
/** Letters of a pattern that doubles its work with each. */
const letters = ({ span }: Target): number => (span === 'long' ? 40 : 22)

/** A way to run code; the engine counts where it is a container. */
export interface Way {
  readonly way: 'container' | 'script' | 'python'
  readonly engine: string
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
    code: (target) =>
      `perl -e 'use Time::HiRes "time"; my $end = time + ${seconds(target)}; 1 while time < $end; print "still ", "here\\n"'`,
    works: /still here/,
    limits: ['time'],
    note: 'a loop past its time',
  },
  {
    name: 'takes memory',
    code: () => `perl -e 'my $x = "x" x (400*1024*1024); print "got", " it\\n"'`,
    works: /got it/,
    limits: ['memory'],
    note: '400 MB where 256 are given',
  },
  {
    name: 'starts processes',
    code: ({ mark }) =>
      `perl -e 'my @p; for (1..200) { my $p = fork; die "fork: $!" if !defined $p; exec "sleep", "${mark}" if !$p; push @p, $p } kill 9, @p; print "all ", scalar @p, "\\n"'`,
    works: /^all 200$/m,
    limits: ['processes'],
    note: 'more than a container has',
  },
  {
    name: 'floods its output',
    code: () => 'head -c 10000000 /dev/zero | tr "\\0" x; echo done >&2',
    works: /^done$/m,
    limits: ['output'],
    note: '10 MB',
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
    name: 'inspects other calls',
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

/** Programs for code_exec. There is not a control but the engine's host: Node, where each works. */
export const IN_SCRIPTS: readonly Hostile[] = [
  {
    name: 'runs on',
    code: (target) => `const t = Date.now(); while (Date.now() - t < ${seconds(target) * 1000}); "still here"`,
    works: /still here/,
    limits: ['time'],
    note: 'a loop',
  },
  {
    name: 'runs on in jobs',
    code: (target) =>
      `const t = Date.now(); let n = 0; while (Date.now() - t < ${seconds(target) * 1000}) await Promise.resolve(n++); "still here"`,
    works: /still here/,
    limits: ['time'],
    note: 'promises without an end',
  },
  {
    name: 'bombs a pattern',
    code: (target) => `String(/^(a+)+$/.test("a".repeat(${letters(target)}) + "b")) + " tried"`,
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
    code: () =>
      'for (let i = 0; i < 10; i++) console.log("x".repeat(1e6)); await new Promise((go) => setTimeout(go, 500)); "done"',
    works: /done/,
    limits: ['output'],
    note: '10 MB, and there afterwards to be stopped',
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
    code: (target) =>
      `import time\nend = time.time() + ${seconds(target)}\nwhile time.time() < end: pass\nprint("still here")`,
    works: /still here/,
    limits: ['time'],
    note: 'a loop',
  },
  {
    name: 'runs on beside a call',
    code: (target) =>
      `import threading, time
try:
    import cordon
    threading.Thread(target=lambda: cordon.bash(command="sleep 300"), daemon=True).start()
except ImportError: pass
end = time.time() + ${seconds(target)}
while time.time() < end: pass
print("still here")`,
    works: /still here/,
    limits: ['time'],
    note: 'only a program that waits for its call gets that time',
  },
  {
    name: 'runs on in a process beside a call',
    code: (target) =>
      `import resource, subprocess, time
child = subprocess.Popen(["sh", "-c", "trap '' CHLD; while :; do /bin/true; done"], start_new_session=True)
try:
    import cordon
    cordon.bash(command="sleep ${seconds(target)}")
except ImportError: time.sleep(${seconds(target)})
child.kill()
print("still here")`,
    works: /still here/,
    limits: ['time'],
    note: 'short processes in their own session, whose time nobody collects',
  },
  {
    name: 'bombs a pattern',
    code: (target) => `import re\nre.match("(a+)+$", "a" * ${letters(target)} + "b")\nprint("tried")`,
    works: /tried/,
    limits: ['time'],
    note: 'no look at signals meanwhile',
  },
  {
    name: 'refuses to end',
    code: (target) =>
      `import signal, time\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except Exception: pass\ntime.sleep(${seconds(target)})\nprint("still here")`,
    works: /still here/,
    limits: ['time'],
    note: 'ignores what can be ignored',
  },
  {
    name: 'takes memory',
    code: () => 'x = bytearray(700 << 20)\nprint("got it")',
    works: /got it/,
    limits: ['memory'],
    note: '700 MB where 512 are given',
  },
  {
    name: 'starts processes',
    code: ({ mark }) =>
      `import subprocess\nps = []\ntry:\n    for _ in range(100): ps.append(subprocess.Popen(["sleep", "${mark}"]))\nfinally:\n    for p in ps: p.kill()\nprint("all", len(ps))`,
    works: /all 100/,
    limits: [],
    note: 'more than it has',
  },
  {
    name: 'floods its output',
    code: () => 'for _ in range(10): print("x" * 1000000)\nprint("done")',
    works: /done/,
    limits: ['output'],
    note: '10 MB',
  },
  {
    name: 'floods past its streams',
    code: () => 'import os\nfor _ in range(10): os.write(2, b"x" * 1000000)\nprint("done")',
    works: /done/,
    limits: ['output'],
    note: '10 MB by the descriptor',
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
