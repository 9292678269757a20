/* Passes one call to a resident. Checks the listener, sends the caller's state in one message, and
 * exits with the worker's result. Nothing runs before `go` is sent. */
#define _GNU_SOURCE
#include "../clock.h"
#include "client.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
  READY_MS = 150, /* a worker answers within one; starting a process takes forty */
  ANSWER_MS = 5000 /* then the hook is answered without the resident, in time for its host */
};

/* Whether there is data, or the end, before the deadline. */
int await(int fd, int64_t deadline) {
  for (;;) {
    struct pollfd wait = {fd, POLLIN, 0};
    int64_t left = deadline - now_ms();
    int found = poll(&wait, 1, left < 0 ? 0 : (int)left);
    if (found >= 0 || errno != EINTR) return found > 0;
  }
}

int write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t n = write(fd, bytes, length);
    if (n < 0 && errno == EAGAIN) {
      struct pollfd wait = {fd, POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (n < 0 && errno != EINTR) return 0;
    if (n > 0) bytes += n, length -= (size_t)n;
  }
  return 1;
}

enum listener { STRANGER, OTHER_BUILD, OWN };

/* Checks the listening process. Only this very program, in the same namespaces, receives the call;
 * another build is notified. */
static enum listener listener_of(int connection) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  struct stat own, other;
  char path[64];
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.uid != geteuid() || peer.pid <= 0)
    return STRANGER;
  static const char *const SAME[] = {"ns/mnt", "ns/user", "ns/pid", "exe"};
  enum { NAMESPACES = 3, ALL };
  int same = 0;
  for (; same < ALL; same++) {
    snprintf(path, sizeof path, "/proc/self/%s", SAME[same]);
    if (stat(path, &own)) return STRANGER;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)peer.pid, SAME[same]);
    if (stat(path, &other) || own.st_dev != other.st_dev || own.st_ino != other.st_ino) break;
  }
  return same == ALL ? OWN : same == NAMESPACES ? OTHER_BUILD : STRANGER;
}

/* Starts a keeper for the next call, without waiting for it; an unneeded one ends by itself. */
static void start_keeper(const char *const program[2]) {
  pid_t child = fork();
  if (child > 0) waitpid(child, NULL, 0);
  if (child != 0) return;
  if (fork() != 0) _exit(0);
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  char directory[4200], seconds[32];
  const char *idle = getenv("CORDON_RESIDENT_IDLE");
  snprintf(directory, sizeof directory, "XDG_RUNTIME_DIR=%s",
           runtime && strlen(runtime) < 4000 ? runtime : "");
  snprintf(seconds, sizeof seconds, "%ld", idle ? strtol(idle, NULL, 10) : 0);
  size_t count = 0;
  for (char **variable = environ; *variable; variable++) count += (size_t)is_configuration(*variable);
  char **environment = calloc(count + 4, sizeof *environment), **next = environment;
  if (!environment) _exit(1);
  for (char **variable = environ; *variable; variable++)
    if (is_configuration(*variable)) *next++ = *variable;
  *next++ = "PATH=/usr/local/bin:/usr/bin:/bin", *next++ = "HOME=/", *next++ = directory;
  char *words[] = {"cordon-resident", "--keep", (char *)program[0], (char *)program[1], seconds, NULL};
  execve("/proc/self/exe", words, environment);
  _exit(1);
}

/* Connects to a listening resident; -1 without one. */
static int connect_resident(const char *const program[2], int *startable) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char name[64];
  *startable = 0;
  int place = open_place(getenv("XDG_RUNTIME_DIR"), 1);
  if (place < 0) return -1;
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && name_resident(name, sizeof name, program, ".socket")) {
    path_below(address.sun_path, sizeof address.sun_path, place, name);
    if (!connect(fd, (struct sockaddr *)&address, sizeof address)) {
      close(place);
      return fd;
    }
    *startable = errno == ENOENT || errno == ECONNREFUSED;
  }
  close(place);
  if (fd >= 0) close(fd);
  return -1;
}

/* Writes both counts, then arguments and variables, each with its NUL. */
static int write_payload(char **arguments) {
  int fd = memfd_create("cordon-request", MFD_CLOEXEC);
  uint32_t counts[2] = {0, 0};
  size_t size = sizeof counts;
  if (fd < 0) return -1;
  for (char **word = arguments; *word; word++) counts[0]++, size += strlen(*word) + 1;
  for (char **word = environ; *word; word++) counts[1]++, size += strlen(*word) + 1;
  char *bytes = malloc(size), *at = bytes;
  if (!bytes) return -1;
  at = mempcpy(at, counts, sizeof counts);
  for (char **word = arguments; *word; word++) at = stpcpy(at, *word) + 1;
  for (char **word = environ; *word; word++) at = stpcpy(at, *word) + 1;
  return write_all(fd, bytes, size) ? fd : -1;
}

static int send_go(int connection, const int fds[HANDED]) {
  mode_t mask = umask(077);
  umask(mask);
  struct go go = {MAGIC, mask};
  struct iovec part = {&go, sizeof go};
  union {
    char bytes[CMSG_SPACE(HANDED * sizeof(int))];
    struct cmsghdr head;
  } control = {0};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(HANDED * sizeof(int));
  memcpy(CMSG_DATA(head), fds, HANDED * sizeof(int));
  int sent = sendmsg(connection, &message, MSG_NOSIGNAL) == (ssize_t)sizeof go;
  close(fds[HANDED_LIFE]);
  return sent;
}

static int worker = -1; /* a descriptor of the process that serves */
static int life = -1; /* a pipe that only this process has open: its end reports this process's end */
static volatile sig_atomic_t last_signal;

static void pass_on(int number) {
  int saved = errno;
  last_signal = number;
  syscall(SYS_pidfd_send_signal, worker, number, NULL, 0);
  errno = saved;
}

static const int PASSED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};

static struct sigaction before[sizeof PASSED / sizeof *PASSED];

static void pass_signals(void) {
  struct sigaction passing = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
  sigfillset(&passing.sa_mask);
  for (size_t i = 0; i < sizeof PASSED / sizeof *PASSED; i++) sigaction(PASSED[i], &passing, &before[i]);
}

static void keep_signals(void) {
  for (size_t i = 0; i < sizeof PASSED / sizeof *PASSED; i++) sigaction(PASSED[i], &before[i], NULL);
  if (last_signal) raise(last_signal);
}

static void die_by(int number) {
  sigset_t one;
  /* Only the command's memory is worth reading. */
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  sigemptyset(&one);
  sigaddset(&one, number);
  signal(number, SIG_DFL);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
}

/* Waits for the command. Returns only if the worker reports that it started nothing. */
static void await_command(int connection) {
  struct done done;
  struct pollfd wait = {connection, POLLIN, 0};
  while (poll(&wait, 1, -1) < 0 && errno == EINTR) continue;
  if (recv(connection, &done, sizeof done, 0) == (ssize_t)sizeof done && done.magic == MAGIC) {
    if (done.code == NOT_BEGUN) return;
    if (done.code > 255) die_by(done.code >> 8);
    _exit(done.code & 255);
  }
  int number = last_signal;
  if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT) {
    /* The signal that ended the worker was meant for this process. */
    die_by(number);
  }
  dprintf(
      2,
      "cordon: the resident process ended before the command did; it was not run again [resident-ended]\n");
  _exit(FAULT);
}

/* Whether all of it was printed: hosts take half an answer as none, and none as an allow. */
int print_file(int fd, int to) {
  char piece[65536];
  ssize_t n;
  lseek(fd, 0, SEEK_SET);
  while ((n = read(fd, piece, sizeof piece)) > 0)
    if (!write_all(to, piece, (size_t)n)) return 0;
  return n == 0;
}

/* Prints the whole answer of a hook; returns without one. */
static void await_answer(int connection, int out, int err) {
  struct done done;
  if (await(connection, now_ms() + ANSWER_MS) &&
      recv(connection, &done, sizeof done, 0) == (ssize_t)sizeof done && done.magic == MAGIC) {
    if (done.code == NOT_BEGUN) return;
    print_file(err, 2);
    /* As without a resident: a failed run has no answer. */
    _exit(done.code == 0 && print_file(out, 1) ? 0 : BLOCKED);
  }
  syscall(SYS_pidfd_send_signal, worker, SIGKILL, NULL, 0);
}

void hand_over(const char *const program[2], char **arguments, enum kind kind, int input) {
  struct hello hello = {.magic = MAGIC};
  struct ready ready;
  int startable, connection = connect_resident(program, &startable);
  if (connection < 0) {
    if (startable) start_keeper(program);
    return;
  }
  enum listener listener = listener_of(connection);
  if (listener == STRANGER || !take_stamp(&hello.stamp, program)) goto not_started;
  if (send(connection, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello) goto not_started;
  if (!await(connection, now_ms() + READY_MS) ||
      recv(connection, &ready, sizeof ready, 0) != (ssize_t)sizeof ready)
    goto not_started;
  if (ready.magic != MAGIC || ready.answer != READY || listener != OWN) {
    close(connection);
    /* A resident of another build is about to end. */
    if (ready.magic == MAGIC && ready.answer == STALE) start_keeper(program);
    return;
  }
  char proof[64];
  int pipe_ends[2] = {-1, -1};
  if (pipe2(pipe_ends, O_CLOEXEC)) goto not_started;
  life = pipe_ends[1];
  snprintf(proof, sizeof proof, "/proc/%d/fd/%d", (int)ready.pid, (int)ready.proof);
  int fds[HANDED] = {write_payload(arguments),
                     open(".", O_PATH | O_DIRECTORY | O_CLOEXEC),
                     0,
                     1,
                     2,
                     open(proof, O_PATH | O_CLOEXEC),
                     pipe_ends[0]};
  worker = (int)syscall(SYS_pidfd_open, ready.pid, 0);
  if (kind == HOOK) {
    fds[HANDED_STDIN] = input;
    fds[HANDED_STDOUT] = memfd_create("cordon-hook-output", MFD_CLOEXEC);
    fds[HANDED_STDERR] = memfd_create("cordon-hook-errors", MFD_CLOEXEC);
    lseek(input, 0, SEEK_SET);
  }
  for (int i = 0; i < HANDED; i++)
    if (fds[i] < 0) goto not_started;
  if (worker < 0) goto not_started;
  if (kind == COMMAND) {
    pass_signals();
    if (send_go(connection, fds)) await_command(connection);
    keep_signals();
  } else if (send_go(connection, fds)) await_answer(connection, fds[HANDED_STDOUT], fds[HANDED_STDERR]);
not_started:
  close(connection);
  if (life >= 0) close(life);
}
