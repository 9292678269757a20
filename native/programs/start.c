/* Reads a program start from the caller, compares it with the table, asks the parent about a listed
 * one, and lets it run. */
#define _GNU_SOURCE
#include "programs.h"
#include "../init/init.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_PENDING 256
#define MOST_ASKED (64u << 10) /* of the words that the parent receives */
#define CHAIN_BYTES 2048
#define MAX_OPERANDS 64

struct start {
  char path[PATH_MAX]; /* as the caller names it */
  char named[PATH_MAX]; /* as the kernel passes it to an interpreter */
  struct image file, runs; /* the named file, and the one that the kernel runs */
  struct words said, runs_words;
};

struct pending {
  uint32_t number;
  struct call call;
  uint64_t args[6];
  struct image runs;
  struct words words;
};
static struct pending *pending[MAX_PENDING];
static size_t pending_count;
static uint32_t last_number;

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static struct { uint32_t number; int refused; } decided[MAX_PENDING];
static size_t decided_count;
static int wake = -1;

int programs_open(void) {
  wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake >= 0) note_identities();
  return wake < 0 ? -1 : 0;
}

/* The number of starts that wait for the parent; another thread reads it. */
int programs_waiting(void) { return (int)__atomic_load_n(&pending_count, __ATOMIC_RELAXED); }

int programs_wait_fd(void) { return wake; }

int is_start(int number) { return number == SYS_execve || number == SYS_execveat; }

/* In the thread that reads the parent's messages. */
void programs_decide(uint32_t number, int refused) {
  uint64_t one = 1;
  pthread_mutex_lock(&queue);
  if (decided_count < MAX_PENDING) {
    decided[decided_count].number = number;
    decided[decided_count++].refused = refused;
  }
  pthread_mutex_unlock(&queue);
  if (wake >= 0 && write(wake, &one, sizeof one) < 0) { /* it is awake already */
  }
}

/* Opens the file that the caller names with O_PATH. */
static int open_named(const struct call *c, int at, const char *path, int flags) {
  char link[64];
  if (path[0] == '/' && !strncmp(path, "/proc/self/", 11)) {
    static char own[PATH_MAX + 32];
    snprintf(own, sizeof own, "/proc/%d/%s", c->tid, path + 11);
    return open(own, O_PATH | O_CLOEXEC | flags);
  }
  if (!strncmp(path, "/dev/fd/", 8)) {
    static char own[PATH_MAX + 32];
    snprintf(own, sizeof own, "/proc/%d/fd/%s", c->tid, path + 8);
    return open(own, O_PATH | O_CLOEXEC | flags);
  }
  if (path[0] == '/') return open(path, O_PATH | O_CLOEXEC | flags);
  if (at == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", c->tid);
  else snprintf(link, sizeof link, "/proc/%d/fd/%d", c->tid, at);
  int from = open(link, O_PATH | O_CLOEXEC);
  if (from < 0 || !path[0]) return from;
  int fd = openat(from, path, O_PATH | O_CLOEXEC | flags);
  int error = errno;
  close(from);
  errno = error;
  return fd;
}

static void name_for_interpreter(struct start *s, int at) {
  if (s->path[0] == '/' || at == AT_FDCWD) memcpy(s->named, s->path, sizeof s->named);
  else
    snprintf(s->named, sizeof s->named, s->path[0] ? "/dev/fd/%d/%.*s" : "/dev/fd/%d", at, PATH_MAX - 32,
             s->path);
}

static int copy_words(const struct words *from, struct words *to) {
  to->bytes = malloc(from->length);
  if (!to->bytes) return -1;
  memcpy(to->bytes, from->bytes, from->length);
  to->length = to->size = from->length;
  to->count = from->count;
  return 0;
}

static int look_at_file(int fd, struct image *image) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return look_at_image(link, image);
}

/* Reads a start. 0, or the caller's errno: a missing file is reported without running it. */
static int read_start(const struct call *c, struct start *s) {
  const uint64_t *a = c->args;
  int by_fd = c->number == SYS_execveat, at = by_fd ? (int)a[0] : AT_FDCWD;
  int flags = by_fd ? (int)a[4] : 0;
  s->said = s->runs_words = (struct words){0};
  if (copy_text(c, a[by_fd ? 1 : 0], s->path, sizeof s->path)) return errno == ESRCH ? ESRCH : errno;
  if (!s->path[0] && !(flags & AT_EMPTY_PATH)) return ENOENT;
  int file = open_named(c, at, s->path, flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0);
  if (file < 0) return errno;
  int error = read_words(c, a[by_fd ? 2 : 1], &s->said) || look_at_file(file, &s->file) ? errno : 0;
  if (!error && s->file.has_line) {
    error = copy_words(&s->said, &s->runs_words) ? errno : 0;
    name_for_interpreter(s, at);
    int runs = error ? -1 : follow_interpreters(c, file, s->named, &s->runs_words);
    s->runs = s->file;
    if (runs >= 0 && runs != file && look_at_file(runs, &s->runs)) error = errno;
    if (runs >= 0 && runs != file) close(runs);
  }
  close(file);
  return error;
}

/* The files among the first words are what a loader runs, or what an interpreter reads. */
static void look_at_operands(const struct call *c, struct image *image, const struct words *words) {
  static struct image operand;
  if (!words->length) return;
  int loads = is_loader(image);
  if (!loads && !asks_for_operands()) return;
  const char *word = words->bytes + strlen(words->bytes) + 1;
  for (int left = MAX_OPERANDS; word < words->bytes + words->length; word += strlen(word) + 1) {
    if (word[0] == '-' || !word[0]) continue;
    if (left-- == 0) {
      image->is_asked |= asks_for_operands(); /* the parent sees them all */
      return;
    }
    int fd = open_named(c, AT_FDCWD, word, 0);
    if (fd < 0) continue;
    if (look_at_file(fd, &operand) == 0) {
      image->is_asked |= operand.is_asked;
      if (loads) add_aliases(image, &operand);
    }
    close(fd);
  }
}

static const struct image *image_of(const struct start *s) { return s->file.has_line ? &s->runs : &s->file; }
static struct words *words_of(struct start *s) { return s->file.has_line ? &s->runs_words : &s->said; }

/* The text about a start for the parent. */
struct text {
  char bytes[6 * PATH_MAX + CHAIN_BYTES + 2 * MOST_ASKED];
  size_t length;
};

static void put(struct text *t, const char *text) {
  size_t length = strlen(text);
  memcpy(t->bytes + t->length, text, length + 1);
  t->length += length + 1;
}

static void put_number(struct text *t, size_t number) {
  char text[24];
  snprintf(text, sizeof text, "%zu", number);
  put(t, text);
}

static void put_aliases(struct text *t, const struct image *image) {
  char text[MAX_ALIASES * (NAME_MAX + 2)] = "";
  for (size_t i = 0; i < image->alias_count; i++) {
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "%s/", image->aliases[i]);
  }
  put(t, text);
}

/* The number of words, followed by the words. */
static void put_words(struct text *t, const struct words *w) {
  size_t shown = 0, count = 0;
  for (; shown < w->length; count++) {
    size_t next = strlen(w->bytes + shown) + 1;
    if (shown + next > MOST_ASKED) break;
    shown += next;
  }
  put_number(t, count);
  memcpy(t->bytes + t->length, w->bytes, shown);
  t->length += shown;
}

/* NUL-terminated texts: "c" if words are missing, the working directory, the program as named; the
 * file, its other names separated by slashes, the number of words and the words; the same for the
 * file that the kernel runs, or nothing if it is the same; the ancestors, the caller first. */
static void ask_parent(const struct call *c, const struct start *s, uint32_t number) {
  static struct text t;
  char link[48], cwd[PATH_MAX];
  snprintf(link, sizeof link, "/proc/%d/cwd", c->tid);
  ssize_t n = readlink(link, cwd, sizeof cwd - 1);
  cwd[n > 0 ? n : 0] = 0;
  t.length = 0;
  int has_line = s->file.has_line && s->runs_words.length;
  put(&t, s->said.length > MOST_ASKED || (has_line && s->runs_words.length > MOST_ASKED) ? "c" : "");
  put(&t, cwd);
  put(&t, s->path);
  put(&t, s->file.path);
  put_aliases(&t, &s->file);
  put_words(&t, &s->said);
  put(&t, has_line ? s->runs.path : "");
  if (has_line) {
    put_aliases(&t, &s->runs);
    put_words(&t, &s->runs_words);
  }
  t.length += write_chain(c->tid, t.bytes + t.length, CHAIN_BYTES);
  programs_ask(number, t.bytes, t.length);
}

static void hold(const struct call *c, struct start *s) {
  struct pending *p = pending_count < MAX_PENDING ? calloc(1, sizeof *p) : NULL;
  if (!p) return answer(c, EAGAIN);
  p->number = ++last_number;
  p->call = *c;
  memcpy(p->args, c->args, sizeof p->args);
  pending[pending_count++] = p;
  ask_parent(c, s, p->number);
  p->runs = *image_of(s);
  p->words = *words_of(s);
  *words_of(s) = (struct words){0};
}

/* A judge that cannot check the first start cannot check any: the parent starts the command without
 * it, or not at all. */
static void run_or_refuse(const struct call *c, const struct image *runs, const struct words *allowed) {
  static int has_checked;
  int error = let_run(c, runs, allowed);
  if (error && error != ESRCH && !has_checked) {
    broker_report(MESSAGE_FAILED, STEP_PROGRAMS, (uint32_t)error, 0);
    _exit(FAULT_STATUS);
  }
  if (!error) has_checked = 1;
  else answer(c, error == ESRCH ? EAGAIN : EPERM);
}

void answer_start(const struct call *c) {
  static struct start s;
  int error = read_start(c, &s);
  if (!error && s.file.is_secret) error = EACCES;
  if (!error) {
    look_at_operands(c, &s.file, &s.said);
    look_at_operands(c, &s.runs, &s.runs_words);
  }
  if (error) answer(c, error);
  else if (is_listed(&s.file, s.path, &s.said) ||
           (s.file.has_line && is_listed(&s.runs, NULL, &s.runs_words)))
    hold(c, &s);
  else run_or_refuse(c, image_of(&s), NULL);
  free(s.said.bytes);
  free(s.runs_words.bytes);
}

static void settle(struct pending *p, int refused) {
  p->call.args = p->args;
  uint64_t id = p->call.id;
  if (ioctl(p->call.listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id)) return;
  if (refused) answer(&p->call, EPERM);
  else run_or_refuse(&p->call, &p->runs, &p->words);
}

/* Answers the starts that the parent has decided. */
void answer_decided(void) {
  uint64_t times;
  if (read(wake, &times, sizeof times) < 0) { /* nothing new */
  }
  for (;;) {
    pthread_mutex_lock(&queue);
    size_t left = decided_count;
    uint32_t number = left ? decided[0].number : 0;
    int refused = left ? decided[0].refused : 0;
    if (left) memmove(decided, decided + 1, --decided_count * sizeof *decided);
    pthread_mutex_unlock(&queue);
    if (!left) return;
    for (size_t i = 0; i < pending_count; i++) {
      struct pending *p = pending[i];
      if (p->number != number) continue;
      pending[i] = pending[--pending_count];
      settle(p, refused);
      free(p->words.bytes);
      free(p);
      break;
    }
  }
}
