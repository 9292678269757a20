/* connect(), bind() and listen() in the machine's network. Only two connections are possible: to
 * the parent, which is the proxy, and to a server of this command. The address is read once.
 * Servers are always bound to the loopback.
 *
 * The broker works on the caller's socket if pidfd_getfd() is allowed. Many containers refuse it;
 * then a new socket replaces the caller's. */
#define _GNU_SOURCE
#include "bare.h"
#include "../init/init.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATH_START offsetof(struct sockaddr_un, sun_path)
#define LISTEN_STATE 10
#define MOST_SERVERS 256
#define MOST_KEPT 64
#define WAY_MS 2000

static const struct in6_addr any_six = IN6ADDR_ANY_INIT, loopback_six = IN6ADDR_LOOPBACK_INIT;

union address {
  struct sockaddr any;
  struct sockaddr_in four;
  struct sockaddr_in6 six;
  struct sockaddr_un local;
  struct sockaddr_storage capacity;
};

/* A socket of the caller, or its replacement. */
struct taken {
  int fd, is_new, cloexec;
};

/* Replacement sockets that are bound and do not listen yet, by inode. */
static struct { ino_t inode; int fd; } kept[MOST_KEPT];
static size_t next_kept;

static int flags_of(pid_t tid, int number) {
  char path[64], text[256];
  unsigned flags = 0;
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", tid, number);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return -1;
  text[n] = 0;
  const char *line = strstr(text, "flags:");
  return line && sscanf(line, "flags: %o", &flags) == 1 ? (int)flags : -1;
}

static int kept_of(ino_t inode) {
  for (size_t i = 0; i < MOST_KEPT; i++)
    if (kept[i].inode == inode && inode) return fcntl(kept[i].fd, F_DUPFD_CLOEXEC, 3);
  return -1;
}

static void keep(int fd) {
  struct stat about;
  size_t at = next_kept++ % MOST_KEPT;
  if (fstat(fd, &about)) return;
  if (kept[at].inode) close(kept[at].fd);
  kept[at].inode = about.st_ino;
  kept[at].fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (kept[at].fd < 0) kept[at].inode = 0;
}

static void drop(int fd) {
  struct stat about;
  if (fstat(fd, &about)) return;
  for (size_t i = 0; i < MOST_KEPT; i++)
    if (kept[i].inode == about.st_ino) {
      close(kept[i].fd);
      kept[i].inode = 0;
    }
}

/* Returns an errno, or 0. */
static int take(const struct call *c, int number, int family, struct taken *t) {
  char link[64];
  struct stat about;
  *t = (struct taken){.fd = socket_of(c, number)};
  if (t->fd >= 0) return 0;
  snprintf(link, sizeof link, "/proc/%d/fd/%d", c->tid, number);
  if (stat(link, &about)) return EBADF;
  if (!S_ISSOCK(about.st_mode)) return ENOTSOCK;
  if ((t->fd = kept_of(about.st_ino)) >= 0) return 0;
  int flags = flags_of(c->tid, number);
  if (flags < 0 || family == AF_UNSPEC) return EACCES;
  t->is_new = 1;
  t->cloexec = flags & O_CLOEXEC;
  int type = family == AF_NETLINK ? SOCK_RAW : SOCK_STREAM; /* only route queries are possible */
  t->fd = socket(family, type | SOCK_CLOEXEC | (flags & O_NONBLOCK ? SOCK_NONBLOCK : 0), 0);
  return t->fd < 0 ? errno : 0;
}

/* Returns an errno, or 0. */
static int put(const struct call *c, int number, const struct taken *t) {
  struct seccomp_notif_addfd give = {.id = c->id,
                                     .flags = SECCOMP_ADDFD_FLAG_SETFD,
                                     .srcfd = (uint32_t)t->fd,
                                     .newfd = (uint32_t)number,
                                     .newfd_flags = (uint32_t)t->cloexec};
  return t->is_new && ioctl(c->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &give) < 0 ? errno : 0;
}

/* Returns an errno, or 0. */
static int copy_address(const struct call *c, uint64_t from, uint64_t length, union address *to) {
  memset(to, 0, sizeof *to);
  if (length < sizeof to->any.sa_family || length > sizeof *to) return EINVAL;
  return copy_memory(c, from, to, (size_t)length);
}

/* Servers of this command, by socket cookie: the kernel never reuses one. */
static uint64_t servers[MOST_SERVERS];
static size_t server_count;

static void note_server(int fd) {
  uint64_t cookie;
  socklen_t length = sizeof cookie;
  if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0)
    servers[server_count++ % MOST_SERVERS] = cookie;
}

static int is_own(const struct inet_diag_msg *one) {
  uint64_t cookie = (uint64_t)one->id.idiag_cookie[0] | (uint64_t)one->id.idiag_cookie[1] << 32;
  for (size_t i = 0; i < MOST_SERVERS && i < server_count; i++)
    if (servers[i] == cookie) return 1;
  return 0;
}

static int is_mapped(const struct in6_addr *a) { return IN6_IS_ADDR_V4MAPPED(a); }

/* Whether this listener accepts connections to an address. `to` is IPv6 or IPv4-mapped. */
static int may_meet(const struct inet_diag_msg *one, const struct in6_addr *to) {
  struct in6_addr at;
  if (one->idiag_family == AF_INET) {
    if (!is_mapped(to)) return 0;
    return one->id.idiag_src[0] == 0 || one->id.idiag_src[0] == to->s6_addr32[3];
  }
  memcpy(&at, one->id.idiag_src, sizeof at);
  return !memcmp(&at, &any_six, sizeof at) || !memcmp(&at, to, sizeof at) ||
         (is_mapped(to) && is_mapped(&at) && at.s6_addr32[3] == 0);
}

/* How many own listeners accept it; -1 if another process's does, or if unknown. */
static int listeners_at(const struct in6_addr *to, uint16_t port) {
  static char text[32768] __attribute__((aligned(__alignof__(struct nlmsghdr))));
  int found = 0;
  for (int six = 0; six < 2 && found >= 0; six++) {
    struct { struct nlmsghdr head; struct inet_diag_req_v2 ask; } request;
    int ended = 0, channel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    memset(&request, 0, sizeof request);
    request.head.nlmsg_len = sizeof request;
    request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.ask.sdiag_family = six ? AF_INET6 : AF_INET;
    request.ask.sdiag_protocol = IPPROTO_TCP;
    request.ask.idiag_states = 1u << LISTEN_STATE;
    request.ask.id.idiag_sport = htons(port);
    if (channel < 0 || send(channel, &request, sizeof request, 0) != (ssize_t)sizeof request) found = -1;
    while (!ended && found >= 0) {
      ssize_t n = recv(channel, text, sizeof text, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) found = -1;
      size_t left = n > 0 ? (size_t)n : 0;
      for (struct nlmsghdr *at = (struct nlmsghdr *)text; found >= 0 && !ended && NLMSG_OK(at, left);
           at = NLMSG_NEXT(at, left)) {
        if (at->nlmsg_type == NLMSG_ERROR) found = -1;
        if (at->nlmsg_type == NLMSG_ERROR || at->nlmsg_type == NLMSG_DONE) ended = 1;
        if (at->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
            at->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
          continue;
        const struct inet_diag_msg *one = NLMSG_DATA(at);
        if (ntohs(one->id.idiag_sport) != port || !may_meet(one, to)) continue;
        found = is_own(one) ? found + 1 : -1;
      }
    }
    if (channel >= 0) close(channel);
  }
  return found;
}

static struct in6_addr in_six(const union address *a) {
  struct in6_addr to = {.s6_addr32 = {0, 0, htonl(0xffff), 0}};
  if (a->any.sa_family == AF_INET6) to = a->six.sin6_addr;
  else to.s6_addr32[3] = a->four.sin_addr.s_addr;
  if (!memcmp(&to, &any_six, sizeof to)) to = loopback_six;
  if (is_mapped(&to) && to.s6_addr32[3] == 0) to.s6_addr32[3] = htonl(INADDR_LOOPBACK);
  return to;
}

static int is_loopback(const struct in6_addr *a) {
  return is_mapped(a) ? ntohl(a->s6_addr32[3]) >> 24 == 127 : !memcmp(a, &loopback_six, sizeof *a);
}

/* Converts an address to a family; false if an IPv4 socket would need an IPv6 address. */
static int as_family(const struct in6_addr *to, uint16_t port, int family, union address *a,
                     socklen_t *length) {
  memset(a, 0, sizeof *a);
  if (family == AF_INET6) {
    a->six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *to};
    *length = sizeof a->six;
    return 1;
  }
  a->four = (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = to->s6_addr32[3]};
  *length = sizeof a->four;
  return is_mapped(to);
}

/* The proxy's listener: only this process accepts from it, and only its own connections. */
static int proxy = -1;
static uint16_t proxy_port;

int bare_open_proxy(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  proxy = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (proxy < 0 || bind(proxy, (struct sockaddr *)&address, sizeof address) || listen(proxy, 512)) return -1;
  if (getsockname(proxy, (struct sockaddr *)&address, &length)) return -1;
  proxy_port = ntohs(address.sin_port);
  return 0;
}

static int is_same_end(int fd, int other) {
  union address own = {0}, peer = {0};
  socklen_t own_length = sizeof own, peer_length = sizeof peer;
  if (getsockname(fd, &own.any, &own_length) || getpeername(other, &peer.any, &peer_length)) return 0;
  struct in6_addr a = in_six(&own), b = in_six(&peer);
  in_port_t port = own.any.sa_family == AF_INET6 ? own.six.sin6_port : own.four.sin_port;
  return !memcmp(&a, &b, sizeof a) && port == peer.four.sin_port;
}

/* Connects a socket to the parent. Returns an errno, or 0. */
static int connect_proxy(int fd, int family) {
  struct in6_addr to = {.s6_addr32 = {0, 0, htonl(0xffff), htonl(INADDR_LOOPBACK)}};
  union address a;
  socklen_t length;
  if (!as_family(&to, proxy_port, family, &a, &length)) return EAFNOSUPPORT;
  int error = connect(fd, &a.any, length) ? errno : 0;
  if (error && error != EINPROGRESS) return error;
  for (;;) {
    struct pollfd wait = {.fd = proxy, .events = POLLIN};
    int other = accept4(proxy, NULL, NULL, SOCK_CLOEXEC);
    if (other < 0 && (errno != EAGAIN || poll(&wait, 1, WAY_MS) <= 0)) return ECONNREFUSED;
    if (other < 0) continue;
    int good = is_same_end(fd, other) &&
               send_handle("{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":\"way\"}\n", other);
    int is_strange = !is_same_end(fd, other);
    close(other);
    if (good) return error;
    if (!is_strange) return ECONNREFUSED;
  }
}

struct connection {
  struct call call;
  struct taken socket;
  int number, object;
  union address address;
  socklen_t length;
  struct in6_addr to; /* an internet address: a server of this command */
  uint16_t port;
};

static int is_internet(const struct connection *one) { return one->address.any.sa_family != AF_UNIX; }

static pthread_mutex_t listeners_lock = PTHREAD_MUTEX_INITIALIZER;

static int has_own_listener(const struct in6_addr *to, uint16_t port) {
  pthread_mutex_lock(&listeners_lock);
  int found = listeners_at(to, port);
  pthread_mutex_unlock(&listeners_lock);
  return found > 0;
}

static void connect_now(void *given) {
  struct connection *one = given;
  int error = connect(one->socket.fd, &one->address.any, one->length) ? errno : 0;
  /* Another process may have bound that port since the check. */
  if ((!error || error == EINPROGRESS) && is_internet(one) && !has_own_listener(&one->to, one->port)) {
    shutdown(one->socket.fd, SHUT_RDWR);
    error = ECONNREFUSED;
  }
  int bad = error && error != EINPROGRESS ? 0 : put(&one->call, one->number, &one->socket);
  close(one->socket.fd);
  if (one->object >= 0) close(one->object);
  answer(&one->call, bad ? bad : error);
}

/* A blocking connection waits in its own thread. */
static void begin(struct connection *one) {
  static struct helpers helpers = {.most = 32};
  if (fcntl(one->socket.fd, F_GETFL) & O_NONBLOCK) return connect_now(one);
  if (work_apart(&helpers, connect_now, one, sizeof *one) == 0) return;
  close(one->socket.fd);
  if (one->object >= 0) close(one->object);
  try_later(&one->call);
}

/* Finds a unix socket that this command created; the address then names that object. Returns an
 * errno, or 0. */
static int find_own(const struct call *c, struct connection *one) {
  static struct spot s;
  struct sockaddr_un *a = &one->address.local;
  if (one->length <= PATH_START || one->length > sizeof *a || !a->sun_path[0]) return ECONNREFUSED;
  if (find_spot(c, AT_FDCWD, a->sun_path, 1, &s)) return errno;
  int error = !s.is_there                                                   ? ENOENT
              : !S_ISSOCK(s.about.st_mode) || !(seen(&s.about) & SEEN_MADE) ? ECONNREFUSED
              : open_object(&s) < 0                                         ? errno
                                                                            : 0;
  if (!error && (one->object = fcntl(s.object, F_DUPFD_CLOEXEC, 3)) < 0) error = errno;
  leave_spot(&s);
  if (!error) one->length = name_object_address(a, one->object);
  return error;
}

static int disconnect(const struct call *c, int number) {
  struct taken t;
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  int error = take(c, number, AF_UNSPEC, &t);
  if (error) return error;
  error = connect(t.fd, &none, sizeof none) ? errno : 0;
  close(t.fd);
  return error;
}

static int family_of(int fd) {
  int domain = AF_UNSPEC;
  socklen_t length = sizeof domain;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) ? AF_UNSPEC : domain;
}

void bare_connect(const struct call *c, int number, uint64_t from, uint64_t length) {
  struct connection one = {.call = *c, .number = number, .object = -1, .length = (socklen_t)length};
  int error = copy_address(c, from, length, &one.address), family = one.address.any.sa_family;
  if (error) return answer(c, error);
  if (family == AF_UNSPEC) return answer(c, disconnect(c, number));
  if (family == AF_UNIX) error = find_own(c, &one);
  else if (family != AF_INET && family != AF_INET6) error = EAFNOSUPPORT;
  else if (length <
           (family == AF_INET ? sizeof one.address.four : offsetof(struct sockaddr_in6, sin6_scope_id)))
    error = EINVAL;
  else {
    one.to = in_six(&one.address);
    one.port = ntohs(one.address.four.sin_port);
    if (!is_loopback(&one.to)) error = ENETUNREACH;
  }
  if (!error) error = take(c, number, family, &one.socket);
  if (!error && family_of(one.socket.fd) != family) {
    close(one.socket.fd);
    error = EINVAL;
  }
  if (error) {
    if (one.object >= 0) close(one.object);
    return answer(c, error);
  }
  if (family == AF_UNIX) return begin(&one);
  if (proxy >= 0 && one.port == setup.port) {
    error = connect_proxy(one.socket.fd, family);
    int bad = error && error != EINPROGRESS ? 0 : put(c, number, &one.socket);
    close(one.socket.fd);
    return answer(c, bad ? bad : error);
  }
  /* A server on every address was bound to the IPv4 loopback. */
  if (!has_own_listener(&one.to, one.port))
    one.to = (struct in6_addr){.s6_addr32 = {0, 0, htonl(0xffff), htonl(INADDR_LOOPBACK)}};
  if (has_own_listener(&one.to, one.port) && as_family(&one.to, one.port, family, &one.address, &one.length))
    return begin(&one);
  close(one.socket.fd);
  answer(c, ECONNREFUSED);
}

/* Replaces the address by the loopback, so that no other machine reaches it. Returns an errno, or
 * 0. */
static int keep_inside(union address *a, int fd) {
  int only_six = 0;
  socklen_t length = sizeof only_six;
  if (a->any.sa_family == AF_INET) {
    if (a->four.sin_addr.s_addr == htonl(INADDR_ANY)) a->four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ntohl(a->four.sin_addr.s_addr) >> 24 == 127 ? 0 : EADDRNOTAVAIL;
  }
  if (!memcmp(&a->six.sin6_addr, &any_six, sizeof any_six)) {
    if (getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_six, &length)) return errno;
    a->six.sin6_addr = only_six
                           ? loopback_six
                           : (struct in6_addr){.s6_addr32 = {0, 0, htonl(0xffff), htonl(INADDR_LOOPBACK)}};
  }
  if (is_mapped(&a->six.sin6_addr) && a->six.sin6_addr.s6_addr32[3] == 0)
    a->six.sin6_addr.s6_addr32[3] = htonl(INADDR_LOOPBACK);
  return is_loopback(&a->six.sin6_addr) ? 0 : EADDRNOTAVAIL;
}

/* Returns an errno, or 0. */
static int finish_bind(const struct call *c, int number, const struct taken *t) {
  int error = put(c, number, t);
  if (!error && t->is_new) keep(t->fd);
  return error;
}

static void bind_local(const struct call *c, int number, union address *a, uint64_t length) {
  static struct spot s;
  struct taken t;
  int error = 0;
  /* an abstract name is visible to the whole machine */
  if (length <= PATH_START || !a->local.sun_path[0]) return answer(c, EPERM);
  if (find_spot(c, AT_FDCWD, a->local.sun_path, 0, &s)) return answer(c, errno);
  if (!is_ours(&s)) error = EACCES;
  else if (s.is_there) error = EADDRINUSE;
  else if (strlen(s.path) >= sizeof a->local.sun_path) error = ENAMETOOLONG;
  else if (strstr(s.path, "/.git/")) error = EACCES; /* programs outside take commands from sockets there */
  else error = take(c, number, AF_UNIX, &t);
  if (error) answer(c, error);
  else {
    if (family_of(t.fd) != AF_UNIX) answer(c, EINVAL);
    else if (begin_making(c, &s, CHANGE_MAKE) == 0) {
      strcpy(a->local.sun_path, s.path);
      use_umask(umask_of(c->tid));
      int failed = bind(t.fd, &a->any, (socklen_t)(PATH_START + strlen(s.path) + 1));
      if (!failed && (error = finish_bind(c, number, &t))) {
        errno = error;
        failed = 1;
      }
      end_making(c, &s, failed);
    }
    close(t.fd);
  }
  leave_spot(&s);
}

void bare_bind(const struct call *c, int number, uint64_t from, uint64_t length) {
  union address a;
  struct taken t;
  int error = copy_address(c, from, length, &a), family = a.any.sa_family, one = 1;
  if (error) return answer(c, error);
  if (family == AF_UNIX) return bind_local(c, number, &a, length);
  if (family == AF_NETLINK) { /* the port of kernel replies: no other process reads it */
    if ((error = take(c, number, AF_NETLINK, &t))) return answer(c, error);
    error = family_of(t.fd) != AF_NETLINK           ? EINVAL
            : bind(t.fd, &a.any, (socklen_t)length) ? errno
                                                    : put(c, number, &t);
    close(t.fd);
    return answer(c, error);
  }
  if (family != AF_INET && family != AF_INET6) return answer(c, EAFNOSUPPORT);
  if (length < (family == AF_INET ? sizeof a.four : offsetof(struct sockaddr_in6, sin6_scope_id)))
    return answer(c, EINVAL);
  if ((error = take(c, number, family, &t))) return answer(c, error);
  if (family_of(t.fd) != family) error = EINVAL;
  if (!error && t.is_new && setsockopt(t.fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one)) error = errno;
  if (!error) error = keep_inside(&a, t.fd);
  if (!error && bind(t.fd, &a.any, family == AF_INET ? sizeof a.four : sizeof a.six)) error = errno;
  if (!error) error = finish_bind(c, number, &t);
  close(t.fd);
  answer(c, error);
}

/* listen() without bind() would listen on every address. */
static int bind_first(int fd) {
  union address a = {0};
  socklen_t length = sizeof a;
  if (getsockname(fd, &a.any, &length)) return errno;
  if ((a.any.sa_family != AF_INET && a.any.sa_family != AF_INET6) || a.four.sin_port) return 0;
  int error = keep_inside(&a, fd);
  return error                                                                         ? error
         : bind(fd, &a.any, a.any.sa_family == AF_INET ? sizeof a.four : sizeof a.six) ? errno
                                                                                       : 0;
}

void bare_listen(const struct call *c, int number, int backlog) {
  struct taken t;
  int error = take(c, number, AF_INET, &t);
  if (error) return answer(c, error);
  error = bind_first(t.fd);
  if (!error && listen(t.fd, backlog)) error = errno;
  if (!error && family_of(t.fd) != AF_UNIX) note_server(t.fd);
  if (!error) error = put(c, number, &t);
  drop(t.fd);
  close(t.fd);
  answer(c, error);
}
