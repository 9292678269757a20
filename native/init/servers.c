/* The way in: which ports the command serves, and a connection to one of them for the parent. */
#define _GNU_SOURCE
#include "init.h"
#include "listening.h"
#include "names.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

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
void look_for_servers(void) {
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
int answer_connect(uint16_t port, uint16_t id) {
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
