/*
 * Journals each change of a call before it happens, so that undo works whenever this process is killed.
 * A record (little endian):
 *   u32 size of the record, u8 op, u8 kept, u16 1 (the format), u32 number of the kept file, u32 mode,
 *   u32 uid, u32 gid, u64 size, u64 inode,
 *   i64 and u32 mtime, three times: of the object, its folder, the other folder,
 *   i64 and u32 ctime, twice: of the object at the path, and at the other path,
 *   path, NUL, other path, NUL
 * kept: 1 by a second name, 2 by a copy, 4 it was empty, 8 not kept, 16 the call had created it,
 *   32 attributes only (number 0: there were none); + 64 the file had further names, and this one got a copy
 * op: c created (of a hard link the other path is the existing name), w written, u removed, r renamed,
 *   x exchanged, a mode or times, f the previous change failed,
 *   n refused (mode: which change, uid: errno; 0 for a notice only), o some later changes are not recorded,
 *   z the end (time: now)
 */
#define _GNU_SOURCE
#include "broker.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FORMAT 1
#define MAX_REFUSED 1000
#define PAGE 4096
#define WINDOW (1 << 20)
/* Servers create and remove their own files for days, and undo reads the whole journal. From the
 * first size on, changes to the call's own files are not recorded; at the second, every change is
 * refused. */
#define OWN_BYTES (128 << 20)
#define MOST_BYTES (256 << 20)
#define WRITTEN_RECORDS 16 /* fewer records are written without a window */

static int journal_fd = -1;

int open_journal(int folder) {
  journal_fd = openat(folder, "journal", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  /* The command set the umask. */
  return journal_fd < 0 || fchmod(journal_fd, 0600) ? -1 : 0;
}

int has_journal(void) { return journal_fd >= 0; }

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

/* The first records are written; later ones go to a mapped window, because a store costs a tenth of
 * a write. Either way a whole record is in the page cache before the change. Its size, without
 * which it does not count, is stored last. */
static uint8_t *window;
static off_t window_at, journal_end_at;

static int open_window(void) {
  off_t at = journal_end_at & ~(off_t)(PAGE - 1);
  if (window) munmap(window, WINDOW);
  window = NULL;
  /* Reserve the space first: a full disk must be an error here, not a SIGBUS later. */
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

/* Returns 0 if the journal contains the record. Without it, nothing that can be lost may be
 * changed. */
static int write_record(struct record *r) {
  static uint32_t written;
  static int is_windowless; /* the file system cannot reserve space */
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
  put(r, FORMAT, 2);
  put(r, number, 4);
}

static int write_mark(char op, uint32_t mode, uint32_t uid, const struct timespec *time, const char *path);

/* Whether a change concerns only files that the call created. */
static int is_own(char op, const struct spot *s, const struct spot *to, uint8_t kept) {
  int is_new = s->is_there && (seen(&s->about) & SEEN_MADE);
  if (op == 'c') return 1;
  if (op == 'u') return kept == KEPT_MADE || (kept == 0 && is_new);
  return op == 'r' && is_new && (kept == KEPT_MADE || !to->is_there);
}

static int was_left_out; /* whether the last announced change was omitted */

static int leaves_out(char op, const struct spot *s, const struct spot *to, uint8_t kept) {
  static const struct timespec none;
  static int is_marked;
  was_left_out = journal_end_at > OWN_BYTES && is_own(op, s, to, kept);
  /* Without the mark, an unrecorded change would look like another program's. */
  if (was_left_out && !is_marked) was_left_out = is_marked = write_mark('o', 0, 0, &none, "") == 0;
  return was_left_out;
}

/* Returns 0, or the errno with which the change is refused: nothing is lost without a record, even
 * on a full disk. */
int journal(char op, const struct spot *s, const struct spot *to, uint8_t kept, uint32_t number) {
  static struct record r;
  static const struct stat nothing;
  if (journal_fd < 0 || is_loose(s) || leaves_out(op, s, to, kept)) return 0;
  if (journal_end_at > MOST_BYTES) return EDQUOT;
  const struct stat *about = s->is_there ? &s->about : &nothing;
  /* For a rename, the replaced object matters. */
  if (to && op == 'r') about = to->is_there ? &to->about : &nothing;
  begin_record(&r, op, kept, number);
  put(&r, about->st_mode, 4);
  put(&r, about->st_uid, 4);
  put(&r, about->st_gid, 4);
  put(&r, (uint64_t)about->st_size, 8);
  put(&r, about->st_ino, 8);
  put_time(&r, &about->st_mtim);
  put_time(&r, s->parent >= 0 && !is_dot(s) ? &s->folder.st_mtim : &nothing.st_mtim);
  put_time(&r, to && to->parent >= 0 ? &to->folder.st_mtim : &nothing.st_mtim);
  put_time(&r, s->is_there ? &s->about.st_changed : &nothing.st_mtim);
  put_time(&r, to && to->is_there ? &to->about.st_changed : &nothing.st_mtim);
  put_text(&r, s->path);
  put_text(&r, to ? to->path : "");
  return write_record(&r) ? ENOSPC : 0;
}

/* Returns 0 if the journal contains it. Most marks may be lost without harm. */
static int write_mark(char op, uint32_t mode, uint32_t uid, const struct timespec *time, const char *path) {
  static struct record r;
  static const struct timespec none;
  begin_record(&r, op, 0, 0);
  put(&r, mode, 4);
  put(&r, uid, 4);
  put(&r, 0, 4);
  put(&r, 0, 8);
  put(&r, 0, 8);
  put_time(&r, time);
  for (int i = 0; i < 4; i++) put_time(&r, &none);
  put_text(&r, path);
  put_text(&r, "");
  return write_record(&r);
}

/* The announced change failed. `s` is the object that was kept for it. */
void journal_failed(const struct spot *s, uint8_t kept, uint32_t number) {
  static const struct timespec none;
  int error = errno;
  if (journal_fd >= 0 && !is_loose(s)) {
    if (!was_left_out) write_mark('f', 0, 0, &none, "");
    drop_kept(s, kept, number);
  }
  errno = error;
}

void journal_refused(const char *path, enum change change, int error) {
  static const struct timespec none;
  static uint32_t count;
  if (journal_fd < 0 || ++count > MAX_REFUSED) return;
  write_mark('n', change, (uint32_t)error, &none, path);
  if (error) broker_report(MESSAGE_REFUSED, count, (uint32_t)error, change);
}

void journal_end(void) {
  struct timespec now;
  if (journal_fd < 0) return;
  clock_gettime(CLOCK_REALTIME, &now);
  write_mark('z', 0, 0, &now, "");
  /* zeros after the last record end the journal as well */
  if (window && ftruncate(journal_fd, journal_end_at)) return;
}
