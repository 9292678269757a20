/* Records missing paths and started programs for `cordon learn`. */
#define _GNU_SOURCE
#include "learn.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_SOUGHT 16384 /* recorded paths; the rest is only counted */
#define MAX_SOUGHT_BYTES (2 << 20)
#define SLOTS 32768
#define CHANGING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

static const char **quiet;
static size_t quiet_count;
struct sought_path {
  enum sought kind;
  char *path;
};
static struct sought_path slots[SLOTS];
static const struct sought_path *order[MAX_SOUGHT];
static size_t sought_count, sought_bytes;
static uint32_t left_out;

int learn_take(const char *prefix) {
  const char **grown = realloc(quiet, (quiet_count + 1) * sizeof *quiet);
  if (!grown) return -1;
  quiet = grown;
  quiet[quiet_count++] = prefix;
  return 0;
}

int learn_is_on(void) { return quiet_count > 0; }

static int is_quiet(const char *path) {
  for (size_t i = 0; i < quiet_count; i++) {
    size_t length = strlen(quiet[i]);
    if (!strncmp(path, quiet[i], length) && (path[length] == 0 || path[length] == '/')) return 1;
  }
  return 0;
}

static void write_down(enum sought kind, const char *path) {
  uint32_t hash = 2166136261u ^ (uint32_t)kind;
  for (const char *at = path; *at; at++) hash = (hash ^ (uint8_t)*at) * 16777619u;
  size_t slot = hash % SLOTS, length = strlen(path) + 1;
  for (; slots[slot].path; slot = (slot + 1) % SLOTS)
    if (slots[slot].kind == kind && !strcmp(slots[slot].path, path)) return;
  char *copy = sought_count < MAX_SOUGHT && sought_bytes + length <= MAX_SOUGHT_BYTES ? malloc(length) : NULL;
  if (!copy) {
    if (left_out < UINT32_MAX) left_out++;
    return;
  }
  memcpy(copy, path, length);
  slots[slot].kind = kind;
  slots[slot].path = copy;
  order[sought_count++] = &slots[slot];
  sought_bytes += length;
}

/* Removes `.`, `..` and doubled slashes from an absolute path, in place. */
static void flatten(char *path) {
  char *to = path;
  for (char *from = path; *from;) {
    size_t skip = strspn(from, "/"), length = strcspn(from + skip, "/");
    const char *name = from + skip;
    from += skip + length;
    if (length == 0 || (length == 1 && name[0] == '.')) continue;
    if (length == 2 && name[0] == '.' && name[1] == '.') {
      while (to > path && *--to != '/') continue;
      continue;
    }
    *to++ = '/';
    memmove(to, name, length);
    to += length;
  }
  if (to == path) *to++ = '/';
  *to = 0;
}

/* Makes a caller's path absolute. Returns 0 on success. */
static int whole_path(const struct call *c, int at, uint64_t from, char whole[2 * PATH_MAX]) {
  static char text[PATH_MAX];
  char link[64];
  if (from == 0 || copy_text(c, from, text, sizeof text) || !text[0]) return -1;
  size_t start = 0;
  if (text[0] != '/') {
    if (at == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", c->tid);
    else snprintf(link, sizeof link, "/proc/%d/fd/%d", c->tid, at);
    ssize_t n = readlink(link, whole, PATH_MAX - 1);
    if (n <= 0 || whole[0] != '/') return -1;
    start = (size_t)n;
    whole[start++] = '/';
  }
  strcpy(whole + start, text);
  flatten(whole);
  return strlen(whole) < PATH_MAX ? 0 : -1;
}

static int is_there(const char *path, int flags) {
  struct stat about;
  return fstatat(AT_FDCWD, path, &about, flags) == 0;
}

/* Whether a missing path is a link to a path that the sandbox does not show. */
static int ends_at_link(const char *path) {
  char above[PATH_MAX];
  struct stat about;
  strcpy(above, path);
  while (fstatat(AT_FDCWD, above, &about, AT_SYMLINK_NOFOLLOW)) {
    char *slash = strrchr(above, '/');
    if (!slash || slash == above) return 0;
    *slash = 0;
  }
  return S_ISLNK(about.st_mode);
}

static void note_lookup(const struct call *c, int at, uint64_t from, enum sought kind, int flags) {
  static char path[2 * PATH_MAX];
  if (whole_path(c, at, from, path)) return;
  if (is_there(path, flags)) {
    if (kind == SOUGHT_PROGRAM) write_down(SOUGHT_RUN, path);
    return;
  }
  if (!is_quiet(path) || ends_at_link(path)) write_down(kind, path);
}

/* A change that Landlock refuses, or whose folder is missing. */
static void note_change(const struct call *c, int at, uint64_t from) {
  static char path[2 * PATH_MAX];
  char folder[PATH_MAX];
  if (whole_path(c, at, from, path)) return;
  if (!strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/", 5)) return;
  strcpy(folder, path);
  char *slash = strrchr(folder, '/');
  if (slash > folder) *slash = 0;
  int has_folder = is_there(folder, 0);
  if (!place_of(path) || (!has_folder && (!is_quiet(path) || ends_at_link(path))))
    write_down(SOUGHT_CHANGE, path);
}

static int note_open(const struct call *c, int at, uint64_t path, int flags) {
  if (flags & CHANGING) {
    note_change(c, at, path);
    return 0;
  }
  note_lookup(c, at, path, SOUGHT_LOOKUP, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0);
  return 1;
}

int learn_call(const struct call *c, int nr) {
  const uint64_t *a = c->args;
  int at = (int)a[0];
  switch (nr) {
  case SYS_openat: return note_open(c, at, a[1], (int)a[2]);
  case SYS_execve: note_lookup(c, AT_FDCWD, a[0], SOUGHT_PROGRAM, 0); return 1;
  case SYS_execveat: note_lookup(c, at, a[1], SOUGHT_PROGRAM, 0); return 1;
  case SYS_newfstatat:
  case SYS_statx:
  case SYS_faccessat:
  case 439: /* faccessat2, newer than some headers */
  case SYS_readlinkat: note_lookup(c, at, a[1], SOUGHT_LOOKUP, 0); return 1;
  case SYS_chdir: note_lookup(c, AT_FDCWD, a[0], SOUGHT_LOOKUP, 0); return 1;
  case SYS_mkdirat:
  case SYS_mknodat:
  case SYS_unlinkat: note_change(c, at, a[1]); return 0;
  case SYS_symlinkat: note_change(c, (int)a[1], a[2]); return 0;
  case SYS_linkat:
#ifdef SYS_renameat
  case SYS_renameat:
#endif
  case SYS_renameat2: note_change(c, (int)a[2], a[3]); return 0;
  case SYS_truncate: note_change(c, AT_FDCWD, a[0]); return 0;
#ifdef SYS_open /* the calls without a directory: only the older architecture has them */
  case SYS_open: return note_open(c, AT_FDCWD, a[0], (int)a[1]);
  case SYS_creat:
  case SYS_mkdir:
  case SYS_mknod:
  case SYS_unlink:
  case SYS_rmdir: note_change(c, AT_FDCWD, a[0]); return 0;
  case SYS_symlink:
  case SYS_link:
  case SYS_rename: note_change(c, AT_FDCWD, a[1]); return 0;
  case SYS_stat:
  case SYS_lstat:
  case SYS_access:
  case SYS_readlink: note_lookup(c, AT_FDCWD, a[0], SOUGHT_LOOKUP, 0); return 1;
#endif
  default: return 0;
  }
}

void learn_report(void) {
  for (size_t i = 0; i < sought_count; i++) learn_send(order[i]->kind, order[i]->path, 0);
  if (left_out) learn_send(SOUGHT_LEFT_OUT, "", left_out);
}
