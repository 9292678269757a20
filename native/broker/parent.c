/* Caches directories of earlier calls. `rm -r`, `cp -r`, git and npm name many files of few
 * directories; their descriptor, canonical path and host view are reused.
 *
 * Inside, only brokers change the tree, and moving a directory clears this cache. Concurrent
 * commands have a broker each. A file lock lets only one of them work in overlapping roots, and a
 * counter in the file shows whether another one moved a directory. So nothing moves between check
 * and change. Moves by the host are noticed after MAX_AGE: until then a name is created where its
 * directory was a moment ago. */
#define _GNU_SOURCE
#include "broker.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define MAX_AGE_NS 10000000
#define PARENTS 32
#define TASKS 16
#define MAX_TEXT 256
#define PAGE_SIZE 4096
#define RANGE_BITS 60
#define NAME_BITS 10
#define HOST_UNTRIED (-2)

/* A directory and its mount; all 0 if unknown. */
struct identity {
  dev_t device;
  ino_t inode;
  uint64_t mount;
};

struct parent {
  int is_known, fd, host;
  int lent; /* spots that use the descriptor */
  struct timespec at;
  struct identity self, start; /* start: the base of `text`; unset for an absolute path */
  char text[MAX_TEXT]; /* the caller's last path of it, if without links */
  char path[PATH_MAX];
};

static struct parent parents[PARENTS];

/* One lookup: the object, and its mount. */
int look_by_name(int at, const char *name, int flags, struct stat *about, uint64_t *mount) {
  struct statx found;
  if (statx(at, name, flags | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &found))
    return -1;
  memset(about, 0, sizeof *about);
  about->st_mode = found.stx_mode;
  about->st_nlink = found.stx_nlink;
  about->st_uid = found.stx_uid;
  about->st_gid = found.stx_gid;
  about->st_size = (off_t)found.stx_size;
  about->st_ino = found.stx_ino;
  about->st_dev = makedev(found.stx_dev_major, found.stx_dev_minor);
  about->st_mtim = (struct timespec){.tv_sec = found.stx_mtime.tv_sec, .tv_nsec = found.stx_mtime.tv_nsec};
  about->st_changed = (struct timespec){.tv_sec = found.stx_ctime.tv_sec, .tv_nsec = found.stx_ctime.tv_nsec};
  if (found.stx_mask & STATX_BTIME)
    about->st_born = (struct timespec){.tv_sec = found.stx_btime.tv_sec, .tv_nsec = found.stx_btime.tv_nsec};
  *mount = found.stx_mask & STATX_MNT_ID ? found.stx_mnt_id : 0;
  return 0;
}

static struct identity identity_of(const struct stat *about, uint64_t mount) {
  return (struct identity){.device = about->st_dev, .inode = about->st_ino, .mount = mount};
}

static int is_same(const struct identity *a, const struct identity *b) {
  return a->inode == b->inode && a->device == b->device && a->mount == b->mount;
}

static void forget_all(void) {
  for (size_t i = 0; i < PARENTS; i++) parents[i].is_known = 0;
}

/* The lock file of all commands of this user; its first bytes count moved directories. */
static int lock_file = -1;
static uint64_t *moves, seen_moves;

/* The byte range that a root locks: it contains the ranges of all folders in it, and overlaps few
 * others. */
struct range { off_t start, length; };
static struct range *ranges;
static size_t range_count;

static struct range range_of(const char *path) {
  struct range r = {.start = PAGE_SIZE, .length = (off_t)1 << RANGE_BITS};
  for (const char *at = path; *at && r.length > 1;) {
    at += strspn(at, "/");
    size_t length = strcspn(at, "/");
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)at[i]) * 16777619u;
    if (length) r.length >>= NAME_BITS;
    if (length) r.start += r.length * (off_t)((hash ^ hash >> 16) & ((1u << NAME_BITS) - 1));
    at += length;
  }
  return r;
}

static int by_start(const void *a, const void *b) {
  const struct range *one = a, *other = b;
  return (one->start > other->start) - (one->start < other->start);
}

int lock_root(const char *path) {
  struct range *grown = realloc(ranges, (range_count + 1) * sizeof *ranges);
  if (!grown) return -1;
  ranges = grown;
  ranges[range_count++] = range_of(path);
  /* Lock in one order, so that two commands with several roots cannot deadlock. */
  qsort(ranges, range_count, sizeof *ranges, by_start);
  return 0;
}

int open_lock(int folder, const char *name) {
  mode_t mask = umask(077);
  lock_file = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  umask(mask);
  if (lock_file < 0 || ftruncate(lock_file, PAGE_SIZE)) return -1;
  void *mapped = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, lock_file, 0);
  if (mapped == MAP_FAILED) return -1;
  moves = mapped;
  return 0;
}

/* Returns 0 when no other command may change the roots until unlock_roots(); otherwise the errno
 * for the caller. */
int lock_roots(void) {
  for (size_t i = 0; lock_file >= 0 && i < range_count; i++) {
    struct flock range = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = ranges[i].start, .l_len = ranges[i].length};
    while (fcntl(lock_file, F_OFD_SETLKW, &range))
      if (errno != EINTR) return errno;
  }
  if (!moves || *moves == seen_moves) return 0;
  forget_all();
  if (!are_roots_in_place()) return EROFS;
  seen_moves = *moves;
  return 0;
}

void unlock_roots(void) {
  struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = PAGE_SIZE};
  if (lock_file >= 0) (void)fcntl(lock_file, F_OFD_SETLK, &all);
}

void forget_parents(void) {
  if (moves) seen_moves = __atomic_add_fetch(moves, 1, __ATOMIC_SEQ_CST);
  forget_all();
}

static int is_fresh(const struct parent *p) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (now.tv_sec - p->at.tv_sec) * 1000000000L + (now.tv_nsec - p->at.tv_nsec) < MAX_AGE_NS;
}

/* The descriptor is the same directory; its path is checked again from time to time. */
static int is_where_it_was(struct parent *p) {
  static char path[PATH_MAX];
  if (is_fresh(p)) return 1;
  path_of_fd(p->fd, path);
  if (strcmp(path, p->path)) {
    p->is_known = 0;
    return 0;
  }
  clock_gettime(CLOCK_MONOTONIC_COARSE, &p->at);
  return 1;
}

/* The object of a caller's descriptor, or its working directory. An open /proc/TID belongs to one
 * task, so a reused number is not mistaken for it. */
int look_at_start(pid_t tid, int at, struct stat *about, uint64_t *mount) {
  static struct { pid_t tid; int fd; } tasks[TASKS];
  size_t slot = (size_t)tid % TASKS;
  char name[32];
  if (at == AT_FDCWD) strcpy(name, "cwd");
  else snprintf(name, sizeof name, "fd/%d", at);
  if (tasks[slot].tid == tid && look_by_name(tasks[slot].fd, name, 0, about, mount) == 0) return 0;
  if (tasks[slot].tid) close(tasks[slot].fd);
  tasks[slot].tid = 0;
  char path[32];
  snprintf(path, sizeof path, "/proc/%d", tid);
  int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -1;
  tasks[slot].tid = tid;
  tasks[slot].fd = fd;
  return look_by_name(fd, name, 0, about, mount);
}

/* The last name of a path if it is a plain one with a directory before it; otherwise NULL. */
static const char *plain_name(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  if (slash == path || !name[0] || !strcmp(name, ".") || !strcmp(name, "..") || strlen(name) > NAME_MAX)
    return NULL;
  return slash && slash - path >= MAX_TEXT ? NULL : name;
}

static int take(struct spot *s, struct parent *p, const char *name) {
  size_t above = strlen(p->path), length = strlen(name);
  if (above == 1) above = 0;
  if (above + length + 2 > sizeof s->path) return -1;
  memcpy(s->path, p->path, above);
  s->path[above] = '/';
  memcpy(s->path + above + 1, name, length + 1);
  memcpy(s->name, name, length + 1);
  s->parent = p->fd;
  s->known = p;
  p->lent++;
  s->place = place_of(s->path);
  return 0;
}

/* Looks up the directory of a path in the cache. Returns 0 if all of the spot but the object is
 * known. */
int find_parent(const struct call *c, int at, const char *path, struct spot *s) {
  const char *name = plain_name(path);
  struct identity start = {0};
  s->start_inode = 0;
  if (!name) return -1;
  if (path[0] != '/') {
    if (look_at_start(c->tid, at, &s->folder, &s->folder_mount)) return -1;
    start = identity_of(&s->folder, s->folder_mount);
    s->start_device = start.device;
    s->start_inode = start.inode;
    s->start_mount = start.mount;
  }
  size_t length = name == path ? 0 : (size_t)(name - path) - 1;
  for (size_t i = 0; i < PARENTS; i++) {
    struct parent *p = &parents[i];
    if (!p->is_known) continue;
    if (length == 0) {
      if (!is_same(&p->self, &start)) continue;
      if (s->folder.st_nlink == 0 || !is_where_it_was(p)) return -1;
      return take(s, p, name);
    }
    if (!is_same(&p->start, &start) || memcmp(p->text, path, length) || p->text[length]) continue;
    if (is_fresh(p) && look_by_name(p->fd, "", AT_EMPTY_PATH, &s->folder, &s->folder_mount) == 0 &&
        s->folder.st_nlink > 0)
      return take(s, p, name);
    p->text[0] = 0;
  }
  return -1;
}

static struct parent *free_parent(void) {
  static size_t last;
  for (size_t i = 0; i < PARENTS; i++)
    if (!parents[i].is_known && parents[i].lent == 0) return &parents[i];
  for (size_t i = 0; i < PARENTS; i++) {
    last = (last + 1) % PARENTS;
    if (parents[last].lent == 0) return &parents[last];
  }
  return NULL;
}

static void empty_parent(struct parent *p) {
  if (p->path[0] && p->fd >= 0) close(p->fd);
  if (p->path[0] && p->host >= 0) close(p->host);
  p->path[0] = 0;
  p->is_known = 0;
}

/* Caches the directory of a resolved spot; `path` as the caller wrote it, `links` counts the
 * followed ones. */
void keep_parent(struct spot *s, const char *path, int links) {
  size_t length = strlen(s->name), end = strlen(s->path);
  const char *name = plain_name(path);
  if (s->known || s->parent < 0 || !s->place || s->folder.st_nlink == 0 || !strncmp(s->path, "/proc/", 6))
    return;
  if (strchr(s->name, '/') || !strcmp(s->name, ".") || !strcmp(s->name, "..") || end <= length + 1) return;
  struct parent *p = free_parent();
  if (!p) return;
  empty_parent(p);
  p->fd = s->parent;
  p->host = HOST_UNTRIED;
  p->lent = 1;
  p->is_known = 1;
  p->self = identity_of(&s->folder, s->folder_mount);
  p->start = (struct identity){0};
  p->text[0] = 0;
  if (name && name != path && links == 0 && (path[0] == '/' || s->start_inode)) {
    memcpy(p->text, path, (size_t)(name - path) - 1);
    p->text[name - path - 1] = 0;
    if (path[0] != '/')
      p->start =
          (struct identity){.device = s->start_device, .inode = s->start_inode, .mount = s->start_mount};
  }
  clock_gettime(CLOCK_MONOTONIC_COARSE, &p->at);
  memcpy(p->path, s->path, end - length - 1);
  p->path[end - length - 1] = 0;
  s->known = p;
}

void return_parent(struct spot *s) {
  if (s->known) s->known->lent--;
  else if (s->parent >= 0) close(s->parent);
  s->known = NULL;
  s->parent = -1;
}

/* Whether a directory is in its root's mount, and that mount is writable. */
static int is_in_root_mount(const struct parent *p, const struct broker_place *place) {
  struct stat about;
  struct statfs fs;
  uint64_t mount;
  if (p->self.mount == 0 || look_by_name(AT_FDCWD, place->path, AT_SYMLINK_NOFOLLOW, &about, &mount) ||
      mount != p->self.mount)
    return 0;
  return fstatfs(p->fd, &fs) == 0 && !(fs.f_flags & ST_RDONLY);
}

static int open_host_folder(const struct parent *p, const struct broker_place *place) {
  struct stat about;
  uint64_t mount;
  if (place->kind != PLACE_ROOT || place->host < 0 || !is_in_root_mount(p, place)) return -1;
  const char *below = p->path[place->length] == '/' ? p->path + place->length + 1 : ".";
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                         .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_NO_XDEV};
  int fd = (int)syscall(SYS_openat2, place->host, below, &how, sizeof how);
  if (fd < 0) return -1;
  if (look_by_name(fd, "", AT_EMPTY_PATH, &about, &mount) == 0 && about.st_ino == p->self.inode &&
      about.st_dev == p->self.device)
    return fd;
  close(fd);
  return -1;
}

/* The directory of a spot by the host's mount, from which a name can be moved to the kept files. -1
 * if the sandbox mounts something else there, or mounts it read-only: the host's mount would ignore
 * that. */
int host_folder(const struct spot *s) {
  if (!s->known || !s->place) return -1;
  if (s->known->host == HOST_UNTRIED) s->known->host = open_host_folder(s->known, s->place);
  return s->known->host;
}
