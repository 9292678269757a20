/*
 * Unix datagram sockets. Each message may bring its own address, in memory where no filter sees it, and that of a host's socket in the
 * roots is as good as any. So once there is one such socket in the sandbox, a message with an address is read once and sent here, to
 * the very object that was found. Until then no socket would take such an address, and the kernel goes on with it.
 *
 * What went on before may not have looked at its descriptor yet, which then could be the new socket. The first one therefore waits
 * until all of those are seen to be past that.
 */
#define _GNU_SOURCE
#include "broker.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define PATH_START offsetof(struct sockaddr_un, sun_path)
#define MOST_SENDERS 1024
#define MOST_PARTS 1024            /* UIO_MAXIOV */
#define MOST_BYTES (4u << 20)      /* of one message; a stream takes what fits */
#define MOST_CONTROL (16u << 10)
#define MOST_RIGHTS 253            /* SCM_MAX_FD */

/* Threads whose last send went on in the kernel, and what was seen of them since. */
static struct sender { pid_t tid; int waited; long user_time; } senders[MOST_SENDERS];
static size_t sender_count;
static int too_many_senders;

static int are_there;

/* One line of /proc/PID, for a thread as for a process. */
static int read_line(pid_t tid, const char *name, char *into, size_t size) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/%s", tid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, into, size - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return -1;
  into[n] = 0;
  return 0;
}

static long user_time(pid_t tid) {
  char text[1024];
  long time = -1;
  const char *end = read_line(tid, "stat", text, sizeof text) ? NULL : strrchr(text, ')');
  if (end) (void)sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld", &time);
  return time;
}

static int is_sending(long number) { return number == SYS_sendto || number == SYS_sendmsg || number == SYS_sendmmsg; }

/*
 * Whether it is past the look at its descriptor: gone, in another call, in user mode since the first look, or at a second look still
 * waiting in a send, which waits after it has its socket. -1 where that cannot be seen.
 */
static int is_past(struct sender *one) {
  char text[256];
  if (read_line(one->tid, "syscall", text, sizeof text)) return kill(one->tid, 0) && errno == ESRCH ? 1 : -1;
  int runs = !strncmp(text, "running", 7);
  if (!runs && (!is_sending(atol(text)) || one->waited)) return 1;
  long now = user_time(one->tid);
  if (one->user_time < 0) one->user_time = now;
  one->waited = !runs;
  return now > one->user_time;
}

/* What it calls now it calls after its last send. */
void note_caller(pid_t tid) {
  for (size_t i = 0; i < sender_count; i++)
    if (senders[i].tid == tid) {
      senders[i] = senders[--sender_count];
      return;
    }
}

static void go_on_sending(const struct call *c) {
  if (sender_count < MOST_SENDERS) senders[sender_count++] = (struct sender){.tid = c->tid, .user_time = -1};
  else too_many_senders = 1;
  let_go_on(c);
}

/* The arguments of socket() and socketpair() are in registers: what was seen is what is made. */
void answer_datagram_socket(const struct call *c) {
  for (size_t i = sender_count; !are_there && i-- > 0;) {
    int past = is_past(&senders[i]);
    if (past < 0) return answer(c, EPERM);
    if (past) senders[i] = senders[--sender_count];
  }
  if (too_many_senders && !are_there) return answer(c, EPERM);
  if (sender_count && !are_there) return try_later(c);
  are_there = 1;
  let_go_on(c);
}

struct message {
  struct sockaddr_storage address;
  socklen_t address_length;
  int object; /* what an address of ours names; -1 */
  char *bytes;
  size_t length;
  _Alignas(struct cmsghdr) char control[MOST_CONTROL];
  size_t control_length;
  int rights[MOST_RIGHTS];
  size_t right_count;
};

static int copy_in(const struct call *c, void *to, uint64_t from, size_t length) {
  struct iovec local = {.iov_base = to, .iov_len = length}, remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = length};
  return length == 0 || process_vm_readv(c->tid, &local, 1, &remote, 1, 0) == (ssize_t)length ? 0 : EFAULT;
}

/* Where it goes, which is nobody else's by the time it is sent. Returns an errno, or 0. */
static int take_address(const struct call *c, int fd, uint64_t from, uint64_t length, struct message *m) {
  static struct spot s;
  struct sockaddr_un *address = (struct sockaddr_un *)&m->address;
  if (length > sizeof m->address) return EINVAL;
  memset(&m->address, 0, sizeof m->address);
  m->address_length = from ? (socklen_t)length : 0;
  int error = copy_in(c, &m->address, from, m->address_length);
  if (error || !is_unix_socket(fd) || address->sun_family != AF_UNIX || m->address_length <= PATH_START || !address->sun_path[0]) return error;
  if (m->address_length > sizeof *address) return EINVAL;
  if (find_spot(c, AT_FDCWD, address->sun_path, 1, &s)) return errno;
  error = take_own_socket(&s, &m->object);
  leave_spot(&s);
  if (!error) m->address_length = (socklen_t)(PATH_START + 1 + (size_t)snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d", m->object));
  return error;
}

static int take_bytes(const struct call *c, int fd, const struct iovec *parts, size_t count, struct message *m) {
  int type = 0;
  socklen_t length = sizeof type;
  size_t whole = 0;
  for (size_t i = 0; i < count; i++) {
    if (parts[i].iov_len > SSIZE_MAX - whole) return EINVAL;
    whole += parts[i].iov_len;
  }
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length)) return errno;
  if (whole > MOST_BYTES && type != SOCK_STREAM) return EMSGSIZE;
  if (whole > MOST_BYTES) whole = MOST_BYTES;
  if (!(m->bytes = malloc(whole + 1))) return ENOMEM;
  m->length = whole;
  struct iovec local = {.iov_base = m->bytes, .iov_len = whole};
  return whole == 0 || process_vm_readv(c->tid, &local, 1, parts, count, 0) == (ssize_t)whole ? 0 : EFAULT;
}

/* Descriptors that go with it are the caller's own. */
static int take_control(const struct call *c, uint64_t from, uint64_t length, struct message *m) {
  struct msghdr head = {.msg_control = m->control, .msg_controllen = length};
  if (length > MOST_CONTROL) return ENOBUFS;
  int error = copy_in(c, m->control, from, length);
  if (error) return error;
  m->control_length = length;
  for (struct cmsghdr *at = CMSG_FIRSTHDR(&head); at; at = CMSG_NXTHDR(&head, at)) {
    if (at->cmsg_len < CMSG_LEN(0) || at->cmsg_len > length - (size_t)((char *)at - m->control)) return EINVAL;
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS) continue;
    int *numbers = (int *)CMSG_DATA(at);
    for (size_t i = 0; i < (at->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
      if (m->right_count == MOST_RIGHTS) return EINVAL;
      int fd = socket_of(c, numbers[i]);
      if (fd < 0) return EBADF;
      numbers[i] = m->rights[m->right_count++] = fd;
    }
  }
  return 0;
}

static struct iovec parts[MOST_PARTS];

/* Returns what was sent, or an errno below zero. The parts are the caller's, or were copied before. */
static ssize_t send_now(const struct call *c, int fd, const struct msghdr *asked, int flags) {
  static struct message m;
  m.object = -1;
  m.bytes = NULL;
  m.length = m.control_length = m.right_count = 0;
  int error = asked->msg_iovlen > MOST_PARTS ? EMSGSIZE : 0;
  if (!error && asked->msg_iov != parts) error = copy_in(c, parts, (uint64_t)(uintptr_t)asked->msg_iov, asked->msg_iovlen * sizeof *parts);
  if (!error) error = take_bytes(c, fd, parts, asked->msg_iovlen, &m);
  if (!error) error = take_control(c, (uint64_t)(uintptr_t)asked->msg_control, asked->msg_control ? asked->msg_controllen : 0, &m);
  if (!error) error = take_address(c, fd, (uint64_t)(uintptr_t)asked->msg_name, asked->msg_namelen, &m);
  struct iovec whole = {.iov_base = m.bytes, .iov_len = m.length};
  struct msghdr head = {.msg_iov = &whole, .msg_iovlen = 1, .msg_name = m.address_length ? &m.address : NULL, .msg_namelen = m.address_length, .msg_control = m.control_length ? m.control : NULL, .msg_controllen = m.control_length};
  ssize_t sent = error ? -1 : sendmsg(fd, &head, flags | MSG_NOSIGNAL | MSG_DONTWAIT);
  if (!error && sent < 0) error = errno;
  for (size_t i = 0; i < m.right_count; i++) close(m.rights[i]);
  if (m.object >= 0) close(m.object);
  free(m.bytes);
  return error ? -error : sent;
}

static void finish(const struct call *c, int fd, int flags, ssize_t sent) {
  int waits = sent == -EAGAIN && !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
  close(fd);
  if (waits) try_later(c);
  else answer_with(c, sent);
}

void answer_send(const struct call *c, int number, uint64_t bytes, uint64_t length, int flags, uint64_t address, uint64_t address_length) {
  const struct msghdr asked = {.msg_name = (void *)(uintptr_t)address, .msg_namelen = (socklen_t)address_length, .msg_iov = parts, .msg_iovlen = 1};
  if (!are_there) return go_on_sending(c);
  int fd = socket_of(c, number);
  if (fd < 0) return answer(c, EBADF);
  parts[0] = (struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = (size_t)length};
  finish(c, fd, flags, send_now(c, fd, &asked, flags));
}

void answer_send_message(const struct call *c, int number, uint64_t from, int flags) {
  struct msghdr asked;
  if (!are_there) return go_on_sending(c);
  int error = copy_in(c, &asked, from, sizeof asked), fd = error ? -1 : socket_of(c, number);
  if (fd < 0) return answer(c, error ? error : EBADF);
  finish(c, fd, flags, send_now(c, fd, &asked, flags));
}

/* One of them at a time: who asked for more asks again. */
void answer_send_messages(const struct call *c, int number, uint64_t from, unsigned count, int flags) {
  struct mmsghdr asked;
  if (!are_there) return go_on_sending(c);
  if (count == 0) return answer_with(c, 0);
  int error = copy_in(c, &asked, from, sizeof asked), fd = error ? -1 : socket_of(c, number);
  if (fd < 0) return answer(c, error ? error : EBADF);
  ssize_t sent = send_now(c, fd, &asked.msg_hdr, flags);
  unsigned written = (unsigned)sent;
  struct iovec local = {.iov_base = &written, .iov_len = sizeof written}, remote = {.iov_base = (void *)(uintptr_t)(from + offsetof(struct mmsghdr, msg_len)), .iov_len = sizeof written};
  if (sent >= 0) sent = process_vm_writev(c->tid, &local, 1, &remote, 1, 0) == sizeof written ? 1 : -EFAULT;
  finish(c, fd, flags, sent);
}
