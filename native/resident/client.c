/*
 * cordon-client: hands `cordon hook` and `cordon run` to the person's resident Cordon, and is otherwise the program itself.
 *
 *   cordon-client NODE CORDON ARGUMENTS...     what `NODE CORDON ARGUMENTS...` does
 *   cordon-client --wrapped FILE KEY [--in DIR] COMMAND   what `NODE CORDON hook run --key KEY [--in DIR] -- COMMAND` does; the third and
 *                                              fourth line of FILE name NODE and CORDON: it is the interpreter of `cordon-run`
 *   cordon-client --keep NODE CORDON SECONDS   is the keeper of a resident (keeper.c)
 *
 * Whatever is not as it should be (no resident, a dead, slow or strange one, another build, other surroundings) is the way
 * without one: this process becomes `NODE CORDON ARGUMENTS...`. A command is handed over once: before `go` was sent nothing
 * has been run, and after it this process never runs it itself. A hook's decision can be made twice: its input and its
 * answer are files in memory here, so that one that does not come is made again.
 */
#define _GNU_SOURCE
#include "resident.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
  READY_MS = 150,    /* a worker answers within one; starting an own process takes forty */
  INPUT_MS = 10000,  /* as the hook itself has it: a host that has waited for its own limit runs the tool */
  ANSWER_MS = 5000,  /* after that the hook is answered without the resident, in time for its host */
  HOOK_SECONDS = 30, /* of processor time, for a hook that runs away */
  LATE_SECONDS = 55, /* of the clock: a hook without an answer by then ends, which is a block; hosts wait longer than that */
  BLOCKED = 2,
  FAULT = 125
};

enum kind { OTHER, HOOK, COMMAND };

static char **cold_words;
static enum kind kind;
static int input = -1; /* a hook's, read */

/* The way without a resident. */
static _Noreturn void go_cold(void) {
  if (kind == HOOK) {
    struct rlimit limit;
    if (input >= 0) {
      lseek(input, 0, SEEK_SET);
      dup2(input, 0);
    }
    if (!getrlimit(RLIMIT_CPU, &limit)) {
      if (limit.rlim_max > HOOK_SECONDS) limit.rlim_max = HOOK_SECONDS;
      if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
      setrlimit(RLIMIT_CPU, &limit);
    }
  }
  execv(cold_words[0], cold_words);
  dprintf(2, "cordon: %s could not be started: %s\n", cold_words[0], strerror(errno));
  _exit(kind == HOOK ? BLOCKED : FAULT);
}

/* A hook ends in time, whatever it has become by then: an alarm outlives exec. */
static void end_in_time(void) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  alarm(LATE_SECONDS);
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* True when there is something to read, or an end, before the deadline. */
static int await(int fd, int64_t deadline) {
  for (;;) {
    struct pollfd wait = {fd, POLLIN, 0};
    int64_t left = deadline - now_ms();
    int found = poll(&wait, 1, left < 0 ? 0 : (int)left);
    if (found >= 0 || errno != EINTR) return found > 0;
  }
}

static int write_all(int fd, const char *bytes, size_t length) {
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

/* The whole input of a hook. Hosts that keep it open are blocked, as without a resident. */
static void read_input(void) {
  char piece[65536];
  size_t size = 0;
  int64_t deadline = now_ms() + INPUT_MS;
  input = memfd_create("cordon-hook-input", MFD_CLOEXEC);
  if (input < 0) go_cold();
  while (size <= MAX_INPUT) {
    if (!await(0, deadline)) {
      dprintf(2, "cordon: the call could not be judged in time, so it was blocked.\n");
      _exit(BLOCKED);
    }
    ssize_t n = read(0, piece, sizeof piece);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) break;
    if (n == 0) return;
    if (!write_all(input, piece, (size_t)n)) break;
    size += (size_t)n;
  }
  /* Too much, or it broke off: nobody can judge it. */
  dprintf(2, "cordon: the host's input could not be read, or has more than %d bytes\n", MAX_INPUT);
  _exit(BLOCKED);
}

/* Variables that change Node itself hold for a process that is started with them. */
static int changes_node(const char *variable) {
  static const char *const PREFIXES[] = {"NODE_", "LD_", "UV_", "GLIBC_", "MALLOC_"};
  if (!strncmp(variable, "NODE_ENV=", 9) || is_configuration(variable)) return 0;
  for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++)
    if (!strncmp(variable, PREFIXES[i], strlen(PREFIXES[i]))) return 1;
  return 0;
}

/* What a child has from its parent, and a process of somebody else cannot be asked for. */
static int is_usual(void) {
  enum { USUAL_SLACK = 50000 };
  return personality(0xffffffff) == PER_LINUX && prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == USUAL_SLACK &&
         prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == 0 && prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0;
}

/* Whether this call is one that a resident serves. */
static int is_served(void) {
  const char *wish = getenv("CORDON_RESIDENT");
  if (wish && !strcmp(wish, "off")) return 0;
  /* In somebody's sandbox: a process outside must not do the work, nor may one inside be left behind. */
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0 || getuid() != geteuid() || getgid() != getegid() || !is_usual())
    return 0;
  for (char **variable = environ; *variable; variable++)
    if (changes_node(*variable)) return 0;
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 || (kind == COMMAND && isatty(fd))) return 0;
  return 1;
}

enum listener { STRANGER, OTHER_BUILD, OWN };

/* Who listens. Only this very program, in the same namespaces, is handed anything; of another build it is told so. */
static enum listener listener_of(int connection) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  struct stat own, other;
  char path[64];
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.uid != geteuid() || peer.pid <= 0) return STRANGER;
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

/* Starts a keeper for the next call, without waiting for it; one that is not needed ends by itself. */
static void start_keeper(const char *const program[2]) {
  pid_t child = fork();
  if (child > 0) waitpid(child, NULL, 0);
  if (child != 0) return;
  if (fork() != 0) _exit(0);
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  char directory[4200], seconds[32];
  const char *idle = getenv("CORDON_RESIDENT_IDLE");
  snprintf(directory, sizeof directory, "XDG_RUNTIME_DIR=%s", runtime && strlen(runtime) < 4000 ? runtime : "");
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

/* The connection to a resident that listens; -1 without one. */
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

/* Arguments, then variables, each with its NUL; the numbers of both before them. */
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
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
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
static int life = -1;   /* the end of a pipe that this process alone holds: its end is the end of the other */
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
  /* The command is the one whose memory could be of use. */
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  sigemptyset(&one);
  sigaddset(&one, number);
  signal(number, SIG_DFL);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
}

/* The command's end. Comes back only with the worker's word that it has begun nothing. */
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
    /* What ended the worker was meant for us. */
    die_by(number);
  }
  dprintf(2, "cordon: the resident process ended before the command did; it was not run again [resident-ended]\n");
  _exit(FAULT);
}

static void print_file(int fd, int to) {
  char piece[65536];
  lseek(fd, 0, SEEK_SET);
  for (ssize_t n; (n = read(fd, piece, sizeof piece)) > 0;)
    if (!write_all(to, piece, (size_t)n)) return;
}

/* The answer of a hook, printed as a whole; comes back without one. */
static void await_answer(int connection, int out, int err) {
  struct done done;
  if (await(connection, now_ms() + ANSWER_MS) && recv(connection, &done, sizeof done, 0) == (ssize_t)sizeof done && done.magic == MAGIC) {
    if (done.code == NOT_BEGUN) return;
    print_file(err, 2);
    print_file(out, 1);
    _exit(done.code & 255);
  }
  syscall(SYS_pidfd_send_signal, worker, SIGKILL, NULL, 0);
}

/* Has a resident do it. Comes back where it has not begun, or where it does not matter that it has. */
static void hand_over(const char *const program[2], char **arguments) {
  struct hello hello = {.magic = MAGIC};
  struct ready ready;
  int startable, connection = connect_resident(program, &startable);
  if (connection < 0) {
    if (startable) start_keeper(program);
    return;
  }
  enum listener listener = listener_of(connection);
  if (listener == STRANGER || !take_stamp(&hello.stamp, program)) goto not_begun;
  if (send(connection, &hello, sizeof hello, MSG_NOSIGNAL) != (ssize_t)sizeof hello) goto not_begun;
  if (!await(connection, now_ms() + READY_MS) || recv(connection, &ready, sizeof ready, 0) != (ssize_t)sizeof ready) goto not_begun;
  if (ready.magic != MAGIC || ready.answer != READY || listener != OWN) {
    close(connection);
    /* A resident of another build is on its way out. */
    if (ready.magic == MAGIC && ready.answer == STALE) start_keeper(program);
    return;
  }
  char proof[64];
  int pipe_ends[2] = {-1, -1};
  if (pipe2(pipe_ends, O_CLOEXEC)) goto not_begun;
  life = pipe_ends[1];
  snprintf(proof, sizeof proof, "/proc/%d/fd/%d", (int)ready.pid, (int)ready.proof);
  int fds[HANDED] = {write_payload(arguments), open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), 0, 1, 2, open(proof, O_PATH | O_CLOEXEC), pipe_ends[0]};
  worker = (int)syscall(SYS_pidfd_open, ready.pid, 0);
  if (kind == HOOK) {
    fds[HANDED_STDIN] = input;
    fds[HANDED_STDOUT] = memfd_create("cordon-hook-output", MFD_CLOEXEC);
    fds[HANDED_STDERR] = memfd_create("cordon-hook-errors", MFD_CLOEXEC);
    lseek(input, 0, SEEK_SET);
  }
  for (int i = 0; i < HANDED; i++)
    if (fds[i] < 0) goto not_begun;
  if (worker < 0) goto not_begun;
  if (kind == COMMAND) {
    pass_signals();
    if (send_go(connection, fds)) await_command(connection);
    keep_signals();
  } else if (send_go(connection, fds)) await_answer(connection, fds[HANDED_STDOUT], fds[HANDED_STDERR]);
not_begun:
  close(connection);
  if (life >= 0) close(life);
}

/* The words of a command that a hook put into the sandbox, from those of its short form. */
static char **unwrapped(int argc, char **argv) {
  enum { WORDS = 9, LINES = 4 };
  static char text[2 * 4096 + 1024];
  char *lines[LINES + 1] = {text};
  char **words = calloc((size_t)argc + WORDS, sizeof *words), **next = words;
  int fd = open(argv[2], O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  close(fd);
  for (int i = 0; i < LINES && lines[i]; i++) {
    char *end = length > 0 ? strchr(lines[i], '\n') : NULL;
    if (end) *end++ = 0;
    lines[i + 1] = end;
  }
  if (!words || !lines[LINES]) {
    dprintf(2, "cordon: %s is not as a hook writes it; have the agent try the command again\n", argv[2]);
    _exit(FAULT);
  }
  *next++ = lines[2], *next++ = lines[3], *next++ = "hook", *next++ = "run", *next++ = "--key", *next++ = argv[3];
  argv += 4;
  if (argc == 7 && !strcmp(argv[0], "--in")) *next++ = *argv++, *next++ = *argv++;
  for (*next++ = "--"; *argv; argv++) *next++ = *argv;
  return words;
}

int main(int argc, char **argv) {
  if (argc == 5 && !strcmp(argv[1], "--keep")) {
    const char *const kept[2] = {argv[2], argv[3]};
    return keep_resident(kept, getenv("XDG_RUNTIME_DIR"), strtol(argv[4], NULL, 10));
  }
  if (argc < 3 || (!strcmp(argv[1], "--wrapped") && argc < 5)) {
    dprintf(2, "usage: cordon-client NODE CORDON ARGUMENTS...\n");
    return FAULT;
  }
  char **words = cold_words = strcmp(argv[1], "--wrapped") ? argv + 1 : unwrapped(argc, argv);
  if (words[2] && !strcmp(words[2], "run")) kind = COMMAND;
  if (words[2] && !strcmp(words[2], "hook")) kind = words[3] && !strcmp(words[3], "run") ? COMMAND : HOOK;
  if (kind == HOOK) end_in_time();
  const char *const program[2] = {words[0], words[1]};
  /* A keeper stands elsewhere: only whole paths mean the same there. */
  if (kind != OTHER && words[0][0] == '/' && words[1][0] == '/' && is_served()) {
    if (kind == HOOK) read_input();
    hand_over(program, words + 2);
  }
  go_cold();
}
