/*
 * cordon-client: passes `cordon hook` and `cordon run` to the person's resident Cordon, or runs them itself.
 *
 *   cordon-client [--with NAME=VALUE]... NODE CORDON ARGUMENTS...
 *       Like `NODE CORDON ARGUMENTS...`, with installed variables instead of those that a project could set
 *       (environment.c).
 *   cordon-client --wrapped FILE KEY [--in DIR] COMMAND
 *       Like `NODE CORDON hook run --key KEY [--in DIR] -- COMMAND`. It is the interpreter of `cordon-run`:
 *       the third and fourth line of FILE name NODE and CORDON, later ones are variables.
 *   cordon-client --keep NODE CORDON SECONDS
 *       The keeper of a resident (keeper.c).
 *
 * Without a usable resident (absent, slow, of another build, in other surroundings) this process becomes
 * `NODE CORDON ARGUMENTS...`; for a hook it waits for a child that does. A command is passed on once: nothing
 * runs before `go` is sent, and after it this process never runs it itself. A hook's decision may be computed
 * twice: its input and answer are memory files here, so a missing answer is computed again.
 */
#define _GNU_SOURCE
#include "../clock.h"
#include "client.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
  INPUT_MS = 10000, /* as in the hook: a host whose time limit expires runs the tool */
  HOOK_SECONDS = 30, /* of processor time, for a hook that loops */
  LATE_SECONDS = 55 /* of wall time: a hook without an answer ends as a block; hosts wait longer */
};

static char **cold_words;
static enum kind kind;
static int input = -1; /* a hook's input */

/* Limits the time of a hook: an alarm survives exec. */
static void end_in_time(void) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  alarm(LATE_SECONDS);
}

/* Hosts use an answer even if its writer failed, so it is withheld until the writer ends well.
 * Returns in the child. */
static void hold_answer(void) {
  int answer = memfd_create("cordon-hook-answer", MFD_CLOEXEC), status = -1;
  pid_t parent = getpid(), child = answer < 0 ? -1 : fork();
  if (child == 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != parent || dup2(answer, 1) < 0)
      _exit(BLOCKED);
    end_in_time();
    return;
  }
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status != 0) _exit(BLOCKED);
  _exit(print_file(answer, 1) ? 0 : BLOCKED);
}

/* Runs the call without a resident. */
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
    hold_answer();
  }
  execv(cold_words[0], cold_words);
  dprintf(2, "cordon: %s could not be started: %s\n", cold_words[0], strerror(errno));
  _exit(kind == HOOK ? BLOCKED : FAULT);
}

/* Reads a hook's whole input. Hosts that keep it open are blocked, as without a resident. */
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
  /* Too long, or truncated: it cannot be judged. */
  dprintf(2, "cordon: the host's input could not be read, or has more than %d bytes\n", MAX_INPUT);
  _exit(BLOCKED);
}

/* Whether inherited state that another process cannot read has its usual value. */
static int is_usual(void) {
  enum { USUAL_SLACK = 50000 };
  return personality(0xffffffff) == PER_LINUX && prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == USUAL_SLACK &&
         prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == 0 && prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0;
}

/* Whether a resident serves this call. */
static int is_served(void) {
  const char *wish = getenv("CORDON_RESIDENT");
  if (wish && !strcmp(wish, "off")) return 0;
  /* Inside a sandbox: no process outside may do the work, and none inside may be left behind. */
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0 || getuid() != geteuid() || getgid() != getegid() ||
      !is_usual())
    return 0;
  for (char **variable = environ; *variable; variable++)
    if (changes_node(*variable)) return 0;
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 || (kind == COMMAND && isatty(fd))) return 0;
  return 1;
}

static _Noreturn void fail(const char *why) {
  dprintf(2, "cordon: %s\n", why);
  _exit(kind == HOOK ? BLOCKED : FAULT);
}

/* The full form of a command that a hook sandboxed, from its short form. */
static char **unwrapped(int argc, char **argv) {
  enum { WORDS = 9, LINES = 16, FIXED = 4 };
  static char text[4 * 4096 + 1024];
  static char *lines[LINES + 1];
  char **words = calloc((size_t)argc + WORDS, sizeof *words), **next = words;
  int fd = open(argv[2], O_RDONLY | O_CLOEXEC), count = 0;
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  close(fd);
  for (char *line = text, *end; length > 0 && count <= LINES && (end = strchr(line, '\n')); line = end + 1) {
    *end = 0;
    lines[count++] = line;
  }
  if (!words || count < FIXED || count > LINES || length == (ssize_t)sizeof text - 1) {
    dprintf(2, "cordon: %s is not as a hook writes it; have the agent try the command again\n", argv[2]);
    _exit(FAULT);
  }
  if (count > FIXED && !install_environment(lines + FIXED, (size_t)(count - FIXED)))
    fail("there is no memory");
  *next++ = lines[2], *next++ = lines[3], *next++ = "hook", *next++ = "run", *next++ = "--key",
  *next++ = argv[3];
  argv += 4;
  if (argc == 7 && !strcmp(argv[0], "--in")) *next++ = *argv++, *next++ = *argv++;
  for (*next++ = "--"; *argv; argv++) *next++ = *argv;
  return words;
}

/* The words after the installed variables. */
static char **with_installed(char **words) {
  enum { MOST = 32 };
  static char *given[MOST];
  size_t count = 0;
  for (; words[0] && words[1] && !strcmp(words[0], "--with") && count < MOST; words += 2)
    given[count++] = words[1];
  if (!words[0] || !words[1]) fail("the program after --with is missing");
  if (count > 0 && !install_environment(given, count)) fail("there is no memory");
  return words;
}

int main(int argc, char **argv) {
  if (argc == 5 && !strcmp(argv[1], "--keep")) {
    const char *const kept[2] = {argv[2], argv[3]};
    return keep_resident(kept, getenv("XDG_RUNTIME_DIR"), strtol(argv[4], NULL, 10));
  }
  if (argc < 3 || (!strcmp(argv[1], "--wrapped") && argc < 5)) {
    dprintf(2, "usage: cordon-client [--with NAME=VALUE]... NODE CORDON ARGUMENTS...\n");
    return FAULT;
  }
  char **words = cold_words = strcmp(argv[1], "--wrapped") ? with_installed(argv + 1) : unwrapped(argc, argv);
  if (words[2] && !strcmp(words[2], "run")) kind = COMMAND;
  if (words[2] && !strcmp(words[2], "hook")) kind = words[3] && !strcmp(words[3], "run") ? COMMAND : HOOK;
  if (kind == HOOK) end_in_time();
  const char *const program[2] = {words[0], words[1]};
  /* A keeper has another working directory: only absolute paths mean the same there. */
  if (kind != OTHER && words[0][0] == '/' && words[1][0] == '/' && is_served()) {
    if (kind == HOOK) read_input();
    hand_over(program, words + 2, kind, input);
  }
  go_cold();
}
