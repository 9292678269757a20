/* Resolves a caller's path to descriptors, in the caller's view of the tree. */
#define _GNU_SOURCE
#include "broker.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_LINKS 40 /* the kernel's limit */
#define PROC_ROOT_INODE 1
#define PAGE 4096

/* Copies a range of the caller's memory. Returns an errno, or 0. */
int copy_memory(const struct call *c, uint64_t from, void *into, size_t size) {
  struct iovec local = {.iov_base = into, .iov_len = size},
               remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = size};
  return size == 0 || process_vm_readv(c->tid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : EFAULT;
}

/* Copies a text once: later changes by the caller have no effect. Never reads a page beyond the
 * text. */
int copy_text(const struct call *c, uint64_t from, char *into, size_t size) {
  size_t got = 0;
  while (got < size) {
    size_t part = PAGE - ((from + got) & (PAGE - 1));
    if (part > size - got) part = size - got;
    struct iovec local = {.iov_base = into + got, .iov_len = part},
                 remote = {.iov_base = (void *)(uintptr_t)(from + got), .iov_len = part};
    ssize_t n = process_vm_readv(c->tid, &local, 1, &remote, 1, 0);
    if (n <= 0) {
      if (n == 0 || errno != ESRCH) errno = EFAULT;
      return -1;
    }
    if (memchr(into + got, 0, (size_t)n)) return 0;
    got += (size_t)n;
  }
  errno = ENAMETOOLONG;
  return -1;
}

void path_of_fd(int fd, char *into) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, into, PATH_MAX - 1);
  into[n > 0 ? n : 0] = 0;
}

static void name_start(const struct call *c, int at, char link[64]) {
  if (at == AT_FDCWD) snprintf(link, 64, "/proc/%d/cwd", c->tid);
  else snprintf(link, 64, "/proc/%d/fd/%d", c->tid, at);
}

/* The directory at which a caller's path starts. */
static int open_start(const struct call *c, int at, const char *path) {
  char link[64];
  if (path[0] == '/') return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  name_start(c, at, link);
  int fd = open(link, O_PATH | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) errno = EBADF;
  return fd;
}

static int is_proc(int fd) {
  struct statfs about;
  return fstatfs(fd, &about) == 0 && about.f_type == PROC_SUPER_MAGIC;
}

/* The links below /proc/PID point to objects of that process. Those of this process are refused. */
static int follow_magic(int folder, const char *name) {
  char path[PATH_MAX];
  path_of_fd(folder, path);
  int pid = strncmp(path, "/proc/", 6) ? 0 : atoi(path + 6);
  if (pid <= 0 || pid == getpid() || pid == gettid()) {
    errno = EACCES;
    return -1;
  }
  return openat(folder, name, O_PATH | O_CLOEXEC);
}

struct walk {
  const struct call *c;
  int at; /* the current directory */
  char rest[2 * PATH_MAX]; /* the remaining path */
  int links;
};

/* Puts the text of a link before the remaining path. */
static int turn(struct walk *w, const char *text, const char *after) {
  char rest[2 * PATH_MAX];
  int length = snprintf(rest, sizeof rest, "%s%s%s", text, *after ? "/" : "", after);
  if (length < 0 || (size_t)length >= sizeof rest) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(w->rest, rest, (size_t)length + 1);
  if (text[0] != '/') return 0;
  close(w->at);
  w->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return w->at < 0 ? -1 : 0;
}

/* Returns 1 if the walk continues with a text, 0 if `*reached` is the link's target, -1 on failure. */
static int follow_link(struct walk *w, int link, const char *name, const char *after, int *reached) {
  char text[PATH_MAX];
  struct stat folder;
  if (++w->links > MAX_LINKS) {
    errno = ELOOP;
    return -1;
  }
  ssize_t n = readlinkat(link, "", text, sizeof text - 1);
  if (is_proc(w->at)) {
    if (fstat(w->at, &folder)) return -1;
    if (folder.st_ino != PROC_ROOT_INODE) return (*reached = follow_magic(w->at, name)) < 0 ? -1 : 0;
    /* The kernel resolves these two for the reading process. */
    if (!strcmp(name, "self")) n = snprintf(text, sizeof text, "%d", w->c->tid);
    if (!strcmp(name, "thread-self")) n = snprintf(text, sizeof text, "%d/task/%d", w->c->tid, w->c->tid);
  }
  if (n <= 0) {
    if (n == 0) errno = ENOENT;
    return -1;
  }
  text[n] = 0;
  return turn(w, text, after) ? -1 : 1;
}

/* Plain directories are resolved by one call of the kernel. Returns 0 if the walk continues there. */
static int leap(struct walk *w) {
  char folder[PATH_MAX];
  size_t end = strlen(w->rest);
  while (end > 0 && w->rest[end - 1] == '/') end--;
  while (end > 0 && w->rest[end - 1] != '/') end--;
  if (end == 0 || end >= sizeof folder) return 0;
  memcpy(folder, w->rest, end);
  folder[end] = 0;
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                         .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  int fd = (int)syscall(SYS_openat2, w->at, folder, &how, sizeof how);
  if (fd < 0) return errno == ELOOP ? 0 : -1;
  close(w->at);
  w->at = fd;
  memmove(w->rest, w->rest + end, strlen(w->rest + end) + 1);
  return 0;
}

static int end_at_name(struct walk *w, struct spot *s, const char *name, size_t length, int slash) {
  if (length > NAME_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(s->name, name, length);
  memcpy(s->name + length, slash ? "/" : "", slash ? 2 : 1);
  s->parent = w->at;
  w->at = -1;
  return 0;
}

/* `.` and `..` are not names: the kernel reports the error, and the parent does not contain the
 * object. */
int is_dot(const struct spot *s) { return s->name[strspn(s->name, "./")] == 0 && strcspn(s->name, "/") <= 2; }

/* The canonical path of the object, and its place. */
static int name_spot(struct spot *s) {
  size_t length = strcspn(s->name, "/");
  s->path[0] = 0;
  if (s->parent < 0 || (is_dot(s) && s->is_there)) path_of_fd(s->object, s->path);
  else {
    path_of_fd(s->parent, s->path);
    size_t at = strlen(s->path);
    if (at == 1) at = 0;
    if (at + length + 2 > sizeof s->path) s->path[0] = 0;
    else {
      s->path[at] = '/';
      memcpy(s->path + at + 1, s->name, length);
      s->path[at + 1 + length] = 0;
    }
  }
  /* Longer than PATH_MAX: it could be neither judged nor restored. */
  if (s->path[0] == 0) {
    errno = ENAMETOOLONG;
    return -1;
  }
  s->place = place_of(s->path);
  /* The kernel refuses new names in a removed directory. */
  if (s->parent < 0) {
    struct stat named;
    uint64_t mount;
    s->is_nameless = look_by_name(AT_FDCWD, s->path, AT_SYMLINK_NOFOLLOW, &named, &mount) ||
                     named.st_ino != s->about.st_ino || named.st_dev != s->about.st_dev;
    /* A process has it open, and its only name is that of the kept file. */
    int how = seen(&s->about);
    if ((how & SEEN_GONE) && (s->about.st_nlink == 0 || (s->about.st_nlink == 1 && !(how & SEEN_APART)))) {
      s->place = any_root();
      s->about.st_nlink = 0;
    }
    return 0;
  }
  if (look_by_name(s->parent, "", AT_EMPTY_PATH, &s->folder, &s->folder_mount)) return -1;
  if (s->folder.st_nlink == 0) s->place = NULL;
  return 0;
}

static int look_at(struct spot *s, int fd) {
  s->object = fd;
  s->is_there = 1;
  return look_by_name(fd, "", AT_EMPTY_PATH, &s->about, &s->mount);
}

static int walk_on(struct walk *w, int follow, struct spot *s) {
  for (;;) {
    size_t skip = strspn(w->rest, "/"), length = strcspn(w->rest + skip, "/");
    char name[NAME_MAX + 1];
    const char *after = w->rest + skip + length;
    int slash = *after == '/', last = after[strspn(after, "/")] == 0;
    if (length == 0) { /* only slashes: the directory itself */
      if (end_at_name(w, s, ".", 1, 0)) return -1;
      int self = openat(s->parent, ".", O_PATH | O_CLOEXEC);
      return self < 0 ? -1 : look_at(s, self);
    }
    if (length > NAME_MAX) {
      errno = ENAMETOOLONG;
      return -1;
    }
    memcpy(name, w->rest + skip, length);
    name[length] = 0;
    int fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return last && errno == ENOENT ? end_at_name(w, s, name, length, slash) : -1;
    struct stat about;
    uint64_t mount;
    if (look_by_name(fd, "", AT_EMPTY_PATH, &about, &mount)) {
      close(fd);
      return -1;
    }
    if (S_ISLNK(about.st_mode) && (!last || follow)) {
      char rest[2 * PATH_MAX];
      int reached = -1;
      snprintf(rest, sizeof rest, "%s", after + strspn(after, "/"));
      if (last && slash) snprintf(rest, sizeof rest, "%s", "./");
      int how = follow_link(w, fd, name, rest, &reached);
      close(fd);
      if (how < 0) return -1;
      if (how == 1) continue;
      if (last && !slash) return look_at(s, reached);
      close(w->at);
      w->at = reached;
      memmove(w->rest, after, strlen(after) + 1);
      continue;
    }
    if (last) {
      s->object = fd;
      s->is_there = 1;
      s->about = about;
      s->mount = mount;
      return end_at_name(w, s, name, length, slash);
    }
    close(w->at);
    w->at = fd;
    memmove(w->rest, after, strlen(after) + 1);
  }
}

static void clear_spot(struct spot *s) {
  s->parent = s->object = -1;
  s->is_there = s->is_nameless = 0;
  s->known = NULL;
  s->name[0] = 0;
  s->place = NULL;
  s->start_inode = 0;
}

static int end_badly(struct spot *s) {
  int error = errno;
  leave_spot(s);
  errno = error;
  return -1;
}

/* In a known directory one lookup is enough. Returns 1 for a link, or an error that the kernel
 * reports. */
static int find_in_known(const struct call *c, int at, const char *path, int follow, struct spot *s) {
  if (find_parent(c, at, path, s)) return 1;
  if (look_by_name(s->parent, s->name, AT_SYMLINK_NOFOLLOW, &s->about, &s->mount) == 0) {
    s->is_there = 1;
    if (!follow || !S_ISLNK(s->about.st_mode)) return 0;
  } else if (errno == ENOENT) return 0;
  return_parent(s);
  s->is_there = 0;
  s->name[0] = 0;
  s->place = NULL;
  return 1;
}

/* Resolves a path; the last link is followed if `follow` is set. -1 with the caller's errno. */
int find_spot(const struct call *c, int at, const char *path, int follow, struct spot *s) {
  static struct walk w; /* one call is answered at a time */
  clear_spot(s);
  if (path[0] == 0) {
    errno = ENOENT;
    return -1;
  }
  if (find_in_known(c, at, path, follow, s) == 0) return 0;
  w.c = c;
  w.links = 0;
  w.at = open_start(c, at, path);
  if (w.at < 0) return -1;
  memcpy(w.rest, path, strlen(path) + 1);
  int bad = leap(&w) || walk_on(&w, follow, s) || name_spot(s);
  if (w.at >= 0) close(w.at);
  if (!bad) {
    keep_parent(s, path, w.links);
    return 0;
  }
  return end_badly(s);
}

/* The object of a caller's descriptor, without its path. */
int hold_object(const struct call *c, int fd, struct spot *s) {
  char link[64];
  clear_spot(s);
  snprintf(link, sizeof link, "/proc/%d/fd/%d", c->tid, fd);
  int object = open(link, O_PATH | O_CLOEXEC);
  if (object < 0) {
    if (errno == ENOENT) errno = EBADF;
    return -1;
  }
  return look_at(s, object) ? end_badly(s) : 0;
}

/* Its path and its place. */
int name_object(struct spot *s) { return name_spot(s) ? end_badly(s) : 0; }

int find_object(const struct call *c, int fd, struct spot *s) {
  return hold_object(c, fd, s) || name_object(s) ? -1 : 0;
}

/* A descriptor of the resolved object itself, or -1. */
int open_object(struct spot *s) {
  struct stat about;
  uint64_t mount;
  if (s->object >= 0 || !s->is_there) return s->object;
  int fd = openat(s->parent, s->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  if (look_by_name(fd, "", AT_EMPTY_PATH, &about, &mount) || about.st_ino != s->about.st_ino ||
      about.st_dev != s->about.st_dev) {
    close(fd);
    errno = ESTALE;
    return -1;
  }
  return s->object = fd;
}

void leave_spot(struct spot *s) {
  return_parent(s);
  if (s->object >= 0) close(s->object);
  s->object = -1;
}
