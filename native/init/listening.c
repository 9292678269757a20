/* Asks the kernel by netlink which ports have a listener in this network namespace: /proc/net/tcp
 * walks every bucket. */
#define _GNU_SOURCE
#include "listening.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LISTEN_STATE 10
#define MOST 1024 /* listeners that are read; the rest is ignored */

static int channel = -1;

int listening_open(void) {
  channel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  return channel < 0 ? -1 : 0;
}

int listening_ends(void) {
  int groups[] = {SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY};
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
  for (size_t i = 0; fd >= 0 && i < 2; i++) {
    if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof groups[i]) == 0) continue;
    close(fd);
    fd = -1;
  }
  return fd;
}

/* Whether a connection to loopback reaches an address: any, 127.0.0.1, ::1, and the first two
 * IPv4-mapped, as Java uses them. */
static int is_reachable(int family, const uint32_t *address) {
  const uint32_t loopback = htonl(INADDR_LOOPBACK);
  if (family == AF_INET) return address[0] == 0 || address[0] == loopback;
  if (address[0] || address[1]) return 0;
  if (address[2] == 0) return address[3] == 0 || address[3] == htonl(1);
  return address[2] == htonl(0xffff) && (address[3] == 0 || address[3] == loopback);
}

/* Receives one port with a listener. */
typedef void (*take_port)(uint16_t port);

static void each_port(int family, take_port take) {
  struct { struct nlmsghdr head; struct inet_diag_req_v2 ask; } request;
  static char answer[32768] __attribute__((aligned(__alignof__(struct nlmsghdr))));
  memset(&request, 0, sizeof request);
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.ask.sdiag_family = (uint8_t)family;
  request.ask.sdiag_protocol = IPPROTO_TCP;
  request.ask.idiag_states = 1u << LISTEN_STATE;
  if (send(channel, &request, sizeof request, 0) != (ssize_t)sizeof request) return;
  for (int seen = 0; seen < MOST;) {
    ssize_t n = recv(channel, answer, sizeof answer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    size_t left = (size_t)n;
    for (struct nlmsghdr *at = (struct nlmsghdr *)answer; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left)) {
      if (at->nlmsg_type == NLMSG_DONE || at->nlmsg_type == NLMSG_ERROR) return;
      if (at->nlmsg_type != SOCK_DIAG_BY_FAMILY || at->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        continue;
      const struct inet_diag_msg *one = NLMSG_DATA(at);
      seen++;
      if (!is_reachable(one->idiag_family, one->id.idiag_src)) continue;
      take(ntohs(one->id.idiag_sport));
    }
  }
  /* The rest of a dump would be read as part of the next. */
  close(channel);
  listening_open();
}

static const uint16_t *wanted;
static uint8_t *flags;
static uint16_t *list;
static size_t wanted_count, listed, most;

static void mark(uint16_t port) {
  for (size_t i = 0; i < wanted_count; i++) flags[i] |= wanted[i] == port;
}

static void collect(uint16_t port) {
  for (size_t i = 0; i < listed; i++)
    if (list[i] == port) return;
  if (listed < most) list[listed++] = port;
}

static void each(take_port take) {
  if (channel >= 0) each_port(AF_INET, take);
  if (channel >= 0) each_port(AF_INET6, take);
}

void listening_find(const uint16_t *ports, size_t count, uint8_t *found) {
  wanted = ports, wanted_count = count, flags = found;
  each(mark);
}

size_t listening_all(uint16_t *ports, size_t capacity) {
  list = ports, most = capacity, listed = 0;
  each(collect);
  return listed;
}
