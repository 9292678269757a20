/*
 * How the parent and the init speak.
 *
 * Orders (little endian), with whose first byte the command's three streams may come instead of STDIO_FD's: "CORDON1\n", u32 length of what follows, then records { u8 type, u32 length, payload }.
 * Text in a payload ends in its only NUL. Whatever is not listed here, is out of bounds or comes twice is a failure.
 *   a argument   text                       e environment   text NAME=VALUE       c working directory   text
 *   m mask       u8 flags, [u64 dev, u64 ino,] text         p pin           u8 flags, text
 *   j face       u8 flags, bytes: what the mask before it shows, in place of nothing (1 = executable, 2 = cannot be opened)
 *   b bound      u64 dev, u64 ino, text: this very file or directory is what bubblewrap must have shown there
 *   r read-only  u8 flags, text             g gate          (empty)
 *   q numbers    u32 end of the process numbers inside
 *   l rlimit     u32 which, u64 limit       s seccomp       sock_filter[]         i ids                 u32 uid, u32 gid
 *   t terminal   u8 fds, u16 rows, u16 cols n listener      u16 port              d servers             u16 port...
 *   w time       u32 milliseconds after which everything is ended      v memory   u32 thousandths of the machine's (memory.h)
 *   x names      u16 port: the name service is there (names.h), and refuses connections to this port unless it is 0
 *   h name       u32 address of 127.0.0.0/8, text: the name has this address inside
 *   y listener   u32 address or 0 for any, u16 port: one more that the parent serves
 *   o place      u8 kind, text: 1 = changes in it go through the broker, 2 = it may be changed freely, 3 = freely, but through
 *                the broker, for one of the first kind lies in it; with any of that kind the broker is there (broker.h)
 *   f rules      { u8 action, text pattern }...: 1 = refused, 2 = judged by its content, 3 = noted, 4 = free; + 8 = as a folder it
 *                may be made and removed, + 16 = only below the places of kind 1. The last rule that fits decides; a pattern is
 *                folded, and stands for all below it
 *   k git keys   { text }...: PATTERN<TAB>RULE of a setting that git's configuration may get, or host<TAB>NAME
 *   u keep       u64 largest file that is copied, u64 most that is copied, u8 what else may be lost (0 all, 1 by appending, 2 nothing), text: folder for the journal and what is kept
 *   U socket     path: a unix socket of the host's; connections to this path are handed out
 *   H home       path: the home is the command's own; files that it leaves there are told (private-home.h)
 *   P ports      (empty): every port that the command listens on is told, beside those of d
 *   L learn      { text }...: paths that are looked for in vain are told, but for those below one of these (learn.h); needs the
 *                places of o
 *   J programs   { text }...: lines of the table of program starts (programs/table.c); every start is then judged; needs the places of o
 *   W wall       path: there are not namespaces; only what lies at or below one of these may be read or run, and all that is opened goes
 *                through the broker (bare/bare.h). Needs the word `bare`, and places of o of the kinds 1 and 3 only
 *   z end        (empty)
 * Flags: m 1 = may be missing, 2 = not watched, 4 = only this very file; p 1 = read-only (otherwise only held in place); r 1 = with submounts.
 * m and p are carried out in their order. Afterwards CONTROL_FD carries, towards this program, { u8 type, u8 a, u16 b, u16 c }:
 *   K a = signal for the command's process group     Q kill everything     W b = rows, c = cols     G through the gate
 *   C b = port, c = id: connect to the server on a port of d, or on one that L told of
 *   J a = 1 if refused, b and c = low and high half of the number of a start that E asked about
 * and towards the parent { u32 type, u32 a, u32 b, u32 c }:
 *   F a = step, b = errno, c = index     R a = 1 if masks are watched     V a = mask index, b = 0 opened, 1 lifted
 *   X a = 0 exited, 1 signalled, b = code or signal     G at the gate: masks and pins are in place, nothing runs yet
 *   D a = how many were refused so far, b = errno, c = which change; the journal has the path
 *   M a = the limit of memory in MiB, which was passed, b = 0 one process is ended for it, 1 everything
 *   P no more processes could be started
 *   T the time is up     A a = kind, b = length, c = port: a name that does not exist (0), a connection that was refused (1);
 *     the name follows, filled up with zeros to whole messages
 *   L a = port, b = 1 if something inside listens on it now, 0 if no longer, c = 1 for one that is not of d
 *   N a = id, b = errno: not connected     S a = signal: the command was stopped by it
 *   H b = length: a file that was left in the private home; its path below it follows, filled up likewise
 *   E a = number, b = length: a program start to be decided (programs/start.c has the text, which follows likewise)
 *   Y b = length: words of a program that was not judged as it is, and was killed; they follow likewise
 *   O a = process, b = length, c = the process that started it: a program that ran, its name and words follow likewise; a = 0: c were left out
 *   W a = number, b = length, c = the number of the program that started it, or 0: a program that connects to the proxy, from
 *     127.77.0.0 and its number on; programs/callers.c has the text, which follows likewise
 *   B a = kind, b = length, c = count: a path that was looked for in vain (1), could not be changed (2), is not a program (3), a program
 *     that was run (4), or so many more were left out (5); the path follows, filled up with zeros to whole messages
 * The listeners, and each connection that C asked for, go over IPC_FD as Node's handles.
 * The command's streams are the caller's own only where they carry bytes and nothing else: other files and internet sockets are
 * relayed through pipes, and a directory or a device ends it all (streams.c).
 * The parent's death closes CONTROL_FD, and that ends the sandbox, whatever became of the parent-death signals.
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#define MAGIC "CORDON1\n"
#define MAX_ORDERS (64u << 20)
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
