/* The exec stop. The caller is seized for one exec and continues; the kernel stops it in its new
 * image before that runs. An interrupt requested beforehand also stops it after a failed exec, so
 * the wait always ends.
 *
 * waitpid() for children also consumes the stops of a tracer in the same process, so the reaping
 * thread and this one take turns. */
#define _GNU_SOURCE
#include "programs.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

extern pid_t command_pid; /* of init/watch.c, which reaps it */

static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;

int may_reap(void) { return pthread_mutex_trylock(&waiting) == 0; }
void done_reaping(void) { pthread_mutex_unlock(&waiting); }

int read_command_line(pid_t pid, struct words *w) {
  char path[48], part[16384];
  snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n;
  while ((n = read(fd, part, sizeof part)) > 0) {
    char *grown =
        w->length + (size_t)n + 1 > w->size ? realloc(w->bytes, 2 * (w->length + (size_t)n + 1)) : w->bytes;
    if (!grown) break;
    if (grown != w->bytes || !w->size) w->size = 2 * (w->length + (size_t)n + 1);
    w->bytes = grown;
    memcpy(w->bytes + w->length, part, (size_t)n);
    w->length += (size_t)n;
    if ((size_t)n < sizeof part) {
      n = 0;
      break;
    }
  }
  close(fd);
  if (n != 0) return -1;
  if (!w->length) return add_word(w, "", 0);
  if (w->bytes[w->length - 1]) w->bytes[w->length++] = 0;
  return 0;
}

int look_at_process(pid_t pid, struct image *image) {
  char link[48];
  snprintf(link, sizeof link, "/proc/%d/exe", pid);
  return look_at_image(link, image);
}

/* Whether the new image was judged: no line of the table matches it, or it is exactly what was
 * allowed. */
static int is_judged(pid_t pid, const struct image *judged, const struct words *allowed) {
  static struct image image;
  struct words now = {0};
  int good = look_at_process(pid, &image) == 0 && read_command_line(pid, &now) == 0;
  if (good && image.is_secret) good = 0;
  if (good && is_listed(&image, NULL, &now))
    good = allowed && image.device == judged->device && image.inode == judged->inode &&
           now.length == allowed->length && !memcmp(now.bytes, allowed->bytes, now.length);
  if (good && number_image(pid, &image, &now)) good = 0;
  if (good) note_started(pid, &image, &now);
  else if (now.bytes) programs_report(now.bytes, now.length);
  free(now.bytes);
  return good;
}

/* Reaps a caller that died, unless it is the command itself. */
static void take_end(pid_t pid) {
  siginfo_t info;
  if (pid != command_pid) (void)waitid(P_PID, (id_t)pid, &info, WEXITED | __WALL | __WNOTHREAD);
}

static void wait_for_exec(const struct image *judged, const struct words *allowed) {
  for (;;) {
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | __WALL | __WNOTHREAD | WNOWAIT)) {
      if (errno == EINTR) continue;
      return;
    }
    pid_t pid = info.si_pid;
    if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) return take_end(pid);
    int event = info.si_status >> 8, number = info.si_status & 0x7f;
    if (event == PTRACE_EVENT_EXEC && !is_judged(pid, judged, allowed)) {
      kill(pid, SIGKILL);
      /* The signal ends the stop; the caller's end follows. */
      while (waitid(P_ALL, 0, &info, WEXITED | __WALL | __WNOTHREAD | WNOWAIT) && errno == EINTR) continue;
      return take_end(pid);
    }
    if (ptrace(PTRACE_DETACH, pid, 0, event ? 0 : number) == 0) return;
    if (errno != ESRCH) return;
  }
}

/* Lets the caller run it, and checks the new image. `allowed`: the words that the parent agreed to;
 * NULL if it was not asked. 0, or errno. */
int let_run(const struct call *c, const struct image *judged, const struct words *allowed) {
  pthread_mutex_lock(&waiting);
  int error = ptrace(PTRACE_SEIZE, c->tid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) ? errno : 0;
  if (!error) {
    (void)ptrace(PTRACE_INTERRUPT, c->tid, 0, 0);
    let_go_on(c);
    wait_for_exec(judged, allowed);
  }
  pthread_mutex_unlock(&waiting);
  return error;
}
