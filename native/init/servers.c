/* The way in: which ports the command serves, and a connection to one of them for the parent. */
#define _GNU_SOURCE
#include "init.h"
#include "../broker/broker.h"
#include "listening.h"
#include "names.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVER_LOOK_MS 100  /* between two looks for servers, however much happens */
#define OTHER_LOOK_MS 500   /* the same where none was listed: a person waits for the word, and nothing else does */
#define SERVER_CONNECT_MS 50 /* on loopback a connection is there at once, unless the server takes none */

static uint8_t serving[MAX_SERVERS];

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

/* A listener of ours is not a server of the command. */
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

/*
 * The broker tells of every listen(), and the kernel of every TCP socket that is gone: then it is looked which servers there are,
 * soon one after the other at most. Only where one of the two cannot tell (no broker, a thread whose descriptors cannot be had) does time.
 */
static int heard = -1, gone = -1;
static atomic_int is_told = 1;
static int has_changed;
static uint64_t next_look;

int servers_are_wanted(void) { return orders.server_count || orders.any_server; }

/* Called by the broker's thread. */
void servers_changed(int known) {
  uint64_t one = 1;
  if (!known) atomic_store(&is_told, 0);
  (void)!write(heard, &one, sizeof one);
}

int servers_open(void) {
  if (!servers_are_wanted()) return 0;
  heard = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  gone = listening_ends();
  if (!broker_is_on() || gone < 0) is_told = 0;
  return heard < 0 || listening_open() ? -1 : 0;
}

void servers_watch(struct pollfd *fds) {
  fds[0] = (struct pollfd){.fd = heard, .events = POLLIN};
  /* Each connection that ends is told of: there is nothing to read as long as a look is due anyway. */
  fds[1] = (struct pollfd){.fd = has_changed ? -1 : gone, .events = POLLIN};
}

/* Which one it was is not read: what listens now says more. What is left, and what did not fit, is one more reason to look. */
static void read_away(int fd) {
  char text[4096];
  for (int count = 0; count < 256; count++)
    if (recv(fd, text, sizeof text, 0) < 0 && errno != ENOBUFS) return;
}

void servers_serve(const struct pollfd *fds) {
  uint64_t count;
  if (!servers_are_wanted()) return;
  if (fds[0].revents && read(heard, &count, sizeof count) == sizeof count) has_changed = 1;
  if (fds[1].revents) {
    read_away(gone);
    has_changed = 1;
  }
  uint64_t ms = now_ms();
  if ((!has_changed && atomic_load(&is_told)) || ms < next_look) return;
  has_changed = 0;
  next_look = ms + (orders.server_count ? SERVER_LOOK_MS : OTHER_LOOK_MS);
  if (orders.server_count) report_servers();
  if (orders.any_server) report_others();
}

/* How long may be waited for the next look; -1 when none is due. */
int servers_wait_ms(void) {
  if (!servers_are_wanted() || (!has_changed && atomic_load(&is_told))) return -1;
  uint64_t ms = now_ms();
  return next_look > ms ? (int)(next_look - ms) : 0;
}

/* A connection to this namespace's own loopback, and to nothing else; -1 when no one takes it. */
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
int answer_connect(uint16_t port, uint16_t id) {
  char message[64];
  size_t i = 0;
  while (i < other_count && others[i].port != port) i++;
  if (i == other_count && !is_in(orders.servers, orders.server_count, port)) return 0;
  int fd = connect_inside(port);
  if (fd < 0) has_changed = 1; /* one that no longer takes any may still be there, and nobody tells */
  snprintf(message, sizeof message, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":%u}\n", id);
  if (fd < 0 || !send_handle(message, fd)) tell('N', id, (uint32_t)errno, 0);
  if (fd >= 0) close(fd);
  return 1;
}
