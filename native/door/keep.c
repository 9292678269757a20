/*
 * What a call changes, in a journal that is ahead of the deed, and what it would lose, kept beside it: so that it can be put back,
 * whenever this process is killed. The record of the journal (little endian):
 *   u32 size of all of it, u8 op, u8 kept, u16 0, u32 number of the kept file, u32 mode, u32 uid, u32 gid, u64 size,
 *   u64 inode, i64 and u32 time of the object's last change, i64 and u32 of the folder's, i64 and u32 of the other folder's,
 *   path, NUL, other path, NUL
 * kept: 1 by a second name, 2 by a copy, 4 it was empty, 8 not, 16 the call had made it, 32 attributes alone (number 0: there were none)
 * op: c made, w written, u removed, r renamed, x exchanged, a mode or times, f the one before was not done, n refused
 * (mode: which change, uid: errno; 0 for a mere word), z the end (time: now).
 */
#define _GNU_SOURCE
#include "door.h"
#include "../attributes.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_REFUSED 1000
#define MAX_SEEN (4u << 20)
#define GROUP 64
#define PAGE 4096
#define WINDOW (1 << 20)
#define WRITTEN_RECORDS 16 /* for so few a window does not pay */

static int keep = -1, journal_fd = -1;
static const char *keep_path;
static uint64_t file_limit, bytes_left;
static enum { MUST_NOTHING, MUST_BUT_APPENDS, MUST_EVERYTHING } must_keep;
static uint32_t last_number;

int door_take_keep(uint64_t file_bytes, uint64_t all_bytes, uint8_t must, const char *path) {
  if (keep_path || must > MUST_EVERYTHING) return -1;
  keep_path = path;
  file_limit = file_bytes;
  bytes_left = all_bytes;
  must_keep = must;
  return 0;
}

/* Opens the folder by the host's own mount: a hard link cannot cross from one mount to another, even of one file system. */
int open_keep(int host) {
  if (!keep_path) return 0;
  keep = openat(host, keep_path + 1, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (keep < 0) return -1;
  journal_fd = openat(keep, "journal", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  return journal_fd < 0 ? -1 : 0;
}

/* Inodes that this call made, or that need no keeping any more. Open addressing; the key of an empty place is 0. */
struct seen_inode {
  uint64_t inode;
  uint32_t device;
  uint32_t number; /* of the kept file that it is now, if it is gone */
  uint8_t how;
};

static struct seen_inode *table;
static size_t capacity, used;

static size_t slot_of(const struct seen_inode *in, size_t size, uint64_t inode, uint32_t device) {
  size_t at = (size_t)((inode * 0x9e3779b97f4a7c15u) >> 20 ^ device) & (size - 1);
  while (in[at].inode && (in[at].inode != inode || in[at].device != device)) at = (at + 1) & (size - 1);
  return at;
}

static int grow(void) {
  size_t size = capacity ? capacity * 2 : 1024;
  if (size > 2 * MAX_SEEN) return -1;
  struct seen_inode *grown = calloc(size, sizeof *grown);
  if (!grown) return -1;
  used = 0;
  for (size_t i = 0; i < capacity; i++)
    if (table[i].inode && table[i].how) {
      grown[slot_of(grown, size, table[i].inode, table[i].device)] = table[i];
      used++;
    }
  free(table);
  table = grown;
  capacity = size;
  return 0;
}

int seen(const struct stat *about) {
  return capacity ? table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)].how : 0;
}

/* Where there is no room for more, an inode counts as never seen: it is kept once too often. */
void see(const struct stat *about, int how) {
  if (journal_fd < 0 || (used * 2 >= capacity && grow())) return;
  struct seen_inode *at = &table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)];
  if (!at->inode) used++;
  at->inode = about->st_ino;
  at->device = (uint32_t)about->st_dev;
  at->how |= (uint8_t)how;
}

/* The number of an inode that is gone may come again, for a file of somebody else. */
void forget(const struct stat *about) {
  if (capacity) table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)].how = 0;
}

/* Its last name is that of the kept file. */
void see_gone(const struct stat *about, uint32_t number) {
  see(about, SEEN_GONE);
  if (seen(about) & SEEN_GONE) table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)].number = number;
}

struct record {
  uint8_t bytes[128 + 2 * PATH_MAX];
  size_t size;
};

static void put(struct record *r, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; i++) r->bytes[r->size++] = (uint8_t)(value >> (8 * i));
}

static void put_time(struct record *r, const struct timespec *t) {
  put(r, (uint64_t)t->tv_sec, 8);
  put(r, (uint64_t)t->tv_nsec, 4);
}

static void put_text(struct record *r, const char *text) {
  size_t length = strlen(text) + 1;
  memcpy(r->bytes + r->size, text, length);
  r->size += length;
}

/*
 * The first records are written; a call that has many gets a window into the file, because a store costs a tenth of a write. Either
 * way a record is in the page cache, whole, before the deed: its size, without which it does not count, is stored last.
 */
static uint8_t *window;
static off_t window_at, journal_end_at;

static int open_window(void) {
  off_t at = journal_end_at & ~(off_t)(PAGE - 1);
  if (window) munmap(window, WINDOW);
  window = NULL;
  /* The room is there before it is used: a full disk must be an error here, not a signal later. */
  if (fallocate(journal_fd, 0, at, WINDOW)) return -1;
  void *mapped = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, journal_fd, at);
  if (mapped == MAP_FAILED) return -1;
  window = mapped;
  window_at = at;
  return 0;
}

static int store_record(const struct record *r) {
  if ((!window || journal_end_at + (off_t)r->size > window_at + WINDOW) && open_window()) return -1;
  uint8_t *to = window + (journal_end_at - window_at);
  memcpy(to + 4, r->bytes + 4, r->size - 4);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  memcpy(to, r->bytes, 4);
  journal_end_at += (off_t)r->size;
  return 0;
}

/* Returns 0 when the journal holds the record. Without one, nothing that can be lost may be done. */
static int write_record(struct record *r) {
  static uint32_t written;
  static int is_windowless; /* the file system has no room to reserve */
  for (size_t i = 0; i < 4; i++) r->bytes[i] = (uint8_t)(r->size >> (8 * i));
  if (!is_windowless && written >= WRITTEN_RECORDS) {
    if (store_record(r) == 0) return 0;
    is_windowless = 1;
    if (ftruncate(journal_fd, journal_end_at)) return -1;
  }
  ssize_t n;
  do n = pwrite(journal_fd, r->bytes, r->size, journal_end_at);
  while (n < 0 && errno == EINTR);
  if (n != (ssize_t)r->size) return -1;
  written++;
  journal_end_at += n;
  return 0;
}

static void begin_record(struct record *r, char op, uint8_t kept, uint32_t number) {
  r->size = 4;
  put(r, (uint8_t)op, 1);
  put(r, kept, 1);
  put(r, 0, 2);
  put(r, number, 4);
}

/* Returns 0, or the errno with which the change is not made: a full disk must not take what cannot be put back. */
int journal(char op, const struct spot *s, const struct spot *to, uint8_t kept, uint32_t number) {
  static struct record r;
  static const struct stat nothing;
  if (journal_fd < 0 || is_loose(s)) return 0;
  const struct stat *about = s->is_there ? &s->about : &nothing;
  /* For a rename it is what was there before that matters. */
  if (to && op == 'r') about = to->is_there ? &to->about : &nothing;
  begin_record(&r, op, kept, number);
  put(&r, about->st_mode, 4);
  put(&r, about->st_uid, 4);
  put(&r, about->st_gid, 4);
  put(&r, (uint64_t)about->st_size, 8);
  put(&r, about->st_ino, 8);
  put_time(&r, &about->st_mtim);
  put_time(&r, s->parent >= 0 ? &s->folder.st_mtim : &nothing.st_mtim);
  put_time(&r, to && to->parent >= 0 ? &to->folder.st_mtim : &nothing.st_mtim);
  put_text(&r, s->path);
  put_text(&r, to ? to->path : "");
  return write_record(&r) ? ENOSPC : 0;
}

static void write_mark(char op, uint32_t mode, uint32_t uid, const struct timespec *time, const char *path) {
  static struct record r;
  static const struct timespec none;
  begin_record(&r, op, 0, 0);
  put(&r, mode, 4);
  put(&r, uid, 4);
  put(&r, 0, 4);
  put(&r, 0, 8);
  put(&r, 0, 8);
  put_time(&r, time);
  put_time(&r, &none);
  put_time(&r, &none);
  put_text(&r, path);
  put_text(&r, "");
  (void)write_record(&r); /* only what is lost for want of it matters, and nothing is */
}

/*
 * The folder of a kept file: the first lie beside the journal, the others in groups, because in a folder of thousands ext4 spends more
 * time on finding a place for a name than on all the rest of a removal. As keptName in src/undo/journal.ts has it. -1: there is none.
 */
static int kept_folder(uint32_t number) {
  static uint32_t current;
  static int fd = -1;
  char name[16];
  uint32_t group = number / GROUP;
  if (group == 0) return keep;
  if (group == current) return fd;
  snprintf(name, sizeof name, "g%u", group);
  /* The umask is the command's. */
  if (mkdirat(keep, name, 0700) == 0 && fchmodat(keep, name, 0700, 0)) return -1;
  if (fd >= 0) close(fd);
  fd = openat(keep, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  current = fd < 0 ? 0 : group;
  return fd;
}

static void drop_kept(uint8_t kept, uint32_t number) {
  char name[16];
  if (!(kept & (KEPT_LINK | KEPT_COPY | KEPT_ATTRIBUTES)) || number == 0) return;
  snprintf(name, sizeof name, "%u", number);
  if (unlinkat(kept_folder(number), name, 0) && errno == EISDIR) unlinkat(kept_folder(number), name, AT_REMOVEDIR);
}

/* The change that was announced was not made. */
void journal_failed(const struct spot *s, uint8_t kept, uint32_t number) {
  static const struct timespec none;
  int error = errno;
  if (journal_fd >= 0 && !is_loose(s)) {
    write_mark('f', 0, 0, &none, "");
    drop_kept(kept, number);
  }
  errno = error;
}

void journal_refused(const char *path, enum change change, int error) {
  static const struct timespec none;
  static uint32_t count;
  if (journal_fd < 0 || ++count > MAX_REFUSED) return;
  write_mark('n', change, (uint32_t)error, &none, path);
  if (error) door_tell('D', count, (uint32_t)error, change);
}

void journal_end(void) {
  struct timespec now;
  if (journal_fd < 0) return;
  clock_gettime(CLOCK_REALTIME, &now);
  write_mark('z', 0, 0, &now, "");
  if (window && ftruncate(journal_fd, journal_end_at)) return; /* zeros behind the last record end it as well */
}

static int is_same_file(int folder, const char *name, const struct stat *as) {
  struct stat found;
  return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_dev == as->st_dev && found.st_ino == as->st_ino;
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
    if (n == 0) return 0; /* somebody made it shorter meanwhile */
    done += (uint64_t)n;
  }
  return 0;
}

static int copy_into(int from, int folder, const char *name, uint64_t size) {
  int to = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (to < 0) return -1;
  /* The umask is the command's. */
  int bad = fchmod(to, 0600) || ioctl(to, FICLONE, from) != 0;
  if (bad && size <= file_limit && size <= bytes_left) {
    bad = copy_bytes(from, to, size) != 0;
    bytes_left -= size;
  }
  bad = bad || keep_attributes_of(from, to);
  close(to);
  if (bad) unlinkat(folder, name, 0);
  return bad ? -1 : 0;
}

/* A copy of a plain file's content, before it is written for the first time. */
static uint8_t keep_copy(const struct spot *s, int fd, uint32_t *number) {
  char name[16], link[32];
  if (s->about.st_size == 0) return KEPT_EMPTY;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int from = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (from < 0) return KEPT_LOST;
  snprintf(name, sizeof name, "%u", ++last_number);
  int bad = copy_into(from, kept_folder(last_number), name, (uint64_t)s->about.st_size);
  close(from);
  if (bad) return KEPT_LOST;
  *number = last_number;
  return KEPT_COPY;
}

/*
 * A file that is gone is the kept one itself: whoever still holds it open is about to write it, so a copy takes its place among what
 * is kept. Returns 0, or the errno with which it is not written.
 */
int set_apart(const struct stat *about, int fd) {
  char name[16], copy[24], link[32];
  if ((seen(about) & (SEEN_GONE | SEEN_APART)) != SEEN_GONE || !S_ISREG(about->st_mode)) return 0;
  uint32_t number = table[slot_of(table, capacity, about->st_ino, (uint32_t)about->st_dev)].number;
  int folder = kept_folder(number);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int from = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
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
  bad = fchownat(folder, copy, about->st_uid, about->st_gid, AT_SYMLINK_NOFOLLOW) || fchmodat(folder, copy, about->st_mode & 07777, 0) ||
        utimensat(folder, copy, times, AT_SYMLINK_NOFOLLOW) || renameat(folder, copy, folder, name);
  if (bad) {
    unlinkat(folder, copy, 0);
    return EDQUOT;
  }
  see(about, SEEN_APART);
  return 0;
}

/* Something that holds nothing but attributes: only a folder can have those of one. The umask is the command's. */
static int make_empty(int folder, const char *name, int is_folder) {
  if (is_folder && mkdirat(folder, name, 0700)) return -1;
  int fd = openat(folder, name, is_folder ? O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC : O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 && is_folder && fchmodat(folder, name, 0700, 0) == 0) fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && fchmod(fd, is_folder ? 0700 : 0600)) {
    close(fd);
    return -1;
  }
  return fd;
}

/* Keeps what attributes there are. */
uint8_t keep_attributes(struct spot *s, uint32_t *number) {
  char name[16], link[32];
  if (keep < 0 || S_ISLNK(s->about.st_mode)) return 0;
  if (open_object(s) < 0) return KEPT_LOST;
  snprintf(link, sizeof link, "/proc/self/fd/%d", s->object);
  if (!has_attributes(link)) return KEPT_ATTRIBUTES; /* without a number: there were none */
  snprintf(name, sizeof name, "%u", ++last_number);
  int folder = kept_folder(last_number), fd = folder < 0 ? -1 : make_empty(folder, name, S_ISDIR(s->about.st_mode));
  int bad = fd < 0 || keep_attributes_of(s->object, fd);
  if (fd >= 0) close(fd);
  *number = last_number;
  return bad ? KEPT_LOST : KEPT_ATTRIBUTES;
}

/* Nobody was asked about this command because everything it destroys can be put back: then the rest stays as it is. */
int may_not_lose(uint8_t kept, int appends) {
  return (kept & KEPT_LOST) && (must_keep == MUST_EVERYTHING || (must_keep == MUST_BUT_APPENDS && !appends));
}

static int needs_name(const struct spot *s) {
  return keep >= 0 && !is_loose(s) && s->is_there && !S_ISDIR(s->about.st_mode) && !((seen(&s->about) & SEEN_MADE) && s->about.st_nlink == 1);
}

/*
 * Removes a name by moving it to what is kept: one change of the file system in the place of two. Killed before it, the file is
 * where it was; after it, it is kept. Returns 0 when it is done; otherwise nothing is changed, and the kernel's own words are to be had.
 */
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
    /* Somebody on the host was faster, and this is another file: not what was judged. */
    (void)renameat2(folder, name, host, s->name, RENAME_NOREPLACE);
  }
  journal_failed(s, 0, 0);
  return -1;
}

/* Gives what is about to lose its name another one. */
static int link_kept(const struct spot *s, int folder, const char *name) {
  int host = host_folder(s);
  if (host >= 0) return linkat(host, s->name, folder, name, 0);
  return s->place->host >= 0 ? linkat(s->place->host, s->path + s->place->length + 1, folder, name, 0) : -1;
}

/* Keeps what is about to lose its name: a second name is enough. */
uint8_t keep_removed(struct spot *s, uint32_t *number) {
  char name[16];
  *number = 0;
  if (keep >= 0 && !is_loose(s) && s->is_there && S_ISDIR(s->about.st_mode) && !(seen(&s->about) & SEEN_MADE)) return keep_attributes(s, number);
  if (!needs_name(s)) return keep < 0 || is_loose(s) || !s->is_there || S_ISDIR(s->about.st_mode) ? 0 : KEPT_MADE;
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

/* Keeps the content of a plain file that has been opened for writing; 0 when there is no need. */
uint8_t keep_written(const struct spot *s, int fd, uint32_t *number) {
  *number = 0;
  if (keep < 0 || is_loose(s) || (seen(&s->about) & (SEEN_MADE | SEEN_KEPT)) || !S_ISREG(s->about.st_mode) || s->about.st_nlink == 0) return 0;
  return keep_copy(s, fd, number);
}
