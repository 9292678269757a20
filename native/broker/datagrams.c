/* Unix datagram sockets. Each message may carry an address, in memory that no filter sees, and it
 * could name a socket of the host in the roots. Once the sandbox has a datagram socket, a message
 * with an address is read once and sent from here, to the resolved object. Before that, no socket
 * accepts such an address, and the kernel continues the call.
 *
 * A continued call may not have looked up its descriptor yet, which could then be the new socket.
 * So the first datagram socket waits until all of those calls are past the lookup. */
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
#define MOST_BYTES (4u << 20) /* of one message; a stream may accept fewer */
#define MOST_CONTROL (16u << 10)
#define MOST_RIGHTS 253            /* SCM_MAX_FD */

/* Threads whose last send continued in the kernel, with their state since. */
static struct sender { pid_t tid; int waited; long user_time; } senders[MOST_SENDERS];
static size_t sender_count;
static int too_many_senders;

static int are_there;

/* One line of /proc/PID, for threads too. */
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

static int is_sending(long number) {
  return number == SYS_sendto || number == SYS_sendmsg || number == SYS_sendmmsg;
}

/* Whether a sender has looked up its descriptor: it is gone, in another call, was in user mode
 * since, or was seen blocked in a send twice. -1 if unknown. */
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

/* Any later call of a thread comes after its last send. */
void note_caller(pid_t tid) {
  for (size_t i = 0; i < sender_count; i++)
    if (senders[i].tid == tid) {
      senders[i] = senders[--sender_count];
      return;
    }
}

/* Continues any send while there is no datagram socket. 0 if the call has to be performed here. */
int continue_send(const struct call *c) {
  if (are_there || !is_sending(c->number)) return 0;
  if (sender_count < MOST_SENDERS) senders[sender_count++] = (struct sender){.tid = c->tid, .user_time = -1};
  else too_many_senders = 1;
  let_go_on(c);
  return 1;
}

/* socket() and socketpair() have their arguments in registers, so the caller cannot replace them. */
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
  int object; /* the object of our address; -1 without */
  char *bytes;
  size_t length;
  _Alignas(struct cmsghdr) char control[MOST_CONTROL];
  size_t control_length;
  int rights[MOST_RIGHTS];
  size_t right_count;
};

/* Reads the destination once, and resolves it. Returns an errno, or 0. */
static int take_address(const struct call *c, int fd, uint64_t from, uint64_t length, struct message *m) {
  static struct spot s;
  struct sockaddr_un *address = (struct sockaddr_un *)&m->address;
  if (length > sizeof m->address) return EINVAL;
  memset(&m->address, 0, sizeof m->address);
  m->address_length = from ? (socklen_t)length : 0;
  int error = copy_memory(c, from, &m->address, m->address_length);
  if (error || !is_unix_socket(fd) || address->sun_family != AF_UNIX || m->address_length <= PATH_START ||
      !address->sun_path[0])
    return error;
  if (m->address_length > sizeof *address) return EINVAL;
  if (find_spot(c, AT_FDCWD, address->sun_path, 1, &s)) return errno;
  error = take_own_socket(&s, &m->object);
  leave_spot(&s);
  if (!error) m->address_length = name_object_address(address, m->object);
  return error;
}

static int take_bytes(const struct call *c, int fd, const struct iovec *parts, size_t count,
                      struct message *m) {
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

/* Copies the caller's descriptors that accompany the message. */
static int take_control(const struct call *c, uint64_t from, uint64_t length, struct message *m) {
  struct msghdr head = {.msg_control = m->control, .msg_controllen = length};
  if (length > MOST_CONTROL) return ENOBUFS;
  int error = copy_memory(c, from, m->control, length);
  if (error) return error;
  m->control_length = length;
  for (struct cmsghdr *at = CMSG_FIRSTHDR(&head); at; at = CMSG_NXTHDR(&head, at)) {
    if (at->cmsg_len < CMSG_LEN(0) || at->cmsg_len > length - (size_t)((char *)at - m->control))
      return EINVAL;
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

/* Returns the bytes sent, or a negative errno. The parts are in the caller's memory, or copied. */
static ssize_t send_now(const struct call *c, int fd, const struct msghdr *request, int flags) {
  static struct message m;
  m.object = -1;
  m.bytes = NULL;
  m.length = m.control_length = m.right_count = 0;
  int error = request->msg_iovlen > MOST_PARTS ? EMSGSIZE : 0;
  if (!error && request->msg_iov != parts)
    error = copy_memory(c, (uint64_t)(uintptr_t)request->msg_iov, parts, request->msg_iovlen * sizeof *parts);
  if (!error) error = take_bytes(c, fd, parts, request->msg_iovlen, &m);
  if (!error)
    error = take_control(c, (uint64_t)(uintptr_t)request->msg_control,
                         request->msg_control ? request->msg_controllen : 0, &m);
  if (!error) error = take_address(c, fd, (uint64_t)(uintptr_t)request->msg_name, request->msg_namelen, &m);
  struct iovec whole = {.iov_base = m.bytes, .iov_len = m.length};
  struct msghdr head = {.msg_iov = &whole,
                        .msg_iovlen = 1,
                        .msg_name = m.address_length ? &m.address : NULL,
                        .msg_namelen = m.address_length,
                        .msg_control = m.control_length ? m.control : NULL,
                        .msg_controllen = m.control_length};
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

void answer_send(const struct call *c, int number, uint64_t bytes, uint64_t length, int flags,
                 uint64_t address, uint64_t address_length) {
  const struct msghdr request = {.msg_name = (void *)(uintptr_t)address,
                                 .msg_namelen = (socklen_t)address_length,
                                 .msg_iov = parts,
                                 .msg_iovlen = 1};
  int fd = socket_of(c, number);
  if (fd < 0) return answer(c, EBADF);
  parts[0] = (struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = (size_t)length};
  finish(c, fd, flags, send_now(c, fd, &request, flags));
}

void answer_send_message(const struct call *c, int number, uint64_t from, int flags) {
  struct msghdr request;
  int error = copy_memory(c, from, &request, sizeof request), fd = error ? -1 : socket_of(c, number);
  if (fd < 0) return answer(c, error ? error : EBADF);
  finish(c, fd, flags, send_now(c, fd, &request, flags));
}

/* Sends one message: a caller that passed more calls again. */
void answer_send_messages(const struct call *c, int number, uint64_t from, unsigned count, int flags) {
  struct mmsghdr request;
  if (count == 0) return answer_with(c, 0);
  int error = copy_memory(c, from, &request, sizeof request), fd = error ? -1 : socket_of(c, number);
  if (fd < 0) return answer(c, error ? error : EBADF);
  ssize_t sent = send_now(c, fd, &request.msg_hdr, flags);
  unsigned written = (unsigned)sent;
  struct iovec local = {.iov_base = &written, .iov_len = sizeof written},
               remote = {.iov_base = (void *)(uintptr_t)(from + offsetof(struct mmsghdr, msg_len)),
                         .iov_len = sizeof written};
  if (sent >= 0) sent = process_vm_writev(c->tid, &local, 1, &remote, 1, 0) == sizeof written ? 1 : -EFAULT;
  finish(c, fd, flags, sent);
}
