/*
 * cordon-serve: an addon with which a Node process serves requests of the resident Cordon, one at a time.
 *
 *   next(idle, stamp)  waits so many seconds for a request, and takes over its directory, umask, stdin,
 *                      stdout and stderr. Returns its arguments and variables (hand-over.c, write_payload);
 *                      undefined without a request, null when this process is no longer needed. If the
 *                      caller ends before its answer, the kernel kills this process.
 *   done(code)         answers with an exit code, with the signal to die by in its second byte, and releases
 *                      all that belonged to the caller
 *
 * Requests are accepted only from processes of this user in the keeper's surroundings (place.c): others would
 * be served with foreign rights, limits or Landlock domains.
 */
#define _GNU_SOURCE
#include "../addon.h"
#include "resident.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELLO_MS = 200, GO_MS = 1000, MAX_PAYLOAD = 64 * 1024 * 1024 };

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static pid_t caller;
static int connection = -1, life = -1, waits = -1, nothing = -1, proof = -1;
static char here[SURROUNDINGS];
static size_t here_length;

static int report(char state) {
  struct word word;
  memset(&word, 0, sizeof word);
  word.pid = getpid();
  word.state = state;
  /* A keeper that is gone is noticed at QUIT_FD. */
  return write(WORDS_FD, &word, sizeof word) == (ssize_t)sizeof word;
}

static void limit_wait(int fd, int milliseconds) {
  struct timeval limit = {milliseconds / 1000, milliseconds % 1000 * 1000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

static int answer(int fd, enum answer what) {
  struct ready ready = {MAGIC, (uint32_t)what, getpid(), proof};
  return send(fd, &ready, sizeof ready, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof ready;
}

/* Whether the caller has the same surroundings. It must still exist at the end, so that its pid was
 * not reused. */
static int is_neighbour(int fd, pid_t peer) {
  char there[SURROUNDINGS];
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  /* Kernels before 6.5 cannot return the pidfd of the peer. */
  if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size))
    pidfd = errno == ENOPROTOOPT ? (int)syscall(SYS_pidfd_open, peer, 0) : -1;
  if (pidfd < 0) return 0;
  size_t length = read_surroundings(peer, there, sizeof there);
  struct pollfd gone = {pidfd, POLLIN, 0};
  int same = length > 0 && length == here_length && !memcmp(here, there, length) && poll(&gone, 1, 0) == 0;
  close(pidfd);
  return same;
}

/* Whether the caller may be served here; it is notified. */
static int greet(int fd, const struct stamp *stamp) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  struct hello hello;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.uid != geteuid() || peer.pid <= 0)
    return 0;
  limit_wait(fd, HELLO_MS);
  if (recv(fd, &hello, sizeof hello, 0) != (ssize_t)sizeof hello || hello.magic != MAGIC) return 0;
  if (memcmp(&hello.stamp, stamp, sizeof *stamp)) {
    answer(fd, STALE);
    /* The keeper checks for another build. */
    report('S');
    return 0;
  }
  if (!is_neighbour(fd, peer.pid)) {
    answer(fd, ELSEWHERE);
    return 0;
  }
  caller = peer.pid;
  return answer(fd, READY);
}

/* Receives the request; fds are -1 if it is incomplete. */
static int receive_go(int fd, struct go *go, int fds[HANDED]) {
  struct iovec part = {go, sizeof *go};
  union {
    char bytes[CMSG_SPACE(2 * HANDED * sizeof(int))];
    struct cmsghdr head;
  } control;
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  limit_wait(fd, GO_MS);
  ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  int received = 0;
  for (struct cmsghdr *head = n < 0 ? NULL : CMSG_FIRSTHDR(&message); head;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    int given = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int i = 0; i < given; i++) {
      int one;
      memcpy(&one, CMSG_DATA(head) + (size_t)i * sizeof(int), sizeof one);
      if (received < HANDED) fds[received] = one;
      else close(one);
      received++;
    }
  }
  return n == (ssize_t)sizeof *go && go->magic == MAGIC && received == HANDED &&
         !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

/* Whether the caller may inspect this process: it opened one of its descriptors in /proc. A caller
 * in a Landlock domain cannot, and root may enter one without no_new_privs. */
static int is_proven(int handed) {
  struct stat own, shown;
  return !fstat(proof, &own) && !fstat(handed, &shown) && own.st_dev == shown.st_dev &&
         own.st_ino == shown.st_ino;
}

/* Ends this process with the caller: the answer would have no reader, and its command must not
 * outlive it. Uses a pipe without writes, because the connection may still signal its last message
 * after it was read. */
static int end_with(int fd) {
  struct stat facts;
  if (fstat(fd, &facts) || !S_ISFIFO(facts.st_mode)) return 0;
  if (fcntl(fd, F_SETOWN, getpid()) || fcntl(fd, F_SETSIG, SIGKILL) || fcntl(fd, F_SETFL, O_ASYNC)) return 0;
  struct pollfd gone = {fd, POLLIN, 0};
  return poll(&gone, 1, 0) == 0;
}

static void outlive(void) {
  if (life < 0) return;
  fcntl(life, F_SETFL, 0);
  close(life);
  life = -1;
}

static void *read_payload(int fd, size_t *size) {
  struct stat facts;
  if (fstat(fd, &facts) || !S_ISREG(facts.st_mode) || facts.st_size < 8 || facts.st_size > MAX_PAYLOAD)
    return NULL;
  *size = (size_t)facts.st_size;
  char *bytes = malloc(*size);
  for (size_t at = 0; bytes && at < *size;) {
    ssize_t n = pread(fd, bytes + at, *size - at, (off_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      free(bytes);
      return NULL;
    }
    at += (size_t)n;
  }
  return bytes;
}

/* Takes over the caller's state; returns the request's bytes, or NULL if incomplete. */
static void *become(int fd, size_t *size) {
  int fds[HANDED];
  struct go go;
  void *payload = NULL;
  memset(fds, -1, sizeof fds);
  if (receive_go(fd, &go, fds) && is_proven(fds[HANDED_PROOF]) &&
      (payload = read_payload(fds[HANDED_PAYLOAD], size))) {
    life = fds[HANDED_LIFE];
    fds[HANDED_LIFE] = -1;
    int placed = !fchdir(fds[HANDED_CWD]) && end_with(life);
    for (int i = 0; placed && i < 3; i++) placed = dup2(fds[HANDED_STDIN + i], i) == i;
    umask(go.umask & 0777);
    if (!placed) {
      free(payload);
      payload = NULL;
    }
  }
  for (int i = 0; i < HANDED; i++)
    if (fds[i] >= 0) close(fds[i]);
  return payload;
}

static void let_go(void) {
  for (int i = 0; i < 3; i++) dup2(nothing, i);
  (void)!chdir("/");
  umask(077);
  outlive();
  if (connection >= 0) close(connection);
  connection = -1;
}

static void finish(int32_t code) {
  struct done message = {MAGIC, code};
  /* The caller may end as soon as it has its answer. */
  outlive();
  send(connection, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int open_waits(void) {
  struct epoll_event listening = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = LISTENER_FD},
                     quitting = {.events = EPOLLIN, .data.fd = QUIT_FD};
  for (int fd = LISTENER_FD; fd <= QUIT_FD; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
  nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  proof = memfd_create("cordon-proof", MFD_CLOEXEC);
  waits = epoll_create1(EPOLL_CLOEXEC);
  here_length = read_surroundings(getppid(), here, sizeof here);
  return nothing >= 0 && proof >= 0 && here_length > 0 &&
         !epoll_ctl(waits, EPOLL_CTL_ADD, LISTENER_FD, &listening) &&
         !epoll_ctl(waits, EPOLL_CTL_ADD, QUIT_FD, &quitting);
}

static napi_value next(napi_env env, napi_callback_info info) {
  size_t count = 2, size;
  napi_value given[2], result;
  struct stamp *stamp;
  double idle;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) || count != 2 ||
      napi_get_value_double(env, given[0], &idle) ||
      napi_get_buffer_info(env, given[1], (void **)&stamp, &size) || size != sizeof *stamp ||
      connection >= 0 || (waits < 0 && !open_waits())) {
    napi_throw_error(
        env, NULL, "cordon-serve: next takes seconds and a stamp, for one request at a time, from a keeper");
    return NULL;
  }
  /* bubblewrap of a finished command may end after its caller was answered. */
  while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  for (int is_reported = report('I');;) {
    struct epoll_event event;
    int found = epoll_wait(waits, &event, 1, (int)(idle * 1000));
    if (found < 0 && errno == EINTR) continue;
    if (is_reported && found == 0) {
      napi_get_undefined(env, &result);
      return result;
    }
    napi_get_null(env, &result);
    if (!is_reported || found < 0 || event.data.fd == QUIT_FD) return result;
    int fd = accept4(LISTENER_FD, NULL, NULL, SOCK_CLOEXEC);
    /* The keeper has stopped listening; poll would report that without end. */
    if (fd < 0 && errno == EINVAL) return result;
    if (fd < 0) continue;
    size_t length;
    void *payload = NULL;
    report('B');
    connection = fd;
    if (greet(fd, stamp)) {
      if ((payload = become(fd, &length))) {
        napi_create_buffer_copy(env, length, payload, NULL, &result);
        free(payload);
        return result;
      }
      finish(NOT_BEGUN);
    }
    let_go();
    is_reported = report('I');
  }
}

static napi_value done(napi_env env, napi_callback_info info) {
  double code;
  if (!takes_number(env, info, &code)) {
    napi_throw_error(env, NULL, "cordon-serve: done takes a code");
    return NULL;
  }
  if (connection >= 0) finish((int32_t)code & 0xffff);
  let_go();
  return NULL;
}

static napi_value calling(napi_env env, napi_callback_info info) {
  napi_value result;
  (void)info;
  return napi_create_int32(env, caller, &result) ? NULL : result;
}

__attribute__((visibility("default"))) int node_api_module_get_api_version_v1(void) { return 8; }

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  const struct addon_function functions[] = {{"next", next}, {"done", done}, {"caller", calling}};
  return with_functions(env, exports, functions, sizeof functions / sizeof *functions);
}
