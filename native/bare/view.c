/* Opens files for reading: resolves and judges the path, opens it, and passes the descriptor to the
 * caller. */
#define _GNU_SOURCE
#include "bare.h"
#include "../init/init.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MOST_WAITING 16
#define DELETED " (deleted)"

/* Masks by path; file masks also by inode, because another name shows the same content. */
static struct place **masked, **files, **fixed;
static size_t masked_count, file_count, fixed_count;

static int by_path(const void *a, const void *b) {
  return strcmp((*(struct place *const *)a)->path, (*(struct place *const *)b)->path);
}

static int compare_identity(uint64_t device, uint64_t inode, const struct place *p) {
  if (inode != p->inode) return inode < p->inode ? -1 : 1;
  return device < p->device ? -1 : device > p->device;
}

static int by_identity(const void *a, const void *b) {
  const struct place *one = *(struct place *const *)a;
  return compare_identity(one->device, one->inode, *(struct place *const *)b);
}

static void record_mask(struct place *p) {
  struct stat about;
  int place = open_place(p->path);
  if (place < 0) {
    if ((errno == ENOENT && (p->flags & MASK_OPTIONAL)) || is_out_of_reach(p->path)) return;
    fail_at(STEP_MASK, p->index);
  }
  if (fstat(place, &about)) fail_at(STEP_MASK, p->index);
  close(place);
  if ((p->flags & MASK_EXACT) && (about.st_dev != p->device || about.st_ino != p->inode)) {
    errno = ESTALE;
    fail_at(STEP_MASK, p->index);
  }
  masked[masked_count++] = p;
  if (S_ISDIR(about.st_mode) || (p->flags & MASK_UNWATCHED)) return;
  p->device = about.st_dev;
  p->inode = about.st_ino;
  files[file_count++] = p;
}

/* Records the masks before the command starts. */
void bare_record_masks(void) {
  masked = allocate(setup.place_count + 1, sizeof *masked);
  files = allocate(setup.place_count + 1, sizeof *files);
  fixed = allocate(setup.place_count + 1, sizeof *fixed);
  for (size_t i = 0; i < setup.place_count; i++) {
    struct place *p = &setup.places[i];
    if (p->kind == RECORD_MASK) record_mask(p);
    else if (p->flags & PIN_READONLY) fixed[fixed_count++] = p;
  }
  qsort(masked, masked_count, sizeof *masked, by_path);
  qsort(fixed, fixed_count, sizeof *fixed, by_path);
  qsort(files, file_count, sizeof *files, by_identity);
}

/* The entry of a sorted list at a path or above it; NULL without one. */
static struct place *find_above(struct place **list, size_t count, const char *path) {
  char part[PATH_MAX];
  struct place key = {.path = part}, *wanted = &key, **found;
  size_t length = strlen(path);
  if (!count || length >= sizeof part) return NULL;
  for (size_t end = 1; end <= length; end++) {
    if (end < length && path[end] != '/') continue;
    memcpy(part, path, end);
    part[end] = 0;
    if ((found = bsearch(&wanted, list, count, sizeof *list, by_path))) return *found;
  }
  return NULL;
}

static struct place *mask_of(const char *path, const struct stat *about) {
  struct place key = {.device = about->st_dev, .inode = about->st_ino}, *wanted = &key;
  struct place **found = file_count ? bsearch(&wanted, files, file_count, sizeof *files, by_identity) : NULL;
  return found ? *found : find_above(masked, masked_count, path);
}

static void report_mask(struct place *p) {
  if ((p->flags & MASK_UNWATCHED) || (p->reported & 1)) return;
  p->reported |= 1;
  send_message(MESSAGE_MASK, p->index, 0, 0);
}

/* Whether a pin would prevent the change. 0, or the errno. */
int bare_refuses(const struct spot *s) {
  struct place *mask = s->is_there ? mask_of(s->path, &s->about) : find_above(masked, masked_count, s->path);
  if (mask) {
    report_mask(mask);
    return EACCES;
  }
  return !is_ours(s) || find_above(fixed, fixed_count, s->path) ? EROFS : 0;
}

static int is_device(const struct stat *about) {
  struct stat own;
  unsigned number = minor(about->st_rdev);
  /* null, zero, full, random and urandom */
  if (major(about->st_rdev) == 1) return number < 10 && (0x3a8 >> number & 1);
  if (!setup.has_terminal) return 0;
  return about->st_rdev == makedev(5, 0) ||
         (fstat(terminal_fd(), &own) == 0 && own.st_rdev == about->st_rdev);
}

/* 0 if it may be read. */
static int judge_view(const char *path, const struct stat *about) {
  char named[PATH_MAX];
  size_t length = strlen(path), tail = sizeof DELETED - 1;
  struct place *mask = mask_of(path, about);
  if (mask) {
    report_mask(mask);
    return mask->flags & 2 ? ENOENT : EACCES;
  }
  if (S_ISCHR(about->st_mode)) return is_device(about) ? 0 : ENOENT;
  if (S_ISSOCK(about->st_mode)) return ENXIO;
  if (S_ISBLK(about->st_mode)) return EACCES;
  if (path[0] != '/') return S_ISFIFO(about->st_mode) && !strncmp(path, "pipe:[", 6) ? 0 : EACCES;
  if (!strcmp(path, "/proc")) return 0;
  if (!strncmp(path, "/proc/", 6)) {
    pid_t pid = atoi(path + 6);
    if (pid > 0 && strstr(path + 6, "/net/")) return ENOENT; /* shows the whole machine */
    return pid <= 0 || bare_is_inside(pid) ? 0 : ENOENT;
  }
  /* A command may reopen its own descriptor of a file without a name. */
  if (about->st_nlink == 0 && length > tail && !strcmp(path + length - tail, DELETED)) {
    if (!strncmp(path, "/memfd:", 7)) return 0;
    memcpy(named, path, length - tail);
    named[length - tail] = 0;
    path = named;
    if (find_above(masked, masked_count, path)) return EACCES;
  }
  if (bare_shows(path)) return 0;
  return S_ISDIR(about->st_mode) && bare_is_above_shown(path) ? EACCES : ENOENT;
}

/* Links in /proc differ for each process; such paths are resolved step by step as the caller. */
static int is_of_this_process(const char *path) {
  char own[32];
  int length = snprintf(own, sizeof own, "/proc/%d", getpid());
  return !strncmp(path, own, (size_t)length) && (path[length] == 0 || path[length] == '/');
}

/* An O_PATH descriptor of the object that a caller's path resolves to. -1 with errno. */
static int find(const struct call *c, int at, const char *path, int flags) {
  static struct spot s;
  static char found[PATH_MAX];
  char link[64];
  int from = -1, fd;
  struct open_how how = {.flags = O_PATH | O_CLOEXEC | (unsigned)(flags & (O_NOFOLLOW | O_DIRECTORY)),
                         .resolve = RESOLVE_NO_MAGICLINKS};
  if (path[0] != '/') {
    if (at == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", c->tid);
    else snprintf(link, sizeof link, "/proc/%d/fd/%d", c->tid, at);
    if ((from = open(link, O_PATH | O_CLOEXEC)) < 0) {
      if (errno == ENOENT) errno = EBADF;
      return -1;
    }
  }
  fd = (int)syscall(SYS_openat2, from, path, &how, sizeof how);
  int error = errno;
  if (from >= 0) close(from);
  errno = error;
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES) && strncmp(path, "/proc/", 6))
    return -1;
  if (fd >= 0) {
    path_of_fd(fd, found);
    if (!is_of_this_process(found)) return fd;
    close(fd);
  }
  if (find_spot(c, at, path, !(flags & O_NOFOLLOW), &s)) return -1;
  fd = s.is_there && open_object(&s) >= 0 ? fcntl(s.object, F_DUPFD_CLOEXEC, 3) : -1;
  if (!s.is_there) errno = ENOENT;
  error = errno;
  leave_spot(&s);
  errno = error;
  return fd;
}

static int open_again(int fd, int flags) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return open(link, (flags & ~(O_NOFOLLOW | O_CREAT | O_EXCL)) | O_NOCTTY | O_CLOEXEC);
}

struct fifo {
  struct call call;
  int fd, flags;
};

static void open_fifo(void *given) {
  struct fifo *one = given;
  int fd = open_again(one->fd, one->flags);
  if (fd < 0) answer(&one->call, errno);
  else hand_in(&one->call, fd, one->flags);
  close(one->fd);
}

/* An open of a FIFO waits for its other end in its own thread. */
static int open_apart(const struct call *c, int fd, int flags) {
  static struct helpers helpers = {.most = MOST_WAITING};
  struct fifo one = {.call = *c, .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .flags = flags};
  if (one.fd >= 0 && work_apart(&helpers, open_fifo, &one, sizeof one) == 0) return 0;
  if (one.fd >= 0) close(one.fd);
  return -1;
}

static void show(const struct call *c, int found, const struct stat *about, int flags) {
  if (S_ISLNK(about->st_mode)) return answer(c, ELOOP);
  if (S_ISFIFO(about->st_mode) && !(flags & O_NONBLOCK)) {
    if (open_apart(c, found, flags)) answer(c, EAGAIN);
    return;
  }
  /* O_NONBLOCK: another process's lease must not block this process. */
  int fd = open_again(found, flags | O_NONBLOCK);
  if (fd >= 0 && !(flags & O_NONBLOCK) &&
      fcntl(fd, F_SETFL, flags & (O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME))) {
    close(fd);
    fd = -1;
  }
  if (fd < 0) answer(c, errno);
  else hand_in(c, fd, flags);
}

void bare_open(const struct call *c, int at, uint64_t path, int flags) {
  static char text[PATH_MAX], canonical[PATH_MAX];
  struct stat about;
  if (copy_text(c, path, text, sizeof text)) return answer(c, errno);
  if (!text[0]) return answer(c, ENOENT);
  int fd = find(c, at, text, flags);
  if (fd < 0) return answer(c, errno);
  path_of_fd(fd, canonical);
  int error = canonical[0] == 0 ? ENAMETOOLONG : fstat(fd, &about) ? errno : judge_view(canonical, &about);
  if (error) answer(c, error);
  else show(c, fd, &about, flags);
  close(fd);
}
