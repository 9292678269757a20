/* Keeps data that a call would lose, beside its journal: by a second name, or by a copy. */
#define _GNU_SOURCE
#include "broker.h"
#include "../attributes.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#define GROUP 64
/* at most, to separate one name of a file; the broker answers nothing meanwhile */
#define MOST_COPIED (256u << 20)

static int keep = -1;
static const char *keep_path;
static uint64_t file_limit, bytes_left;
static enum must must_keep;
static uint32_t last_number;

int broker_take_keep(uint64_t file_bytes, uint64_t all_bytes, uint8_t must, const char *path) {
  if (keep_path || must > MUST_EVERYTHING) return -1;
  keep_path = path;
  file_limit = file_bytes;
  bytes_left = all_bytes;
  must_keep = must;
  return 0;
}

/* Opens the folder by the host's mount: a hard link cannot cross mounts, even of one file system. */
int open_keep(int host) {
  if (!keep_path) return 0;
  keep = openat(host, keep_path + 1, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  /* Beside the folders of all calls. */
  return keep < 0 || open_lock(keep, "../moves") ? -1 : open_journal(keep);
}

/* The folder of a kept file: the first are beside the journal, the others in groups, because ext4
 * is slow in folders with thousands of names. keptName in src/undo/journal.ts computes the same. -1
 * on failure. */
static int kept_folder(uint32_t number) {
  static uint32_t current;
  static int fd = -1;
  char name[16];
  uint32_t group = number / GROUP;
  if (group == 0) return keep;
  if (group == current) return fd;
  snprintf(name, sizeof name, "g%u", group);
  /* The command set the umask. */
  if (mkdirat(keep, name, 0700) == 0 && fchmodat(keep, name, 0700, 0)) return -1;
  if (fd >= 0) close(fd);
  fd = openat(keep, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  current = fd < 0 ? 0 : group;
  return fd;
}

static int is_same_file(int folder, const char *name, const struct stat *as) {
  struct stat found;
  return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_dev == as->st_dev &&
         found.st_ino == as->st_ino;
}

static intmax_t changed_at(const struct stat *about) {
  return (intmax_t)about->st_changed.tv_sec * 1000000000 + about->st_changed.tv_nsec;
}

/* Records an unneeded second name: the file is unchanged, but its ctime is new, and undo of an
 * earlier call would report another program's change. src/undo/left-states.ts reads it. */
static void note_unchanged(const struct spot *s) {
  static int left = -1;
  struct stat now;
  uint64_t mount;
  if (s->parent < 0 || look_by_name(s->parent, s->name, AT_SYMLINK_NOFOLLOW, &now, &mount)) return;
  if (now.st_ino != s->about.st_ino || now.st_dev != s->about.st_dev) return;
  if (left < 0) left = openat(keep, "left", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  /* The command set the umask. */
  if (left < 0 || fchmod(left, 0600)) return;
  dprintf(left, "%ju %jd %ju %jd\n", (uintmax_t)now.st_ino, changed_at(&now), (uintmax_t)s->about.st_ino,
          changed_at(&s->about));
}

/* Drops the kept data of `s` after a change that failed. */
void drop_kept(const struct spot *s, uint8_t kept, uint32_t number) {
  char name[16];
  if (!(kept & (KEPT_LINK | KEPT_COPY | KEPT_ATTRIBUTES)) || number == 0) return;
  snprintf(name, sizeof name, "%u", number);
  int folder = kept_folder(number);
  if (folder >= 0 && unlinkat(folder, name, 0) && errno == EISDIR) unlinkat(folder, name, AT_REMOVEDIR);
  if (kept & KEPT_LINK) note_unchanged(s);
}

/* A readable descriptor of an open file. A file that its owner may only write becomes readable for
 * a moment if it has no other name: the call changes it anyway. */
static int open_content(int fd, const struct stat *about) {
  char link[32];
  const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int from = open(link, flags);
  if (from >= 0 || errno != EACCES || about->st_nlink > 1 || chmod(link, (about->st_mode & 07777) | S_IRUSR))
    return from;
  from = open(link, flags);
  if (chmod(link, about->st_mode & 07777) && from >= 0) {
    close(from);
    return -1;
  }
  return from;
}

static int copy_bytes(int from, int to, uint64_t size) {
  char buffer[65536];
  for (uint64_t done = 0; done < size;) {
    ssize_t n = copy_file_range(from, NULL, to, NULL, size - done, 0);
    if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS)) {
      n = read(from, buffer, sizeof buffer);
      if (n > 0 && write(to, buffer, (size_t)n) != n) return -1;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) return 0; /* truncated meanwhile */
    done += (uint64_t)n;
  }
  return 0;
}

/* Returns the copied bytes, 0 if the file system shares them; -1 on failure, or above `most`. */
static int64_t copy_content(int from, int to, uint64_t size, uint64_t most) {
  if (ioctl(to, FICLONE, from) == 0) return 0;
  return size > most || copy_bytes(from, to, size) ? -1 : (int64_t)size;
}

static int copy_into(int from, int folder, const char *name, uint64_t size) {
  int to = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (to < 0) return -1;
  /* The command set the umask. */
  int64_t copied =
      fchmod(to, 0600) ? -1 : copy_content(from, to, size, file_limit < bytes_left ? file_limit : bytes_left);
  int bad = copied < 0 || keep_attributes_of(from, to);
  if (!bad) bytes_left -= (uint64_t)copied;
  close(to);
  if (bad) unlinkat(folder, name, 0);
  return bad ? -1 : 0;
}

/* A copy of a plain file's content before the first write. */
static uint8_t keep_copy(const struct spot *s, int fd, uint32_t *number) {
  char name[16];
  if (s->about.st_size == 0) return KEPT_EMPTY;
  int from = open_content(fd, &s->about);
  if (from < 0) return KEPT_LOST;
  snprintf(name, sizeof name, "%u", ++last_number);
  int bad = copy_into(from, kept_folder(last_number), name, (uint64_t)s->about.st_size);
  close(from);
  if (bad) return KEPT_LOST;
  *number = last_number;
  return KEPT_COPY;
}

/* A removed file is the kept one itself. A process that still has it open is about to write it, so
 * a copy replaces it among the kept files. Returns 0, or the errno with which the write is refused. */
int set_apart(const struct stat *about, int fd) {
  char name[16], copy[24];
  if ((seen(about) & (SEEN_GONE | SEEN_APART)) != SEEN_GONE || !S_ISREG(about->st_mode)) return 0;
  uint32_t number = gone_number(about);
  int folder = kept_folder(number);
  int from = open_content(fd, about);
  if (folder < 0 || from < 0) {
    if (from >= 0) close(from);
    return EDQUOT;
  }
  snprintf(name, sizeof name, "%u", number);
  snprintf(copy, sizeof copy, "%u.apart", number);
  const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, about->st_mtim};
  int bad = copy_into(from, folder, copy, (uint64_t)about->st_size);
  close(from);
  if (bad) return EDQUOT;
  bad = fchownat(folder, copy, about->st_uid, about->st_gid, AT_SYMLINK_NOFOLLOW) ||
        fchmodat(folder, copy, about->st_mode & 07777, 0) ||
        utimensat(folder, copy, times, AT_SYMLINK_NOFOLLOW) || renameat(folder, copy, folder, name);
  if (bad) {
    unlinkat(folder, copy, 0);
    return EDQUOT;
  }
  see(about, SEEN_APART);
  return 0;
}

/* An empty object that only carries attributes: only a folder can have those of a folder. The
 * command set the umask. */
static int make_empty(int folder, const char *name, int is_folder) {
  if (is_folder && mkdirat(folder, name, 0700)) return -1;
  int fd = openat(folder, name,
                  is_folder ? O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
                            : O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  0600);
  if (fd < 0 && is_folder && fchmodat(folder, name, 0700, 0) == 0)
    fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && fchmod(fd, is_folder ? 0700 : 0600)) {
    close(fd);
    return -1;
  }
  return fd;
}

/* Keeps the attributes, if there are any. */
uint8_t keep_attributes(struct spot *s, uint32_t *number) {
  char name[16], link[32];
  if (keep < 0 || S_ISLNK(s->about.st_mode)) return 0;
  if (open_object(s) < 0) return KEPT_LOST;
  snprintf(link, sizeof link, "/proc/self/fd/%d", s->object);
  if (!has_attributes(link)) return KEPT_ATTRIBUTES; /* number 0: there were none */
  snprintf(name, sizeof name, "%u", ++last_number);
  int folder = kept_folder(last_number),
      fd = folder < 0 ? -1 : make_empty(folder, name, S_ISDIR(s->about.st_mode));
  int bad = fd < 0 || keep_attributes_of(s->object, fd);
  if (fd >= 0) close(fd);
  *number = last_number;
  if (bad) drop_kept(s, KEPT_ATTRIBUTES, last_number);
  return bad ? KEPT_LOST : KEPT_ATTRIBUTES;
}

/* Nobody approved this command, because all it destroys can be restored: otherwise refuse the
 * change. */
int may_not_lose(uint8_t kept, int appends) {
  return (kept & KEPT_LOST) && (must_keep == MUST_EVERYTHING || (must_keep == MUST_BUT_APPENDS && !appends));
}

static int needs_name(const struct spot *s) {
  return keep >= 0 && !is_loose(s) && s->is_there && !S_ISDIR(s->about.st_mode) &&
         !((seen(&s->about) & SEEN_MADE) && s->about.st_nlink == 1);
}

/* Removes a name by moving it to the kept files: one change of the file system instead of two.
 * Returns 0 if done; otherwise nothing changed, and errno is the kernel's. */
int keep_by_move(const struct spot *s) {
  char name[16];
  int host = needs_name(s) && s->mount && s->mount == s->folder_mount ? host_folder(s) : -1;
  if (host < 0) return -1;
  uint32_t number = ++last_number;
  int folder = kept_folder(number);
  if (folder < 0) return -1;
  snprintf(name, sizeof name, "%u", number);
  if (journal('u', s, NULL, KEPT_LINK, number)) return -1;
  if (renameat2(host, s->name, folder, name, RENAME_NOREPLACE) == 0) {
    if (is_same_file(folder, name, &s->about)) {
      if (s->about.st_nlink == 1) see_gone(&s->about, number);
      return 0;
    }
    /* A program on the host replaced it: this is not the judged file. */
    (void)renameat2(folder, name, host, s->name, RENAME_NOREPLACE);
  }
  journal_failed(s, 0, 0);
  return -1;
}

/* Gives a kept name to a file that is about to lose its own. */
static int link_kept(const struct spot *s, int folder, const char *name) {
  int host = host_folder(s);
  if (host >= 0) return linkat(host, s->name, folder, name, 0);
  return s->place->host >= 0 ? linkat(s->place->host, s->path + s->place->length + 1, folder, name, 0) : -1;
}

/* Keeps a file that is about to lose its name, by a second name. */
uint8_t keep_removed(struct spot *s, uint32_t *number) {
  char name[16];
  *number = 0;
  if (keep >= 0 && !is_loose(s) && s->is_there && S_ISDIR(s->about.st_mode) && !(seen(&s->about) & SEEN_MADE))
    return keep_attributes(s, number);
  if (!needs_name(s))
    return keep < 0 || is_loose(s) || !s->is_there || S_ISDIR(s->about.st_mode) ? 0 : KEPT_MADE;
  int folder = kept_folder(++last_number);
  if (folder < 0) return KEPT_LOST;
  snprintf(name, sizeof name, "%u", last_number);
  if (link_kept(s, folder, name) == 0) {
    if (is_same_file(folder, name, &s->about)) {
      *number = last_number;
      return KEPT_LINK;
    }
    unlinkat(folder, name, 0);
  }
  return S_ISREG(s->about.st_mode) ? keep_copy(s, open_object(s), number) : KEPT_LOST;
}

/* Fills a copy with the mode, group, attributes and time of a file, and with its content if wanted. */
static int fill_copy(const struct spot *s, int from, int to, int with_content) {
  const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, s->about.st_mtim};
  struct stat copy;
  if (fstat(to, &copy) || (copy.st_gid != s->about.st_gid && fchown(to, (uid_t)-1, s->about.st_gid)))
    return -1;
  if (with_content && copy_content(from, to, (uint64_t)s->about.st_size, MOST_COPIED) < 0) return -1;
  if (keep_attributes_of(from, to) || fchmod(to, s->about.st_mode & 01777) || futimens(to, times)) return -1;
  return 0;
}

/* Creates a file beside another, under a name that the file tools hide. Returns 0 if it exists and
 * is journaled. A killed command leaves it behind, and undo removes it. */
static int make_beside(const struct spot *s, struct spot *beside, int *fd) {
  static uint64_t last;
  uint64_t mount;
  *beside = *s;
  if (!last && getrandom(&last, sizeof last, 0) != sizeof last) return -1;
  size_t folder = strlen(s->path) - strlen(s->name);
  snprintf(beside->name, sizeof beside->name, ".cordon-%016" PRIx64 ".tmp", ++last);
  if (folder + strlen(beside->name) >= sizeof beside->path) return -1;
  strcpy(beside->path + folder, beside->name);
  beside->is_there = 0;
  if (journal('c', beside, NULL, 0, 0)) return -1;
  *fd = openat(s->parent, beside->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (*fd >= 0 && look_by_name(*fd, "", AT_EMPTY_PATH, &beside->about, &mount) == 0) {
    beside->is_there = 1;
    see_made(*fd, "");
    return 0;
  }
  journal_failed(beside, 0, 0);
  return -1;
}

/* Replaces the name by the copy. */
static int replace_by_copy(struct spot *s, const struct spot *beside) {
  uint32_t number = 0;
  uint8_t kept = keep_removed(s, &number);
  int error = may_not_lose(kept, 0) ? EDQUOT : 0;
  /* the host replaced it meanwhile */
  if (!error && !is_same_file(s->parent, s->name, &s->about)) error = EMLINK;
  if (!error) error = journal('r', beside, s, kept | KEPT_APART, number);
  if (error) drop_kept(s, kept, number);
  else if (renameat(s->parent, beside->name, s->parent, s->name)) {
    error = errno;
    journal_failed(s, kept, number);
  }
  return error;
}

/* Copies a file that has further names before a change: this name gets the copy, the others keep
 * the file. `fd` is any descriptor of it. Returns 0 with the spot of the copy, or the errno with
 * which the change is refused. */
int separate(struct spot *s, int fd, int with_content) {
  static struct spot beside;
  int to = -1;
  /* A descriptor alone does not say which name was meant; another user's file cannot be copied with
   * its owner. */
  if (s->parent < 0 || strchr(s->name, '/') || !S_ISREG(s->about.st_mode) || s->about.st_uid != geteuid())
    return EMLINK;
  int from = open_content(fd, &s->about);
  errno = EMLINK;
  int error = from < 0 || make_beside(s, &beside, &to) ? errno : 0;
  if (!error && fill_copy(s, from, to, with_content)) error = errno;
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  if (to >= 0 && (error || (error = replace_by_copy(s, &beside)))) {
    (void)journal('u', &beside, NULL, KEPT_MADE, 0);
    unlinkat(s->parent, beside.name, 0);
  }
  if (error) return error == ENOSPC || error == EDQUOT ? error : EMLINK;
  if (s->object >= 0) close(s->object);
  s->object = -1;
  s->about = beside.about;
  return look_by_name(s->parent, s->name, AT_SYMLINK_NOFOLLOW, &s->about, &s->mount) ? errno : 0;
}

/* Keeps the content of a plain file that was opened for writing; 0 if that is not needed. */
uint8_t keep_written(const struct spot *s, int fd, uint32_t *number) {
  *number = 0;
  if (keep < 0 || is_loose(s) || (seen(&s->about) & (SEEN_MADE | SEEN_KEPT)) || !S_ISREG(s->about.st_mode) ||
      s->about.st_nlink == 0)
    return 0;
  return keep_copy(s, fd, number);
}
