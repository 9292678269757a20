/** Names that matter when a program starts, whatever the manifest says. */

/** Who a start is judged for: what is built in is there for agents, whose commands no one reads before they run. */
export type StartedFor = 'agent' | 'person'

/** Programs that run the work of others by themselves, without starting them. */
export const RUNS_INSIDE: ReadonlySet<string> = new Set(
  'busybox toybox coreutils ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-musl-x86_64.so.1 ld-musl-aarch64.so.1'.split(
    ' ',
  ),
)

/** What asks for other rights (S4). */
export const PRIVILEGED: ReadonlySet<string> = new Set('sudo sudo-rs sudoedit doas su pkexec run0 sg newgrp'.split(' '))

/** What a program start does by itself is nothing but to start another one, which is judged then. */
export const ONLY_RUNS: ReadonlySet<string> = new Set(
  'env nice ionice nohup setsid stdbuf time timeout xargs'.split(' '),
)
