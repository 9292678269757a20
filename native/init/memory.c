/* Limits the memory of a sandbox without a control group. Joining one takes tens of milliseconds at
 * every start, and RLIMIT_DATA stops sanitizers, which map terabytes that they never touch. The
 * processes are added up only if the machine as a whole uses more than the limit. Until then one
 * read says how long reaching it takes at least. */
#define _GNU_SOURCE
#include "memory.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB_PER_MS 8192 /* more than any machine can fill */
#define SHORTEST_MS 20
#define LONGEST_MS 1000
#define CHECKS_BEFORE_THE_END 5 /* the memory of a killed process is not free at once */

static uint64_t limit, shared_at_start; /* KiB */
static uint64_t next_check;
static int checks_over;

static uint64_t value_of(const char *text, const char *name) {
  const char *at = strstr(text, name);
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

struct machine {
  uint64_t total, used, shared;
};

static int read_machine(struct machine *m) {
  char text[4096];
  int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return -1;
  text[n] = 0;
  m->total = value_of(text, "MemTotal:");
  uint64_t available = value_of(text, "MemAvailable:");
  m->used = m->total > available ? m->total - available : 0;
  m->shared = value_of(text, "Shmem:");
  return m->total ? 0 : -1;
}

int memory_open(uint32_t thousandths) {
  struct machine m;
  if (read_machine(&m)) return -1;
  limit = m.total / 1000 * thousandths;
  shared_at_start = m.shared;
  return 0;
}

uint64_t memory_limit(void) { return limit; }

/* The private memory of a process, in KiB. */
static uint64_t used_by(const char *pid) {
  char path[64], text[128];
  unsigned long long resident = 0, shared = 0;
  snprintf(path, sizeof path, "/proc/%.20s/statm", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  if (sscanf(text, "%*u %llu %llu", &resident, &shared) != 2 || resident < shared) return 0;
  return (resident - shared) * ((uint64_t)sysconf(_SC_PAGESIZE) / 1024);
}

static uint64_t held_by_all(pid_t *largest, uint64_t *most) {
  uint64_t sum = 0;
  DIR *all = opendir("/proc");
  if (!all) return 0;
  for (struct dirent *entry; (entry = readdir(all));) {
    int pid = atoi(entry->d_name);
    if (pid <= 1) continue;
    uint64_t used = used_by(entry->d_name);
    sum += used;
    if (used > *most) {
      *most = used;
      *largest = pid;
    }
  }
  closedir(all);
  return sum;
}

static pid_t judge(const struct machine *m) {
  pid_t largest = 0;
  uint64_t most = 0, sum = held_by_all(&largest, &most);
  /* Files in memory belong to no process: those of the private /tmp, and unnamed ones. */
  if (m->shared > shared_at_start) sum += m->shared - shared_at_start;
  if (sum <= limit) {
    checks_over = 0;
    return 0;
  }
  return checks_over++ < CHECKS_BEFORE_THE_END && most > limit / 4 ? largest : -1;
}

pid_t memory_check(uint64_t now, int *next) {
  pid_t found = 0;
  if (now >= next_check) {
    struct machine m;
    uint64_t wait = SHORTEST_MS;
    if (!read_machine(&m)) {
      if (m.used > limit) found = judge(&m);
      else wait = (limit - m.used) / KIB_PER_MS;
    }
    next_check = now + (wait < SHORTEST_MS ? SHORTEST_MS : wait > LONGEST_MS ? LONGEST_MS : wait);
  }
  *next = (int)(next_check - now);
  return found;
}
