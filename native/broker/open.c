/* Calls that open for writing or create a file: performed here, and the descriptor passed to the
 * caller. */
#define _GNU_SOURCE
#include "../bare/bare.h"
#include "broker.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Opens without blocking: a FIFO without a reader, or a lease, is an error here. `at` is a folder,
 * or the object itself without a name. */
static int open_at_once(int at, const char *name, int flags) {
  char link[32];
  if (!name) snprintf(link, sizeof link, "/proc/self/fd/%d", at);
  int fd = name ? openat(at, name, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
                : open(link, (flags & ~O_NOFOLLOW) | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0 && !(flags & O_NONBLOCK) &&
      fcntl(fd, F_SETFL, flags & (O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME))) {
    close(fd);
    return -1;
  }
  return fd;
}

static void refuse(const struct call *c, const struct spot *s, enum change change, int error) {
  journal_refused(s->path, change, error);
  answer(c, error);
}

static void open_fifo(const struct call *c, struct spot *s, int flags) {
  int error = judge(s, CHANGE_WRITE);
  if (error && s->about.st_nlink > 0) return refuse(c, s, CHANGE_WRITE, error);
  int fd = open_object(s) < 0 ? -1 : open_at_once(s->object, NULL, flags & ~(O_CREAT | O_EXCL | O_TRUNC));
  if (fd >= 0) hand_in(c, fd, flags);
  else if (errno == ENXIO && !(flags & O_NONBLOCK) && (flags & O_ACCMODE) == O_WRONLY) try_later(c);
  else answer(c, errno);
}

/* The command's stdin, stdout and stderr: writable, wherever they are. */
static struct { dev_t device; ino_t inode; } streams[3];
static size_t stream_count;

void broker_note_stream(int fd) {
  struct stat about;
  if (stream_count == 3 || fstat(fd, &about) || !S_ISREG(about.st_mode)) return;
  streams[stream_count].device = about.st_dev;
  streams[stream_count++].inode = about.st_ino;
}

static int is_stream(const struct spot *s) {
  for (size_t i = 0; s->parent < 0 && s->is_there && i < stream_count; i++)
    if (streams[i].device == s->about.st_dev && streams[i].inode == s->about.st_ino) return 1;
  return 0;
}

static void make_nameless(const struct call *c, struct spot *s, int flags, mode_t mode) {
  char link[32];
  if (open_object(s) < 0) return answer(c, errno);
  snprintf(link, sizeof link, "/proc/self/fd/%d", s->object);
  use_umask(umask_of(c->tid));
  int fd = open(link, flags | O_CLOEXEC, mode);
  if (fd < 0) return answer(c, errno);
  see_made(fd, "");
  hand_in(c, fd, flags);
}

/* Discards the command's writes: the file already has its content. */
static int without_effect(int fd) {
  int bad = write_own_pointer(fd);
  close(fd);
  return bad ? -1 : memfd_create("pointer", MFD_CLOEXEC);
}

static void make_file(const struct call *c, const struct spot *s, int flags, mode_t mode) {
  int is_pointer = is_own_pointer(s);
  enum change change = is_pointer ? CHANGE_POINTER : CHANGE_MAKE;
  int error = judge(s, change);
  if (error) return refuse(c, s, change, error);
  if ((error = journal('c', s, NULL, 0, 0))) return answer(c, error);
  use_umask(umask_of(c->tid));
  if (is_pointer) flags = (flags & ~O_ACCMODE) | O_WRONLY;
  int fd = openat(s->parent, s->name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd < 0) {
    journal_failed(s, 0, 0);
    return answer(c, errno);
  }
  see_made(fd, "");
  if (is_pointer && (fd = without_effect(fd)) < 0) return answer(c, errno);
  hand_in(c, fd, flags);
}

static void open_stream(const struct call *c, const struct spot *s, int flags) {
  int fd = open_at_once(s->object, NULL, flags & ~(O_CREAT | O_EXCL));
  if (fd < 0) answer(c, errno);
  else hand_in(c, fd, flags);
}

/* Opens the file before truncation and checks the opened object, by descriptor if the caller passed
 * one. */
static int open_as_is(struct spot *s, int flags) {
  int plain = flags & ~(O_TRUNC | O_EXCL | O_CREAT),
      fd = s->parent >= 0 ? open_at_once(s->parent, s->name, plain) : open_at_once(s->object, NULL, plain);
  if (fd < 0 || s->about.st_nlink == 0 || look_by_name(fd, "", AT_EMPTY_PATH, &s->about, &s->mount) == 0)
    return fd;
  close(fd);
  return -1;
}

/* The same, for a file that must have only names of this call. Returns -1 if the call is answered. */
static int open_own(const struct call *c, struct spot *s, int flags) {
  int fd = open_as_is(s, flags), error = 0;
  if (fd >= 0 && is_shared(s)) {
    error = separate(s, fd, !(flags & O_TRUNC));
    close(fd);
    fd = error ? -1 : open_as_is(s, flags);
    if (fd >= 0 && is_shared(s)) error = EMLINK; /* the host added a name */
  }
  if (error) {
    if (fd >= 0) close(fd);
    refuse(c, s, CHANGE_WRITE, error);
    return -1;
  }
  if (fd >= 0) return fd;
  /* A lease, or the host removed it and it has to be created after all. */
  if ((errno == EWOULDBLOCK && !(flags & O_NONBLOCK)) || (errno == ENOENT && (flags & O_CREAT))) try_later(c);
  else answer(c, errno);
  return -1;
}

/* Opens a file whose content is about to change: judged, separated from other names, and kept.
 * Returns -1 if the call is answered. */
static int open_for_change(const struct call *c, struct spot *s, int flags) {
  uint32_t number;
  int error = judge(s, CHANGE_WRITE);
  if (error && s->about.st_nlink > 0) {
    refuse(c, s, CHANGE_WRITE, error);
    return -1;
  }
  int fd = open_own(c, s, flags);
  if (fd < 0) return -1;
  uint8_t kept = 0;
  error = set_apart(&s->about, fd);
  if (!error) kept = keep_written(s, fd, &number);
  if (may_not_lose(kept, (flags & (O_APPEND | O_TRUNC)) == O_APPEND))
    journal_refused(s->path, CHANGE_WRITE, error = EDQUOT);
  if (!error && kept) error = journal('w', s, NULL, kept, number);
  if (error) {
    drop_kept(s, kept, number);
    close(fd);
    answer(c, error);
    return -1;
  }
  /* A file that was only opened for appending is not kept: the next open may do more. */
  if (kept) see(&s->about, may_not_lose(kept, 0) ? SEEN_MODE : SEEN_KEPT | SEEN_MODE);
  return fd;
}

/* Truncates, with O_RDONLY as well, as the kernel does. */
static int empty(int fd, int flags) {
  if ((flags & O_ACCMODE) != O_RDONLY) return ftruncate(fd, 0);
  int writable = open_at_once(fd, NULL, O_WRONLY);
  int bad = writable < 0 || ftruncate(writable, 0);
  if (writable >= 0) close(writable);
  return bad ? -1 : 0;
}

static void open_file(const struct call *c, struct spot *s, int flags) {
  int fd = open_for_change(c, s, flags);
  if (fd < 0) return;
  if ((flags & O_TRUNC) && S_ISREG(s->about.st_mode) && empty(fd, flags)) {
    int error = errno;
    close(fd);
    return answer(c, error);
  }
  hand_in(c, fd, flags);
}

void answer_truncate(const struct call *c, uint64_t path, off_t length) {
  static struct spot s;
  static char text[PATH_MAX];
  if (length < 0 || copy_text(c, path, text, sizeof text)) return let_go_on(c);
  if (find_spot(c, AT_FDCWD, text, 1, &s)) return not_found(c);
  if (!is_ours(&s) || !s.is_there || !S_ISREG(s.about.st_mode) || strchr(s.name, '/')) let_go_on(c);
  else {
    int fd = open_for_change(c, &s, O_WRONLY | (length == 0 ? O_TRUNC : 0));
    if (fd >= 0) {
      answer(c, ftruncate(fd, length) ? errno : 0);
      close(fd);
    }
  }
  leave_spot(&s);
}

void answer_open(const struct call *c, int at, uint64_t path, int flags, mode_t mode) {
  static struct spot s;
  static char text[PATH_MAX];
  int is_tmpfile = (flags & O_TMPFILE) == O_TMPFILE,
      is_new_only = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
  /* The kernel reports unresolved paths; O_PATH opens nothing. */
  if ((flags & O_PATH) || (flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY)) return let_go_on(c);
  if (copy_text(c, path, text, sizeof text) || !strcmp(text, "/dev/null")) return let_go_on(c);
  /* A name with a trailing slash is never created; the kernel refuses it before it follows a link. */
  size_t length = strlen(text);
  if ((flags & O_CREAT) && length > 0 && text[length - 1] == '/') return let_go_on(c);
  if (find_spot(c, at, text, is_tmpfile || (!(flags & O_NOFOLLOW) && !is_new_only), &s)) return not_found(c);
  int is_there = s.is_there;
  if (is_stream(&s)) open_stream(c, &s, flags);
  else if (bare_is_on() && !writes && is_there && !is_new_only && !is_tmpfile)
    bare_open(c, at, path, flags & ~O_CREAT);
  else if (!is_ours(&s)) leave_outside(c, &s);
  else if (is_tmpfile && is_there && S_ISDIR(s.about.st_mode)) make_nameless(c, &s, flags, mode);
  else if (is_tmpfile || (flags & O_DIRECTORY) || strchr(s.name, '/')) let_go_on(c);
  else if (!is_there && (flags & O_CREAT)) make_file(c, &s, flags, mode);
  /* Answer here: another thread may create or remove it, and then Landlock would refuse. */
  else if (!is_there || is_new_only) answer(c, is_there ? EEXIST : ENOENT);
  else if (!writes || S_ISDIR(s.about.st_mode) || S_ISLNK(s.about.st_mode)) let_go_on(c);
  else if (S_ISFIFO(s.about.st_mode)) open_fifo(c, &s, flags);
  else open_file(c, &s, flags);
  leave_spot(&s);
}
