/* The processes of a command without a pid namespace: finds, counts and ends them. */
#define _GNU_SOURCE
#include "bare.h"
#include "../init/init.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 65536
#define MAX_DEPTH 4096
#define GUARD_WAIT_US 1000

static atomic_int ending;

/* The parent and the group of a process; 0 if it is gone. */
static pid_t parent_of(pid_t pid, pid_t *group) {
  char path[32], text[512];
  int parent = 0, own = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  const char *end = strrchr(text, ')'); /* a name may contain any character */
  if (!end || sscanf(end, ") %*c %d %d", &parent, &own) != 2) return 0;
  if (group) *group = own;
  return parent;
}

int bare_is_inside(pid_t pid) {
  pid_t self = getpid();
  if (pid == self) return 0;
  for (int depth = 0; pid > 1 && depth < MAX_DEPTH; depth++)
    if ((pid = parent_of(pid, NULL)) == self) return 1;
  return 0;
}

/* Calls `take` for each process of the machine until it returns 0. */
static int each_process(int (*take)(pid_t pid, void *with), void *with) {
  DIR *all = opendir("/proc");
  if (!all) return 0;
  int good = 1;
  for (struct dirent *entry; good && (entry = readdir(all));)
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') good = take(atoi(entry->d_name), with);
  closedir(all);
  return good;
}

static int count_inside(pid_t pid, void *with) {
  *(uint64_t *)with += (uint64_t)bare_is_inside(pid);
  return 1;
}

static int kill_inside(pid_t pid, void *with) {
  (void)with;
  if (bare_is_inside(pid)) kill(pid, SIGKILL);
  return 1;
}

/* Refuses forks from here on, so that the processes can be ended one by one. */
void bare_end(void) { atomic_store(&ending, 1); }

void bare_kill(void) { (void)each_process(kill_inside, NULL); }

/* Answers a fork. Counts the processes only if the limit could be reached. */
void bare_fork(const struct call *c) {
  static uint64_t most, started;
  static int is_reported;
  if (atomic_load(&ending)) return answer(c, EAGAIN);
  for (size_t i = 0; !most && i < setup.limit_count; i++)
    if (setup.limits[i].which == RLIMIT_NPROC) most = setup.limits[i].limit;
  if (most && ++started >= most) {
    started = 0;
    (void)each_process(count_inside, &started);
    if (started >= most) {
      if (!is_reported++) send_message(MESSAGE_PROCESSES, 0, 0, 0);
      return answer(c, EAGAIN);
    }
  }
  let_go_on(c);
}

static int is_stranger_of(pid_t pid, void *with) {
  pid_t group = 0;
  if (parent_of(pid, &group) == 0 || group != *(pid_t *)with) return 1;
  return bare_is_inside(pid);
}

/* Answers a signal if the kernel does not confine signals. */
void bare_signal(const struct call *c) {
  pid_t to = (pid_t)c->args[0];
  if (!bare_checks_signals()) return let_go_on(c);
  if (c->number == SYS_pidfd_send_signal) return answer(c, ENOSYS);
  if (c->number == SYS_kill && to == 0) return let_go_on(c); /* the caller's group belongs to its session */
  if (c->number == SYS_kill && to < 0) {
    pid_t group = -to;
    if (to == -1 || !each_process(is_stranger_of, &group)) return answer(c, EPERM);
    return let_go_on(c);
  }
  if (!bare_is_inside(to)) return answer(c, to > 0 && kill(to, 0) && errno == ESRCH ? ESRCH : EPERM);
  let_go_on(c);
}

/* Forks. The parent stays outside, has no descriptors, and ends what remains after the init was
 * killed. The child becomes the init, and the subreaper of the command. */
void bare_guard(void) {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) _exit(FAULT_STATUS);
  pid_t init = fork();
  if (init < 0) _exit(FAULT_STATUS);
  if (init == 0) {
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) _exit(FAULT_STATUS);
    return;
  }
  int status = 0;
  pid_t gone;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  (void)syscall(SYS_close_range, 0u, ~0u, 0);
  while ((gone = waitpid(-1, &status, 0)) != init)
    if (gone < 0 && errno != EINTR) _exit(FAULT_STATUS);
  int how = status;
  for (;;) {
    bare_kill();
    while ((gone = waitpid(-1, &status, WNOHANG)) > 0) continue;
    if (gone < 0 && errno == ECHILD) break;
    usleep(GUARD_WAIT_US);
  }
  _exit(WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how));
}
