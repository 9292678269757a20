/*
 * Random system calls on a small tree, in the working directory:
 *   tree-calls SEED COUNT        prints each call with its result, and what of the tree can be seen afterwards
 *   tree-calls SEED COUNT open   the same, and nothing is closed to its owner
 *   tree-calls SEED COUNT plant  also tries to plant .envrc and .git/hooks/x; prints nothing
 *   tree-calls SEED COUNT storm  the same by four threads at once
 * The same seed makes the same calls, so two runs can be compared line by line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static __thread uint64_t state;
static int storm;

static uint32_t pick(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

static const char *const words[] = {"a", "b", "c", "d", "dir", "l", "fifo", "A", "\xff\xfe", "sp ace", "..", ".", "new\nline"};
static const char *const planted[] = {".envrc", ".git", "hooks", "x", ".EnvRC", "\xe2\x80\x8c.envrc"};

static void make_path(char *into, size_t size, const char *start) {
  uint32_t parts = pick(10) < 7 ? 1 + pick(2) : 1 + pick(4);
  size_t at = (size_t)snprintf(into, size, "%s", pick(12) ? "" : start);
  for (uint32_t i = 0; i < parts; i++) {
    int plant = storm && !pick(3);
    const char *word = plant ? planted[pick(6)] : words[pick(10) < 9 ? pick(10) : pick(13)];
    at += (size_t)snprintf(into + at, size - at, "%s%s", i ? (pick(20) ? "/" : "//") : "", word);
  }
  if (!pick(15)) snprintf(into + at, size - at, "/");
  if (!pick(60)) into[0] = 0;
}

static int dirs[3] = {AT_FDCWD, AT_FDCWD, AT_FDCWD};

static int some_dir(void) { return pick(3) ? AT_FDCWD : pick(30) ? dirs[pick(3)] : 999; }

static int some_flags(void) {
  static const int modes[] = {O_WRONLY, O_RDWR, O_RDONLY, O_WRONLY};
  int flags = modes[pick(4)] | O_NONBLOCK;
  if (pick(2)) flags |= O_CREAT;
  if (!pick(4)) flags |= O_EXCL;
  if (!pick(4)) flags |= O_TRUNC;
  if (!pick(4)) flags |= O_APPEND;
  if (!pick(8)) flags |= O_NOFOLLOW;
  if (!pick(15)) flags |= O_DIRECTORY;
  if (!pick(20)) flags |= O_PATH;
  if (!pick(3)) flags |= O_CLOEXEC;
  return flags;
}

static long use_file(long fd, int flags) {
  char text[64];
  long n = 0;
  if (fd < 0 || (flags & O_PATH)) return 0;
  int length = snprintf(text, sizeof text, "%u-%u\n", pick(1000), pick(1000));
  switch (pick(5)) {
  case 0:
  case 1: n = write((int)fd, text, (size_t)length); break;
  case 2: n = ftruncate((int)fd, pick(5000)); break;
  case 3: n = fallocate((int)fd, 0, 0, 1 + pick(3000)); break;
  default: {
    struct stat about;
    if (fstat((int)fd, &about) || !S_ISREG(about.st_mode) || about.st_size < 1) break;
    char *map = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    n = map == MAP_FAILED ? -1 : 0;
    if (map != MAP_FAILED) {
      map[0] = 'm';
      munmap(map, (size_t)about.st_size);
    }
  }
  }
  return n < 0 ? -errno : n;
}

static void say(uint32_t step, const char *call, const char *a, const char *b, int flags, long result, long more) {
  if (storm) return;
  printf("%u %s [", step, call);
  for (; *a; a++) printf(*a == '\n' ? "\\n" : "%c", *a);
  printf("] [");
  for (; *b; b++) printf(*b == '\n' ? "\\n" : "%c", *b);
  printf("] %o = %ld %ld\n", flags, result, more);
}

static long done(long result) { return result < 0 ? -errno : result > 0 ? 1 : 0; }

/* "open": nothing is closed to its owner. */
static mode_t owner_keeps;

static void one_call(uint32_t step, const char *start) {
  char a[512], b[512];
  struct timespec times[2] = {{.tv_sec = 1000000 + pick(1000)}, {.tv_sec = 2000000 + pick(1000)}};
  make_path(a, sizeof a, start);
  make_path(b, sizeof b, start);
  int at = some_dir(), to = some_dir(), flags = 0;
  static const unsigned renames[] = {0, 0, 0, 0, 1, 2, 2, 3};
  static const mode_t kinds[] = {S_IFREG, S_IFIFO, 0, S_IFSOCK, S_IFCHR};
  switch (pick(22)) {
  case 0: case 1: case 2: case 3: {
    flags = some_flags();
    long fd = openat(at, a, flags, owner_keeps | pick(01000)), error = done(fd);
    long more = use_file(fd, flags);
    say(step, "openat", a, "", flags, error, more);
    if (fd >= 0) close((int)fd);
    return;
  }
  case 4: {
    flags = O_TMPFILE | (pick(2) ? O_RDWR : O_WRONLY) | (pick(4) ? 0 : O_EXCL);
    long fd = openat(at, a, flags, 0644), error = done(fd);
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%ld", fd);
    long more = fd < 0 ? 0 : done(linkat(AT_FDCWD, link, to, b, AT_SYMLINK_FOLLOW));
    say(step, "tmpfile", a, b, flags, error, more);
    if (fd >= 0) close((int)fd);
    return;
  }
  case 5: case 6: say(step, "mkdirat", a, "", 0, done(mkdirat(at, a, pick(10) ? 0755 : 01777)), 0); return;
  case 7: flags = (int)kinds[pick(5)]; say(step, "mknodat", a, "", flags, done(mknodat(at, a, (mode_t)flags | 0644, 0)), 0); return;
  case 8: say(step, "symlinkat", a, b, 0, done(symlinkat(a, to, b)), 0); return;
  case 9: flags = pick(3) ? 0 : AT_SYMLINK_FOLLOW; say(step, "linkat", a, b, flags, done(linkat(at, a, to, b, flags)), 0); return;
  case 10: case 11: flags = pick(3) ? 0 : AT_REMOVEDIR; say(step, "unlinkat", a, "", flags, done(unlinkat(at, a, flags)), 0); return;
  case 12: case 13: case 14:
    flags = (int)renames[pick(8)];
    say(step, "renameat2", a, b, flags, done(syscall(SYS_renameat2, at, a, to, b, flags)), 0);
    return;
  case 15: say(step, "truncate", a, "", 0, done(truncate(a, pick(3000))), 0); return;
  case 16: say(step, "fchmodat", a, "", 0, done(fchmodat(at, a, 0600 | owner_keeps | pick(01000), 0)), 0); return;
  case 17: flags = pick(2) ? 0 : AT_SYMLINK_NOFOLLOW; say(step, "utimensat", a, "", flags, done(utimensat(at, a, times, flags)), 0); return;
  case 18: flags = (int)pick(01000) & ~0700; say(step, "umask", "", "", flags, umask((mode_t)flags) < 0, 0); return;
  case 19: {
    long fd = open(a, O_PATH | O_DIRECTORY | O_CLOEXEC);
    say(step, "directory", a, "", 0, done(fd), 0);
    if (fd < 0) return;
    uint32_t slot = pick(3);
    if (dirs[slot] >= 0 && !storm) close(dirs[slot]);
    if (!storm || pick(8) == 0) dirs[slot] = (int)fd;
    return;
  }
  case 20:
    if (pick(4)) say(step, "chdir", start, "", 0, done(chdir(start)), 0);
    else say(step, "chdir", a, "", 0, done(chdir(a)), 0);
    return;
#ifdef SYS_open
  case 21:
    switch (pick(4)) {
    case 0: say(step, "rmdir", a, "", 0, done(syscall(SYS_rmdir, a)), 0); return;
    case 1: say(step, "rename", a, b, 0, done(syscall(SYS_rename, a, b)), 0); return;
    case 2: say(step, "mkdir", a, "", 0, done(syscall(SYS_mkdir, a, 0777)), 0); return;
    default: {
      long fd = syscall(SYS_open, a, O_CREAT | O_WRONLY | O_TRUNC | O_NONBLOCK, 0666), error = done(fd);
      say(step, "open", a, "", 0, error, 0);
      if (fd >= 0) close((int)fd);
      return;
    }
    }
#endif
  default: say(step, "access", a, "", 0, done(faccessat(at, a, W_OK, 0)), 0);
  }
}

static const char *start_path;
static uint64_t seed;
static uint32_t count;

static void *run_storm(void *number) {
  state = seed * 977 + (uintptr_t)number;
  for (uint32_t i = 0; i < count; i++) one_call(i, start_path);
  return NULL;
}

int main(int argc, char **argv) {
  char here[256];
  if (argc < 3 || !getcwd(here, sizeof here - 1)) return 2;
  seed = strtoull(argv[1], NULL, 10);
  count = (uint32_t)atoi(argv[2]);
  int plants = argc > 3 && !strcmp(argv[3], "plant");
  storm = plants || (argc > 3 && !strcmp(argv[3], "storm"));
  if (plants || (argc > 3 && !strcmp(argv[3], "open"))) owner_keeps = 0700;
  strcat(here, "/");
  start_path = here;
  umask(022);
  state = seed;
  if (!storm || plants) {
    for (uint32_t i = 0; i < count; i++) one_call(i, here);
    return 0;
  }
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run_storm, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
