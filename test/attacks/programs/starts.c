/*
 * Ways to start a program that no shell has. starts WAY COUNT PROGRAM WORD...: starts it that often, or tries to.
 * The racing ways alternate between /bin/true and the program while the kernel or a judge reads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char **words;

static void by_execve(void) { execve(words[0], words, environ); }
static void by_fexecve(void) { fexecve(open(words[0], O_RDONLY | O_CLOEXEC), words, environ); }
static void by_proc_fd(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", open(words[0], O_RDONLY));
  execve(path, words, environ);
}
static void by_dev_fd(void) {
  char path[64];
  snprintf(path, sizeof path, "/dev/fd/%d", open(words[0], O_RDONLY));
  execve(path, words, environ);
}
static void by_folder_fd(void) {
  char *slash = strrchr(words[0], '/');
  char folder[256];
  snprintf(folder, sizeof folder, "%.*s", (int)(slash - words[0]), words[0]);
  syscall(SYS_execveat, open(folder, O_PATH), slash + 1, words, environ, 0);
}
static void by_memfd(void) {
  char part[65536];
  ssize_t n;
  int from = open(words[0], O_RDONLY), to = memfd_create("x", 0);
  while ((n = read(from, part, sizeof part)) > 0)
    if (write(to, part, (size_t)n) != n) return;
  syscall(SYS_execveat, to, "", words, environ, AT_EMPTY_PATH);
}
static void by_other_name(void) {
  char *named[64] = {"true"};
  for (int i = 1; words[i] && i < 63; i++) named[i] = words[i];
  execve(words[0], named, environ);
}
static void by_no_words(void) {
  char *none[] = {NULL};
  execve(words[0], none, environ);
}
static void *in_thread(void *unused) {
  (void)unused;
  by_execve();
  return NULL;
}
static void by_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
}
static void by_shared_words(void) {
  char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *at = page;
  char **list = (char **)(page + 32768);
  for (int i = 0; words[i]; i++) {
    list[i] = at;
    at = stpcpy(at, words[i]) + 1;
  }
  execve(list[0], list, environ);
}

/* The races: `path` and the list change for as long as anybody reads them. */
static char *path, **list;
static volatile int stop;

static void *swap_path(void *unused) {
  (void)unused;
  for (unsigned i = 0; !stop; i++) {
    strcpy(path, i & 1 ? words[0] : "/bin/true");
    for (volatile unsigned k = 0; k < i % 512; k++) continue;
  }
  return NULL;
}
static void *swap_list(void *unused) {
  (void)unused;
  static char harmless[] = "/dev/null";
  char *wanted = list[1];
  for (unsigned i = 0; !stop; i++) {
    list[1] = i & 1 ? wanted : harmless;
    for (volatile unsigned k = 0; k < i % 512; k++) continue;
  }
  return NULL;
}
static void race(void *(*swap)(void *)) {
  pthread_t thread;
  char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  path = page;
  strcpy(path, swap == swap_path ? "/bin/true" : words[0]);
  list = (char **)(page + 32768);
  for (int i = 0; words[i]; i++) list[i] = words[i];
  pthread_create(&thread, NULL, swap, NULL);
  usleep((useconds_t)(rand() % 300));
  execve(path, list, environ);
  stop = 1;
  pthread_join(thread, NULL);
}
static void by_race_of_path(void) { race(swap_path); }
static void by_race_of_words(void) { race(swap_list); }

/* Another process swaps what a link points to. */
static void by_race_of_link(void) {
  char link[64];
  snprintf(link, sizeof link, "link-%d", getpid());
  pid_t parent = getpid(), child = fork();
  if (!child) {
    char other[80];
    snprintf(other, sizeof other, "%s.new", link);
    for (unsigned i = 0; getppid() == parent && i < 20000; i++) {
      unlink(other);
      if (symlink(i & 1 ? words[0] : "/bin/true", other) || rename(other, link)) continue;
    }
    _exit(0);
  }
  usleep(3000);
  execve(link, words, environ);
}

static char stack[1 << 16];
static int start_vm(void *unused) {
  (void)unused;
  by_execve();
  _exit(1);
}

static const struct { const char *name; void (*start)(void); } ways[] = {
    {"execve", by_execve}, {"fexecve", by_fexecve}, {"proc-fd", by_proc_fd}, {"dev-fd", by_dev_fd}, {"folder-fd", by_folder_fd}, {"memfd", by_memfd},
    {"other-name", by_other_name}, {"no-words", by_no_words}, {"thread", by_thread}, {"shared-words", by_shared_words},
    {"race-path", by_race_of_path}, {"race-words", by_race_of_words}, {"race-link", by_race_of_link}};

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  words = argv + 3;
  for (int i = 0, count = atoi(argv[2]); i < count; i++) {
    int status;
    if (!strcmp(argv[1], "vfork")) {
      if (!vfork()) {
        execve(words[0], words, environ);
        _exit(1);
      }
    } else if (!strcmp(argv[1], "spawn")) {
      pid_t pid;
      posix_spawn(&pid, words[0], NULL, NULL, words, environ);
    } else if (!strcmp(argv[1], "clone-vm")) {
      clone(start_vm, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
    } else if (!strcmp(argv[1], "stopped")) {
      pid_t pid = fork();
      if (!pid) {
        raise(SIGSTOP);
        by_execve();
        _exit(1);
      }
      waitpid(pid, &status, WUNTRACED);
      kill(pid, SIGCONT);
    } else {
      srand((unsigned)(i + getpid()));
      if (!fork()) {
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
          if (!strcmp(ways[w].name, argv[1])) ways[w].start();
        _exit(1);
      }
    }
    while (wait(&status) > 0) continue;
  }
  return 0;
}
