/* Forwards ports: finds the ports that the command serves, and connects to them for the parent. */
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

#define SERVER_CHECK_MS 100 /* the least time between two checks for servers */
#define OTHER_CHECK_MS 500 /* the same without listed ports: only a person waits for the result */
#define SERVER_CONNECT_MS 50 /* loopback connects at once, unless the server's queue is full */

static uint8_t serving[MAX_SERVERS];

static void report_servers(void) {
  uint8_t found[MAX_SERVERS] = {0};
  listening_find(setup.servers, setup.server_count, found);
  for (size_t i = 0; i < setup.server_count; i++) {
    if (found[i] == serving[i]) continue;
    serving[i] = found[i];
    send_message(MESSAGE_SERVER, setup.servers[i], found[i], 0);
  }
}

/* Unlisted ports, and whether the command listens on them. */
static struct { uint16_t port; uint8_t on; } others[MAX_SERVERS];
static size_t other_count;

/* Listeners of Cordon are not servers of the command. */
static int is_own_port(uint16_t port) {
  if (port == NAMES_PORT || (setup.has_listener && port == setup.port) ||
      (setup.refused_port && port == setup.refused_port))
    return 1;
  for (size_t i = 0; i < setup.listener_count; i++)
    if (port == setup.listeners[i].port) return 1;
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
    send_message(MESSAGE_SERVER, others[i].port, (uint32_t)on, 1);
  }
  for (size_t i = 0; i < count && other_count < MAX_SERVERS; i++) {
    size_t known = 0;
    while (known < other_count && others[known].port != now[i]) known++;
    if (known < other_count || is_own_port(now[i]) || is_in(setup.servers, setup.server_count, now[i]))
      continue;
    others[other_count].port = now[i];
    others[other_count++].on = 1;
    send_message(MESSAGE_SERVER, now[i], 1, 1);
  }
}

/* The broker reports every listen(), and the kernel every closed TCP socket: then the servers are
 * checked, with a pause between. A timer checks only without one of the two (no broker, or a thread
 * with unreadable descriptors). */
static int notices = -1, gone = -1;
static atomic_int is_complete = 1;
static int has_changed;
static uint64_t next_check;

int reports_servers(void) { return setup.server_count || setup.any_server; }

/* Called by the broker's thread. */
void servers_changed(int known) {
  uint64_t one = 1;
  if (!known) atomic_store(&is_complete, 0);
  (void)!write(notices, &one, sizeof one);
}

int servers_open(void) {
  if (!reports_servers()) return 0;
  notices = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  gone = listening_ends();
  if (!broker_is_on() || gone < 0) is_complete = 0;
  return notices < 0 || listening_open() ? -1 : 0;
}

void servers_watch(struct pollfd *fds) {
  fds[0] = (struct pollfd){.fd = notices, .events = POLLIN};
  /* Each closed connection is reported: skip reading while a check is due anyway. */
  fds[1] = (struct pollfd){.fd = has_changed ? -1 : gone, .events = POLLIN};
}

/* Discards the reports: the listening sockets say more. Lost ones are one more reason to check. */
static void read_away(int fd) {
  char text[4096];
  for (int count = 0; count < 256; count++)
    if (recv(fd, text, sizeof text, 0) < 0 && errno != ENOBUFS) return;
}

void servers_serve(const struct pollfd *fds) {
  uint64_t count;
  if (!reports_servers()) return;
  if (fds[0].revents && read(notices, &count, sizeof count) == sizeof count) has_changed = 1;
  if (fds[1].revents) {
    read_away(gone);
    has_changed = 1;
  }
  uint64_t ms = now_ms();
  if ((!has_changed && atomic_load(&is_complete)) || ms < next_check) return;
  has_changed = 0;
  next_check = ms + (setup.server_count ? SERVER_CHECK_MS : OTHER_CHECK_MS);
  if (setup.server_count) report_servers();
  if (setup.any_server) report_others();
}

/* Milliseconds until the next check; -1 when none is due. */
int servers_wait_ms(void) {
  if (!reports_servers() || (!has_changed && atomic_load(&is_complete))) return -1;
  uint64_t ms = now_ms();
  return next_check > ms ? (int)(next_check - ms) : 0;
}

/* Connects to this namespace's loopback, and nowhere else; -1 if refused. */
static int connect_inside(uint16_t port) {
  struct sockaddr_in four = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 six = {
      .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  for (int family = 0; family < 2; family++) {
    int fd = socket(family ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) continue;
    int error = 0;
    socklen_t length = sizeof error;
    if (connect(fd, family ? (struct sockaddr *)&six : (struct sockaddr *)&four,
                family ? sizeof six : sizeof four)) {
      struct pollfd wait = {.fd = fd, .events = POLLOUT};
      error = errno;
      if (error == EINPROGRESS &&
          (poll(&wait, 1, SERVER_CONNECT_MS) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length)))
        error = ETIMEDOUT;
    }
    if (error == 0) return fd;
    close(fd);
    errno = error;
  }
  return -1;
}

/* Returns 0 for a port that was neither listed nor reported. */
int answer_connect(uint16_t port, uint16_t id) {
  char message[64];
  size_t i = 0;
  while (i < other_count && others[i].port != port) i++;
  if (i == other_count && !is_in(setup.servers, setup.server_count, port)) return 0;
  int fd = connect_inside(port);
  if (fd < 0) has_changed = 1; /* a full queue: the server may remain, and nothing else reports it */
  snprintf(message, sizeof message, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":%u}\n", id);
  if (fd < 0 || !send_handle(message, fd)) send_message(MESSAGE_UNCONNECTED, id, (uint32_t)errno, 0);
  if (fd >= 0) close(fd);
  return 1;
}
