/* Finds a resident's directory and name, identifies its build, and compares the surroundings of
 * processes. */
#define _GNU_SOURCE
#include "resident.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void path_below(char *into, size_t size, int directory, const char *name) {
  snprintf(into, size, "/proc/self/fd/%d/%s", directory, name);
}

/* Opens a directory that belongs to this user alone. The opened object is the checked one. */
static int open_own(const char *path) {
  struct stat facts;
  int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  if (!fstat(fd, &facts) && facts.st_uid == geteuid() && (facts.st_mode & 077) == 0) return fd;
  close(fd);
  return -1;
}

/* Under any umask: without all three bits its owner could not use it. */
static void make_own(const char *path) {
  if (!mkdir(path, 0700)) (void)!chmod(path, 0700);
}

int open_place(const char *runtime_directory, int make) {
  char path[PATH_MAX];
  if (runtime_directory && runtime_directory[0] == '/') {
    int above = open_own(runtime_directory);
    if (above >= 0) {
      path_below(path, sizeof path, above, "cordon");
      if (make) make_own(path);
      int fd = open_own(path);
      close(above);
      return fd;
    }
  }
  /* The sticky bit of /tmp prevents renames by others; a directory that they created first is not
   * used. */
  snprintf(path, sizeof path, "/tmp/cordon-%u", (unsigned)geteuid());
  if (make) make_own(path);
  return open_own(path);
}

static uint64_t hash(uint64_t so_far, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) so_far = (so_far ^ (uint8_t)bytes[i]) * 0x100000001b3;
  return so_far;
}

/* Reads a file of /proc, cut to the buffer; -1 if unreadable. */
static ssize_t read_file(const char *path, char *into, size_t size) {
  size_t length = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  for (ssize_t n; length < size; length += (size_t)n) {
    n = read(fd, into + length, size - length);
    if (n < 0 && errno == EINTR) n = 0;
    else if (n < 0) length = size + 1, n = 0;
    else if (n == 0) break;
  }
  close(fd);
  return length >= size ? -1 : (ssize_t)length;
}

extern char **environ;

static int begins(const char *variable, const char *const prefixes[], size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strncmp(variable, prefixes[i], strlen(prefixes[i]))) return 1;
  return 0;
}

int is_configuration(const char *variable) {
  static const char *const PREFIXES[] = {"NODE_EXTRA_CA_CERTS=", "NODE_TLS_REJECT_UNAUTHORIZED=",
                                         "NODE_USE_SYSTEM_CA=", "SSL_CERT_", "OPENSSL_"};
  return begins(variable, PREFIXES, sizeof PREFIXES / sizeof *PREFIXES);
}

int name_resident(char *into, size_t size, const char *const program[2], const char *suffix) {
  char group[4096], real[PATH_MAX];
  uint64_t name = 0xcbf29ce484222325;
  for (int i = 0; i < 2; i++) {
    /* Links to one file are one name. */
    if (!realpath(program[i], real)) return 0;
    name = hash(name, real, strlen(real) + 1);
  }
  for (char **variable = environ; *variable; variable++)
    if (is_configuration(*variable)) name = hash(name, *variable, strlen(*variable) + 1);
  ssize_t length = read_file("/proc/self/cgroup", group, sizeof group);
  if (length < 0) return 0;
  snprintf(into, size, "%016llx%s", (unsigned long long)hash(name, group, (size_t)length), suffix);
  return 1;
}

int take_stamp(struct stamp *into, const char *const program[2]) {
  const char *paths[] = {program[0], program[1], "/proc/self/exe"};
  memset(into, 0, sizeof *into);
  for (int i = 0; i < 3; i++) {
    struct stat facts;
    if (stat(paths[i], &facts)) return 0;
    const uint64_t seen[] = {facts.st_dev,
                             facts.st_ino,
                             (uint64_t)facts.st_size,
                             (uint64_t)facts.st_mode << 32 | facts.st_uid,
                             (uint64_t)facts.st_mtim.tv_sec * 1000000000 + (uint64_t)facts.st_mtim.tv_nsec,
                             (uint64_t)facts.st_ctim.tv_sec * 1000000000 + (uint64_t)facts.st_ctim.tv_nsec};
    memcpy(into->facts[i], seen, sizeof seen);
  }
  return 1;
}

/* Lines of /proc/PID/status that a child inherits. */
static const char *const INHERITED[] = {
    "Uid:",    "Gid:",        "Groups:",  "CapInh:",          "CapPrm:",       "CapEff:",      "CapBnd:",
    "CapAmb:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:", "Cpus_allowed:", "Mems_allowed:"};
static const char *const NAMESPACES[] = {"mnt", "user",   "pid", "pid_for_children", "net", "ipc",
                                         "uts", "cgroup", "time"};

struct text {
  char *at;
  size_t size, length;
};

static int add(struct text *to, const void *bytes, size_t length) {
  if (to->length + length > to->size) return 0;
  memcpy(to->at + to->length, bytes, length);
  to->length += length;
  return 1;
}

size_t read_surroundings(pid_t pid, char *into, size_t size) {
  struct text text = {into, size, 0};
  char path[64], content[8192];
  struct stat facts;
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  ssize_t length = read_file(path, content, sizeof content - 1);
  if (length < 0) return 0;
  content[length] = 0;
  for (char *rest = content, *line; (line = strsep(&rest, "\n"));)
    for (size_t i = 0; i < sizeof INHERITED / sizeof *INHERITED; i++)
      if (!strncmp(line, INHERITED[i], strlen(INHERITED[i])) && !add(&text, line, strlen(line) + 1)) return 0;
  for (size_t i = 0; i < sizeof NAMESPACES / sizeof *NAMESPACES; i++) {
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, NAMESPACES[i]);
    ssize_t n = readlink(path, content, sizeof content);
    /* Older kernels lack some of them, for every process. */
    if (n < 0 && errno != ENOENT) return 0;
    if (n > 0 && !add(&text, content, (size_t)n)) return 0;
  }
  snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
  if (stat(path, &facts) || !add(&text, &facts.st_dev, sizeof facts.st_dev) ||
      !add(&text, &facts.st_ino, sizeof facts.st_ino))
    return 0;
  static const char *const FILES[] = {"cgroup", "oom_score_adj", "attr/current"};
  for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, FILES[i]);
    length = read_file(path, content, sizeof content);
    /* A kernel without security modules has no labels. */
    if (length < 0 && i != 2) return 0;
    if (!add(&text, &length, sizeof length) || (length > 0 && !add(&text, content, (size_t)length))) return 0;
  }
  for (int which = 0; which < RLIMIT_NLIMITS; which++) {
    struct rlimit limit;
    if (prlimit(pid, which, NULL, &limit) || !add(&text, &limit, sizeof limit)) return 0;
  }
  enum { IOPRIO_WHO_PROCESS = 1 };
  struct sched_param urgency = {0};
  errno = 0;
  const long priorities[] = {getpriority(PRIO_PROCESS, (id_t)pid), sched_getscheduler(pid),
                             sched_getparam(pid, &urgency), urgency.sched_priority,
                             syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, pid)};
  return errno == 0 && add(&text, priorities, sizeof priorities) ? text.length : 0;
}
