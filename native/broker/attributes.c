/* Sets modes, owners, times and extended attributes. Landlock has no rights for them, so a call
 * that continued in the kernel could reach another path by then. They are set on the judged file,
 * and the old values are journaled or kept. */
#define _GNU_SOURCE
#include "../bare/bare.h"
#include "broker.h"
#include "../attributes.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Copies the attributes of an open file to a kept one. */
int keep_attributes_of(int fd, int kept) {
  char from[32], to[32];
  snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
  snprintf(to, sizeof to, "/proc/self/fd/%d", kept);
  return copy_attributes(from, to);
}

/* The requested change, read whole from the caller's memory before the path is resolved. */
struct setting {
  enum { SET_MODE, SET_OWNER, SET_TIMES, SET_ATTRIBUTE, REMOVE_ATTRIBUTE } kind;
  mode_t mode;
  uid_t uid;
  gid_t gid;
  struct timespec times[2];
  char name[XATTR_NAME_MAX + 1];
  size_t size;
  int flags;
};
static char value[XATTR_SIZE_MAX];

static int apply(const struct setting *t, int object) {
  char link[32];
  int bad = 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", object);
  switch (t->kind) {
  case SET_MODE: bad = chmod(link, t->mode); break;
  case SET_OWNER: bad = fchownat(object, "", t->uid, t->gid, AT_EMPTY_PATH); break;
  case SET_TIMES: bad = utimensat(object, "", t->times, AT_EMPTY_PATH); break;
  case SET_ATTRIBUTE: bad = setxattr(link, t->name, value, t->size, t->flags); break;
  case REMOVE_ATTRIBUTE: bad = removexattr(link, t->name); break;
  }
  return bad ? errno : 0;
}

/* Whether the value is set already: package managers repeat modes. */
static int is_set(const struct setting *t, const struct stat *about) {
  if (t->kind == SET_MODE) return (about->st_mode & 07777) == (t->mode & 07777);
  return t->kind == SET_OWNER && (t->uid == (uid_t)-1 || t->uid == about->st_uid) &&
         (t->gid == (gid_t)-1 || t->gid == about->st_gid);
}

static int mark_of(const struct setting *t) {
  return t->kind == SET_ATTRIBUTE || t->kind == REMOVE_ATTRIBUTE ? SEEN_ATTRIBUTES : SEEN_MODE;
}

/* Journals the old attributes, once. Returns 0, or the errno with which nothing is set. */
static int note(struct spot *s, const struct setting *t, uint8_t *kept, uint32_t *number, int *noted) {
  if (!is_ours(s) || is_loose(s) || (seen(&s->about) & (SEEN_MADE | mark_of(t)))) return 0;
  if (s->about.st_nlink == 0) return set_apart(&s->about, s->object);
  if (mark_of(t) == SEEN_ATTRIBUTES) *kept = keep_attributes(s, number);
  int error = may_not_lose(*kept, 0) ? EDQUOT : journal('a', s, NULL, *kept, *number);
  if (error) drop_kept(s, *kept, *number);
  else *noted = 1;
  return error;
}

/* Opens an object outside all places again, read-only if it is mounted so. */
static int apart_outside(int object) {
  struct statfs about;
  return fstatfs(object, &about) == 0 && (about.f_flags & ST_RDONLY) ? EROFS : EMLINK;
}

/* Judges a protected file that was created during the call: no read-only mount covers it. The
 * call's files were judged on creation. */
static int refused(const struct spot *s) {
  if (!is_ours(s) || s->about.st_nlink == 0 || (seen(&s->about) & SEEN_MADE)) return 0;
  return judge(s, CHANGE_MODE);
}

/* Applies the change to the object. */
static int set(struct spot *s, const struct setting *t) {
  uint32_t number = 0;
  uint8_t kept = 0;
  int noted = 0, error = 0;
  if (!s->is_there) return ENOENT;
  if (strchr(s->name, '/') && !S_ISDIR(s->about.st_mode)) return ENOTDIR;
  if (open_object(s) < 0) return errno;
  if (bare_is_on() && (error = bare_refuses(s))) return error;
  int shared = is_shared(s) && !is_private(s);
  if (shared && is_set(t, &s->about)) return 0;
  if ((error = refused(s)) ||
      (shared && (error = is_ours(s) ? separate(s, s->object, 1) : apart_outside(s->object)))) {
    journal_refused(s->path, CHANGE_MODE, error);
    return error;
  }
  if (shared && open_object(s) < 0) return errno;
  if ((error = note(s, t, &kept, &number, &noted))) {
    if (error == EDQUOT) journal_refused(s->path, CHANGE_MODE, error);
    return error;
  }
  error = apply(t, s->object);
  if (noted && error) journal_failed(s, kept, number);
  else if (noted) see(&s->about, mark_of(t));
  /* A directory that cannot be searched hides its children. */
  if (S_ISDIR(s->about.st_mode)) forget_parents();
  return error;
}

/* Whether the call created the file, as an unpacker does: then its path is not needed. */
static int is_plainly_own(const struct spot *s) {
  return !S_ISDIR(s->about.st_mode) && s->about.st_nlink > 0 && (seen(&s->about) & SEEN_MADE) &&
         !is_shared(s);
}

static void set_by_descriptor(const struct call *c, int fd, const struct setting *t) {
  static struct spot s;
  if (hold_object(c, fd, &s)) return answer(c, errno);
  if (is_plainly_own(&s)) answer(c, apply(t, s.object));
  else answer(c, name_object(&s) ? errno : set(&s, t));
  leave_spot(&s);
}

/* Whether the caller opened it with O_PATH: then the kernel changes nothing by it, except by an empty
 * path. The link in /proc shows how it was opened. */
static int is_path_only(const struct call *c, int fd) {
  char name[64];
  unsigned flags = 0;
  struct stat link;
  snprintf(name, sizeof name, "/proc/%d/fd/%d", c->tid, fd);
  if (lstat(name, &link) || (link.st_mode & (S_IRUSR | S_IWUSR))) return 0;
  snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", c->tid, fd);
  FILE *info = fopen(name, "re");
  int found = info && fscanf(info, "pos: %*d flags: %o", &flags) == 1;
  if (info) fclose(info);
  return found && (flags & O_PATH);
}

/* By a descriptor as such, and not by an empty path. */
static void set_by_open_file(const struct call *c, int fd, const struct setting *t) {
  if (is_path_only(c, fd)) answer(c, EBADF);
  else set_by_descriptor(c, fd, t);
}

static void set_by_path(const struct call *c, int at, uint64_t path, int flags, const struct setting *t) {
  static struct spot s;
  static char text[PATH_MAX];
  if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) return answer(c, EINVAL);
  if (copy_text(c, path, text, sizeof text)) return answer(c, errno);
  size_t length = strlen(text);
  if (length == 0 && (flags & AT_EMPTY_PATH) && at != AT_FDCWD) return set_by_descriptor(c, at, t);
  if (length == 0 && (flags & AT_EMPTY_PATH)) strcpy(text, ".");
  /* A trailing slash follows a link. */
  int follow = !(flags & AT_SYMLINK_NOFOLLOW) || (length > 0 && text[length - 1] == '/');
  if (find_spot(c, at, text, follow, &s)) return answer(c, errno);
  answer(c, set(&s, t));
  leave_spot(&s);
}

void answer_mode(const struct call *c, int at, uint64_t path, mode_t mode, int flags) {
  const struct setting t = {.kind = SET_MODE, .mode = mode & 07777};
  set_by_path(c, at, path, flags, &t);
}

void answer_mode_of(const struct call *c, int fd, mode_t mode) {
  const struct setting t = {.kind = SET_MODE, .mode = mode & 07777};
  set_by_open_file(c, fd, &t);
}

void answer_owner(const struct call *c, int at, uint64_t path, uid_t uid, gid_t gid, int flags) {
  const struct setting t = {.kind = SET_OWNER, .uid = uid, .gid = gid};
  set_by_path(c, at, path, flags, &t);
}

void answer_owner_of(const struct call *c, int fd, uid_t uid, gid_t gid) {
  const struct setting t = {.kind = SET_OWNER, .uid = uid, .gid = gid};
  set_by_open_file(c, fd, &t);
}

/* Reads the times of utime (seconds), utimes (microseconds) or utimensat (nanoseconds). None means
 * now. */
static int copy_times(const struct call *c, uint64_t from, enum time_form form, struct timespec times[2]) {
  int64_t raw[4];
  times[0] = times[1] = (struct timespec){.tv_nsec = UTIME_NOW};
  if (from == 0) return 0;
  if ((errno = copy_memory(c, from, raw, form == TIME_SECONDS ? 2 * sizeof *raw : sizeof raw))) return -1;
  for (int i = 0; i < 2; i++) {
    int64_t part = form == TIME_SECONDS ? 0 : raw[2 * i + 1];
    times[i].tv_sec = form == TIME_SECONDS ? raw[i] : raw[2 * i];
    if (form == TIME_MICROSECONDS && (part < 0 || part >= 1000000)) {
      errno = EINVAL;
      return -1;
    }
    times[i].tv_nsec = form == TIME_MICROSECONDS ? part * 1000 : part;
  }
  return 0;
}

void answer_times(const struct call *c, int at, uint64_t path, uint64_t times, enum time_form form,
                  int flags) {
  struct setting t = {.kind = SET_TIMES};
  if (copy_times(c, times, form, t.times)) return answer(c, errno);
  if (times && t.times[0].tv_nsec == UTIME_OMIT && t.times[1].tv_nsec == UTIME_OMIT) return answer(c, 0);
  if (path || at == AT_FDCWD) return set_by_path(c, at, path, flags, &t);
  if (flags) return answer(c, EINVAL);
  set_by_open_file(c, at, &t);
}

/* Returns 0 if the request is complete; otherwise the call is answered. */
static int take_attribute(const struct call *c, uint64_t name, uint64_t from, uint64_t size,
                          struct setting *t) {
  int error = 0;
  if (copy_text(c, name, t->name, sizeof t->name)) error = errno == ENAMETOOLONG ? ERANGE : errno;
  else if (!t->name[0]) error = ERANGE;
  else if (size > sizeof value) error = E2BIG;
  else error = copy_memory(c, from, value, size);
  t->size = size;
  if (error) answer(c, error);
  return error;
}

/* Answers setxattr and similar calls, with arguments in the caller's order; `nofollow` as for a
 * path. */
void answer_attribute(const struct call *c, const uint64_t *a, enum attribute_call call, int nofollow) {
  struct setting t = {.kind = call == ATTRIBUTE_SET ? SET_ATTRIBUTE : REMOVE_ATTRIBUTE};
  if (call == ATTRIBUTE_SET) t.flags = (int)a[4];
  if (take_attribute(c, a[1], call == ATTRIBUTE_SET ? a[2] : 0, call == ATTRIBUTE_SET ? a[3] : 0, &t)) return;
  if (nofollow < 0) set_by_open_file(c, (int)a[0], &t);
  else set_by_path(c, AT_FDCWD, a[0], nofollow, &t);
}
