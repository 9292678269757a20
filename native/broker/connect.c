/* connect() and bind(). Any user of a folder may own a unix socket in it. So the connection is
 * performed here, to the resolved object, and only if its socket belongs to the sandbox's network
 * namespace. bind() in a root is judged like other changes. Both use the caller's own socket: if
 * the kernel continued the call, another socket could have its number. */
#define _GNU_SOURCE
#include "broker.h"
#include "../programs/programs.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATH_START offsetof(struct sockaddr_un, sun_path)
#define STACK_BYTES (128 * 1024)

/* A requested connection. */
struct connection {
  struct call call;
  int fd;     /* the caller's socket */
  int object; /* the object of our address; -1 without */
  socklen_t length;
  struct sockaddr_storage address;
};

/* The device of a mount as the kernel numbers it; its files may report another one. 0 if unknown. */
static uint32_t device_of(uint64_t mount) {
  static char *line;
  static size_t size;
  uint32_t found = 0;
  FILE *mounts = fopen("/proc/self/mountinfo", "re");
  while (mounts && !found && getline(&line, &size, mounts) > 0) {
    unsigned long long id;
    unsigned major, minor;
    if (sscanf(line, "%llu %*u %u:%u", &id, &major, &minor) == 3 && id == mount) found = major << 20 | minor;
  }
  if (mounts) fclose(mounts);
  return found;
}

static int is_message_of(const struct nlmsghdr *head, uint32_t inode, uint32_t device) {
  int left = (int)head->nlmsg_len - (int)NLMSG_LENGTH(sizeof(struct unix_diag_msg));
  for (struct rtattr *at =
           (struct rtattr *)((char *)NLMSG_DATA(head) + NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
       RTA_OK(at, left); at = RTA_NEXT(at, left)) {
    struct unix_diag_vfs place;
    if (at->rta_type != UNIX_DIAG_VFS || RTA_PAYLOAD(at) < sizeof place) continue;
    memcpy(&place, RTA_DATA(at), sizeof place);
    if (place.udiag_vfs_ino == inode && place.udiag_vfs_dev == device) return 1;
  }
  return 0;
}

/* Whether a socket of this network namespace, which is the sandbox's, is bound there. */
static int is_own_socket(const struct spot *s) {
  static char text[32768] __attribute__((aligned(__alignof__(struct nlmsghdr))));
  struct { struct nlmsghdr head; struct unix_diag_req ask; } request;
  uint32_t device = device_of(s->mount);
  int own = 0, channel = device ? socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG) : -1;
  memset(&request, 0, sizeof request);
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.ask.sdiag_family = AF_UNIX;
  request.ask.udiag_states = ~0u;
  request.ask.udiag_show = UDIAG_SHOW_VFS;
  int ended = channel < 0 || send(channel, &request, sizeof request, 0) != (ssize_t)sizeof request;
  while (!ended && !own) {
    ssize_t n = recv(channel, text, sizeof text, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    size_t left = (size_t)n;
    for (struct nlmsghdr *at = (struct nlmsghdr *)text; NLMSG_OK(at, left) && !ended && !own;
         at = NLMSG_NEXT(at, left)) {
      ended = at->nlmsg_type == NLMSG_DONE || at->nlmsg_type == NLMSG_ERROR;
      own = !ended && at->nlmsg_len >= NLMSG_LENGTH(sizeof(struct unix_diag_msg)) &&
            is_message_of(at, (uint32_t)s->about.st_ino, device);
    }
  }
  if (channel >= 0) close(channel);
  return own;
}

static void connect_now(void *given) {
  struct connection *one = given;
  int error = connect(one->fd, (struct sockaddr *)&one->address, one->length) ? errno : 0;
  close(one->fd);
  if (one->object >= 0) close(one->object);
  answer(&one->call, error);
}

struct apart {
  struct helpers *helpers;
  void (*work)(void *);
  _Alignas(max_align_t) char with[];
};

static void *run_apart(void *given) {
  struct apart *one = given;
  one->work(one->with);
  atomic_fetch_sub(&one->helpers->running, 1);
  free(one);
  return NULL;
}

int work_apart(struct helpers *helpers, void (*work)(void *), const void *with, size_t size) {
  pthread_attr_t small;
  pthread_t thread;
  struct apart *one = atomic_load(&helpers->running) < helpers->most ? malloc(sizeof *one + size) : NULL;
  if (!one) return -1;
  *one = (struct apart){.helpers = helpers, .work = work};
  memcpy(one->with, with, size);
  atomic_fetch_add(&helpers->running, 1);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK_BYTES);
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  int bad = pthread_create(&thread, &small, run_apart, one);
  pthread_attr_destroy(&small);
  if (!bad) return 0;
  atomic_fetch_sub(&helpers->running, 1);
  free(one);
  return -1;
}

/* A blocking socket waits in its own thread: this one answers other calls. */
static void begin_connect(struct connection *one) {
  static struct helpers helpers = {.most = 32};
  if (fcntl(one->fd, F_GETFL) & O_NONBLOCK) return connect_now(one);
  if (work_apart(&helpers, connect_now, one, sizeof *one) == 0) return;
  close(one->fd);
  if (one->object >= 0) close(one->object);
  try_later(&one->call);
}

/* Reads the caller's address. Returns an errno, or 0. */
static int copy_address(const struct call *c, uint64_t from, uint64_t length, struct connection *one) {
  memset(&one->address, 0, sizeof one->address);
  one->length = (socklen_t)length;
  return length > sizeof one->address ? EINVAL : copy_memory(c, from, &one->address, (size_t)length);
}

/* The path of a unix address; NULL without one. The bytes after it are zero. */
static const char *path_of(const struct connection *one) {
  const struct sockaddr_un *address = (const struct sockaddr_un *)&one->address;
  return one->length > PATH_START && one->length <= sizeof *address && address->sun_family == AF_UNIX &&
                 address->sun_path[0]
             ? address->sun_path
             : NULL;
}

int is_unix_socket(int fd) {
  int domain = AF_UNSPEC;
  socklen_t length = sizeof domain;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
}

/* Opens a socket that belongs to this sandbox; the descriptor cannot change to another one. Returns
 * an errno, or 0. */
int take_own_socket(struct spot *s, int *object) {
  int error = !s->is_there                  ? ENOENT
              : !S_ISSOCK(s->about.st_mode) ? ECONNREFUSED
              : open_object(s) < 0          ? errno
              : !is_own_socket(s)           ? ECONNREFUSED
                                            : 0;
  if (error == 0 && (*object = fcntl(s->object, F_DUPFD_CLOEXEC, 3)) < 0) error = errno;
  return error;
}

socklen_t name_object_address(struct sockaddr_un *address, int object) {
  int length = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d", object);
  return (socklen_t)(PATH_START + 1 + (size_t)length);
}

/* Replaces the path in the address by the resolved object. Returns an errno, or 0. */
static int take_object(const struct call *c, struct connection *one, const char *path) {
  static struct spot s;
  if (find_spot(c, AT_FDCWD, path, 1, &s)) return errno;
  int error = take_own_socket(&s, &one->object);
  leave_spot(&s);
  if (!error) one->length = name_object_address((struct sockaddr_un *)&one->address, one->object);
  return error;
}

void answer_socket_connect(const struct call *c, int number, uint64_t from, uint64_t length) {
  struct connection one = {.call = *c, .object = -1};
  uint32_t caller = callers_are_told() ? number_of(c->tid) : 0;
  if ((one.fd = socket_of(c, number)) < 0) return answer(c, EBADF);
  int error = copy_address(c, from, length, &one);
  const char *path = error == 0 && is_unix_socket(one.fd) ? path_of(&one) : NULL;
  if (path) error = take_object(c, &one, path);
  else if (error == 0 && callers_are_told())
    error = name_caller(c->tid, caller, one.fd, (struct sockaddr *)&one.address, one.length);
  if (error == 0) return begin_connect(&one);
  close(one.fd);
  answer(c, error);
}

/* The address of a new socket: the resolved path, which has no links, or in a deep folder its name
 * in the current directory. Returns its length, or 0 if neither fits. */
static socklen_t name_new_address(struct sockaddr_un *address, const struct spot *s) {
  const char *path = strlen(s->path) < sizeof address->sun_path && !strchr(s->name, '/') ? s->path : s->name;
  size_t length = strlen(path) + 1;
  if (length > sizeof address->sun_path || (path == s->name && fchdir(s->parent))) return 0;
  memcpy(address->sun_path, path, length);
  return (socklen_t)(PATH_START + length);
}

/* Outside the roots the kernel continues the call, and Landlock decides. */
void answer_bind(const struct call *c, int number, uint64_t from, uint64_t length) {
  static struct spot s;
  struct connection one = {.call = *c, .object = -1};
  struct sockaddr_un *address = (struct sockaddr_un *)&one.address;
  const char *path = copy_address(c, from, length, &one) ? NULL : path_of(&one);
  if (!path) return let_go_on(c);
  if ((one.fd = socket_of(c, number)) < 0) return answer(c, EBADF);
  int error = is_unix_socket(one.fd) ? find_spot(c, AT_FDCWD, path, 0, &s) : EAFNOSUPPORT;
  if (error) {
    close(one.fd);
    return error == EAFNOSUPPORT ? answer(c, error) : not_found(c);
  }
  if (!is_ours(&s)) let_go_on(c);
  else if (s.is_there) answer(c, EADDRINUSE);
  /* Programs outside take commands from sockets there: git from its file system monitor. */
  else if (strstr(s.path, "/.git/")) refuse_making(c, &s, EACCES);
  else if ((one.length = name_new_address(address, &s)) == 0) answer(c, ENAMETOOLONG);
  else if (begin_making(c, &s, CHANGE_MAKE) == 0) {
    /* In the roots nothing moves while this call is answered. */
    use_umask(umask_of(c->tid));
    end_making(c, &s, bind(one.fd, (struct sockaddr *)address, one.length));
  }
  if (chdir("/")) abort();
  close(one.fd);
  leave_spot(&s);
}
