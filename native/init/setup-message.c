/* Reads the setup message (protocol.h): bounds first, then each record. Unknown records are errors. */
#define _GNU_SOURCE
#include "init.h"
#include "../bare/bare.h"
#include "learn.h"
#include "local-sockets.h"
#include "names.h"
#include "private-home.h"
#include "../programs/programs.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct setup setup;

_Noreturn void bad_setup(uint32_t offset) {
  errno = EINVAL;
  fail_at(STEP_ORDERS, offset);
}

void read_exactly(int fd, void *into, size_t size) {
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

uint16_t u16_at(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }

static char *text_at(uint8_t *p, uint32_t length, uint32_t offset) {
  if (length < 2 || memchr(p, 0, length) != p + length - 1) bad_setup(offset);
  return (char *)p;
}

static char *path_at(uint8_t *p, uint32_t length, uint32_t offset) {
  char *text = text_at(p, length, offset);
  if (text[0] != '/') bad_setup(offset);
  return text;
}

void *allocate(size_t count, size_t size) {
  void *p = calloc(count, size);
  if (!p) fail(STEP_ORDERS);
  return p;
}

/* Reads a record for the broker; 0 for any other. */
static int take_broker_record(uint8_t type, uint8_t *p, uint32_t length, uint32_t at) {
  int bad = 0;
  switch (type) {
  case RECORD_PLACE:
    if (length < 3) bad_setup(at);
    bad = broker_take_place(p[0], path_at(p + 1, length - 1, at));
    break;
  case RECORD_WALL: bad = bare_take(path_at(p, length, at)); break;
  case RECORD_LEARN:
    if (length < 2 || p[length - 1]) bad_setup(at);
    for (uint8_t *end = p + length; p < end && !bad;) {
      char *text = (char *)p;
      p += strlen(text) + 1;
      bad = text[0] != '/' || learn_take(text);
    }
    break;
  case RECORD_PROGRAMS:
  case RECORD_RULES:
  case RECORD_GIT_KEYS:
    if (length < 2 || p[length - 1]) bad_setup(at);
    for (uint8_t *end = p + length; p < end && !bad;) {
      char *text = (char *)p;
      p += strlen(text) + 1; /* before the text is split */
      bad = type == RECORD_PROGRAMS   ? programs_take_line(text)
            : type == RECORD_RULES ? broker_take_rule((uint8_t)text[0], text + 1)
                          : broker_take_key(text);
    }
    break;
  case RECORD_KEEP:
    if (length < 19) bad_setup(at);
    bad = broker_take_keep(u64_at(p), u64_at(p + 8), p[16], path_at(p + 17, length - 17, at));
    break;
  default: return 0;
  }
  if (bad) bad_setup(at);
  return 1;
}

static void take_record(uint8_t type, uint8_t *p, uint32_t length, uint32_t at) {
  switch (type) {
  case RECORD_ARGUMENT:
    setup.argv[setup.argc++] = (length == 1 && p[0] == 0) ? (char *)p : text_at(p, length, at);
    return;
  case RECORD_ENVIRONMENT: setup.envp[setup.envc++] = text_at(p, length, at); return;
  case RECORD_DIRECTORY:
    if (setup.cwd) bad_setup(at);
    setup.cwd = path_at(p, length, at);
    return;
  case RECORD_MASK:
  case RECORD_PIN: {
    uint32_t head = length > 0 && type == RECORD_MASK && (p[0] & MASK_EXACT) ? 17 : 1;
    if (length < head + 2 || p[0] > (type == RECORD_MASK ? 7 : 1)) bad_setup(at);
    struct place *place = &setup.places[setup.place_count];
    place->kind = type;
    place->flags = p[0];
    if (head == 17) {
      place->device = u64_at(p + 1);
      place->inode = u64_at(p + 9);
    }
    place->path = path_at(p + head, length - head, at);
    place->index = (uint32_t)(type == RECORD_MASK ? setup.mask_count : setup.place_count - setup.mask_count);
    setup.place_count++;
    if (type == RECORD_MASK) setup.mask_count++;
    return;
  }
  case RECORD_FACE: {
    struct place *place = setup.place_count ? &setup.places[setup.place_count - 1] : NULL;
    if (!place || place->kind != RECORD_MASK || place->has_face || length < 1 ||
        p[0] > (FACE_EXECUTABLE | FACE_CLOSED))
      bad_setup(at);
    place->has_face = 1;
    place->face_flags = p[0];
    place->face = p + 1;
    place->face_length = length - 1;
    return;
  }
  case RECORD_BOUND: {
    if (length < 18) bad_setup(at);
    struct place *place = &setup.bound[setup.bound_count++];
    place->device = u64_at(p);
    place->inode = u64_at(p + 8);
    place->path = path_at(p + 16, length - 16, at);
    return;
  }
  case RECORD_READ_ONLY:
    if (length < 3 || p[0] > 1 || setup.readonly_count == 8) bad_setup(at);
    setup.readonly[setup.readonly_count].flags = p[0];
    setup.readonly[setup.readonly_count++].path = path_at(p + 1, length - 1, at);
    return;
  case RECORD_LIMIT:
    if (length != 12 || setup.limit_count == 16 || u32_at(p) >= RLIM_NLIMITS) bad_setup(at);
    setup.limits[setup.limit_count].which = u32_at(p);
    setup.limits[setup.limit_count++].limit = u64_at(p + 4);
    return;
  case RECORD_SECCOMP:
    if (setup.filter.filter || length == 0 || length % sizeof(struct sock_filter) ||
        length / sizeof(struct sock_filter) > BPF_MAXINSNS)
      bad_setup(at);
    setup.filter.len = (unsigned short)(length / sizeof(struct sock_filter));
    setup.filter.filter = allocate(1, length); /* aligned, unlike the payload */
    memcpy(setup.filter.filter, p, length);
    return;
  case RECORD_IDS:
    if (length != 8 || setup.has_ids) bad_setup(at);
    setup.uid = u32_at(p);
    setup.gid = u32_at(p + 4);
    setup.has_ids = 1;
    return;
  case RECORD_TERMINAL:
    if (length != 5 || setup.has_terminal || p[0] == 0 || p[0] > 7) bad_setup(at);
    setup.terminal_fds = p[0];
    setup.rows = u16_at(p + 1);
    setup.cols = u16_at(p + 3);
    setup.has_terminal = 1;
    return;
  case RECORD_PROCESS_NUMBERS:
    if (length != 4 || setup.process_numbers || u32_at(p) <= 300) bad_setup(at);
    setup.process_numbers = u32_at(p);
    return;
  case RECORD_MEMORY:
    if (length != 4 || setup.memory_share || u32_at(p) == 0 || u32_at(p) > 1000) bad_setup(at);
    setup.memory_share = u32_at(p);
    return;
  case RECORD_GATE:
    if (length != 0 || setup.has_gate) bad_setup(at);
    setup.has_gate = 1;
    return;
  case RECORD_LISTENER:
    if (length != 2 || setup.has_listener || u16_at(p) < 1024) bad_setup(at);
    setup.port = u16_at(p);
    setup.has_listener = 1;
    return;
  case RECORD_TIME:
    if (length != 4 || setup.milliseconds || u32_at(p) == 0) bad_setup(at);
    setup.milliseconds = u32_at(p);
    return;
  case RECORD_NAMES:
    if (length != 2 || setup.has_names || (u16_at(p) && u16_at(p) < 1024)) bad_setup(at);
    setup.refused_port = u16_at(p);
    setup.has_names = 1;
    return;
  case RECORD_NAME:
    if (length < 6 || names_add(u32_at(p), text_at(p + 4, length - 4, at))) bad_setup(at);
    return;
  case RECORD_PROXY_PORT:
    if (length != 6 || setup.listener_count == MAX_LISTENERS || u16_at(p + 4) == 0) bad_setup(at);
    if (u32_at(p) && u32_at(p) >> 24 != 127) bad_setup(at);
    setup.listeners[setup.listener_count].address = u32_at(p);
    setup.listeners[setup.listener_count++].port = u16_at(p + 4);
    return;
  case RECORD_SERVERS:
    if (setup.server_count || length == 0 || length % 2 || length / 2 > MAX_SERVERS) bad_setup(at);
    for (uint32_t i = 0; i < length; i += 2) {
      if (u16_at(p + i) == 0) bad_setup(at);
      setup.servers[setup.server_count++] = u16_at(p + i);
    }
    return;
  case RECORD_SOCKET:
    if (length < 2 || local_sockets_add(text_at(p, length, at))) bad_setup(at);
    return;
  case RECORD_HOME:
    if (length < 2 || private_home_is_on()) bad_setup(at);
    private_home_take(path_at(p, length, at));
    return;
  case RECORD_ANY_PORT:
    if (length || setup.any_server) bad_setup(at);
    setup.any_server = 1;
    return;
  default:
    if (!take_broker_record(type, p, length, at)) bad_setup(at);
  }
}

/* Reads the available bytes up to a limit; a spare sandbox receives the command's streams with
 * them. */
static size_t read_with_streams(void *into, size_t size) {
  int streams[STREAM_FDS];
  struct iovec part = {into, size};
  union {
    char bytes[CMSG_SPACE(sizeof streams)];
    struct cmsghdr head;
  } beside;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = beside.bytes, .msg_controllen = sizeof beside.bytes};
  ssize_t n;
  while ((n = recvmsg(control, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
  if (n == 0) errno = EPIPE;
  if (n <= 0) fail(STEP_ORDERS);
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (!head) return (size_t)n;
  if ((message.msg_flags & MSG_CTRUNC) || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
      head->cmsg_len != CMSG_LEN(sizeof streams))
    bad_setup(0);
  memcpy(streams, CMSG_DATA(head), sizeof streams);
  for (int i = 0; i < STREAM_FDS; i++)
    if (dup2(streams[i], i) < 0) fail(STEP_ORDERS);
  for (int i = 0; i < STREAM_FDS; i++) close(streams[i]);
  return (size_t)n;
}

void read_setup_message(void) {
  uint8_t header[12];
  size_t received = read_with_streams(header, sizeof header);
  read_exactly(control, header + received, sizeof header - received);
  uint32_t size = u32_at(header + 8);
  if (memcmp(header, MAGIC, 8) || size < 5 || size > MAX_SETUP) bad_setup(0);
  uint8_t *body = allocate(1, size);
  read_exactly(control, body, size);

  /* Bounds in their own pass: arrays can be sized, and no later read leaves the buffer. */
  size_t args = 0, vars = 0, places = 0, bound = 0;
  uint32_t at = 0;
  for (;;) {
    if (size - at < 5) bad_setup(at);
    uint32_t length = u32_at(body + at + 1);
    if (length > size - at - 5) bad_setup(at);
    args += body[at] == RECORD_ARGUMENT;
    vars += body[at] == RECORD_ENVIRONMENT;
    places += body[at] == RECORD_MASK || body[at] == RECORD_PIN;
    bound += body[at] == RECORD_BOUND;
    if (body[at] == RECORD_END) {
      if (length != 0 || at + 5 != size) bad_setup(at);
      break;
    }
    at += 5 + length;
  }
  setup.argv = allocate(args + 1, sizeof(char *));
  setup.envp = allocate(vars + 1, sizeof(char *));
  setup.places = allocate(places + 1, sizeof(struct place));
  setup.bound = allocate(bound + 1, sizeof(struct place));
  for (at = 0; body[at] != RECORD_END; at += 5 + u32_at(body + at + 1))
    take_record(body[at], body + at + 5, u32_at(body + at + 1), at);
  /* A sandbox without a filter, ids or a working directory is an error. */
  if (!setup.argc || !setup.argv[0][0] || !setup.cwd || !setup.filter.filter || !setup.has_ids)
    bad_setup(size);
  if ((setup.listener_count || local_sockets_count()) && !setup.has_listener) bad_setup(size);
  if (setup.has_listener && setup.refused_port) bad_setup(size);
  /* Listeners of Cordon are not servers of the command: a port forward must not reach them. */
  for (size_t i = 0; i < setup.server_count; i++) {
    if (setup.has_listener && setup.servers[i] == setup.port) bad_setup(size);
    if (setup.refused_port && setup.servers[i] == setup.refused_port) bad_setup(size);
    for (size_t j = 0; j < setup.listener_count; j++)
      if (setup.servers[i] == setup.listeners[j].port) bad_setup(size);
  }
}
