/* The command's streams: the caller's if they only carry bytes, otherwise pipes that are relayed. */
#define _GNU_SOURCE
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int is_blocked(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/* Returns 0 when the writing side is closed. In terminal mode fds 0 and 1 are sockets, so
 * MSG_DONTWAIT works. */
int flush_relay(struct relay *r, int fd, int is_socket) {
  while (r->from < r->to) {
    ssize_t n = is_socket ? send(fd, r->bytes + r->from, r->to - r->from, MSG_DONTWAIT | MSG_NOSIGNAL)
                          : write(fd, r->bytes + r->from, r->to - r->from);
    if (n < 0) return is_blocked();
    r->from += (size_t)n;
  }
  r->from = r->to = 0;
  return 1;
}

/* A caller's stream that the command has only as a pipe. */
struct pump {
  int from, to, from_socket, to_socket;
  struct relay data;
};

static struct pump pumps[STREAM_FDS] = {{.from = -1}, {.from = -1}, {.from = -1}};
/* to restore the position after input that was passed on and never read */
static int input_file = -1, input_pipe = -1;
static off_t input_start;

static void stop_pump(struct pump *p) {
  close(p->from);
  close(p->to);
  p->from = -1;
}

/* Returns 0 if it must wait, or is done. */
static int run_pump(struct pump *p) {
  if (p->from < 0) return 0;
  if (p->data.to == 0) {
    ssize_t n = p->from_socket ? recv(p->from, p->data.bytes, sizeof p->data.bytes, MSG_DONTWAIT)
                               : read(p->from, p->data.bytes, sizeof p->data.bytes);
    if (n < 0 && is_blocked()) return 0;
    if (n <= 0) {
      stop_pump(p);
      return 0;
    }
    p->data.to = (size_t)n;
  }
  if (!flush_relay(&p->data, p->to, p->to_socket)) stop_pump(p);
  return p->from >= 0 && p->data.to == 0;
}

static int is_connected_unix(int fd, int *internet) {
  int domain, type;
  socklen_t length = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length)) return 0;
  length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length)) return 0;
  *internet = (domain == AF_INET || domain == AF_INET6) && type == SOCK_STREAM;
  return domain == AF_UNIX && (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

/* A descriptor gives more than a stream. By /proc/self/fd a file opened for reading can be opened
 * for writing, and one for appending can be read, with the host's mounts. A directory reaches all
 * below it, and an internet socket can be reconnected in the host's network. This process keeps
 * such files and sockets and relays their bytes. */
void hand_in_streams(void) {
  for (int fd = 0; fd < 3; fd++) {
    struct stat about;
    int internet = 0, ends[2];
    if (setup.has_terminal && (setup.terminal_fds >> fd & 1)) continue;
    if (fstat(fd, &about)) fail_at(STEP_STREAM, (uint32_t)fd);
    if (S_ISFIFO(about.st_mode)) continue;
    if (S_ISSOCK(about.st_mode) && is_connected_unix(fd, &internet)) continue;
    /* null, zero, full, random and urandom */
    if (S_ISCHR(about.st_mode) && major(about.st_rdev) == 1 && minor(about.st_rdev) < 10 &&
        (0x3a8 >> minor(about.st_rdev) & 1))
      continue;
    /* Unnamed, or still empty: nothing to read or overwrite. */
    if (S_ISREG(about.st_mode) && (about.st_nlink == 0 || (fd > 0 && about.st_size == 0))) continue;
    struct stat beside;
    if (fd == 2 && pumps[1].from >= 0 && !fstat(pumps[1].to, &beside) && beside.st_dev == about.st_dev &&
        beside.st_ino == about.st_ino) {
      if (dup2(1, 2) < 0) fail_at(STEP_STREAM, 2); /* one pipe, to preserve the order of lines */
      continue;
    }
    if (!S_ISREG(about.st_mode) && !internet) {
      errno = S_ISDIR(about.st_mode) ? EISDIR : ENODEV;
      fail_at(STEP_STREAM, (uint32_t)fd);
    }
    int kept = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (kept < 0 || pipe2(ends, O_CLOEXEC) || dup2(ends[fd > 0], fd) < 0) fail_at(STEP_STREAM, (uint32_t)fd);
    if (fd == 0 && S_ISREG(about.st_mode)) {
      input_pipe = ends[0];
      input_file = fcntl(kept, F_DUPFD_CLOEXEC, 3);
      input_start = lseek(kept, 0, SEEK_CUR);
      if (input_file < 0 || input_start < 0) fail_at(STEP_STREAM, 0);
    } else close(ends[fd > 0]);
    int own = ends[fd == 0];
    if (fcntl(own, F_SETFL, O_NONBLOCK)) fail_at(STEP_STREAM, (uint32_t)fd);
    pumps[fd].from = fd > 0 ? own : kept;
    pumps[fd].to = fd > 0 ? kept : own;
    pumps[fd].from_socket = internet && fd == 0;
    pumps[fd].to_socket = internet && fd > 0;
  }
}

void streams_watch(struct pollfd *fds) {
  for (int i = 0; i < STREAM_FDS; i++) {
    int pending = pumps[i].data.to != 0;
    fds[i].fd = pumps[i].from < 0 ? -1 : pending ? pumps[i].to : pumps[i].from;
    fds[i].events = pending ? POLLOUT : POLLIN;
  }
}

void streams_serve(const struct pollfd *fds) {
  for (int i = 0; i < STREAM_FDS; i++)
    if (fds[i].revents) run_pump(&pumps[i]);
}

/* How long to wait at the end. A paused reader (Ctrl-S) may take its time, as with any program;
 * only the caller's end stops it. Bytes of dead processes arrive at once. */
int drain_wait_ms(size_t pending) { return pending ? -1 : 2000; }

/* All writers are dead: the pipes contain everything. */
void drain_pumps(void) {
  for (struct pump *p = pumps + 1; p < pumps + 3; p++)
    while (p->from >= 0) {
      struct pollfd wait[2] = {{.fd = p->data.to ? p->to : p->from, .events = p->data.to ? POLLOUT : POLLIN},
                               {.fd = control, .events = 0}};
      if (poll(wait, 2, drain_wait_ms(p->data.to)) <= 0 || (wait[1].revents & (POLLHUP | POLLERR))) return;
      run_pump(p);
    }
}

/* The caller continues reading after the command's input, as without a sandbox: `while read line;
 * do …; done < file`. */
void give_input_back(void) {
  int unread = 0;
  if (input_file < 0 || ioctl(input_pipe, FIONREAD, &unread)) return;
  off_t at = lseek(input_file, 0, SEEK_CUR) - unread - (off_t)(pumps[0].data.to - pumps[0].data.from);
  /* The command can write into the pipe too. */
  lseek(input_file, at < input_start ? input_start : at, SEEK_SET);
}
