/*
 * The protocol between the parent and the init. Generated from src/sandbox/protocol.ts by
 * scripts/generate-protocol.ts; change that file instead.
 *
 * The setup message (little endian): MAGIC, u32 length, records { u8 type, u32 length, payload }. The
 * command's three streams may come with its first byte, instead of STDIO_FD's. Text in a payload ends in its
 * only NUL. An unknown, repeated or out-of-bounds record is an error.
 *
 * Afterwards CONTROL_FD carries, towards this program, words { u8 type, u8 a, u16 b, u16 c }, and towards
 * the parent messages { u32 type, u32 a, u32 b, u32 c }. After those of MESSAGES_WITH_TEXT follow b bytes in
 * whole messages, zero-padded. The command chose most of them: they must not be read as messages.
 *
 * The listeners, and each connection of WORD_CONNECT, go over IPC_FD as handles of Node.
 * The command has the caller's own streams only if they carry nothing but bytes. Other files and internet
 * sockets are relayed through pipes, and a directory or a device is an error (streams.c).
 * The parent's death closes CONTROL_FD, and that ends the sandbox, even without a parent-death signal.
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#define MAGIC "CORDON1\n"
#define MESSAGES_WITH_TEXT "AHEYOWB"

enum record_type {
  RECORD_ARGUMENT = 'a', /* text */
  RECORD_ENVIRONMENT = 'e', /* text NAME=VALUE */
  RECORD_DIRECTORY = 'c', /* text: the working directory */
  RECORD_MASK = 'm', /* u8 flags MASK_*, with MASK_EXACT u64 dev and u64 ino, text */
  RECORD_PIN = 'p', /* u8 flags PIN_*, text. Masks and pins are applied in their order */
  RECORD_FACE = 'j', /* u8 flags FACE_*, bytes: the content of the preceding mask */
  /* u64 dev, u64 ino, text: the file or directory that bubblewrap must have mounted there */
  RECORD_BOUND = 'b',
  RECORD_READ_ONLY = 'r', /* u8: 1 with submounts, text */
  RECORD_GATE = 'g', /* (empty) */
  RECORD_PROCESS_NUMBERS = 'q', /* u32 end of the pid numbers inside */
  RECORD_LIMIT = 'l', /* u32 which, u64 limit */
  RECORD_SECCOMP = 's', /* sock_filter[] */
  RECORD_IDS = 'i', /* u32 uid, u32 gid */
  RECORD_TERMINAL = 't', /* u8 fds, u16 rows, u16 cols */
  RECORD_LISTENER = 'n', /* u16 port */
  RECORD_SERVERS = 'd', /* u16 port... */
  RECORD_TIME = 'w', /* u32 milliseconds after which everything ends */
  RECORD_MEMORY = 'v', /* u32 thousandths of the machine's memory (memory.h) */
  /* u16 port: starts the name service (names.h), which refuses connections to this port unless 0 */
  RECORD_NAMES = 'x',
  RECORD_NAME = 'h', /* u32 address of 127.0.0.0/8, text: the name has this address inside */
  RECORD_PROXY_PORT = 'y', /* u32 address or 0 for any, u16 port: one more listener that the parent serves */
  RECORD_PLACE = 'o', /* u8 enum place_kind, text. A root enables the broker (broker.h) */
  /* { u8 enum action, text pattern }... The last matching rule decides; a pattern is folded, and covers
   * everything below it */
  RECORD_RULES = 'f',
  /* { text }...: PATTERN<TAB>RULE of a setting that git's configuration may get, or host<TAB>NAME, or
   * way<TAB>PATH */
  RECORD_GIT_KEYS = 'k',
  /* u64 largest copied file, u64 most copied bytes, u8 enum must, text: folder for the journal and the
   * kept files */
  RECORD_KEEP = 'u',
  RECORD_SOCKET = 'U', /* path: a unix socket of the host; connections to this path are passed outside */
  /* path: the home is private to the command; files left there are reported (private-home.h) */
  RECORD_HOME = 'H',
  /* (empty): reports every port that the command listens on, beside those of servers */
  RECORD_ANY_PORT = 'P',
  RECORD_LEARN = 'L', /* { text }...: reports missing paths, except below these (learn.h); needs places */
  /* { text }...: lines of the table of program starts (programs/table.c); every start is then judged;
   * needs places */
  RECORD_PROGRAMS = 'J',
  /* path: no namespaces; only paths at or below one of these may be read or run, and all opens go through
   * the broker (bare/bare.h). Needs the word `bare`, and no place that is freely writable */
  RECORD_WALL = 'W',
  RECORD_END = 'z', /* (empty) */
};

enum word_type {
  WORD_SIGNAL = 'K', /* a = signal for the process group of the command */
  WORD_QUIT = 'Q', /* kill everything */
  WORD_SIZE = 'W', /* b = rows, c = cols */
  WORD_GO = 'G', /* leave the gate */
  WORD_CONNECT = 'C', /* b = port, c = id: connect to a server on a port of servers or learn */
  WORD_JUDGED = 'J', /* a = 1 if refused, b and c = low and high half of the number of a start */
};

enum message_type {
  MESSAGE_FAILED = 'F', /* a = step, b = errno, c = index */
  MESSAGE_READY = 'R', /* a = 1 if masks are watched */
  MESSAGE_MASK = 'V', /* a = mask, b = 0 opened, 1 lifted */
  MESSAGE_ENDED = 'X', /* a = 0 exited, 1 signalled, b = code or signal */
  MESSAGE_GATE = 'G', /* at the gate: all is mounted, nothing runs yet */
  MESSAGE_REFUSED = 'D', /* a = refusals so far, b = errno, c = which change; the journal has the path */
  MESSAGE_MEMORY = 'M', /* a = the passed limit in MiB, b = 0 one process is ended for it, 1 everything */
  MESSAGE_PROCESSES = 'P', /* the limit of processes was reached */
  MESSAGE_TIMEOUT = 'T', /* the time is up */
  MESSAGE_STOPPED = 'S', /* a = signal that stopped the command */
  /* a = port, b = 1 if something inside listens on it, 0 if no longer, c = 1 if not of servers */
  MESSAGE_SERVER = 'L',
  MESSAGE_UNCONNECTED = 'N', /* a = id, b = errno */
  MESSAGE_ASKED = 'A', /* a = 0 an unknown name, 1 a refused connection, c = port; name */
  MESSAGE_LEFT = 'H', /* a file left in the private home; path below it */
  MESSAGE_START = 'E', /* a = number: a program start to be decided (programs/start.c) */
  MESSAGE_UNJUDGED = 'Y', /* an unjudged program that was killed; words */
  /* a = process, c = its parent: a program that ran; name and words. a = 0: c were omitted */
  MESSAGE_PROGRAM = 'O',
  /* a = number, c = the number of the program that started it, or 0: a program that connects to the proxy,
   * from 127.77.0.0 plus its number (programs/callers.c) */
  MESSAGE_CALLER = 'W',
  MESSAGE_SOUGHT = 'B', /* a = enum sought, c = count; path */
};

enum mask_flag {
  MASK_OPTIONAL = 1,
  MASK_UNWATCHED = 2,
  MASK_EXACT = 4,
};

enum pin_flag {
  PIN_READONLY = 1,
};

enum face_flag {
  FACE_EXECUTABLE = 1,
  FACE_CLOSED = 2,
};

enum place_kind {
  PLACE_ROOT = 1,
  PLACE_FREE = 2,
  PLACE_LOOSE = 3,
};

enum action {
  ACTION_REFUSE = 1,
  ACTION_JUDGE = 2,
  ACTION_NOTE = 3,
  ACTION_FREE = 4,
  ACTION_MASK = 7,
  ACTION_FOLDER = 8,
  ACTION_BELOW = 16,
};

enum must {
  MUST_NOTHING = 0,
  MUST_BUT_APPENDS = 1,
  MUST_EVERYTHING = 2,
};

enum sought {
  SOUGHT_LOOKUP = 1,
  SOUGHT_CHANGE = 2,
  SOUGHT_PROGRAM = 3,
  SOUGHT_RUN = 4,
  SOUGHT_LEFT_OUT = 5,
};

enum max {
  MAX_SETUP = 67108864,
  MAX_SERVERS = 64,
  MAX_LISTENERS = 256,
  MAX_SOCKETS = 32,
};

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
