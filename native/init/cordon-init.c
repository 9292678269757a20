/*
 * cordon-init: the first process of a sandbox. bubblewrap makes the namespaces and the baseline and starts this
 * program as pid 1; it furnishes the room, shuts it, starts the command, and stays as reaper and watcher.
 *
 *   cordon-init CONTROL_FD STDIO_FD [IPC_FD] [hHOST_FD] [jJOIN_FD]
 *                                             inside: read orders from CONTROL_FD and carry them out; the command's
 *                                             stdin, stdout and stderr are STDIO_FD and the two that follow; nothing
 *                                             starts before JOIN_FD says that the cgroups are joined; HOST_FD is the host's
 *                                             root directory, by which the door finds the folder for what is kept
 *   cordon-init enter FILE... -- PROG ARG...  outside: exec PROG, which runs the above, with a last argument jJOIN_FD,
 *                                             and have it and its child join the cgroups whose cgroup.procs are named
 *
 * Orders (little endian): "CORDON1\n", u32 length of what follows, then records { u8 type, u32 length, payload }.
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
 *   o place      u8 kind, text: 1 = changes in it go through the door, 2 = it may be changed freely, 3 = freely, but through
 *                the door, for one of the first kind lies in it; with any of that kind the door is there (door.h)
 *   f rules      { u8 action, text pattern }...: 1 = refused, 2 = judged by its content, 3 = noted, 4 = free; + 8 = as a folder it
 *                may be made and removed, + 16 = only below the places of kind 1. The last rule that fits decides; a pattern is
 *                folded, and stands for all below it
 *   k git keys   { text }...: PATTERN<TAB>RULE of a setting that git's configuration may get, or host<TAB>NAME
 *   u keep       u64 largest file that is copied, u64 most that is copied, u8 what else may be lost (0 all, 1 by appending, 2 nothing), text: folder for the journal and what is kept
 *   U socket     path: a unix socket of the host's; connections to this path are handed out
 *   P ports      (empty): every port that the command listens on is told, beside those of d
 *   L learn      { text }...: paths that are looked for in vain are told, but for those below one of these (learn.h); needs the
 *                places of o
 *   z end        (empty)
 * Flags: m 1 = may be missing, 2 = not watched, 4 = only this very file; p 1 = read-only (otherwise only held in place); r 1 = with submounts.
 * m and p are carried out in their order. Afterwards CONTROL_FD carries, towards this program, { u8 type, u8 a, u16 b, u16 c }:
 *   K a = signal for the command's process group     Q kill everything     W b = rows, c = cols     G through the gate
 *   C b = port, c = id: connect to the server on a port of d, or on one that L told of
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
 *   B a = kind, b = length, c = count: a path that was looked for in vain (1), could not be changed (2), is no program (3), a program
 *     that was run (4), or so many more were left out (5); the path follows, filled up with zeros to whole messages
 * The listeners, and each connection that C asked for, go over IPC_FD as Node's handles.
 * The command's streams are the caller's own only where they carry bytes and nothing else: other files and internet sockets are
 * relayed through pipes, and a directory or a device ends it all (see hand_in_streams).
 * The parent's death closes CONTROL_FD, and that ends the sandbox, whatever became of the parent-death signals.
 */
#define _GNU_SOURCE
#include "../door/door.h"
#include "learn.h"
#include "listening.h"
#include "local-sockets.h"
#include "memory.h"
#include "names.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "CORDON1\n"
#define MAX_ORDERS (64u << 20)
#define STAGE "/dev/shm"
#define FAULT_STATUS 125
#define MAX_SERVERS 64
#define MAX_LISTENERS 256     /* that the parent serves */
#define SERVER_LOOK_MS 100    /* how often it is looked which servers there are */
#define OTHER_LOOK_MS 500     /* the same where none was listed: a person waits for the word, and nothing else does */
#define SERVER_CONNECT_MS 50 /* on loopback a connection is there at once, unless the server takes none */

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
  STEP_DOOR = 25,
};

struct place {
  uint8_t kind; /* 'm' or 'p' */
  uint8_t flags;
  const char *path;
  uint32_t index; /* among masks, or among pins */
  uint64_t device, inode;
  uint8_t reported, has_face, face_flags;
  const uint8_t *face;
  uint32_t face_length;
};

static struct {
  char **argv, **envp;
  size_t argc, envc;
  const char *cwd;
  struct place *places, *bound;
  size_t place_count, mask_count, bound_count;
  struct { uint8_t flags; const char *path; } readonly[8];
  size_t readonly_count;
  struct { uint32_t which; uint64_t limit; } limits[16];
  size_t limit_count;
  struct sock_fprog filter;
  uint32_t uid, gid;
  uint16_t rows, cols, port;
  uint16_t servers[MAX_SERVERS];
  size_t server_count;
  int any_server;
  struct { uint32_t address; uint16_t port; } listeners[MAX_LISTENERS];
  size_t listener_count;
  uint32_t milliseconds;
  uint16_t refused_port;
  int has_names;
  uint8_t terminal_fds;
  uint32_t process_numbers, memory_share;
  int has_ids, has_terminal, has_listener, has_gate;
} orders;

static int control = -1;
static int exec_report = -1; /* in the child: where a failure before exec is told */

static void tell(uint32_t type, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t frame[4] = {type, a, b, c};
  size_t done = 0;
  while (done < sizeof frame) {
    ssize_t n = send(control, (char *)frame + done, sizeof frame - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(FAULT_STATUS); /* nobody is left to answer to */
    done += (size_t)n;
  }
}

/* Two threads speak: a message is one send, and the socket keeps those apart. */
void door_tell(uint32_t type, uint32_t a, uint32_t b, uint32_t c) { tell(type, a, b, c); }

/* One send, so that nothing comes in between. */
static void tell_text(const uint32_t head[4], const char *text, size_t length) {
  static uint8_t frame[16 + PATH_MAX + 16];
  memset(frame, 0, sizeof frame);
  memcpy(frame, head, 16);
  memcpy(frame + 16, text, length);
  size_t whole = 16 + (length + 15) / 16 * 16;
  for (size_t done = 0; done < whole;) {
    ssize_t n = send(control, frame + done, whole - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(FAULT_STATUS);
    done += (size_t)n;
  }
}

void names_tell(uint32_t kind, const char *name, uint16_t port) {
  size_t length = strlen(name);
  if (length > 255) return;
  uint32_t head[4] = {'A', kind, (uint32_t)length, port};
  tell_text(head, name, length);
}

void learn_send(uint32_t kind, const char *path, uint32_t count) {
  size_t length = strlen(path);
  if (length >= PATH_MAX) return;
  uint32_t head[4] = {'B', kind, (uint32_t)length, count};
  tell_text(head, path, length);
}

static _Noreturn void fail_at(enum step step, uint32_t index) {
  uint32_t failure[3] = {step, (uint32_t)errno, index};
  if (exec_report >= 0) {
    ssize_t n = write(exec_report, failure, sizeof failure);
    (void)n;
  } else {
    tell('F', failure[0], failure[1], failure[2]);
  }
  _exit(FAULT_STATUS);
}

static _Noreturn void fail(enum step step) { fail_at(step, 0); }

static _Noreturn void bad_orders(uint32_t offset) {
  errno = EINVAL;
  fail_at(STEP_ORDERS, offset);
}

static void read_exactly(int fd, void *into, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = read(fd, (char *)into + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EPIPE;
    if (n <= 0) fail(STEP_ORDERS);
    done += (size_t)n;
  }
}

static uint32_t u32_at(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t u64_at(const uint8_t *p) { return (uint64_t)u32_at(p) | (uint64_t)u32_at(p + 4) << 32; }

static uint16_t u16_at(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }

static char *text_at(uint8_t *p, uint32_t length, uint32_t offset) {
  if (length < 2 || memchr(p, 0, length) != p + length - 1) bad_orders(offset);
  return (char *)p;
}

static char *path_at(uint8_t *p, uint32_t length, uint32_t offset) {
  char *text = text_at(p, length, offset);
  if (text[0] != '/') bad_orders(offset);
  return text;
}

static void *allocate(size_t count, size_t size) {
  void *p = calloc(count, size);
  if (!p) fail(STEP_ORDERS);
  return p;
}

/* The orders that are about the door; 0 for one that is none of them. */
static int take_door_record(uint8_t type, uint8_t *p, uint32_t length, uint32_t at) {
  int bad = 0;
  switch (type) {
  case 'o':
    if (length < 3) bad_orders(at);
    bad = door_take_place(p[0], path_at(p + 1, length - 1, at));
    break;
  case 'L':
    if (length < 2 || p[length - 1]) bad_orders(at);
    for (uint8_t *end = p + length; p < end && !bad;) {
      char *text = (char *)p;
      p += strlen(text) + 1;
      bad = text[0] != '/' || learn_take(text);
    }
    break;
  case 'f':
  case 'k':
    if (length < 3 || p[length - 1]) bad_orders(at);
    for (uint8_t *end = p + length; p < end && !bad;) {
      char *text = (char *)p;
      p += strlen(text) + 1; /* before the text is taken apart */
      bad = type == 'f' ? door_take_rule((uint8_t)text[0], text + 1) : door_take_key(text);
    }
    break;
  case 'u':
    if (length < 19) bad_orders(at);
    bad = door_take_keep(u64_at(p), u64_at(p + 8), p[16], path_at(p + 17, length - 17, at));
    break;
  default: return 0;
  }
  if (bad) bad_orders(at);
  return 1;
}

static void take_record(uint8_t type, uint8_t *p, uint32_t length, uint32_t at) {
  switch (type) {
  case 'a': orders.argv[orders.argc++] = (length == 1 && p[0] == 0) ? (char *)p : text_at(p, length, at); return;
  case 'e': orders.envp[orders.envc++] = text_at(p, length, at); return;
  case 'c':
    if (orders.cwd) bad_orders(at);
    orders.cwd = path_at(p, length, at);
    return;
  case 'm':
  case 'p': {
    uint32_t head = length > 0 && type == 'm' && (p[0] & 4) ? 17 : 1;
    if (length < head + 2 || p[0] > (type == 'm' ? 7 : 1)) bad_orders(at);
    struct place *place = &orders.places[orders.place_count];
    place->kind = type;
    place->flags = p[0];
    if (head == 17) {
      place->device = u64_at(p + 1);
      place->inode = u64_at(p + 9);
    }
    place->path = path_at(p + head, length - head, at);
    place->index = (uint32_t)(type == 'm' ? orders.mask_count : orders.place_count - orders.mask_count);
    orders.place_count++;
    if (type == 'm') orders.mask_count++;
    return;
  }
  case 'j': {
    struct place *place = orders.place_count ? &orders.places[orders.place_count - 1] : NULL;
    if (!place || place->kind != 'm' || place->has_face || length < 1 || p[0] > 3) bad_orders(at);
    place->has_face = 1;
    place->face_flags = p[0];
    place->face = p + 1;
    place->face_length = length - 1;
    return;
  }
  case 'b': {
    if (length < 18) bad_orders(at);
    struct place *place = &orders.bound[orders.bound_count++];
    place->device = u64_at(p);
    place->inode = u64_at(p + 8);
    place->path = path_at(p + 16, length - 16, at);
    return;
  }
  case 'r':
    if (length < 3 || p[0] > 1 || orders.readonly_count == 8) bad_orders(at);
    orders.readonly[orders.readonly_count].flags = p[0];
    orders.readonly[orders.readonly_count++].path = path_at(p + 1, length - 1, at);
    return;
  case 'l':
    if (length != 12 || orders.limit_count == 16 || u32_at(p) >= RLIM_NLIMITS) bad_orders(at);
    orders.limits[orders.limit_count].which = u32_at(p);
    orders.limits[orders.limit_count++].limit = u64_at(p + 4);
    return;
  case 's':
    if (orders.filter.filter || length == 0 || length % sizeof(struct sock_filter) || length / sizeof(struct sock_filter) > BPF_MAXINSNS)
      bad_orders(at);
    orders.filter.len = (unsigned short)(length / sizeof(struct sock_filter));
    orders.filter.filter = allocate(1, length); /* aligned, unlike the payload */
    memcpy(orders.filter.filter, p, length);
    return;
  case 'i':
    if (length != 8 || orders.has_ids) bad_orders(at);
    orders.uid = u32_at(p);
    orders.gid = u32_at(p + 4);
    orders.has_ids = 1;
    return;
  case 't':
    if (length != 5 || orders.has_terminal || p[0] == 0 || p[0] > 7) bad_orders(at);
    orders.terminal_fds = p[0];
    orders.rows = u16_at(p + 1);
    orders.cols = u16_at(p + 3);
    orders.has_terminal = 1;
    return;
  case 'q':
    if (length != 4 || orders.process_numbers || u32_at(p) <= 300) bad_orders(at);
    orders.process_numbers = u32_at(p);
    return;
  case 'v':
    if (length != 4 || orders.memory_share || u32_at(p) == 0 || u32_at(p) > 1000) bad_orders(at);
    orders.memory_share = u32_at(p);
    return;
  case 'g':
    if (length != 0 || orders.has_gate) bad_orders(at);
    orders.has_gate = 1;
    return;
  case 'n':
    if (length != 2 || orders.has_listener || u16_at(p) < 1024) bad_orders(at);
    orders.port = u16_at(p);
    orders.has_listener = 1;
    return;
  case 'w':
    if (length != 4 || orders.milliseconds || u32_at(p) == 0) bad_orders(at);
    orders.milliseconds = u32_at(p);
    return;
  case 'x':
    if (length != 2 || orders.has_names || (u16_at(p) && u16_at(p) < 1024)) bad_orders(at);
    orders.refused_port = u16_at(p);
    orders.has_names = 1;
    return;
  case 'h':
    if (length < 6 || names_add(u32_at(p), text_at(p + 4, length - 4, at))) bad_orders(at);
    return;
  case 'y':
    if (length != 6 || orders.listener_count == MAX_LISTENERS || u16_at(p + 4) == 0) bad_orders(at);
    if (u32_at(p) && u32_at(p) >> 24 != 127) bad_orders(at);
    orders.listeners[orders.listener_count].address = u32_at(p);
    orders.listeners[orders.listener_count++].port = u16_at(p + 4);
    return;
  case 'd':
    if (orders.server_count || length == 0 || length % 2 || length / 2 > MAX_SERVERS) bad_orders(at);
    for (uint32_t i = 0; i < length; i += 2) {
      if (u16_at(p + i) == 0) bad_orders(at);
      orders.servers[orders.server_count++] = u16_at(p + i);
    }
    return;
  case 'U':
    if (length < 2 || local_sockets_add(text_at(p, length, at))) bad_orders(at);
    return;
  case 'P':
    if (length || orders.any_server) bad_orders(at);
    orders.any_server = 1;
    return;
  default:
    if (!take_door_record(type, p, length, at)) bad_orders(at);
  }
}

static void read_orders(void) {
  uint8_t header[12];
  read_exactly(control, header, sizeof header);
  uint32_t size = u32_at(header + 8);
  if (memcmp(header, MAGIC, 8) || size < 5 || size > MAX_ORDERS) bad_orders(0);
  uint8_t *body = allocate(1, size);
  read_exactly(control, body, size);

  /* Bounds first, in a pass of its own, so that the arrays can be sized and no later read can leave the buffer. */
  size_t args = 0, vars = 0, places = 0, bound = 0;
  uint32_t at = 0;
  for (;;) {
    if (size - at < 5) bad_orders(at);
    uint32_t length = u32_at(body + at + 1);
    if (length > size - at - 5) bad_orders(at);
    args += body[at] == 'a';
    vars += body[at] == 'e';
    places += body[at] == 'm' || body[at] == 'p';
    bound += body[at] == 'b';
    if (body[at] == 'z') {
      if (length != 0 || at + 5 != size) bad_orders(at);
      break;
    }
    at += 5 + length;
  }
  orders.argv = allocate(args + 1, sizeof(char *));
  orders.envp = allocate(vars + 1, sizeof(char *));
  orders.places = allocate(places + 1, sizeof(struct place));
  orders.bound = allocate(bound + 1, sizeof(struct place));
  for (at = 0; body[at] != 'z'; at += 5 + u32_at(body + at + 1))
    take_record(body[at], body + at + 5, u32_at(body + at + 1), at);
  /* A sandbox without a filter, without ids or without a place to stand was not meant. */
  if (!orders.argc || !orders.argv[0][0] || !orders.cwd || !orders.filter.filter || !orders.has_ids) bad_orders(size);
  if ((orders.listener_count || local_sockets_count()) && !orders.has_listener) bad_orders(size);
  if (orders.has_listener && orders.refused_port) bad_orders(size);
  /* A listener of ours is no server of the command: nobody outside may come in by it. */
  for (size_t i = 0; i < orders.server_count; i++) {
    if (orders.has_listener && orders.servers[i] == orders.port) bad_orders(size);
    if (orders.refused_port && orders.servers[i] == orders.refused_port) bad_orders(size);
    for (size_t j = 0; j < orders.listener_count; j++)
      if (orders.servers[i] == orders.listeners[j].port) bad_orders(size);
  }
}

static void make_readonly(const char *path, int recursive) {
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
  /* mount_setattr adds one flag and keeps the others; a bind remount would have to repeat flags that are locked. */
  if (syscall(SYS_mount_setattr, AT_FDCWD, path, recursive ? AT_RECURSIVE : 0, &attr, sizeof attr)) fail(STEP_READONLY);
}

/* Orders name canonical paths: a symlink on the way means that the tree was changed after it was looked at. */
static int open_place(const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/*
 * True for a place behind a directory of somebody else that this user cannot pass: neither can the command, which has
 * the same user and no more rights. A closed directory of the user's own does not count: the command could open it.
 */
static int is_out_of_reach(const char *path) {
  char at[4096];
  struct stat about;
  size_t length = strlen(path);
  if (errno != EACCES || length >= sizeof at) return 0;
  memcpy(at, path, length + 1);
  while (lstat(at, &about) && errno == EACCES) {
    char *slash = strrchr(at, '/');
    if (slash == at) return 0;
    *slash = 0;
  }
  int closed_by_other = lstat(at, &about) == 0 && about.st_uid != geteuid();
  errno = EACCES;
  return closed_by_other;
}

/* bubblewrap binds by name and follows links: a name that was moved in the meantime shows something else, or shows it no longer. */
static void check_bound(void) {
  for (size_t i = 0; i < orders.bound_count; i++) {
    const struct place *p = &orders.bound[i];
    struct stat found;
    if (lstat(p->path, &found)) {
      if (is_out_of_reach(p->path)) continue;
      fail_at(STEP_PLACE, (uint32_t)i);
    }
    if (found.st_dev == p->device && found.st_ino == p->inode) continue;
    errno = ESTALE;
    fail_at(STEP_PLACE, (uint32_t)i);
  }
}

static void attach(int tree, int place, enum step step, uint32_t index) {
  if (syscall(SYS_move_mount, tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH)) fail_at(step, index);
  close(tree);
  close(place);
}

static void pin(const struct place *p) {
  /* Every change goes through the door, which keeps in place what is only to stay there: mounts would part what is one. */
  if (door_is_on() && !(p->flags & 1)) return;
  int place = open_place(p->path);
  if (place < 0 && is_out_of_reach(p->path)) return;
  if (place < 0) fail_at(STEP_PIN, p->index);
  int tree = (int)syscall(SYS_open_tree, place, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
  if (tree < 0) fail_at(STEP_PIN, p->index);
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
  if ((p->flags & 1) && syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr))
    fail_at(STEP_PIN, p->index);
  attach(tree, place, STEP_PIN, p->index);
}

/*
 * Every mask is an empty file or directory of its own in a private tmpfs. One watch on the tmpfs's root sees an open
 * of any of them, with its name, because an inotify event goes to the directory that holds the opened name. They can
 * be opened (0444): an open that fails makes no event.
 */
static dev_t stage_device;

static int mask_all(void) {
  if (orders.place_count == 0) return -1;
  int *targets = allocate(orders.place_count, sizeof(int));
  int stage = -1, watch = -1, watched = 0;
  int own = -1;
  if (orders.mask_count) {
    own = (int)syscall(SYS_open_tree, AT_FDCWD, STAGE, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (own < 0) fail(STEP_STAGE);
    if (mount("cordon", STAGE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755,size=0,nr_inodes=0")) fail(STEP_STAGE);
    stage = open(STAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat about;
    if (stage < 0 || fstat(stage, &about)) fail(STEP_STAGE);
    stage_device = about.st_dev;
    for (size_t i = 0; i < orders.place_count; i++) {
      struct place *p = &orders.places[i];
      targets[i] = -1;
      if (p->kind != 'm') continue;
      struct stat target;
      char name[16];
      /* The plan keeps masks out of masks, and pins keep names in place, so looking ahead of the binds is sound. */
      if (lstat(p->path, &target)) {
        int may_be_missing = (p->flags & 1) && errno == ENOENT;
        if (!may_be_missing && !is_out_of_reach(p->path)) fail_at(STEP_MASK, p->index);
        targets[i] = -2;
        continue;
      }
      watched |= !(p->flags & 2);
      snprintf(name, sizeof name, "%c%u", p->flags & 2 ? 'q' : 'm', p->index);
      if (S_ISDIR(target.st_mode)) {
        if (mkdirat(stage, name, 0555)) fail(STEP_STAGE);
      } else {
        /* What git would take for a change has its own face, or none that can be opened: an empty one could be committed. */
        mode_t mode = p->face_flags & 2 ? 0 : p->face_flags & 1 ? 0555 : 0444;
        int file = openat(stage, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
        if (file < 0) fail(STEP_STAGE);
        for (uint32_t done = 0; done < p->face_length;) {
          ssize_t n = write(file, p->face + done, p->face_length - done);
          if (n <= 0) fail(STEP_STAGE);
          done += (uint32_t)n;
        }
        close(file);
      }
    }
    /* Without a watch the masks hold all the same; the parent reports it. */
    if (watched) watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch >= 0 && inotify_add_watch(watch, STAGE, IN_OPEN) < 0) {
      close(watch);
      watch = -1;
    }
    /* The superblock itself turns read-only, so that every bind of it is, at one call instead of thousands. */
    if (mount(NULL, STAGE, NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) fail(STEP_STAGE);
  }
  for (size_t i = 0; i < orders.place_count; i++) {
    struct place *p = &orders.places[i];
    if (p->kind == 'p') {
      pin(p);
      continue;
    }
    if (targets[i] == -2) continue;
    char name[16];
    int place = open_place(p->path);
    if (place < 0) fail_at(STEP_MASK, p->index);
    /* Another process may swap directories while this one starts, and a mask on a decoy leaves the secret open. */
    struct stat found;
    if ((p->flags & 4) && (fstat(place, &found) || found.st_dev != p->device || found.st_ino != p->inode)) {
      errno = ESTALE;
      fail_at(STEP_MASK, p->index);
    }
    snprintf(name, sizeof name, "%c%u", p->flags & 2 ? 'q' : 'm', p->index);
    int tree = (int)syscall(SYS_open_tree, stage, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0) fail_at(STEP_MASK, p->index);
    attach(tree, place, STEP_MASK, p->index);
  }
  if (stage >= 0) {
    /* Covered by the sandbox's own, not unmounted: an unmount waits for the kernel's readers, half a millisecond. */
    int over = open(STAGE, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (over < 0) fail(STEP_STAGE);
    attach(own, over, STEP_STAGE, 0);
    close(stage);
  }
  free(targets);
  return watch;
}

static int joining = -1; /* until the cgroups are joined */
static int host = -1; /* the host's root, until the door is prepared */
static int ipc = -1; /* kept open only where servers inside are to be reached */

/* Node takes a socket from its IPC channel in this form, one line of JSON with the descriptor beside it. */
static int send_handle(const char *message, int handle) {
  union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(int))]; } rights;
  memset(&rights, 0, sizeof rights);
  struct iovec text = {.iov_base = (void *)(uintptr_t)message, .iov_len = strlen(message)};
  struct msghdr packet = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = rights.space, .msg_controllen = sizeof rights.space};
  rights.header.cmsg_level = SOL_SOCKET;
  rights.header.cmsg_type = SCM_RIGHTS;
  rights.header.cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(&rights.header), &handle, sizeof(int));
  return sendmsg(ipc, &packet, MSG_NOSIGNAL) == (ssize_t)text.iov_len;
}

/* Early, so that the parent gets ready for connections while the room is still being furnished. */
static void hand_over_listener(uint32_t bound, uint16_t port, const char *message) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(bound)};
  int one = 1;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one)) fail(STEP_LISTENER);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 512)) fail(STEP_LISTENER);
  if (!send_handle(message, listener)) fail(STEP_HANDOVER);
  close(listener); /* the parent holds it; nothing in here may accept its own connections */
}

static void hand_over_listeners(void) {
  char message[128];
  hand_over_listener(INADDR_LOOPBACK, orders.port, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Server\",\"msg\":\"listener\"}\n");
  for (size_t i = 0; i < orders.listener_count; i++) {
    snprintf(message, sizeof message, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Server\",\"msg\":\"%u\"}\n", orders.listeners[i].port);
    hand_over_listener(orders.listeners[i].address, orders.listeners[i].port, message);
  }
}

/* Nothing runs before the parent has said that it has each of the listeners. */
static void await_handover(void) {
  static const char ack[] = "{\"cmd\":\"NODE_HANDLE_ACK\"}\n";
  char answer[sizeof ack - 1];
  size_t got = 0;
  while (got < sizeof answer) {
    ssize_t n = read(ipc, answer + got, sizeof answer - got);
    if (n < 0 && (errno == EINTR)) continue;
    if (n < 0 && errno == EAGAIN) {
      struct pollfd wait = {.fd = ipc, .events = POLLIN};
      poll(&wait, 1, -1);
      continue;
    }
    if (n == 0) errno = EPIPE;
    if (n <= 0) fail(STEP_HANDOVER);
    got += (size_t)n;
  }
  if (memcmp(answer, ack, sizeof answer)) {
    errno = EPROTO;
    fail(STEP_HANDOVER);
  }
}

static void write_at(int dir, const char *name, const char *text, enum step step) {
  int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) fail(step);
  close(fd);
}

/* Only where the number is the pid namespace's own: before Linux 6.14 root would change the host's. */
static void limit_process_numbers(int proc) {
  struct utsname kernel;
  int major = 0, minor = 0;
  char text[16];
  if (uname(&kernel)) fail(STEP_LIMITS);
  if (sscanf(kernel.release, "%d.%d", &major, &minor) != 2 || major < 6 || (major == 6 && minor < 14)) {
    errno = ENOTSUP;
    fail(STEP_LIMITS);
  }
  snprintf(text, sizeof text, "%u", orders.process_numbers);
  write_at(proc, "sys/kernel/pid_max", text, STEP_LIMITS);
}

/*
 * The kernel counts watches for all of a person's programs together: half of them stay for their editor. Kernels without the
 * file of the namespace leave nothing to write.
 */
static void limit_watches(int proc, const char *of_machine, const char *of_namespace) {
  char text[32];
  int from = openat(proc, of_machine, O_RDONLY | O_CLOEXEC), to = openat(proc, of_namespace, O_WRONLY | O_CLOEXEC);
  ssize_t n = from < 0 || to < 0 ? -1 : read(from, text, sizeof text - 1);
  if (n > 0) {
    text[n] = 0;
    n = snprintf(text, sizeof text, "%lu", strtoul(text, NULL, 10) / 2);
    if (write(to, text, (size_t)n) != n) fail(STEP_LIMITS);
  }
  if (from >= 0) close(from);
  if (to >= 0) close(to);
}

/*
 * The second user namespace. In it the command has its own uid again, and none of the rights over the mounts, which
 * belong to the first: a mask cannot be unmounted even by a process that regained capabilities.
 */
static void leave_mount_owner(int proc) {
  char map[32];
  /* One more namespace may be made below this one: ours. The limit is on the owner, so nothing further down lifts it. */
  write_at(proc, "sys/user/max_user_namespaces", "1", STEP_NESTING);
  if (unshare(CLONE_NEWUSER)) fail(STEP_USERNS);
  snprintf(map, sizeof map, "%u 0 1", orders.uid);
  write_at(proc, "self/uid_map", map, STEP_IDS);
  snprintf(map, sizeof map, "%u 0 1", orders.gid);
  write_at(proc, "self/gid_map", map, STEP_IDS);
  write_at(proc, "sys/user/max_user_namespaces", "0", STEP_NESTING);
  limit_watches(proc, "sys/fs/inotify/max_user_watches", "sys/user/max_inotify_watches");
  limit_watches(proc, "sys/fs/inotify/max_user_instances", "sys/user/max_inotify_instances");
  if (getuid() != orders.uid || geteuid() != orders.uid || getgid() != orders.gid) {
    errno = EPERM;
    fail(STEP_IDS);
  }
}

/* With the door, this process reads the memory of the command's, of those too that do not let themselves be traced. */
static void keep_capability(int cap, int keeps) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct wanted[2], now[2];
  memset(wanted, 0, sizeof wanted);
  if (keeps) wanted[CAP_TO_INDEX(cap)].permitted = wanted[CAP_TO_INDEX(cap)].effective = CAP_TO_MASK(cap);
  if (syscall(SYS_capset, &header, wanted) || syscall(SYS_capget, &header, now)) fail(STEP_CAPABILITIES);
  if (memcmp(wanted, now, sizeof wanted)) {
    errno = EPERM;
    fail(STEP_CAPABILITIES);
  }
}

static void drop_capabilities(void) {
  /* uid 0 regains the bounding set at each exec, so the set is emptied and the root rule switched off and locked. */
  unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
                       SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) || prctl(PR_SET_SECUREBITS, bits, 0, 0, 0)) fail(STEP_CAPABILITIES);
  for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0)) fail(STEP_CAPABILITIES);
  keep_capability(CAP_SYS_PTRACE, door_is_on());
}

/* The filter keeps the core limit from being changed, so it comes before the filter; the others bind the command alone. */
static void set_limits(int core) {
  for (size_t i = 0; i < orders.limit_count; i++) {
    struct rlimit now, wanted = {orders.limits[i].limit, orders.limits[i].limit};
    if ((orders.limits[i].which == RLIMIT_CORE) != core) continue;
    if (getrlimit((int)orders.limits[i].which, &now)) fail(STEP_LIMITS);
    if (wanted.rlim_max > now.rlim_max) wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
    /* Programs that use select() rely on the low soft limit, and those that need more raise it themselves. */
    if (orders.limits[i].which == RLIMIT_NOFILE && now.rlim_cur < wanted.rlim_cur) wanted.rlim_cur = now.rlim_cur;
    /* At the soft limit of processor time comes a signal of its own, which tells what ended the process; at the other one, the end. */
    if (orders.limits[i].which == RLIMIT_CPU && wanted.rlim_max < now.rlim_max) wanted.rlim_max++;
    if (setrlimit((int)orders.limits[i].which, &wanted)) fail(STEP_LIMITS);
  }
}

static _Noreturn void run_command(int terminal) {
  sigset_t none;
  /* With a terminal this process group is the foreground one of the init's session, and not orphaned: only so does Ctrl-Z stop it. */
  if (terminal >= 0 && (setpgid(0, 0) || tcsetpgrp(terminal, getpid()))) fail(STEP_TERMINAL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  for (int signal_number = 1; signal_number < NSIG; signal_number++) signal(signal_number, SIG_DFL);
  /* A session of its own: no controlling terminal from outside, so /dev/tty cannot reach the caller's. */
  if (terminal < 0 && setsid() < 0) fail(STEP_TERMINAL);
  if (terminal >= 0) {
    for (int fd = 0; fd < 3; fd++)
      if ((orders.terminal_fds >> fd & 1) && dup2(terminal, fd) < 0) fail(STEP_TERMINAL);
  }
  if (chdir(orders.cwd)) fail(STEP_DIRECTORY);
  set_limits(0);
  environ = orders.envp;
  /* Every descriptor here is close-on-exec already; this holds if one is ever forgotten. */
  if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC)) fail(STEP_EXEC);
  if (door_is_on()) {
    keep_capability(CAP_SYS_PTRACE, 0);
    if (door_wall() || door_listen(&orders.filter, exec_report)) fail(STEP_DOOR);
  }
  execvp(orders.argv[0], orders.argv);
  fail(STEP_EXEC);
}

static pid_t command_pid;
static int status_known, final_status;

static void reap(void) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != command_pid) continue;
    if (WIFSTOPPED(status)) {
      tell('S', (uint32_t)WSTOPSIG(status), 0, 0);
      continue;
    }
    status_known = 1;
    final_status = status;
  }
}

static struct place **masks; /* by index */

static void index_masks(void) {
  masks = allocate(orders.mask_count + 1, sizeof *masks);
  for (size_t i = 0; i < orders.place_count; i++)
    if (orders.places[i].kind == 'm') masks[orders.places[i].index] = &orders.places[i];
}

static int has_watched_masks(void) {
  for (size_t i = 0; i < orders.mask_count; i++)
    if (!(masks[i]->flags & 2)) return 1;
  return 0;
}

static void report_opens(int watch) {
  char buffer[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
  ssize_t n;
  while ((n = read(watch, buffer, sizeof buffer)) > 0) {
    for (char *at = buffer; at < buffer + n;) {
      struct inotify_event *event = (struct inotify_event *)at;
      at += sizeof *event + event->len;
      if (event->len == 0 || event->name[0] != 'm') continue;
      unsigned long index = strtoul(event->name + 1, NULL, 10);
      if (index >= orders.mask_count || (masks[index]->reported & 1)) continue;
      masks[index]->reported |= 1; /* once each: a search of the whole tree opens them over and over */
      tell('V', (uint32_t)index, 0, 0);
    }
  }
}

/* Nothing in here can change a mount, so a change means that the host replaced a masked file and its mask went with it. */
static void report_lifted(void) {
  for (size_t i = 0; i < orders.place_count; i++) {
    struct place *p = &orders.places[i];
    struct stat now;
    /* Gone, or moved by the command together with its mask, shows nothing; something else in its place does. */
    if (p->kind != 'm' || (p->flags & 3) || (p->reported & 2) || lstat(p->path, &now) || now.st_dev == stage_device) continue;
    p->reported |= 2;
    tell('V', p->index, 1, 0);
  }
}

static int pending_signal;

/* The parent takes a last look while the masks are in place and the command is not: what it saw then holds for it. */
static void wait_at_gate(void) {
  uint8_t message[6];
  tell('G', 0, 0, 0);
  for (;;) {
    read_exactly(control, message, sizeof message);
    if (message[0] == 'G') return;
    if (message[0] == 'K') pending_signal = message[1];
    if (message[0] == 'Q') _exit(128 + SIGKILL);
    if (message[0] != 'K' && message[0] != 'W') {
      errno = EPROTO;
      fail(STEP_GATE);
    }
  }
}

static uint8_t serving[MAX_SERVERS];

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void report_servers(void) {
  uint8_t found[MAX_SERVERS] = {0};
  listening_find(orders.servers, orders.server_count, found);
  for (size_t i = 0; i < orders.server_count; i++) {
    if (found[i] == serving[i]) continue;
    serving[i] = found[i];
    tell('L', orders.servers[i], found[i], 0);
  }
}

/* Ports that were not listed, and on which the command listened. */
static struct { uint16_t port; uint8_t on; } others[MAX_SERVERS];
static size_t other_count;

/* A listener of ours is no server of the command. */
static int is_own_port(uint16_t port) {
  if (port == NAMES_PORT || (orders.has_listener && port == orders.port) || (orders.refused_port && port == orders.refused_port)) return 1;
  for (size_t i = 0; i < orders.listener_count; i++)
    if (port == orders.listeners[i].port) return 1;
  return 0;
}

static int is_in(const uint16_t *ports, size_t count, uint16_t port) {
  for (size_t i = 0; i < count; i++)
    if (ports[i] == port) return 1;
  return 0;
}

static void report_others(void) {
  uint16_t now[MAX_SERVERS];
  size_t count = listening_all(now, MAX_SERVERS);
  for (size_t i = 0; i < other_count; i++) {
    int on = is_in(now, count, others[i].port);
    if (on == others[i].on) continue;
    others[i].on = (uint8_t)on;
    tell('L', others[i].port, (uint32_t)on, 1);
  }
  for (size_t i = 0; i < count && other_count < MAX_SERVERS; i++) {
    size_t known = 0;
    while (known < other_count && others[known].port != now[i]) known++;
    if (known < other_count || is_own_port(now[i]) || is_in(orders.servers, orders.server_count, now[i])) continue;
    others[other_count].port = now[i];
    others[other_count++].on = 1;
    tell('L', now[i], 1, 1);
  }
}

/* At most every so often, however busy the loop is. */
static void look_for_servers(void) {
  static uint64_t next, next_others;
  uint64_t ms = now_ms();
  if (orders.server_count && ms >= next) {
    next = ms + SERVER_LOOK_MS;
    report_servers();
  }
  if (orders.any_server && ms >= next_others) {
    next_others = ms + OTHER_LOOK_MS;
    report_others();
  }
}

/* A connection to this namespace's own loopback, and to nothing else; -1 when nobody takes it. */
static int connect_inside(uint16_t port) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  for (int family = 0; family < 2; family++) {
    int fd = socket(family ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) continue;
    int error = 0;
    socklen_t length = sizeof error;
    if (connect(fd, family ? (struct sockaddr *)&six : (struct sockaddr *)&four, family ? sizeof six : sizeof four)) {
      struct pollfd wait = {.fd = fd, .events = POLLOUT};
      error = errno;
      if (error == EINPROGRESS && (poll(&wait, 1, SERVER_CONNECT_MS) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length)))
        error = ETIMEDOUT;
    }
    if (error == 0) return fd;
    close(fd);
    errno = error;
  }
  return -1;
}

/* Returns 0 for a port that was neither ordered nor told of. */
static int answer_connect(uint16_t port, uint16_t id) {
  char message[64];
  size_t i = 0;
  while (i < other_count && others[i].port != port) i++;
  if (i == other_count && !is_in(orders.servers, orders.server_count, port)) return 0;
  int fd = connect_inside(port);
  snprintf(message, sizeof message, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":%u}\n", id);
  if (fd < 0 || !send_handle(message, fd)) tell('N', id, (uint32_t)errno, 0);
  if (fd >= 0) close(fd);
  return 1;
}

/* A number below zero: those of 'C' are not. Where it cannot be handed over, the peer sees the connection closed. */
void local_sockets_hand(unsigned number, int fd) {
  char message[64];
  snprintf(message, sizeof message, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":-%u}\n", number + 1);
  if (ipc >= 0) send_handle(message, fd);
}

/* Node says for each handle that it has it; there is nothing to do about that. */
static void drain_acks(void) {
  char ignored[4096];
  ssize_t n;
  while ((n = recv(ipc, ignored, sizeof ignored, MSG_DONTWAIT)) > 0) continue;
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  close(ipc);
  ipc = -1;
}

/* Returns 0 when the parent is gone or asks for the end. */
static int take_message(int master) {
  uint8_t message[6];
  ssize_t n = recv(control, message, sizeof message, MSG_WAITALL);
  if (n < 0 && errno == EINTR) return 1;
  if (n != (ssize_t)sizeof message) return 0;
  if (message[0] == 'K' && message[1] > 0 && message[1] < NSIG) {
    kill(-command_pid, message[1]);
    return 1;
  }
  if (message[0] == 'W' && master >= 0) {
    struct winsize size = {.ws_row = u16_at(message + 2), .ws_col = u16_at(message + 4)};
    ioctl(master, TIOCSWINSZ, &size);
    return 1;
  }
  if (message[0] == 'C') return answer_connect(u16_at(message + 2), u16_at(message + 4));
  return 0; /* Q, and whatever is not understood */
}

struct relay {
  char bytes[16384];
  size_t from, to;
};

static int is_blocked(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/* Returns 0 once the writing side is gone. fds 0 and 1 are sockets in terminal mode (checked), so MSG_DONTWAIT holds. */
static int flush_relay(struct relay *r, int fd, int is_socket) {
  while (r->from < r->to) {
    ssize_t n = is_socket ? send(fd, r->bytes + r->from, r->to - r->from, MSG_DONTWAIT | MSG_NOSIGNAL)
                          : write(fd, r->bytes + r->from, r->to - r->from);
    if (n < 0) return is_blocked();
    r->from += (size_t)n;
  }
  r->from = r->to = 0;
  return 1;
}

/* A stream of the caller's that the command has only by a pipe. */
struct pump {
  int from, to, from_socket, to_socket;
  struct relay data;
};

static struct pump pumps[3] = {{.from = -1}, {.from = -1}, {.from = -1}};
static int input_file = -1, input_pipe = -1; /* to give back what of a file was passed on and never read */
static off_t input_start;

static void stop_pump(struct pump *p) {
  close(p->from);
  close(p->to);
  p->from = -1;
}

/* Returns 0 when it has to wait, or is done. */
static int run_pump(struct pump *p) {
  if (p->from < 0) return 0;
  if (p->data.to == 0) {
    ssize_t n = p->from_socket ? recv(p->from, p->data.bytes, sizeof p->data.bytes, MSG_DONTWAIT)
                               : read(p->from, p->data.bytes, sizeof p->data.bytes);
    if (n < 0 && is_blocked()) return 0;
    if (n <= 0) {
      stop_pump(p);
      return 0;
    }
    p->data.to = (size_t)n;
  }
  if (!flush_relay(&p->data, p->to, p->to_socket)) stop_pump(p);
  return p->from >= 0 && p->data.to == 0;
}

static int is_connected_unix(int fd, int *internet) {
  int domain, type;
  socklen_t length = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length)) return 0;
  length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length)) return 0;
  *internet = (domain == AF_INET || domain == AF_INET6) && type == SOCK_STREAM;
  return domain == AF_UNIX && (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

/*
 * A descriptor is more than a stream. By /proc/self/fd a file that was given for reading opens for writing, one that was given for
 * appending opens for reading, and it has the host's mounts; a directory leads to all below it; an internet socket can be
 * connected anew, in the host's network. Such a file or socket stays with this process, which passes its bytes on.
 */
static void hand_in_streams(void) {
  for (int fd = 0; fd < 3; fd++) {
    struct stat about;
    int internet = 0, ends[2];
    if (orders.has_terminal && (orders.terminal_fds >> fd & 1)) continue;
    if (fstat(fd, &about)) fail_at(STEP_STREAM, (uint32_t)fd);
    if (S_ISFIFO(about.st_mode)) continue;
    if (S_ISSOCK(about.st_mode) && is_connected_unix(fd, &internet)) continue;
    /* null, zero, full, random and urandom */
    if (S_ISCHR(about.st_mode) && major(about.st_rdev) == 1 && minor(about.st_rdev) < 10 && (0x3a8 >> minor(about.st_rdev) & 1)) continue;
    /* Nobody else can find it, or nothing is in it yet: there is nothing to read, nor to spoil. */
    if (S_ISREG(about.st_mode) && (about.st_nlink == 0 || (fd > 0 && about.st_size == 0))) continue;
    struct stat beside;
    if (fd == 2 && pumps[1].from >= 0 && !fstat(pumps[1].to, &beside) && beside.st_dev == about.st_dev && beside.st_ino == about.st_ino) {
      if (dup2(1, 2) < 0) fail_at(STEP_STREAM, 2); /* one pipe, so that lines stay in their order */
      continue;
    }
    if (!S_ISREG(about.st_mode) && !internet) {
      errno = S_ISDIR(about.st_mode) ? EISDIR : ENODEV;
      fail_at(STEP_STREAM, (uint32_t)fd);
    }
    int kept = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (kept < 0 || pipe2(ends, O_CLOEXEC) || dup2(ends[fd > 0], fd) < 0) fail_at(STEP_STREAM, (uint32_t)fd);
    if (fd == 0 && S_ISREG(about.st_mode)) {
      input_pipe = ends[0];
      input_file = fcntl(kept, F_DUPFD_CLOEXEC, 3);
      input_start = lseek(kept, 0, SEEK_CUR);
      if (input_file < 0 || input_start < 0) fail_at(STEP_STREAM, 0);
    } else close(ends[fd > 0]);
    int own = ends[fd == 0];
    if (fcntl(own, F_SETFL, O_NONBLOCK)) fail_at(STEP_STREAM, (uint32_t)fd);
    pumps[fd].from = fd > 0 ? own : kept;
    pumps[fd].to = fd > 0 ? kept : own;
    pumps[fd].from_socket = internet && fd == 0;
    pumps[fd].to_socket = internet && fd > 0;
  }
}

/* Everybody who could write is dead: what is in the pipes is all there is. */
static void drain_pumps(void) {
  for (struct pump *p = pumps + 1; p < pumps + 3; p++)
    while (p->from >= 0) {
      struct pollfd wait[2] = {{.fd = p->data.to ? p->to : p->from, .events = p->data.to ? POLLOUT : POLLIN}, {.fd = control, .events = 0}};
      if (poll(wait, 2, 2000) <= 0 || (wait[1].revents & (POLLHUP | POLLERR))) return;
      run_pump(p);
    }
}

/* The caller reads on where the command stopped, as it would after a command of its own: `while read line; do …; done < file`. */
static void give_input_back(void) {
  int unread = 0;
  if (input_file < 0 || ioctl(input_pipe, FIONREAD, &unread)) return;
  off_t at = lseek(input_file, 0, SEEK_CUR) - unread - (off_t)(pumps[0].data.to - pumps[0].data.from);
  /* The command can write into the pipe as well. */
  lseek(input_file, at < input_start ? input_start : at, SEEK_SET);
}

static int other_side = -1; /* kept open while the command runs: a terminal without holders hangs up */

/* Nothing but this process may be left when the end is told: the parent goes on from there. */
static void kill_and_reap(int signals) {
  kill(-1, SIGKILL);
  for (int tries = 0; tries < 100; tries++) {
    struct pollfd wait = {.fd = signals, .events = POLLIN};
    struct signalfd_siginfo info;
    reap();
    if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD) return;
    poll(&wait, 1, 50); /* one that sleeps in the kernel cannot be hurried; the end of this process waits for it too */
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) continue;
  }
}

static _Noreturn void finish(int signals, int master, struct relay *out) {
  kill_and_reap(signals);
  door_shut();
  learn_tell();
  drain_pumps();
  give_input_back();
  if (master >= 0) {
    close(other_side);
    /* With every holder of the other side dead, the terminal reads to its end (EIO) and no output is lost. */
    for (;;) {
      struct pollfd wait[2] = {{.fd = out->to ? 1 : master, .events = out->to ? POLLOUT : POLLIN}, {.fd = control, .events = 0}};
      if (poll(wait, 2, 2000) <= 0 || (wait[1].revents & (POLLHUP | POLLERR))) break;
      if (out->to) {
        if (!flush_relay(out, 1, 1)) break;
        continue;
      }
      ssize_t n = read(master, out->bytes, sizeof out->bytes);
      if (n <= 0 && !(n < 0 && is_blocked())) break;
      if (n > 0) out->to = (size_t)n;
    }
    close(0);
    close(1);
  }
  int signalled = WIFSIGNALED(final_status);
  int code = signalled ? WTERMSIG(final_status) : WEXITSTATUS(final_status);
  tell('X', (uint32_t)signalled, (uint32_t)code, 0);
  _exit(signalled ? 128 + code : code);
}

static void relay_terminal(int master, struct relay *in, struct relay *out, int *in_open, int *out_open) {
  if (*in_open && in->to == 0) {
    ssize_t n = recv(0, in->bytes, sizeof in->bytes, MSG_DONTWAIT);
    if (n > 0) in->to = (size_t)n;
    if (n == 0) { /* the end of the input is the terminal's end-of-file character */
      in->bytes[0] = 4;
      in->to = 1;
    }
    if (n == 0 || (n < 0 && !is_blocked())) *in_open = 0;
  }
  if (in->to) flush_relay(in, master, 0);
  if (out->to == 0) {
    ssize_t n = read(master, out->bytes, sizeof out->bytes);
    if (n > 0) out->to = (size_t)n;
  }
  if (!*out_open) out->from = out->to = 0;
  if (out->to && !flush_relay(out, 1, 1)) {
    *out_open = 0;
    out->from = out->to = 0;
    kill(-command_pid, SIGHUP);
  }
}

static uint64_t deadline; /* kept here: the parent may be busy, and the command must not win time by that */

static int next_memory_look = -1;

/* Returns 1 when everything is to be ended. */
static int look_at_memory(void) {
  pid_t found = memory_look(now_ms(), &next_memory_look);
  if (found == 0) return 0;
  tell('M', (uint32_t)(memory_limit() / 1024), found < 0, 0);
  if (found > 0) kill(found, SIGKILL);
  return found < 0;
}

#define PROCESS_LOOK_MS 1000

static uint64_t next_process_look;
static int processes_told;

/* The kernel gives the first 300 numbers of a pid namespace out once only, so it can be full with so many fewer. */
#define NUMBERS_GIVEN_ONCE 300

static int can_fork(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0; /* reaped with the others */
}

/* The kernel counts refused forks only for a control group: a room that is full when it is looked at has met its limit. */
static void look_at_processes(int last) {
  uint64_t most = 0, there = 0;
  if (processes_told || (!last && now_ms() < next_process_look)) return;
  next_process_look = now_ms() + PROCESS_LOOK_MS;
  for (size_t i = 0; i < orders.limit_count; i++)
    if (orders.limits[i].which == RLIMIT_NPROC) most = orders.limits[i].limit;
  DIR *all = most ? opendir("/proc") : NULL;
  if (!all) return;
  for (struct dirent *entry; (entry = readdir(all));) there += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
  closedir(all);
  if (there < most && (there + NUMBERS_GIVEN_ONCE < most || can_fork())) return;
  processes_told = 1;
  tell('P', 0, 0, 0);
}

static int wait_at_most(void) {
  int look = orders.server_count ? SERVER_LOOK_MS : orders.any_server ? OTHER_LOOK_MS : PROCESS_LOOK_MS;
  if (next_memory_look >= 0 && next_memory_look < look) look = next_memory_look;
  if (!orders.milliseconds) return look;
  uint64_t now = now_ms();
  uint64_t left = deadline > now ? deadline - now : 0;
  if (left > 1000u * 3600) left = 1000u * 3600;
  return (uint64_t)look < left ? look : (int)left;
}

static _Noreturn void watch_over(int signals, int watch, int mounts, int master) {
  static struct relay in, out;
  int in_open = master >= 0, out_open = master >= 0;
  for (;;) {
    struct pollfd fds[11 + NAMES_FDS + LOCAL_SOCKETS] = {
        {.fd = control, .events = POLLIN},
        {.fd = signals, .events = POLLIN},
        {.fd = watch, .events = POLLIN},
        {.fd = mounts, .events = POLLPRI},
        {.fd = in_open && in.to == 0 ? 0 : -1, .events = POLLIN},
        {.fd = out.to ? 1 : -1, .events = POLLOUT},
        {.fd = master, .events = (short)((out.to == 0 ? POLLIN : 0) | (in.to ? POLLOUT : 0))},
        {.fd = ipc, .events = POLLIN},
    };
    for (int i = 0; i < 3; i++) {
      int pending = pumps[i].data.to != 0;
      fds[8 + i].fd = pumps[i].from < 0 ? -1 : pending ? pumps[i].to : pumps[i].from;
      fds[8 + i].events = pending ? POLLOUT : POLLIN;
    }
    names_watch(fds + 11);
    local_sockets_watch(fds + 11 + NAMES_FDS);
    if (poll(fds, (nfds_t)(11 + NAMES_FDS + local_sockets_count()), wait_at_most()) < 0 && errno != EINTR) _exit(FAULT_STATUS);
    names_serve(fds + 11);
    local_sockets_serve(fds + 11 + NAMES_FDS);
    for (int i = 0; i < 3; i++)
      if (fds[8 + i].revents) run_pump(&pumps[i]);
    if (fds[7].revents) drain_acks();
    if (orders.server_count || orders.any_server) look_for_servers();
    if (fds[2].revents & POLLIN) report_opens(watch);
    if (fds[3].revents & (POLLPRI | POLLERR)) report_lifted();
    if (orders.milliseconds && now_ms() >= deadline) {
      tell('T', 0, 0, 0);
      final_status = SIGKILL;
      finish(signals, -1, &out);
    }
    look_at_processes(0);
    if (orders.memory_share && look_at_memory()) {
      final_status = SIGKILL;
      finish(signals, -1, &out);
    }
    if (fds[0].revents && !take_message(master)) {
      final_status = SIGKILL; /* as waitpid would say it */
      finish(signals, -1, &out);
    }
    if (fds[1].revents & POLLIN) {
      struct signalfd_siginfo info;
      while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) continue;
      reap();
      if (status_known) {
        look_at_processes(1);
        if (watch >= 0) report_opens(watch);
        finish(signals, master, &out);
      }
    }
    if (master >= 0) relay_terminal(master, &in, &out, &in_open, &out_open);
  }
}

static int open_terminal(void) {
  struct winsize size = {.ws_row = orders.rows, .ws_col = orders.cols};
  int unlock = 0, type;
  socklen_t length = sizeof type;
  for (int fd = 0; fd < 2; fd++)
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length)) fail(STEP_TERMINAL);
  int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock)) fail(STEP_TERMINAL);
  other_side = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (other_side < 0 || ioctl(master, TIOCSWINSZ, &size)) fail(STEP_TERMINAL);
  return master;
}

/*
 * bubblewrap's monitor keeps its own descriptors 0 to 2 until it ends, so the command's come by other numbers: their
 * readers then see the end as soon as the command is gone. Descriptors that the parent leaked end here.
 */
static void settle_descriptors(int stdio) {
  for (int fd = 0; fd < 3; fd++)
    if (dup2(stdio + fd, fd) < 0) fail(STEP_ORDERS);
  fcntl(control, F_SETFD, FD_CLOEXEC);
  if (ipc >= 0) fcntl(ipc, F_SETFD, FD_CLOEXEC);
  fcntl(control, F_SETFL, fcntl(control, F_GETFL) & ~O_NONBLOCK);
  if (joining >= 0) fcntl(joining, F_SETFD, FD_CLOEXEC);
  if (host >= 0) fcntl(host, F_SETFD, FD_CLOEXEC);
  int last = control > ipc ? control : ipc;
  if (joining > last) last = joining;
  if (host > last) last = host;
  for (int fd = 3; fd <= last; fd++)
    if (fd != control && fd != ipc && fd != joining && fd != host) close(fd);
  if (syscall(SYS_close_range, (unsigned)last + 1, ~0u, 0)) fail(STEP_ORDERS);
}

static int write_pid(char **files, int count, pid_t pid) {
  char text[16];
  int length = snprintf(text, sizeof text, "%d", pid);
  for (int i = 0; i < count; i++) {
    int fd = open(files[i], O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, (size_t)length) != length) {
      fprintf(stderr, "cordon-init: cannot join the cgroup %s: %s\n", files[i], strerror(errno));
      return 0;
    }
    close(fd);
  }
  return 1;
}

/* Who greets, by the pid that it has out here: the kernel vouches for it. 0 when everybody at the other end is gone. */
static pid_t greeted_by(int word) {
  union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(struct ucred))]; } credentials;
  char greeting;
  struct iovec text = {.iov_base = &greeting, .iov_len = 1};
  struct msghdr packet = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = credentials.space, .msg_controllen = sizeof credentials.space};
  struct ucred sender;
  ssize_t n;
  do n = recvmsg(word, &packet, 0);
  while (n < 0 && errno == EINTR);
  struct cmsghdr *found = CMSG_FIRSTHDR(&packet);
  if (n != 1 || !found || found->cmsg_level != SOL_SOCKET || found->cmsg_type != SCM_CREDENTIALS) return 0;
  memcpy(&sender, CMSG_DATA(found), sizeof sender);
  return sender.pid;
}

/*
 * To join a cgroup is to wait for all readers of a lock of the kernel's, 5 to 30 ms, so it is done beside bubblewrap, by a
 * process of its own, while that makes its namespaces. The init greets, and waits for the word before it starts anything.
 */
static _Noreturn void join_beside(pid_t bubblewrap, char **files, int count, int word) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (!write_pid(files, count, bubblewrap)) _exit(FAULT_STATUS);
  pid_t init = greeted_by(word);
  if (init <= 0 || !write_pid(files, count, init) || send(word, "j", 1, MSG_NOSIGNAL) != 1) _exit(FAULT_STATUS);
  _exit(0);
}

static int enter_cgroups(int argc, char **argv) {
  int rest = 2, word[2], one = 1;
  char name[16];
  while (rest < argc && strcmp(argv[rest], "--")) rest++;
  if (rest + 1 >= argc || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, word)) return FAULT_STATUS;
  if (setsockopt(word[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof one)) return FAULT_STATUS;
  int kept = fcntl(word[0], F_DUPFD, 10); /* above those that the caller gives */
  char **with_word = calloc((size_t)(argc - rest) + 1, sizeof(char *));
  if (kept < 0 || kept > 64 || !with_word) return FAULT_STATUS;
  snprintf(name, sizeof name, "j%d", kept);
  memcpy(with_word, argv + rest + 1, (size_t)(argc - rest - 1) * sizeof(char *));
  with_word[argc - rest - 1] = name;

  pid_t self = getpid(), helper = fork();
  if (helper < 0) return FAULT_STATUS;
  if (helper == 0) {
    close(kept);
    close(word[0]);
    join_beside(self, argv + 2, rest - 2, word[1]);
  }
  execv(with_word[0], with_word);
  fprintf(stderr, "cordon-init: cannot start %s: %s\n", with_word[0], strerror(errno));
  return FAULT_STATUS;
}

static void greet_joiner(void) {
  if (joining >= 0 && send(joining, "h", 1, MSG_NOSIGNAL) != 1) fail(STEP_JOIN);
}

/* A helper that failed, or that was killed, says nothing. */
static void wait_until_joined(void) {
  char word;
  ssize_t n;
  if (joining < 0) return;
  do n = recv(joining, &word, 1, 0);
  while (n < 0 && errno == EINTR);
  if (n == 0) errno = ENOENT;
  if (n != 1 || word != 'j') fail(STEP_JOIN);
  close(joining);
  joining = -1;
  /* As seen from inside, the group is the root: its name is the host's business. */
  if (unshare(CLONE_NEWCGROUP)) fail(STEP_JOIN);
}

static void prepare_door(void) {
  for (size_t i = 0; i < orders.place_count; i++) {
    struct place *p = &orders.places[i];
    if (p->kind == 'm' && (p->flags & 2)) continue; /* of /proc, where nothing can be moved */
    if (door_hold(p->path)) fail(STEP_DOOR);
    if (p->kind == 'p' && (p->flags & 1)) hold_inode(p->path);
  }
  if (door_prepare(host)) fail(STEP_DOOR);
}

int main(int argc, char **argv) {
  if (argc >= 2 && !strcmp(argv[1], "enter")) return enter_cgroups(argc, argv);
  if (argc > 3 && argv[argc - 1][0] == 'j') joining = atoi(argv[--argc] + 1);
  if (argc > 3 && argv[argc - 1][0] == 'h') host = atoi(argv[--argc] + 1);
  if (argc < 3 || argc > 4 || getpid() != 1) return FAULT_STATUS;
  control = atoi(argv[1]);
  int stdio = atoi(argv[2]);
  ipc = argc == 4 ? atoi(argv[3]) : -1;
  if (control < 3 || stdio < 3 || control > 64 || ipc > 64 || (ipc >= 0 && ipc < 3)) return FAULT_STATUS;
  if (joining > 64 || (joining >= 0 && joining < 3)) return FAULT_STATUS;
  if (host > 64 || (host >= 0 && host < 3)) return FAULT_STATUS;
  settle_descriptors(stdio);
  greet_joiner();

  /* Mounts that the host makes later must not appear in here: they would come with the host's flags. Orders may take a while. */
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) fail(STEP_PRIVATE);
  read_orders();
  /* Ports are also told to a parent that takes no sockets. */
  if (!orders.any_server && (orders.has_listener || orders.server_count) != (ipc >= 0)) bad_orders(0);
  if ((orders.has_listener || orders.server_count) && ipc < 0) bad_orders(0);
  if (orders.has_listener) hand_over_listeners();
  if (local_sockets_open()) fail(STEP_LISTENER);
  if (orders.has_names && names_open(orders.refused_port)) fail(STEP_LISTENER);
  if ((orders.server_count || orders.any_server) && listening_open()) fail(STEP_LISTENER);

  /* A second, bare view of /proc for this program's own writes; the visible one becomes read-only. */
  int proc = (int)syscall(SYS_open_tree, AT_FDCWD, "/proc", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (proc < 0) fail(STEP_PROC);
  if (orders.process_numbers) limit_process_numbers(proc);
  check_bound();
  if (door_is_on()) prepare_door();
  if (host >= 0) close(host);
  int watch = mask_all();
  for (size_t i = 0; i < orders.readonly_count; i++) make_readonly(orders.readonly[i].path, orders.readonly[i].flags & 1);
  if (orders.has_gate) wait_at_gate();

  leave_mount_owner(proc);
  wait_until_joined();
  /* Should the machine run out of memory, this goes before the person's programs. */
  write_at(proc, "self/oom_score_adj", "300", STEP_LIMITS);
  close(proc);
  int mounts = watch >= 0 ? open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) : -1;

  hand_in_streams();
  int master = orders.has_terminal ? open_terminal() : -1;
  set_limits(1);
  drop_capabilities();
  /* The same uid as the command's: a process that cannot be dumped cannot be traced, nor its descriptors be opened in /proc. */
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) fail(STEP_CAPABILITIES);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail(STEP_NO_NEW_PRIVS);
  if (!door_is_on() && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &orders.filter)) fail(STEP_SECCOMP);

  if (orders.has_listener)
    for (size_t i = 0; i <= orders.listener_count; i++) await_handover();
  if (ipc >= 0 && !orders.server_count && !orders.any_server && !local_sockets_count()) {
    close(ipc);
    ipc = -1;
  }

  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  int report[2];
  if (signals < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report)) fail(STEP_FORK);
  deadline = now_ms() + orders.milliseconds;
  if (orders.memory_share) {
    if (memory_open(orders.memory_share)) fail(STEP_LIMITS);
    next_memory_look = 0;
  }
  /* A session of its own, with the terminal inside as its own: the caller's is then out of reach. */
  if (master >= 0 && ((getsid(0) != getpid() && setsid() < 0) || ioctl(other_side, TIOCSCTTY, 0))) fail(STEP_TERMINAL);
  command_pid = fork();
  if (command_pid < 0) fail(STEP_FORK);
  if (command_pid == 0) {
    exec_report = report[1];
    run_command(other_side);
  }
  close(report[1]);
  for (int fd = 0; fd < 3 && master < 0; fd++) door_note_stream(fd);
  if (master < 0) { /* what the command closes must reach the other end: keep no copy of its streams */
    close(0);
    close(1);
  }
  close(2);
  uint32_t failure[3];
  if (door_is_on() && door_serve(report[0], failure)) {
    tell('F', failure[0] ? failure[0] : STEP_DOOR, failure[0] ? failure[1] : (uint32_t)errno, failure[2]);
    _exit(FAULT_STATUS);
  }
  ssize_t n = read(report[0], failure, sizeof failure);
  if (n == (ssize_t)sizeof failure) {
    tell('F', failure[0], failure[1], failure[2]);
    _exit(FAULT_STATUS);
  }
  close(report[0]);
  index_masks();
  tell('R', watch >= 0 || !has_watched_masks(), 0, 0);
  if (pending_signal > 0 && pending_signal < NSIG) kill(-command_pid, pending_signal);
  watch_over(signals, watch, mounts, master);
}
