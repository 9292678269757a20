/**
 * PURE. What cordon-init and its parent say to each other: the one table. `npm run docs` writes
 * native/init/protocol.h from it, and a test compares the two.
 */

/** Records of the setup message, by their letters. */
export const RECORDS = {
  argument: 'a',
  environment: 'e',
  directory: 'c',
  mask: 'm',
  pin: 'p',
  face: 'j',
  bound: 'b',
  readOnly: 'r',
  gate: 'g',
  processNumbers: 'q',
  limit: 'l',
  seccomp: 's',
  ids: 'i',
  terminal: 't',
  listener: 'n',
  servers: 'd',
  time: 'w',
  memory: 'v',
  names: 'x',
  name: 'h',
  proxyPort: 'y',
  place: 'o',
  rules: 'f',
  gitKeys: 'k',
  keep: 'u',
  socket: 'U',
  home: 'H',
  anyPort: 'P',
  learn: 'L',
  programs: 'J',
  wall: 'W',
  end: 'z',
} as const

export type RecordName = keyof typeof RECORDS

/** Words to the init. */
export const WORDS = {
  signal: 'K',
  quit: 'Q',
  size: 'W',
  go: 'G',
  connect: 'C',
  judged: 'J',
} as const

/** Messages of the init. */
export const MESSAGES = {
  failed: 'F',
  ready: 'R',
  mask: 'V',
  ended: 'X',
  gate: 'G',
  refused: 'D',
  memory: 'M',
  processes: 'P',
  timeout: 'T',
  stopped: 'S',
  server: 'L',
  unconnected: 'N',
  asked: 'A',
  left: 'H',
  start: 'E',
  unjudged: 'Y',
  program: 'O',
  caller: 'W',
  sought: 'B',
} as const

/** After these follow b bytes of text, in whole messages. */
export const WITH_TEXT = ['asked', 'left', 'start', 'unjudged', 'program', 'caller', 'sought'] as const

/** Numbers in records and messages, by the names of their enums; in C the first word of it is in front: MASK_OPTIONAL. */
export const NUMBERS = {
  mask_flag: { OPTIONAL: 1, UNWATCHED: 2, EXACT: 4 },
  /** Without it a pin is only kept in place. */
  pin_flag: { READONLY: 1 },
  face_flag: { EXECUTABLE: 1, CLOSED: 2 },
  /**
   * Changes of a root go through the broker. Loose: through it too, but neither judged nor kept: caches, and private
   * places above a root, because a Landlock right covers everything below.
   */
  place_kind: { ROOT: 1, FREE: 2, LOOSE: 3 },
  /** Of a rule. Folder: as a folder it may be created and removed; below: only below the roots. */
  action: {
    REFUSE: 1,
    JUDGE: 2,
    NOTE: 3,
    FREE: 4,
    MASK: 7,
    FOLDER: 8,
    BELOW: 16,
  },
  /** What undo must cover. */
  must: { NOTHING: 0, BUT_APPENDS: 1, EVERYTHING: 2 },
  /** A path that was missing, could not be changed, is not a program, or ran; or the number of omitted ones. */
  sought: { LOOKUP: 1, CHANGE: 2, PROGRAM: 3, RUN: 4, LEFT_OUT: 5 },
  max: { SETUP: 0x400_0000, SERVERS: 64, LISTENERS: 256, SOCKETS: 32 },
  /** Where the init can fail. */
  step: {
    ORDERS: 1,
    PRIVATE: 2,
    PROC: 3,
    STAGE: 4,
    MASK: 5,
    PIN: 6,
    READONLY: 7,
    LISTENER: 8,
    HANDOVER: 9,
    NESTING: 10,
    USERNS: 11,
    IDS: 12,
    TERMINAL: 13,
    CAPABILITIES: 14,
    NO_NEW_PRIVS: 15,
    SECCOMP: 16,
    FORK: 17,
    LIMITS: 18,
    DIRECTORY: 19,
    EXEC: 20,
    GATE: 21,
    JOIN: 22,
    PLACE: 23,
    STREAM: 24,
    BROKER: 25,
    PROGRAMS: 26,
  },
} as const

/** What is in each record. Text ends in its only NUL. */
export const RECORD_NOTES: Readonly<Record<keyof typeof RECORDS, string>> = {
  argument: 'text',
  environment: 'text NAME=VALUE',
  directory: 'text: the working directory',
  mask: 'u8 flags MASK_*, with MASK_EXACT u64 dev and u64 ino, text',
  pin: 'u8 flags PIN_*, text. Masks and pins are applied in their order',
  face: 'u8 flags FACE_*, bytes: the content of the preceding mask',
  bound: 'u64 dev, u64 ino, text: the file or directory that bubblewrap must have mounted there',
  readOnly: 'u8: 1 with submounts, text',
  gate: '(empty)',
  processNumbers: 'u32 end of the pid numbers inside',
  limit: 'u32 which, u64 limit',
  seccomp: 'sock_filter[]',
  ids: 'u32 uid, u32 gid',
  terminal: 'u8 fds, u16 rows, u16 cols',
  listener: 'u16 port',
  servers: 'u16 port...',
  time: 'u32 milliseconds after which everything ends',
  memory: "u32 thousandths of the machine's memory (memory.h)",
  names: 'u16 port: starts the name service (names.h), which refuses connections to this port unless 0',
  name: 'u32 address of 127.0.0.0/8, text: the name has this address inside',
  proxyPort: 'u32 address or 0 for any, u16 port: one more listener that the parent serves',
  place: 'u8 enum place_kind, text. A root enables the broker (broker.h)',
  rules:
    '{ u8 enum action, text pattern }... The last matching rule decides; a pattern is folded, and covers everything below it',
  gitKeys:
    "{ text }...: PATTERN<TAB>RULE of a setting that git's configuration may get, or host<TAB>NAME, or way<TAB>PATH",
  keep: 'u64 largest copied file, u64 most copied bytes, u8 enum must, text: folder for the journal and the kept files',
  socket: 'path: a unix socket of the host; connections to this path are passed outside',
  home: 'path: the home is private to the command; files left there are reported (private-home.h)',
  anyPort: '(empty): reports every port that the command listens on, beside those of servers',
  learn: '{ text }...: reports missing paths, except below these (learn.h); needs places',
  programs:
    '{ text }...: lines of the table of program starts (programs/table.c); every start is then judged; needs places',
  wall: 'path: no namespaces; only paths at or below one of these may be read or run, and all opens go through the broker (bare/bare.h). Needs the word `bare`, and no place that is freely writable',
  end: '(empty)',
}

/** What is in { u8 type, u8 a, u16 b, u16 c }. */
export const WORD_NOTES: Readonly<Record<keyof typeof WORDS, string>> = {
  signal: 'a = signal for the process group of the command',
  quit: 'kill everything',
  size: 'b = rows, c = cols',
  go: 'leave the gate',
  connect: 'b = port, c = id: connect to a server on a port of servers or learn',
  judged: 'a = 1 if refused, b and c = low and high half of the number of a start',
}

/** What is in { u32 type, u32 a, u32 b, u32 c }. */
export const MESSAGE_NOTES: Readonly<Record<keyof typeof MESSAGES, string>> = {
  failed: 'a = step, b = errno, c = index',
  ready: 'a = 1 if masks are watched',
  mask: 'a = mask, b = 0 opened, 1 lifted',
  ended: 'a = 0 exited, 1 signalled, b = code or signal',
  gate: 'at the gate: all is mounted, nothing runs yet',
  refused: 'a = refusals so far, b = errno, c = which change; the journal has the path',
  memory: 'a = the passed limit in MiB, b = 0 one process is ended for it, 1 everything',
  processes: 'the limit of processes was reached',
  timeout: 'the time is up',
  stopped: 'a = signal that stopped the command',
  server: 'a = port, b = 1 if something inside listens on it, 0 if no longer, c = 1 if not of servers',
  unconnected: 'a = id, b = errno',
  asked: 'a = 0 an unknown name, 1 a refused connection, c = port; name',
  left: 'a file left in the private home; path below it',
  start: 'a = number: a program start to be decided (programs/start.c)',
  unjudged: 'an unjudged program that was killed; words',
  program: 'a = process, c = its parent: a program that ran; name and words. a = 0: c were omitted',
  caller:
    'a = number, c = the number of the program that started it, or 0: a program that connects to the proxy, from 127.77.0.0 plus its number (programs/callers.c)',
  sought: 'a = enum sought, c = count; path',
}
