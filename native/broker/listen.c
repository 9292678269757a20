/* listen(): performed here if the parent serves ports, so that the server exists when it is
 * reported. */
#define _GNU_SOURCE
#include "broker.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t process_of(pid_t tid) {
  char path[48], text[512];
  snprintf(path, sizeof path, "/proc/%d/status", tid);
  int status = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = status < 0 ? -1 : read(status, text, sizeof text - 1);
  if (status >= 0) close(status);
  if (n <= 0) return -1;
  text[n] = 0;
  const char *line = strstr(text, "\nTgid:");
  return line ? (pid_t)atoi(line + 6) : -1;
}

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

/* Before Linux 6.9 only a process can be asked. A thread may have its own descriptor table, so the
 * socket's inode is compared. */
static int socket_of_process(pid_t tid, int number) {
  struct stat got, meant;
  char path[64];
  int process = (int)syscall(SYS_pidfd_open, process_of(tid), 0);
  int fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
  if (process >= 0) close(process);
  if (fd < 0) return -1;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", tid, number);
  if (fstat(fd, &got) == 0 && stat(path, &meant) == 0 && got.st_dev == meant.st_dev &&
      got.st_ino == meant.st_ino)
    return fd;
  close(fd);
  return -1;
}

/* The caller's socket; -1 if unavailable. */
int socket_of(const struct call *c, int number) {
  int thread = (int)syscall(SYS_pidfd_open, c->tid, PIDFD_THREAD);
  int fd = thread >= 0 ? (int)syscall(SYS_pidfd_getfd, thread, number, 0)
         : errno == EINVAL ? socket_of_process(c->tid, number)
                           : -1;
  uint64_t id = c->id;
  if (thread >= 0) close(thread);
  if (fd < 0 || ioctl(c->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0) return fd;
  close(fd);
  return -1;
}

/* The kernel records the listening process of a unix socket, so the caller calls listen() itself. */
void answer_listen(const struct call *c, int number, int backlog) {
  int domain = AF_UNSPEC, error = 0;
  socklen_t length = sizeof domain;
  if (!reports_servers()) return let_go_on(c);
  int fd = socket_of(c, number);
  int known = fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0;
  if (known && (domain == AF_INET || domain == AF_INET6)) {
    if (listen(fd, backlog)) error = errno;
    answer(c, error);
  } else let_go_on(c);
  if (fd >= 0) close(fd);
  if (fd < 0 || domain == AF_INET || domain == AF_INET6) servers_changed(fd >= 0);
}
