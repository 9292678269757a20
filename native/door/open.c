/* The calls that open for writing or make a file: done here, and the descriptor handed in. */
#define _GNU_SOURCE
#include "door.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_WAITING 64

/* Opens of a FIFO that nobody reads yet. They are tried again from time to time: this process must not sleep in the kernel. */
static struct waiting {
  uint64_t id;
  int parent, flags;
  char name[NAME_MAX + 2];
} waiting[MAX_WAITING];
static size_t waiting_count;

int has_waiting_opens(void) { return waiting_count > 0; }

static int open_without_waiting(int parent, const char *name, int flags) {
  int fd = openat(parent, name, (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && !(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, (flags & (O_APPEND | O_DIRECT)))) {
    close(fd);
    return -1;
  }
  return fd;
}

void retry_waiting_opens(int listener) {
  for (size_t i = 0; i < waiting_count;) {
    struct waiting *w = &waiting[i];
    struct call c = {.listener = listener, .id = w->id};
    int gone = ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &w->id) != 0;
    int fd = gone ? -1 : open_without_waiting(w->parent, w->name, w->flags);
    if (!gone && fd < 0 && errno == ENXIO) {
      i++;
      continue;
    }
    if (fd >= 0) hand_in(&c, fd, w->flags);
    else if (!gone) answer(&c, errno);
    close(w->parent);
    *w = waiting[--waiting_count];
  }
}

static void open_fifo(const struct call *c, struct spot *s, int flags) {
  int fd = open_without_waiting(s->parent, s->name, flags);
  if (fd >= 0) return hand_in(c, fd, flags);
  if (errno != ENXIO || (flags & O_NONBLOCK) || (flags & O_ACCMODE) != O_WRONLY) return answer(c, errno);
  if (waiting_count == MAX_WAITING) return answer(c, EMFILE);
  int parent = fcntl(s->parent, F_DUPFD_CLOEXEC, 0);
  if (parent < 0) return answer(c, errno);
  struct waiting *w = &waiting[waiting_count++];
  w->id = c->id;
  w->parent = parent;
  w->flags = flags;
  strcpy(w->name, s->name);
}

/* Files that the command was given as its streams: the wall does not know where they lie, and they are the command's to write. */
static struct { dev_t device; ino_t inode; } streams[3];
static size_t stream_count;

void door_note_stream(int fd) {
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

static void refuse(const struct call *c, const struct spot *s, enum change change, int error) {
  journal_refused(s->path, change, error);
  answer(c, error);
}

static void make_nameless(const struct call *c, struct spot *s, int flags, mode_t mode) {
  char link[32];
  if (open_object(s) < 0) return answer(c, errno);
  snprintf(link, sizeof link, "/proc/self/fd/%d", s->object);
  use_umask(umask_of(c->tid));
  int fd = open(link, flags | O_CLOEXEC, mode);
  struct stat made;
  if (fd < 0) return answer(c, errno);
  if (fstat(fd, &made) == 0) see(&made, SEEN_MADE);
  hand_in(c, fd, flags);
}

/* What the command writes goes nowhere: the file has its content already. */
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
  struct stat made;
  if (fstat(fd, &made) == 0) see(&made, SEEN_MADE);
  if (is_pointer && (fd = without_effect(fd)) < 0) return answer(c, errno);
  hand_in(c, fd, flags);
}

/* The file as it is, not yet truncated. By its descriptor where the caller came by one of its own. */
static int open_as_is(const struct spot *s, int flags, mode_t mode) {
  char link[32];
  int plain = (flags & ~(O_TRUNC | O_EXCL)) | O_CLOEXEC;
  if (s->parent >= 0) return openat(s->parent, s->name, plain | O_NOFOLLOW, mode);
  snprintf(link, sizeof link, "/proc/self/fd/%d", s->object);
  return open(link, plain & ~(O_CREAT | O_NOFOLLOW));
}

static void open_stream(const struct call *c, const struct spot *s, int flags) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", s->object);
  int fd = open(link, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC);
  if (fd < 0) answer(c, errno);
  else hand_in(c, fd, flags);
}

static int empty(int fd, int flags) {
  char link[32];
  if ((flags & O_ACCMODE) != O_RDONLY) return ftruncate(fd, 0);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return truncate(link, 0);
}

static void open_file(const struct call *c, struct spot *s, int flags, mode_t mode) {
  uint32_t number;
  int error = judge(s, CHANGE_WRITE);
  if (error && s->about.st_nlink > 0) return refuse(c, s, CHANGE_WRITE, error);
  if (S_ISFIFO(s->about.st_mode) && s->parent >= 0) return open_fifo(c, s, flags);
  int fd = open_as_is(s, flags, mode);
  if (fd < 0) return answer(c, errno);
  if ((error = set_apart(&s->about, fd))) {
    close(fd);
    return answer(c, error);
  }
  uint8_t kept = keep_written(s, fd, &number);
  if (may_not_lose(kept, (flags & (O_APPEND | O_TRUNC)) == O_APPEND)) {
    close(fd);
    return refuse(c, s, CHANGE_WRITE, EDQUOT);
  }
  if (kept && (error = journal('w', s, NULL, kept, number))) {
    close(fd);
    return answer(c, error);
  }
  /* What was let through because it is only appended to is not kept: the next one to open it may want more. */
  if (kept) see(&s->about, may_not_lose(kept, 0) ? SEEN_MODE : SEEN_KEPT | SEEN_MODE);
  if ((flags & O_TRUNC) && S_ISREG(s->about.st_mode) && empty(fd, flags)) {
    error = errno;
    close(fd);
    return answer(c, error);
  }
  hand_in(c, fd, flags);
}

void answer_open(const struct call *c, int at, uint64_t path, int flags, mode_t mode) {
  static struct spot s;
  static char text[PATH_MAX];
  int is_tmpfile = (flags & O_TMPFILE) == O_TMPFILE, is_new_only = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
  /* Whatever cannot be found is the kernel's to say; nor does a path alone open anything. */
  if ((flags & O_PATH) || (flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY)) return let_go_on(c);
  if (copy_text(c, path, text, sizeof text) || !strcmp(text, "/dev/null")) return let_go_on(c);
  /* A name with a slash behind it is never made: the kernel says so before it looks where a link of that name leads. */
  size_t length = strlen(text);
  if ((flags & O_CREAT) && length > 0 && text[length - 1] == '/') return let_go_on(c);
  if (find_spot(c, at, text, is_tmpfile || (!(flags & O_NOFOLLOW) && !is_new_only), &s)) return not_found(c);
  int is_there = s.is_there;
  if (is_stream(&s)) open_stream(c, &s, flags);
  else if (!is_ours(&s)) let_go_on(c);
  else if (is_tmpfile && is_there && S_ISDIR(s.about.st_mode)) make_nameless(c, &s, flags, mode);
  else if (is_tmpfile || (flags & O_DIRECTORY) || strchr(s.name, '/')) let_go_on(c);
  else if (!is_there && (flags & O_CREAT)) make_file(c, &s, flags, mode);
  /* What another thread makes or removes meanwhile must not meet the wall. */
  else if (!is_there || is_new_only) answer(c, is_there ? EEXIST : ENOENT);
  else if (!writes || S_ISDIR(s.about.st_mode) || S_ISLNK(s.about.st_mode)) let_go_on(c);
  else open_file(c, &s, flags, mode);
  leave_spot(&s);
}
