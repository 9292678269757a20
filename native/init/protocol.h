/*
 * The protocol between the parent and the init.
 *
 * The setup message (little endian): "CORDON1\n", u32 length, records { u8 type, u32 length, payload }.
 * The command's three streams may come with its first byte, instead of STDIO_FD's. Text in a payload ends in
 * its only NUL. An unknown, repeated or out-of-bounds record is an error.
 *   a argument   text                       e environment   text NAME=VALUE       c working directory   text
 *   m mask       u8 flags, [u64 dev, u64 ino,] text         p pin           u8 flags, text
 *   j face       u8 flags, bytes: the content of the preceding mask (1 = executable, 2 = cannot be opened)
 *   b bound      u64 dev, u64 ino, text: the file or directory that bubblewrap must have mounted there
 *   r read-only  u8 flags, text             g gate          (empty)
 *   q numbers    u32 end of the pid numbers inside
 *   l rlimit     u32 which, u64 limit       s seccomp       sock_filter[]         i ids      u32 uid, u32 gid
 *   t terminal   u8 fds, u16 rows, u16 cols n listener      u16 port              d servers  u16 port...
 *   w time       u32 milliseconds after which everything ends
 *   v memory     u32 thousandths of the machine's memory (memory.h)
 *   x names      u16 port: starts the name service (names.h), which refuses connections to this port unless 0
 *   h name       u32 address of 127.0.0.0/8, text: the name has this address inside
 *   y listener   u32 address or 0 for any, u16 port: one more that the parent serves
 *   o place      u8 kind, text: 1 = changes go through the broker, 2 = freely writable, 3 = freely, but
 *                through the broker, because a place of kind 1 is in it; kind 1 enables the broker (broker.h)
 *   f rules      { u8 action, text pattern }...: 1 = refused, 2 = judged by its content, 3 = noted, 4 = free;
 *                + 8 = as a folder it may be created and removed, + 16 = only below the places of kind 1. The
 *                last matching rule decides; a pattern is folded, and covers everything below it
 *   k git keys   { text }...: PATTERN<TAB>RULE of a setting that git's configuration may get,
 *                or host<TAB>NAME, or way<TAB>PATH
 *   u keep       u64 largest copied file, u64 most copied bytes, u8 what else may be lost (0 all, 1 by
 *                appending, 2 nothing), text: folder for the journal and the kept files
 *   U socket     path: a unix socket of the host; connections to this path are passed outside
 *   H home       path: the home is private to the command; files left there are reported (private-home.h)
 *   P ports      (empty): reports every port that the command listens on, beside those of d
 *   L learn      { text }...: reports missing paths, except below these (learn.h); needs the places of o
 *   J programs   { text }...: lines of the table of program starts (programs/table.c); every start is then
 *                judged; needs the places of o
 *   W wall       path: no namespaces; only paths at or below one of these may be read or run, and all opens
 *                go through the broker (bare/bare.h). Needs the word `bare`, and only places of kinds 1 and 3
 *   z end        (empty)
 * Flags: m 1 = may be missing, 2 = not watched, 4 = only this very file; p 1 = read-only (otherwise only kept
 * in place); r 1 = with submounts. m and p are applied in their order.
 *
 * Afterwards CONTROL_FD carries, towards this program, { u8 type, u8 a, u16 b, u16 c }:
 *   K a = signal for the command's process group     Q kill everything     W b = rows, c = cols
 *   G leave the gate     C b = port, c = id: connect to a server on a port of d or L
 *   J a = 1 if refused, b and c = low and high half of the number of a start from E
 * and towards the parent { u32 type, u32 a, u32 b, u32 c }; "+ text" follows in whole messages, zero-padded:
 *   F a = step, b = errno, c = index     R a = 1 if masks are watched     V a = mask, b = 0 opened, 1 lifted
 *   X a = 0 exited, 1 signalled, b = code or signal     G at the gate: all is mounted, nothing runs yet
 *   D a = refusals so far, b = errno, c = which change; the journal has the path
 *   M a = the passed memory limit in MiB, b = 0 one process is ended for it, 1 everything
 *   P the limit of processes was reached     T the time is up     S a = signal that stopped the command
 *   A a = kind, b = length, c = port: an unknown name (0), or a refused connection (1) + name
 *   L a = port, b = 1 if something inside listens on it, 0 if no longer, c = 1 if not of d
 *   N a = id, b = errno: not connected
 *   H b = length: a file left in the private home + path below it
 *   E a = number, b = length: a program start to be decided + text (programs/start.c)
 *   Y b = length: an unjudged program that was killed + words
 *   O a = process, b = length, c = the process that started it: a program that ran + name and words; a = 0: c
 *     were omitted
 *   W a = number, b = length, c = the number of the program that started it, or 0: a program that connects to
 *     the proxy, from 127.77.0.0 plus its number + text (programs/callers.c)
 *   B a = kind, b = length, c = count: a path that was missing (1), could not be changed (2), is not a
 *     program (3), a program that ran (4), or the number of omitted ones (5) + path
 * The listeners, and each connection of C, go over IPC_FD as handles of Node.
 * The command has the caller's own streams only if they carry nothing but bytes. Other files and internet
 * sockets are relayed through pipes, and a directory or a device is an error (streams.c).
 * The parent's death closes CONTROL_FD, and that ends the sandbox, even without a parent-death signal.
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#define MAGIC "CORDON1\n"
#define MAX_SETUP (64u << 20)
#define MAX_SERVERS 64
#define MAX_LISTENERS 256 /* that the parent serves */

/* Each value is mirrored by the step table in src/sandbox/bwrap/steps.ts; a test compares the two. */
enum step {
  STEP_ORDERS = 1,
  STEP_PRIVATE = 2,
  STEP_PROC = 3,
  STEP_STAGE = 4,
  STEP_MASK = 5,
  STEP_PIN = 6,
  STEP_READONLY = 7,
  STEP_LISTENER = 8,
  STEP_HANDOVER = 9,
  STEP_NESTING = 10,
  STEP_USERNS = 11,
  STEP_IDS = 12,
  STEP_TERMINAL = 13,
  STEP_CAPABILITIES = 14,
  STEP_NO_NEW_PRIVS = 15,
  STEP_SECCOMP = 16,
  STEP_FORK = 17,
  STEP_LIMITS = 18,
  STEP_DIRECTORY = 19,
  STEP_EXEC = 20,
  STEP_GATE = 21,
  STEP_JOIN = 22,
  STEP_PLACE = 23,
  STEP_STREAM = 24,
  STEP_BROKER = 25,
  STEP_PROGRAMS = 26,
};
#endif
