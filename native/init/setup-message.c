/* Reads the orders (protocol.h): bounds first, then each record, and nothing that is not understood. */
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

struct orders orders;

_Noreturn void bad_orders(uint32_t offset) {
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
  if (length < 2 || memchr(p, 0, length) != p + length - 1) bad_orders(offset);
  return (char *)p;
}

static char *path_at(uint8_t *p, uint32_t length, uint32_t offset) {
  char *text = text_at(p, length, offset);
  if (text[0] != '/') bad_orders(offset);
  return text;
}

void *allocate(size_t count, size_t size) {
  void *p = calloc(count, size);
  if (!p) fail(STEP_ORDERS);
  return p;
}

/* The orders that are about the broker; 0 for one that is not one of them. */
static int take_broker_record(uint8_t type, uint8_t *p, uint32_t length, uint32_t at) {
  int bad = 0;
  switch (type) {
  case 'o':
    if (length < 3) bad_orders(at);
    bad = broker_take_place(p[0], path_at(p + 1, length - 1, at));
    break;
  case 'W': bad = bare_take(path_at(p, length, at)); break;
  case 'L':
    if (length < 2 || p[length - 1]) bad_orders(at);
    for (uint8_t *end = p + length; p < end && !bad;) {
      char *text = (char *)p;
      p += strlen(text) + 1;
      bad = text[0] != '/' || learn_take(text);
    }
    break;
  case 'J':
  case 'f':
  case 'k':
    if (length < 2 || p[length - 1]) bad_orders(at);
    for (uint8_t *end = p + length; p < end && !bad;) {
      char *text = (char *)p;
      p += strlen(text) + 1; /* before the text is taken apart */
      bad = type == 'J' ? programs_take_line(text) : type == 'f' ? broker_take_rule((uint8_t)text[0], text + 1) : broker_take_key(text);
    }
    break;
  case 'u':
    if (length < 19) bad_orders(at);
    bad = broker_take_keep(u64_at(p), u64_at(p + 8), p[16], path_at(p + 17, length - 17, at));
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
  case 'H':
    if (length < 2 || private_home_is_on()) bad_orders(at);
    private_home_take(path_at(p, length, at));
    return;
  case 'P':
    if (length || orders.any_server) bad_orders(at);
    orders.any_server = 1;
    return;
  default:
    if (!take_broker_record(type, p, length, at)) bad_orders(at);
  }
}

/* Reads as much as there is, at most so much; the command's streams may come with it, to a sandbox that was prepared before there was a command. */
static size_t read_with_streams(void *into, size_t size) {
  int streams[STREAM_FDS];
  struct iovec part = {into, size};
  union {
    char bytes[CMSG_SPACE(sizeof streams)];
    struct cmsghdr head;
  } beside;
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = beside.bytes, .msg_controllen = sizeof beside.bytes};
  ssize_t n;
  while ((n = recvmsg(control, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
  if (n == 0) errno = EPIPE;
  if (n <= 0) fail(STEP_ORDERS);
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (!head) return (size_t)n;
  if ((message.msg_flags & MSG_CTRUNC) || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof streams))
    bad_orders(0);
  memcpy(streams, CMSG_DATA(head), sizeof streams);
  for (int i = 0; i < STREAM_FDS; i++)
    if (dup2(streams[i], i) < 0) fail(STEP_ORDERS);
  for (int i = 0; i < STREAM_FDS; i++) close(streams[i]);
  return (size_t)n;
}

void read_orders(void) {
  uint8_t header[12];
  size_t begun = read_with_streams(header, sizeof header);
  read_exactly(control, header + begun, sizeof header - begun);
  uint32_t size = u32_at(header + 8);
  if (memcmp(header, MAGIC, 8) || size < 5 || size > MAX_ORDERS) bad_orders(0);
  uint8_t *body = allocate(1, size);
  read_exactly(control, body, size);

  /* Bounds first, in its own pass, so that the arrays can be sized and no later read can leave the buffer. */
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
  /* A listener of ours is not a server of the command: no one outside may come in by it. */
  for (size_t i = 0; i < orders.server_count; i++) {
    if (orders.has_listener && orders.servers[i] == orders.port) bad_orders(size);
    if (orders.refused_port && orders.servers[i] == orders.refused_port) bad_orders(size);
    for (size_t j = 0; j < orders.listener_count; j++)
      if (orders.servers[i] == orders.listeners[j].port) bad_orders(size);
  }
}
